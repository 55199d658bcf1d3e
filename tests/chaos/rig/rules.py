"""Rules of a fault proxy: which call, in which phase, meets what."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from chaos.rig.calls import Call, Phase


@dataclass(frozen=True)
class Answer:
    """An answer in place of the upstream's."""

    status: int
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)


class Drop:
    """Cut the caller's connection without an answer."""


class Late:
    """Let the call go on although its sender has died meanwhile: it was on its way."""


_LOOK_SECONDS = 0.02
DROP, LATE = Drop(), Late()
Outcome = Answer | Drop | Late | None  # None lets the call go on


@dataclass
class Rule:
    """``do`` is awaited for the calls that ``when`` accepts, in the given phase, ``times`` times (0: always).

    Of several rules that fit, the one added first acts. In ``received`` an answer or DROP keeps the call from the upstream;
    in ``answered`` it takes the place of what the upstream said; in ``delivered`` both links are shut until ``do`` returns.
    """

    when: Callable[[Call], bool]
    phase: Phase
    do: Callable[[Call], Awaitable[Outcome]]
    times: int = 1
    struck: int = 0

    def fits(self, call: Call, phase: Phase) -> bool:
        """Whether it acts now; it counts itself."""
        if phase is not self.phase or (self.times and self.struck >= self.times) or not self.when(call):
            return False
        self.struck += 1
        return True


def nth(word: str, number: int = 1) -> Callable[[Call], bool]:
    """Accept the number-th call of a class that comes from now on. It counts: make one for each rule."""
    seen: set[int] = set()

    def when(call: Call) -> bool:
        if call.word == word:
            seen.add(call.index)
            return len(seen) == number
        return False

    return when


def every(*words: str) -> Callable[[Call], bool]:
    """Accept all calls of these classes."""
    return lambda call: call.word in words


def answer(status: int, body: bytes = b"{}", **headers: str) -> Callable[[Call], Awaitable[Outcome]]:
    """A ``do`` that answers instead; underscores in header names become hyphens."""
    said = Answer(status, body, {name.replace("_", "-"): value for name, value in headers.items()})

    async def do(_: Call) -> Outcome:
        return said

    return do


def drop() -> Callable[[Call], Awaitable[Outcome]]:
    """A ``do`` that cuts the connection."""

    async def do(_: Call) -> Outcome:
        return DROP

    return do


def delay(seconds: float) -> Callable[[Call], Awaitable[Outcome]]:
    """A ``do`` that lets the call go on later."""

    async def do(_: Call) -> Outcome:
        await asyncio.sleep(seconds)
        return None

    return do


class Hold:
    """A ``do`` that keeps calls where they are until it is released, and tells when the first has come."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self._released = threading.Event()

    async def __call__(self, _: Call) -> Outcome:
        """Wait, without keeping the loop from its other work."""
        self.reached.set()
        while not self._released.is_set():  # noqa: ASYNC110 - it is set in another thread
            await asyncio.sleep(_LOOK_SECONDS)
        return None

    def wait(self, timeout: float = 60.0) -> None:
        """Wait, in a test's thread, until a call is held."""
        assert self.reached.wait(timeout), f"no call came within {timeout:g} s"

    def release(self) -> None:
        """Let go of all that is held, and of all that comes."""
        self._released.set()
