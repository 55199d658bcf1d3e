"""What is to be shown: lines with a style, wrapped at a width or not at all; no message is cut, no command broken. Pure."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gpucloud.cli.terminal import marks
from gpucloud.cli.terminal.text import clean
from gpucloud.reconcile.commands import AFTER_COMMAND

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

NARROWEST = 20  # a message is not pressed into less, however deep it stands
_SPACE = "\0"  # in place of a space at which no line may end


@dataclass(frozen=True, slots=True)
class Line:
    """One line, with marks around its commands. ``hang`` is what stands before a continuation of it, as wide as ``lead``.

    ``growing`` follows the text; it changes with time alone, so pages that differ in nothing else are equal.
    ``spare`` follows both where the width allows it, and is left out elsewhere. A line that ``tells_of_spare`` is shown only
    behind one whose spare part was left out.
    """

    text: str
    lead: str = ""
    hang: str = ""
    style: str = ""
    spare: str = ""
    growing: str = field(default="", compare=False)
    tells_of_spare: bool = False


def followed_by(message: str, more: str) -> str:
    """A message and what is said after it, apart from a command that ends the message."""
    return f"{message}{AFTER_COMMAND if marks.ends_in_command(message) else ' '}{more}" if more else message


def wrapped(lines: Iterable[Line], width: int | None) -> Iterator[Line]:
    """Lines no wider than this, broken between words where that is possible; as they are for no width (a pipe).

    A command to paste is one line, however long: a terminal wraps it without a line end, which a paste would carry out. No line
    has marks any more.
    """
    left_out = False
    for line in lines:
        if line.tells_of_spare and not left_out:
            continue
        given = replace(line, text=line.text + line.growing, growing="")
        whole = replace(given, text=f"{given.text}  {given.spare}", spare="") if given.spare else given
        shown = whole if _fits(whole, width) else replace(given, spare="")
        left_out = left_out or (shown is not whole and bool(given.spare))
        if width is None or (_fits(shown, width) and not any(piece.is_command for piece in marks.pieces(shown.text))):
            yield replace(shown, text=marks.plain(shown.text))
            continue
        for place, part in enumerate(_broken(shown.text, max(width - len(shown.lead), NARROWEST))):
            yield Line(part, shown.lead if place == 0 else shown.hang, shown.hang, shown.style)


def _broken(text: str, room: int) -> Iterator[str]:
    """A text as lines: its sentences in this room, each line of commands whole."""
    for piece in marks.pieces(text):
        if piece.is_command:
            yield piece.text
            continue
        whole = marks.unbroken(piece.text, _SPACE)
        for part in textwrap.wrap(whole, room, break_long_words=False, break_on_hyphens=False):
            yield part.replace(_SPACE, " ")


def _fits(line: Line, width: int | None) -> bool:
    return width is None or len(line.lead) + len(marks.plain(line.text)) <= width


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[Line]:
    """Columns as wide as their cells; an empty cell is a hyphen. What could steer a terminal goes."""
    full = [list(head), *[[clean(cell) or "-" for cell in row] for row in rows]]
    widths = [max(len(row[column]) for row in full) for column in range(len(head))]
    for place, row in enumerate(full):
        cells = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        yield Line(cells, style="bold" if place == 0 else "")


def plural(count: int, word: str) -> str:
    """``1 object``, ``2 objects``."""
    return f"{count} {word}{'' if count == 1 else 's'}"
