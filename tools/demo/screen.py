"""Where the demo talks to: a terminal with a table that is redrawn in place, or a log with one line a change.

It must not know the story, nor read objects.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol, Self

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from demo import layout, view

if TYPE_CHECKING:
    from demo.view import Key, Line, Row

NARROW = 80  # columns, where the width is unknown
PROMPT = "$ "
STYLES = {"heading": "bold", "good": "green", "busy": "yellow", "bad": "bold red", "note": "dim"}


class Screen(Protocol):
    """What both kinds of output can do. ``width`` is in columns."""

    @property
    def width(self) -> int:
        """How wide it is."""

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
    return TerminalScreen() if live else LogScreen(shutil.get_terminal_size((NARROW, 0)).columns)


class LogScreen:
    """Plain lines without control characters."""

    def __init__(self, width: int = NARROW) -> None:
        self.width = width
        self._began = time.monotonic()
        self._rows: dict[Key, Row] = {}

    def say(self, text: str) -> None:
        """Print a sentence, wrapped."""
        print("\n".join(["", *layout.prose(text, self.width)]), flush=True)

    def command(self, text: str) -> None:
        """Print a command as it would be typed."""
        print("\n".join(layout.command(text, self.width, PROMPT)), flush=True)

    def output(self, text: str) -> None:
        """Print what a command printed."""
        for line in text.splitlines():
            print("\n".join(layout.printed(line, self.width)), flush=True)

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

    @property
    def width(self) -> int:
        """How wide the terminal is now."""
        return self._console.width

    def say(self, text: str) -> None:
        """Print a sentence above the table."""
        self._console.print("\n".join(["", *layout.prose(text, self.width)]), style="bold")

    def command(self, text: str) -> None:
        """Print a command above the table."""
        for line in layout.command(text, self.width, PROMPT):
            shown = Text(line, "cyan")
            shown.stylize("dim", 0, len(PROMPT))
            self._console.print(shown, soft_wrap=True)  # a word wider than the terminal is broken by that, and pastes whole

    def output(self, text: str) -> None:
        """Print what a command printed above the table."""
        for line in text.splitlines():
            self._console.print("\n".join(layout.printed(line, self.width)))

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


def _styled(line: Line) -> Text:
    return Text(line.text, STYLES.get(line.mood, ""), no_wrap=True, overflow="ellipsis")
