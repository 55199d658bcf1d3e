"""Recorder of Events: names them in the order in which they happened, and counts repeats.

An Event's name ends in the time at which it happened, so that Events sort by it wherever the apiserver lists them. A repeat
of an object's latest Event updates that Event (``series``); so the last line of ``kubectl describe`` is the latest thing that
happened.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Protocol, TypeVar

from gpucloud.engine.kube.event_poster import EventPoster, RecordedEvent, Regarding
from gpucloud.kinds.meta import API_VERSION, GROUP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gpucloud.engine.kube.client import KubeClient
    from gpucloud.engine.kube.events import Event
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.reconcile.facts import ObjectFacts

T = TypeVar("T")

REPEAT_AFTER_SECONDS = 600.0  # a repeat that comes later is a new Event
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class _Recorded:
    """The Events of one object."""

    latest: RecordedEvent | None = None
    deferred: tuple[str, ObjectFacts, Event] | None = None  # recorded unless the next Event repeats its note


class Parts(Protocol):
    """State by UID of object; ``cache/entries.py``."""

    def part(self, uid: str, kind: type[T]) -> T:
        """Return the object's part of this type."""

    def find(self, uid: str, kind: type[T]) -> T | None:
        """Return the object's part of this type, if it has one."""

    def all(self, kind: type[T]) -> Iterator[tuple[str, T]]:
        """Iterate over UIDs and parts."""


class EventRecorder:
    """Records Events: decides which are repeats, and hands them to their poster."""

    def __init__(
        self, kube: KubeClient, clock: Clock, entries: Parts, instance: str = "", busy: Callable[[], bool] = lambda: False
    ) -> None:
        """``entries`` hold the latest Event of each object; ``instance`` names this process.

        ``busy``: whether objects wait for a reconcile or for the apiserver.
        """
        self._clock = clock
        self._entries = entries
        self._number = 0  # of the latest Event, in nanoseconds
        self.poster = EventPoster(kube, clock, instance, busy)

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

    def record_for_kind(self, plural: str, event: Event, lost: Callable[[], None] | None = None) -> None:
        """Record an Event about a kind: it regards the CustomResourceDefinition, in the namespace ``default``."""
        regarding = Regarding("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"{plural}.{GROUP}")
        self.poster.add(self._recorded(regarding, event, lost))

    async def run(self) -> None:
        """Post until cancelled."""
        await self.poster.run()

    async def drain(self) -> None:
        """Wait until all recorded Events are posted, at once from now on."""
        for uid, _ in self._entries.all(_Recorded):
            self.flush(uid)
        await self.poster.drain()

    def _enqueue(self, kind: str, meta: ObjectFacts, event: Event, lost: Callable[[], None] | None = None) -> None:
        recorded, now = self._entries.part(meta.uid, _Recorded), self._clock.mono()
        latest = recorded.latest
        if latest is not None and latest.event == event and not event.always and now - latest.at < REPEAT_AFTER_SECONDS:
            recorded.latest = latest.repeat(self._clock.instant(), now, lost)
        else:
            regarding = Regarding(API_VERSION, kind, meta.name, meta.namespace, meta.uid)
            recorded.latest = self._recorded(regarding, event, lost)
        self.poster.add(recorded.latest)

    def _recorded(self, regarding: Regarding, event: Event, lost: Callable[[], None] | None) -> RecordedEvent:
        moment = self._clock.instant()
        # Strictly increasing, also within one microsecond and after the clock was set back, so that later Events sort later.
        self._number = max(self._number + 1, (moment - EPOCH) // timedelta(microseconds=1) * 1000)
        return RecordedEvent(regarding, event, self._number, moment, self._clock.mono(), lost=lost)
