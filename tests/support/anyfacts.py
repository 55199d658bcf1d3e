"""Any facts that an engine could gather, for the three cloud kinds, drawn from a seed.

Plain random numbers, since a hundred thousand situations must not cost a minute; what happens seldom is drawn seldom, so that
most of them get past the first steps of a chain. What the engine guarantees is kept: the order as this process knows it comes
of a history that it could have lived through, and of a status that anybody may have written since.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import Adoption, OrderState, Origin
from gpucloud.kinds.gpusnapshot import GpuSnapshotStatus
from gpucloud.kinds.gpuvm import Cause, Deletion, FinalSnapshot, FinalSnapshotState, GpuVMStatus, Operation, Outcome, PowerVerb
from gpucloud.kinds.gpuvpc import GpuVpcStatus
from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.kinds.recreation import Replacement
from gpucloud.reconcile import evidence, placement, takeover
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.deletion_guard import Hold
from gpucloud.reconcile.facts import (
    Absent,
    Asked,
    Attempt,
    CallHistory,
    Dependency,
    KeyTrouble,
    Limits,
    Readiness,
    Refusal,
    ResourceOwner,
    SSHKeys,
    Unknown,
    UnknownReason,
    Verb,
)
from gpucloud.reconcile.gpusnapshot import Source
from gpucloud.reconcile.gpuvm import template
from gpucloud.reconcile.gpuvm.snapshots import (
    FinalSnapshotFacts,
    Requests,
    SnapshotOfVm,
    SnapshotsOfVm,
    Taker,
    replacement_of,
)
from gpucloud.reconcile.gpuvpc import Occupants
from gpucloud.reconcile.naming import Identity
from gpucloud.reconcile.ownership import own_record, record_id
from gpucloud.reconcile.quota import Quota, Usage
from support import builders, snapshotfacts, vpcfacts
from support.builders import NOW, START, an_object
from support.snapshotfacts import a_snapshot, a_snapshot_spec
from support.vpcfacts import a_vpc, a_vpc_spec

AGES = (0.0, 0.0, 0.5, 0.5, 3.0, 3.0, 12.0, 20.0, 40.0, 200.0, 400.0)
NEEDED = {"dependents": ("GpuVM 'train'",), "dependents_to_delete": ("gpuvm/train",)}
LOOK = 0.25  # all that this process has lived through was so long before the look
IDS = ("ours", "ours too", "other")
VERDICTS = (
    (None, "False", None),
    *((reason, "True", None) for reason in (Reason.RUNNING, Reason.AVAILABLE, Reason.ADOPTED, Reason.COMPLETED)),
    *((reason, "False", "Reconciling") for reason in (Reason.CREATING, Reason.DELETING, Reason.DRIFTED)),
    *((reason, "False", "Stalled") for reason in (Reason.REJECTED, Reason.CONFLICT, Reason.NOT_FOUND, Reason.VM_LOST)),
)


def seldom(r, odd, usual, share=0.08):
    """The odd value now and then."""
    return odd if r.random() < share else usual


def before(r):
    """A moment not after now."""
    return NOW - r.choice(AGES)


def blind(r):
    """Nothing can be said."""
    return Unknown(before(r), r.choice(list(UnknownReason)), "words.")


def absent(r):
    """Missing from one listing, or from two and more in a row."""
    earliest, earlier, as_of = sorted((before(r), before(r), before(r)))
    return r.choice((Absent(as_of, earliest, earlier), Absent(as_of, earliest, earlier), Absent(as_of, as_of)))


def an_observation(r, there):
    """Present, absent or unknown."""
    return r.choice((there, lambda: absent(r), lambda: absent(r), lambda: seldom(r, blind(r), absent(r), 0.5)))()


def an_order(r, here, own_id):
    """Any record, as some process or person may have written it; of ``here``, or of something else."""
    if r.random() < 0.25:
        return None
    here = seldom(r, here._replace(name="elsewhere"), here)
    state = r.choice(list(OrderState))
    names = state in {OrderState.SEEN, OrderState.LOST, OrderState.DESTROYING, OrderState.GONE} or r.random() < 0.2
    name = "" if state is OrderState.NOT_ORDERED else here.name
    return builders.an_order(
        name,
        state,
        here.vpc,
        here.cluster,
        id=an_id(r.choice(IDS), name, builders.UID),
        cloud_id=r.choice(own_id) if names else None,
        origin=r.choice((Origin.CREATED, Origin.CREATED, Origin.ADOPTED)),
        reorders=r.choice((0, 0, 1, 3)),
        refused_generation=r.choice((None, 1)) if state is OrderState.REFUSED else None,
    )


def an_operation(r):
    """Any power call on record."""
    if r.random() < 0.5:
        return None
    return Operation(
        verb=r.choice(list(PowerVerb)),
        cause=r.choice(list(Cause)),
        generation=r.choice((1, 2)),
        id=r.choice(("t0", "t1", "x")),
        at=START,
        outcome=r.choice(list(Outcome)),
    )


def a_status(r, model, order, recorded, ids):
    """Whatever may stand, edited by people included."""
    reason, ready, progress = r.choice(VERDICTS)
    fields = {recorded: r.choice((None, None, *ids)), "account": r.choice((None, "(operator)"))}
    if model is GpuVMStatus:
        fields |= {"operation": an_operation(r), "settled_generation": r.choice((None, 1, 2))}
    return builders.a_status(reason, ready, progress, 1, model, order=order, **fields)


def an_attempt(r, verb):
    """One call, and how it went."""
    refusal = Refusal(r.choice(list(ErrorKind)), "words", r.random() < 0.5) if r.random() < 0.6 else None
    failures = 0 if refusal is None else r.choice((1, 6))
    return Attempt(verb, before(r), Asked(r.choice((1, 2))), refusal, failures)


def a_history(r, base, order, there):
    """What this process has lived through with the order: nothing, since it is new, or some steps of it; and its memory."""
    subject, times = base.subject, sorted(before(r) - LOOK for _ in range(5))
    attempts = {verb: an_attempt(r, verb) for verb in (Verb.START, Verb.STOP, Verb.DELETE_SNAPSHOT) if r.random() < 0.2}
    attempts = {verb: item for verb, item in attempts.items() if verb not in {subject.create, subject.destroy}}
    known = takeover.merged(None, recorded(base, order), frozenset(), times[0])
    if r.random() < 0.6 and orders.may_be_recorded(known.state):
        here, proven = base.identity, known
        ours = builders.an_order(
            here.name, OrderState.INTENDED, here.vpc, here.cluster, id=an_id(r.choice(IDS[:2]), here.name, base.meta.uid)
        )
        known = orders.record(proven, ours.model_copy(update={"reorders": r.choice((0, 0, 3))}), times[1])
        if r.random() < 0.7:
            sent = attempts[subject.create] = replace(an_attempt(r, subject.create), at=times[2])
            placed, final = placement.Placement(r.choice((None, there))), r.choice((None, 1))
            known = orders.answered(known, sent.refusal, placed, times[2], chosen_name=base.chosen_name, final_for=final)
    if r.random() < 0.3:
        shown = replace(builders.present(name=there), as_of=times[3])
        known = evidence.observed(known, shown, builders.proofs(base), builders.a_reading(times[3]), times[0])
    if known.state is OrderState.SEEN and r.random() < 0.4:
        told = attempts[subject.destroy] = replace(an_attempt(r, subject.destroy), at=times[4])
        known = orders.destroying(known, times[4])
        known = orders.destroy_answered(known, told.refusal, base.limits.grace, times[4])
    first = min([times[0], *(item.at for item in attempts.values())])
    new, deleted = order is None and r.random() < 0.5, r.choice((None, max(first, before(r)), max(first, before(r))))
    return known, CallHistory(first_seen=first, seen_new=new, deletion_seen=deleted, attempts=attempts)


def an_id(word, name, uid):
    """The id of a record: of this object's own, or another's."""
    return word if word == "other" else record_id(word, uid, name)


def recorded(base, order):
    """The order as the engine reads it from the status."""
    return own_record(order, base.meta.uid)


def settled(f, known, versions=frozenset()):
    """The facts with the order as it stands after the look, and with no sight of what the spec does not name any more."""
    order = recorded(f, f.status.order)
    first_seen = f.history.first_seen
    tracked = takeover.merged(known, order, versions, first_seen if known is None else NOW - LOOK)
    request = None if f.meta.deleting else f.asked.reconcile_request
    tracked = orders.asked_again(tracked, request, f.status.last_handled_reconcile_at, NOW)
    wanted = f.identity if order is None or order.name != f.identity.name else f.identity._replace(name=order.name)
    if placement.is_moved(tracked.order, wanted) and placement.cloud_placement(tracked.order) is None:
        f = replace(f, found=Unknown(NOW, UnknownReason.MOVED, "words."))
    return replace(f, tracked=evidence.observed(tracked, f.found, builders.proofs(f), builders.a_reading(NOW), first_seen))


def on_update(f):
    """The facts as a new process would have them."""
    return settled(replace(f, history=replace(f.history, attempts={})), None)


def annotations(r):
    """What people set."""
    drawn = {
        Annotation.PAUSED: seldom(r, r.choice(("true", "yes", "", "false")), None),
        Annotation.RECONCILE_REQUESTED_AT: seldom(r, "t1", None),
        Annotation.RESTART_REQUESTED_AT: seldom(r, "t1", None, 0.2),
    }
    return {name: value for name, value in drawn.items() if value is not None}


def common(r, model, base, recorded_as, ids):
    """What all kinds share, round the identity of the given facts."""
    order = an_order(r, base.identity, ids)
    known, history = a_history(r, base, order, r.choice(ids))
    order = r.choice((order, known.order, known.order, known.order, an_order(r, base.identity, ids)))
    status = a_status(r, model, order, recorded_as, ids)
    deleting = r.random() < 0.4
    meta = an_object(
        generation=r.choice((1, 1, 2)), deleting=deleting, has_finalizer=seldom(r, False, True), annotations=annotations(r)
    )
    need = Dependency("GpuVpc 'net'", r.choice(list(Readiness)))
    return {
        "meta": meta,
        "status": status,
        "history": history,
        "tracked": known,
        "limits": Limits(observe_only=seldom(r, True, False)),
        "owner": seldom(r, ResourceOwner("GpuVM", "team", "first"), None),
        "needs": () if deleting else seldom(r, (need,), (), 0.2),
        **(seldom(r, NEEDED, {}) if deleting else {}),
        "namespace_terminating": seldom(r, True, False),
        "synced": seldom(r, False, True),
        "nonce": "new",
        "unsearched": seldom(r, Unknown(0.0, r.choice(list(UnknownReason)), "Hou1"), None) if deleting else None,
    }


def lived(base, **drawn):
    """The facts with what was drawn, and the order as it stands then."""
    made = replace(base, **drawn)
    known = made.tracked
    versions = frozenset() if known.order is None else frozenset((known.order.id, state) for state in OrderState)
    return settled(made, known, versions)


def a_name(r, field):
    """A name of the object's own, or a chosen one, under which what exists may be adopted."""
    name = r.choice((None, "chosen"))
    return {field: name, "adoption": Adoption.NEVER if name is None else r.choice(list(Adoption))}


def any_vm(r, *, going=False):
    """Facts about a GpuVM."""
    deletion = {
        "policy": r.choice((None, "Delete", "Delete", "Retain")),
        "snapshots": r.choice(("Keep", "Delete")),
        "finalSnapshot": r.choice(("None", "Required")),
    }
    wishes = {
        "powerState": r.choice(("Running", "Stopped")),
        "onLoss": r.choice(("Fail", "Recreate")),
        "replacePolicy": r.choice(("Never", "Recreate")),
        "deletion": deletion,
    }
    spec = builders.a_spec(**a_name(r, "vmName"), **wishes)
    made_from = r.choice((None, template.of(spec), template.of(builders.a_spec(rootDiskGiB=300))))
    base = builders.facts(spec=spec)
    elsewhere = base.identity._replace(vpc="acme-other")
    words = ("ONLINE", "ONLINE", "OFFLINE", "OFFLINE", "PENDING", "PENDING_RESOURCES", "FAILED", "STRANGE", None)
    items = tuple(SnapshotOfVm(name, r.random() < 0.6, r.random() < 0.6) for name in "abc" if r.random() < 0.5)
    taker = Taker(seldom(r, False, True), seldom(r, True, False), r.choice((None, "a", "d")), seldom(r, "Rejected: no.", ""))
    asked = Requests(before(r), r.choice((0, 1, 1, 3)), before(r))
    final = FinalSnapshotFacts("train-final", "b", r.choice((None, None, taker)), r.random() < 0.5, asked)
    drawn = common(r, GpuVMStatus, base, "vm_id", (base.identity.name,))
    order = drawn["status"].order
    taken = FinalSnapshot(
        state=r.choice(list(FinalSnapshotState)),
        order=seldom(r, "another", "" if order is None else order.id),
        gpu_snapshot=r.choice((None, "train-final")),
        snapshot_id=r.choice((None, "a", "c")),
        requests=r.choice((0, 1, 3)),
        requested_at=builders.START,
    )
    planned_at, saves = builders.START - timedelta(seconds=r.choice((1.0, 3600.0))), deletion["finalSnapshot"] == "Required"
    changed = template.changes(spec, template.of(builders.a_spec(rootDiskGiB=300)))
    plan = Replacement(changes=changed, planned_at=planned_at, not_before=planned_at, final_snapshot=saves)
    if order is not None and r.choice((True, False)):
        taken = taken.model_copy(update={"order": replacement_of(order.id, plan)})
    changes = {"final_snapshot": r.choice((None, taken)), "replacement": r.choice((None, plan))}
    if order is not None:
        changes["order"] = order.model_copy(update={"template": made_from})
    drawn["status"] = drawn["status"].model_copy(update=changes)
    if drawn["tracked"].order is not None:
        ours = drawn["tracked"].order.model_copy(update={"template": made_from})
        drawn["tracked"] = replace(drawn["tracked"], order=ours)
    drawn |= {
        "found": an_observation(
            r, lambda: builders.present(r.choice(words), before(r), seldom(r, True, False), name=base.identity.name)
        ),
        "keys": SSHKeys(("key",), seldom(r, r.choice(list(KeyTrouble)), None), "Words."),
        "lookalikes": seldom(r, ("train-x",), ()),
        "strays": seldom(r, r.choice(((Identity("Hou1", "acme", "train-x"),), Unknown(0.0, UnknownReason.UNREACHABLE))), ()),
        "elsewhere": seldom(r, (elsewhere,), ()) if spec.adoption is not Adoption.NEVER else (),
        "configuration_in_use": r.choice((None, spec.configuration, "H100_80GB_SXM_8x")),
        "price_per_hour": r.choice((None, "2.05", "rubbish")),
        "hold": seldom(r, Hold(8, Decimal(16), 0, timedelta(minutes=10), "--brake-vms 3"), None, 0.2),
        "usage": seldom(
            r, (Usage(Quota("account", r.choice((0, 3)), Decimal(10)), "It", r.choice((0, 3)), Decimal(9)),), (), 0.2
        ),
        "too_dear": seldom(r, frozenset({"A100_40GB_PCIe_2x", spec.configuration}), frozenset(), 0.2),
        "snapshots": r.choice((None, blind(r), *[SnapshotsOfVm(items, before(r), r.choice((None, before(r))))] * 3)),
        "final": final,
    }
    if going:
        base = replace(base, spec=spec.model_copy(update={"deletion": Deletion(final_snapshot="Required")}))
        drawn |= {
            "meta": an_object(deleting=True),
            "hold": None,
            "dependents": (),
            "snapshots": SnapshotsOfVm(items, builders.NOW),
        }
        word = r.choice(("ONLINE", "OFFLINE", "PENDING", "FAILED"))
        drawn["found"] = builders.present(word, name=base.identity.name)
    return lived(base, **drawn)


def any_going_vm(r):
    """Facts about a GpuVM that is being deleted, and of whose snapshots a fresh listing tells."""
    return any_vm(r, going=True)


def any_vpc(r):
    """Facts about a GpuVpc."""
    policy = r.choice((None, None, "Delete", "Delete", "Retain"))
    spec = a_vpc_spec(
        deletion=policy and {"policy": policy}, adoption=r.choice(list(Adoption)), isDefault=r.choice((None, True))
    )
    base, ids = vpcfacts.vpc_facts(spec=spec), ("vpc-1", "vpc-2")
    return lived(
        base,
        **common(r, GpuVpcStatus, base, "vpc_id", ids),
        found=an_observation(
            r, lambda: a_vpc(r.choice(ids), before(r), seldom(r, True, False), isDefault=r.choice((None, True, False)))
        ),
        occupants=r.choice(
            (None, blind(r), *[Occupants(seldom(r, ("VM 'a'",), (), 0.3), before(r), seldom(r, None, before(r), 0.3))] * 4)
        ),
    )


def any_snapshot(r):
    """Facts about a GpuSnapshot."""
    policy = r.choice((None, "Delete", "Delete", "Retain"))
    base = snapshotfacts.snapshot_facts(spec=a_snapshot_spec(**a_name(r, "snapshotName"), deletion={"policy": policy}))
    vm = builders.present("ONLINE", before(r), seldom(r, True, False), name="vm")
    return lived(
        base,
        **common(r, GpuSnapshotStatus, base, "snapshot_id", (base.identity.name,)),
        found=an_observation(
            r, lambda: a_snapshot(r.choice((True, False, None)), before(r), seldom(r, True, False), id=base.identity.name)
        ),
        source=seldom(r, r.choice((None, Source("vm", absent(r)), Source("vm", blind(r)))), Source("vm", vm), 0.3),
    )
