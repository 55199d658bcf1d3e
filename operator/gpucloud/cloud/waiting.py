"""Waiting for the cloud: read a record again and again until it is as wanted.

The cloud carries most orders out after it has answered, and notifies nobody.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

from gpucloud.cloud.calls import Call
from gpucloud.cloud.errors import CloudError
from gpucloud.cloud.limits import WORTH_REPEATING
from gpucloud.cloud.models import VmStatus

T = TypeVar("T")
Until = str | Callable[[T], bool]

FINAL = frozenset(status.casefold() for status in (VmStatus.CREATE_FAILED, VmStatus.FAILED))
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


class Wait(Generic[T]):
    """What is waited for, and how long. A client makes a ``Waiting`` of it; ``wait_for`` says what the arguments mean."""

    def __init__(self, call: Call[T], until: Until[T], deadline_seconds: float, pauses: tuple[float, float]) -> None:
        """Take what is waited for. ``pauses``: the first and the longest."""
        if not call.safe:
            raise TypeError(f"{call.operation} changes something; wait_for repeats reading calls only")
        names = ("deadline_seconds", "first_pause_seconds", "longest_pause_seconds")
        for name, seconds in zip(names, (deadline_seconds, *pauses), strict=True):
            if not (isinstance(seconds, int | float) and seconds > 0):  # NaN is no number, and would bound nothing
                raise ValueError(f"{name} must be a number greater than 0")
        self.call, self.until, self.seconds, self.pauses = call, until, deadline_seconds, pauses


def wait_for(
    call: Call[T],
    until: Until[T],
    *,
    deadline_seconds: float = 1800.0,
    first_pause_seconds: float = 2.0,
    longest_pause_seconds: float = 30.0,
) -> Wait[T]:
    """Read until the answer is as wanted, and return it.

    Readings that fail for a reason that may pass are repeated, too, and never before the cloud's Retry-After. The pauses
    grow by half each time.

    Args:
        call: a reading call made by a function of ``gpucloud.cloud.calls``.
        until: the status to wait for, such as ``"ONLINE"``, in any case of letters; or a function of the answer, not async,
            that returns whether it is so. It runs where the client is used, so it may ask a ``SyncCloudClient``, too.
        deadline_seconds: how long to wait at most, all readings and pauses included.
        first_pause_seconds: between the first two readings.
        longest_pause_seconds: between any two readings.

    Raises:
        WaitTimeoutError: it was not as wanted in time.
        WaitError: the status is one that no waiting changes: CREATE_FAILED or FAILED.
        CloudError: a reading failed for a reason that waiting does not change, such as NOT_FOUND; or the client was closed.
        TypeError: the call changes something, its answer has no status, or ``until`` is async.
        ValueError: the deadline or a pause is no number above 0.
    """
    return Wait(call, until, deadline_seconds, (first_pause_seconds, longest_pause_seconds))


class Waiting(Generic[T]):
    """One wait under way: its readings, their pauses, its end."""

    def __init__(
        self,
        wait: Wait[T],
        run: Callable[[Call[T]], Awaitable[T]],
        pause_for: Callable[[float, str], Awaitable[None]],
    ) -> None:
        """Read nothing yet. ``pause_for`` waits between two readings, and raises when there will be no other."""
        self._run, self._pause_for, self._call, self._until = run, pause_for, wait.call, wait.until
        self._seconds = wait.seconds
        self._ends_at: float | None = None  # by the event loop's clock, from the first reading on
        self._pause, self._longest = wait.pauses
        self._last: T | None = None
        self._error: CloudError | None = None

    async def answer(self, read: Callable[[], Awaitable[T]] | None = None) -> T:
        """Read until the answer is as wanted, and return it. ``read``: another way to ``self.read``.

        Raises:
            WaitError: it cannot become so, or did not in time.
            CloudError: waiting does not change why a reading failed.
        """
        read = self.read if read is None else read
        while not self.is_reached(answer := await read()):
            pass
        return answer

    async def read(self) -> T:
        """Return the next answer, after a pause unless it is the first. Readings that fail for a passing reason are repeated.

        Raises:
            WaitTimeoutError: the time of the whole wait is over.
            CloudError: waiting does not change why a reading failed.
        """
        loop = asyncio.get_running_loop()
        first = self._ends_at is None
        if self._ends_at is None:
            self._ends_at = loop.time() + self._seconds
        try:
            async with asyncio.timeout_at(self._ends_at) as deadline:
                while True:
                    if not first:
                        await self._pause_before_repeating()
                    first = False
                    try:
                        self._last, self._error = await self._run(self._call), None
                    except CloudError as failure:
                        if failure.kind not in WORTH_REPEATING:
                            raise
                        self._error = failure
                    else:
                        return self._last
        except TimeoutError:
            if not deadline.expired():
                raise
        raise WaitTimeoutError(self._timed_out(), self._last, self._error)

    async def _pause_before_repeating(self) -> None:
        asked = self._error.retry_after if self._error is not None else None
        await self._pause_for(max(self._pause, asked or 0.0), self._call.operation)
        self._pause = min(self._longest, self._pause * _GROWTH)

    def is_reached(self, record: T) -> bool:
        """Whether an answer is as wanted.

        Raises:
            WaitError: its status is final, and another one.
            TypeError: it has no status, or ``until`` is async.
        """
        until, operation = self._until, self._call.operation
        if not isinstance(until, str):
            return _decided(until(record))
        status = _status_of(record)
        known = (status or "").casefold()
        if known == until.casefold():
            return True
        if known in FINAL:
            name = getattr(record, "id", None) or "the record"
            raise WaitError(
                f"{operation}: the status of {name} is {status!r}, and waiting does not make it {until!r}: "
                f"ask the cloud's support to repair {name}, or destroy {name} and order another",
                record,
            )
        return False

    def _timed_out(self) -> str:
        operation, until, seconds, error = self._call.operation, self._until, self._seconds, self._error
        named = isinstance(until, str)
        wanted = f"the status {until!r}" if named else "what was waited for"
        seen = f"; the last status was {_status_of(self._last)!r}" if named and self._last is not None else ""
        failed = f"; the last reading failed: {error}" if error is not None else ""
        return f"{operation}: {seconds:g} s passed without {wanted}{seen}{failed}. To wait on, call wait_for again"


def _decided(answer: Any) -> bool:
    """What ``until`` returned; an awaitable would always count as true."""
    if not inspect.isawaitable(answer):
        return bool(answer)
    if inspect.iscoroutine(answer):
        answer.close()
    raise TypeError("until is async, and wait_for does not await it: give a function that returns True or False")


def _status_of(record: Any) -> str | None:
    if not hasattr(record, "status"):
        raise TypeError(f"a {type(record).__name__} has no status: give wait_for a function of the record instead")
    status: str | None = record.status
    return status
