"""A wall clock that can be set for one operator alone, without any right: a ``sitecustomize`` that its Python loads first.

It shifts ``time.time`` and ``datetime.now`` by what a file says at that moment; the monotonic clock is left as it is.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_SITECUSTOMIZE = """
import datetime, time

FILE = {file!r}
BEGAN = time.monotonic()
true_time, true_time_ns = time.time, time.time_ns


def shift():
    with open(FILE) as file:
        jump, rate = file.read().split()
    return float(jump) + (time.monotonic() - BEGAN) * (float(rate) - 1.0)


class Skewed(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return super().now(tz) + datetime.timedelta(seconds=shift())

    @classmethod
    def utcnow(cls):
        return super().utcnow() + datetime.timedelta(seconds=shift())


time.time = lambda: true_time() + shift()
time.time_ns = lambda: true_time_ns() + int(shift() * 1e9)
datetime.datetime = Skewed
"""


class Clock:
    """The wall clock of the operators that are started with ``env``."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "shift"
        self.set()
        (folder / "sitecustomize.py").write_text(_SITECUSTOMIZE.format(file=str(self._file)))
        inherited = os.environ.get("PYTHONPATH")
        self.env = {"PYTHONPATH": os.pathsep.join(filter(None, [str(folder), inherited]))}

    def set(self, jump: float = 0.0, *, rate: float = 1.0) -> None:
        """So many seconds from the true time, and so much faster than it, from now on."""
        aside = self._file.with_suffix(".new")
        aside.write_text(f"{jump} {rate}")
        aside.replace(self._file)  # whole or not at all
