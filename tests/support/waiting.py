"""Wait for the world to become as a test expects, and say what it was instead when it does not."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
_PAUSE_SECONDS = 0.05


def eventually(fn: Callable[[], T], timeout: float = 30.0, what: str = "") -> T:
    """Call until the result is true and return it; an AssertionError, KeyError or IndexError counts as not yet.

    The deadline guards against a hang; how long it took is never asserted.
    """
    deadline = time.monotonic() + timeout
    while True:
        try:
            last: object = (value := fn())
            if value:
                return value
        except (AssertionError, KeyError, IndexError) as error:
            last = f"{type(error).__name__}: {error}"
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout:g} s: {what or fn.__name__}; last seen: {last!r}")
        time.sleep(_PAUSE_SECONDS)
