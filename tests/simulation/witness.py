"""What happened in a history, and what of it anybody could know: the judge's own record, which asks no product code.

What is excused stands beside each question, with the reason.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from gpucloud.sim.world.vms import Vm
from simulation.books import TABLES, Books, Life
from simulation.cloud import key_of, name_of, place_of
from simulation.listings import Listings
from simulation.sightings import Sightings

if TYPE_CHECKING:
    from simulation.world import World

IMPLAUSIBLE, IMPLAUSIBLE_SECONDS = 3, 60.0  # so many things gone within one interval of listings are not believed to be
CALL_SECONDS = 45.0
OUTAGE_SECONDS = 300.0  # of the apiserver, or of a watch that is cut, and taken up again ever later
RESTORED_SECONDS = 840.0  # two resyncs of five minutes each, the probes that end the process, and what it then has to order


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
        return self._appeared.get(life.uid) == self.restored_at and self.has_just_gone_back(life)

    def has_just_gone_back(self, life: Life) -> bool:
        """Whether somebody put back an older record so lately that what was done since may be done again, or be unknown."""
        return self._world.loop.time() - life.restored_at < RESTORED_SECONDS

    def heard_within(self) -> float:
        """Seconds within which an operator has heard what somebody said, and its last call from before has arrived."""
        deaf = self._world.weather.deafens() and self._world.loop.time() - self._world.healed_at < OUTAGE_SECONDS
        return CALL_SECONDS + (OUTAGE_SECONDS if deaf else 0.0)

    def hindered_until(self) -> float:
        """Until when whoever writes statuses could not know, or say, what is so: asleep or dead, or the apiserver away."""
        now, back = self._world.loop.time(), self._world.kube_back_at()
        return max(self.last_disturbance, min(now, back))

    def secret_going_since(self, namespace: str) -> float | None:
        """Since when the Secret of a namespace is being deleted; None when it is not."""
        return self._secrets.get(namespace)

    def time_of(self, row: Any) -> float:
        return float(row.created) - self._world.cloud.epoch

    def _gone(self, kind: str, row: Any) -> _Gone | None:
        """When the last of ours of its name and place had gone before a thing was made, and the namespace of its object."""
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
            and (name_of(change.before), place_of(change.before)) == (name_of(row), place_of(row))
            and (maker := cloud.makers.get((TABLES[kind], key_of(change.before)), "")) in lives
        ]
        return max((end for end in ends if end.at <= self.time_of(row)), default=None)

    def many_vanished(self, kind: str, when: float) -> bool:
        """Whether so many of a kind of ours went within a minute of a time that a listing without them is not believed."""
        went = (at for uid, at in self.vanished.items() if self.books.lives[uid].kind == kind)
        return sum(abs(when - at) < IMPLAUSIBLE_SECONDS for at in went) >= IMPLAUSIBLE

    def _shown(self, at: float) -> float:
        """When listings show what was so at a time: as much later as they lag then, and they lag until the faults are over."""
        lags = self._world.cloud.lags
        ends = (*(one.since for one in lags[1:]), self._world.healed_at)
        shown = (
            max(one.since, at + one.seconds)
            for one, end in zip(lags, ends, strict=True)
            if max(one.since, at + one.seconds) < end
        )
        return next(shown, max(at, self._world.healed_at))

    def _lag_at(self, at: float) -> float:
        """How far behind a listing of this time was."""
        if at >= self._world.healed_at:
            return 0.0
        return self._world.cloud.behind(at)

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
        # And what a record of another object's order tells of, which a backup tool put there: nothing shows what became of it.
        others = any(self._records_anothers(life) for life in users if states[life.uid] in {"Seen", "Destroying"})
        return bool(held) or blind or others or any(life.uid in owners or self._has_taken(life) for life in users)

    def _records_anothers(self, life: Life) -> bool:
        """Whether the status tells of an order that was sent for other objects only."""
        return self._world.cloud.orders.are_anothers(str((life.status.get("order") or {}).get("name")), life.uid)

    def _has_taken(self, life: Life) -> bool:
        """Whether an object has something that nobody made for it: adopted, or taken for its own under a chosen name."""
        order = life.status.get("order") or {}
        names = (name_of(row) for table, row, _ in self._world.cloud.live() if table == TABLES[life.kind])
        return order.get("state") in {"Seen", "Destroying"} and order.get("name") in names

    def account_calls(self, namespace: str) -> bool:
        """Whether the account of a namespace says that its key is another tenant's, which only a person can put right."""
        found = self._world.actors.admin.get(f"/apis/gpucloud.dev/v1alpha1/namespaces/{namespace}/gpucloudaccounts/default")
        said = ((found or {}).get("status") or {}).get("conditions") or ()
        return any((one["type"], one["status"], one["reason"]) == ("Stalled", "True", "TenantMismatch") for one in said)
