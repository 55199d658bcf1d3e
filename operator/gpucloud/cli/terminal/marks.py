"""Commands within a text for people, as data: marked where they are decided, and found by their marks where they are shown.

The marks are characters of Unicode's private use. ``clean`` takes them out of all that others wrote, so no text of the cloud or
of a tenant brings a command. Messages of the operator are plain texts in a status: only ``read`` looks for
commands in them, and nothing else in the plugin takes words for a command.
"""

from __future__ import annotations

import re
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpucloud.reconcile.commands import AFTER_COMMAND, IN_MESSAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ALONE, WITHIN, END = "\ue000", "\ue001", "\ue002"
_MARKED = re.compile(f"[{ALONE}{WITHIN}]([^{END}]*){END}")
# Commands that stand alone, joined as a shell joins them. One in quotes or brackets is a part of its sentence.
_LINE = re.compile(rf"(?<!['\"(]){ALONE}[^{END}]*{END}(?:(?: \| | && ){ALONE}[^{END}]*{END})*")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text: a sentence, or a line of commands to paste."""

    text: str
    is_command: bool = False


def paste(words: str) -> str:
    """Mark a command that stands on a line of its own, so that it can be pasted; in quotes it stays in its sentence."""
    return f"{ALONE}{words}{END}"


def mention(words: str) -> str:
    """Mark a command that is a part of its sentence."""
    return f"{WITHIN}{words}{END}"


def read(message: str) -> str:
    """Mark the commands in a message of the operator, which a status has as plain text."""
    return IN_MESSAGE.sub(_marked, plain(message))


def _marked(found: re.Match[str]) -> str:
    if found["alone"]:
        return paste(found["alone"])
    return mention(found["within"]) if found["within"] else found[0]


def plain(text: str) -> str:
    """Return a text without marks: for programs, and for a pipe."""
    return text.translate(_NO_MARKS)


_NO_MARKS = dict.fromkeys(map(ord, (ALONE, WITHIN, END)))


def plain_document(found: Any) -> Any:
    """Return a document without marks in any of its texts."""
    match found:
        case str():
            return plain(found)
        case dict():
            return {name: plain_document(value) for name, value in found.items()}
        case list() | tuple():
            return [plain_document(value) for value in found]
    return found


def changed(text: str, change: Callable[[str], str]) -> str:
    """Return a text with each of its commands changed."""
    return _MARKED.sub(lambda found: f"{found[0][0]}{change(found[1])}{END}", text)


def pieces(text: str) -> Iterator[Piece]:
    """Yield the sentences of a text, with marks, and its lines of commands, without."""
    at = 0
    for line in _LINE.finditer(text):
        if line.start() > at:
            yield Piece(text[at : line.start()])
        yield Piece(plain(line[0]), is_command=True)
        at = line.end() + len(AFTER_COMMAND) * text.startswith(AFTER_COMMAND, line.end())
    if at < len(text):
        yield Piece(text[at:])


def unbroken(sentence: str, space: str) -> str:
    """Return a sentence without marks, with this character for the spaces within its commands."""
    held = re.sub(rf"'?{_MARKED.pattern}'?", lambda found: found[0].replace(" ", space), sentence)
    return plain(held)


def ends_in_command(text: str) -> bool:
    """Whether a line of commands ends a text."""
    return any(line.end() == len(text) for line in _LINE.finditer(text))


_OPTIONS: ContextVar[Callable[[str], str]] = ContextVar("options", default=str)  # adds to a command what was given


def show_commands_by(change: Callable[[str], str]) -> None:
    """From now on commands are printed as this function changes them."""
    _OPTIONS.set(change)


def with_options(text: str) -> str:
    """Return a text, still with marks, with the options that were given in each of its commands."""
    return changed(text, _OPTIONS.get())


def pasteable(text: str) -> str:
    """Return the same without marks."""
    return plain(with_options(text))


def pasteable_pieces(text: str) -> Iterator[str]:
    """Yield the sentences of such a text, and each line of commands in it."""
    for piece in pieces(with_options(text)):
        yield plain(piece.text).strip()
