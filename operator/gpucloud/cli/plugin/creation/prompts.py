"""Questions to a person at a terminal. They go to standard error, so that standard output keeps the answer of the verb."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

from gpucloud.cli.plugin import show
from gpucloud.cli.plugin.errors import ExitCode, PluginError
from gpucloud.cli.terminal import printing
from gpucloud.cli.terminal.text import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gpucloud.cli.terminal.page import Line

UNREADABLE = "the answer has characters that cannot be read or shown: type it again."


def is_possible() -> bool:
    """Whether somebody is there to answer."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def ask(question: str, default: str = "", refusal: Callable[[str], str] = lambda _: "") -> str:
    """One line; an empty one means the default, and without a default is asked for again.

    ``refusal`` says what is wrong with an answer, or nothing; what is wrong is printed, and the question is asked again.
    An answer with characters that cannot be read or shown is wrong, too. What was typed before the question stands there is no
    answer to it, and dropped.

    Raises:
        PluginError: the input has ended, or Ctrl-C was typed.
    """
    while True:
        _drop_early_words()
        print(f"{question} [{default}]: " if default else f"{question}: ", end="", file=sys.stderr, flush=True)
        line = _read()
        if not line:
            raise PluginError(
                "stopped, and nothing was created.",
                ExitCode.INTERRUPTED,
                do="Give the answers as options, or run this again.",
            )
        answer = line.strip() or default
        wrong = UNREADABLE if not answer.isprintable() else refusal(answer) if answer else ""
        if answer and not wrong:
            return answer
        if wrong:
            show.tell(wrong)


def _drop_early_words() -> None:
    """Drop what was typed so far, on a terminal; a pipe keeps its lines, and so does a system without ``termios``."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import termios  # noqa: PLC0415 - not every system has it

        with contextlib.suppress(termios.error):
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


def _read() -> str:
    """The next line; empty at the end of the input, also within a line, and on Ctrl-C."""
    try:
        line = sys.stdin.readline()
    except UnicodeDecodeError as error:
        line = error.object.decode(error.encoding, "surrogateescape")
    except KeyboardInterrupt:
        line = ""
    if line.endswith("\n"):
        return line
    print(file=sys.stderr)  # the question stands on this line
    return ""


def choose(title: str, shown: Iterable[Line], values: Sequence[str]) -> int:
    """The place of one of several, numbered from 1; the first is the default. ``shown`` is what stands above the question."""
    printing.lines(shown, sys.stderr)
    while True:
        answer = ask(title, "1")
        if answer in values:
            return list(values).index(answer)
        if answer.isdecimal() and 1 <= int(answer) <= len(values):
            return int(answer) - 1
        print(f"{clean(answer)!r} is none of them: type a number from 1 to {len(values)}.", file=sys.stderr)


def confirm(question: str) -> bool:
    """Whether yes is typed."""
    return ask(f"{question} (y/n)", "n").lower() in {"y", "yes"}
