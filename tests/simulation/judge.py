"""The judge: sees every commit of both stores and every request, and says what must never be. It asks no product code.

What is excused stands beside each rule, with the reason.
"""

from __future__ import annotations

import json
import math
from collections import Counter, deque
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from prometheus_client import generate_latest

from gpucloud.sim.messages import Ending
from gpucloud.sim.world.snapshots import Snapshot
from gpucloud.sim.world.vms import Vm
from gpucloud.sim.world.vpcs import Vpc
from simulation import ending
from simulation.books import KINDS, OPERATOR, TABLES, Books, Intent, Life
from simulation.cloud import CREATES, Order, key_of, name_of, place_of
from simulation.collecting import Collecting
from simulation.credentials import KEYS
from simulation.guarding import Guarding
from simulation.listings import Listings
from simulation.logs import SimulatedLog
from simulation.process import EPOCH
from simulation.promises import POWER, Promises
from simulation.rates import Rates
from simulation.scenario import ENDPOINT
from simulation.sightings import GoodListing, Sightings
from simulation.writes import Writes

if TYPE_CHECKING:
    from gpucloud.sim.messages import Request, Response
    from simulation.cloud import Row
    from simulation.process import Process
    from simulation.world import World

WRITES_A_MINUTE = 90  # of one object, whatever happens: more is a loop
SENDS_A_MINUTE = 60
LISTINGS_A_MINUTE = 360
ACCEPTED_GRACES = 10  # for so long what was accepted is waited for
RECORDED_SECONDS = 10.0  # until an answer is surely recorded
IMPLAUSIBLE, IMPLAUSIBLE_SECONDS = 3, 60.0  # so many things gone within one interval of listings are not believed to be
CALL_SECONDS = 45.0
OUTAGE_SECONDS = 300.0  # of the apiserver, or of a watch that is cut, and taken up again ever later
FRESH_SECONDS = 10.0  # for so long a listing may be acted upon
MAY_BE_YOURS = "it is billed until you destroy it"  # what an Event says where something is let go that may be the object's
LISTINGS = {"GpuVM": "GetServers", "GpuVpc": "GetVpcs", "GpuSnapshot": "GetSnapshots"}
KINDS_OF = {table: kind for kind, table in TABLES.items()}


class Violation(NamedTuple):
    """What must never be, and was."""

    oracle: str
    at: float
    text: str

    def __str__(self) -> str:
        return f"{self.oracle} at {self.at:.3f} s: {self.text}"


class _Gone(NamedTuple):
    """The end of something of ours."""

    at: float
    namespace: str  # of its object


class Judge:
    """Collects violations of one history."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.books = Books()
        self._promises = Promises(world, self.found)
        self._secrets: dict[str, float] = {}  # by namespace: since when its Secret is being deleted
        self.violations: list[Violation] = []
        self.sometimes: Counter[str] = Counter()
        self._read = 0
        self._listings: dict[str, deque[float]] = {}
        self._sightings = Sightings()
        self._shown_to = Listings()
        self._last_good: dict[str, float] = {}
        self.vanished: dict[str, float] = {}  # when what was made for an object was destroyed, by its UID
        self.last_disturbance = 0.0
        self._powered: dict[str, float] = {}  # when an operator last sent a power call, by the VM's name
        self._kills: list[float] = []
        self._appeared: dict[str, float] = {}  # UID to when its object came, or came back
        self.collecting, self.guarding, self.rates = Collecting(world), Guarding(world), Rates(world)
        self.written = Writes(world)

    def found(self, oracle: str, text: str) -> None:
        """It must never be."""
        violation = Violation(oracle, self._world.loop.time(), text)
        self.violations.append(violation)
        self._world.tell("JUDGE", str(violation))

    # What the world reports.

    def begin(self) -> None:
        """The first processes are about to start."""

    def broke(self, process: Process, error: BaseException) -> None:
        """A process, or the world, ended by an error."""
        self.found(f"broken {type(error).__name__}", f"{process.name}: {error!r}")

    def ended(self) -> None:
        """A process came to its end by itself: what it has not sent by now it never sends."""
        self._kills.append(self._world.loop.time())

    def died(self, process: Process) -> None:
        """A process was killed, put to sleep, or has ended. What it had just been answered, it had no time to record.

        Nor had it while the apiserver was away, and right before that.
        """
        self.sometimes["process died or slept"] += 1
        if not process.alive or len(self._world.replicas) > 1:  # another takes over from one that sleeps
            self._kills.append(self._world.loop.time())
        self.collecting.slept()
        now = self._world.loop.time()
        recorded = min(now, self._world.kube_away_since(now - RECORDED_SECONDS)) - RECORDED_SECONDS
        self._sightings.forgotten(process.name, recorded)
        for order in self._world.cloud.orders:
            if order.sender == process.name and order.answer == "accepted" and order.known > recorded:
                order.answer = "unclear"
        self.disturbed()

    def show(self, text: str) -> None:
        """An operator has shown this to others: no key may stand in it."""
        for secret in (*KEYS.values(), *self._world.cloud.callers.tokens):
            if secret in text:
                self.found("canary", f"a key stands in {text[:200]}")

    def key_changed(self) -> None:
        """A Secret holds another key: what people accepted under the one of before says nothing about this one."""
        for life in self.books.lives.values():
            life.accepted_absence = False

    def disturbed(self) -> None:
        """Something outside has happened: what stands may be untrue for a while again."""
        self.last_disturbance = self._world.loop.time()
        self._promises.disturbed()
        self.rates.disturbed()

    def appeared(self, life: Life) -> float:
        """When this object came, or came back with a restored backup."""
        return self._appeared[life.uid]

    def committed(self) -> None:
        """The apiserver has changed."""
        commits = self._world.api.commits
        for number in range(self._read, len(commits)):
            self._committed(commits[number])
        self._read = len(commits)

    def _committed(self, commit: Any) -> None:
        if commit.plural == "events" and commit.after is not None and commit.user == OPERATOR:
            note = str(commit.after.get("note", ""))
            if commit.after.get("reason") == "Orphan" or MAY_BE_YOURS in note:
                self.books.reported[note] += 1
            self.collecting.told(commit.after)
            return
        self._note_others(commit)
        life = self.books.lives.get((commit.after or commit.before)["metadata"]["uid"])
        had = life is not None and life.has_finalizer
        life = self.books.take(commit.plural, commit.before, commit.after, commit.user, self._world.loop.time())
        if life is None:
            return
        self._appeared.setdefault(life.uid, self._world.loop.time())
        self.collecting.committed(life)
        self.guarding.committed(life, by_operator=commit.user == OPERATOR)
        if commit.user == OPERATOR:
            life.mutations += 1
            self._note_write(life)
            self.written.committed(life, commit.before, commit.after)
        elif commit.user != "system:namespace-controller":
            self.disturbed()
        if had and life.released and not life.has_finalizer and commit.user == OPERATOR:
            self._let_go(life)
        ready = life.condition("Ready").get("message", "")
        if commit.user == OPERATOR and ready.count("Waiting for") > 2:
            self.found("nested words", f"{life.name}: {ready[:300]}")
        self.weigh(life)

    def _note_others(self, commit: Any) -> None:
        """What is no object of ours in the cloud: Secrets, accounts and namespaces."""
        if commit.plural == "secrets":
            self._note_secret(commit)
        if commit.plural in {"secrets", "gpucloudaccounts"} and commit.user == OPERATOR:
            self.written.freed(commit.plural, commit.before, commit.after)
        if commit.plural == "namespaces" and commit.before is not None:
            self.guarding.takes_back(commit.before["metadata"])

    def _note_secret(self, commit: Any) -> None:
        meta = (commit.after or commit.before)["metadata"]
        if meta["name"] != "key":
            return
        self._sightings.secret(meta["namespace"], (commit.after or {}).get("data") or {}, self._world.loop.time())
        if commit.after is None or "deletionTimestamp" not in meta:
            self._secrets.pop(meta["namespace"], None)
        else:
            self._secrets.setdefault(meta["namespace"], self._world.loop.time())

    def secret_going_since(self, namespace: str) -> float | None:
        """Since when the Secret of a namespace is being deleted; None when it is not."""
        return self._secrets.get(namespace)

    def restoring(self) -> None:
        """Etcd is about to go back in time."""
        self.committed()

    def restored(self) -> None:
        """It has gone back: what is not there any more has vanished, what has come back is there again."""
        self.sometimes["etcd restored"] += 1
        self.disturbed()
        self.written.restored()
        store, there = self._world.api.store, {}
        for resource in self._world.api.resources:
            if resource.plural in KINDS:
                for _, stored in store.listed(resource, "", store.version):
                    there[stored.seen["metadata"]["uid"]] = stored.seen
        for life in self.books.lives.values():
            was = life.now
            life.now = there.get(life.uid)
            if life.now is not None:
                life.last, life.released, life.retained, life.forced = life.now, False, False, False
                life.tampered = life.restored = True  # its status is older than what was done since
                self._appeared[life.uid] = self._world.loop.time()
            elif was is not None:
                life.forced = True
            self.collecting.committed(life)

    def sent(self, process: Process, operation: str, request: Request) -> None:
        """An operator sends a call that changes the cloud."""
        self.sometimes[f"sent {operation}"] += 1
        self._promises.sent(process, operation, request, asked_name(request))
        name, now = asked_name(request), self._world.loop.time()
        self.collecting.sent(process, operation, request)
        if operation == "DestroyServer":
            self.guarding.destroys(process, name)
        self._powered |= {name: now} if operation in POWER else {}
        if operation not in CREATES:
            for life in self.books.standing():
                life.mutations += life.mentions(name)
            return
        kind = CREATES[operation]
        place = asked_place(request, self._world.cloud.callers.tenant(request))
        recording = [life for life in self.books.recording(kind, name) if life.records_place(*place)]
        uid = recording[-1].uid if recording else ""
        if not recording:
            everybody = [life for life in self.books.lives.values() if life.kind == kind and life.mentions(name)]
            uid = everybody[-1].uid if everybody else ""
            if not everybody or not everybody[-1].forced:
                self.found("record", f"{operation} {name!r} was sent, and no status records it")
        elif not any(life.has_finalizer for life in recording):
            self.found("finalizer", f"{operation} {name!r} was sent before the finalizer of {recording[-1].name} was visible")
        elif all(life.deleting for life in recording) and not any(life.tampered for life in recording):
            self.sometimes["create sent while deleting"] += 1
        asked = str(json.loads(request.body).get("configuration") or "")
        self._world.cloud.orders.append(Order(now, operation, name, uid, "", 0.0, process.name, *place, asked))
        life = self.books.lives.get(uid)
        if life is not None:
            life.mutations += 1
            self._note_send(life, operation)
            if kind == "GpuVM":
                self.guarding.orders(process, life)

    def is_leader(self, process: Process) -> bool:
        """Whether this process holds the Lease."""
        return self._promises.is_leader(process)

    def writes(self, process: Process, method: str, path: str, body: str | None = None) -> None:
        """An operator sends a write of one of our objects to the apiserver."""
        if method != "GET" and "/apis/gpucloud.dev/" in path:
            self._promises.led(process, f"{method} {path}")
            self.written.sent(process, method, path, body)

    def reaches(self, process: Process, address: str) -> None:
        """An operator sends a request, with a credential, to this address."""
        if address != ENDPOINT:
            self.found("endpoint", f"{process.name} sends a credential to {address}, which nobody has declared")

    def answered(self, process: Process, operation: str, request: Request, response: Response, fault: str) -> None:
        """The cloud has carried a request out, or not, and answers so."""
        now = self._world.loop.time()
        self._promises.answered(process, operation, request, response)
        if operation in CREATES:
            place = asked_place(request, self._world.cloud.callers.tenant(request))
            name = asked_name(request)
            what = (process.name, self._world.cloud_names.get(name, name), *place)
            sent = [one for one in self._world.cloud.orders if not one.answer]
            order = next((one for one in sent if (one.sender, one.name, one.vpc, one.cluster, one.tenant) == what), None)
            if order is not None:
                clear = response.ending is Ending.COMPLETE and process.alive and fault != "write-garbage"
                accepted, refused = clear and response.status < 300, clear and 400 <= response.status < 500
                order.answer = "accepted" if accepted else "refused" if refused else "unclear"
                order.known = now
                self.sometimes[f"order {order.answer}"] += 1
        if operation != "RefreshToken":
            self.show(f"{request.path} {request.query}")
        self._world.tell(
            process.name, f"{operation} {asked_name(request)}".strip(), f"{fault} {response.status or response.ending}".strip()
        )
        if operation.startswith("Get"):
            self._note_listing(operation, now)
            whose = (process.name, self._world.cloud.callers.of(request))
            self._shown_to.answered(now, whose, operation, (request, response), fault)
            if response.status == 200 and response.ending is Ending.COMPLETE and not fault:
                asked = next((value for name, value in request.query if name.lower() == "cluster"), "")
                who = self._world.cloud.callers
                listing = GoodListing(
                    now, operation, asked.casefold(), who.tenant(request), who.of(request), process.name, process.alive
                )
                self._sightings.listings.append(listing)
                self._last_good[operation] = now
            self._promises.listed(process, operation, self._last_good.get(operation, 0.0))

    def changed(self, table: str, change: Any, maker: str) -> None:
        """The cloud has changed."""
        world = self._world
        outsider = world.cloud.outsider
        life = self.books.lives.get(maker)
        if change.before is None:
            self._made(table, maker)
            self._promises.made(maker)
        elif self._is_act(change) and not outsider:
            self._acted(table, change, maker)
        if outsider:
            self.disturbed()
            if life is not None:
                life.touched = True
        if life is not None:
            if change.after is None and TABLES[life.kind] == table:
                self.vanished[maker] = world.loop.time()
            self.weigh(life)

    # The oracles.

    def _made(self, table: str, maker: str) -> None:
        """At most one live thing for each object.

        Excused: an order had no clear answer, listings lag by more than the grace, and the cloud gave the second another name,
        or its owner another place, so that the cloud had no name to refuse.
        """
        if maker not in self.books.lives:
            return
        rows = [one for where, one, whose in self._world.cloud.live() if where == table and whose == maker]
        there = [name_of(one) for one in rows]
        unlike = any(name in self._world.cloud_names for name in there) or len({place_of(one) for one in rows}) == len(rows)
        if len(there) > 1 and not (unlike and self.beyond_telling(self.books.lives[maker])):
            self.found("twice", f"{self.books.lives[maker].name} has {len(there)} things at once: {', '.join(there)}")

    @staticmethod
    def _is_act(change: Any) -> bool:
        """Whether somebody ordered this change: what goes on by itself neither raises the epoch nor makes a thing leave."""
        before, after = change.before, change.after
        if after is None:
            return isinstance(before, Vpc)
        return (isinstance(after, Vm) and after.epoch > before.epoch) or (
            isinstance(after, Snapshot) and after.leaving and not before.leaving
        )

    def _acted(self, table: str, change: Any, maker: str) -> None:
        """Nothing is destroyed, stopped or started that is not ours, and nothing destroyed that was not to go.

        Excused: a power call that was sent before the object was let go, and carried out later, as no call can be taken back.
        """
        row, kind = change.before, KINDS_OF[table]
        destroys = change.after is None or change.after.leaving if not isinstance(row, Vpc) else True
        life = self.books.lives.get(maker)
        what = f"{'destroyed' if destroys else 'powered'} {kind} {name_of(row)!r}, made by {life.name if life else maker!r}"
        self.sometimes["destroyed" if destroys else "powered"] += 1
        if life is None:
            if not (isinstance(row, Vpc) and self._adopted(row)) and not self.ambiguous(kind, row):
                self.found("foreign", what)
            return
        late = not destroys and self._powered.get(name_of(row), math.inf) <= life.let_go_at
        if life.released and life.now is None and not late and not self.ambiguous(kind, row):
            self.found("foreign", f"{what}, which was let go before")
        elif destroys and not life.asked_to_go and not self._goes_along(life):
            self.found("unasked", what)
        elif destroys and life.kept_since is not None and self._world.loop.time() - life.kept_since > self._heard_within():
            self.found("kept", f"{what}, which was to stay, or to be left alone, for long")

    def _heard_within(self) -> float:
        """Seconds within which an operator has heard what somebody said, and its last call from before has arrived."""
        return CALL_SECONDS + (OUTAGE_SECONDS if self._world.weather.deafens() else 0.0)

    def _adopted(self, row: Vpc) -> bool:
        """Whether somebody's spec adopted this VPC and wants it destroyed; the operator's own account lets nobody do so."""
        return not self._world.scenario.own_account and any(
            life.kind == "GpuVpc"
            and life.spec.get("name") == row.name
            and life.spec.get("adoption") in {"IfExists", "Required"}
            and (life.spec.get("deletion") or {}).get("policy") == "Delete"
            for life in self.books.lives.values()
        )

    def _goes_along(self, life: Life) -> bool:
        """A snapshot may go with its VM where both specs allow it."""
        annotations = life.last["metadata"].get("annotations") or {}
        kept = life.keeps() or annotations.get("gpucloud.dev/paused") == "true"
        vms = [one for one in self.books.lives.values() if one.kind == "GpuVM" and one.asked_to_go]
        takes = any((one.spec.get("deletion") or {}).get("snapshots") == "Delete" for one in vms)
        return life.kind == "GpuSnapshot" and takes and not kept

    def ambiguous(self, kind: str, row: Any) -> bool:
        """Whether nobody could tell that this thing of a CHOSEN name is a stranger's.

        Excused: it was made before two good listings by the account of our object, begun after ours went, could have shown that
        ours is gone (what another namespace's account shows is nothing to go by, docs/adr/0004); or while
        an order of ours for that name was without a clear answer, up to two good listings after the grace that follows it;
        or while an accepted order that the cloud forgot was waited for; or so shortly before the order that no listing
        showed it. What a process was shown right before it died counts for nothing: it had no time to record it.
        Excused, too: the owner wiped or restored the status, so that nothing tells any more what happened. And an order was
        recorded whose process was killed, or ended, and was never sent: a known limit (docs/reliability.md), since the record
        cannot tell it from one whose process was killed right after sending it.
        """
        if any(self._is_unsent(life, intent, kind, row) for life in self.books.lives.values() for intent in life.intents):
            return True
        name, made, shown, between = name_of(row), self._time_of(row), self._shown, self._sightings.between
        orders = [one for one in self._world.cloud.orders if one.name == name and CREATES[one.operation] == kind]
        for order in orders:
            life = self.books.lives.get(order.uid)
            if life is None or not life.chosen:
                continue
            if life.tampered:
                return True
            if self._looked(kind, order.at) - self._world.cloud.lag <= made and order.answer != "refused":
                waits = self._world.grace * (ACCEPTED_GRACES if order.answer == "accepted" else 1)
                until = (order.known or made) + waits
                gone, here = self._gone(kind, name, made), life.namespace
                if gone is not None and not between(row, here, shown(order.known), shown(gone.at)):
                    return True  # no listing had ever shown ours, so one that shows late cannot be told from another's
                if gone is None and between(row, here, until, shown(made)) < 2:
                    return True
        gone = self._gone(kind, name, made)
        return gone is not None and between(row, gone.namespace, shown(gone.at), shown(made)) < 2

    def _is_unsent(self, life: Life, intent: Intent, kind: str, row: Any) -> bool:
        """Whether a thing was made under the chosen name of an order that its process could not send any more."""
        if (life.kind, life.chosen, intent.name) != (kind, True, name_of(row)):
            return False
        began = self._recorded(intent)
        sent = any(one.uid == life.uid and began <= one.at <= intent.until for one in self._world.cloud.orders)
        killed = any(began <= at <= intent.until for at in self._kills)
        return killed and not sent and self._looked(kind, began) - self._world.cloud.lag <= self._time_of(row) <= intent.until

    def _recorded(self, intent: Intent) -> float:
        """When a record was made, by the clock of the process whose record can have been committed at that time."""
        said = (datetime.fromisoformat(intent.recorded_at) - EPOCH).total_seconds() if intent.recorded_at else intent.committed
        times = (said - process.skew for process in self._world.processes)
        return max((at for at in times if at <= intent.committed), default=intent.committed)

    def _looked(self, kind: str, ordered: float) -> float:
        """When the listing was made by which the name was free at this order: none that is older is acted upon."""
        times = (
            it.at
            for it in self._sightings.listings
            if it.operation == LISTINGS[kind] and ordered - FRESH_SECONDS <= it.at <= ordered
        )
        return max(times, default=ordered)

    def _time_of(self, row: Any) -> float:
        return float(row.created) - self._world.cloud.epoch

    def _gone(self, kind: str, name: str, before: float) -> _Gone | None:
        """When the last of ours of that name had gone, if one had been there, and the namespace of its object."""
        cloud, lives = self._world.cloud, self.books.lives
        ends = [
            _Gone(change.at - cloud.epoch, lives[maker].namespace)
            for change in getattr(cloud.world, TABLES[kind]).table.changes
            if change.after is None
            and name_of(change.before) == name
            and (maker := cloud.makers.get((TABLES[kind], key_of(change.before)), "")) in lives
        ]
        return max((end for end in ends if end.at <= before), default=None)

    def _shown(self, at: float) -> float:
        """When listings show what was so at a time: a lag later, while they lag."""
        return max(at, min(at + self._world.cloud.lag, self._world.healed_at))

    def _let_go(self, life: Life) -> None:
        """The finalizer goes only when the thing is gone or was never made, is to be kept, or is not ours.

        Excused: a person accepted the absence; the status of an object with a chosen name was written by somebody else; an
        order without a clear answer, where listings lag by more than the grace after which it counts as never made. (What
        bears a mark must still be reported.) And an order that was accepted before its credential had shown a tenant, when the
        Secret holds another tenant's key before any listing shows what was ordered: a known limit (docs/reliability.md).
        And a thing of a chosen name that every listing lacked for a grace although it was there: that is the proof that it is
        lost (docs/adr/0013), and nothing tells what comes back under its name from another's. An Event must say so.
        """
        self.sometimes["released"] += 1
        if self.beyond_telling(life):
            self.sometimes["released while listings lagged beyond the grace"] += 1
            return
        if self.changed_tenant(life):
            return
        if life.retained or life.accepted_absence or (life.tampered and (life.chosen or self._world.respelled)):
            return
        left = [row for table, row, maker in self._world.cloud.live() if maker == life.uid and table == TABLES[life.kind]]
        renamed = [row for row in left if name_of(row) in self._world.cloud_names]
        if left and not (life.tampered and renamed) and not (life.chosen and all(map(self.was_hidden, left))):
            self.found("released", f"{life.name} was let go, and {name_of(left[0])!r} is there still")

    def was_hidden(self, row: Row) -> bool:
        """Whether every listing lacked a VM or snapshot for a grace, although it was there and had been shown."""
        hidden = not isinstance(row, Vpc) and self._shown_to.lacked(row, self._time_of(row), self._world.grace)
        self.sometimes["listings hid what was there for a grace"] += hidden
        return hidden

    def changed_tenant(self, life: Life) -> bool:
        """Whether it was ordered with a key of no known tenant, and the Secret has held another key since."""
        ordered = any(order.uid == life.uid for order in self._world.cloud.orders)
        return ordered and self._world.actors.changed_keys and not life.status.get("tenancy")

    def beyond_telling(self, life: Life) -> bool:
        """Whether an order had no clear answer, and was carried out, or listed, later than a grace after it.

        A cloud known to be that late wants a longer --create-grace-seconds (docs/adr/0002). Or the cloud gave what was ordered
        a name of its own, and the process that was told it ended before the apiserver had taken it: nothing tells that name.
        """
        orders = [order for order in self._world.cloud.orders if order.uid == life.uid]
        rows = [row for _, row, maker in self._world.cloud.live() if maker == life.uid]
        late = max((self._delay(row, orders) for row in rows), default=0.0) + self._world.cloud.lag
        unheard = any(name_of(row) in self._world.cloud_names and self._made_unclear(row, orders) for row in rows)
        return unheard or (any(order.answer != "accepted" for order in orders) and late >= self._world.grace)

    def _delay(self, row: Row, orders: list[Order]) -> float:
        """How long after its order, the last one before it, a thing was made, if that order had no clear answer."""
        before = [order for order in orders if order.at <= self._time_of(row)]
        return self._time_of(row) - before[-1].at if before and before[-1].answer != "accepted" else 0.0

    def _made_unclear(self, row: Row, orders: list[Order]) -> bool:
        """Whether the last order before a thing was made had no answer that its process could record."""
        before = [order for order in orders if order.at <= self._time_of(row)]
        return bool(before) and before[-1].answer == "unclear"

    def weigh(self, life: Life) -> None:
        """Ready=True only while it is true, or within the documented delay."""
        now = self._world.loop.time()
        lying = self._lies(life)
        if life.lie_since is not None and now - max(life.lie_since, self.last_disturbance) > self.patience():
            since = max(life.lie_since, self.last_disturbance)
            self.found("ready", f"{life.name} said {life.ready} for {now - since:.1f} s when it was not so")
            life.lie_since = None
        if not lying:
            life.lie_since = None
        elif life.lie_since is None:
            life.lie_since = now

    def patience(self) -> float:
        """For how long a status may be untrue: a poll when all is well; until blindness is owned when it is not.

        Blind is also who does not believe a listing, as too much is gone at once.
        """
        settings, lag = self._world.scenario.settings, self._world.cloud.lag
        calm = settings.poll_steady_seconds + 5.0 + settings.poll_pending_seconds
        if self._world.weather.over:
            return calm + 60.0 + (settings.blind_after_seconds if self._much_vanished() else 0.0)
        return calm + max(settings.blind_after_seconds, 3 * settings.poll_steady_seconds) + 120.0 + lag

    def _much_vanished(self) -> bool:
        last = max(self.vanished.values(), default=0.0)
        return sum(last - at < IMPLAUSIBLE_SECONDS for at in self.vanished.values()) >= IMPLAUSIBLE

    def _lies(self, life: Life) -> bool:
        if life.now is None or life.deleting or not life.ready.startswith("True/"):
            return False
        rows = [
            row
            for table, row, maker in self._world.cloud.live()
            if maker == life.uid or (life.chosen and table == TABLES[life.kind] and self._is_taken_for(life, row))
        ]
        if life.kind == "GpuVpc":
            there = {row.name for row in self._world.cloud.world.vpcs.table.rows()}
            return life.spec.get("name") not in there
        if life.kind == "GpuSnapshot":
            return not any(row.ready_at <= self._world.cloud.now() and not row.leaving for row in rows)
        wanted = {"True/Running": "ONLINE", "True/PoweredOff": "OFFLINE"}.get(life.ready)
        return wanted is not None and not any(row.status == wanted for row in rows)

    def _is_taken_for(self, life: Life, row: Any) -> bool:
        """Whether somebody made this under the life's chosen name when nobody could tell it from ours."""
        spec = life.spec.get("vmName") or life.spec.get("snapshotName")
        return spec == name_of(row) and self.ambiguous(life.kind, row)

    def _note_write(self, life: Life) -> None:
        """No object is written hot."""
        self.rates.mutated(life, "writes")
        if _often(life.writes, self._world.loop.time(), WRITES_A_MINUTE):
            self.found("hot writes", f"{life.name} was written {WRITES_A_MINUTE} times within a minute")

    def _note_send(self, life: Life, operation: str) -> None:
        self.rates.mutated(life, "calls")
        if _often(life.sends, self._world.loop.time(), SENDS_A_MINUTE):
            self.found("hot calls", f"{operation} was sent {SENDS_A_MINUTE} times within a minute for {life.name}")

    def _note_listing(self, operation: str, now: float) -> None:
        if _often(self._listings.setdefault(operation, deque()), now, LISTINGS_A_MINUTE):
            self.found("hot listings", f"{operation} was sent {LISTINGS_A_MINUTE} times within a minute")

    def secret_is_going(self, namespace: str) -> bool:
        """Whether the Secret of a namespace was deleted, and is held for what its objects have in the cloud."""
        found = self._world.actors.admin.get(f"/api/v1/namespaces/{namespace}/secrets/key")
        if found is None or "deletionTimestamp" not in found["metadata"]:
            return False
        users = [life for life in self.books.standing() if life.last["metadata"]["namespace"] == namespace]
        owners = {maker for _, _, maker in self._world.cloud.live()}
        # One that is lost may be there still, as listings may be wrong; one that was accepted, or not answered, may yet come.
        states = {life.uid: (life.status.get("order") or {}).get("state") for life in users}
        held = set(states.values()) & {"Lost", "Accepted", "Unclear", "Overdue"}
        # So may one that cannot be looked for, as its own status says: its owner has made its spec name another place.
        blind = any(states[life.uid] in {"Seen", "Destroying"} and life.stalled for life in users)
        return bool(held) or blind or any(life.uid in owners for life in users)

    def account_calls(self, namespace: str) -> bool:
        """Whether the account of a namespace says that its key is another tenant's, which only a person can put right."""
        found = self._world.actors.admin.get(f"/apis/gpucloud.dev/v1alpha1/namespaces/{namespace}/gpucloudaccounts/default")
        said = ((found or {}).get("status") or {}).get("conditions") or ()
        return any((one["type"], one["status"], one["reason"]) == ("Stalled", "True", "TenantMismatch") for one in said)

    async def end(self) -> None:
        """All is over: what is wanted comes true, then it is quiet."""
        await ending.judge(self._world, self)
        if SimulatedLog.searched:
            for replica in self._world.replicas:
                if replica.process.alive and replica.engine is not None:
                    self.show(generate_latest(replica.engine.metrics.registry).decode())

    def rest(self) -> None:
        """After everything: what can only be said at the end."""
        for context in self._world.loop.failures:
            if "was destroyed but it is pending" not in str(context.get("message")):
                self.found("lost task", f"{context.get('message')}: {context.get('exception')!r}")


def asked_name(request: Request) -> str:
    """The name that a changing request is about."""
    if request.body and request.method != "GET":
        said = json.loads(request.body)
        return str(said.get("name") or said.get("id") or "")
    return next((value for name, value in request.query if name.lower() == "id"), "")


def asked_place(request: Request, tenant: str) -> tuple[str, str, str]:
    """The VPC (empty of a VPC), the cluster and the tenant in which something is ordered."""
    said = json.loads(request.body) if request.body else {}
    return str(said.get("vpc") or said.get("namespace") or ""), str(said.get("cluster") or ""), tenant


def _often(times: deque[float], now: float, many: int) -> bool:
    """Whether this is the one too many within a minute; then counting begins anew."""
    times.append(now)
    while times[0] < now - 60.0:
        times.popleft()
    if len(times) < many:
        return False
    times.clear()
    return True
