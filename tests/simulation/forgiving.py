"""What the judge forgives: the reasons for which nobody could have known better, each with its name, in one place.

Each use of a reason is counted in ``sometimes``, so that a campaign tells how often each has kept the judge silent.
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING, Any

from gpucloud.sim.world.vms import Vm
from gpucloud.sim.world.vpcs import Vpc
from simulation.books import TABLES
from simulation.cloud import CREATES, Order, name_of, place_of
from simulation.process import EPOCH
from simulation.witness import Witness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.books import Intent, Life
    from simulation.cloud import Row
    from simulation.listings import Hidden

ACCEPTED_GRACES = 10  # for so long what was accepted is waited for
FRESH_SECONDS = 10.0  # for so long a listing, or a record, may be acted upon
TAKEN_OVER_SECONDS = 120.0  # until another process acts in place of one that ended: it starts, or waits for the Lease
LISTINGS = {"GpuVM": "GetServers", "GpuVpc": "GetVpcs", "GpuSnapshot": "GetSnapshots"}
FORGIVEN = {
    # Of a thing of ours: why nobody could know that it is there.
    "made late": "its order had no clear answer, and it was made, or shown as listings lag, later than that is waited for",
    "name unheard": "the cloud gave it a name of its own, and the process that was told it ended before it could record it",
    "record lost": "its name has no mark, and somebody else wrote the status that recorded it, which says so no more",
    "tenant unknown": "the Secret held another tenant's key before a listing showed it, and no status said whose the first was",
    "hidden": "its name was chosen, and every plausible listing has lacked it for a grace, or did when it was recorded as lost",
    "absence accepted": "a person said that it is gone, when listings lacked it, and they have lacked it since",
    "older shown": "its name was chosen, and a listing that lagged showed an older VM of it, which passed for the order's",
    "finalizer taken": "its name has no mark, and somebody took the finalizer, with the record, away",
    # Of a stranger's thing under a name that one of ours has chosen: why nobody could tell it from ours.
    "order open": "it was made while an order of ours for that name had no clear answer, or was accepted and waited for",
    "order unsent": "an order was recorded, and its process ended before sending it: the record is the same as of one sent",
    "another tenant's": "an order was recorded before its tenant was known, and not sent; a later key is of this one's tenant",
    "status lost": "somebody else wrote the status of an object that stands, after our order: nothing tells what became of it",
    "two looks": "it was made before two listings could have shown that ours was gone",
    "many vanished": "several others went with ours, so that no listing was believed, and none had shown an address of ours",
    # Of a call.
    "call on its way": "it was sent before the object was released, and carried out later: no call can be taken back",
}


class Forgiving(Witness):
    """Says why nobody could have known better; an empty text where somebody could."""

    def forgives(self, reason: str) -> bool:
        """Whether there is a reason; it is counted."""
        if reason:
            self.sometimes[f"forgiven: {reason}"] += 1
        return bool(reason)

    # Things of ours.

    def untraceable(self, life: Life, row: Row) -> str:
        """Why nobody could know that this thing of an object is there."""
        order = self._order_of(life, row)
        if order is None:
            return ""
        reasons = {
            "made late": order.answer != "accepted" and self._shown(self.time_of(row)) - order.at >= self._waited(order),
            "name unheard": name_of(row) in self._world.cloud_names and order.answer == "unclear",
            "record lost": self._is_forgotten(life, row, order),
            "tenant unknown": self._is_anothers(life, row, order),
            "older shown": life.chosen and self._passed_for_older(life, row, order),
            "absence accepted": life.accepted_at >= order.at and self._was_missed(life, row),
        }
        return next((reason for reason, holds in reasons.items() if holds), "")

    def _is_forgotten(self, life: Life, row: Row, order: Order) -> bool:
        """Whether neither its name nor a record tells whose it is, since somebody else wrote the status.

        What the operator put back, or took for the object's again by what it remembers or by a listing, it knows.
        """
        return (
            self.is_unmarked(life, row)
            and life.tampered_at >= order.at
            and not life.has_told_anew(name_of(row), place_of(row)[0])
        )

    def _passed_for_older(self, life: Life, row: Row, order: Order) -> bool:
        """Whether an older VM was shown after the order, and no status recorded this one since it was shown itself."""
        older, shown = self._shown_to.shown_from(row, order.at)
        return older and life.told_at(name_of(row), place_of(row)[0]) <= shown

    def _was_missed(self, life: Life, row: Row) -> bool:
        """Whether listings lacked it when a person said that it is gone, and since, or none was ever made to show it."""
        credential = self._sightings.held(life.namespace)
        if not self._shown_to.has_shown(row, self.time_of(row), credential):
            return True
        return self._shown_to.lacked_since(row, credential) <= life.accepted_at + FRESH_SECONDS

    def _waited(self, order: Order) -> float:
        """For how long an order is waited for: longer if it was, or may have been, accepted."""
        return self._world.grace * (ACCEPTED_GRACES if order.answer == "accepted" or order.perhaps else 1)

    def came_and_went(self, life: Life, intent: Intent, reader: str = "") -> bool:
        """Whether a listing has shown what was ordered with a record, and two have lacked it since.

        With a ``reader``, only the listings that came to it count. No status need say so: while the apiserver is away none can
        be written.
        """
        table, cloud, between = TABLES[life.kind], self._world.cloud, self._sightings.between
        for change in getattr(cloud.world, table).table.changes:
            row = change.before
            if change.after is not None or cloud.maker_of(table, row) != life.uid or self.time_of(row) < intent.committed:
                continue
            gone = self._shown(change.at - cloud.epoch)
            shown = between(row, life.namespace, self._shown(self.time_of(row)), gone, reader)
            if shown and between(row, life.namespace, gone, self._world.loop.time(), reader) > 1:
                return True
        return False

    def is_unproven(self, life: Life) -> bool:
        """Whether an order for a chosen name had no clear answer, or none that was recorded before its process ended."""
        if not life.chosen or life.kind == "GpuVpc":
            return False
        cut = (self._recorded(intent) <= at <= intent.until for intent in life.intents for at in self._kills)
        return any(cut) or any(one.answer == "unclear" or one.perhaps for one in self._world.cloud.orders.of(life.uid))

    def is_unmarked(self, life: Life, row: Row) -> bool:
        """Whether its name tells nobody whose it is: it was chosen, or the cloud gave it."""
        return life.chosen or name_of(row) in self._world.cloud_names

    def _order_of(self, life: Life, row: Row) -> Order | None:
        """The order that made this thing: the last one of its name before it that was not refused."""
        asked, made = self._world.cloud_names.get(name_of(row), name_of(row)), self.time_of(row)
        orders = [one for one in self._world.cloud.orders.of(life.uid) if one.name == asked and one.at <= made]
        return next((one for one in reversed(orders) if one.answer != "refused"), None)

    def _is_anothers(self, life: Life, row: Row, order: Order) -> bool:
        """Whether no status says the tenant of its order, and the Secret held another's key before a listing showed it.

        Nor does one that somebody put back from before the order, unless an operator has put it right (known limits). When the
        right key has shown a thing that bears a mark, it is known again.
        """
        put_back = life.tampered_at >= order.at and not life.has_told_anew(name_of(row), place_of(row)[0])
        if (order.tenancy and not put_back) or order.tenant == life.status.get("tenancy"):
            return False
        lost = max(order.at, life.tampered_at) if put_back else order.at
        since = self._sightings.held_another(life.namespace, order.tenant, lost)
        shown = max(self._shown(self.time_of(row)), lost)
        until = since if self.is_unmarked(life, row) else max(since, self._world.loop.time() - FRESH_SECONDS)
        return since < math.inf and not self._sightings.between(row, life.namespace, shown, until)

    def was_hidden(self, life: Life, row: Row) -> str:
        """Whether all plausible listings have lacked a VM or snapshot for a grace, although it is there and had been shown.

        Once one shows it again, only while the record says that what had this name is lost: whatever comes back under it may be
        another's then (docs/reliability.md, known limits).
        """
        if not life.chosen or isinstance(row, Vpc):
            return ""
        return "hidden" if any(not run.over or life.says_missing for run in self._hidden(row)) else ""

    def is_hidden(self, row: Row) -> bool:
        """Whether all plausible listings have lacked a thing for a grace up to now, although it is there and had been shown."""
        return any(not run.over for run in self._hidden(row))

    def has_lately_lacked(self, reader: str, row: Row, since: float) -> bool:
        """Whether a listing that a process had since a time lacked a thing, although it is there."""
        return self._shown_to.lacked_lately(row, reader, since)

    def untruly_shown(self, life: Life) -> float:
        """When an untrue listing, as an old one, last showed what an object records: nobody can tell it from a true one."""
        return self._shown_to.untruly_shown(LISTINGS[life.kind], life.clusters(), life.mentions)

    def _hidden(self, row: Row) -> list[Hidden]:
        ours = frozenset(name_of(one) for _, one, maker in self._world.cloud.live() if maker in self.books.lives)
        return self._shown_to.hidden(row, self.time_of(row), self._world.grace, ours)

    # Strangers' things.

    def ambiguous(self, kind: str, row: Any) -> bool:
        """Whether nobody could tell that this thing of a CHOSEN name is a stranger's."""
        return self.forgives(next(self._doubts(kind, row), ""))

    def _doubts(self, kind: str, row: Any) -> Iterator[str]:
        yield from self._doubts_of_unsent(kind, row)
        for order in self._world.cloud.orders:
            asked = order.name, CREATES[order.operation], (order.cluster.casefold(), order.vpc)
            life = self.books.lives.get(order.uid)
            if asked != (name_of(row), kind, place_of(row)) or order.answer == "refused" or life is None or not life.chosen:
                continue
            if life.is_outlived_by(self.time_of(row), self.heard_within()):
                continue  # nobody acts any more for what is gone, and what others have ordered has orders of its own
            if self._free_at(kind, order.at) <= self.time_of(row):
                if life.tampered_at >= order.at:
                    yield "status lost"
                if self._is_open(life, order, kind, row):
                    yield "order open"
        yield from self._came_unseen(kind, row)

    def _doubts_of_unsent(self, kind: str, row: Any) -> Iterator[str]:
        for life, intent in ((one, intent) for one in self.books.lives.values() for intent in one.intents):
            if not self._is_unsent(life, intent, kind, row):
                continue
            if self._free_at(kind, self._recorded(intent)) <= self.time_of(row) <= intent.until:
                yield "order unsent"
            if self._was_of_another_tenant(life, intent, row):
                yield "another tenant's"

    def _is_open(self, life: Life, order: Order, kind: str, row: Any) -> bool:
        """Whether it came while an order was unsettled: until two listings after the time for which the order is waited for.

        A process that takes over an order without a clear answer waits for it as for an accepted one (docs/adr/0013).
        Where ours came and went by then, until one listing had shown ours: one that shows late is not told from another's.
        """
        made, between = self.time_of(row), self._sightings.between
        gone = self._gone(kind, row)
        if gone is not None and gone.at >= order.at:
            return not between(row, life.namespace, self._shown(order.known), self._shown(gone.at))
        known = order.known or made
        until = known + self._waited(order)
        for ended in (at for at in self._kills if known <= at <= until):  # who takes an unclear order over counts anew
            until = max(until, ended + TAKEN_OVER_SECONDS + self._world.grace * ACCEPTED_GRACES)
        return between(row, life.namespace, until, self._shown(made)) < 2

    def _came_unseen(self, kind: str, row: Any) -> Iterator[str]:
        """Ours had gone, and it came before that could be known by the listings of the account of our object.

        What another namespace's account shows is nothing to go by (docs/adr/0004), nor is what a process was shown right before
        it died, as it had no time to record it. That many vanished is a known limit (docs/reliability.md).
        """
        made, between = self.time_of(row), self._sightings.between
        gone = self._gone(kind, row)
        if gone is None:
            return
        if between(row, gone.namespace, self._shown(gone.at), self._shown(made)) < 2:
            yield "two looks"
        unaddressed = kind == "GpuVM" and between(row, gone.namespace, self._shown(gone.addressed_at), gone.at) < 1
        if unaddressed and self.many_vanished(kind, gone.at):
            yield "many vanished"

    def _free_at(self, kind: str, ordered: float) -> float:
        """The time of which the listing tells by which the name was free at this order: none that is older is acted upon."""
        listings = (one for one in self._sightings.listings if one.operation == LISTINGS[kind] and one.arrived <= ordered)
        looked = max((one.at for one in listings if ordered - FRESH_SECONDS <= one.at <= ordered), default=ordered)
        return looked - self._lag_at(looked)

    def _is_unsent(self, life: Life, intent: Intent, kind: str, row: Any) -> bool:
        """Whether a thing bears the chosen name of an order that its process could not send any more: a known limit."""
        if (life.kind, life.chosen, intent.name) != (kind, True, name_of(row)):
            return False
        if life.is_outlived_by(self.time_of(row), self.heard_within()):
            return False
        began = self._recorded(intent)
        sent = any(began <= one.at <= intent.until for one in self._world.cloud.orders.of(life.uid))
        killed = any(began <= at <= intent.until for at in self._kills)
        return killed and not sent

    def _was_of_another_tenant(self, life: Life, intent: Intent, row: Any) -> bool:
        """Whether an order was recorded with a key of another tenant than that of the thing, and no status tells of which."""
        tenant, began = (row.order if isinstance(row, Vm) else row).tenant, self._recorded(intent)
        told = life.status.get("tenancy")
        return told in {None, tenant} and self._sightings.held_another(life.namespace, tenant, began) <= began

    def _recorded(self, intent: Intent) -> float:
        """When a record was made, by the clock of the process whose record can have been committed at that time."""
        said = (datetime.fromisoformat(intent.recorded_at) - EPOCH).total_seconds() if intent.recorded_at else intent.committed
        times = (said - process.skew for process in self._world.processes)
        return max((at for at in times if at <= intent.committed), default=intent.committed)
