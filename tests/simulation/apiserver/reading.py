"""Reading bodies as Go does: JSON with stray surrogate escapes replaced, and YAML that takes no surrogate escapes at all."""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

from simulation.apiserver.refusals import bad_request

SURROGATE_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]")
SURROGATE = re.compile("[\ud800-\udfff]")


def text_of(body: str | bytes | None) -> str:
    """A body as text; bytes that are no UTF-8 become replacement characters."""
    return body.decode(errors="replace") if isinstance(body, bytes) else body or ""


def json_of(body: str | bytes | None) -> Any:
    """Parse a JSON body."""
    text = text_of(body)
    try:
        value = json.loads(text)
    except ValueError as error:
        raise bad_request(f"the body is no JSON: {error}") from error
    return whole(value) if "\\u" in text else value


def applied(body: str | bytes | None) -> dict[str, Any]:
    """Parse the body of an apply-patch, which a YAML reader reads."""
    text = text_of(body)
    if SURROGATE_ESCAPE.search(text):
        raise bad_request(
            "error decoding YAML: error converting YAML to JSON: yaml: found invalid Unicode character escape code"
        )
    try:
        value = json.loads(text) if text.startswith("{") else yaml.safe_load(text)
    except (ValueError, yaml.YAMLError) as error:
        raise bad_request("error decoding YAML: error converting YAML to JSON") from error
    if not isinstance(value, dict):
        raise bad_request("error decoding YAML: no object")
    return value


def whole(value: Any) -> Any:
    """The value with every lone surrogate replaced."""
    if isinstance(value, str):
        return SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [whole(item) for item in value]
    if isinstance(value, dict):
        return {whole(name): whole(item) for name, item in value.items()}
    return value
