"""Says on a terminal what a verb waits for, where it takes longer than a moment to load the cloud's client and to ask.

Elsewhere nothing is said: standard error has warnings and errors only.
"""

from __future__ import annotations

import sys
import threading
from contextvars import ContextVar

SECONDS = 1.0
_TIMER: ContextVar[threading.Timer | None] = ContextVar("timer", default=None)  # of this call, until it has its answer


def begin(words: str) -> None:
    """Say these words after a moment, unless it is over before."""
    if sys.stderr.isatty():
        timer = threading.Timer(SECONDS, _print, (words,))
        timer.daemon = True  # a process that ends waits for no words
        timer.start()
        _TIMER.set(timer)


def say(words: str) -> None:
    """Say them now: somebody waits for a question."""
    over()
    _print(words)


def over() -> None:
    """Say nothing more: the answer is here, and is printed next."""
    timer = _TIMER.get()
    if timer is not None:
        timer.cancel()
        _TIMER.set(None)


def _print(words: str) -> None:
    sys.stderr.write(f"kubectl gpucloud: {words} …\n")
