"""Put things before people and programs: colours on a terminal, plain lines in a pipe, JSON and YAML on request."""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TextIO

from gpucloud.cli.terminal.marks import plain_document, with_options
from gpucloud.cli.terminal.page import wrapped
from gpucloud.cli.terminal.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gpucloud.cli.terminal.page import Line

SGR = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "magenta": "35", "cyan": "36"}
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
HOME, TO_END_OF_LINE, TO_END_OF_SCREEN = "\x1b[H", "\x1b[K", "\x1b[J"
ENTER, LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"  # the alternate screen, without a cursor
ASCII = str.maketrans({"│": "|", "├": "|", "└": "`", "─": "-", "…": "."})


class Output(StrEnum):
    """The forms in which a reading verb answers."""

    TEXT = "text"
    WIDE = "wide"  # text with more of each object; of `status` only
    JSON = "json"
    YAML = "yaml"


def lines(found: Iterable[Line], stream: TextIO | None = None) -> None:
    """Print for people: colours and wrapping on a terminal; in a pipe neither, so that a message stays one line for grep."""
    stream = stream or sys.stdout
    for text in _drawn(found, stream):
        print(text, file=stream)


@contextmanager
def full_screen(stream: TextIO) -> Iterator[None]:
    """A screen of its own; what the terminal showed before is back at the end."""
    stream.write(ENTER)
    try:
        yield
    finally:
        stream.write(LEAVE)
        stream.flush()


def screen(found: Iterable[Line], stream: TextIO) -> None:
    """Draw a page in place of the last one. What does not fit on the terminal is counted on its last line."""
    texts, size = _drawn(found, stream), os.get_terminal_size(stream.fileno())
    ends = list(accumulate(_rows(text, size.columns) for text in texts))
    if size.lines and ends and ends[-1] >= size.lines:  # one line is left for the cursor
        shown = sum(end <= size.lines - 2 for end in ends)
        texts = [*texts[:shown], f"{len(texts) - shown} more lines: enlarge the terminal, or name objects."]
    stream.write(HOME + "".join(f"{text}{TO_END_OF_LINE}\n" for text in texts) + TO_END_OF_SCREEN)
    stream.flush()


def _rows(text: str, columns: int) -> int:
    """How many rows of the terminal a text takes: a command is longer than a row, perhaps."""
    return max(1, -(-len(COLOUR.sub("", text)) // columns)) if columns else 1


def _drawn(found: Iterable[Line], stream: TextIO) -> list[str]:
    """Lines as this stream can show them."""
    plain, coloured = not _can_draw(stream), _has_colours(stream)
    texts = []
    given = (replace(line, text=with_options(line.text)) for line in found)
    for line in wrapped(given, _width(stream)):
        text = printable(f"{line.lead}{line.text}").rstrip()
        shown = text.translate(ASCII) if plain else text
        codes = ";".join(SGR[word] for word in line.style.split()) if coloured else ""
        texts.append(f"\x1b[{codes}m{shown}\x1b[0m" if codes else shown)
    return texts


def document(found: Any, form: Output) -> None:
    """Print for programs."""
    plain = plain_document(found)
    print(_json(plain) if form is Output.JSON else _yaml(plain))


def documents(found: Iterable[Any]) -> None:
    """Print several manifests as one YAML stream."""
    print("\n---\n".join(_yaml(item) for item in found))


def _width(stream: TextIO) -> int | None:
    """Where to wrap: at COLUMNS if somebody says it, or at the terminal's width; else nowhere."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said) > 0:
        return int(said)
    return os.get_terminal_size(stream.fileno()).columns or None if stream.isatty() else None


def _has_colours(stream: TextIO) -> bool:
    """Only a terminal that has not asked for none."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _can_draw(stream: TextIO) -> bool:
    try:
        "├─└│".encode(stream.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def _json(found: Any) -> str:
    """JSON as it is read by people, too: text that would steer a terminal is escaped, as YAML does by itself."""
    text = json.dumps(found, indent=2, ensure_ascii=False)
    return "".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text)


def _yaml(found: Any) -> str:
    from gpucloud.cli import yamltext  # noqa: PLC0415 - it loads PyYAML, which few answers need

    return yamltext.text_of(found)
