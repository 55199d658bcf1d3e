"""What happened in a history, and what of it anybody could know: the judge's own record, which asks no product code.

What is excused stands beside each question, with the reason.
"""

from __future__ import annotations

import math
from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from gpucloud.sim.world.vms import Vm
from gpucloud.sim.world.vpcs import Vpc
from simulation.books import TABLES, Books, Intent, Life
from simulation.cloud import CREATES, Order, key_of, name_of
from simulation.listings import Listings
from simulation.process import EPOCH
from simulation.sightings import Sightings

if TYPE_CHECKING:
    from simulation.cloud import Row
    from simulation.world import World

ACCEPTED_GRACES = 10  # for so long what was accepted is waited for
FRESH_SECONDS = 10.0  # for so long a listing may be acted upon
IMPLAUSIBLE, IMPLAUSIBLE_SECONDS = 3, 60.0  # so many things gone within one interval of listings are not believed to be
RESTORED_SECONDS = 840.0  # two resyncs of five minutes each, the probes that end the process, and what it then has to order
LISTINGS = {"GpuVM": "GetServers", "GpuVpc": "GetVpcs", "GpuSnapshot": "GetSnapshots"}


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
    addressed_at: float  # when it got its address; infinite if it never had one


class Witness:
    """The record of one history, and what follows from it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.books = Books()
        self.violations: list[Violation] = []
        self.sometimes: Counter[str] = Counter()
        self.vanished: dict[str, float] = {}  # when what was made for an object was destroyed, by its UID
        self.last_disturbance = 0.0
        self.restored_at = -math.inf  # when etcd last went back in time
        self._secrets: dict[str, float] = {}  # by namespace: since when its Secret is being deleted
        self._sightings = Sightings()
        self._shown_to = Listings()
        self._kills: list[float] = []
        self._appeared: dict[str, float] = {}  # UID to when its object came, or came back

    def found(self, oracle: str, text: str) -> None:
        """It must never be."""
        violation = Violation(oracle, self._world.loop.time(), text)
        self.violations.append(violation)
        self._world.tell("JUDGE", str(violation))

    def appeared(self, life: Life) -> float:
        """When this object came, or came back with a restored backup."""
        return self._appeared[life.uid]

    def may_be_unnoticed(self, life: Life) -> bool:
        """Whether an operator may not have noticed yet that this object came back with a restored backup, older than it was.

        Documented (docs/how-to/disaster-recovery.md): one that runs through the restore may need two resyncs.
        """
        return life.restored and self._world.loop.time() - self.restored_at < RESTORED_SECONDS

    def secret_going_since(self, namespace: str) -> float | None:
        """Since when the Secret of a namespace is being deleted; None when it is not."""
        return self._secrets.get(namespace)

    def ambiguous(self, kind: str, row: Any) -> bool:
        """Whether nobody could tell that this thing of a CHOSEN name is a stranger's.

        Excused: it was made before two good listings by the account of our object, begun after ours went, could have shown that
        ours is gone (what another namespace's account shows is nothing to go by, docs/adr/0004); or while
        an order of ours for that name was without a clear answer, up to two good listings after the grace that follows it;
        or while an accepted order that the cloud forgot was waited for; or so shortly before the order that no listing
        showed it. What a process was shown right before it died counts for nothing: it had no time to record it.
        Excused, too: several others went with ours, so that no listing was believed, and none had shown an address of ours, so
        that nothing tells what came back from it: a known limit (docs/reliability.md). And the owner wiped or restored the
        status, so that nothing tells any more what happened. And an order was recorded whose process was killed, or ended, and
        was never sent: a known limit, too, since the record cannot tell it from one whose process was killed right after
        sending it.
        """
        if any(self._is_unsent(life, intent, kind, row) for life in self.books.lives.values() for intent in life.intents):
            return True
        name, made, shown, between = name_of(row), self._time_of(row), self._shown, self._sightings.between
        orders = [one for one in self._world.cloud.orders.named(name) if CREATES[one.operation] == kind]
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
        if gone is None:
            return False
        unaddressed = kind == "GpuVM" and between(row, gone.namespace, shown(gone.addressed_at), gone.at) < 1
        return (unaddressed and self.many_vanished(gone.at)) or between(row, gone.namespace, shown(gone.at), shown(made)) < 2

    def _is_unsent(self, life: Life, intent: Intent, kind: str, row: Any) -> bool:
        """Whether a thing was made under the chosen name of an order that its process could not send any more."""
        if (life.kind, life.chosen, intent.name) != (kind, True, name_of(row)):
            return False
        began = self._recorded(intent)
        sent = any(began <= one.at <= intent.until for one in self._world.cloud.orders.of(life.uid))
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
        changes = getattr(cloud.world, TABLES[kind]).table.changes
        addressed: dict[int, float] = {}
        for change in changes:
            if isinstance(change.after, Vm) and change.after.ip:
                addressed.setdefault(change.after.uid, change.at - cloud.epoch)
        ends = [
            _Gone(change.at - cloud.epoch, lives[maker].namespace, addressed.get(getattr(change.before, "uid", 0), math.inf))
            for change in changes
            if change.after is None
            and name_of(change.before) == name
            and (maker := cloud.makers.get((TABLES[kind], key_of(change.before)), "")) in lives
        ]
        return max((end for end in ends if end.at <= before), default=None)

    def many_vanished(self, when: float) -> bool:
        """Whether so much of ours went within a minute of a time that a listing without it is not believed."""
        return sum(abs(when - at) < IMPLAUSIBLE_SECONDS for at in self.vanished.values()) >= IMPLAUSIBLE

    def _shown(self, at: float) -> float:
        """When listings show what was so at a time: a lag later, while they lag."""
        return max(at, min(at + self._world.cloud.lag, self._world.healed_at))

    def was_hidden(self, row: Row) -> bool:
        """Whether every listing lacked a VM or snapshot for a grace, although it was there and had been shown."""
        hidden = not isinstance(row, Vpc) and self._shown_to.lacked(row, self._time_of(row), self._world.grace)
        self.sometimes["listings hid what was there for a grace"] += hidden
        return hidden

    def changed_tenant(self, life: Life) -> bool:
        """Whether it was ordered with a key whose tenant nobody knew, or learned since, and the Secret has held another."""
        unknown = any(
            not order.tenancy and order.tenant != life.status.get("tenancy") for order in self._world.cloud.orders.of(life.uid)
        )
        return unknown and self._world.actors.changed_keys

    def beyond_telling(self, life: Life) -> bool:
        """Whether an order had no clear answer, and was carried out, or listed, later than a grace after it.

        A cloud known to be that late wants a longer --create-grace-seconds (docs/adr/0002). Or the cloud gave what was ordered
        a name of its own, and the process that was told it ended before the apiserver had taken it: nothing tells that name.
        """
        orders = self._world.cloud.orders.of(life.uid)
        rows = [row for _, row in self._world.cloud.made_for(life.uid)]
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
        return bool(held) or blind or any(life.uid in owners or self._has_adopted(life) for life in users)

    def _has_adopted(self, life: Life) -> bool:
        """Whether a GpuVpc has a VPC that nobody made for it: what is adopted needs the credential like what was made."""
        state, vpcs = (life.status.get("order") or {}).get("state"), self._world.cloud.world.vpcs.table.rows()
        adopts = life.kind == "GpuVpc" and life.spec.get("adoption") in {"IfExists", "Required"}
        return adopts and state in {"Seen", "Destroying"} and any(row.name == life.spec.get("name") for row in vpcs)

    def account_calls(self, namespace: str) -> bool:
        """Whether the account of a namespace says that its key is another tenant's, which only a person can put right."""
        found = self._world.actors.admin.get(f"/apis/gpucloud.dev/v1alpha1/namespaces/{namespace}/gpucloudaccounts/default")
        said = ((found or {}).get("status") or {}).get("conditions") or ()
        return any((one["type"], one["status"], one["reason"]) == ("Stalled", "True", "TenantMismatch") for one in said)
