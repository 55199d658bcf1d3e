"""From a CustomResourceDefinition to its reference page in Markdown: fields, rules, columns. Pure text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.kinds.markers import LIST_MAP_KEYS, LIST_TYPE, VALIDATIONS
from pages.markdown import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Node = Mapping[str, Any]

# What bounds a value, as people say it.
_RANGES = (
    ("minLength", "maxLength", " characters"),
    ("minimum", "maximum", ""),
    ("minItems", "maxItems", " items"),
)

_REPLACES = "replacePolicy"  # in the rule of a field that may be edited where that is Recreate
_FIELDS = ("Field", "Type", "Given", "Meaning")
_RULES = (
    "The apiserver checks these and refuses what breaks one, with the message given here. Beside them, a field that is "
    "*immutable*, with all that is inside it, cannot be changed, added or removed once the object is created: delete the "
    "object and create it again. One that is *replaceable* can be, where `spec.replacePolicy` is `Recreate`."
)


def page(crd: Node) -> str:
    """The page of one kind, from its CustomResourceDefinition."""
    names = crd["spec"]["names"]
    version = crd["spec"]["versions"][0]
    schema = version["schema"]["openAPIV3Schema"]
    categories = [f"category `{one}`" for one in names.get("categories", ())]
    identity = (
        f"`apiVersion: {crd['spec']['group']}/{version['name']}`, `kind: {names['kind']}`, short name "
        f"`{names['shortNames'][0]}`, {', '.join([crd['spec']['scope'].lower(), *categories])}."
    )
    parts = [
        "<!-- printed from gpucloud.kinds by `make crds` -->",
        f"# {names['kind']}",
        schema["description"],
        identity,
    ]
    parts += _declared(schema["properties"]) if "spec" in schema["properties"] else _recorded(schema)
    parts += [
        "## Columns of `kubectl get`",
        table(("Column", "Shown", "Meaning"), _columns(version)),
        "## Selecting by field",
        "`kubectl get --field-selector` takes "
        + ", ".join(f"`{item['jsonPath'][1:]}`" for item in version["selectableFields"])
        + ".",
    ]
    return "\n\n".join(parts) + "\n"


def _declared(parts: Node) -> list[str]:
    """What people declare, what the operator answers, and the rules."""
    texts = []
    for name in ("spec", "status"):
        texts += [f"## {name}", parts[name]["description"], table(_FIELDS, _fields(parts[name], f"{name}."))]
    return [*texts, "## Rules", _RULES, table(("At", "Message"), _rules(parts["spec"], "spec"))]


def _recorded(schema: Node) -> list[str]:
    """The fields of what only the operator writes; the first three are every object's."""
    fields = {name: field for name, field in schema["properties"].items() if name not in {"apiVersion", "kind", "metadata"}}
    return ["## Fields", table(_FIELDS, _fields({**schema, "properties": fields}, ""))]


def _fields(node: Node, path: str) -> Iterator[tuple[str, ...]]:
    required = node.get("required", ())
    rules = [rule for rule in node.get(VALIDATIONS, ()) if _is_transition(rule)]
    fixed = {rule.get("fieldPath", "")[1:]: "replaceable" if _REPLACES in rule["rule"] else "immutable" for rule in rules}
    for name, field in node["properties"].items():
        here = f"{path}{name}"
        given = "required" if name in required else _default(field)
        yield f"`{here}`", _type(field), f"{given}, {fixed[name]}" if name in fixed else given, _meaning(field)
        inner = field.get("items", field)
        if "properties" in inner:
            yield from _fields(inner, f"{here}[]." if "items" in field else f"{here}.")


def _type(field: Node) -> str:
    match field:
        case {"items": items}:
            form = field[LIST_TYPE]
            keyed = f" by `{field[LIST_MAP_KEYS][0]}`" if form == "map" else ""
            return f"list of {_type(items)} ({form}{keyed})"
        case {"enum": values}:
            return " or ".join(f"`{value}`" for value in values)
        case {"format": form}:
            return str(form)
    return str(field["type"])


def _default(field: Node) -> str:
    match field.get("default"):
        case None:
            return "optional"
        case str() | int() as value:
            return f"default `{value}`"
    return "has a default"


def _meaning(field: Node) -> str:
    own, each = _bounds(field), _bounds(field.get("items", {}))
    limits = "; ".join([*own, *(f"each {bound}" for bound in each)])
    return f"{field['description']} ({limits})" if limits else str(field["description"])


def _bounds(field: Node) -> list[str]:
    said = []
    for low, high, unit in _RANGES:
        if low in field and high in field:
            said.append(f"{field[low]} to {field[high]}{unit}")
        elif low in field or high in field:
            said.append(f"at least {field[low]}{unit}" if low in field else f"at most {field[high]}{unit}")
    return [*said, f"matches `{field['pattern']}`"] if "pattern" in field else said


def _is_transition(rule: Node) -> bool:
    return "oldSelf" in rule["rule"]


def _rules(node: Node, path: str) -> Iterator[tuple[str, ...]]:
    for rule in node.get(VALIDATIONS, ()):
        if not _is_transition(rule):
            yield f"`{path}{rule.get('fieldPath', '')}`", rule["message"]
    for name, field in node.get("properties", {}).items():
        yield from _rules(field, f"{path}.{name}")
    if "items" in node:
        yield from _rules(node["items"], f"{path}[]")


def _columns(version: Node) -> Iterator[tuple[str, ...]]:
    for column in version["additionalPrinterColumns"]:
        yield column["name"], "with `-o wide`" if column.get("priority") else "always", column["description"]
