"""What holds of every decision, whatever the facts, for GpuVM, GpuVpc and GpuSnapshot alike.

The rules are written here once more from docs/adr/0002, and share no code with the steps.
"""

from __future__ import annotations

import os
import random
from dataclasses import fields, replace
from decimal import Decimal

import pytest

from gpucloud.kinds.common import Adoption, DeletionPolicy
from gpucloud.kinds.gpusnapshot import GpuSnapshotSpec
from gpucloud.kinds.gpuvm import GpuVMSpec
from gpucloud.kinds.gpuvpc import GpuVpcSpec
from gpucloud.kinds.meta import Annotation, ConditionType, Reason
from gpucloud.reconcile import gpusnapshot, gpuvm, gpuvpc
from gpucloud.reconcile.facts import CREATES, Absent, Present, Readiness, Unknown, Verb
from gpucloud.reconcile.gpuvm.snapshots import SnapshotsOfVm
from gpucloud.reconcile.naming import fingerprint
from gpucloud.reconcile.ownership import record_id
from support.anyfacts import any_going_vm, any_snapshot, any_vm, any_vpc
from support.builders import NOW, facts
from support.replaced import is_replaced, is_to_be_replaced
from support.snapshotfacts import snapshot_facts
from support.vpcfacts import vpc_facts

DESTROYS = {Verb.DESTROY, Verb.DESTROY_VPC, Verb.DELETE_SNAPSHOT}
POWER = {Verb.START, Verb.STOP}
SITUATIONS = int(os.environ.get("SITUATIONS", "3000"))  # of each kind, always the same
FRESH_SECONDS, GRACE = 10.0, 30.0
KINDS = {
    "GpuVM": (any_vm, facts, {Verb.CREATE, Verb.START, Verb.STOP, Verb.DESTROY, Verb.DELETE_SNAPSHOT}),
    "GpuVpc": (any_vpc, vpc_facts, {Verb.CREATE_VPC, Verb.DESTROY_VPC}),
    "GpuSnapshot": (any_snapshot, snapshot_facts, {Verb.CREATE_SNAPSHOT, Verb.DELETE_SNAPSHOT}),
}
DECIDE = {GpuVMSpec: gpuvm.decide, GpuVpcSpec: gpuvpc.decide, GpuSnapshotSpec: gpusnapshot.decide}


def paused(f):
    return f.meta.annotations.get(Annotation.PAUSED, "false") != "false"


def state(f):
    return None if f.tracked.order is None else f.tracked.order.state


def known_as(f, *states):
    return state(f) in states


def may_stand(f):
    """Something may be there, or appear, for the order on record."""
    return known_as(f, "Intended", "Accepted", "Unclear", "Overdue", "Seen", "Destroying")


def chosen_name(f):
    return isinstance(f.spec, GpuVpcSpec) or getattr(f.spec, "vm_name", None) or getattr(f.spec, "snapshot_name", None)


def created_here(f):
    """The name bears our fingerprint, or was free when our order was recorded, and that order is not proven to have failed."""
    if not chosen_name(f) and f.identity.name.endswith("-" + fingerprint(f.meta.uid)):
        return True
    made = may_stand(f) and f.tracked.order.origin == "Created"
    return made and bool(chosen_name(f) or f.tracked.recorded is not None)


def lost_by_id(f):
    """Listings lack a VPC of which this process itself learned the id, which no other VPC ever has."""
    order = f.tracked.order
    known = f.tracked.recorded is not None and order is not None and order.cloud_id not in {None, order.name}
    return isinstance(f.spec, GpuVpcSpec) and known and known_as(f, "Lost") and order.origin == "Created"


def adopted(f):
    if getattr(f.spec, "adoption", Adoption.NEVER) is Adoption.NEVER:
        return False
    if known_as(f, "Seen", "Lost", "Destroying", "Gone"):
        return f.tracked.order.origin == "Adopted"
    return not (f.meta.deleting or may_stand(f))


def ours(f):
    return f.owner is None and (created_here(f) or (adopted(f) and (may_stand(f) or not f.meta.deleting)))


def retained(f):
    policy = f.spec.deletion.policy if f.spec.deletion is not None else None
    return policy is DeletionPolicy.RETAIN or (policy is None and adopted(f))


def seen(f):
    """A listing has shown it as what this object stands for."""
    allowed = getattr(f.spec, "adoption", Adoption.NEVER) is not Adoption.NEVER
    was = known_as(f, "Seen", "Lost", "Destroying", "Gone")
    return was and (allowed or f.tracked.order.origin == "Created")


def shown_free(f):
    """Listings that began late enough lack it: two in a row where an order may be under way, or the name is anybody's."""
    if not isinstance(f.found, Absent) or known_as(f, "Accepted", "Unclear", "Seen", "Destroying"):
        return False
    attempt, history = f.history.attempts.get(f.subject.create), f.history
    needed = [history.first_seen]
    if attempt is not None and (attempt.refusal is None or attempt.refusal.ambiguous):
        needed.append(attempt.at + GRACE * (10 if attempt.refusal is None else 1))
    two = f.tracked.earlier_unclear or chosen_name(f)
    seen = f.found.confirmed if two else f.found.as_of
    return seen is not None and seen >= max(needed)


def shown_gone(f):
    """What was seen is missing by two listings after our destroying call, or for a grace, in this look or an earlier one."""
    if known_as(f, "Lost", "Gone") and f.tracked.since < NOW:
        return True
    if isinstance(f.found, Present):  # of a VPC: another id, which is never given twice
        return f.subject.unique_id and f.tracked.order.cloud_id != f.found.record.id
    if isinstance(f.found, Unknown):
        return known_as(f, "Lost", "Gone")
    told, taken_over = f.history.attempts.get(f.subject.destroy), f.history.first_seen + GRACE
    confirmed = -1.0 if f.found.confirmed is None else f.found.confirmed
    return (
        (confirmed >= 0 and f.found.as_of >= f.found.since + GRACE)
        or (told is not None and told.refusal is None and confirmed >= told.at)
        or (known_as(f, "Gone") and confirmed >= (taken_over if told is None else told.at))
    )


def within_limits(f):
    """There is room for one more VM of this price; a price that is not known fits under no limit of price."""
    price = {"2.05": Decimal("2.05")}.get(getattr(f, "price_per_hour", None))
    return all(
        (not item.quota.vms or item.vms < item.quota.vms)
        and (not item.quota.price or (price is not None and item.price + price <= item.quota.price))
        for item in getattr(f, "usage", ())
    )


def the_contract_of_a_status(f, plan):
    if plan.status is None:
        return
    tracked = {item.type: item for item in plan.status.conditions}
    assert len(tracked) == len(plan.status.conditions)
    assert ConditionType.READY in tracked
    assert not {ConditionType.RECONCILING, ConditionType.STALLED} <= tracked.keys()
    assert all(item.status == "True" for name, item in tracked.items() if name != ConditionType.READY)
    assert {item.observed_generation for item in plan.status.conditions} == {f.meta.generation}
    assert plan.status.observed_generation == f.meta.generation
    assert all(item.message for item in plan.status.conditions)
    if tracked[ConditionType.READY].status == "True":
        assert not {ConditionType.RECONCILING, ConditionType.STALLED} & tracked.keys()
        assert paused(f) or (isinstance(f.found, Present) and ours(f) and not f.found.duplicate_records and not f.meta.deleting)
    again = type(plan.status).model_validate(plan.status.model_dump(mode="json", by_alias=True))
    assert again.observed_generation == f.meta.generation


def an_action_is_announced_and_only_ever_on_what_is_ours(f, plan):
    if plan.action is None:
        return
    assert plan.status is not None
    assert plan.release is None
    assert f.meta.has_finalizer
    assert not paused(f)
    assert not f.limits.observe_only
    assert f.synced
    assert f.owner is None
    assert not (isinstance(f.found, Present) and f.found.duplicate_records)
    assert not isinstance(f.found, Unknown)
    assert plan.action in CREATES or ours(f) or (plan.action is Verb.DESTROY_VPC and lost_by_id(f))
    assert plan.action not in POWER or (isinstance(f.found, Present) and not f.meta.deleting)


def nothing_of_a_vm_is_destroyed_without_its_final_snapshot(f, plan):
    if not isinstance(f.spec, GpuVMSpec) or f.spec.deletion.final_snapshot == "None" or plan.action not in DESTROYS:
        return
    kept, sent = f.status.final_snapshot, known_as(f, "Destroying")
    ids = {f.final.unattended_id, f.final.taker and f.final.taker.made_for_vm and f.final.taker.snapshot_id}
    ids |= (
        {kept.snapshot_id} if kept is not None and f.tracked.order is not None and kept.order == f.tracked.order.id else set()
    )
    fresh = isinstance(f.snapshots, SnapshotsOfVm) and f.snapshots.as_of >= max(NOW - FRESH_SECONDS, f.deletion_seen)
    shown = fresh and any(item.ready and item.name in ids for item in f.snapshots.items)
    assert shown or (sent and kept is not None and kept.state == "Ready")


def one_is_taken_only_before_the_destruction_of_what_is_there(f, plan):
    if not isinstance(f.spec, GpuVMSpec) or plan.action not in {Verb.CREATE_SNAPSHOT, Verb.REQUEST_SNAPSHOT}:
        return
    assert f.meta.deleting or is_to_be_replaced(f)
    assert (f.spec.deletion.final_snapshot, f.hold) == ("Required", None)
    assert isinstance(f.found, Present)
    assert (f.final.terminating and f.meta.deleting) is (plan.action is Verb.CREATE_SNAPSHOT)
    assert plan.status.final_snapshot is not None


def one_is_asked_for_in_the_cloud_as_this_process_has_announced_and_rarely(f, plan):
    if not isinstance(f.spec, GpuVMSpec) or plan.action is not Verb.CREATE_SNAPSHOT:
        return
    known, attempt, own = plan.status.final_snapshot, f.attempt(Verb.CREATE_SNAPSHOT), f.final.requests
    before = f.status.final_snapshot
    assert known.requests > 0
    if before is not None and (before.order, before.requests) == (known.order, known.requests):
        assert own.announced == known.requests
        refused = attempt is not None and attempt.refusal is not None and not attempt.refusal.ambiguous
        assert attempt is None or refused or attempt.at < own.announced_at
        return
    assert plan.records_order
    if attempt is None and known.requests > 1:
        assert f.snapshots.as_of >= own.seen_at + 300
    if attempt is not None and attempt.refusal is None and attempt.asked == f.asked:
        assert f.snapshots.as_of >= attempt.at + 300


def asks_for_another(f):
    """Whether the spec asks for a new VM in place of a lost one that was created for the object."""
    if not isinstance(f.spec, GpuVMSpec) or f.meta.deleting:
        return False
    asks = f.spec.on_loss == "Recreate" and f.spec.power_state == "Running"
    return asks and f.tracked.order is not None and f.tracked.order.origin == "Created"


def has_failed_and_is_replaced(f):
    """Whether a fresh listing shows a failed VM, of a spec that asks for another one and keeps nothing of this one."""
    fresh = isinstance(f.found, Present) and f.found.as_of >= NOW - FRESH_SECONDS
    keeps = f.spec.deletion.policy == "Retain" or f.spec.deletion.final_snapshot == "Required"
    return asks_for_another(f) and fresh and f.found.record.status in {"FAILED", "CREATE_FAILED"} and not keeps


def is_recreated(f):
    """Whether a VM that is lost or gone is asked for again, and two listings lack it."""
    asks = (asks_for_another(f) and known_as(f, "Lost", "Gone")) or (is_replaced(f) and known_as(f, "Gone"))
    return asks and f.found.confirmed is not None


def destroyed_is_only_what_is_deleted_and_not_retained(f, plan):
    if plan.action not in DESTROYS:
        return
    assert f.meta.deleting or has_failed_and_is_replaced(f) or is_to_be_replaced(f)
    assert not retained(f)
    assert not f.dependents
    if isinstance(f.spec, GpuVpcSpec):
        assert (f.occupants.names, f.occupants.as_of >= NOW - FRESH_SECONDS) == ((), True)
    assert getattr(f, "hold", None) is None, "the deletion guard holds it"
    if not f.meta.deleting:
        assert not gpuvm.with_snapshots(f), "they stay when a VM is replaced"
        return
    if isinstance(f.spec, GpuVMSpec) and f.spec.deletion.snapshots == "Delete":
        assert isinstance(f.snapshots, SnapshotsOfVm)
        assert f.snapshots.as_of >= max(NOW - FRESH_SECONDS, f.deletion_seen)
        may_go = {item.name for item in f.snapshots.items if item.deletable}
        assert set(plan.targets) <= may_go
        if gpuvm.with_snapshots(f):
            assert may_go == {item.name for item in f.snapshots.items}
            assert f.snapshots.confirmed is not None


def nothing_is_ordered_without_proof_and_a_record(f, plan):
    if plan.action is not f.subject.create and (not plan.records_order or plan.action is Verb.CREATE_SNAPSHOT):
        return
    assert not f.meta.deleting
    assert not f.namespace_terminating
    assert shown_free(f)
    assert f.found.as_of >= NOW - FRESH_SECONDS
    assert not seen(f) or is_recreated(f)  # what was seen and is lost is not made again unasked
    assert all(need.readiness is Readiness.READY for need in f.needs)
    assert getattr(f.spec, "adoption", None) is not Adoption.REQUIRED
    if isinstance(f.spec, GpuSnapshotSpec):
        assert isinstance(f.source.seen, Present)
    going_on = known_as(f, "Intended", "Accepted", "Unclear", "Overdue") or f.tracked.earlier_unclear
    assert within_limits(f) or going_on
    if plan.action is None:
        assert (plan.status.order.id, plan.status.order.state) == (record_id(f.nonce, f.meta.uid, f.identity.name), "Intended")
        assert plan.status.order.reorders <= 3
        return
    attempt, record = f.history.attempts.get(f.subject.create), f.tracked
    assert (state(f), f.status.order.id) == ("Intended", record.order.id)
    assert record.recorded is not None
    assert record.recorded >= NOW - GRACE / 2
    assert attempt is None or attempt.at < record.recorded


def let_go_is_only_what_is_retained_never_ours_or_proven_gone(f, plan):
    if plan.release is None:
        return
    assert plan.status is None
    assert f.meta.deleting
    assert f.meta.has_finalizer
    assert not paused(f)
    assert not f.limits.observe_only
    assert f.synced
    if retained(f):
        return
    assert f.unsearched is None
    if f.owner is not None:
        return
    if seen(f):
        assert shown_gone(f)
        return
    if not ours(f):
        return
    assert not f.dependents
    if isinstance(f.found, Unknown):
        new = f.history.seen_new if f.tracked.order is None else known_as(f, "NotOrdered")
        refused = known_as(f, "Refused") and f.adoption == "Never"
        unmade = (known_as(f, "Intended") or refused) and f.tracked.recorded is not None and not f.tracked.earlier_unclear
        assert new or unmade
        assert f.subject.create not in f.history.attempts or unmade
    else:
        assert shown_free(f)


def deciding_again_on_what_was_written_soon_changes_nothing(f, plan):
    """Deciding may take two writes to settle, never a circle."""
    written = []
    for _ in range(4):
        if plan.status is None or plan.status == f.status or plan.records_order:
            break
        written.append(plan.status)
        f = replace(f, status=plan.status)
        plan = DECIDE[type(f.spec)](f)
    assert len(written) < 4, [item.conditions[0].message for item in written]


RULES = (
    the_contract_of_a_status,
    an_action_is_announced_and_only_ever_on_what_is_ours,
    destroyed_is_only_what_is_deleted_and_not_retained,
    nothing_of_a_vm_is_destroyed_without_its_final_snapshot,
    one_is_taken_only_before_the_destruction_of_what_is_there,
    one_is_asked_for_in_the_cloud_as_this_process_has_announced_and_rarely,
    nothing_is_ordered_without_proof_and_a_record,
    let_go_is_only_what_is_retained_never_ours_or_proven_gone,
    deciding_again_on_what_was_written_soon_changes_nothing,
)


def broken(f, decide):
    """The rule that this decision breaks, or None."""
    for rule in RULES:
        try:
            rule(f, decide(f))
        except Exception as error:  # noqa: BLE001 - whatever goes wrong is what we look for
            return rule.__name__, error
    return None


def simplest(f, decide, plainer):
    """Every fact as in ``plainer`` facts that does not matter to the rule that is broken."""
    rule = broken(f, decide)[0]
    for item in fields(f):
        if item.name in {"found", "tracked", "status", "history"}:  # what one of them says, another may follow from
            continue
        simpler = replace(f, **{item.name: getattr(plainer, item.name)})
        again = broken(simpler, decide)
        if again is not None and again[0] == rule:
            f = simpler
    return f


def test_every_rule_holds_of_a_vm_that_needs_a_final_snapshot():
    met = set()
    for seed in range(SITUATIONS):
        f = any_going_vm(random.Random(seed))
        failure = broken(f, gpuvm.decide)
        assert failure is None, f"seed {seed}: {failure}\n{f}"
        met.add(gpuvm.decide(f).action)
    assert met >= {Verb.CREATE_SNAPSHOT, Verb.REQUEST_SNAPSHOT, Verb.DESTROY}, "the facts that are drawn are too tame"


@pytest.mark.parametrize("kind", KINDS)
def test_every_rule_holds_and_every_outcome_is_met(kind):
    draw, plainer, verbs = KINDS[kind]
    met = set()
    for seed in range(SITUATIONS):
        f = draw(random.Random(seed))
        decide = DECIDE[type(f.spec)]
        if broken(f, decide) is not None:
            f = simplest(f, decide, plainer(spec=f.spec))
            rule, error = broken(f, decide)
            pytest.fail(f"seed {seed}: {rule}: {error!r}\n{f}\n{decide(f)}", pytrace=False)
        plan = decide(f)
        met |= {plan.action, plan.release.reason if plan.release else None, plan.records_order}
    assert met >= {*verbs, True, Reason.GONE, Reason.RETAINED}, "the facts that are drawn are too tame"
