"""Poster of Events: several at once while no object waits, those of one object in order, from a backlog of bounded memory.

Each Event costs the apiserver as much as a status write, so with many objects at once Events wait until these are served.
What is kept of an Event that waits, or that may be repeated, is a fifth of the document that is posted.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import structlog

from gpucloud.engine.kube.errors import KubeError
from gpucloud.kinds.meta import FIELD_MANAGER, GROUP

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.engine.kube.client import KubeClient
    from gpucloud.engine.kube.events import Event
    from gpucloud.engine.runtime.clock import Clock

log = structlog.get_logger("gpucloud.events")

RETRY_AFTER_SECONDS = (0.5, 2.0, 5.0, 15.0, 30.0, 60.0)  # between attempts to post one Event; an outage fails the others, too
YIELD_SECONDS = 15.0  # an Event waits this long at most while the apiserver is needed for objects
YIELD_STEP_SECONDS = 0.05
AT_ONCE = 4  # Events under way while no object waits; fewer than the client's requests, of which an edit needs some
LONGEST_NOTE = 1024  # the API's own limit, in bytes
BACKLOG_BYTES = 32 * 1024 * 1024  # the 40,000 Events of 10,000 VMs that are created and deleted at once, and half as many
YIELD_BYTES = BACKLOG_BYTES // 2  # with more, none waits
ENTRY_BYTES = 500  # of an Event without its note
NO_NAMESPACE = "default"  # where the API wants the events of what lives in no namespace


class Regarding(NamedTuple):
    """The object of an Event. ``namespace`` and ``uid`` are empty for a kind."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""
    uid: str = ""

    def document(self) -> dict[str, str]:
        """As in an Event."""
        place = {"namespace": self.namespace, "uid": self.uid} if self.uid else {}
        return {"apiVersion": self.api_version, "kind": self.kind, "name": self.name, **place}


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """An Event since this mono time. ``number`` ends its name: nanoseconds, strictly increasing in one process."""

    regarding: Regarding
    event: Event
    number: int
    moment: datetime
    at: float
    count: int = 1
    repeated: datetime | None = None  # the last time, if it is repeated
    lost: Callable[[], None] | None = None  # called if it cannot be posted

    def repeat(self, moment: datetime, at: float, lost: Callable[[], None] | None) -> RecordedEvent:
        """Return the repeat of this Event."""
        return replace(self, at=at, count=self.count + 1, repeated=moment, lost=lost)

    def fail(self) -> None:
        """Call the callback: the Event could not be posted."""
        if self.lost is not None:
            self.lost()

    @property
    def size(self) -> int:
        """Bytes of memory, roughly."""
        return ENTRY_BYTES + len(self.event.note)

    @property
    def namespace(self) -> str:
        """Where the Event is."""
        return self.regarding.namespace or NO_NAMESPACE

    @property
    def name(self) -> str:
        """The Event's name."""
        return f"{self.regarding.name[:200].rstrip('-.')}.{self.number:016x}"

    @property
    def series(self) -> dict[str, Any] | None:
        """How often and when it was repeated; None if it was not."""
        return None if self.repeated is None else {"count": self.count, "lastObservedTime": _micro_time(self.repeated)}

    def document(self, instance: str) -> dict[str, Any]:
        """As it is posted; ``instance`` names this process."""
        event, series = self.event, self.series
        return {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": self.name, "namespace": self.namespace},
            "eventTime": _micro_time(self.moment),
            "reportingController": f"{GROUP}/operator",
            "reportingInstance": f"{FIELD_MANAGER}-{instance}".rstrip("-")[:128],
            "action": event.action,
            "reason": event.reason,
            "note": _cut(event.note),
            "type": "Warning" if event.warning else "Normal",
            "regarding": self.regarding.document(),
            **({} if series is None else {"series": series}),
        }


class EventPoster:
    """Posts recorded Events; one that finds the backlog full is dropped and logged."""

    def __init__(self, kube: KubeClient, clock: Clock, instance: str, busy: Callable[[], bool]) -> None:
        """``busy``: whether objects wait for a reconcile or for the apiserver."""
        self._kube, self._clock, self._instance = kube, clock, instance
        self._busy, self._draining = busy, False
        self._backlog: asyncio.Queue[RecordedEvent] = asyncio.Queue()
        self._bytes = 0  # of all Events that are not posted yet
        self._under_way: dict[Regarding, deque[RecordedEvent]] = {}  # the first one of each is being posted
        self._ended = asyncio.Event()  # nothing is under way any more for one of these

    def __len__(self) -> int:
        return self._backlog.qsize()

    def add(self, recorded: RecordedEvent) -> None:
        """Post this Event when its turn comes."""
        if self._bytes + recorded.size > BACKLOG_BYTES:
            about = {"namespace": recorded.namespace, "name": recorded.regarding.name, "reason": recorded.event.reason}
            log.warning("event dropped: the backlog is full", **about)
            recorded.fail()
            return
        self._bytes += recorded.size
        self._backlog.put_nowait(recorded)

    async def run(self) -> None:
        """Post until cancelled."""
        async with asyncio.TaskGroup() as posting:
            while True:
                recorded = await self._backlog.get()
                try:
                    await self._turn(recorded.at)
                except BaseException:
                    self._finished(recorded)
                    raise
                if (behind := self._under_way.get(recorded.regarding)) is not None:
                    behind.append(recorded)
                else:
                    events = self._under_way[recorded.regarding] = deque((recorded,))
                    posting.create_task(self._post(events))

    async def drain(self) -> None:
        """Wait until all Events are posted, at once from now on."""
        self._draining = True
        await self._backlog.join()

    async def _turn(self, recorded_at: float) -> None:
        """Let the objects go first, and wait until few enough Events are under way."""
        while True:
            yields = self._yields()
            if yields and self._clock.mono() - recorded_at < YIELD_SECONDS:
                await asyncio.sleep(YIELD_STEP_SECONDS)
            elif len(self._under_way) >= (1 if yields else AT_ONCE):
                self._ended.clear()
                await self._ended.wait()
            else:
                return

    def _yields(self) -> bool:
        return self._busy() and not self._draining and self._bytes < YIELD_BYTES

    async def _post(self, events: deque[RecordedEvent]) -> None:
        """Post Events of one object, with those that come meanwhile."""
        regarding = events[0].regarding
        try:
            while events:
                if not await self._persist(events[0]):
                    events[0].fail()
                self._finished(events.popleft())
        finally:
            for lost in events:  # after an error
                self._finished(lost)
            del self._under_way[regarding]
            self._ended.set()

    def _finished(self, recorded: RecordedEvent) -> None:
        self._bytes -= recorded.size
        self._backlog.task_done()

    async def _persist(self, recorded: RecordedEvent) -> bool:
        """Post one Event, with retries while the apiserver fails; return whether it was posted.

        A 401 is retried, too: an apiserver that has just restarted may not know any token yet.
        """
        for pause in (*RETRY_AFTER_SECONDS, None):
            try:
                await self._send(recorded)
            except KubeError as error:
                if pause is not None and (error.status in {0, 401, 429} or error.status >= 500):
                    await asyncio.sleep(pause)
                    continue
                about = {"namespace": recorded.namespace, "name": recorded.name, "reason": recorded.event.reason}
                log.info("event not recorded", **about, error=str(error))
                return False
            return True
        return False

    async def _send(self, recorded: RecordedEvent) -> None:
        """Create the Event; for a repeat update the existing Event, or create it if it has expired."""
        document, series = recorded.document(self._instance), recorded.series
        if series is not None:
            try:
                await self._kube.repeat_event(document, series)
            except KubeError as error:
                if not error.gone:  # it has expired, or was never recorded
                    raise
            else:
                return
        await self._kube.record_event(recorded.namespace, document)


def _micro_time(moment: datetime) -> str:
    """Format a time as metav1.MicroTime."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _cut(note: str) -> str:
    """Cut a note to the API's limit in bytes, at a whole character."""
    return note.encode(errors="replace")[:LONGEST_NOTE].decode(errors="ignore")
