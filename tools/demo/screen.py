"""Where the demo talks to: a terminal with a table that is redrawn in place, or a log with one line a change.

It must not know the story, nor read objects.
"""

from __future__ import annotations

import os
import sys
import textwrap
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol, Self

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from demo import view

if TYPE_CHECKING:
    from demo.view import Key, Line, Row

STYLES = {"heading": "bold", "good": "green", "busy": "yellow", "bad": "bold red", "note": "dim"}


class Screen(Protocol):
    """What both kinds of output can do."""

    def say(self, text: str) -> None:
        """Print a sentence of the story."""

    def command(self, text: str) -> None:
        """Print a command that is about to be run."""

    def output(self, text: str) -> None:
        """Print what a command printed."""

    def show(self, rows: dict[Key, Row]) -> None:
        """Show the objects as they are now."""

    def __enter__(self) -> Self:
        """Begin."""

    def __exit__(self, *_: object) -> None:
        """End; what was shown last stays."""


def screen() -> Screen:
    """Choose by what standard output is."""
    live = sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    return TerminalScreen() if live else LogScreen()


class LogScreen:
    """Plain lines of at most ``view.WIDTH`` columns, without control characters."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._rows: dict[Key, Row] = {}

    def say(self, text: str) -> None:
        """Print a sentence, wrapped."""
        print("\n" + "\n".join(wrapped(text)), flush=True)

    def command(self, text: str) -> None:
        """Print a command as it would be typed."""
        print(f"$ {text}", flush=True)

    def output(self, text: str) -> None:
        """Print what a command printed."""
        for line in text.splitlines():
            print(view.cut(line), flush=True)

    def show(self, rows: dict[Key, Row]) -> None:
        """Print only what has changed."""
        for line in view.changes(self._rows, rows, time.monotonic() - self._began):
            print(line, flush=True)
        self._rows = rows

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class TerminalScreen:
    """The story scrolls; below it stands the table."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False, markup=False, emoji=False)
        # Redrawn by hand: a thread of its own would make starting other programs unsafe.
        self._live = Live(console=self._console, auto_refresh=False)
        self._shown: list[Line] = []

    def say(self, text: str) -> None:
        """Print a sentence above the table."""
        self._console.print("\n" + "\n".join(wrapped(text)), style="bold")

    def command(self, text: str) -> None:
        """Print a command above the table."""
        self._console.print(Text("$ ", "dim") + Text(text, "cyan"))

    def output(self, text: str) -> None:
        """Print what a command printed above the table."""
        for line in text.splitlines():
            self._console.print(Text(view.cut(line)))

    def show(self, rows: dict[Key, Row]) -> None:
        """Redraw the table, if anything in it looks different now."""
        lines = [view.Line(""), *view.table(list(rows.values()), datetime.now(UTC))] if rows else []
        if lines != self._shown:
            self._live.update(Group(*map(_styled, lines)), refresh=True)
            self._shown = lines

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()


def wrapped(text: str) -> list[str]:
    """Break each line of a text at the width."""
    return [part for line in text.splitlines() for part in textwrap.wrap(line, view.WIDTH, break_on_hyphens=False) or [""]]


def _styled(line: Line) -> Text:
    return Text(line.text, STYLES.get(line.mood, ""), no_wrap=True, overflow="ellipsis")
