"""The operator's settings as values of the chart: their names, types and limits, and the list in values.yaml."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gpucloud.settings import CHOICES, NOT_NEGATIVE, POSITIVE, flags

if TYPE_CHECKING:
    import dataclasses

# Settings that other values of the chart stand for.
GIVEN_BY = {
    "endpoint": "endpoints",
    "namespace": "watchNamespaces",
    "ca_file": "cloudCA",
    "leader_elect": "leaderElection.enabled",
    "lease_name": "leaderElection.leaseName",
    "lease_namespace": "the namespace of the release",
}
PORTS = ("metrics_port", "health_port", "console_port")
INSTALL_TAG = "^([a-z0-9]{3,8})?$"
_LIST = re.compile(r"(?<=# settings: begin\n).*?(?=# settings: end\n)", re.DOTALL)


def value_name(setting: str) -> str:
    """Return the name of a setting among the values: ``poll_pending_seconds`` is ``pollPendingSeconds``."""
    first, *others = setting.split("_")
    return first + "".join(word.capitalize() for word in others)


def settings_of_values() -> list[dataclasses.Field[Any]]:
    """Return the settings that stand under ``settings`` in the values."""
    return [item for item in flags() if item.name not in GIVEN_BY]


def schema() -> dict[str, Any]:
    """Return the schema of ``settings``: closed, so that a misspelt name is refused before anything is installed."""
    properties = {value_name(item.name): _schema_of(item) for item in settings_of_values()}
    return {"type": "object", "additionalProperties": False, "properties": properties}


def with_list(text: str) -> str:
    """Return values.yaml with the list of settings between its marks printed anew."""
    lines = [f"#   {value_name(item.name)}: {shown(item.default)}  # {item.metadata['help']}" for item in settings_of_values()]
    return _LIST.sub(lambda _: "".join(f"{line}\n" for line in lines), text)


def shown(default: Any) -> str:
    """Write a default as YAML has it."""
    if isinstance(default, bool):
        return str(default).lower()
    return {"": '""', (): "[]"}.get(default, str(default))


def _schema_of(item: dataclasses.Field[Any]) -> dict[str, Any]:
    described = {"description": item.metadata["help"]}
    match item.default:
        case bool():
            return {"type": "boolean", **described}
        case int() | float():
            return {"type": "integer" if isinstance(item.default, int) else "number", **_limits(item.name), **described}
        case tuple():
            return {"type": "array", "items": {"type": "string", "minLength": 1}, **described}
        case _:
            return {"type": "string", **_words(item.name), **described}


def _limits(name: str) -> dict[str, Any]:
    if name in PORTS:
        return {"minimum": 1, "maximum": 65535}
    if name in POSITIVE:
        return {"exclusiveMinimum": 0}
    return {"minimum": 0} if name in NOT_NEGATIVE else {}


def _words(name: str) -> dict[str, Any]:
    if name in CHOICES:
        return {"enum": list(CHOICES[name])}
    return {"pattern": INSTALL_TAG} if name == "install_tag" else {}
