"""Defects of histories that somebody has met: on a second cloud, or by reading."""

from __future__ import annotations

import dataclasses
import math
import sys
from typing import Any

from gpucloud.cloud import errors, parsing
from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.engine.cloud import listings
from gpucloud.engine.cloud.inventory import Inventory
from gpucloud.engine.controller.pacing import WritePacer
from gpucloud.engine.controller.urgency import urgent
from gpucloud.engine.kinds import dependents, needs, sharing
from gpucloud.engine.kinds.order_tracking import OrderTracker
from gpucloud.engine.kinds.preconditions import Preconditions
from gpucloud.engine.kube.client import KubeClient
from gpucloud.engine.runtime.supervisor import Supervisor
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.meta import Annotation, ConditionType
from gpucloud.reconcile import continuity, evidence, placement, tenancy
from gpucloud.reconcile.accepted_absence import AcceptedAbsence
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.continuity import Gap, Match, Sightings
from gpucloud.reconcile.core import create
from gpucloud.reconcile.gpucloudaccount import delete as account_delete
from gpucloud.reconcile.gpucloudaccount import secret_finalizer
from gpucloud.reconcile.gpuvm import decide as decide_vm
from gpucloud.reconcile.gpuvm import power
from gpucloud.reconcile.gpuvm.decide import _first
from gpucloud.reconcile.placement import Placement
from gpucloud.reconcile.transitions import ACCEPTED_GRACES, MAY_EXIST, OrderEvent
from simulation.defects.transitions import lead
from simulation.planting import Defect, named, replace

MET: dict[str, Defect] = {}


@named(MET, "a lost chosen name stays ours")
def lost_stays_ours() -> None:
    """What was lost may still exist, so whoever has taken its chosen name since is taken for it."""
    replace(MAY_EXIST, MAY_EXIST | {OrderState.LOST})


@named(MET, "what came back after a doubted listing is taken for the same")
def doubted_return() -> None:
    """A return counts only after two listings that were believed, and a process believes that it looked all the time."""
    gap_since = continuity.gap_since

    def gap(sightings: Sightings, *rest: Any, **more: Any) -> Gap:
        found = gap_since(sightings, *rest, **more)
        passes = found is Gap.LACKED or (found is Gap.UNWATCHED and sightings.last is not None)
        return Gap.WATCHED if passes else found

    replace(gap_since, gap)


@named(MET, "what came back is taken for the same")
def return_is_the_same() -> None:
    """Under a chosen name nothing is ever made anew."""
    replace(continuity.judged, lambda _, as_of, *__: (Match.SAME, Sightings(as_of)))


@named(MET, "an order that is proven never made stays unclear")
def never_made_stays_unclear() -> None:
    """Two listings without it prove nothing of an unclear order."""
    lead(OrderState.UNCLEAR, OrderEvent.MISSING, OrderState.UNCLEAR)


@named(MET, "the words 'not found' make a 5xx a certain refusal")
def words_are_certain() -> None:
    """The words of an answer count for more than its status."""
    is_ambiguous = errors.is_ambiguous
    replace(
        is_ambiguous,
        lambda kind, *rest, safe: kind is not ErrorKind.NOT_FOUND and is_ambiguous(kind, *rest, safe=safe),
    )


@named(MET, "what the acceptance names is not read")
def acceptance_unread() -> None:
    """The id and the place in the answer to an order are dropped."""
    replace(placement.placement_from_answer, lambda *_: Placement(None, None, None))


@named(MET, "an accepted order is repeated without end")
def reordered_without_end() -> None:
    """What was accepted and never shown is ordered again, however often."""
    replace(create.overdue, lambda _: None)


@named(MET, "a listing with another cluster's record is complete")
def foreign_record_is_complete() -> None:
    """Neither another cluster's record nor a higher count makes a listing incomplete."""
    flaw = parsing._flaw
    replace(listings.of_cluster, lambda listing, _: listing)
    replace(flaw, lambda named, listed, total: flaw(named, listed, total if total and total > 10 * listed + 10 else None))


@named(MET, "a restart shortens the waits")
def restart_shortens_waits() -> None:
    """A new process does not wait for an order of an earlier one."""
    missing_from = evidence.missing_from
    replace(
        missing_from,
        lambda tracked, grace, first_seen: missing_from(tracked, grace, first_seen) if tracked.own else first_seen,
    )


@named(MET, "a restart shortens the wait between destroying calls")
def destroyed_anew() -> None:
    """A new process sends the destroying call at once, as if no status told of the one that was sent a moment ago."""
    replace(OrderTracker._recall_destroying, lambda *_: None)


@named(MET, "gone after one listing")
def gone_after_one() -> None:
    """One listing that lacks what was destroyed proves that it is gone."""
    is_missing = evidence._is_missing
    replace(is_missing, lambda tracked, *rest: tracked.state is OrderState.DESTROYING or is_missing(tracked, *rest))


@named(MET, "what was destroyed waits like what was accepted")
def destroyed_waits() -> None:
    """What was destroyed is gone only when listings have lacked it for as long as an accepted order is waited for."""
    is_missing = evidence._is_missing

    def missing(tracked: Any, found: Any, grace: float, first_seen: float) -> bool:
        if tracked.state is OrderState.DESTROYING and found.confirmed is not None:
            found = dataclasses.replace(found, confirmed=found.confirmed - ACCEPTED_GRACES * grace)
        return is_missing(tracked, found, grace, first_seen)

    replace(is_missing, missing)


@named(MET, "an accepted absence stays in force")
def absence_stays_accepted() -> None:
    """Once a person has said that a thing is gone, no other credential and no other tenant is doubted."""
    check_tenant = tenancy.check_tenant

    def checked(found: Any, tenant: str | None, account: Any, since: float, **more: Any) -> Any:
        accepted = more.get("accepted", AcceptedAbsence())
        if tenant is not None and accepted.until >= 0:
            account = dataclasses.replace(account, tenants=frozenset({tenant}))
        return check_tenant(found, tenant, account, since, **more)

    replace(AcceptedAbsence.of_credential, lambda self, _since: self)
    replace(check_tenant, checked)


@named(MET, "a snapshot under way does not hold its VM")
def snapshot_holds_nothing() -> None:
    """A VM may go while a snapshot of it is being taken."""
    replace(dependents._is_being_taken, lambda *_: False)


@named(MET, "a VM takes along a snapshot that another is made from")
def takes_along() -> None:
    """Only a snapshot that is itself being deleted is seen to be in use."""
    found = dependents.dependents_of_snapshot
    replace(found, lambda objects, snapshot: found(objects, snapshot) if snapshot.meta.deleting else iter(()))


@named(MET, "a namespace copies the disk of another's VM")
def copies_another_disk() -> None:
    """A snapshot may name any VM of a shared account."""
    replace(sharing.vm_by_name, lambda *_: iter(()))


@named(MET, "a namespace adopts the VPC of another")
def adopts_another_vpc() -> None:
    """A GpuVpc may adopt any VPC of a shared account."""
    replace(sharing.adoption, lambda *_: None)


@named(MET, "a restart annotation counts again when the status was wiped")
def restarted_again() -> None:
    """A request to restart that stood there when the record was lost counts as new."""

    def request(f: Any) -> str | None:
        asked = f.meta.annotations.get(Annotation.RESTART_REQUESTED_AT)
        return asked if asked and asked != f.status.last_handled_restart_at else None

    replace(power._restart_request, request)
    replace(decide_vm, _first)


@named(MET, "a spec that names another place overwrites the record")
def moved_unnoticed() -> None:
    """A spec is never seen to name another place than the order."""
    replace(placement.is_moved, lambda *_: False)


@named(MET, "objects that wait for each other quote each other")
def nested_words() -> None:
    """The message of an object that waits holds the message of the one that it waits for, which may hold its own."""

    def message(stored: Any) -> str:
        ready = find(stored.status.conditions, ConditionType.READY)
        return "" if ready is None else f"({ready.reason}: {ready.message})"

    replace(needs._message, message)


@named(MET, "a status write that was refused or undone is repeated at once")
def writes_at_once() -> None:
    """Status writes are neither paced nor guarded by a version."""
    call = KubeClient.call

    async def forced(self: KubeClient, method: str, path: str, body: Any = None, **kinds: str) -> Any:
        if method == "PUT" and "/status?" in path:
            body["metadata"].pop("resourceVersion")
            return await call(self, "PATCH", f"{path}&force=true", body, content_type="application/apply-patch+yaml")
        return await call(self, method, path, body, **kinds)

    replace(WritePacer.not_before, lambda *_: -math.inf)
    replace(call, forced)


@named(MET, "a poller that dies stays dead")
def stays_dead() -> None:
    """An unexpected error ends a poller, and no task is started again."""
    run, mark_unknown = Supervisor._run, Inventory._mark_unknown

    def marked(self: Inventory[Any], *rest: Any) -> Any:
        met = sys.exception()
        if isinstance(met, Exception) and not isinstance(met, CloudError):
            raise met
        return mark_unknown(self, *rest)

    replace(run, lambda self, *rest, **more: run(self, *rest, **more | {"restart": False}))
    replace(mark_unknown, marked)


@named(MET, "something is bought with a Secret that is being deleted")
def dying_secret_buys() -> None:
    """Neither the plan nor the last check before a creating call asks whether the Secret is being deleted."""
    serves = needs._account_serves
    replace(Preconditions._may_create, lambda *_: True)
    replace(serves, lambda account, **which: serves(dataclasses.replace(account, blocker=None), **which))


@named(MET, "a Secret is held for objects that have bought nothing")
def held_for_nothing() -> None:
    """Every user of a Secret holds it, whether or not it has anything in the cloud."""
    unneeded, waited_for = secret_finalizer.is_unneeded, account_delete._only_waited_for

    def all_hold(f: Any) -> Any:
        return dataclasses.replace(f, users_with_resources=f.users)

    replace(unneeded, lambda f, secret: unneeded(all_hold(f), secret))
    replace(waited_for, lambda f: waited_for(all_hold(f)))


@named(MET, "what is destroyed is recorded afterwards")
def destroyed_unrecorded() -> None:
    """That the order is about to be destroyed only informs, so the call leaves before a status says so.

    Killed right after the answer, the operator knows nothing of its call: who takes a chosen name meanwhile loses a VM.
    """

    def informs(before: Any, after: Any, *rest: Any) -> bool:
        stood, stands = getattr(before, "order", None), getattr(after, "order", None)
        if stood is not None and stands is not None and stands.state is OrderState.DESTROYING:
            before_it = {"state": stood.state, "destroying_call": stood.destroying_call}
            after = after.model_copy(update={"order": stands.model_copy(update=before_it)})
        return urgent(before, after, *rest)

    replace(urgent, informs)
