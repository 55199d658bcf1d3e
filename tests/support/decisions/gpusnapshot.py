"""Rows of a GpuSnapshot alone: where it belongs, the VM that it is taken of, its life and end."""

from __future__ import annotations

from datetime import timedelta

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import DeletionPolicy, Order, OrderState, Origin
from gpucloud.kinds.gpusnapshot import GpuSnapshotSpec
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import Absent, CallHistory, Dependency, Readiness, Unknown, UnknownReason, Verb
from gpucloud.reconcile.gpusnapshot import Source
from support.builders import NOW, START, an_order, known, present
from support.rows import WORDS, Row, tried
from support.snapshotfacts import (
    CHOSEN,
    COMPLETED,
    CREATING,
    DELETING,
    MINE,
    NAME,
    RETAINS,
    THEIRS,
    UNPLACED,
    VM,
    a_snapshot,
    a_snapshot_spec,
    a_snapshot_status,
)

NEW = CallHistory(first_seen=NOW - 9, seen_new=True)
SENT = tried(Verb.CREATE_SNAPSHOT)
VMS_DOUBTED = Unknown(NOW - 200, UnknownReason.IMPLAUSIBLE)
OF_OLD = {"vmRef": None, "vm": {"cluster": "Msc1", "vpc": "acme", "name": "old"}}
ADOPTS = a_snapshot_spec(snapshotName="theirs", adoption="Required", **OF_OLD)
ADOPTED = a_snapshot_status("Completed", "True", None, order=an_order("theirs", origin=Origin.ADOPTED), adopted=True)

NOWHERE = {"spec": GpuSnapshotSpec.model_validate({}), "needs": ()}

ROWS = {
    "a spec that names no VM calls a person": Row(
        "an older definition lets it pass",
        UNPLACED | NOWHERE,
        Reason.INVALID_SPEC,
        progress="Stalled",
        says="set exactly one of spec.vm and spec.vmRef.",
    ),
    "a spec that names no VM holds its deletion": Row(
        "nobody knows where to look",
        UNPLACED | NOWHERE | {"meta": DELETING, "status": COMPLETED},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says="Set exactly one of spec.vm and spec.vmRef.",
    ),
    # --- where it belongs
    "its GpuVM is not there: waited for, by name": Row(
        "it comes with the same kubectl apply",
        UNPLACED | {"history": NEW},
        Reason.DEPENDENCY_NOT_READY,
        says=("GpuVM 'train'", "'team'"),
        status={"progress_deadline_at": None, "order": OrderState.NOT_ORDERED},
    ),
    "deleted before anything was said, its GpuVM not there: free": Row(
        "nothing is sent before our finalizer", UNPLACED | {"meta": DELETING, "history": NEW}, released=Reason.GONE, says="No"
    ),
    "deleted after it said that nothing was ordered: free": Row(
        "whoever runs then",
        UNPLACED
        | {"meta": DELETING, "status": a_snapshot_status("DependencyNotReady", order=Order(state=OrderState.NOT_ORDERED))},
        released=Reason.GONE,
    ),
    "deleted with a stripped status, its GpuVM not there: held": Row(
        "a snapshot may live somewhere",
        UNPLACED | {"meta": DELETING},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says=("its cluster and VPC are not known", "Retain"),
    ),
    "held, and still held by the next pass": Row(
        "our own words are no proof",
        UNPLACED | {"meta": DELETING, "status": a_snapshot_status("DeletionBlocked", progress="Stalled")},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says="Retain",
    ),
    "nowhere, and retained: free": Row("the way out", UNPLACED | {"meta": DELETING, "spec": RETAINS}, released=Reason.RETAINED),
    # --- ownership
    "a chosen name with our order is ours": Row(
        "the name had been shown free",
        {
            "spec": CHOSEN,
            "status": a_snapshot_status("Creating", order=THEIRS),
            "known": known(an_order("theirs", OrderState.ACCEPTED)),
            "found": a_snapshot(id="theirs"),
        },
        Reason.COMPLETED,
        "True",
        None,
        beside=("Succeeded",),
    ),
    "a chosen name whose order another process recorded may be anybody's": Row(
        "nobody knows whether that order was sent",
        {
            "spec": CHOSEN,
            "status": a_snapshot_status("Creating", order=THEIRS),
            "found": a_snapshot(id="theirs"),
        },
        Reason.AMBIGUOUS,
        progress="Stalled",
        says=("no clear answer", "spec.deletion.policy: Retain"),
    ),
    "what is found by its name is recorded": Row(
        "it is found again by its name",
        {"found": a_snapshot()},
        Reason.COMPLETED,
        "True",
        None,
        beside=("Succeeded",),
        status={"order": OrderState.SEEN, "snapshot_id": NAME},
    ),
    # --- taking it
    "a GpuVM that is going is not taken a snapshot of": Row(
        "it would fail halfway",
        {"needs": (Dependency("GpuVM 'train'", Readiness.DELETING),)},
        Reason.DEPENDENCY_NOT_READY,
        says="GpuVM 'train' is being deleted: nothing is created with it. Delete this object, and create both again later",
    ),
    "a GpuVM that can never serve calls a person": Row(
        "an account of another tenant",
        {
            "needs": (
                Dependency(
                    "GpuVM 'train'",
                    Readiness.UNUSABLE,
                    "It is of tenant 'x', account 'lab' is not. Delete this object and create it again with an account of that "
                    "tenant in spec.accountRef.",
                ),
            )
        },
        Reason.INVALID_REFERENCE,
        progress="Stalled",
        says=("GpuVM 'train'", "with an account of that tenant in spec.accountRef"),
    ),
    "an order under way is cleared up before anything is said of its VM": Row(
        "the VM may be waiting for this very snapshot",
        {"status": CREATING, "history": SENT, "needs": (Dependency("GpuVM 'train'", Readiness.DELETING),)},
        Reason.CREATING,
        looks=False,
    ),
    "a VM that is not there is told": Row(
        "a misspelt name",
        {"source": Source("vm", Absent(NOW, NOW))},
        Reason.SOURCE_NOT_FOUND,
        progress="Stalled",
        says=("'vm'", "VPC 'acme'", "delete this object"),
    ),
    "a VM that cannot be seen is waited for": Row(
        "a snapshot of nothing would be refused for good",
        {"source": Source("vm", Unknown(NOW, UnknownReason.UNREACHABLE))},
        Reason.DEPENDENCY_NOT_READY,
        says="VM",
    ),
    "a VM not looked for yet is looked for": Row(
        "nobody else may have asked for that listing, and its coming would wake nobody; nothing is said on the way",
        {"source": Source("vm", Unknown(NOW, UnknownReason.NOT_LISTED))},
        looks=True,
    ),
    "a VM that is on its way is waited for": Row(
        "the cloud refuses a snapshot of it, for ever",
        {"source": Source(VM.name, present("PENDING_READINESS", name=VM.name))},
        Reason.DEPENDENCY_NOT_READY,
        says=("PENDING_READINESS", VM.name),
    ),
    "no VM known at all is waited for": Row("nobody can say which", {"source": None}, Reason.DEPENDENCY_NOT_READY),
    "of two VMs of one name no snapshot is taken": Row(
        "it would be of either",
        {"source": Source(VM.name, present(name=VM.name, duplicate_records=True))},
        Reason.DEPENDENCY_NOT_READY,
    ),
    "the source may go once the snapshot is there": Row(
        "a snapshot outlives its VM",
        {"status": COMPLETED, "found": a_snapshot(), "source": None, "needs": UNPLACED["needs"]},
        Reason.COMPLETED,
        "True",
        None,
        beside=("Succeeded",),
    ),
    "a record is not acted on when the VM has gone": Row(
        "it went between the record and the order",
        {"status": CREATING, "known": MINE, "source": Source("vm", Absent(NOW, NOW))},
        Reason.SOURCE_NOT_FOUND,
        progress="Stalled",
        says="'vm'",
    ),
    "a VM that the cloud does not find is told": Row(
        "it went while the order was on its way",
        {"status": CREATING, "history": tried(Verb.CREATE_SNAPSHOT, kind=ErrorKind.NOT_FOUND)},
        Reason.NOT_FOUND,
        progress="Stalled",
        says=(WORDS, "tries again"),
    ),
    "a VM that the cloud did not find is tried again after a restart": Row(
        "as the message says",
        {"status": a_snapshot_status("NotFound", progress="Stalled", order=an_order(NAME, OrderState.REFUSED))},
        Reason.CREATING,
        records=True,
    ),
    # --- life
    "listed and not ready to use is Creating": Row(
        "it is being taken",
        {"status": CREATING, "found": a_snapshot(ready=False)},
        Reason.CREATING,
        status={"snapshot_id": NAME, "ready_to_use": False},
    ),
    "not said whether ready to use is Creating": Row(
        "every field may be null", {"status": CREATING, "found": a_snapshot(ready=None)}, Reason.CREATING
    ),
    "never ready to use calls a person at the deadline": Row(
        "the cloud has no word for a snapshot that failed",
        {
            "status": CREATING.model_copy(update={"progress_deadline_at": START + timedelta(seconds=NOW - 1)}),
            "found": a_snapshot(ready=False),
        },
        Reason.PROGRESS_DEADLINE_EXCEEDED,
        progress="Stalled",
        says="spec.progressDeadlineSeconds",
    ),
    "ready to use is Ready, and has succeeded": Row(
        "the point of it all",
        {"status": CREATING, "found": a_snapshot(osImage="Ubuntu", rootDiskSize="500Gi")},
        Reason.COMPLETED,
        "True",
        None,
        beside=("Succeeded",),
        status={"source_name": VM.name, "cluster": "Msc1", "vpc": "acme", "root_disk_size": "500Gi"},
    ),
    "one that stays away is lost, and not taken again": Row(
        "its VM holds other data by now",
        {"status": COMPLETED, "found": Absent(NOW, NOW - 31, NOW - 2)},
        Reason.SNAPSHOT_LOST,
        progress="Stalled",
        records=False,
        says=("deleted with its VM (spec.deletion.snapshots: Delete", "or outside", "delete this object and apply it again"),
    ),
    "one that no VM takes along was deleted outside Kubernetes": Row(
        "its owner retains it",
        {
            "spec": a_snapshot_spec(deletion={"policy": "Retain"}),
            "status": COMPLETED,
            "found": Absent(NOW, NOW - 31, NOW - 2),
        },
        Reason.SNAPSHOT_LOST,
        progress="Stalled",
        says="was deleted outside Kubernetes.",
    ),
    "one that stays away, as so many VMs do that it is not believed of them: it may be there all the same": Row(
        "one loss was judged in two ways: as an error of the cloud for the VMs, and for the snapshots as a deletion",
        {"status": COMPLETED, "found": Absent(NOW, NOW - 200, NOW - 2), "vms_listed": VMS_DOUBTED},
        Reason.IMPLAUSIBLE_LISTING,
        "Unknown",
        says=("lacks this snapshot and many others", "kubectl annotate gpusnapshot"),
        wakes=10,
    ),
    "one that stays away, and just now so many VMs do that it is not believed of them: the last verdict stands": Row(
        "as that of the VMs does",
        {
            "status": COMPLETED,
            "found": Absent(NOW, NOW - 31, NOW - 2),
            "vms_listed": Unknown(NOW - 31, UnknownReason.IMPLAUSIBLE),
        },
        looks=None,
        wakes=180,
    ),
    "one that stays away, and VMs were not listed since": Row(
        "their listing may show that too much is gone at once",
        {"status": COMPLETED, "found": Absent(NOW, NOW - 31, NOW - 2), "vms_listed": NOW - 32.0},
        Reason.SNAPSHOT_LOST,
        "Unknown",
        says="lacks this snapshot; the operator checks again",
        wakes=10,
    ),
    **{
        f"one that stays away, and {why}: it is lost": Row(
            reason,
            {"status": COMPLETED, "found": Absent(NOW, NOW - 1031, NOW - 2), "vms_listed": vms},
            Reason.SNAPSHOT_LOST,
            progress="Stalled",
            says="outside Kubernetes",
        )
        for why, reason, vms in (
            ("VMs were listed since, as they should be", "it is gone alone", NOW - 5.0),
            ("VMs began to be doubted long after it", "it was gone alone", VMS_DOUBTED),
            (
                "VMs cannot be listed",
                "one permission says nothing of another",
                Unknown(NOW, UnknownReason.FORBIDDEN),
            ),
            ("VMs are not listed there", "nothing says more", None),
        )
    },
    # --- adoption
    "one that exists is adopted where the spec allows it": Row(
        "its owner asks for it, and it stays when the object goes",
        {"spec": ADOPTS, "found": a_snapshot(id="theirs", sourceName="old")},
        Reason.COMPLETED,
        "True",
        None,
        beside=("Succeeded",),
        status={"adopted": True, "order": OrderState.SEEN, "deletion_policy": DeletionPolicy.RETAIN},
    ),
    "one that is required and not there is waited for, and not taken": Row(
        "its owner expects one",
        {"spec": ADOPTS},
        Reason.NOT_FOUND,
        progress="Stalled",
        records=False,
        says=("'theirs'", "never creates one"),
    ),
    "one of another VM than the spec names is told": Row(
        "it holds other data",
        {"spec": ADOPTS, "found": a_snapshot(id="theirs", sourceName="other")},
        Reason.MISMATCH,
        progress="Stalled",
        says=("'other'", "spec.vm.name"),
    ),
    "the snapshot stays": Row(
        "it was there before",
        {"spec": ADOPTS, "meta": DELETING, "status": ADOPTED, "found": a_snapshot(id="theirs", sourceName="old")},
        released=Reason.RETAINED,
        says="since it was adopted",
    ),
    # --- letting go
    "it goes although its VM is gone": Row(
        "a snapshot outlives its VM",
        {"meta": DELETING, "status": COMPLETED, "found": a_snapshot(), "source": None},
        Reason.DELETING,
        action=Verb.DELETE_SNAPSHOT,
    ),
}
