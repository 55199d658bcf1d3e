"""Kubernetes Events (events.k8s.io/v1): each change of Ready and of Paused, and each call with its outcome, in order.

An Event's name ends in the time at which it happened, so that Events sort by it wherever the apiserver lists them. A repeat
of an object's latest Event updates that Event (``series``); so the last line of ``kubectl describe`` is the latest thing that
happened. Events are for people and may be lost; nothing depends on them.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import structlog

from gpucloud.engine.kube.client import KubeError
from gpucloud.kinds.meta import API_VERSION, FIELD_MANAGER, GROUP, ConditionType, Reason
from gpucloud.reconcile.conditions import find

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from gpucloud.engine.kube.client import KubeClient
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.kinds.model import Condition
    from gpucloud.reconcile.facts import ObjectFacts

T = TypeVar("T")
log = structlog.get_logger("gpucloud.events")

REPEAT_AFTER_SECONDS = 600.0  # a repeat that comes later is a new Event
RETRY_AFTER_SECONDS = (0.5, 2.0, 5.0, 15.0, 30.0, 60.0)  # between attempts to post one Event; an outage fails the others, too
YIELD_SECONDS = 15.0  # an Event waits this long at most while the apiserver is needed for objects
YIELD_STEP_SECONDS = 0.05
LONGEST_NOTE = 1024  # the API's own limit, in bytes
BACKLOG = 10_000
YIELD_BACKLOG = BACKLOG // 2  # with more, none waits
NO_NAMESPACE = "default"  # where the API wants the events of what lives in no namespace
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CAUSES: Mapping[str, str] = {  # of a call, by the reason under which it was announced
    Reason.CREATING: "the cloud lists none for this object",
    Reason.STARTING: "spec.powerState is Running",
    Reason.STOPPING: "spec.powerState is Stopped",
    Reason.RESTARTING: "a restart was requested",
    Reason.DRIFTED: "it was switched outside Kubernetes, against spec.powerState",
    Reason.DELETING: "this object is being deleted",
    Reason.RECREATING: "the VM has failed, and spec.onLoss is Recreate",
}


@dataclass(frozen=True, slots=True)
class Event:
    """An Event to record about an object."""

    reason: str
    note: str
    action: str
    warning: bool = False
    always: bool = False  # never a repeat: each successful call is an Event of its own


@dataclass(frozen=True, slots=True)
class _Latest:
    """The latest Event of an object, and how often it was repeated."""

    event: Event
    document: dict[str, Any]
    at: float
    count: int = 1

    def is_repeated_by(self, event: Event, now: float) -> bool:
        """Whether this Event repeats the latest one, so that only the count changes."""
        return self.event == event and not event.always and now - self.at < REPEAT_AFTER_SECONDS


@dataclass(slots=True)
class _Recorded:
    """The Events of one object."""

    latest: _Latest | None = None
    deferred: tuple[str, ObjectFacts, Event] | None = None  # recorded unless the next Event repeats its note


class Parts(Protocol):
    """State by UID of object; ``cache/entries.py``."""

    def part(self, uid: str, kind: type[T]) -> T:
        """Return the object's part of this type."""

    def find(self, uid: str, kind: type[T]) -> T | None:
        """Return the object's part of this type, if it has one."""

    def all(self, kind: type[T]) -> Iterator[tuple[str, T]]:
        """Iterate over UIDs and parts."""


@dataclass(frozen=True, slots=True)
class _Post:
    """One Event in the backlog since this mono time, and the callback if it cannot be posted."""

    document: dict[str, Any]
    at: float
    lost: Callable[[], None] | None = None

    def fail(self) -> None:
        """Call the callback: the Event could not be posted."""
        if self.lost is not None:
            self.lost()


def status_changes(before: Iterable[Condition], after: Iterable[Condition], *, announces: bool = False) -> tuple[Event, ...]:
    """Return the Events of a status write, in order: Paused was added, changed or removed; Ready changed its status or reason.

    If the write announces a call, the Event of that call replaces the one of Ready, unless that is a warning or the object has
    become Ready.
    """
    pause, now = tuple(_pause_changes(before, after)), find(after, ConditionType.READY)
    covered_by_call = announces and (now is None or now.status != "True")
    ready = tuple(one for one in _ready_changes(before, after) if one.warning or not covered_by_call)
    reasons = {one.reason for one in pause}
    return (*pause, *(one for one in ready if one.reason not in reasons))  # Ready may have the reason Paused, too


def _pause_changes(before: Iterable[Condition], after: Iterable[Condition]) -> Iterator[Event]:
    held, holds = find(before, ConditionType.PAUSED), find(after, ConditionType.PAUSED)
    if holds is not None and (held is None or held.message != holds.message):
        yield Event(Reason.PAUSED, holds.message, "Pause")
    if held is not None and holds is None:
        yield Event(Reason.RESUMED, "The pause has ended.", "Resume")


def _ready_changes(before: Iterable[Condition], after: Iterable[Condition]) -> Iterator[Event]:
    was, now = find(before, ConditionType.READY), find(after, ConditionType.READY)
    if now is not None and (was is None or (was.status, was.reason) != (now.status, now.reason)):
        corrected = was is not None and was.reason == Reason.DRIFTED and now.status == "True"
        note = f"Drift corrected: {now.message}" if corrected else now.message
        yield Event(now.reason, note, "Reconcile", warning=_warns(now, after))


def with_cause(event: Event, announced: Condition | None) -> Event:
    """Return the Event of an accepted call with the cause of the call added."""
    cause = CAUSES.get(announced.reason) if announced is not None else None
    if cause is None or event.warning:
        return event
    return replace(event, note=f"{event.note.rstrip('.')}: {cause}.")


def _warns(ready: Condition, conditions: Iterable[Condition]) -> bool:
    """Whether the Event is a warning: the object is Stalled, cannot be observed, or was changed outside Kubernetes."""
    if find(conditions, ConditionType.STALLED) is not None or ready.reason == Reason.DRIFTED:
        return True
    return ready.status == "Unknown" and ready.reason not in {Reason.PENDING, Reason.PAUSED, Reason.OBSERVE_ONLY}


class EventRecorder:
    """Posts Events one after the other from a bounded backlog; an Event that does not fit is dropped and logged.

    Each Event costs the apiserver as much as a status write, so with many objects at once Events wait until these are served.
    """

    def __init__(
        self, kube: KubeClient, clock: Clock, entries: Parts, instance: str = "", busy: Callable[[], bool] = lambda: False
    ) -> None:
        """``entries`` hold the latest Event of each object; ``instance`` names this process.

        ``busy``: whether objects wait for a reconcile or for the apiserver.
        """
        self._kube = kube
        self._clock = clock
        self._entries = entries
        self._busy, self._draining = busy, False
        self._named = 0  # nanoseconds in the name of the latest Event
        self._backlog: asyncio.Queue[_Post] = asyncio.Queue(BACKLOG)
        self._instance = f"{FIELD_MANAGER}-{instance}".rstrip("-")[:128]

    def record(self, kind: str, meta: ObjectFacts, event: Event, lost: Callable[[], None] | None = None) -> None:
        """Record this Event; if it equals the object's latest Event of the last ten minutes, as a repeat of that one.

        A deferred Event whose note this one begins with is dropped. ``lost`` is called if this Event could not be posted.
        """
        recorded = self._entries.part(meta.uid, _Recorded)
        held, recorded.deferred = recorded.deferred, None
        if held is not None and not event.note.startswith(held[2].note):
            self._enqueue(*held)
        self._enqueue(kind, meta, event, lost)

    def record_unless_repeated(self, kind: str, meta: ObjectFacts, event: Event) -> None:
        """Defer this Event until the object's next Event or ``flush``; drop it if the next Event repeats its note."""
        self.flush(meta.uid)
        self._entries.part(meta.uid, _Recorded).deferred = (kind, meta, event)

    def flush(self, uid: str) -> None:
        """Record the deferred Event of this object now."""
        recorded = self._entries.find(uid, _Recorded)
        if recorded is not None and recorded.deferred is not None:
            held, recorded.deferred = recorded.deferred, None
            self._enqueue(*held)

    def _enqueue(self, kind: str, meta: ObjectFacts, event: Event, lost: Callable[[], None] | None = None) -> None:
        now, recorded = self._clock.mono(), self._entries.part(meta.uid, _Recorded)
        latest = recorded.latest
        if latest is not None and latest.is_repeated_by(event, now):
            series = {"count": latest.count + 1, "lastObservedTime": _micro_time(self._clock.instant())}
            latest_now = _Latest(event, {**latest.document, "series": series}, now, latest.count + 1)
        else:
            regarding = {
                "apiVersion": API_VERSION,
                "kind": kind,
                "namespace": meta.namespace,
                "name": meta.name,
                "uid": meta.uid,
            }
            latest_now = _Latest(event, self._document(meta.namespace, regarding, event), now)
        recorded.latest = latest_now
        self._post(_Post(latest_now.document, now, lost))

    def record_for_kind(self, plural: str, event: Event, lost: Callable[[], None] | None = None) -> None:
        """Record an Event about a kind: it regards the CustomResourceDefinition, in the namespace ``default``."""
        regarding = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "name": f"{plural}.{GROUP}"}
        self._post(_Post(self._document(NO_NAMESPACE, regarding, event), self._clock.mono(), lost))

    async def run(self) -> None:
        """Post until cancelled."""
        while True:
            post = await self._backlog.get()
            try:
                await self._yield(post.at)
                if not await self._persist(post.document):
                    post.fail()
            finally:
                self._backlog.task_done()

    async def _yield(self, recorded_at: float) -> None:
        """Let the objects go first."""
        while self._busy() and not self._draining and self._backlog.qsize() < YIELD_BACKLOG:
            if self._clock.mono() - recorded_at >= YIELD_SECONDS:
                return
            await asyncio.sleep(YIELD_STEP_SECONDS)

    async def _persist(self, document: dict[str, Any]) -> bool:
        """Post one Event, with retries while the apiserver fails; return whether it was posted.

        A 401 is retried, too: an apiserver that has just restarted may not know any token yet.
        """
        for pause in (*RETRY_AFTER_SECONDS, None):
            try:
                await self._send(document)
            except KubeError as error:
                if pause is not None and (error.status in {0, 401, 429} or error.status >= 500):
                    await asyncio.sleep(pause)
                    continue
                name, namespace = document["metadata"]["name"], document["metadata"]["namespace"]
                log.info("event not recorded", namespace=namespace, name=name, reason=document["reason"], error=str(error))
                return False
            return True
        return False

    async def drain(self) -> None:
        """Wait until all recorded Events are posted, at once from now on."""
        self._draining = True
        for uid, _ in self._entries.all(_Recorded):
            self.flush(uid)
        await self._backlog.join()

    async def _send(self, document: dict[str, Any]) -> None:
        """Create the Event; for a repeat update the existing Event, or create it if it has expired."""
        series = document.get("series")
        if series is not None:
            try:
                await self._kube.repeat_event(document, series)
            except KubeError as error:
                if not error.gone:  # it has expired, or was never recorded
                    raise
            else:
                return
        await self._kube.record_event(document["metadata"]["namespace"], document)

    def _post(self, post: _Post) -> None:
        try:
            self._backlog.put_nowait(post)
        except asyncio.QueueFull:
            document = post.document
            namespace, name = document["metadata"]["namespace"], document["regarding"]["name"]
            log.warning("event dropped: the backlog is full", namespace=namespace, name=name, reason=document["reason"])
            post.fail()

    def _document(self, namespace: str, regarding: dict[str, str], event: Event) -> dict[str, Any]:
        moment = self._clock.instant()
        # Strictly increasing, also within one microsecond and after the clock was set back, so that later Events sort later.
        self._named = max(self._named + 1, (moment - EPOCH) // timedelta(microseconds=1) * 1000)
        return {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": f"{regarding['name'][:200].rstrip('-.')}.{self._named:016x}", "namespace": namespace},
            "eventTime": _micro_time(moment),
            "reportingController": f"{GROUP}/operator",
            "reportingInstance": self._instance,
            "action": event.action,
            "reason": event.reason,
            "note": _cut(event.note),
            "type": "Warning" if event.warning else "Normal",
            "regarding": regarding,
        }


def _micro_time(moment: datetime) -> str:
    """Format a time as metav1.MicroTime."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _cut(note: str) -> str:
    """Cut a note to the API's limit in bytes, at a whole character."""
    return note.encode(errors="replace")[:LONGEST_NOTE].decode(errors="ignore")
