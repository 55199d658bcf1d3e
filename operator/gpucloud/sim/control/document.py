"""What the control API says of itself: an index for people, and an OpenAPI 3.1 document made from the table of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.sim.index import CONTROL_PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpucloud.sim.control.action import Action

_ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
_TEMPLATE = "#/components/schemas/{model}"
_REFUSED = "The request is refused; the text says why"


def index(actions: Iterable[Action]) -> dict[str, str]:
    """Return what each action does, by its method and path."""
    return {f"{action.method} {CONTROL_PREFIX}{action.path}": action.summary for action in actions}


def openapi(actions: Iterable[Action]) -> dict[str, Any]:
    """Return the document. The answers have no schema: they are JSON values that follow the simulator's own state."""
    schemas: dict[str, Any] = {}
    paths: dict[str, Any] = {}
    for action in actions:
        paths.setdefault(CONTROL_PREFIX + action.path, {})[action.method.lower()] = _operation(action, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Control API of the simulated cloud; loopback only, no credential", "version": "v1"},
        "paths": paths,
        "components": {"schemas": dict(sorted(schemas.items()))},
    }


def _operation(action: Action, schemas: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = {"content": {"application/json": {}}}
    described: dict[str, Any] = {
        "operationId": action.name,
        "summary": action.summary,
        "responses": {"200": {"description": "OK"} | answer, "400": {"description": _REFUSED} | answer},
    }
    if action.path.endswith("{id}"):
        return described | {"parameters": [_ID]}
    schema = action.args.model_json_schema(ref_template=_TEMPLATE)
    schemas.update(schema.pop("$defs", {}))
    if action.method != "GET":
        return described | {"requestBody": {"content": {"application/json": {"schema": schema}}}}
    fields = schema.get("properties", {}).items()
    return described | {"parameters": [{"name": name, "in": "query", "schema": item} for name, item in fields]}
