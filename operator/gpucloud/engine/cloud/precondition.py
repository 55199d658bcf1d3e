"""Whether the call under way is still meant by the object that it is sent for: asked when all waiting is over.

Between a decision and its request leaving, a call may wait: for the budget, for a pause that the cloud asked for, for a
connection. What its owner says meanwhile must count. The client asks one question of all calls, so the answer of this one
travels with its task.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_holds: ContextVar[Callable[[], bool] | None] = ContextVar("gpucloud_meant", default=None)


@contextmanager
def require(holds: Callable[[], bool]) -> Iterator[None]:
    """Within this block a call is meant only as long as ``holds()``, and whatever a block round it asks for."""
    outer = _holds.get()
    token = _holds.set(holds if outer is None else lambda: outer() and holds())
    try:
        yield
    finally:
        _holds.reset(token)


def holds() -> bool:
    """Whether what is being sent by this task is still meant; so is whatever nobody has tied to anything."""
    holds = _holds.get()
    return holds is None or holds()
