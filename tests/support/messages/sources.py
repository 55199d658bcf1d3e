"""Messages in the source: the texts that are given to what shows them to a person, with their placeholders."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
# Who is given a text for people, and where it stands among the arguments.
PLACES = {
    "PluginError": 0,
    "UsageError": 0,
    "SettingsError": 0,
    "NoCluster": 0,
    "FileNotFoundError": 0,
    "NoSourceError": 0,
    "NotServedError": 0,
    "UnansweredError": 0,
    "_wrong": 0,
    "ValueError": 0,
    "ConfigError": 0,
    "CredentialError": 0,
    "KeyProblemError": 1,
    "Unknown": 2,
    "Dependency": 2,
    "Event": 1,
}
# Under which name a text is looked for, where that is another one's own or makes it.
_SAME_AS = {
    **dict.fromkeys(("NoSourceError", "NotServedError", "UnansweredError", "_wrong"), "PluginError"),
    "FileNotFoundError": "NoCluster",
}
# Modules whose ValueErrors people read: what they typed is checked there. Elsewhere one tells of a defect of the program.
_CHECKS_INPUT = ("settings.py", "cli/", "cloud/options.py", "cloud/connection.py", "cloud/transport.py")
# Dictionaries of texts, by module: each follows the name of a flag, a variable or a field of the settings file.
_TABLES = {"flags.py": ("_EXPECTED", "_PATTERNS")}


@dataclass(frozen=True)
class Text:
    """A text as the source spells it. ``place`` is the module, ``shown_by`` who is given it."""

    place: str
    shown_by: str
    words: str


def texts(*shown_by: str) -> list[Text]:
    """All texts that the modules give to these, in the order of the source."""
    return [text for text in _all() if text.shown_by in shown_by]


@cache
def _all() -> tuple[Text, ...]:
    return tuple(text for path in sorted((ROOT / "operator" / "gpucloud").rglob("*.py")) for text in _of_module(path))


def _of_module(path) -> Iterator[Text]:
    place = path.relative_to(ROOT / "operator" / "gpucloud").as_posix()
    module = ast.parse(path.read_text())
    for scope in _scopes(module):
        for call in _calls(scope):
            if call.func.id == "ValueError" and not place.startswith(_CHECKS_INPUT):
                continue
            for words in filter(None, _spelled(_argument(call), (scope, module))):
                yield Text(place, _shown_by(call), " ".join(words.split()))
    for name in _TABLES.get(place, ()):
        (table,) = _assigned(name, (module,))
        yield from (Text(place, "SettingsError", f"{{name}}: {value.value}") for value in table.values)


def _scopes(tree):
    """The functions, each without those within it; and the module."""
    return [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))]


def _within(scope):
    """What belongs to this scope and to no function within it."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting[:0] = ast.iter_child_nodes(node)


def _calls(scope):
    found = (node for node in _within(scope) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
    return [call for call in found if call.func.id in PLACES]


def _argument(call):
    place = PLACES[call.func.id]
    return call.args[place] if len(call.args) > place else None


def _shown_by(call):
    return (
        "Warning Event"
        if any(item.arg == "warning" and ast.unparse(item.value) == "True" for item in call.keywords)
        else _SAME_AS.get(call.func.id, call.func.id)
    )


def _spelled(node, scopes):
    """Every text that an expression may be. A name stands for what is assigned to it in one of these scopes."""
    match node:
        case ast.Constant(value=str() as text):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(_part(part, scopes) for part in parts)
        case ast.IfExp(body=body, orelse=other):
            yield from _spelled(body, scopes)
            yield from _spelled(other, scopes)
        case ast.Name(id=name):
            for value in _assigned(name, scopes):
                yield from _spelled(value, scopes)


def _assigned(name, scopes):
    found = [item for scope in scopes for item in _within(scope) if isinstance(item, ast.Assign)]
    return [item.value for item in found if any(isinstance(one, ast.Name) and one.id == name for one in item.targets)]


def _part(part, scopes):
    """A part of an f-string: its words, those of the module's own constant, or a placeholder with a short name."""
    if isinstance(part, ast.Constant):
        return part.value
    if isinstance(part.value, ast.Name) and part.value.id.isupper():
        constants = [value.value for value in _assigned(part.value.id, scopes[1:]) if isinstance(value, ast.Constant)]
        if constants:
            return str(constants[0])
    name = ast.unparse(part.value).split("(")[0].rpartition(".")[2].strip("'\"")
    return f"{{{name[:30] or '…'}}}"
