"""Leader election: reads and writes one Lease as ``reconcile/lease.py`` decides; calls back on lead and on loss.

It has its own connection to the apiserver: a renewal must not wait behind other calls, nor for their Retry-After.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import structlog

import gpucloud
from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.runtime.supervisor import Supervisor
from gpucloud.kinds.meta import PART_OF, VERSION_MARK
from gpucloud.reconcile.lease import ElectionState, LeaseDurations, LeaseRecord, Step, decide

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.engine.runtime.entropy import Entropy
    from gpucloud.settings import Settings

log = structlog.get_logger("gpucloud.lease")

JITTER = 0.2  # of the retry period, so that candidates do not read the Lease at the same moment
SHORTEST_SECONDS = 0.001  # a timer may fire slightly too early, and must not be set again for the same moment
RELEASE_SECONDS = 3.0  # for the last call, after which the process ends
TRIES_BEFORE_DEADLINE = 2  # a call that hangs leaves time for another


@dataclass(frozen=True, slots=True)
class LeaseIdentity:
    """The Lease, and this process's holder identity."""

    namespace: str
    name: str
    me: str


class Leases(Protocol):
    """The three calls; ``KubeClient`` has them."""

    async def lease(self, namespace: str, name: str) -> dict[str, Any] | None:
        """Return the Lease; None if it does not exist."""

    async def create_lease(self, lease: Mapping[str, Any]) -> dict[str, Any]:
        """Create the Lease; a conflict if it exists."""

    async def replace_lease(self, lease: Mapping[str, Any]) -> dict[str, Any]:
        """Replace the Lease; a conflict if it has changed since it was read."""

    async def aclose(self) -> None:
        """Close the connection."""


class NoElection:
    """No election: this process always leads."""

    def __init__(self, on_lead: Callable[[], None]) -> None:
        """``on_lead`` is called once, when this process becomes the leader."""
        self._on_lead = on_lead

    def start(self) -> None:
        """Lead at once."""
        self._on_lead()

    def is_leader(self) -> bool:
        """Whether this process holds the Lease now: always."""
        return True

    async def stop(self) -> None:
        """Do nothing: there is no Lease."""


class LeaderElector(NoElection):
    """One candidate. Call ``is_leader`` right before each write and each changing call."""

    def __init__(  # noqa: PLR0913 - wiring
        self,
        leases: Leases,
        clock: Clock,
        where: LeaseIdentity,
        lasts: LeaseDurations,
        entropy: Entropy,
        tasks: Supervisor | None = None,
        *,
        on_lead: Callable[[], None],
        on_loss: Callable[[], None],
    ) -> None:
        """``on_loss`` is called when the Lease is lost, for good."""
        super().__init__(on_lead)
        self._on_loss = on_loss
        self._tasks = tasks or Supervisor()
        self._entropy = entropy
        self._leases = leases
        self._clock = clock
        self._where = where
        self._lasts = lasts
        self._state = ElectionState(where.me, lasts)
        self._body: dict[str, Any] | None = None  # the Lease as last read
        self._last_logged: tuple[str, ...] = ()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Become a candidate."""
        self._task = self._tasks.spawn("election", self._run, essential=True, may_end=True)

    async def stop(self) -> None:
        """Stop renewing, and release the Lease, so that the next leader need not wait until it expires."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._release()
        await self._leases.aclose()

    def is_leader(self) -> bool:
        """Whether this process holds the Lease now, so that it may act."""
        return self._state.is_leader(self._clock.mono())

    async def _run(self) -> None:
        """Acquire and renew the Lease until cancelled. Return when the Lease is lost; this process does not compete again."""
        failure = None
        try:
            while (verdict := decide(self._state, self._clock.mono())).step is not Step.GIVE_UP:
                if verdict.step is Step.WAIT:
                    await self._wait(verdict.until)
                else:
                    await self._acquire_or_renew()
        except Exception as error:  # noqa: BLE001 - without an election this process may not act
            failure = error
        holder = self._state.record.holder if self._state.record is not None else ""
        self._state = ElectionState(self._where.me, self._lasts)
        self._on_loss()
        if failure is not None:
            log.error("leader election failed: this process ends", exc_info=failure, **self._names())
            return
        why = "it could not be renewed in time" if holder == self._where.me else f"it is held by {holder or 'nobody'!r}"
        log.error("the Lease is lost: nothing more is sent, and this process ends", why=why, **self._names())

    async def _release(self) -> None:
        """Release the Lease if this process holds it. From here on this process does not lead, whatever the answer is."""
        if not self.is_leader():
            return
        document = self._document("")
        self._state = ElectionState(self._where.me, self._lasts)
        try:
            async with asyncio.timeout(RELEASE_SECONDS):
                await self._write_release(document)
        except (KubeError, TimeoutError) as error:
            said = str(error) or "no answer in time"
            log.warning("the Lease was not released: the next one waits until it lapses", error=said, **self._names())
            return
        log.info("released the Lease", **self._names())

    async def _write_release(self, document: Mapping[str, Any]) -> None:
        """Write the Lease without a holder. A cancelled renewal may have been saved: then retry with its resourceVersion."""
        try:
            await self._leases.replace_lease(document)
        except KubeError as error:
            now = await self._leases.lease(self._where.namespace, self._where.name) if error.conflict else None
            if now is None or record_of(now).holder != self._where.me:
                raise
            await self._leases.replace_lease({**document, "metadata": now["metadata"]})

    async def _wait(self, until: float) -> None:
        """Wait until that time. A candidate reads the Lease each retry period, so that it can take over soon."""
        pause = self._lasts.retry_period * (1.0 if self._leading else 1.0 + JITTER * self._entropy.jitter())
        await asyncio.sleep(max(SHORTEST_SECONDS, min(until - self._clock.mono(), pause)))
        if not self._leading and not await self._read():
            await asyncio.sleep(pause)

    async def _read(self) -> bool:
        try:
            async with asyncio.timeout(self._call_timeout()):
                self._body = await self._leases.lease(self._where.namespace, self._where.name)
        except (KubeError, TimeoutError) as error:
            self._log_failure("the Lease could not be read", error)
            return False
        record = None if self._body is None else record_of(self._body)
        self._state = self._state.saw(record, self._clock.mono())
        if record is not None and record.holder != self._where.me:
            self._log_once("standing by", record.holder)
        return True

    async def _acquire_or_renew(self) -> None:
        """Acquire or renew. After a conflict read the Lease again; after another error retry later."""
        began, led = self._clock.mono(), self._leading
        document = self._document(self._where.me)
        try:
            async with asyncio.timeout(self._call_timeout()):
                write = self._leases.create_lease if self._body is None else self._leases.replace_lease
                self._body = await write(document)
        except (KubeError, TimeoutError) as error:
            if not self._overtaken(error) or not await self._read():
                self._log_failure("the Lease could not be written", error)
                await asyncio.sleep(min(self._lasts.retry_period, self._call_timeout()))
            return
        self._state = self._state.wrote(record_of(self._body), began)
        self._last_logged = ()
        if not led and self.is_leader():
            log.info("leading", **self._names())
            self._on_lead()

    def _overtaken(self, error: Exception) -> bool:
        """Whether another process has changed, deleted or created the Lease meanwhile."""
        return isinstance(error, KubeError) and (error.conflict or (error.gone and self._body is not None))

    @property
    def _leading(self) -> bool:
        """Whether this process has become the leader."""
        return self._state.renewed is not None

    def _call_timeout(self) -> float:
        """Return the timeout of a call: it ends before the renew deadline, and leaves time for a second call."""
        timeout = self._lasts.renew_deadline / TRIES_BEFORE_DEADLINE
        if self._state.renewed is None:
            return timeout
        return max(0.0, min(timeout, self._state.renewed + self._lasts.renew_deadline - self._clock.mono()))

    def _document(self, holder: str) -> dict[str, Any]:
        """Return the Lease to write, with the metadata that others have set."""
        now = f"{self._clock.instant():%Y-%m-%dT%H:%M:%S.%fZ}"
        known = self._state.record or LeaseRecord()
        renewal = known.holder == holder
        spec = {
            "holderIdentity": holder,
            "leaseDurationSeconds": math.ceil(self._lasts.lease) if holder else 1,
            "acquireTime": (known.acquired_at or now) if renewal else now,
            "renewTime": now,
            "leaseTransitions": known.transitions + (holder not in {"", known.holder}),
        }
        new = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"namespace": self._where.namespace, "name": self._where.name},
        }
        return {**_labelled(self._body or new), "spec": spec}

    def _log_once(self, what: str, holder: str) -> None:
        """Log a message unless it repeats the last one."""
        if self._last_logged != (what, holder):
            self._last_logged = (what, holder)
            log.info(what, holder=holder or "nobody", **self._names())

    def _log_failure(self, what: str, error: Exception) -> None:
        said = str(error) or "no answer in time"
        if self._last_logged != (what, said):
            self._last_logged = (what, said)
            hint = "may the operator get, create and update it?" if getattr(error, "status", 0) == 403 else ""
            log.warning(what, error=said, hint=hint, **self._names())

    def _names(self) -> dict[str, str]:
        return {"lease": f"{self._where.namespace}/{self._where.name}", "identity": self._where.me}


def _labelled(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Lease with the label by which `kubectl gpucloud doctor` finds it, and our version; what others note is kept.

    The version is no label, whose value could not be any: the apiserver would refuse the Lease.
    """
    meta = body["metadata"]
    label, value = PART_OF
    labels = {label: value, **(meta.get("labels") or {})}
    annotations = {**(meta.get("annotations") or {}), VERSION_MARK: gpucloud.__version__}
    return {**body, "metadata": {**meta, "labels": labels, "annotations": annotations}}


def leader_elector(  # noqa: PLR0913, PLR0917 - wiring
    settings: Settings,
    leases: Leases,
    clock: Clock,
    entropy: Entropy,
    tasks: Supervisor,
    on_lead: Callable[[], None],
    on_loss: Callable[[], None],
) -> NoElection:
    """Return the elector that the settings ask for."""
    if not settings.leader_elect:
        return NoElection(on_lead)
    where = LeaseIdentity(settings.lease_namespace, settings.lease_name, entropy.instance)
    lasts = settings.lease_duration_seconds, settings.lease_renew_deadline_seconds, settings.lease_retry_period_seconds
    return LeaderElector(leases, clock, where, LeaseDurations(*lasts), entropy, tasks, on_lead=on_lead, on_loss=on_loss)


def record_of(body: Mapping[str, Any]) -> LeaseRecord:
    """Parse a Lease. Every field may be missing, since anybody with the right may edit it."""
    spec = body.get("spec") or {}
    return LeaseRecord(
        holder=str(spec.get("holderIdentity") or ""),
        duration=float(spec.get("leaseDurationSeconds") or 0),
        renewed_at=str(spec.get("renewTime") or ""),
        acquired_at=str(spec.get("acquireTime") or ""),
        transitions=int(spec.get("leaseTransitions") or 0),
    )
