"""Reads the settings file: YAML with the settings in camelCase, as the chart's ``settings`` name them. It holds no secret.

Each value is read as it is written, as a flag and a variable are: YAML 1.1 would make 8 of ``010``, 90 of ``1:30`` and 1 of
``true``, each of which the settings would take for a number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from gpucloud.settings import Credentials, SettingsError
from gpucloud.spelling import nearest, question

if TYPE_CHECKING:
    from collections.abc import Mapping

NULL = "tag:yaml.org,2002:null"


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """What a settings file sets, by the settings' names, and in which line each setting stands."""

    path: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)

    def where(self, name: str, field: str) -> str:
        """Return where this setting stands, under the name that the file has for it."""
        return f"{_place(self.path, self.lines[name])}: {field}"


class _Loader(yaml.BaseLoader):
    """Every scalar is its own text, but for null."""


_Loader.add_implicit_resolver(NULL, re.compile("(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""])
_Loader.add_constructor(NULL, lambda _loader, _node: None)


def read(path: str, fields: Mapping[str, str], command: str) -> ConfigFile:
    """Return what the file sets; ``fields`` maps the file's names to those of the settings. Null counts as absent.

    ``command``: who reads it; a refusal names its help.

    Raises:
        SettingsError: the file cannot be read, is no YAML mapping, or names something twice, or that is no setting.
    """
    lines: dict[str, int] = {}
    values: dict[str, Any] = {}
    troubles: list[SettingsError] = []
    for name, line, value in _entries(path):
        if name not in fields:
            troubles.append(_unknown(_place(path, line), name, fields, command))
        elif name in lines:
            place, first = _place(path, line), lines[name]
            troubles.append(SettingsError(f"{place}: {name} is set twice, first in line {first}; remove one of the two"))
        elif value is not None:
            values[fields[name]] = value
        lines.setdefault(name, line)
    if troubles:
        raise SettingsError("; ".join(map(str, troubles)))
    return ConfigFile(path, values, {fields[name]: line for name, line in lines.items()})


def _entries(path: str) -> list[tuple[str, int, Any]]:
    """Return each name in the file with its line and its value, those that stand there twice included."""
    try:
        loader = _Loader(Path(path).read_text(encoding="utf-8"))
        root = loader.get_single_node()
        if root is None or root.tag == NULL:
            return []
        if isinstance(root, yaml.MappingNode):
            return [
                (
                    str(loader.construct_object(key, deep=True)),
                    key.start_mark.line + 1,
                    loader.construct_object(value, deep=True),
                )
                for key, value in root.value
            ]
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"--config {path}: the file cannot be read ({unread(error)}); name a readable file") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark is not None else ""
        raise SettingsError(f"--config {path}: the file is not YAML{where}; correct it there") from None
    raise SettingsError(f"--config {path}: the file holds no mapping; write settings such as 'pollSteadySeconds: 60'")


def _place(path: str, line: int) -> str:
    return f"--config {path}, line {line}"


def unread(error: OSError | UnicodeDecodeError) -> str:
    """Return why a file cannot be read, in the words of the operating system."""
    return str(error.strerror) if isinstance(error, OSError) else "it is not UTF-8 text"


def _unknown(place: str, name: str, fields: Mapping[str, str], command: str) -> SettingsError:
    """Say why a file cannot set this, and which setting was perhaps meant."""
    plain = name.replace("-", "").replace("_", "").casefold()
    if plain in {secret.replace("_", "") for secret in Credentials.model_fields}:
        return SettingsError(
            f"{place}: {name} is a secret: set it by an environment variable, or by the file that GPUCLOUD_…_FILE names"
        )
    by_plain = {field.casefold(): field for field in fields}
    # A flag of `sim` and `uninstall` lacks the command that the field begins with.
    meant = [by_plain[one] for one in (plain, command + plain) if one in by_plain]
    found = meant[:1] or nearest(name, fields)
    return SettingsError(f"{place}: there is no setting {name!r}.{question(found)} See 'gpucloud {command} --help'")
