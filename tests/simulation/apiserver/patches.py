"""JSON patch (RFC 6902) and merge patch (RFC 7386). Neither changes what it is given: changed parts are copied."""

from __future__ import annotations

from typing import Any

from simulation.apiserver.refusals import bad_request, unprocessable

OPERATIONS = {"add", "remove", "replace", "test", "move", "copy"}


def merged(target: Any, patch: Any) -> Any:
    """Apply a merge patch."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def patched(document: Any, operations: Any) -> Any:
    """Apply a JSON patch."""
    if not isinstance(operations, list) or not all(isinstance(item, dict) for item in operations):
        raise bad_request("error decoding patch")
    for operation in operations:
        document = _one(document, operation)
    return document


def _one(document: Any, operation: dict[str, Any]) -> Any:
    kind, path = operation.get("op"), _steps(operation.get("path"))
    if kind not in OPERATIONS:
        raise unprocessable()
    match kind:
        case "test":
            if _found(document, path, missing=None) != operation.get("value"):
                raise unprocessable()
            return document
        case "copy":
            return _changed(document, path, "add", _found(document, _steps(operation.get("from"))))
        case "move":
            source = _steps(operation.get("from"))
            value = _found(document, source)
            return _changed(_changed(document, source, "remove", None), path, "add", value)
    return _changed(document, path, kind, operation.get("value"))


_RAISE: Any = object()


def _steps(pointer: Any) -> list[str]:
    if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
        raise unprocessable()
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _found(document: Any, path: list[str], *, missing: Any = _RAISE) -> Any:
    for step in path:
        if isinstance(document, dict) and step in document:
            document = document[step]
        elif isinstance(document, list) and step.isdecimal() and int(step) < len(document):
            document = document[int(step)]
        elif missing is _RAISE or not isinstance(document, dict):
            raise unprocessable()
        else:
            return missing
    return document


def _changed(document: Any, path: list[str], kind: str, value: Any) -> Any:
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(document, dict):
        return _changed_object(document, step, rest, kind, value)
    if isinstance(document, list):
        return _changed_list(document, step, rest, kind, value)
    raise unprocessable()


def _changed_object(document: dict[str, Any], step: str, rest: list[str], kind: str, value: Any) -> dict[str, Any]:
    if step not in document and (rest or kind != "add"):
        raise unprocessable()
    result = dict(document)
    if rest:
        result[step] = _changed(document[step], rest, kind, value)
    elif kind == "remove":
        del result[step]
    else:
        result[step] = value
    return result


def _changed_list(document: list[Any], step: str, rest: list[str], kind: str, value: Any) -> list[Any]:
    adds = kind == "add" and not rest
    index = len(document) if step == "-" else int(step) if step.isdecimal() else -1
    if not 0 <= index < len(document) + adds:
        raise unprocessable()
    result = list(document)
    if rest:
        result[index] = _changed(document[index], rest, kind, value)
    elif kind == "remove":
        del result[index]
    elif adds:
        result.insert(index, value)
    else:
        result[index] = value
    return result
