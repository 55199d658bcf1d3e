"""Look again and again until Ctrl-C: a page that is drawn anew (``status --watch``), a log that grows (``logs --follow``)."""

from __future__ import annotations

import io
import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from gpucloud.cli.plugin import show
from gpucloud.cli.plugin.errors import TransientError
from gpucloud.cli.terminal import printing
from gpucloud.cli.terminal.page import Line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Draw = Callable[[list[Line]], None]

LOOK_SECONDS = 1.0  # one list a kind
LOG_SECONDS = 5.0  # one request to the cloud, out of the account's request budget


def pages(look: Callable[[], list[Line]], draw: Draw, pause: Callable[[float], None]) -> NoReturn:
    """Draw what ``look`` sees. An apiserver that cannot answer for a while ends no watch that has begun.

    ``pause`` is given how many seconds the server asks to be left alone.
    """
    seen, outage, asked = look(), list[Line](), 0.0
    while True:
        draw([*outage, *seen])
        pause(asked)
        try:
            seen, outage, asked = look(), [], 0.0
        except TransientError as error:
            asked = error.pause
            outage = [Line(f"{error} The page below is older.", style="yellow"), Line("")]


def status(look: Callable[[], list[Line]]) -> NoReturn:
    """Draw pages on standard output: in place on a terminal; elsewhere one after another, each only if it has changed."""
    with _drawing() as draw:
        pages(look, draw, lambda asked: time.sleep(max(LOOK_SECONDS, asked)))


@contextmanager
def _drawing() -> Iterator[Draw]:
    if not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        yield changes()
        return
    with printing.full_screen(sys.stdout):
        yield lambda page: printing.screen(page, sys.stdout)


def changes() -> Draw:
    """A function that prints a page when it differs from the one before."""
    last: list[list[Line]] = []

    def draw(page: list[Line]) -> None:
        if last[-1:] != [page]:
            printing.lines([*([Line("")] if last else []), *page])
            sys.stdout.flush()
            last[:] = [page]

    return draw


def log(read: Callable[[], str], tail: int | None) -> NoReturn:
    """Print a log on standard output, and what is new of it whenever it has grown."""
    follow(read, tail, _write, lambda asked: time.sleep(max(LOG_SECONDS, asked)))


def follow(read: Callable[[], str], tail: int | None, write: Callable[[str], None], pause: Callable[[float], None]) -> NoReturn:
    """Write the last lines of a log, then all that is added. An outage is reported once, and ends nothing that has begun."""
    text, told, asked = read(), "", 0.0
    write(last_lines(text, tail))
    while True:
        pause(asked)
        try:
            now, outage, asked = read(), "", 0.0
        except TransientError as error:
            now, outage, asked = text, str(error), error.pause
        if outage not in {"", told}:
            show.tell(outage)
        write(added(text, now))
        text, told = now, outage


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def last_lines(text: str, count: int | None) -> str:
    """The last so many lines of a text; all for None."""
    lines = list(io.StringIO(text))
    return text if count is None else "".join(lines[max(0, len(lines) - count) :])


def added(before: str, now: str) -> str:
    """What a log has more than before. The cloud shows a window of it, whose first lines may have gone since.

    A log that has nothing in common with the one before is new as a whole: the VM was started again.
    """
    start = 0
    for line in io.StringIO(before):
        if now.startswith(before[start:]):
            return now[len(before) - start :]
        start += len(line)
    return now
