"""Reading a printed structural schema: every field of it, every rule of it, and values that it accepts."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import strategies as st


def fields(schema, path=""):
    """Every property below ``schema`` as (path, its schema); items of lists are ``[]``."""
    for name, field in schema.get("properties", {}).items():
        here = f"{path}.{name}" if path else name
        yield here, field
        yield from fields(field, here)
        yield from fields(field.get("items", {}), f"{here}[]")


def rules(schema, path):
    """Every CEL rule as (the path that it blames, the rule)."""
    for rule in schema.get("x-kubernetes-validations", ()):
        yield path + rule.get("fieldPath", ""), rule
    for name, field in schema.get("properties", {}).items():
        yield from rules(field, f"{path}.{name}")
    if "items" in schema:
        yield from rules(schema["items"], f"{path}[]")


def values(schema):
    """A hypothesis strategy of what ``schema`` accepts (CEL rules apart), optional fields there or not."""
    match schema["type"]:
        case "object":
            return _objects(schema)
        case "array":
            unique = schema["x-kubernetes-list-type"] == "set"
            return st.lists(
                values(schema["items"]), min_size=schema.get("minItems", 0), max_size=min(schema["maxItems"], 3), unique=unique
            )
        case "integer":
            return st.integers(schema.get("minimum", -(2**63)), schema.get("maximum", 2**63 - 1))
        case "boolean":
            return st.booleans()
    return _strings(schema)


def whole(schema):
    """One value that ``schema`` accepts (CEL rules apart), every optional field there and every list with an item."""
    match schema["type"]:
        case "object":
            return {name: whole(field) for name, field in schema["properties"].items()}
        case "array":
            return [whole(schema["items"])]
        case "integer":
            return max(schema.get("minimum", 0), 1)
        case "boolean":
            return False
    return _word(schema)


def _word(schema):
    match schema:
        case {"enum": words}:
            return words[0]
        case {"format": "date-time"}:
            return "2026-01-02T03:04:05Z"
    return "x"


def _objects(schema):
    required = schema.get("required", ())
    inner = {name: values(field) for name, field in schema["properties"].items()}
    return st.fixed_dictionaries(
        {name: value for name, value in inner.items() if name in required},
        optional={name: value for name, value in inner.items() if name not in required},
    )


def _strings(schema):
    match schema:
        case {"enum": words}:
            return st.sampled_from(words)
        case {"format": "date-time"}:
            moments = st.datetimes(min_value=datetime(1970, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - see timezones
            return moments.map(lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%SZ"))
        case {"pattern": pattern}:
            words = st.from_regex(pattern.removesuffix("$") + r"\Z", fullmatch=True)
            return words.filter(lambda word: len(word) <= schema["maxLength"])
    return st.text(min_size=schema.get("minLength", 0), max_size=min(schema["maxLength"], 60))
