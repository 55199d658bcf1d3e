"""The sentences for people that modules spell: all but docstrings, log lines, errors of a defect and names of types.

A sentence has three words or more, and begins with a capital letter or has a full stop. Shorter clauses are read with the
text that they are a part of.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from support.messages import judge, program

if TYPE_CHECKING:
    from collections.abc import Iterator

_UNSEEN = re.compile(r"_?log(ger)?\.|(cast|TypeVar)\b", re.IGNORECASE)  # calls whose texts no user of an object reads
_FILLED = re.compile(r"\{\w*(?:!r)?\}")  # in a text for ``str.format``
_END = re.compile(r"[\w'\")}]\.(?= |$)")
_BETWEEN = re.compile(r"<br>• |^\| | \| | \|$|\n", re.MULTILINE)  # on the page: messages and cells


@dataclass(frozen=True)
class Sentence:
    """A text of the source in its constant parts: what is filled in stands between them."""

    place: str
    parts: tuple[str, ...]

    def __str__(self) -> str:
        return "{}".join(self.parts)

    def is_in(self, message: str) -> bool:
        """Whether the message has all parts in their order."""
        at = 0
        for part in self.parts:
            found = message.find(part, at)
            if found < 0:
                return False
            at = found + len(part)
        return True


def sentences(*folders: str) -> list[Sentence]:
    """All sentences of the modules in these folders of the package, once each."""
    found = [
        Sentence(place, parts)
        for place, module in program.modules().items()
        if place.startswith(folders)
        for parts in _texts(module.tree)
        if _is_sentence(parts)
    ]
    return list(dict.fromkeys(found))


def printed(page: str) -> list[str]:
    """The messages of the page, without the marks of its form."""
    return list(dict.fromkeys(text.replace("`", "").replace("\\", "") for text in _BETWEEN.split(page)))


def _texts(node: ast.AST) -> Iterator[tuple[str, ...]]:
    match node:
        case ast.Raise() | ast.Assert() | ast.Expr(value=ast.Constant()):
            return
        case ast.Call(func=function) if _UNSEEN.match(ast.unparse(function)):
            return
        case ast.Constant(value=str() as words):
            yield tuple(_FILLED.split(words))
            return
        case ast.JoinedStr(values=values):
            yield tuple(_FILLED.split("".join(part.value if isinstance(part, ast.Constant) else "{}" for part in values)))
            values = [part for part in values if isinstance(part, ast.FormattedValue)]
        case _:
            values = ast.iter_child_nodes(node)
    for inner in values:
        yield from _texts(inner)


def _is_sentence(parts: tuple[str, ...]) -> bool:
    words = " ".join(parts).strip()
    begins = words[:1].isupper() and parts[0].strip() != ""
    return (begins or _END.search(words) is not None) and not judge.is_framed(words) and " " in words
