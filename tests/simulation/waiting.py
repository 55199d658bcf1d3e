"""The oracle of waits: an order is repeated, or its object let go, only when what it is waited for is over.

An invariant of the design: a restart shortens no wait. What a process recorded and did not settle may be made at any time until
ten graces after its end (docs/adr/0013), so the next process waits for so long. Like the judge this asks no product code: it
knows which process sent each status, when the cloud answered each order, and when a process ended.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from simulation.cloud import CREATES, name_of
from simulation.forgiving import ACCEPTED_GRACES
from simulation.process import EPOCH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.books import Intent, Life
    from simulation.cloud import Order, Row
    from simulation.process import Process
    from simulation.world import World

ROUNDING_SECONDS = 2.0  # times in status are whole seconds
RESEND_SECONDS = 300.0  # the least wait for a snapshot that a VM's status records


@dataclass(frozen=True, slots=True)
class _Call:
    """A destroying call: when it was sent, by whom, and for which order's record; when that says that it was announced."""

    at: float
    announced: float
    sender: str
    record: str


@dataclass(slots=True)
class _Record:
    """A record of an order: who wrote it, and who first wrote what became of that order; empty: nobody has."""

    intent: Intent
    writer: str
    settler: str = ""


def _announced(order: dict[str, Any], now: float) -> float:
    """When the record says that its last destroying call was announced."""
    call = order.get("destroyingCall")
    return now if call is None else min(now, (datetime.fromisoformat(call["announcedAt"]) - EPOCH).total_seconds())


class Waiting:
    """Looks at each order that is sent, and at each object that is let go."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._records: defaultdict[str, list[_Record]] = defaultdict(list)  # by UID
        self._ended: dict[str, float] = {}  # when a process ended, by its name
        self._destroyed: dict[str, float] = {}  # when a destroying call was last sent, by the name of what it destroys
        self._frees: dict[str, str] = {}  # by UID: the process that last sent a change of its finalizers
        self._calls: dict[tuple[str, str], _Call] = {}  # the last destroying call, by UID and the name that it names

    def died(self, process: Process) -> None:
        """A process has ended, or sleeps."""
        if not process.alive:
            self._ended.setdefault(process.name, self._world.loop.time())

    def patches(self, process: Process, method: str, body: str | None) -> None:
        """An operator sends a write. Finalizers are taken off by a patch that tests whose they are."""
        patch = json.loads(body or "null") if method == "PATCH" else None
        if isinstance(patch, list):
            self._frees |= {one["value"]: process.name for one in patch if one["path"] == "/metadata/uid"}

    def committed(self, life: Life, writer: str) -> None:
        """A process has changed an object."""
        records = self._records[life.uid]
        if writer and life.intents and (not records or records[-1].intent is not life.intents[-1]):
            records.append(_Record(life.intents[-1], writer))
        for record in records:
            if record.intent.until < math.inf and not record.settler:
                record.settler = writer

    def destroys(self, name: str) -> None:
        """An operator sends a destroying call, by the name that it ordered or by the one that the cloud gave."""
        self._destroyed[self._world.cloud_names.get(name, name)] = self._world.loop.time()

    def destroys_again(self, process: Process, life: Life, row: Row) -> None:
        """A process sends a destroying call for what a status says is being destroyed: the wait for another's call is over.

        It is counted from the announcement of the call before, which stands as long as the cloud refuses for certain. Excused:
        what a listing lacked meanwhile, since no status tells whether the call before had left; what clocks differ by, and a
        grace; somebody has done something since.
        """
        now, order = self._world.loop.time(), life.status.get("order") or {}
        key, record = (life.uid, name_of(row)), str(order.get("id"))
        before, self._calls[key] = self._calls.get(key), _Call(now, _announced(order, now), process.name, record)
        if before is None or before.sender == process.name or before.record != record:
            return
        judge, skews = self._world.judge, [abs(one.skew) for one in self._world.processes]
        told = max(life.tampered_at, life.disturbed_at, life.restored_at) >= before.at
        if told or judge.has_lately_lacked(process.name, row, before.at):
            return
        wait = (ACCEPTED_GRACES - 1) * self._world.grace - 2 * max(skews, default=0.0) - ROUNDING_SECONDS
        if now - before.announced < wait:
            words = f"{name_of(row)!r} is destroyed again by {process.name} {now - before.at:.1f} s after {before.sender}"
            judge.found("waits", f"{words} sent that call")

    def orders(self, process: Process, life: Life, operation: str, name: str) -> None:
        """A process orders: the wait for each earlier order of this name is over.

        Excused: its own listings have shown what that order made, and lack it, whatever a status says: etcd may have been
        restored since.
        """
        if CREATES[operation] != life.kind:
            self._saves(process, life, name)
            return
        records = self._records[life.uid]
        for record in records[:-1]:
            if record.intent.name == name and not self._world.judge.came_and_went(life, record.intent, process.name):
                self._judge(process.name, life, record, f"{operation} {name!r} was sent again")
        sent = (one for current in records[-1:] for one in self._sent(life, current.intent))
        if any(self._answer_waited_for(one) > self._world.loop.time() for one in sent):
            self._world.judge.found("waits", f"{operation} {name!r} was sent twice with one record")

    def _saves(self, process: Process, life: Life, name: str) -> None:
        """A process asks the cloud itself for the final snapshot of a VM: the wait for each earlier request is over.

        What another process asked for may be accepted, whatever it heard. Excused: somebody else wrote the status since, which
        records the requests. Only a grace is waited for when a person has said something else since.
        """
        for one in self._world.cloud.orders.of(life.uid):
            if (one.operation, one.name) != ("CreateSnapshot", name) or one.told == "refused" or life.tampered_at >= one.at:
                continue
            unheard = process.name == one.sender and one.told != "accepted"
            until = max(one.at, one.known) + (self._world.grace if unheard or life.disturbed_at >= one.at else RESEND_SECONDS)
            early = until - self._world.loop.time()
            if early > 0:
                words = (
                    f"{process.name} asked for the final snapshot {name!r} again {early:.1f} s before the wait for the request"
                )
                self._world.judge.found("waits", f"{words} of {one.sender} was over")

    def let_go(self, life: Life) -> None:
        """An operator has let an object go.

        Excused: a chosen name that is another's by now, whatever became of the order; what was seen and is lost, as a status or
        listings tell, or was destroyed by a call that followed the order (whether that is gone is judged by ``released``).
        """
        lost = (life.status.get("order") or {}).get("state") in {"Lost", "Gone"}
        for record in self._records[life.uid][-1:]:
            intent = record.intent
            destroyed = self._destroyed.get(intent.name, -math.inf) >= intent.committed
            told = life.chosen or life.keeps() or destroyed or lost
            if not (told or self._world.judge.came_and_went(life, intent)):  # which looks at all that was ever there
                self._judge(self._frees.get(life.uid, ""), life, record, f"{life.name} was let go")

    def _judge(self, actor: str, life: Life, record: _Record, what: str) -> None:
        until = self._waited_until(actor, life, record)
        early = until - self._world.loop.time()
        if early > 0:
            whose = "its own" if actor == record.writer else f"that of {record.writer}"
            words = f"{what} by {actor} {early:.1f} s before the wait for the order recorded at {record.intent.committed:.1f} s"
            self._world.judge.found("waits", f"{words}, {whose}, was over")

    def _waited_until(self, actor: str, life: Life, record: _Record) -> float:
        """Until when an order of this record is waited for, as far as nothing has told what became of it.

        Excused: somebody else wrote the status since, or said that it is gone; a listing has shown it since, as a status says.
        """
        intent, grace = record.intent, self._world.grace
        told = max(life.tampered_at, life.accepted_at, life.told_at(intent.name, intent.cluster))
        if told >= intent.committed:
            return -math.inf
        if record.writer != (record.settler or actor):
            # Of two replicas the other may have taken over long before this one ended.
            ended = self._ended.get(record.writer, -math.inf) if self._world.scenario.replicas == 1 else -math.inf
            return max(intent.committed, ended) + ACCEPTED_GRACES * grace
        return max((self._answer_waited_for(one) for one in self._sent(life, intent)), default=-math.inf)

    def _answer_waited_for(self, order: Order) -> float:
        """Until when the process that had this answer, or none, waits."""
        if order.told == "refused":
            return -math.inf
        long = order.told == "accepted" or order.unread
        return max(order.at, order.known) + self._world.grace * (ACCEPTED_GRACES if long else 1)

    def _sent(self, life: Life, intent: Intent) -> Iterator[Order]:
        """The orders that were sent with this record."""
        for one in self._world.cloud.orders.of(life.uid):
            if CREATES[one.operation] == life.kind and one.name == intent.name and intent.committed <= one.at <= intent.until:
                yield one
