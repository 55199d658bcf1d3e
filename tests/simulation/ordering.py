"""Orders: for whom each was sent, and what its answer told whom. What must never be of one stands here, too."""

from __future__ import annotations

import contextlib
import json
import math
from typing import TYPE_CHECKING, Any

from gpucloud.sim.messages import Ending
from simulation.asked import asked_name, asked_place
from simulation.choosing import Choosing
from simulation.cloud import CREATES, Order, key_of, name_of, place_of
from simulation.guarding import Guarding
from simulation.saving import requires
from simulation.verdicts import KINDS_OF, Verdicts
from simulation.waiting import Waiting
from simulation.writes import RETRIED_SECONDS, Writes

if TYPE_CHECKING:
    from gpucloud.sim.messages import Request, Response
    from simulation.books import Life
    from simulation.cloud import Row
    from simulation.process import Process
    from simulation.world import World

CHANGES = {
    **dict.fromkeys(("StartServer", "StopServer", "DestroyServer"), "GpuVM"),
    "DeleteSnapshot": "GpuSnapshot",
    "DestroyVpc": "GpuVpc",
}  # calls that change what is there, and the kind of the objects that stand for it
DESTROYS = ("DestroyServer", "DeleteSnapshot", "DestroyVpc")


def _is_in(life: Life, place: tuple[str, str]) -> bool:
    """Whether its record names this VPC and cluster; an empty one is any."""
    order = life.status.get("order") or {}
    there = (str(order.get("vpc") or ""), str(order.get("cluster") or "").casefold())
    return all(not one or not other or one == other for one, other in zip(there, place, strict=True))


def _says_no(response: Response) -> bool:
    """Whether a 2xx answer is a refusal: ``success: false`` proves no more than a 500 does."""
    if response.status >= 300 or b'"success"' not in response.body:
        return False
    with contextlib.suppress(ValueError):
        return json.loads(response.body).get("success") is False
    return False


def _said(request: Request) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(request.body) if request.body else {}
    return found


class Ordering(Verdicts):
    """Keeps what was ordered, and what is known of it."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.guarding, self.written, self.waiting = Guarding(world), Writes(world), Waiting(world)
        self.choosing = Choosing(world)

    def _orders(self, process: Process, operation: str, name: str, request: Request) -> None:
        """An operator orders: a status records that, of an object that is guarded by our finalizer and is to have something."""
        kind, now = CREATES[operation], self._world.loop.time()
        place = asked_place(request, self._world.cloud.callers.tenant(request))
        recording = [life for life in self.books.recording(kind, name) if life.records_place(*place)]
        if not recording and operation == "CreateSnapshot":  # where no GpuSnapshot can be made, the GpuVM's status records it
            recording = [life for life in self.books.recording("GpuVM", name) if life.deleting and requires(life)]
        uid = self._ordered_for(recording).uid if recording else ""
        if not recording:
            everybody = [life for life in self.books.texts.mentioning(name) if life.kind == kind]
            uid = everybody[-1].uid if everybody else ""
            if not any(life.forced and now - life.went_at < self.heard_within() for life in everybody[-1:]):
                self.found("record", f"{operation} {name!r} was sent, and no status records it")
        elif not any(life.has_finalizer or now - life.restored_at < self.heard_within() for life in recording):
            self.found("finalizer", f"{operation} {name!r} was sent before the finalizer of {recording[-1].name} was visible")
        elif all(life.kind == kind and life.deleting and now - life.went_at > self.heard_within() for life in recording):
            self.found("bought to go", f"{operation} {name!r} was sent, and {recording[-1].name} is being deleted for long")
        asked = str(json.loads(request.body).get("configuration") or "")
        if recording and operation == "CreateServer" and not any(life.records_configuration(asked) for life in recording):
            self.found("offer", f"{operation} {name!r} was sent for {asked}, and no status records that")
        life = self.books.lives.get(uid)
        tenancy = "" if life is None else str(life.status.get("tenancy") or "")
        if life is not None:
            self.waiting.orders(process, life, operation, name)
        self._world.cloud.orders.append(Order(now, operation, name, uid, "", 0.0, process.name, *place, asked, tenancy))
        if life is not None:
            life.mutations += 1
            life.failed = True
            self._note_send(life, operation)
            if kind == "GpuVM":
                self.guarding.orders(process, life, asked)
                self.choosing.orders(life, self._world.cloud.orders.of(life.uid)[-1], self.heard_within())

    def _changes(self, process: Process, operation: str, name: str, request: Request) -> None:
        """An operator sends a changing call for what is there: it counts for the objects that record this very thing."""
        asked = {key.lower(): str(value) for key, value in (*request.query, *_said(request).items())}
        place = (asked.get("namespace", ""), asked.get("cluster", "").casefold())
        about = [life for life in self.books.texts.mentioning(name) if life.kind == CHANGES[operation] and _is_in(life, place)]
        if operation in DESTROYS:
            self._destroys(operation, name, about)
            going = [life for life in about if (life.status.get("order") or {}).get("state") == "Destroying"]
            called = [row for row in self._named(operation, name) if place[1] in {"", place_of(row)[0]}]
            self._destroys_again(process, operation, going, called)
        for life in self.books.texts.mentioning(name):
            life.mutations += life.now is not None
            life.failed = True
        for life in about:
            if life.now is not None:
                self._note_send(life, operation)

    def _destroys(self, operation: str, name: str, about: list[Life]) -> None:
        """An operator destroys what an object records: a status says so before the call leaves, so that a restart knows of it.

        Excused: the call of an object that has gone, or whose status somebody else wrote, within the time that a call is on its
        way. The collector's calls are for objects that are gone; what is destroyed though no object goes, is ``unasked``.
        """
        now, slack = self._world.loop.time(), self.heard_within()
        rows = self._world.cloud.called(name)
        owners = (self.books.lives.get(maker) for table, _, maker in rows if KINDS_OF[table] == CHANGES[operation])
        marked = [life for life in owners if life is not None and not life.chosen]
        if any(life.now is None for life in marked):
            return
        about = [*about, *(life for life in marked if life not in about)]
        if any(life.now is None and not life.is_outlived_by(now, slack) for life in about):
            return
        going = [life for life in about if life.deleting]
        if any((life.status.get("order") or {}).get("state") == "Destroying" for life in going):
            return
        if going and not any(now - max(life.tampered_at, life.restored_at) < slack for life in going):
            said = (going[-1].status.get("order") or {}).get("state")
            self.found(
                "record", f"{operation} {name!r} was sent, and the status of {going[-1].name} says {said}, not Destroying"
            )

    def _named(self, operation: str, name: str) -> list[Row]:
        """What is there that a destroying call may name."""
        return [row for table, row, _ in self._world.cloud.called(name) if KINDS_OF[table] == CHANGES[operation]]

    def _destroys_again(self, process: Process, operation: str, going: list[Life], rows: list[Row]) -> None:
        """Of one object; a snapshot's may be the call of a VM that takes its snapshots along."""
        of_a_vm = operation == "DeleteSnapshot" and any(one.kind == "GpuVM" and one.deleting for one in self.books.standing())
        if len(going) != 1 or going[0].now is None or of_a_vm:
            return
        for row in rows:
            self.waiting.destroys_again(process, going[0], row)

    def _ordered_for(self, recording: list[Life]) -> Life:
        """Whose order this is where several objects record the name: the oldest whose record was not used yet owns it.

        For a moment two objects of one chosen name may both record an order, until the younger hears of the older.
        """
        open_ = [life for life in recording if life.intents and life.intents[-1].until == math.inf]
        unused = [
            one for one in open_ if all(was.at < one.intents[-1].committed for was in self._world.cloud.orders.of(one.uid))
        ]
        return min(unused, key=lambda one: (one.last["metadata"]["creationTimestamp"], one.uid), default=recording[-1])

    def _change_answered(self, request: Request, response: Response) -> None:
        """The cloud has answered a changing call."""
        for life in self.books.texts.mentioning(asked_name(request)):
            life.failed = response.ending is not Ending.COMPLETE or response.status >= 300 or _says_no(response)

    def _refused(self, order: Order) -> None:
        """What came while a refused order was under way is of an earlier one, which was carried out late."""
        cloud = self._world.cloud
        for (table, key), row in cloud.rows.placed(order.uid, cloud.world):
            maker = cloud.orderer(row)
            if maker != cloud.maker_of(table, row) == order.uid:
                cloud.makers[table, key_of(row)] = maker
                cloud.rows.made(table, key, name_of(row), maker)

    def _order_answered(self, process: Process, request: Request, response: Response, fault: str) -> None:
        """The cloud has answered an order."""
        now = self._world.loop.time()
        order = next((one for one in self._orders_sent(process, request) if not one.answer), None)
        if order is None:
            return
        readable = response.ending is Ending.COMPLETE and process.alive and fault != "write-garbage"
        clear = readable and order.unheard == math.inf and not _says_no(response)
        accepted, refused = clear and response.status < 300, clear and 400 <= response.status < 500
        order.answer = "accepted" if accepted else "refused" if refused else "unclear"
        if refused:
            self._refused(order)
        unread = response.ending is Ending.COMPLETE and response.status < 300 and not readable
        order.known, order.perhaps = min(now, order.unheard), not process.alive or unread
        certain = response.ending is Ending.COMPLETE and 400 <= response.status < 500 and order.unheard == math.inf
        order.told, order.unread = "refused" if certain else order.answer, unread
        self.sometimes[f"order {order.answer}"] += 1
        life, is_error = self.books.lives.get(order.uid), response.status >= 300 or _says_no(response)
        if life is not None and response.ending is Ending.COMPLETE and is_error:
            self.rates.refused(life)
        if is_error:
            self.choosing.refused(order, response.status)

    def unheard(self, process: Process, operation: str, request: Request) -> None:
        """Who asked waits no longer: an answer that comes, or has left already, tells nobody anything."""
        sent = self._orders_sent(process, request) if operation in CREATES and process.alive else []
        for order in sent[-1:]:
            order.unheard = self._world.loop.time()
            if order.answer:
                order.answer = order.told = "unclear"
                order.known = order.unheard

    def _orders_sent(self, process: Process, request: Request) -> list[Order]:
        """The orders that a process sent by requests like this one."""
        name = asked_name(request)
        what = (process.name, *asked_place(request, self._world.cloud.callers.tenant(request)))
        sent = self._world.cloud.orders.named(self._world.cloud_names.get(name, name))
        return [one for one in sent if (one.sender, one.vpc, one.cluster, one.tenant) == what]

    def _take_over(self, process: Process, recorded: float) -> None:
        """Whoever follows a process knows no answer that it had no time to record, or tried in vain to record until its end."""
        for order in self._world.cloud.orders:
            in_vain = self.written.refused_at(process, order.uid) > max(order.known, self._world.loop.time() - RETRIED_SECONDS)
            mine = order.sender == process.name and order.answer != ""
            if mine and (order.known > recorded or in_vain) and not self._has_recorded(order):
                order.answer, order.perhaps = "unclear", True

    def _has_recorded(self, order: Order) -> bool:
        life = self.books.lives.get(order.uid)
        return life is not None and life.has_recorded(order.at, order.known)
