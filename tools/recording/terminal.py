"""Run a program in a pseudo-terminal and keep each screen that it showed, with its time."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyte

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

STANDS_SECONDS = 0.12  # a screen that is redrawn sooner was not meant to be read
_LONGEST_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Run:
    """Characters of one style in a line."""

    column: int
    text: str
    colour: str = "default"
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """A screen, and for how many seconds it was shown."""

    lines: tuple[tuple[Run, ...], ...]
    seconds: float


@dataclass
class Terminal:
    """A screen of ``columns`` by ``rows`` on which programs and typed commands appear one after the other."""

    columns: int
    rows: int
    frames: list[Frame] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._screen = pyte.Screen(self.columns, self.rows)
        self._stream = pyte.ByteStream(self._screen)

    def type(self, command: str, *, seconds: float = 1.0) -> None:
        """Show a prompt with a command that was typed."""
        self._stream.feed(f"\x1b[1m$ {command}\x1b[0m\r\n".encode())
        self._keep(seconds)

    def run(self, command: Sequence[str], env: Mapping[str, str]) -> int:
        """Run a program to its end and return its exit code."""
        parent, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", self.rows, self.columns, 0, 0))
        environment = {**env, "TERM": "xterm-256color", "COLUMNS": str(self.columns), "LINES": str(self.rows)}
        process = subprocess.Popen(  # noqa: S603 - our own programs
            command, stdin=child, stdout=child, stderr=child, env=environment, start_new_session=True
        )
        os.close(child)
        try:
            self._follow(parent)
            return process.wait(_LONGEST_SECONDS)
        finally:
            process.kill()
            process.wait()
            os.close(parent)

    def hold(self, seconds: float) -> None:
        """Show the present screen for longer."""
        self._keep(seconds)

    def _follow(self, parent: int) -> None:
        shown = time.monotonic()
        for data in _read(parent):
            now = time.monotonic()
            if now - shown >= STANDS_SECONDS:
                self._keep(now - shown)
            self._stream.feed(data)
            shown = now
        self._keep(time.monotonic() - shown)

    def _keep(self, seconds: float) -> None:
        lines = tuple(tuple(_runs(self._screen.buffer[row], self.columns)) for row in range(self.rows))
        if self.frames and self.frames[-1].lines == lines:
            seconds += self.frames.pop().seconds
        self.frames.append(Frame(lines, seconds))


def _read(parent: int) -> Iterator[bytes]:
    while True:
        ready, _, _ = select.select([parent], [], [], _LONGEST_SECONDS)
        try:
            data = os.read(parent, 65536) if ready else b""
        except OSError:  # Linux's end of file of a pseudo-terminal
            return
        if not data:
            return
        yield data


def _runs(line: Mapping[int, pyte.screens.Char], columns: int) -> Iterator[Run]:
    """Join neighbours of one style; trailing blanks are left out."""
    last = max((column for column in range(columns) if line[column].data.strip()), default=-1)
    start, text, style = 0, "", ("default", False)
    for column in range(last + 1):
        char = line[column]
        if text and (char.fg, char.bold) != style:
            yield Run(start, text, *style)
            start, text = column, ""
        style = (char.fg, char.bold)
        text += char.data
    if text:
        yield Run(start, text, *style)
