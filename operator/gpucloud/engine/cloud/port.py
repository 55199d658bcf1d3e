"""The one port through which calls that change the cloud leave: ``CloudWrites``.

The port of a session is a chain of gates (``gates.py``) before the session's writer. A gate refuses a change at once, or adds a
precondition. All preconditions are asked again in the instant of sending: when the request budget lets the request through,
and when the connection stands. A change that a gate refuses fails with ``ErrorKind.WITHDRAWN``, and nothing was sent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from gpucloud.cloud.connection import Connection
from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.reader import CloudReader
from gpucloud.cloud.writer import CloudWriter

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx

    from gpucloud.cloud.calls import Call
    from gpucloud.cloud.options import ApiKey, ClientOptions, Login, OnCall
    from gpucloud.engine.runtime.workqueue import Key
    from gpucloud.kinds.meta import Reason

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Precondition:
    """What must be true of the newest views in the instant of sending. ``what`` says it in the log."""

    what: str
    holds: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Purpose:
    """For which object a call is sent, and why; for the log. ``reason`` is that of the object's Ready condition.

    ``done`` and ``failed`` are the reasons of the Events that record the outcome.
    """

    owner: Key
    done: Reason
    failed: Reason
    reason: str = ""
    generation: int | None = None
    traceparent: str = ""  # of the object's annotation


@dataclass(frozen=True, slots=True)
class Change(Generic[T]):
    """One changing call, whose, and under which preconditions."""

    call: Call[T]
    purpose: Purpose
    target: str  # name or id of the cloud resource that is changed
    preconditions: tuple[Precondition, ...]

    def requiring(self, *more: Precondition) -> Change[T]:
        """Return the change with further preconditions."""
        return replace(self, preconditions=(*self.preconditions, *more))

    def unmet(self) -> str | None:
        """Return the first precondition that is not met now; None if all are."""
        return next((one.what for one in self.preconditions if not one.holds()), None)


class CloudWrites(Protocol):
    """Sends changes to the cloud."""

    async def send(self, change: Change[T]) -> T:
        """Send one change and return the cloud's answer.

        Raises:
            CloudError: WITHDRAWN if it was refused here, and nothing was sent; or the call failed, or its outcome is unknown.
        """


class Door:
    """The innermost: sends a change if its preconditions are met in the instant of sending."""

    def __init__(self, writer: CloudWriter) -> None:
        self._writer = writer

    async def send(self, change: Change[T]) -> T:
        """Send the call; the writer asks for its preconditions when the request budget has let it through."""
        return await self._writer.run(change.call, lambda: change.unmet() is None)


class Closed:
    """The port of a session that only reads."""

    async def send(self, change: Change[Any]) -> Any:
        """Refuse the change."""
        raise withdrawn(f"this session only reads, so {change.call.operation} was not sent")


def withdrawn(why: str) -> CloudError:
    """Return the error of a change that was not sent."""
    return CloudError(ErrorKind.WITHDRAWN, why)


def connect(
    url: str, credential: ApiKey | Login, *, options: ClientOptions, transport: httpx.AsyncBaseTransport | None, on_call: OnCall
) -> tuple[CloudReader, Door]:
    """Return what reads from the cloud, and what sends changes there, over one connection that the reader closes."""
    connection = Connection(url, credential, options=options, transport=transport, on_call=on_call)
    return CloudReader(connection), Door(CloudWriter(connection))
