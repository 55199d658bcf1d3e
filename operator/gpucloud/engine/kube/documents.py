"""JSON texts of requests to the apiserver and of its answers."""

from __future__ import annotations

import json
from typing import Any

import orjson


def encoded(body: Any) -> str:
    """Return the JSON text of a request's body."""
    try:
        return orjson.dumps(body).decode()
    except TypeError:  # a lone surrogate, which only a JSON escape can carry
        return json.dumps(body, separators=(",", ":"))


def parsed(text: str) -> dict[str, Any] | None:
    """Return the JSON object of an answer; None if it is none."""
    try:
        document = orjson.loads(text)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None
