"""Rows of a GpuVM whose VM the cloud named or placed itself: after a restart of the operator only a status says whose it is."""

from __future__ import annotations

from gpucloud.kinds.common import OrderState, Origin
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import Absent, CallHistory
from gpucloud.reconcile.gpuvm import template
from support.builders import NOW, a_spec, a_status, an_order, known, present
from support.decisions.gpuvm_replacement import SPEC
from support.gpuvmfacts import DELETING, NAME, STOPPED
from support.rows import LONG_KNOWN, Row, noted

THEIRS = "srv-1"
OLD = template.of(a_spec(replacePolicy="Recreate"))
ORDER = an_order(NAME, cloud_id=THEIRS, template=OLD)
ADOPTED = an_order(NAME, origin=Origin.ADOPTED, template=OLD)
RECORDED = {
    "status": a_status("Running", "True", None, order=ORDER, vm_id=THEIRS, settled_generation=1),
    "found": present(name=THEIRS),
    "history": LONG_KNOWN,
}
PLACED = an_order(NAME, OrderState.LOST, cloud_vpc="acme-2")
UNCLEAR = an_order("theirs", OrderState.UNCLEAR)
LATE = "If it appears again, destroy it in the cloud: it is billed."

ROWS = {
    "what only a status says is ours is not shown where namespaces are isolated": Row(
        "whoever may write a status could read what is another namespace's",
        RECORDED | {"may_adopt": False},
        Reason.AMBIGUOUS,
        progress="Stalled",
        says="it is not shown. Ask the administrator for --own-account-sharing=Shared.",
    ),
    "what only a status says is ours is not switched": Row(
        "it may be another's",
        RECORDED | {"spec": STOPPED},
        Reason.AMBIGUOUS,
        progress="Stalled",
        says="the VM is not switched off. Do that in the cloud.",
    ),
    "a VM of a status that says adopted, and whose spec adopts none, is not replaced": Row(
        "only an order of this object proves that it made the VM",
        RECORDED | {"spec": SPEC, "found": present(), "status": RECORDED["status"].model_copy(update={"order": ADOPTED})},
        Reason.MISMATCH,
        progress="Stalled",
        says="nothing proves that it is this object's, so it is not replaced.",
    ),
    "what only a status says is ours is not destroyed": Row(
        "it may be another's",
        RECORDED | {"meta": DELETING},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says=("Destroy it in the cloud, or", "spec.deletion.policy: Retain"),
    ),
    "a lost VM that the cloud placed itself may come back after its object": Row(
        "nothing looks for it any more",
        {
            "meta": DELETING,
            "status": a_status("VMLost", progress="Stalled", order=PLACED, vm_id=NAME),
            "tracked": known(PLACED, ago=400),
            "found": Absent(NOW, NOW - 50, NOW - 30),
            "history": CallHistory(first_seen=NOW - 600, deletion_seen=NOW - 60),
        },
        released=Reason.GONE,
        says=LATE,
    ),
    "what bears the chosen name of an order without a clear answer is not destroyed": Row(
        "it may be another's",
        {
            "meta": noted(deleting=True),
            "spec": a_spec(vmName="theirs"),
            "status": a_status("Creating", order=UNCLEAR),
            "tracked": known(UNCLEAR, ago=100),
            "found": present(name="theirs"),
            "history": LONG_KNOWN,
        },
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says="If it is yours, destroy it in the cloud.",
    ),
}
