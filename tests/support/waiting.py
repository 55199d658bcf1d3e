"""Wait for the world to become as a test expects, and say what it was instead when it does not."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeVar

from support.kstatus import condition, ready

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.kubectl import Kubectl

T = TypeVar("T")
_PAUSE_SECONDS = 0.1  # a look at an object costs a hundredth of that, one by kubectl half of it


def eventually(fn: Callable[[], T], timeout: float = 60.0, what: str = "") -> T:
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


def reach(here: Kubectl, kind: str, name: str, wanted: str, timeout: float = 120.0, *, says: str = "") -> dict[str, Any]:
    """Wait until Ready says ``status/reason`` (and its message contains ``says``), and return the object."""

    def look() -> dict[str, Any]:
        item = here.get(kind, name)
        assert item is not None, "there is none"
        message = condition(item, "Ready")["message"]
        assert ready(item) == wanted, f"{ready(item)}: {message}"
        assert says in message, message
        return item

    return eventually(look, timeout, f"{kind}/{name} to be {wanted}" + (f" and to say {says!r}" if says else ""))


def gone(here: Kubectl, kind: str, *names: str, timeout: float = 120.0) -> None:
    """Wait until these objects are gone; when they stay, say how they stand."""

    def look() -> bool:
        left = [item for item in here.list(kind) if item["metadata"]["name"] in names]
        assert not left, "; ".join(f"{item['metadata']['name']}: {condition(item, 'Ready')}" for item in left)
        return True

    eventually(look, timeout, f"{kind} {', '.join(names)} to go")
