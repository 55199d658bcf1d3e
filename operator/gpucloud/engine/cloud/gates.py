"""The gates before the cloud client: decorators of ``CloudWrites``. Each checks or records one thing, and calls the next.

Preconditions, Lease and deletion guard refuse; metrics and audit line only note. The request budget stands behind them, at the
transport, since it counts every request: logins, listings and repetitions, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import structlog

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.engine.cloud.port import Precondition, withdrawn
from gpucloud.engine.telemetry.tracing import Edit
from gpucloud.reconcile.facts import DESTROYS

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.engine.cloud.port import Change, CloudWrites
    from gpucloud.engine.runtime.workqueue import Key
    from gpucloud.engine.telemetry.tracing import Tracer

T = TypeVar("T")
log = structlog.get_logger("gpucloud.audit")

ACCEPTED = "Accepted"  # outcome of a change in the metric; else the kind of the error


class Guard(Protocol):
    """The deletion guard, by UID of the object whose resource is destroyed; ``engine/kinds/deletion_guard.py``."""

    def hold(self, uid: str) -> object | None:
        """Return why the resource must not be destroyed now; None if it may be."""

    def admit(self, uid: str) -> bool:
        """Count the destroying call before it is sent; return whether it is the object's first."""

    def roll_back(self, uid: str) -> None:
        """Undo ``admit``: the call was not sent."""


class ChangeMeter(Protocol):
    """The metrics of changes."""

    def change(self, operation: str, outcome: str) -> None:
        """Count one change."""


@dataclass(frozen=True, slots=True)
class GateDeps:
    """Dependencies of the gates."""

    is_leader: Callable[[], bool]
    guard: Guard
    meter: ChangeMeter
    tracer: Tracer | None = None


class MetricsGate:
    """Counts changes by operation and outcome."""

    def __init__(self, inner: CloudWrites, meter: ChangeMeter) -> None:
        self._inner, self._meter = inner, meter

    async def send(self, change: Change[T]) -> T:
        """Pass the change on, and count its outcome."""
        try:
            answer = await self._inner.send(change)
        except CloudError as error:
            self._meter.change(change.call.operation, error.kind)
            raise
        self._meter.change(change.call.operation, ACCEPTED)
        return answer


class PreconditionGate:
    """Refuses a change without a precondition, and one whose preconditions are not met any more."""

    def __init__(self, inner: CloudWrites) -> None:
        self._inner = inner

    async def send(self, change: Change[T]) -> T:
        """Pass the change on if all of its preconditions are met.

        Raises:
            TypeError: the change has no precondition.
        """
        if not change.preconditions:
            raise TypeError(
                f"{change.call.operation} has no precondition, so nothing would stop it when it is not wanted any more"
            )
        unmet = change.unmet()
        if unmet is not None:
            raise withdrawn(f"not met: {unmet}")
        return await self._inner.send(change)


class LeaseGate:
    """Refuses every change of a process that does not hold the Lease."""

    def __init__(self, inner: CloudWrites, is_leader: Callable[[], bool]) -> None:
        self._inner = inner
        self._lease = Precondition("this process holds the Lease", is_leader)

    async def send(self, change: Change[T]) -> T:
        """Pass the change on while this process holds the Lease."""
        if not self._lease.holds():
            raise withdrawn(f"not met: {self._lease.what}")
        return await self._inner.send(change.requiring(self._lease))


class DeletionGuardGate:
    """Refuses to destroy what the deletion guard holds. Checked and counted without an await in between."""

    def __init__(self, inner: CloudWrites, guard: Guard) -> None:
        self._inner, self._guard = inner, guard

    async def send(self, change: Change[T]) -> T:
        """Pass the change on; a destroying one if the guard admits it."""
        if change.call.operation not in DESTROYS:
            return await self._inner.send(change)
        uid = change.purpose.owner.uid
        if self._guard.hold(uid) is not None:
            raise withdrawn("the deletion guard holds it")
        first = self._guard.admit(uid)
        try:
            return await self._inner.send(change)
        except CloudError as error:
            if first and error.kind is ErrorKind.WITHDRAWN:
                self._guard.roll_back(uid)
            raise


class TracingGate:
    """Records a span of each change that is sent."""

    def __init__(self, inner: CloudWrites, tracer: Tracer) -> None:
        self._inner, self._tracer = inner, tracer

    async def send(self, change: Change[T]) -> T:
        """Pass the change on within its span."""
        owner, purpose = change.purpose.owner, change.purpose
        edit = Edit(owner.kind, owner.namespace, owner.name, owner.uid, purpose.generation or 0, purpose.traceparent)
        with self._tracer.call(edit, change.call.operation, change.target):
            return await self._inner.send(change)


class AuditGate:
    """Writes one line before a change is sent and one line with its outcome."""

    def __init__(self, inner: CloudWrites, host: str) -> None:
        self._inner, self._host = inner, host

    async def send(self, change: Change[T]) -> T:
        """Pass the change on between its two lines. After a crash the first is all that tells what was on its way, and why."""
        purpose = change.purpose
        said = {
            "verb": change.call.operation,
            "target": change.target,
            "generation": purpose.generation,
            **named(purpose.owner),
        }
        log.info("calling", reason=purpose.reason, **said)
        try:
            answer = await self._inner.send(change)
        except CloudError as error:
            log.warning("call", outcome=_outcome(change, error.kind), error=error.message, host=self._host, **said)
            raise
        log.info("call", outcome=purpose.done, **said)
        return answer


def _outcome(change: Change[Any], kind: ErrorKind) -> str:
    """Return what the audit line says of a change that failed. What is gone already need not be destroyed."""
    if kind is ErrorKind.WITHDRAWN:
        return kind
    gone = kind is ErrorKind.NOT_FOUND and change.call.operation in DESTROYS
    return change.purpose.done if gone else change.purpose.failed


def named(owner: Key) -> dict[str, str]:
    """Return the fields of a log line that say for which object a call is sent."""
    return {"kind": owner.kind, "namespace": owner.namespace, "name": owner.name, "uid": owner.uid}


def gated(door: CloudWrites, deps: GateDeps, host: str) -> CloudWrites:
    """Return the port: all gates before this door, in the order in which a change passes them, last first.

    ``host`` is the cloud's, for the log.
    """
    port: CloudWrites = door if deps.tracer is None else TracingGate(door, deps.tracer)
    port = AuditGate(port, host)
    port = DeletionGuardGate(port, deps.guard)
    port = LeaseGate(port, deps.is_leader)
    port = PreconditionGate(port)
    return MetricsGate(port, deps.meter)
