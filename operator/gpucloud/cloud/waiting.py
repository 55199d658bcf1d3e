"""Waiting for the cloud: read a record again and again until it is as wanted.

The cloud carries most orders out after it has answered, and notifies nobody.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from gpucloud.cloud.calls import Call
from gpucloud.cloud.errors import CloudError
from gpucloud.cloud.limits import WORTH_REPEATING
from gpucloud.cloud.models import VmStatus

T = TypeVar("T")
Until = str | Callable[[T], bool]

FINAL = frozenset({VmStatus.CREATE_FAILED, VmStatus.FAILED})
_GROWTH = 1.5


class WaitError(Exception):
    """The record cannot become as wanted. ``last`` is the record as it was read last, or None."""

    def __init__(self, text: str, last: Any = None) -> None:  # a copy is made of the text, and then given the rest
        super().__init__(text)
        self.last = last


class WaitTimeoutError(WaitError, TimeoutError):
    """The record was not as wanted in time. ``error`` is how the last reading failed, or None."""

    def __init__(self, text: str, last: Any = None, error: CloudError | None = None) -> None:
        super().__init__(text, last)
        self.error = error


async def wait_for(
    run: Callable[[Call[T]], Awaitable[T]],
    pause_for: Callable[[float], Awaitable[None]],
    call: Call[T],
    until: Until[T],
    *,
    deadline_seconds: float,
    pauses: tuple[float, float],
) -> T:
    """Send a reading call until its answer is as wanted. Arguments and errors: ``CloudClient.wait_for``.

    ``pause_for`` waits between two readings, and raises when there will be no other. ``pauses``: the first, and the longest.
    """
    if not call.safe:
        raise TypeError(f"{call.operation} changes something; wait_for repeats reading calls only")
    last: T | None = None
    error: CloudError | None = None
    pause, longest = pauses
    try:
        async with asyncio.timeout(deadline_seconds) as deadline:
            while True:
                try:
                    last, error = await run(call), None
                except CloudError as failure:
                    if failure.kind not in WORTH_REPEATING:
                        raise
                    error = failure
                else:
                    if _is_reached(last, until, call.operation):
                        return last
                asked = error.retry_after if error is not None else None
                await pause_for(max(pause, asked or 0.0))
                pause = min(longest, pause * _GROWTH)
    except TimeoutError:
        if not deadline.expired():
            raise
    raise WaitTimeoutError(_timed_out(call.operation, until, deadline_seconds, last, error), last, error)


def _is_reached(record: T, until: Until[T], operation: str) -> bool:
    if not isinstance(until, str):
        return until(record)
    status = _status_of(record)
    if status == until:
        return True
    if status in FINAL:
        name = getattr(record, "id", None) or "the record"
        raise WaitError(
            f"{operation}: the status of {name} is {status!r}, and waiting does not make it {until!r}; replace it", record
        )
    return False


def _status_of(record: Any) -> str | None:
    if not hasattr(record, "status"):
        raise TypeError(f"a {type(record).__name__} has no status: give wait_for a function of the record instead")
    status: str | None = record.status
    return status


def _timed_out(operation: str, until: Until[T], seconds: float, last: T | None, error: CloudError | None) -> str:
    wanted = f"the status {until!r}" if isinstance(until, str) else "what was waited for"
    seen = f"; the last status was {_status_of(last)!r}" if isinstance(until, str) and last is not None else ""
    failed = f"; the last reading failed: {error}" if error is not None else ""
    return f"{operation}: {seconds:g} s passed without {wanted}{seen}{failed}. To wait on, call wait_for again"
