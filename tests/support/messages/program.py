"""The package's source as names: which function or class a call means, and who calls a function."""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "operator" / "gpucloud"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)


@dataclass(frozen=True, eq=False)
class Module:
    """A module: its own names, and what its names of other modules mean."""

    place: str  # cli/plugin/cluster/__init__.py
    tree: ast.Module
    own: dict[str, ast.AST] = field(default_factory=dict)
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)  # by local name: module, and name in it or ""


@dataclass(frozen=True, eq=False)
class Scope:
    """A function, class or module, and in which other one it stands."""

    node: ast.AST
    module: Module
    outer: Scope | None = None

    def nodes(self) -> tuple[ast.AST, ...]:
        """What belongs to this scope and to no definition within it; the definitions themselves included."""
        return _nodes(self.node)

    def definition(self, name: str, kinds: tuple[type[ast.AST], ...] = DEFINITIONS) -> Scope | None:
        """The first definition of this name in the scope."""
        found = (one for one in _definitions(self.node) if isinstance(one, kinds) and one.name == name)
        return next(map(scope_of, found), None)

    def parameters(self) -> list[ast.arg]:
        """The parameters of a function, in their order."""
        if not isinstance(self.node, FUNCTIONS):
            return []
        given = self.node.args
        return [*given.posonlyargs, *given.args, *given.kwonlyargs]


@cache
def _nodes(opening: ast.AST) -> tuple[ast.AST, ...]:
    found = []
    waiting = [*ast.iter_child_nodes(opening)]
    waiting.reverse()
    while waiting:
        found.append(waiting.pop())
        if not isinstance(found[-1], DEFINITIONS):
            waiting += reversed([*ast.iter_child_nodes(found[-1])])
    return tuple(found)


@cache
def _definitions(opening: ast.AST) -> tuple[ast.AST, ...]:
    return tuple(node for node in _nodes(opening) if isinstance(node, DEFINITIONS))


@dataclass(frozen=True, eq=False)
class CallSite:
    """A call, and where it stands."""

    call: ast.Call
    scope: Scope


@cache
def modules() -> dict[str, Module]:
    """All modules of the package by their places."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        module = Module(path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text(encoding="utf-8")))
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gpucloud"):
                for item in node.names:
                    module.imported[item.asname or item.name] = (node.module, item.name)
        for node in module.tree.body:
            if isinstance(node, DEFINITIONS):
                module.own[node.name] = node
        found[module.place] = module
    return found


@cache
def scopes() -> tuple[Scope, ...]:
    """Every module, class and function, in the order of the source."""
    found = []
    for module in modules().values():
        waiting = [Scope(module.tree, module)]
        while waiting:
            scope = waiting.pop(0)
            found.append(scope)
            waiting[:0] = [Scope(node, module, scope) for node in _definitions(scope.node)]
    return tuple(found)


@cache
def _by_node() -> dict[ast.AST, Scope]:
    return {scope.node: scope for scope in scopes()}


def scope_of(node: ast.AST) -> Scope:
    """The scope that a definition opens."""
    return _by_node()[node]


def module_named(dotted: str) -> Module | None:
    """The module of a dotted name, as ``gpucloud.cli.plugin.show``."""
    inner = dotted.removeprefix("gpucloud").lstrip(".").replace(".", "/")
    known = modules()
    return known.get(f"{inner}.py") or known.get(f"{inner}/__init__.py".lstrip("/"))


def defined(name: str, module: Module) -> Scope | None:
    """The function or class of this name, as the module sees it."""
    if name in module.own:
        return scope_of(module.own[name])
    dotted, inner = module.imported.get(name, ("", ""))
    there = module_named(dotted) if inner else None
    return defined(inner, there) if there is not None and there is not module else None


def module_behind(name: str, module: Module) -> Module | None:
    """The module that a name means: ``show`` after ``from gpucloud.cli.plugin import show``."""
    dotted, inner = module.imported.get(name, ("", ""))
    return module_named(f"{dotted}.{inner}") if inner else None


def called(call: ast.Call, scope: Scope) -> Scope | None:
    """The function or class of the package that a call means; None for any other one."""
    match call.func:
        case ast.Name(id=name):
            place: Scope | None = scope
            while place is not None and not isinstance(place.node, ast.Module):
                inner = place.definition(name)
                if inner is not None and not isinstance(place.node, ast.ClassDef):
                    return inner
                place = place.outer
            return defined(name, scope.module)
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return _method(name, scope)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            there = module_behind(name, scope.module)
            return defined(attribute, there) if there is not None else None
    return None


def _method(name: str, scope: Scope) -> Scope | None:
    place: Scope | None = scope
    while place is not None and not isinstance(place.node, ast.ClassDef):
        place = place.outer
    return place.definition(name, FUNCTIONS) if place is not None else None


@cache
def call_sites() -> dict[Scope, tuple[CallSite, ...]]:
    """Who calls each function and class of the package."""
    found = defaultdict(list)
    for scope in scopes():
        for node in scope.nodes():
            if isinstance(node, ast.Call) and (meant := called(node, scope)) is not None:
                found[meant].append(CallSite(node, scope))
    return {meant: tuple(sites) for meant, sites in found.items()}


def dotted(scope: Scope) -> str:
    """The name of a function or class of a module with that of the module: ``gpucloud.cloud.errors.CloudError``."""
    module = scope.module.place.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return f"gpucloud.{module}.{scope.node.name}"


def ancestors(scope: Scope) -> list[str]:
    """The names of a class and of those that it derives from, the nearest first: dotted, but for those of other packages."""
    if not isinstance(scope.node, ast.ClassDef):
        return []
    found = [dotted(scope)]
    for base in scope.node.bases:
        known = defined(base.id, scope.module) if isinstance(base, ast.Name) else None
        found += ancestors(known) if known is not None else [ast.unparse(base)]
    return found
