"""The operator's settings as values of the chart: their names, types and limits, and the list in values.yaml."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.flags import FLAGS
from gpucloud.settings import Settings
from printed import between_marks

if TYPE_CHECKING:
    from gpucloud.flags import Flag

# Settings that other values of the chart stand for.
GIVEN_BY = {
    "endpoint": "endpoints",
    "namespace": "watchNamespaces",
    "ca_file": "cloudCA",
    "leader_elect": "leaderElection.enabled",
    "lease_name": "leaderElection.leaseName",
    "lease_namespace": "the namespace of the release",
}
RULES = ("type", "items", "enum", "pattern", "minimum", "exclusiveMinimum", "maximum")  # of a JSON schema, kept in this order
FIRST_PORT = {"minimum": 1}  # in a pod no port is left to the system: others must find it


def settings_of_values() -> list[Flag]:
    """Return the settings that stand under ``settings`` in the values."""
    return [item for item in FLAGS.values() if item.name not in GIVEN_BY]


def schema() -> dict[str, Any]:
    """Return the schema of ``settings``: closed, so that a misspelt name is refused before anything is installed."""
    rules = Settings.model_json_schema()["properties"]
    properties = {item.field: _schema_of(item, rules[item.name]) for item in settings_of_values()}
    return {"type": "object", "additionalProperties": False, "properties": properties}


def with_list(text: str) -> str:
    """Return values.yaml with the list of settings between its marks printed again."""
    lines = [f"#   {item.field}: {shown(item.default)}  # {item.help}" for item in settings_of_values()]
    return between_marks(text, "# settings: begin\n", "# settings: end\n", "".join(f"{line}\n" for line in lines))


def shown(default: Any) -> str:
    """Write a default as YAML has it."""
    if isinstance(default, bool):
        return str(default).lower()
    return {"": '""', (): "[]"}.get(default, str(default))


def _schema_of(item: Flag, rules: dict[str, Any]) -> dict[str, Any]:
    kept = {rule: rules[rule] for rule in RULES if rule in rules}
    return kept | (FIRST_PORT if item.name.endswith("_port") else {}) | {"description": item.help}
