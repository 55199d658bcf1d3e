"""The precondition of a cloud call: checked again right before the request is sent.

A call may wait between its decision and its request: for the request budget, for a Retry-After, for a connection. If the
object's owner edits or pauses the object meanwhile, the call must not be sent. The client has one ``may_change`` hook for all
calls, so the precondition of a call travels in a context variable of its task.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_condition: ContextVar[Callable[[], bool] | None] = ContextVar("gpucloud_precondition", default=None)


@contextmanager
def require(condition: Callable[[], bool]) -> Iterator[None]:
    """Send the calls of this block only while ``condition()`` and the conditions of all enclosing blocks are true."""
    outer = _condition.get()
    token = _condition.set(condition if outer is None else lambda: outer() and condition())
    try:
        yield
    finally:
        _condition.reset(token)


def is_met() -> bool:
    """Whether the precondition of this task's call is true now. A call without a precondition may always be sent."""
    condition = _condition.get()
    return condition is None or condition()
