"""Settings of the operator, of its uninstall and of the simulator: each one immutable value, checked when it is made.

The type of a field is its rule. Its name, description and default also give its flag and its variable (``gpucloud.flags``),
its row in docs/reference/settings.md and its value in the chart.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar, get_args
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    model_validator,
)

from gpucloud import website
from gpucloud.base_url import NEEDS_TLS, is_base_url, may_carry_a_credential, without_userinfo
from gpucloud.spelling import as_listed

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

T = TypeVar("T")
INSTALL_TAG = "^([a-z0-9]{3,8})?$"
_NAME = "[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?"
LEASE_NAME, LEASE_NAMESPACE = f"^{_NAME}$", f"^({_NAME})?$"
NAMESPACE = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"


class SettingsError(ValueError):
    """A flag or variable that cannot be used; the text names it and says what is expected."""


def _split(raw: Any) -> Any:
    return tuple(part.strip() for part in raw.split(",") if part.strip()) if isinstance(raw, str) else raw


def _split_names(raw: Any) -> Any:
    """As ``_split``; text of blanks and commas, or an empty list in a file, names none, and is not taken for all."""
    found = _split(raw)
    if found in ((), []) and raw != ():
        raise ValueError("no namespace is named; name one, or unset it for all")
    return found


def _endpoint(item: str) -> str:
    """Return NAME=URL if the URL is an address and nothing else, and a credential may be sent to it."""
    name, _, url = item.partition("=")
    if not name or not is_base_url(url):
        raise ValueError(f"expected NAME=https://HOST[:PORT][/PATH], not {without_userinfo(item)!r}{_correction(item)}")
    parts = urlsplit(url)
    if not may_carry_a_credential(parts.scheme, parts.hostname or ""):
        raise ValueError(f"{item} {NEEDS_TLS}")
    return item


def _correction(item: str) -> str:
    """Return what was probably meant where only the name or the scheme is missing, else nothing."""
    name, separator, address = item.partition("=")
    if not separator:
        name, address = "", item
    scheme, _, rest = address.rpartition("://")
    url = f"{scheme or 'https'}://{rest}"
    if not is_base_url(url) or not ({".", ":"} & set(rest) or rest == "localhost"):
        return ""
    is_local = may_carry_a_credential("http", urlsplit(url).hostname or "")
    if not scheme and is_local:  # such an address hardly ever has a certificate
        url = f"http://{rest}"
    elif scheme.lower() == "http" and not is_local:
        url = f"https://{rest}"
    return f": write {name or 'default'}={url}"


def _proxy(url: str) -> str:
    """Return the URL of a proxy if it is one. A refusal does not repeat it, for it may hold a password."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets that hold no address, or a port that is no number
        usable = False
    if url and not usable:
        raise ValueError("expected http://[USER:PASSWORD@]HOST[:PORT], which begins with http:// or https://")
    return url


def _endpoints(items: tuple[str, ...]) -> tuple[str, ...]:
    """Return the endpoints if there is one, and no name stands for two."""
    if not items:
        raise ValueError(
            "no cloud API is named; name one, for example --endpoint default=https://cloud.example, or set GPUCLOUD_ENDPOINT"
        )
    if len({item.partition("=")[0] for item in items}) != len(items):
        raise ValueError("two endpoints have the same name; give each its own")
    return items


def _in_any_case(values: tuple[str, ...]) -> BeforeValidator:
    """Take each of these words however it is capitalised."""
    return BeforeValidator(lambda raw: as_listed(raw, values) if isinstance(raw, str) else raw)


_Sharing = Literal["Isolated", "Shared"]
_LogLevel = Literal["debug", "info", "warning", "error"]
_LogFormat = Literal["json", "text"]
_Policy = Literal["Refuse", "Drain", "Retain"]
_Answers = Literal["plain", "wrapped"]
Sharing = Annotated[_Sharing, _in_any_case(get_args(_Sharing))]
LogLevel = Annotated[_LogLevel, _in_any_case(get_args(_LogLevel))]
LogFormat = Annotated[_LogFormat, _in_any_case(get_args(_LogFormat))]
Policy = Annotated[_Policy, _in_any_case(get_args(_Policy))]
Answers = Annotated[_Answers, _in_any_case(get_args(_Answers))]
SimulatedSeconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
Port = Annotated[int, Field(ge=0, le=65535)]
Endpoints = Annotated[
    tuple[Annotated[str, AfterValidator(_endpoint)], ...], BeforeValidator(_split), AfterValidator(_endpoints)
]
Namespaces = Annotated[tuple[Annotated[str, Field(min_length=1, pattern=NAMESPACE)], ...], BeforeValidator(_split_names)]


class Value(BaseModel):
    """Immutable, and valid from the start; its errors repeat no input."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, hide_input_in_errors=True)

    def replace(self, **changes: Any) -> Self:
        """A copy with these changes, checked as a new one is."""
        return type(self)(**dict(self) | changes)


class Credentials(Value):
    """The operator's own account: an API key, or a user name with its password. Never printed."""

    api_key: SecretStr | None = None
    username: SecretStr | None = None
    password: SecretStr | None = None

    @model_validator(mode="after")
    def _is_one_of_two_kinds(self) -> Self:
        if self.api_key and (self.username or self.password):
            raise ValueError("GPUCLOUD_API_KEY stands beside GPUCLOUD_USERNAME or GPUCLOUD_PASSWORD; unset it, or those two")
        if bool(self.username) != bool(self.password):
            raise ValueError("GPUCLOUD_USERNAME and GPUCLOUD_PASSWORD go together: one of them is missing; set it, too")
        return self


class Group(StrEnum):
    """The headings of the operator's help, in the order in which an administrator meets them."""

    CLOUD = "cloud"
    OBJECTS = "objects and accounts"
    PACE = "pace"
    LIMITS = "limits"
    ORPHANS = "orphans"
    REPLICAS = "replicas"
    PORTS = "ports and logs"


def _setting(group: Group, default: T, description: str, **rules: Any) -> T:
    """A setting that the operator's help shows under this heading, with what pydantic's ``Field`` takes."""
    made: T = Field(default, description=description, json_schema_extra={"group": group.value}, **rules)
    return made


def group_of(field: FieldInfo) -> Group | None:
    """Return the heading that a field names."""
    said = field.json_schema_extra
    return Group(str(said["group"])) if isinstance(said, dict) and "group" in said else None


class Settings(Value):
    """What an administrator can set. Seconds are wall seconds; zero as a port lets the system choose one."""

    endpoint: Endpoints = _setting(
        Group.CLOUD, (), "NAME=URL of a cloud API, repeatable; the operator's own account uses the first", validate_default=True
    )
    namespace: Namespaces = _setting(Group.OBJECTS, (), "namespace to watch, repeatable; all when absent")
    metrics_port: Port = _setting(Group.PORTS, 9090, "port of the Prometheus metrics")
    health_port: Port = _setting(Group.PORTS, 8081, "port of /healthz (alive) and /readyz (serving)")
    bind_address: str = _setting(Group.PORTS, "127.0.0.1", "address that metrics and health listen on; in a pod 0.0.0.0")
    console: bool = _setting(
        Group.PORTS, False, f"answer kubectl gpucloud where a user may not read the account's Secret; see {website.PLUGIN}"
    )
    console_port: Port = _setting(
        Group.PORTS, 8082, "port of the console; it listens on 127.0.0.1 only and is reached by port-forward"
    )
    poll_pending_seconds: PositiveFloat = _setting(Group.PACE, 2.0, "interval of listings while something is pending")
    poll_steady_seconds: PositiveFloat = _setting(Group.PACE, 60.0, "interval of listings while nothing is pending")
    blind_after_seconds: NonNegativeFloat = _setting(
        Group.PACE, 180.0, "how long listings may fail before a VM's Ready turns Unknown"
    )
    offer_seconds: NonNegativeFloat = _setting(
        Group.PACE, 300.0, "interval at which each GpuCloudAccount's catalogue is read for its GpuOffers; 0: no GpuOffers"
    )
    boot_log_seconds: NonNegativeFloat = _setting(
        Group.PACE, 600.0, "how long a VM may boot before its boot log is read for the class of trouble; 0: never"
    )
    cloud_qps: PositiveFloat = _setting(Group.CLOUD, 10.0, "requests per second to the cloud, per credential")
    cloud_burst: PositiveInt = _setting(Group.CLOUD, 20, "requests to the cloud that may be sent at once")
    cloud_timeout_seconds: PositiveFloat = _setting(Group.CLOUD, 30.0, "total deadline of one call to the cloud")
    create_grace_seconds: PositiveFloat = _setting(
        Group.PACE, 30.0, "how long to look for a VM after an unclear answer before ordering again"
    )
    install_tag: str = _setting(
        Group.OBJECTS,
        "",
        "tag in the names of the VMs that this operator creates; made from the cluster's identity when empty",
        pattern=INSTALL_TAG,
    )
    ca_file: str = _setting(Group.CLOUD, "", "PEM file of the authority that signed the cloud's certificate")
    proxy: Annotated[str, AfterValidator(_proxy)] = _setting(Group.CLOUD, "", "URL of a proxy to the cloud", repr=False)
    own_account_namespace: Namespaces = _setting(
        Group.OBJECTS, (), "namespace that may use the operator's own account, repeatable; all when absent"
    )
    own_account_sharing: Sharing = _setting(
        Group.OBJECTS,
        "Isolated",
        "whether namespaces may name anything by its cloud name (Shared), or only what their own objects created (Isolated)",
    )
    no_secret_finalizer: bool = _setting(Group.OBJECTS, False, "do not hold the Secrets of accounts in use by a finalizer")
    brake_vms: NonNegativeInt = _setting(
        Group.LIMITS, 0, "maximum deletions of GpuVMs within the window, beyond which they are held; 0: unlimited"
    )
    brake_price_per_hour: NonNegativeFloat = _setting(
        Group.LIMITS, 0.0, "maximum dollars an hour of the VMs deleted within the window; 0: unlimited"
    )
    brake_window_seconds: PositiveFloat = _setting(Group.LIMITS, 600.0, "length of that window")
    max_vms_per_account: NonNegativeInt = _setting(Group.LIMITS, 0, "GpuVMs that one account may have ordered; 0: no limit")
    max_vms_per_namespace: NonNegativeInt = _setting(Group.LIMITS, 0, "GpuVMs that one namespace may have ordered; 0: no limit")
    max_price_per_hour_per_account: NonNegativeFloat = _setting(
        Group.LIMITS, 0.0, "dollars an hour that one account may spend on VMs; 0: no limit"
    )
    max_price_per_hour_per_namespace: NonNegativeFloat = _setting(
        Group.LIMITS, 0.0, "dollars an hour that one namespace may spend on VMs; 0: no limit"
    )
    orphan_scan_seconds: NonNegativeFloat = _setting(
        Group.ORPHANS, 600.0, "interval of the scans for orphans; 0: never; with --namespace only if --install-tag is set too"
    )
    collect_orphans: bool = _setting(
        Group.ORPHANS, False, f"destroy orphans that this process saw being abandoned; see {website.ORPHANS}"
    )
    orphan_age_seconds: NonNegativeFloat = _setting(
        Group.ORPHANS, 3600.0, "how long an orphan must have been abandoned before it is collected"
    )
    workers: PositiveInt = _setting(Group.PACE, 50, "objects worked on at the same time")
    leader_elect: bool = _setting(Group.REPLICAS, False, "act only while holding a Lease, so that several replicas may run")
    lease_name: str = _setting(
        Group.REPLICAS,
        "gpucloud-operator",
        "name of that Lease; operators that serve different namespaces need different ones",
        pattern=LEASE_NAME,
    )
    lease_namespace: str = _setting(
        Group.REPLICAS, "", "namespace of that Lease; the pod's own when empty", pattern=LEASE_NAMESPACE
    )
    lease_duration_seconds: PositiveFloat = _setting(
        Group.REPLICAS, 15.0, "how long a Lease must go without renewal before another operator takes it over"
    )
    lease_renew_deadline_seconds: PositiveFloat = _setting(
        Group.REPLICAS, 10.0, "how long a leader that cannot renew goes on acting"
    )
    lease_retry_period_seconds: PositiveFloat = _setting(
        Group.REPLICAS, 2.0, "interval of renewals, and of the checks by standby replicas"
    )
    tracing: bool = _setting(
        Group.PORTS,
        False,
        "send OpenTelemetry traces to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names; needs the extra "
        "`otel`, which the image has",
    )
    observe_only: bool = _setting(Group.OBJECTS, False, "say what would be done, and do nothing")
    log_level: LogLevel = _setting(Group.PORTS, "info", "debug, info, warning or error")
    log_format: LogFormat = _setting(Group.PORTS, "json", "json or text")
    credentials: Credentials = Field(Credentials(), repr=False)

    @property
    def endpoints(self) -> dict[str, str]:
        """Name to base URL of every endpoint that the administrator declared."""
        return dict(item.split("=", 1) for item in self.endpoint)

    @property
    def own_endpoint_name(self) -> str:
        """Name of the endpoint that the operator's own account uses: the first declared."""
        return next(iter(self.endpoints))

    @property
    def own_endpoint(self) -> str:
        """Base URL of that endpoint."""
        return self.endpoints[self.own_endpoint_name]

    @property
    def shares_own_account(self) -> bool:
        """Whether what the operator's own account shows may be named from any namespace that it serves."""
        return self.own_account_sharing == "Shared" or 1 in (len(self.own_account_namespace), len(self.namespace))

    @property
    def looks_for_orphans(self) -> bool:
        """Whether to look for them: in some namespaces only, an own tag must tell our names from those of the others."""
        return self.orphan_scan_seconds > 0 and (not self.namespace or bool(self.install_tag))

    @property
    def publishes_offers(self) -> bool:
        """Whether to write GpuOffers."""
        return self.offer_seconds > 0 and not self.observe_only

    @model_validator(mode="after")
    def _looks_for_what_it_collects(self) -> Self:
        if self.collect_orphans and not self.looks_for_orphans:
            raise ValueError(
                "--collect-orphans: needs a look for orphans (--orphan-scan-seconds above 0) "
                "and, with --namespace, --install-tag"
            )
        return self

    @model_validator(mode="after")
    def _renews_the_lease_in_time(self) -> Self:
        if not self.lease_duration_seconds > self.lease_renew_deadline_seconds:
            raise ValueError("--lease-renew-deadline-seconds: must be less than --lease-duration-seconds")
        if not self.lease_renew_deadline_seconds > self.lease_retry_period_seconds:
            raise ValueError("--lease-retry-period-seconds: must be less than --lease-renew-deadline-seconds")
        return self


class UninstallSettings(Value):
    """What an administrator can set for ``gpucloud uninstall``."""

    namespace: Namespaces = Field((), description="namespace to look at, repeatable; all when absent")
    uninstall_policy: Policy = Field(
        "Refuse",
        description="Refuse: list the objects and fail. Drain: delete the objects and wait until their VMs, VPCs and snapshots "
        "are destroyed; adopted ones, and those with deletion.policy Retain, are named first and stay. Retain: delete the "
        "objects; their VMs, VPCs and snapshots stay in the cloud",
    )
    uninstall_timeout_seconds: NonNegativeFloat = Field(270.0, description="how long to wait")


class SimSettings(Value):
    """What can be set for ``gpucloud sim``. The simulator's knobs of the same names have these defaults, too."""

    sim_host: str = Field("127.0.0.1", description="address to listen on")
    sim_port: Port = Field(8080, description="port to listen on; 0 picks a free one")
    sim_provision_seconds: SimulatedSeconds = Field(5.0, description="from CreateServer to ONLINE")
    sim_destroy_seconds: SimulatedSeconds = Field(2.0, description="from DestroyServer until the record vanishes")
    sim_stop_seconds: SimulatedSeconds = Field(2.0, description="from StopServer to OFFLINE")
    sim_start_seconds: SimulatedSeconds = Field(3.0, description="from StartServer to ONLINE")
    sim_snapshot_seconds: SimulatedSeconds = Field(3.0, description="from CreateSnapshot until readyToUse")
    sim_api_key_file: str = Field("", description="file that holds the API key to accept; without it one is made up")
    sim_seed: int = Field(0, description="seed of faults that strike by chance")
    sim_answers: Answers = Field("plain", description="form of the answers: plain or wrapped")
    sim_ledger_file: str = Field("", description="append the ledger to this file, a JSON object a line")
    sim_print_api_key: bool = Field(False, description="print a made-up API key instead of writing it to a file")
    sim_manual_clock: bool = Field(False, description="let time stand still until /_sim/clock/advance moves it")
