"""Any facts that an engine could gather, for the three cloud kinds, drawn from a seed.

Plain random numbers, since a hundred thousand situations must not cost a minute; what happens seldom is drawn seldom, so that
most of them get past the first steps of a chain. What the engine guarantees is kept: an intent that this process did not write
has been noticed as a stranger's.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import Adoption, Intent
from gpucloud.kinds.gpusnapshot import GpuSnapshotStatus
from gpucloud.kinds.gpuvm import GpuVMStatus
from gpucloud.kinds.gpuvpc import GpuVpcStatus
from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.reconcile.brake import Hold
from gpucloud.reconcile.facts import (
    CREATES,
    Absent,
    Asked,
    Attempt,
    Blindness,
    Dependency,
    KeyTrouble,
    Limits,
    Memory,
    Readiness,
    Refusal,
    SSHKeys,
    Unknown,
    Verb,
)
from gpucloud.reconcile.gpusnapshot import Source
from gpucloud.reconcile.gpuvm.facts import SnapshotOfVm, SnapshotsOfVm
from gpucloud.reconcile.gpuvpc import Occupants
from gpucloud.reconcile.quota import Quota, Usage
from support import builders, snapshotfacts, vpcfacts
from support.builders import NOW, START, an_object
from support.snapshotfacts import a_snapshot, a_snapshot_spec
from support.vpcfacts import a_vpc, a_vpc_spec

AGES = (0.0, 0.0, 0.5, 0.5, 3.0, 3.0, 12.0, 20.0, 40.0, 200.0, 400.0)
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
    return Unknown(before(r), r.choice(list(Blindness)), "words.")


def absent(r):
    """Missing from one listing, or from two and more in a row."""
    earliest, earlier, as_of = sorted((before(r), before(r), before(r)))
    return r.choice((Absent(as_of, earliest, earlier), Absent(as_of, earliest, earlier), Absent(as_of, as_of)))


def an_observation(r, there):
    """Present, absent or unknown."""
    return r.choice((there, lambda: absent(r), lambda: absent(r), lambda: seldom(r, blind(r), absent(r), 0.5)))()


def a_status(r, model, identity, recorded, ids):
    """Whatever may stand, edited by people included."""
    reason, ready, progress = r.choice(VERDICTS)
    place = r.choice((None, identity, identity, identity, seldom(r, replace(identity, name="elsewhere"), identity)))
    intent = None
    if place is not None:
        intent = Intent(id=r.choice(IDS), name=place.name, cluster=place.cluster, vpc=place.vpc, recorded_at=START)
    fields = {
        recorded: r.choice((None, None, *ids)),
        "account": r.choice((None, "(operator)")),
        "ordered": r.choice((None, False)),
    }
    return builders.a_status(reason, ready, progress, 1, model, intent=intent, **fields)


def an_attempt(r, verb):
    """One call, and how it went."""
    refusal = Refusal(r.choice(list(ErrorKind)), "words", r.random() < 0.5) if r.random() < 0.6 else None
    failures = 0 if refusal is None else r.choice((1, 6))
    return Attempt(verb, before(r), Asked(r.choice((1, 2))), refusal, failures)


def a_memory(r, intent, verbs):
    """What this process may remember, a stranger's intent noticed."""
    attempts = {verb: an_attempt(r, verb) for verb in verbs if r.random() < 0.3}
    own = frozenset(name for name in IDS[:2] if r.random() < 0.7)
    recorded = before(r) if own else None
    times = [before(r), *(item.at for item in attempts.values()), *([recorded] if own else [])]
    newest = intent.id if intent is not None and intent.id in own and r.random() < 0.8 else min(own, default=None)
    memory = Memory(
        first_seen=min(times),
        intent_id=newest,
        intent_ids=own,
        intent_recorded=recorded,
        unclear=r.random() < 0.3 or any(verb in CREATES and item.refusal is None for verb, item in attempts.items()),
        attempts=attempts,
        seen_new=r.random() < 0.3,
    )
    return noticed(memory, intent)


def noticed(memory, intent):
    """As the engine does with every view of an object."""
    if intent is None or intent.id in memory.intent_ids | {memory.stranger_id}:
        return memory
    return replace(memory, stranger_id=intent.id, stranger_seen=max(memory.first_seen, NOW - 40), unclear=True)


def annotations(r):
    """What people set."""
    drawn = {
        Annotation.PAUSED: seldom(r, "true", None),
        Annotation.RECONCILE_REQUESTED_AT: seldom(r, "t1", None),
        Annotation.RESTART_REQUESTED_AT: seldom(r, "t1", None, 0.2),
    }
    return {name: value for name, value in drawn.items() if value is not None}


def common(r, model, base, recorded, ids, verbs):
    """What all kinds share, round the identity of the given facts."""
    status = a_status(r, model, base.identity, recorded, ids)
    deleting = r.random() < 0.4
    meta = an_object(
        generation=r.choice((1, 1, 2)), deleting=deleting, guarded=seldom(r, False, True), annotations=annotations(r)
    )
    need = Dependency("GpuVpc 'net'", r.choice(list(Readiness)))
    return {
        "meta": meta,
        "status": status,
        "memory": a_memory(r, status.intent, verbs),
        "limits": Limits(observe_only=seldom(r, True, False)),
        "owner": seldom(r, "'first'", None),
        "needs": () if deleting else seldom(r, (need,), (), 0.2),
        "dependents": seldom(r, ("GpuVM 'train'",), ()) if deleting else (),
        "namespace_terminating": seldom(r, True, False),
        "synced": seldom(r, False, True),
        "nonce": "new",
    }


def any_vm(r):
    """Facts about a GpuVM."""
    deletion = {"policy": seldom(r, "Retain", "Delete", 0.2), "snapshots": r.choice(("Keep", "Delete"))}
    spec = builders.a_spec(vmName=r.choice((None, "chosen")), powerState=r.choice(("Running", "Stopped")), deletion=deletion)
    base = builders.facts(spec=spec)
    words = ("ONLINE", "ONLINE", "OFFLINE", "OFFLINE", "PENDING", "PENDING_RESOURCES", "FAILED", "STRANGE", None)
    verbs = (Verb.CREATE, Verb.DESTROY, Verb.START, Verb.STOP, Verb.DELETE_SNAPSHOT)
    items = tuple(SnapshotOfVm(name, r.random() < 0.6) for name in "abc" if r.random() < 0.5)
    return replace(
        base,
        **common(r, GpuVMStatus, base, "vm_id", (base.identity.name,), verbs),
        found=an_observation(
            r, lambda: builders.present(r.choice(words), before(r), seldom(r, True, False), name=base.identity.name)
        ),
        keys=SSHKeys(("key",), seldom(r, r.choice(list(KeyTrouble)), None), "Words."),
        lookalikes=seldom(r, ("train-x",), ()),
        price_per_hour=r.choice((None, "2.05", "rubbish")),
        hold=seldom(r, Hold(8, Decimal(16), 0, timedelta(minutes=10), "--brake-vms 3"), None, 0.2),
        usage=seldom(r, (Usage(Quota("account", r.choice((0, 3)), Decimal(10)), "It", r.choice((0, 3)), Decimal(9)),), (), 0.2),
        snapshots=r.choice((None, blind(r), *[SnapshotsOfVm(items, before(r))] * 3)),
    )


def any_vpc(r):
    """Facts about a GpuVpc."""
    policy = r.choice((None, None, "Delete", "Delete", "Retain"))
    spec = a_vpc_spec(
        deletion=policy and {"policy": policy}, adoption=r.choice(list(Adoption)), isDefault=r.choice((None, True))
    )
    base, ids = vpcfacts.vpc_facts(spec=spec), ("vpc-1", "vpc-2")
    return replace(
        base,
        **common(r, GpuVpcStatus, base, "vpc_id", ids, (Verb.CREATE_VPC, Verb.DESTROY_VPC)),
        found=an_observation(
            r, lambda: a_vpc(r.choice(ids), before(r), seldom(r, True, False), isDefault=r.choice((None, True, False)))
        ),
        occupants=r.choice((None, blind(r), *[Occupants(seldom(r, ("VM 'a'",), (), 0.3), before(r))] * 4)),
    )


def any_snapshot(r):
    """Facts about a GpuSnapshot."""
    policy = seldom(r, "Retain", "Delete", 0.2)
    base = snapshotfacts.snapshot_facts(
        spec=a_snapshot_spec(snapshotName=r.choice((None, "chosen")), deletion={"policy": policy})
    )
    vm = builders.present("ONLINE", before(r), seldom(r, True, False), name="vm")
    return replace(
        base,
        **common(
            r, GpuSnapshotStatus, base, "snapshot_id", (base.identity.name,), (Verb.CREATE_SNAPSHOT, Verb.DELETE_SNAPSHOT)
        ),
        found=an_observation(
            r, lambda: a_snapshot(r.choice((True, False, None)), before(r), seldom(r, True, False), id=base.identity.name)
        ),
        source=seldom(r, r.choice((None, Source("vm", absent(r)), Source("vm", blind(r)))), Source("vm", vm), 0.3),
    )
