"""Facts about a GpuSnapshot with defaults, so that a test says only what it is about."""

from __future__ import annotations

from datetime import timedelta

from gpucloud.cloud.models import SnapshotRecord
from gpucloud.kinds.common import OWN_ACCOUNT, OrderState
from gpucloud.kinds.gpusnapshot import GpuSnapshotSpec, GpuSnapshotStatus
from gpucloud.kinds.meta import ConditionType
from gpucloud.kinds.model import Condition
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.facts import Absent, CallHistory, Dependency, Now, Present, Readiness, Unknown, UnknownReason
from gpucloud.reconcile.gpusnapshot import SnapshotFacts, Source, identity
from gpucloud.reconcile.naming import Identity
from gpucloud.reconcile.ownership import own_record
from support import builders
from support.builders import NOW, START, TAG, an_object, an_order, known, present, with_standing
from support.rows import OLD

VM = Identity(cluster="Msc1", vpc="acme", name="train-tagaa-aaaaaaaaaa")
NOWHERE = Identity("", "", "")
SOURCE = Source(VM.name, present(name=VM.name))
UNPLACED = {
    "identity": NOWHERE,
    "found": Unknown(NOW, UnknownReason.UNPLACED),
    "source": None,
    "history": CallHistory(first_seen=NOW - 9),
    "needs": (Dependency("GpuVM 'train'", Readiness.MISSING, field="spec.vmRef"),),
}


def a_snapshot_spec(**changes):
    return GpuSnapshotSpec.model_validate({"vmRef": {"name": "train"}} | changes)


def a_snapshot_status(*arguments, **fields):
    return builders.a_status(*arguments, model=GpuSnapshotStatus, **fields)


NAME = identity(an_object(), a_snapshot_spec(), None, TAG, VM).name
ORDER = an_order(NAME)
TAKEN = {"order": ORDER, "snapshot_id": NAME, "account": OWN_ACCOUNT}


def a_snapshot(ready=True, as_of=NOW, duplicate_records=False, **fields):
    record = {"id": NAME, "namespace": "acme", "sourceName": VM.name, "readyToUse": ready, "tenancyName": "acme"} | fields
    return Present(SnapshotRecord.model_validate(record), as_of, duplicate_records)


INTENDED = an_order(NAME, OrderState.INTENDED)
MINE = known(INTENDED, ago=1, recorded=1)
REJECTED = a_snapshot_status("Rejected", progress="Stalled", order=an_order(NAME, OrderState.REFUSED, refused_generation=1))
CREATING = a_snapshot_status("Creating", order=INTENDED, account=OWN_ACCOUNT)
SUCCEEDED = Condition(
    type=ConditionType.SUCCEEDED,
    status="True",
    reason="Completed",
    message="Made up.",
    observed_generation=1,
    last_transition_time=START,
)
COMPLETED = a_snapshot_status("Completed", "True", None, **TAKEN)
COMPLETED = COMPLETED.model_copy(update={"conditions": (*COMPLETED.conditions, SUCCEEDED)})
DESTROYING = an_order(NAME, OrderState.DESTROYING)
TOLD = known(DESTROYING, ago=5, absence_counts_from=NOW - 5)
GOING = a_snapshot_status("Deleting", **TAKEN | {"order": DESTROYING})
DELETING = an_object(deleting=True)
RETAINS = a_snapshot_spec(deletion={"policy": "Retain"})
CHOSEN = a_snapshot_spec(snapshotName="theirs")
THEIRS = an_order("theirs", OrderState.INTENDED)


def snapshot_facts(**changes):
    """A guarded GpuSnapshot of a VM that is there, known for a minute; nothing was taken yet."""
    meta = changes.pop("meta", an_object())
    spec = changes.pop("spec", a_snapshot_spec())
    status = changes.pop("status", GpuSnapshotStatus())
    base = SnapshotFacts(
        now=Now(START + timedelta(seconds=NOW), NOW),
        meta=meta,
        spec=spec,
        status=status,
        identity=identity(meta, spec, own_record(status.order, meta.uid), TAG, VM),
        found=Absent(NOW, NOW - 9, NOW - 2),
        history=OLD,
        tracked=orders.TrackedOrder(None, NOW - 60),
        source=SOURCE,
    )
    return with_standing(base, changes)
