"""Put things before people and programs: rich where there is a terminal, plain lines in a pipe, JSON and YAML on request."""

from __future__ import annotations

import json
import os
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TextIO

import yaml
from rich.console import Console
from rich.text import Text

from gpucloud.cli.plugin.page import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpucloud.cli.plugin.page import Line

ASCII = str.maketrans({"│": "|", "├": "|", "└": "`", "─": "-", "…": "."})


class Output(StrEnum):
    """The forms in which a reading verb answers."""

    TEXT = "text"
    JSON = "json"
    YAML = "yaml"


def lines(found: Iterable[Line], stream: TextIO | None = None) -> None:
    """Print for people: colours and wrapping on a terminal; in a pipe neither, so that a message stays one line for grep."""
    stream = stream or sys.stdout
    console = console_of(stream)
    plain = not _can_draw(stream)
    for line in wrapped(found, _width(console)):
        text = f"{line.lead}{line.text}".rstrip()
        shown = text.translate(ASCII) if plain else text
        console.print(Text(shown, style=line.style), soft_wrap=True)


def document(found: Any, form: Output) -> None:
    """Print for programs."""
    text = json.dumps(found, indent=2, ensure_ascii=False) if form is Output.JSON else _yaml(found)
    print(text)


def documents(found: Iterable[Any]) -> None:
    """Print several manifests as one YAML stream."""
    print("\n---\n".join(_yaml(item) for item in found))


def console_of(stream: TextIO) -> Console:
    """Colours only on a terminal that has not asked for none (NO_COLOR)."""
    return Console(file=stream, highlight=False, markup=False, emoji=False)


def tell(text: str) -> None:
    """One sentence on what happens, beside the answer: on standard error."""
    print(f"kubectl gpucloud: {text}", file=sys.stderr)


def _width(console: Console) -> int | None:
    """Where to wrap: at the terminal's width, or at COLUMNS if somebody says it; else nowhere."""
    if console.is_terminal:
        return console.width
    said = os.environ.get("COLUMNS", "")
    return int(said) if said.isdecimal() and int(said) > 0 else None


def _can_draw(stream: TextIO) -> bool:
    try:
        "├─└│".encode(stream.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def _yaml(found: Any) -> str:
    text: str = yaml.safe_dump(found, sort_keys=False, allow_unicode=True, width=1000)
    return text.rstrip()
