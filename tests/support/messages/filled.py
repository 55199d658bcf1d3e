"""What a message is filled in with, as the page shows it: a placeholder with the name that the code has for it."""

from __future__ import annotations

import ast

from support.messages.kept import Kept

SAME = frozenset({"rstrip", "strip", "lstrip", "removesuffix", "removeprefix", "format", "format_map", "replace"})
QUOTES = frozenset({"clean", "one_line", "str", "printable"})  # what they are given is somebody else's, and shown as it is
FILTERS = frozenset({"redact", "paste", "mention"})  # what they are given is ours, and shown as it is but for secrets
_SHAPED = frozenset(
    {"join", "map", "quote", "sorted", "_status_of", "without_userinfo"}
)  # what they are given is shown in another form
# Functions that help a message, and whose own texts say nothing in place of it: placeholders with a short name.
HELPERS = Kept(dict.fromkeys(("suggestion", "question", "few", "listed", "either", "quoted", "ago")))
_QUESTIONS = frozenset({"suggestion", "question"})
QUESTION = "{question}"  # Did you mean 'a' or 'b'? Or nothing


def placeholder(node: ast.expr) -> str:
    """What stands for a value that is only known when the program runs: its last name in braces.

    Of a part of something it is the name of the whole, and of a call what it is given: its function says nothing to a reader.
    """
    if isinstance(node, ast.Call):
        return _for_call(node)
    match node:
        case ast.Subscript(slice=ast.Constant(value=str() as key)):
            return f"{{{key}}}"
        case ast.Attribute(value=inner, attr="__name__") | ast.Subscript(value=inner) | ast.BoolOp(values=[inner, *_]):
            return placeholder(inner)
    return _last_name(node)


def _for_call(call: ast.Call) -> str:
    name = function_name(call)
    if name == "len":
        return "{number}"
    match name, call.func, call.args:
        case "get", _, [ast.Constant(value=str() as key), *_]:
            return f"{{{key}}}"
        case "join", _, [ast.GeneratorExp() | ast.ListComp() | ast.List() | ast.Tuple()]:
            return "{names}"
        case (_, ast.Attribute(value=inner), _) if name in SAME:
            return placeholder(inner)
        case (_, _, [inner, *_]) if name in QUOTES | FILTERS | _SHAPED:
            return placeholder(call.args[1] if name == "map" else inner)
    return _last_name(call)


def _last_name(node: ast.expr) -> str:
    name = ast.unparse(node).split("(")[0].rpartition(".")[2].strip("'\"")
    return QUESTION if name in _QUESTIONS else f"{{{name[:30].strip('_') or '…'}}}"


def function_name(node: ast.expr) -> str:
    """The last name of a function that is called; empty for what is no call."""
    return ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
