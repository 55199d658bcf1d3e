"""Reads the settings: a flag wins over the environment, the environment over the settings file, the file over the default.

Each setting is one flag (``--poll-pending-seconds``), one variable (``GPUCLOUD_POLL_PENDING_SECONDS``) and one name in the file
(``pollPendingSeconds``). One of ``gpucloud sim`` or ``uninstall`` has the command in its variable and in its name in the file
(``GPUCLOUD_SIM_PORT``, ``simPort``), so that one file and one environment serve all commands; each takes what is its own.
Secrets have no flag, since a command line is public: they come from the environment or from the files that it names.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from pydantic import ValidationError
from pydantic.alias_generators import to_camel
from pydantic_settings import BaseSettings, EnvSettingsSource, InitSettingsSource, SettingsConfigDict

from gpucloud import configfile
from gpucloud.configfile import ConfigFile
from gpucloud.settings import (
    INSTALL_TAG,
    LEASE_NAME,
    LEASE_NAMESPACE,
    NAMESPACE,
    Credentials,
    Group,
    Settings,
    SettingsError,
    SimSettings,
    UninstallSettings,
    Value,
    group_of,
)
from gpucloud.spelling import expected

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Mapping

    from pydantic_core import ErrorDetails

ENV_PREFIX = "GPUCLOUD_"
# What is expected, by pydantic's error types; {input} stands only where it cannot be a secret.
_EXPECTED = {
    "bool_parsing": "expected true or false, not {input!r}",
    "bool_type": "expected true or false",
    "int_type": "expected a whole number",
    "float_type": "expected a number",
    "string_type": "expected text, not a list or mapping",
    "tuple_type": "expected a list, as [a, b]",
    "int_parsing": "expected a whole number, not {input!r}",
    "float_parsing": "expected a number, not {input!r}",
    "finite_number": "expected a finite number, not {input!r}",
    "greater_than": "must be greater than zero",
    "greater_than_equal": "must not be negative",
    "less_than_equal": "must be {ctx[le]} or less",
    "string_too_short": "must not be empty",
}
_METAVARS = {
    "endpoint": "NAME=URL",
    "own_account_sharing": "Isolated|Shared",
    "log_format": "json|text",
    "proxy": "URL",
    "uninstall_policy": "Refuse|Drain|Retain",
    "sim_answers": "plain|wrapped",
}
_PATTERNS = {
    INSTALL_TAG: "expected 3 to 8 lower-case letters and digits",
    LEASE_NAME: "expected lower-case letters, digits, '-' and '.', as names in Kubernetes have them",
    LEASE_NAMESPACE: "expected lower-case letters, digits and '-', as namespaces in Kubernetes have them",
    NAMESPACE: "expected lower-case letters, digits and '-', as namespaces in Kubernetes have them, not {input!r}; "
    "repeat it for several, or leave it out for all",
}


class _SettingsSource(BaseSettings, Settings):
    """The settings as pydantic-settings reads them."""

    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX, enable_decoding=False)


class _UninstallSource(BaseSettings, UninstallSettings):
    """The settings of ``gpucloud uninstall`` as pydantic-settings reads them."""

    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX, enable_decoding=False)


class _SimSource(BaseSettings, SimSettings):
    """The settings of ``gpucloud sim`` as pydantic-settings reads them."""

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
    command: str = "operator"  # whose setting it is
    group: Group | None = None  # where the help of the operator shows it

    @property
    def option(self) -> str:
        """The flag: ``--poll-pending-seconds``. It need not repeat the command that its name begins with."""
        return "--" + self.name.removeprefix(f"{self.command}_").replace("_", "-")

    @property
    def metavar(self) -> str:
        """What stands for the value in the help."""
        counted = isinstance(self.default, int | float) and not self.name.endswith("_seconds")
        return _METAVARS.get(self.name) or ("N" if counted else self.name.rpartition("_")[2].upper())

    @property
    def variable(self) -> str:
        """The environment variable: ``GPUCLOUD_POLL_PENDING_SECONDS``."""
        return ENV_PREFIX + self.name.upper()

    @property
    def field(self) -> str:
        """The name in the settings file: ``pollPendingSeconds``."""
        return to_camel(self.name)


@dataclass(frozen=True, slots=True)
class _Given:
    """Where settings were given; of the last three, an earlier one wins over a later one."""

    known: Mapping[str, Flag]
    flags: Mapping[str, Any]
    environ: Mapping[str, str]
    file: ConfigFile = field(default_factory=ConfigFile)

    def where(self, flag: Flag) -> str:
        """The flag, the variable or the file's name that gave this setting."""
        if flag.name not in self.flags and self.environ.get(flag.variable):
            return flag.variable
        by_file = flag.name not in self.flags and flag.name in self.file.values
        return self.file.where(flag.name, flag.field) if by_file else flag.option


CONFIG = ENV_PREFIX + "CONFIG"
M = TypeVar("M", bound=Value)


def _flags_of(model: type[Value], command: str) -> dict[str, Flag]:
    """Return the flag of every field that has a description."""
    fields = model.model_fields.items()
    return {
        name: Flag(name, field.default, field.description, command, group_of(field))
        for name, field in fields
        if field.description
    }


def _grouped(known: Mapping[str, Flag]) -> dict[str, tuple[str, ...]]:
    """Return the headings of the help with their settings. A KeyError: a setting is declared under none."""
    found: dict[Group | None, list[str]] = {group: [] for group in Group}
    for flag in known.values():
        found[flag.group].append(flag.name)
    return {str(group): tuple(names) for group, names in found.items()}


FLAGS = _flags_of(Settings, "operator")
GROUPS = _grouped(FLAGS)
UNINSTALL = _flags_of(UninstallSettings, "uninstall")
SIM = _flags_of(SimSettings, "sim")
_FIELDS = {flag.field: flag.name for flag in (*FLAGS.values(), *UNINSTALL.values(), *SIM.values())}


def add_arguments(parser: argparse.ArgumentParser, only: Collection[str] = (), known: Mapping[str, Flag] = FLAGS) -> None:
    """Give the parser a flag for every ``known`` setting, or for ``only`` some. It keeps the words: ``load`` reads them."""
    parser.add_argument("--config", metavar="FILE", help=f"YAML file of settings, each in camelCase ({CONFIG})")
    groups = GROUPS if known is FLAGS and not only else {"settings": tuple(only or known)}
    for title, names in groups.items():
        group = parser.add_argument_group(title)
        for flag in (known[name] for name in names):
            text = f"{flag.help} (default {_shown(flag.default)}; {flag.variable})"
            if isinstance(flag.default, bool):
                group.add_argument(flag.option, dest=flag.name, action="store_const", const="true", help=text)
            else:
                action = "append" if isinstance(flag.default, tuple) else "store"
                group.add_argument(flag.option, dest=flag.name, action=action, metavar=flag.metavar, help=text)


def load(given: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> Settings:
    """Settings of the operator from parsed flags (None where absent), then environment, then the settings file, then defaults.

    Raises:
        SettingsError: a value is of the wrong form or out of range, the file cannot be read, or the account is incomplete.
    """
    environ = os.environ if environ is None else environ
    return _load(Settings, _SettingsSource, _given(given, environ, FLAGS), credentials=read_credentials(environ))


def load_uninstall(given: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> UninstallSettings:
    """As ``load``, the settings of ``gpucloud uninstall``."""
    return _load(UninstallSettings, _UninstallSource, _given(given, os.environ if environ is None else environ, UNINSTALL))


def load_sim(given: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> SimSettings:
    """As ``load``, the settings of ``gpucloud sim``."""
    return _load(SimSettings, _SimSource, _given(given, os.environ if environ is None else environ, SIM))


def _given(given: Mapping[str, Any], environ: Mapping[str, str], known: Mapping[str, Flag]) -> _Given:
    """Gather where the settings ``known`` are given; the file may hold those of other commands, too.

    Raises:
        SettingsError: the file cannot be used, or the name of a variable is not in capitals.
    """
    path = _config_file(given, environ)
    _check_spelling(environ)
    file = configfile.read(path, _FIELDS, next(iter(known.values())).command) if path else ConfigFile()
    return _Given(known, {name: given[name] for name in known if given.get(name) is not None}, environ, file)


def _load(model: type[M], source: type[BaseSettings], told: _Given, **more: Any) -> M:
    """Return the settings from all that was given, and from ``more``, which nothing overrides."""
    by_file = {name: value for name, value in told.file.values.items() if name in told.known}
    try:
        return model(**dict(source(_build_sources=_sources(source, {**told.flags, **more}, told.environ, by_file))))
    except ValidationError as error:
        raise SettingsError("; ".join(_text(item, told, model) for item in error.errors())) from None


def _config_file(given: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """Return the path of the settings file, or empty text. An empty variable counts as absent, as each does; a flag does not.

    Raises:
        SettingsError: the flag names no file, as of a shell variable that is not set.
    """
    path = given.get("config")
    if path is not None and not path.strip():
        raise SettingsError("--config: no file is named; name one, or leave the flag out")
    return path or environ.get(CONFIG) or ""


def variables() -> frozenset[str]:
    """Return the names of all environment variables that are read, but for those of the simulator."""
    secrets = [ENV_PREFIX + name.upper() for name in Credentials.model_fields]
    flags = (*FLAGS.values(), *UNINSTALL.values())
    return frozenset({CONFIG, *(flag.variable for flag in flags), *secrets, *(f"{name}_FILE" for name in secrets)})


def variables_of_sim() -> frozenset[str]:
    """Return the names of the variables that the simulator reads."""
    return frozenset({CONFIG, *(flag.variable for flag in SIM.values())})


def _check_spelling(environ: Mapping[str, str]) -> None:
    """Refuse a variable that is one of ours but for upper and lower case: of two such, chance would choose.

    Raises:
        SettingsError: there is one; the text does not repeat its value.
    """
    known = variables() | variables_of_sim()
    wrong = sorted(name for name, value in environ.items() if value and name not in known and name.upper() in known)
    troubles = [SettingsError(f"{name}: the variable is not in capitals; name it {name.upper()}") for name in wrong]
    if troubles:
        raise SettingsError("; ".join(map(str, troubles)))


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
        raise SettingsError(_text(error.errors()[0], _Given({}, {}, environ), Credentials)) from None


def _secrets_in_files(environ: Mapping[str, str]) -> dict[str, str | None]:
    """The content of each file that a variable GPUCLOUD_<secret>_FILE names, without its last newline."""
    found: dict[str, str | None] = {}
    for name in Credentials.model_fields:
        variable = f"{ENV_PREFIX}{name.upper()}_FILE"
        if path := environ.get(variable):
            try:
                found[name] = Path(path).read_text(encoding="utf-8").rstrip("\r\n") or None
            except (OSError, UnicodeDecodeError) as error:
                raise SettingsError(
                    f"{variable}: the file {path} cannot be read ({configfile.unread(error)}); name a readable file"
                ) from None
    return found


def _sources(
    model: type[BaseSettings], told: dict[str, Any], environ: Mapping[str, str], file: Mapping[str, Any] | None = None
) -> Any:
    """Sources of pydantic-settings, the first wins. An empty variable counts as absent."""
    environment = EnvSettingsSource(model)
    environment.env_vars = {name.lower(): value for name, value in environ.items() if value and name.isupper()}
    return (InitSettingsSource(model, told), environment, InitSettingsSource(model, dict(file or {}))), {}


def _text(error: ErrorDetails, told: _Given, model: type[Value]) -> str:
    """What is wrong with which flag or variable, and what is expected. It repeats no secret."""
    words = _EXPECTED.get(error["type"], "").format_map(error)
    if error["type"] == "literal_error":
        words = expected(get_args(model.model_fields[str(error["loc"][0])].annotation), str(error["input"]))
    elif error["type"] == "string_pattern_mismatch":
        words = _PATTERNS[error["ctx"]["pattern"]].format_map(error)
    elif error["type"] == "value_error":
        words = str(error["ctx"]["error"])
    if not error["loc"]:  # a rule about several settings, which names them
        return words
    return f"{told.where(told.known[str(error['loc'][0])])}: {words or error['msg']}"


def _shown(default: Any) -> str:
    if isinstance(default, bool):
        return "on" if default else "off"
    return {"": "none", (): "none"}.get(default, str(default))
