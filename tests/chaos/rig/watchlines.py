"""What happens to the events of a watch on their way to the operator: told apart by object and number, then tampered with."""

from __future__ import annotations

import json
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from chaos.rig.calls import Call

    Lines = Iterable[tuple[float, bytes]]
    Change = Callable[["Event", bytes], Lines]

LOST_STREAM_SECONDS = 1.0  # how long it goes unnoticed that events are being lost


@dataclass(frozen=True)
class Event:
    """One event: the object that it shows, and the how-manieth of that object it is in this run (from 1)."""

    resource: str
    name: str
    nth: int

    def __str__(self) -> str:
        """Short, for the names of runs: ``gpuvms/train#2``."""
        return f"{self.resource}/{self.name}#{self.nth}"


@dataclass
class Tamper:
    """An ``on_line``: hands every event but bookmarks and errors to ``change``; ``lines`` keeps them all.

    An event that comes again, since its watch was resumed before it, passes and is not counted.
    """

    change: Change = lambda _, line: ((0.0, line),)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    lines: list[tuple[Event, bytes]] = field(default_factory=list)
    known: set[tuple[str, str, str]] = field(default_factory=set)

    def __call__(self, call: Call, line: bytes) -> Lines:
        """What passes in place of this line."""
        said: dict[str, Any] = json.loads(line)
        meta = said["object"]["metadata"]
        which = (call.resource, said["type"], meta.get("resourceVersion", ""))
        if said["type"] in {"BOOKMARK", "ERROR"} or which in self.known:
            return ((0.0, line),)
        self.known.add(which)
        who = (call.resource, meta["name"])
        self.counts[who] += 1
        event = Event(*who, self.counts[who])
        self.lines.append((event, line))
        return self.change(event, line)

    def events(self) -> list[Event]:
        """Those that came, in order."""
        return [event for event, _ in self.lines]


@dataclass
class Dropping:
    """A ``change`` that loses the given events. A moment later ``afterwards`` is done: how such a loss ends in real life."""

    lost: frozenset[Event]
    afterwards: Callable[[], object]
    struck: set[Event] = field(default_factory=set)
    _pending: threading.Timer | None = None

    def __call__(self, event: Event, line: bytes) -> Lines:
        """Nothing in place of a lost one."""
        if event not in self.lost:
            return ((0.0, line),)
        self.struck.add(event)
        if self._pending is None:
            self._pending = threading.Timer(LOST_STREAM_SECONDS, self._end)
            self._pending.daemon = True
            self._pending.start()
        return ()

    def _end(self) -> None:
        self._pending = None
        with suppress(Exception):  # the trial may have ended meanwhile
            self.afterwards()


def error_event(code: int, reason: str = "Expired") -> bytes:
    """The line by which an apiserver says within a stream that it cannot go on."""
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": code, "reason": reason}
    return json.dumps({"type": "ERROR", "object": {**status, "message": "made up by a test"}}).encode() + b"\n"


def event_line(kind: str, body: dict[str, Any]) -> bytes:
    """An event of the watch that shows this object."""
    return json.dumps({"type": kind, "object": body}).encode() + b"\n"
