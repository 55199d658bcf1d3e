"""Reads the settings: a flag wins over the environment, the environment over the default.

Each setting is one flag (``--poll-pending-seconds``) and one variable (``GPUCLOUD_POLL_PENDING_SECONDS``). Secrets have no
flag, since a command line is public: they come from the environment or from the files that it names.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from pydantic import ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource, InitSettingsSource, SettingsConfigDict

from gpucloud.settings import INSTALL_TAG, LEASE_NAME, LEASE_NAMESPACE, Credentials, Settings, SettingsError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Mapping

    from pydantic_core import ErrorDetails

ENV_PREFIX = "GPUCLOUD_"
# What is expected, by pydantic's error types; {input} stands only where it cannot be a secret.
_EXPECTED = {
    "bool_parsing": "expected true or false, not {input!r}",
    "int_parsing": "expected a whole number, not {input!r}",
    "float_parsing": "expected a number, not {input!r}",
    "finite_number": "expected a finite number, not {input!r}",
    "greater_than": "must be greater than zero",
    "greater_than_equal": "must not be negative",
    "less_than_equal": "must be {ctx[le]} or less",
    "string_too_short": "must not be empty",
}
_PATTERNS = {
    INSTALL_TAG: "3 to 8 lower-case letters and digits",
    LEASE_NAME: "use lower-case letters, digits, '-' and '.', as names in Kubernetes have them",
    LEASE_NAMESPACE: "use lower-case letters, digits and '-', as namespaces in Kubernetes have them",
}


class _SettingsSource(BaseSettings, Settings):
    """The settings as pydantic-settings reads them."""

    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX, enable_decoding=False)


class _CredentialsSource(BaseSettings, Credentials):
    """The operator's own account as pydantic-settings reads it."""

    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX)


@dataclass(frozen=True, slots=True)
class Flag:
    """A setting as an administrator can give it."""

    name: str
    default: Any
    help: str

    @property
    def option(self) -> str:
        """The flag: ``--poll-pending-seconds``."""
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        """The environment variable: ``GPUCLOUD_POLL_PENDING_SECONDS``."""
        return ENV_PREFIX + self.name.upper()


FLAGS = {
    name: Flag(name, field.default, field.description) for name, field in Settings.model_fields.items() if field.description
}


def add_arguments(parser: argparse.ArgumentParser, only: Collection[str] = ()) -> None:
    """Give the parser a flag for every setting, or for ``only`` these. It keeps the words as given: ``load`` reads them."""
    for flag in FLAGS.values():
        if only and flag.name not in only:
            continue
        text = f"{flag.help} (default {_shown(flag.default)}; {flag.variable})"
        if isinstance(flag.default, bool):
            parser.add_argument(flag.option, action="store_const", const="true", help=text)
        else:
            action = "append" if isinstance(flag.default, tuple) else "store"
            parser.add_argument(flag.option, action=action, metavar=flag.name.upper(), help=text)


def load(given: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> Settings:
    """Settings from parsed flags (None where absent), then environment, then defaults.

    Raises:
        SettingsError: a value is of the wrong form or out of range, or the account is incomplete.
    """
    environ = os.environ if environ is None else environ
    told = {name: given[name] for name in FLAGS if given.get(name) is not None}
    sources = _sources(_SettingsSource, told | {"credentials": read_credentials(environ)}, environ)
    try:
        return Settings(**dict(_SettingsSource(_build_sources=sources)))
    except ValidationError as error:
        raise SettingsError("; ".join(_text(item, told, environ) for item in error.errors())) from None


def read_credentials(environ: Mapping[str, str] | None = None) -> Credentials:
    """The operator's own account, from the files that the environment names or from itself; empty when there is none.

    Raises:
        SettingsError: it is incomplete, of both kinds, or a file cannot be read.
    """
    environ = os.environ if environ is None else environ
    sources = _sources(_CredentialsSource, _secrets_in_files(environ), environ)
    try:
        return Credentials(**dict(_CredentialsSource(_build_sources=sources)))
    except ValidationError as error:
        raise SettingsError(_text(error.errors()[0], {}, environ)) from None


def _secrets_in_files(environ: Mapping[str, str]) -> dict[str, str | None]:
    """The content of each file that a variable GPUCLOUD_<secret>_FILE names, without its last newline."""
    found: dict[str, str | None] = {}
    for name in Credentials.model_fields:
        variable = f"{ENV_PREFIX}{name.upper()}_FILE"
        if path := environ.get(variable):
            try:
                found[name] = Path(path).read_text(encoding="utf-8").rstrip("\r\n") or None
            except (OSError, UnicodeDecodeError) as error:
                raise SettingsError(f"{variable}: cannot read {path}: {type(error).__name__}") from None
    return found


def _sources(model: type[BaseSettings], told: dict[str, Any], environ: Mapping[str, str]) -> Any:
    """Sources of pydantic-settings, the first wins. An empty variable counts as absent."""
    environment = EnvSettingsSource(model)
    environment.env_vars = {name.lower(): value for name, value in environ.items() if value}
    return (InitSettingsSource(model, told), environment), {}


def _text(error: ErrorDetails, told: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """What is wrong with which flag or variable, and what is expected. It repeats no secret."""
    words = _EXPECTED.get(error["type"], "").format_map(error)
    if error["type"] == "literal_error":
        words = f"one of {', '.join(get_args(Settings.model_fields[str(error['loc'][0])].annotation))}"
    elif error["type"] == "string_pattern_mismatch":
        words = _PATTERNS[error["ctx"]["pattern"]]
    elif error["type"] == "value_error":
        words = str(error["ctx"]["error"])
    if not error["loc"]:  # a rule about several settings, which names them
        return words
    flag = FLAGS[str(error["loc"][0])]
    named = flag.variable if flag.name not in told and environ.get(flag.variable) else flag.option
    return f"{named}: {words or error['msg']}"


def _shown(default: Any) -> str:
    return {"": "none", (): "none"}.get(default, str(default))
