"""What an expression says: every text that it may be, with placeholders in braces for what is only known when it runs.

It follows names, parameters to their callers, functions to what they return, and classes to the text that they are given.
What it cannot follow is an error: a message that nobody reads is judged by nobody.
"""

from __future__ import annotations

import ast
import importlib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from support.messages import program
from support.messages.filled import FILTERS, HELPERS, QUESTION, QUOTES, SAME, function_name, placeholder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from support.messages.program import Scope

LEAST_WORDS = 3  # of a part that is shown as it is; a shorter one is a placeholder with the name of what is filled in
DEEPEST = 12
_OWN_WORDS = re.compile(r"[A-Za-z]{2,}")


class UnreadableError(Exception):
    """An expression whose text is not to be read from the source."""


@dataclass(frozen=True)
class Frame:
    """Where an expression stands, and what is given to the function around it; unknown arguments are those of all callers."""

    scope: Scope
    given: Mapping[str, tuple[ast.expr, Frame]] | None = None
    depth: int = 0

    def deeper(self, scope: Scope, given: Mapping[str, tuple[ast.expr, Frame]] | None = None) -> Frame:
        """The frame of another scope that is read for this one."""
        if self.depth >= DEEPEST:
            raise UnreadableError("it is too deep")
        return Frame(scope, given, self.depth + 1)


def read(node: ast.expr, frame: Frame) -> list[str]:
    """Every text that an expression may be.

    Raises:
        UnreadableError: it cannot be read from the source.
    """
    reader = _READERS.get(type(node))
    if reader is None:
        raise UnreadableError(ast.unparse(node))
    return reader(node, frame)


def _constant(node: ast.Constant, frame: Frame) -> list[str]:
    if node.value is None:
        return []
    if not isinstance(node.value, str):
        raise UnreadableError(f"{node.value!r} in {frame.scope.module.place}")
    return [node.value]


def _either(node: ast.BoolOp, frame: Frame) -> list[str]:
    """Of ``a or b``: an empty text gives way to the next."""
    *first, last = node.values
    return [*(text for value in first for text in read(value, frame) if text), *read(last, frame)]


def _subscript(node: ast.Subscript, frame: Frame) -> list[str]:
    place = node.slice.value if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int) else None
    return _of_table(node.value, frame, place)


def _covered(parts: list[list[str]]) -> list[str]:
    """Texts in which each alternative of each part stands at least once: not all combinations, which would be many."""
    if not all(parts):
        return []
    return ["".join(part[place % len(part)] for part in parts) for place in range(max(map(len, parts), default=0))]


def _part(part: ast.expr, frame: Frame) -> list[str]:
    """A part of an f-string: its words, or what it is filled with."""
    if isinstance(part, ast.Constant):
        return [part.value]
    texts = _filling(part.value, frame)
    return [f"'{text}'" for text in texts] if part.conversion == ord("r") else texts


def _filling(node: ast.expr, frame: Frame) -> list[str]:
    """What a part is filled with: each side of a choice, a clause of ours, or a placeholder."""
    match node:
        case ast.IfExp(body=body, orelse=other):
            sides = [*_filling(body, frame), *_filling(other, frame)]
            return sides if any(map(str.isalpha, "".join(sides))) else sides[-1:]  # signs between two sentences
        case ast.BoolOp(values=values):
            return [text for value in values for text in _filling(value, frame)]
        case ast.Constant(value=str() as words):
            return [words]
    if _is_constant(node) and (number := _number(node, frame)):
        return [number]
    try:
        texts = list(dict.fromkeys(_raw(node, frame)))
    except UnreadableError:
        texts = []
    if QUESTION in texts and not any(text.replace(QUESTION, "").strip() for text in texts):
        return [QUESTION]
    words = [re.sub(r"\{[^{}]*\}", "", " ".join(text.split())) for text in texts]
    clauses = any(len(_OWN_WORDS.findall(text)) >= LEAST_WORDS for text in words)
    return texts if texts and (clauses or _is_constant(node) or isinstance(node, ast.JoinedStr)) else [placeholder(node)]


def _is_constant(node: ast.expr) -> bool:
    return (node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")).isupper()


def _number(node: ast.expr, frame: Frame) -> str:
    """A constant of the module that is a number; empty for any other one."""
    module = importlib.import_module(f"gpucloud.{frame.scope.module.place.removesuffix('.py').replace('/', '.')}")
    value = getattr(module, ast.unparse(node), None)
    return f"{value:g}" if isinstance(value, int | float) else ""


def _raw(node: ast.expr, frame: Frame) -> list[str]:
    name = function_name(node)
    if name in HELPERS or name in QUOTES:
        raise UnreadableError(name)
    return read(node, frame)


def _attribute(node: ast.Attribute, frame: Frame) -> list[str]:
    """A name of another module, or a part of another error, which is judged where it is made."""
    of = ast.unparse(node.value)
    if node.attr in {"what", "do"} and any(_binds(one, of) for one in frame.scope.nodes()):
        return [f"{{{node.attr}}}"]
    return _of_module(of, node.attr, frame)


def _binds(node: ast.AST, name: str) -> bool:
    """Whether a name is an error that is caught, or what a function returned."""
    if isinstance(node, ast.Assign):
        return isinstance(node.value, ast.Call) and [ast.unparse(one) for one in node.targets] == [name]
    return isinstance(node, ast.ExceptHandler) and node.name == name


def _named(name: str, frame: Frame) -> list[str]:
    if frame.given is not None and name in frame.given:
        node, there = frame.given[name]
        return read(node, there)
    scope: Scope | None = frame.scope
    while scope is not None:
        if not isinstance(scope.node, ast.ClassDef):
            found = _in_scope(name, scope, frame)
            if found is not None:
                return found
        scope = scope.outer
    dotted, inner = frame.scope.module.imported.get(name, ("", ""))
    there = program.module_named(dotted) if inner else None
    if there is None:
        raise UnreadableError(name)
    return _named(inner, frame.deeper(program.scope_of(there.tree)))


def _in_scope(name: str, scope: Scope, frame: Frame) -> list[str] | None:
    """What a name is in one scope; None if it is not bound there."""
    here = replace(frame, scope=scope) if scope is not frame.scope else frame
    if any(isinstance(node, ast.ExceptHandler) and node.name == name for node in scope.nodes()):
        return [f"{{{name}}}"]  # another error, which is judged where it is made
    if (loop := _loop(name, scope)) is not None:
        return _yielded(loop, frame.deeper(scope, here.given))
    values = list(_assigned(name, scope))
    if values:
        return [text for value in values for text in read(value, frame.deeper(scope, here.given))]
    place = next((at for at, item in enumerate(scope.parameters()) if item.arg == name), None)
    return None if place is None else _given_by_callers(name, scope, frame)


def _loop(name: str, scope: Scope) -> ast.Call | None:
    """The call whose results a name of a loop goes through."""
    found = (node for node in scope.nodes() if isinstance(node, ast.For) and ast.unparse(node.target) == name)
    return next((node.iter for node in found if isinstance(node.iter, ast.Call)), None)


def _yielded(call: ast.Call, frame: Frame) -> list[str]:
    meant = program.called(call, frame.scope)
    yields = [node.value for node in meant.nodes() if isinstance(node, ast.Yield)] if meant is not None else []
    if not yields:
        raise UnreadableError(ast.unparse(call))
    inner = frame.deeper(meant, {name: (value, frame) for name, value in bound(call, meant).items()})
    return [text for value in yields for text in read(value, inner)]


def _assigned(name: str, scope: Scope) -> Iterator[ast.expr]:
    for node in scope.nodes():
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from _to(name, target, value)
            case ast.AnnAssign(target=ast.Name(id=found), value=ast.expr() as value) if found == name:
                yield value
            case ast.NamedExpr(target=ast.Name(id=found), value=value) if found == name:
                yield value


def _to(name: str, target: ast.expr, value: ast.expr) -> Iterator[ast.expr]:
    match target, value:
        case ast.Name(id=found), _ if found == name:
            yield value
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            for one, other in zip(targets, values, strict=True):
                yield from _to(name, one, other)


def _given_by_callers(name: str, scope: Scope, frame: Frame) -> list[str]:
    sites = program.call_sites().get(scope, ())
    if not sites:
        raise UnreadableError(f"{name}: nobody in sight calls this function")
    found: list[str] = []
    for site in sites:
        argument = bound(site.call, scope).get(name)
        if argument is not None:
            found += read_for_callers(argument, frame.deeper(site.scope))
    return list(dict.fromkeys(found))


def of_callers(frame: Frame) -> list[Frame]:
    """The frame with the arguments of each call of the function around it; itself if they are known, or nobody calls it."""
    sites = () if frame.given is not None else program.call_sites().get(frame.scope, ())
    found = []
    for site in sites:
        there = frame.deeper(site.scope)
        given = {name: (value, there) for name, value in bound(site.call, frame.scope).items()}
        found.append(replace(frame, given=given, depth=frame.depth + 1))
    return found or [frame]


def read_for_callers(node: ast.expr, frame: Frame) -> list[str]:
    """Every text that an expression may be, with the arguments of one call of the function around it at a time."""
    return list(dict.fromkeys(text for one in of_callers(frame) for text in read(node, one)))


def bound(call: ast.Call, scope: Scope) -> dict[str, ast.expr]:
    """The arguments of a call by the parameters of the function, defaults included."""
    names = [item.arg for item in scope.parameters()]
    if names[:1] in (["self"], ["cls"]):
        names = names[1:]
    arguments = scope.node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = dict(
        zip([item.arg for item in positional[len(positional) - len(arguments.defaults) :]], arguments.defaults, strict=True)
    )
    defaults |= {
        item.arg: value for item, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value is not None
    }
    by_place = {name: value for name, value in zip(names, call.args, strict=False) if not isinstance(value, ast.Starred)}
    return defaults | by_place | {item.arg: item.value for item in call.keywords if item.arg}


def _of_module(name: str, attribute: str, frame: Frame) -> list[str]:
    there = program.module_behind(name, frame.scope.module)
    if there is None and (owner := program.defined(name, frame.scope.module)) is not None:  # of an enumeration
        return [text for value in _assigned(attribute, owner) for text in read(value, frame.deeper(owner))]
    if there is None:
        raise UnreadableError(f"{name}.{attribute}")
    return _named(attribute, frame.deeper(program.scope_of(there.tree)))


def _of_table(table: ast.expr, frame: Frame, place: int | None = None) -> list[str]:
    """Every text that a dictionary or a tuple may give; of a tuple that at its place."""
    match table:
        case ast.Tuple(elts=values) if place is not None:
            return read(values[place], frame)
        case ast.Dict(values=values) | ast.Tuple(elts=values) | ast.List(elts=values):
            return [text for value in values for text in read(value, frame)]
        case ast.IfExp(body=body, orelse=other):
            return [*_of_table(body, frame, place), *_of_table(other, frame, place)]
        case ast.Name(id=name):
            scope: Scope | None = frame.scope
            while scope is not None:
                values = list(_assigned(name, scope))
                if values:
                    inner = frame.deeper(scope)
                    return [text for value in values for text in _of_table(value, inner, place)]
                scope = scope.outer
            dotted, elsewhere = frame.scope.module.imported.get(name, ("", ""))
            there = program.module_named(dotted) if elsewhere else None
            if there is not None:
                return _of_table(ast.Name(elsewhere), frame.deeper(program.scope_of(there.tree)), place)
    raise UnreadableError(ast.unparse(table))


def _called(call: ast.Call, frame: Frame) -> list[str]:
    name = function_name(call)
    if name in QUOTES and call.args:
        return [placeholder(call.args[0])]
    if name in HELPERS:
        return [placeholder(call)]
    if name in FILTERS:
        return read(call.args[0], frame)
    found = _of_builtin(call, frame)
    return found if found is not None else _returned(call, frame)


def _of_builtin(call: ast.Call, frame: Frame) -> list[str] | None:
    """What a method of a text or a dictionary gives, or ``next``; None for any other function."""
    match call.func:
        case ast.Attribute(value=receiver, attr=name) if name in SAME:
            return read(receiver, frame)
        case ast.Attribute(value=ast.Constant(value=str() as between), attr="join"):
            return _joined(between, call.args[0], frame)
        case ast.Attribute(attr="command"):  # of an object's key
            return [placeholder(call)]
        case ast.Attribute(value=table, attr="get") if len(call.args) == 2:
            return [*_of_table(table, frame), *read(call.args[1], frame)]
        case ast.Name(id="next") if isinstance(call.args[0], ast.GeneratorExp):  # the first that fits
            return [text for node in (call.args[0].elt, *call.args[1:]) for text in read(node, frame)]
    return None


def _returned(call: ast.Call, frame: Frame) -> list[str]:
    """What a function of the package returns for these arguments."""
    meant = program.called(call, frame.scope)
    if meant is None or isinstance(meant.node, ast.ClassDef):
        raise UnreadableError(ast.unparse(call))
    given = {name: (value, frame) for name, value in bound(call, meant).items()}
    inner = frame.deeper(meant, given)
    returned = [node.value for node in meant.nodes() if isinstance(node, ast.Return) and node.value is not None]
    return [text for value in returned for text in read(value, inner)]


def _joined(between: str, items: ast.expr, frame: Frame) -> list[str]:
    match items:
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return _between(between, parts, frame)
        case ast.GeneratorExp(elt=each):
            return read(each, frame)
        case ast.Call(func=ast.Name(id="map"), args=[ast.Name(id="str"), others]):
            return [placeholder(others)]
        case ast.Call(func=ast.Name(id="map"), args=[ast.Name() as function, _]):
            return read(ast.Call(function, [], []), frame)
    raise UnreadableError(ast.unparse(items))


def _between(between: str, parts: list[ast.expr], frame: Frame) -> list[str]:
    found: list[list[str]] = []
    for part in parts:
        texts = [placeholder(part.value)] if isinstance(part, ast.Starred) else read(part, frame)
        found += [[between], texts] if found else [texts]
    return _covered(found)


_READERS: dict[type[ast.expr], Callable[[Any, Frame], list[str]]] = {
    ast.Constant: _constant,
    ast.JoinedStr: lambda node, frame: _covered([_part(part, frame) for part in node.values]),
    ast.IfExp: lambda node, frame: [*read(node.body, frame), *read(node.orelse, frame)],
    ast.BoolOp: _either,
    ast.BinOp: lambda node, frame: _covered([read(node.left, frame), read(node.right, frame)]),
    ast.NamedExpr: lambda node, frame: read(node.value, frame),
    ast.Name: lambda node, frame: _named(node.id, frame),
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Call: _called,
}
