"""The OpenAPI 3.0 document, made from the route table and the models it names.

pydantic prints JSON Schema 2020-12; 3.0 says ``nullable`` where that has ``anyOf`` with null.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import TypeAdapter

from gpucloud.sim.answers import as_json
from gpucloud.sim.records import ErrorAnswer
from gpucloud.sim.routes import ROUTES

PATHS = frozenset({"/openapi.json", "/swagger/v1/swagger.json"})
_TEMPLATE = "#/components/schemas/{model}"
_MEANINGS = {
    200: "OK",
    202: "Accepted; processing continues after the response",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    422: "Unprocessable Content",
    500: "Internal Server Error",
    503: "Service Unavailable",
}


@cache
def document_bytes() -> bytes:
    """Return the document as JSON."""
    return as_json(document())


def document() -> dict[str, Any]:
    """Return the document: every route, its parameters, bodies, records and credentials."""
    schemas: dict[str, Any] = {}
    paths = {route.path: {route.method.lower(): _operation(route, schemas)} for route in ROUTES}
    return {
        "openapi": "3.0.3",
        "info": {"title": "Cloud Infrastructure Service (simulated)", "version": "v1"},
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {
                "apiKey": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "Authorization",
                    "description": "`ApiKey <key>`: the scheme in any case, exactly one space.",
                },
                "bearer": {"type": "http", "scheme": "bearer"},
            },
        },
    }


def _operation(route: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    media_types = ("text/plain", "application/json", "text/json") if route.record == list[str] else ("application/json",)
    record = _schema(route.record, schemas)
    failed = {"application/json": {"schema": _schema(ErrorAnswer, schemas)}}
    operation: dict[str, Any] = {
        "operationId": route.operation,
        "summary": route.summary,
        "tags": [route.tag],
        "parameters": _parameters(route.query, schemas),
        "responses": {
            str(route.success): {
                "description": _MEANINGS[route.success],
                "content": {media_type: {"schema": record} for media_type in media_types},
            }
        }
        | {str(code): {"description": _MEANINGS[code], "content": failed} for code in route.error_codes},
        "security": [] if route.permission is None else [{"apiKey": []}, {"bearer": []}],
    }
    if route.body is not None:
        content = {"application/json": {"schema": _schema(route.body, schemas)}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _parameters(query: Any, schemas: dict[str, Any]) -> list[dict[str, Any]]:
    schema = _converted(TypeAdapter(query).json_schema(ref_template=_TEMPLATE))
    schemas.update(schema.pop("$defs", {}))
    required = schema.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": item}
        for name, item in schema.get("properties", {}).items()
    ]


def _schema(model: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    """Put a model and what it refers to among the components; return a reference, or the schema if it has no name."""
    schema = _converted(TypeAdapter(model).json_schema(ref_template=_TEMPLATE))
    schemas.update(schema.pop("$defs", {}))
    if "title" not in schema or schema["type"] != "object":
        return schema
    name = schema["title"]
    schemas[name] = schema
    return {"$ref": _TEMPLATE.format(model=name)}


def _converted(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema in the words of OpenAPI 3.0: nullable for null, no default of a kind the type has not."""
    converted = {name: _any_converted(value) for name, value in schema.items()}
    choices = converted.get("anyOf")
    if isinstance(choices, list) and {"type": "null"} in choices:
        (other,) = [choice for choice in choices if choice != {"type": "null"}]
        del converted["anyOf"]
        converted = {**other, **converted, "nullable": True}
    if converted.get("type") != "object":
        converted.pop("title", None)  # made from the Python name, which is nobody's business
    if not isinstance(converted.get("default"), bool):
        converted.pop("default", None)  # an empty one stands for "not given", which no document needs to say
    return converted


def _any_converted(value: Any) -> Any:
    if isinstance(value, list):
        return [_any_converted(item) for item in value]
    return _converted(value) if isinstance(value, dict) else value
