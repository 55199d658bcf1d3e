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
from gpucloud.reconcile.gpuvm.facts import SnapshotsOfVm
from support.anyfacts import any_snapshot, any_vm, any_vpc, noticed
from support.builders import NOW, facts
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
    return f.meta.annotations.get(Annotation.PAUSED) == "true"


def intended(f):
    intent, here = f.status.intent, f.identity
    return intent is not None and (intent.cluster, intent.vpc, intent.name) == (here.cluster, here.vpc, here.name)


def chosen_name(f):
    return isinstance(f.spec, GpuVpcSpec) or getattr(f.spec, "vm_name", None) or getattr(f.spec, "snapshot_name", None)


def replaced(f):
    """Whether another VPC of the name is there than the one that was recorded."""
    if not isinstance(f.spec, GpuVpcSpec) or not isinstance(f.found, Present) or f.found.twins:
        return False
    return None not in {f.status.vpc_id, f.found.record.id} and f.status.vpc_id != f.found.record.id


def taken(f):
    """Called another's by the cloud, or there, though no order of ours, or of whoever wrote the intent, was carried out."""
    attempt = f.memory.attempts.get(f.subject.create)
    refused = bool(attempt and attempt.refusal and attempt.refusal.kind == "Conflict")
    nothing_made = not f.memory.unclear and f.status.intent.id in f.memory.intent_ids
    return nothing_made and (refused or isinstance(f.found, Present))


def created_here(f):
    """The name bears our fingerprint, or was free when our intent was recorded, and what bears it may come of our order."""
    return not chosen_name(f) or (intended(f) and not taken(f) and not replaced(f))


def adopted(f):
    return getattr(f.spec, "adoption", Adoption.NEVER) is not Adoption.NEVER and not created_here(f)


def ours(f):
    return f.owner is None and (created_here(f) or adopted(f))


def retained(f):
    policy = f.spec.deletion.policy if f.spec.deletion is not None else None
    return policy is DeletionPolicy.RETAIN or (policy is None and adopted(f))


def recorded_id(f):
    return next(getattr(f.status, name) for name in ("vm_id", "vpc_id", "snapshot_id") if hasattr(f.status, name))


def shown_free(f):
    """Listings that began late enough lack it: two in a row where an order may be under way, or the name is anybody's."""
    if not isinstance(f.found, Absent):
        return False
    attempt, memory = f.memory.attempts.get(f.subject.create), f.memory
    strangers = intended(f) and f.status.intent.id not in memory.intent_ids
    needed = [memory.first_seen, *([memory.stranger_seen + GRACE] if strangers else [])]
    if attempt is not None and (attempt.refusal is None or attempt.refusal.ambiguous):
        needed.append(attempt.at + GRACE * (10 if attempt.refusal is None else 1))
    two = memory.unclear or strangers or chosen_name(f)
    seen = f.found.confirmed if two else f.found.as_of
    return seen is not None and seen >= max(needed)


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
    standing = {item.type: item for item in plan.status.conditions}
    assert len(standing) == len(plan.status.conditions)
    assert ConditionType.READY in standing
    assert not {ConditionType.RECONCILING, ConditionType.STALLED} <= standing.keys()
    assert all(item.status == "True" for name, item in standing.items() if name != ConditionType.READY)
    assert {item.observed_generation for item in plan.status.conditions} == {f.meta.generation}
    assert plan.status.observed_generation == f.meta.generation
    assert all(item.message for item in plan.status.conditions)
    if standing[ConditionType.READY].status == "True":
        assert not {ConditionType.RECONCILING, ConditionType.STALLED} & standing.keys()
        assert paused(f) or (isinstance(f.found, Present) and ours(f) and not f.found.twins and not f.meta.deleting)
    again = type(plan.status).model_validate(plan.status.model_dump(mode="json", by_alias=True))
    assert again.observed_generation == f.meta.generation


def an_action_is_announced_and_only_ever_on_what_is_ours(f, plan):
    if plan.action is None:
        return
    assert plan.status is not None
    assert plan.release is None
    assert f.meta.guarded
    assert not paused(f)
    assert not f.limits.observe_only
    assert f.synced
    assert f.owner is None
    assert not (isinstance(f.found, Present) and f.found.twins)
    assert not isinstance(f.found, Unknown)
    assert plan.action in CREATES or ours(f)
    assert plan.action not in POWER or (isinstance(f.found, Present) and not f.meta.deleting)


def destroyed_is_only_what_is_deleted_and_not_retained(f, plan):
    if plan.action not in DESTROYS:
        return
    assert f.meta.deleting
    assert not retained(f)
    assert not f.dependents
    if isinstance(f.spec, GpuVpcSpec):
        assert (f.occupants.names, f.occupants.as_of >= NOW - FRESH_SECONDS) == ((), True)
    assert getattr(f, "hold", None) is None, "the brake holds it"
    if isinstance(f.spec, GpuVMSpec) and f.spec.deletion.snapshots == "Delete":
        assert isinstance(f.snapshots, SnapshotsOfVm)
        assert f.snapshots.as_of >= NOW - FRESH_SECONDS
        may_go = {item.name for item in f.snapshots.items if item.deletable}
        assert set(plan.targets) <= may_go
        assert not gpuvm.with_snapshots(f) or may_go == {item.name for item in f.snapshots.items}


def nothing_is_ordered_without_proof_and_a_record(f, plan):
    if plan.action not in CREATES and not plan.record_intent:
        return
    assert not f.meta.deleting
    assert not f.namespace_terminating
    assert shown_free(f)
    assert f.found.as_of >= NOW - FRESH_SECONDS
    assert not ((intended(f) or adopted(f)) and recorded_id(f))  # what was seen and is lost is not made again
    assert all(need.readiness is Readiness.READY for need in f.needs)
    assert getattr(f.spec, "adoption", None) is not Adoption.REQUIRED
    if isinstance(f.spec, GpuSnapshotSpec):
        assert isinstance(f.source.seen, Present)
    assert within_limits(f) or f.status.intent is not None or f.memory.unclear
    if plan.action is None:
        assert plan.status.intent.id == f.nonce
        return
    attempt = f.memory.attempts.get(f.subject.create)
    assert intended(f)
    assert f.status.intent.id == f.memory.intent_id
    assert f.memory.intent_recorded >= NOW - GRACE / 2
    assert attempt is None or attempt.at < f.memory.intent_recorded


def let_go_is_only_what_is_retained_never_ours_or_proven_gone(f, plan):
    if plan.release is None:
        return
    assert plan.status is None
    assert f.meta.deleting
    assert f.meta.guarded
    assert not paused(f)
    assert not f.limits.observe_only
    assert f.synced
    if retained(f) or not ours(f):
        return
    assert not f.dependents
    known = intended(f) or adopted(f)
    if isinstance(f.found, Unknown):
        nothing_known = f.status.intent is None and f.status.account is None and recorded_id(f) is None
        new = nothing_known and (f.memory.seen_new or f.status.ordered is False)
        unused = intended(f) and f.status.intent.id in f.memory.intent_ids and recorded_id(f) is None
        assert new or (unused and not f.memory.unclear)
        assert f.subject.create not in f.memory.attempts
    elif known and recorded_id(f):
        sent = f.memory.attempts.get(f.subject.destroy)
        missed_for_long = isinstance(f.spec, GpuVpcSpec) and f.found.confirmed >= f.found.since + GRACE
        assert missed_for_long or f.found.confirmed >= sent.at
    else:
        assert shown_free(f)


def deciding_again_on_what_was_written_soon_changes_nothing(f, plan):
    """Deciding may take two writes to settle (an intent restored, then its wait), never a circle."""
    written = []
    for _ in range(4):
        if plan.status is None or plan.status == f.status or plan.record_intent:
            break
        written.append(plan.status)
        f = replace(f, status=plan.status, memory=noticed(f.memory, plan.status.intent))
        plan = DECIDE[type(f.spec)](f)
    assert len(written) < 4, [item.conditions[0].message for item in written]


RULES = (
    the_contract_of_a_status,
    an_action_is_announced_and_only_ever_on_what_is_ours,
    destroyed_is_only_what_is_deleted_and_not_retained,
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
        simpler = replace(f, **{item.name: getattr(plainer, item.name)})
        again = broken(simpler, decide)
        if again is not None and again[0] == rule:
            f = simpler
    return f


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
        met |= {plan.action, plan.release.reason if plan.release else None, plan.record_intent}
    assert met >= {*verbs, True, Reason.GONE, Reason.RETAINED}, "the facts that are drawn are too tame"
