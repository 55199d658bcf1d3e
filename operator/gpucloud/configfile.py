"""Reads the settings file: YAML with the settings in camelCase, as the chart's ``settings`` name them. It holds no secret."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from gpucloud.settings import Credentials, SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping


def read(path: str, fields: Mapping[str, str]) -> dict[str, Any]:
    """Return what the file sets, by the settings' names; ``fields`` maps the file's names to them. Null counts as absent.

    Raises:
        SettingsError: the file cannot be read, is no YAML mapping, or names something that is no setting.
    """
    try:
        found = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"--config {path}: the file cannot be read ({unread(error)}); name a readable file") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark is not None else ""
        raise SettingsError(f"--config {path}: the file is not YAML{where}; correct it there") from None
    if not isinstance(found, dict | None):
        raise SettingsError(f"--config {path}: the file holds no mapping; write settings such as 'pollSteadySeconds: 60'")
    settings = found or {}
    if unknown := [str(name) for name in settings if name not in fields]:
        raise SettingsError("; ".join(f"--config {path}: {_told(name, fields)}" for name in unknown))
    return {fields[name]: value for name, value in settings.items() if value is not None}


def unread(error: OSError | UnicodeDecodeError) -> str:
    """Return why a file cannot be read, in the words of the operating system."""
    return str(error.strerror) if isinstance(error, OSError) else "it is not UTF-8 text"


def _told(name: str, fields: Mapping[str, str]) -> str:
    """Say why a file cannot set this, and which setting was perhaps meant."""
    plain = name.replace("-", "").replace("_", "").casefold()
    if plain in {secret.replace("_", "") for secret in Credentials.model_fields}:
        return f"{name} is a secret: set it by an environment variable, or by the file that GPUCLOUD_…_FILE names"
    by_plain = {field.casefold(): field for field in fields}
    near = [plain] if plain in by_plain else difflib.get_close_matches(plain, by_plain, n=1)
    meant = f"; did you mean {by_plain[near[0]]}?" if near else ""
    return f"there is no setting {name!r}{meant}"
