"""Field managers: who owns which field, and server-side apply, as structured-merge-diff does it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from simulation.apiserver.refusals import Refusal
from simulation.apiserver.schema import TYPES, Node

if TYPE_CHECKING:
    from collections.abc import Iterator

Step = tuple[str, str]  # ("f", name of a field), ("k", keys of a list item), ("v", item of a set)
Path = tuple[Step, ...]
Manager = tuple[str, str, str]  # name, Apply or Update, subresource
Owners = dict[Manager, frozenset[Path]]

ANYTHING = Node()
OWNED_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")


def ownable(body: dict[str, Any], subresource: str, *, has_status: bool) -> dict[str, Any]:
    """The part of an object that a request through this subresource can own."""
    if subresource:
        return {name: value for name, value in body.items() if name == subresource}
    meta = body.get("metadata") or {}
    left_out = {"apiVersion", "kind", "metadata"} | ({"status"} if has_status else set())
    rest = {name: value for name, value in body.items() if name not in left_out}
    owned = {name: meta[name] for name in OWNED_METADATA if name in meta}
    return rest | ({"metadata": owned} if owned else {})


class Claims:
    """Who owns what of a stored object; worked out only when an apply asks, since most objects see none."""

    __slots__ = ("_earlier", "_owners", "_write")

    def __init__(self, owners: Owners) -> None:
        self._owners: Owners | None = owners
        self._earlier: Claims | None = None
        self._write: tuple[Manager, dict[str, Any], dict[str, Any], Node] | None = None

    def after(self, me: Manager, old: dict[str, Any], new: dict[str, Any], node: Node) -> Claims:
        """Who owns what after a write that is no apply; the objects are what ``ownable`` left of them."""
        later = Claims({})
        later._owners, later._earlier, later._write = None, self, (me, old, new, node)
        return later

    def owners(self) -> Owners:
        """Each manager's fields."""
        open_, claims = [], self
        while claims._owners is None and claims._earlier is not None:
            open_.append(claims)
            claims = claims._earlier
        owners = claims._owners or {}
        for claims in reversed(open_):
            assert claims._write is not None
            claims._owners = owners = _updated(owners, *claims._write)
            claims._earlier = claims._write = None
        return owners


def _updated(owners: Owners, me: Manager, old: dict[str, Any], new: dict[str, Any], node: Node) -> Owners:
    changed: set[Path] = set()
    removed: set[Path] = set()
    _compare(old, new, node, (), changed, removed)
    if not changed and not removed:
        return owners
    return _handed_over(owners, me, changed, removed, owners.get(me, frozenset()) | changed)


def apply(
    live: dict[str, Any], config: dict[str, Any], node: Node, owners: Owners, me: Manager, *, force: bool
) -> tuple[dict[str, Any], Owners]:
    """What stands, and who owns it, after an apply. Both arguments are what ``ownable`` left of the objects."""
    mine = frozenset(_paths(config, node, (), structs=False))
    last = owners.get(me, frozenset())
    kept = mine.union(*(paths for manager, paths in owners.items() if manager != me))
    new = _pruned(merge(live, config, node), node, (), last - mine, kept) or {}
    changed: set[Path] = set()
    removed: set[Path] = set()
    _compare(live, new, node, (), changed, removed)
    conflicts = {manager: paths & changed for manager, paths in owners.items() if manager != me}
    if not force and any(conflicts.values()):
        raise _conflict({manager: paths for manager, paths in conflicts.items() if paths})
    return new, _handed_over(owners, me, changed, removed, mine)


def _handed_over(owners: Owners, me: Manager, changed: set[Path], removed: set[Path], mine: frozenset[Path]) -> Owners:
    lost = changed | removed
    others = {manager: paths - lost for manager, paths in owners.items() if manager != me}
    return {manager: paths for manager, paths in [*others.items(), (me, mine - removed)] if paths}


def merge(live: Any, config: Any, node: Node) -> Any:
    """What stands when ``config`` is laid over ``live``."""
    if isinstance(live, dict) and isinstance(config, dict):
        return live | {name: merge(live.get(name), value, _child(node, name)) for name, value in config.items()}
    if isinstance(live, list) and isinstance(config, list) and node.list_type != "atomic":
        there, wanted = dict(_items(live, node)), dict(_items(config, node))
        both = there | {step: merge(there.get(step), new, node.items or ANYTHING) for step, new in wanted.items()}
        return [both[step] for step in _order(list(there), list(wanted))]
    return config


def _order(live: list[Step], config: list[Step]) -> list[Step]:
    """The steps of both lists: what they share as the configuration orders it, the others where they stood."""
    made: list[Step] = []
    shared = [step for step in config if step in live]
    left, right = 0, 0
    while left < len(live) or right < len(config):
        mine = live[left] if left < len(live) else None
        if mine is not None and (mine in made or (mine in config and right < len(config) and shared and shared[0] != mine)):
            left += 1
        elif mine is not None and mine not in config:
            made.append(mine)
            left += 1
        else:
            made.append(config[right])
            shared = shared[1:] if shared and shared[0] == config[right] else shared
            right += 1
    return made


def problem(value: Any, node: Node, path: str = "") -> str:
    """Why a configuration cannot be applied: a field that the schema does not have, or of another type; else empty."""
    if node.type and value is not None and not isinstance(value, TYPES.get(node.type, object)):
        return f"{path}: expected {node.type}"
    if isinstance(value, dict):
        for name, child in value.items():
            if node.properties and name not in node.properties and not node.open:
                return f"{path}.{name}: field not declared in schema"
            if found := problem(child, _child(node, name), f"{path}.{name}"):
                return found
    if isinstance(value, list):
        if node.list_type != "atomic" and len(dict(_items(value, node))) < len(value):
            return f"{path}: duplicate entries"
        for item in value:
            if found := problem(item, node.items or ANYTHING, path):
                return found
    return ""


def _child(node: Node, name: str) -> Node:
    return node.properties.get(name) or node.values or ANYTHING


def _items(value: list[Any], node: Node) -> Iterator[tuple[Step, Any]]:
    for item in value:
        if node.list_type == "map":
            yield ("k", json.dumps({key: item.get(key) for key in node.keys})), item
        else:
            yield ("v", json.dumps(item)), item


def _paths(value: Any, node: Node, path: Path, *, structs: bool) -> Iterator[Path]:
    """Every path of a value; those of filled maps themselves only with ``structs``."""
    if isinstance(value, dict) and value:
        if structs or (path and path[-1][0] == "k"):
            yield path
        for name, child in value.items():
            yield from _paths(child, _child(node, name), (*path, ("f", name)), structs=structs)
    elif isinstance(value, list) and node.list_type != "atomic" and value:
        if structs:
            yield path
        for step, item in _items(value, node):
            yield from _paths(item, node.items or ANYTHING, (*path, step), structs=structs)
    elif path:
        yield path


def _compare(old: Any, new: Any, node: Node, path: Path, changed: set[Path], removed: set[Path]) -> None:
    """Collect the paths of what is new or another, and of what is gone."""
    if old is new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        before, after = _fields(old, node), _fields(new, node)
    elif isinstance(old, list) and isinstance(new, list) and node.list_type != "atomic":
        before, after = _entries(old, node), _entries(new, node)
    else:
        changed.update([path] if old != new else [])
        return
    for step, (value, child) in after.items():
        if step in before:
            _compare(before[step][0], value, child, (*path, step), changed, removed)
        else:
            changed.update(_paths(value, child, (*path, step), structs=True))
    for step, (value, child) in before.items():
        if step not in after:
            removed.update(_paths(value, child, (*path, step), structs=True))


def _fields(value: dict[str, Any], node: Node) -> dict[Step, tuple[Any, Node]]:
    return {("f", name): (child, _child(node, name)) for name, child in value.items()}


def _entries(value: list[Any], node: Node) -> dict[Step, tuple[Any, Node]]:
    return {step: (item, node.items or ANYTHING) for step, item in _items(value, node)}


def _pruned(value: Any, node: Node, path: Path, gone: frozenset[Path], kept: frozenset[Path]) -> Any:
    """The value without what its manager applied before, applies no more, and nobody else owns; None when that was all."""
    if not gone:
        return value
    if isinstance(value, dict):
        made = {}
        for step, (child, inner) in _fields(value, node).items():
            left = None if _goes((*path, step), gone, kept) else _pruned(child, inner, (*path, step), gone, kept)
            if left is not None or child is None:
                made[step[1]] = left
        return made if made or not value else None
    if isinstance(value, list) and node.list_type != "atomic":
        entries = [((*path, step), item) for step, item in _items(value, node)]
        inner = node.items or ANYTHING
        found = [_pruned(item, inner, here, gone, kept) for here, item in entries if not _goes(here, gone, kept)]
        return found if found or not value else None
    return value


def _goes(path: Path, gone: frozenset[Path], kept: frozenset[Path]) -> bool:
    return path in gone and not any(other[: len(path)] == path for other in kept)


def _conflict(conflicts: Owners) -> Refusal:
    found = []
    for (name, operation, subresource), paths in sorted(conflicts.items()):
        told = f'conflict with "{name}"' + (f' with subresource "{subresource}"' if subresource else "")
        told += "" if operation == "Apply" else " using another operation"
        found += [{"reason": "FieldManagerConflict", "message": told, "field": _told(path)} for path in sorted(paths)]
    message = (
        f"Apply failed with {len(found)} conflict{'s' if len(found) > 1 else ''}: {found[0]['message']}: {found[0]['field']}"
    )
    return Refusal(409, "Conflict", message, {"causes": found})


def _told(path: Path) -> str:
    parts = []
    for kind, text in path:
        if kind == "f":
            parts.append(f".{text}")
        elif kind == "v":
            parts.append(f"[={text}]")
        else:
            parts.append("[" + ",".join(f"{key}={json.dumps(value)}" for key, value in json.loads(text).items()) + "]")
    return "".join(parts)
