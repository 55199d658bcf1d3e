"""Settings of the operator: read once from flags and environment, validated, then frozen.

Each field is one flag (``--poll-pending-seconds``) and one environment variable (``GPUCLOUD_POLL_PENDING_SECONDS``); the
flag wins. Secrets have no flag, since a command line is public: they come from the environment or from files.
"""

from __future__ import annotations

import dataclasses
import math
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Mapping

ENV_PREFIX = "GPUCLOUD_"
POSITIVE = (
    *("poll_pending_seconds", "poll_steady_seconds", "cloud_qps", "cloud_burst", "cloud_timeout_seconds", "workers"),
    "brake_window_seconds",
    *("lease_duration_seconds", "lease_renew_deadline_seconds", "lease_retry_period_seconds"),
)
NOT_NEGATIVE = (
    *("create_grace_seconds", "blind_after_seconds", "brake_vms", "brake_price_per_hour", "max_vms_per_account"),
    "orphan_scan_seconds",
    "orphan_age_seconds",
    *("max_vms_per_namespace", "max_price_per_hour_per_account", "max_price_per_hour_per_namespace"),
)
CHOICES = {
    "log_level": ("debug", "info", "warning", "error"),
    "log_format": ("json", "text"),
    "own_account_sharing": ("Isolated", "Shared"),
}
# Scheme, host, port, path; letters beyond ASCII (xn-- says them), spaces, user names and queries have no place in it.
_BASE_URL = re.compile(r"(?i:https?)://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[A-Za-z0-9._~/-]*)?")
_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
_TAG = re.compile(r"[a-z0-9]{3,8}")


class SettingsError(ValueError):
    """A flag or variable that cannot be used; the text names it and says what is expected."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """The operator's own account: an API key, or a user name with its password. Never printed."""

    api_key: str | None = field(default=None, repr=False)
    username: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)


def _setting(default: Any, description: str) -> Any:
    return field(default=default, metadata={"help": description})


@dataclass(frozen=True, slots=True)
class Settings:
    """What an administrator can set. Seconds are wall seconds; zero as a port lets the system choose one."""

    endpoint: tuple[str, ...] = _setting((), "NAME=URL of a cloud API, repeatable; the operator's own account uses the first")
    namespace: tuple[str, ...] = _setting((), "namespace to watch, repeatable; all when absent")
    metrics_port: int = _setting(9090, "port of the Prometheus metrics")
    health_port: int = _setting(8081, "port of /healthz (alive) and /readyz (serving)")
    bind_address: str = _setting("127.0.0.1", "address that metrics and health listen on; in a pod 0.0.0.0")
    console: bool = _setting(False, "answer kubectl gpucloud where a user may not read the account's Secret; see docs/adr/0011")
    console_port: int = _setting(8082, "port of the console; it listens on 127.0.0.1 only and is reached by port-forward")
    poll_pending_seconds: float = _setting(2.0, "interval of listings while something is pending")
    poll_steady_seconds: float = _setting(60.0, "interval of listings while nothing is pending")
    blind_after_seconds: float = _setting(180.0, "how long the cloud may be invisible before a VM's Ready turns Unknown")
    cloud_qps: float = _setting(10.0, "requests per second to the cloud, per credential")
    cloud_burst: int = _setting(20, "requests to the cloud that may be sent at once")
    cloud_timeout_seconds: float = _setting(30.0, "total deadline of one call to the cloud")
    create_grace_seconds: float = _setting(30.0, "how long to look for a VM after an unclear answer before asking again")
    install_tag: str = _setting("", "tag in the names of our VMs; made from the cluster's identity when empty")
    ca_file: str = _setting("", "PEM file of the authority that signed the cloud's certificate")
    proxy: str = _setting("", "URL of a proxy to the cloud")
    own_account_namespace: tuple[str, ...] = _setting(
        (), "namespace that may use the operator's own account, repeatable; all when absent"
    )
    own_account_sharing: str = _setting(
        "Isolated",
        "whether namespaces may name anything by its cloud name (Shared), or only what their own objects created (Isolated)",
    )
    no_secret_finalizer: bool = _setting(False, "do not hold the Secrets of accounts in use by a finalizer")
    brake_vms: int = _setting(0, "VMs that may enter deletion within the window before destruction pauses; 0: any number")
    brake_price_per_hour: float = _setting(0.0, "dollars an hour of the VMs that may do so; 0: any price")
    brake_window_seconds: float = _setting(600.0, "length of that window")
    max_vms_per_account: int = _setting(0, "GpuVMs that one account may have ordered; 0: no limit")
    max_vms_per_namespace: int = _setting(0, "GpuVMs that one namespace may have ordered; 0: no limit")
    max_price_per_hour_per_account: float = _setting(0.0, "dollars an hour that one account may spend on VMs; 0: no limit")
    max_price_per_hour_per_namespace: float = _setting(0.0, "dollars an hour that one namespace may spend on VMs; 0: no limit")
    orphan_scan_seconds: float = _setting(
        600.0, "interval of looks for orphans, 0 for none; with --namespace only if --install-tag is set too"
    )
    collect_orphans: bool = _setting(False, "destroy orphans that this process saw being abandoned, see docs/how-to/orphans.md")
    orphan_age_seconds: float = _setting(3600.0, "how long an orphan must have been abandoned before it is collected")
    workers: int = _setting(50, "objects worked on at the same time")
    leader_elect: bool = _setting(False, "act only while holding a Lease, so that several replicas may run")
    lease_name: str = _setting(
        "gpucloud-operator", "name of that Lease; operators that serve different namespaces need different ones"
    )
    lease_namespace: str = _setting("", "namespace of that Lease; the pod's own when empty")
    lease_duration_seconds: float = _setting(
        15.0, "how long a Lease must go without renewal before another operator takes it over"
    )
    lease_renew_deadline_seconds: float = _setting(10.0, "how long a leader that cannot renew goes on acting")
    lease_retry_period_seconds: float = _setting(2.0, "interval of renewals, and of looks by those that stand by")
    observe_only: bool = _setting(False, "say what would be done, and do nothing")
    log_level: str = _setting("info", "debug, info, warning or error")
    log_format: str = _setting("json", "json or text")
    credentials: Credentials = field(default=Credentials(), repr=False)

    @property
    def endpoints(self) -> dict[str, str]:
        """Name to base URL of every endpoint that the administrator declared."""
        return dict(item.split("=", 1) for item in self.endpoint)

    @property
    def own_endpoint(self) -> str:
        """Base URL of the endpoint that the operator's own account uses: the first declared."""
        return next(iter(self.endpoints.values()))

    @property
    def shares_own_account(self) -> bool:
        """Whether what the operator's own account shows may be named from any namespace that it serves."""
        return self.own_account_sharing == "Shared" or 1 in (len(self.own_account_namespace), len(self.namespace))

    @property
    def looks_for_orphans(self) -> bool:
        """Whether to look for them: in some namespaces only, an own tag must tell our names from those of the others."""
        return self.orphan_scan_seconds > 0 and (not self.namespace or bool(self.install_tag))


def flags() -> list[dataclasses.Field[Any]]:
    """Every setting that has a flag; what the reference page must list."""
    return [item for item in dataclasses.fields(Settings) if "help" in item.metadata]


def add_arguments(parser: argparse.ArgumentParser, only: Collection[str] = ()) -> None:
    """Give the parser one flag a setting, or ``only`` these. Nothing is validated here: the environment is read later."""
    for item in flags():
        if only and item.name not in only:
            continue
        name = "--" + item.name.replace("_", "-")
        text = f"{item.metadata['help']} (default {_shown(item.default)}; {ENV_PREFIX}{item.name.upper()})"
        if isinstance(item.default, bool):
            parser.add_argument(name, action="store_const", const="true", help=text)
        else:
            action = "append" if isinstance(item.default, tuple) else "store"
            parser.add_argument(name, action=action, metavar=item.name.upper(), help=text)


def load(given: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> Settings:
    """Settings from parsed flags (None where absent), then environment, then defaults.

    Raises:
        SettingsError: a value is of the wrong form or out of range, or the account is incomplete.
    """
    environ = os.environ if environ is None else environ
    values = {item.name: _value(item, given.get(item.name), environ) for item in flags()}
    settings = Settings(**values, credentials=read_credentials(environ))
    _validate(settings)
    return settings


def _shown(default: Any) -> str:
    return {"": "none", (): "none"}.get(default, str(default))


def _value(item: dataclasses.Field[Any], flag: Any, environ: Mapping[str, str]) -> Any:
    variable = ENV_PREFIX + item.name.upper()
    raw = flag if flag is not None else environ.get(variable) or None
    if raw is None:
        return item.default
    try:
        return _parse(item.default, raw)
    except ValueError as error:
        where = "--" + item.name.replace("_", "-") if flag is not None else variable
        raise SettingsError(f"{where}: {error}") from None


def _parse(default: Any, raw: Any) -> Any:
    if isinstance(default, tuple):
        return tuple(raw) if isinstance(raw, list) else tuple(part.strip() for part in raw.split(",") if part.strip())
    if isinstance(default, bool):
        words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        if raw.lower() not in words:
            raise ValueError(f"expected true or false, not {raw!r}")
        return words[raw.lower()]
    if isinstance(default, int | float):
        number = type(default)(raw)
        if not math.isfinite(number):
            raise ValueError(f"expected a finite number, not {raw!r}")
        return number
    return raw


def read_credentials(environ: Mapping[str, str] | None = None) -> Credentials:
    """The operator's own account, from the environment or from the files that it names; empty when there is none.

    Raises:
        SettingsError: it is incomplete, of both kinds, or a file cannot be read.
    """
    environ = os.environ if environ is None else environ
    found = Credentials(
        api_key=_secret("API_KEY", environ),
        username=_secret("USERNAME", environ),
        password=_secret("PASSWORD", environ),
    )
    if found.api_key and (found.username or found.password):
        raise SettingsError("set either GPUCLOUD_API_KEY or GPUCLOUD_USERNAME with GPUCLOUD_PASSWORD, not both")
    if bool(found.username) != bool(found.password):
        raise SettingsError("GPUCLOUD_USERNAME and GPUCLOUD_PASSWORD go together: one of them is missing")
    return found


def _secret(name: str, environ: Mapping[str, str]) -> str | None:
    """The value of GPUCLOUD_<name>, or the content of the file that GPUCLOUD_<name>_FILE names, without its last newline."""
    variable = ENV_PREFIX + name
    path = environ.get(variable + "_FILE")
    if not path:
        return environ.get(variable) or None
    try:
        return Path(path).read_text(encoding="utf-8").rstrip("\r\n") or None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{variable}_FILE: cannot read {path}: {type(error).__name__}") from None


def _validate(settings: Settings) -> None:
    _validate_endpoints(settings)
    _validate_lease(settings)
    for name in POSITIVE:
        if getattr(settings, name) <= 0:
            raise SettingsError(f"--{name.replace('_', '-')}: must be greater than zero")
    for name in NOT_NEGATIVE:
        if getattr(settings, name) < 0:
            raise SettingsError(f"--{name.replace('_', '-')}: must not be negative")
    if settings.collect_orphans and not settings.looks_for_orphans:
        raise SettingsError(
            "--collect-orphans: needs a look for orphans (--orphan-scan-seconds above 0) and, with --namespace, --install-tag"
        )
    if settings.install_tag and not _TAG.fullmatch(settings.install_tag):
        raise SettingsError("--install-tag: 3 to 8 lower-case letters and digits")
    for name, choices in CHOICES.items():
        if getattr(settings, name) not in choices:
            raise SettingsError(f"--{name.replace('_', '-')}: one of {', '.join(choices)}")


def _validate_lease(settings: Settings) -> None:
    if not _NAME.fullmatch(settings.lease_name):
        raise SettingsError("--lease-name: use lower-case letters, digits, '-' and '.', as names in Kubernetes have them")
    if not _NAME.fullmatch(settings.lease_namespace or "any"):
        raise SettingsError("--lease-namespace: use lower-case letters, digits and '-', as namespaces in Kubernetes have them")
    if not settings.lease_duration_seconds > settings.lease_renew_deadline_seconds:
        raise SettingsError("--lease-renew-deadline-seconds: must be less than --lease-duration-seconds")
    if not settings.lease_renew_deadline_seconds > settings.lease_retry_period_seconds:
        raise SettingsError("--lease-retry-period-seconds: must be less than --lease-renew-deadline-seconds")


def _validate_endpoints(settings: Settings) -> None:
    if not settings.endpoint:
        raise SettingsError("--endpoint: name at least one cloud API, for example --endpoint default=https://cloud.example")
    for item in settings.endpoint:
        name, _, url = item.partition("=")
        if not name or not _is_base_url(url):
            raise SettingsError(f"--endpoint: expected NAME=https://HOST[:PORT][/PATH], not {_without_userinfo(item)!r}")
    if len(settings.endpoints) != len(settings.endpoint):
        raise SettingsError("--endpoint: two endpoints bear the same name")


def _is_base_url(url: str) -> bool:
    """Whether this is an address that every reader takes for the same one, with nothing in it but an address."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:  # brackets that hold no address, or a port that is no number
        return False
    host = parts.hostname or ""
    return (
        _BASE_URL.fullmatch(url) is not None
        and parts.scheme in {"http", "https"}
        and port != 0
        and (":" in host or all(host.removesuffix(".").split(".")))
    )


def _without_userinfo(text: str) -> str:
    """A password or a key in a URL must not be repeated in an error, whatever characters it is made of."""
    return re.sub(r"[?#].*", "…", re.sub(r"//.*@", "//…@", text, flags=re.DOTALL), flags=re.DOTALL)
