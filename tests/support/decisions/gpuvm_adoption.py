"""Rows of a GpuVM that adopts a VM, or may: what becomes of it, and of one that is not as the spec says."""

from __future__ import annotations

from gpucloud.kinds.common import DeletionPolicy, OrderState, Origin
from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.reconcile.facts import Absent, ResourceOwner, Verb
from gpucloud.reconcile.naming import Identity
from support.builders import NOW, a_spec, a_status, an_object, an_order, known, present
from support.gpuvmfacts import DELETING
from support.rows import OLD, Row

ADOPTS = a_spec(vmName="theirs", adoption="IfExists")
REQUIRED = a_spec(vmName="theirs", adoption="Required", sshKeys=[])
DELETES = a_spec(vmName="theirs", adoption="Required", deletion={"policy": "Delete"})
THEIRS = present(name="theirs")
ORDER = an_order("theirs", origin=Origin.ADOPTED)
STANDS = {"order": ORDER, "vm_id": "theirs", "adopted": True, "settled_generation": 1}
TAKEN_OVER = a_status("Running", "True", None, **STANDS)
RECORDED = {"order": ORDER, "adopted": True, "vm_id": "theirs", "deletion_policy": DeletionPolicy.RETAIN}
FREE = Absent(NOW, NOW - 40, NOW - 2)
THERE = Identity("Hou1", "acme-old", "theirs")
RUNS = {"reason": Reason.RUNNING, "ready": "True", "progress": None}

ROWS = {
    "one that exists is adopted where the spec allows it": Row(
        "its owner asks for it, and it stays when the object goes",
        {"spec": ADOPTS, "found": THEIRS},
        **RUNS,
        status={"adopted": True, "deletion_policy": DeletionPolicy.RETAIN, "order": OrderState.SEEN},
    ),
    "one that is required is adopted, without any key": Row(
        "it is not created, so nobody logs in by the spec's keys", {"spec": REQUIRED, "found": THEIRS}, **RUNS
    ),
    "adopted and to be stopped: the adoption is recorded in the write that announces the call": Row(
        "a call leaves only when its announcement stands",
        {"spec": a_spec(vmName="theirs", adoption="Required", powerState="Stopped"), "found": THEIRS},
        Reason.STOPPING,
        action=Verb.STOP,
        status={"order": OrderState.SEEN, "adopted": True, "vm_id": "theirs"},
    ),
    "adopted while the cloud still works on it: it is not being created": Row(
        "somebody else ordered it", {"spec": ADOPTS, "found": present("PENDING", name="theirs")}, Reason.PROVISIONING
    ),
    "one that is required and not there is waited for, and not ordered": Row(
        "its owner expects one",
        {"spec": REQUIRED, "found": FREE},
        Reason.NOT_FOUND,
        progress="Stalled",
        records=False,
        says=("'theirs'", "VPC 'acme'", "never creates one", "with spec.sshKeys and without spec.adoption"),
    ),
    "an order that was recorded before the owner required one is not sent": Row(
        "the owner changed their mind in between",
        {
            "spec": REQUIRED,
            "status": a_status("Creating", order=an_order("theirs", OrderState.INTENDED)),
            "known": known(an_order("theirs", OrderState.INTENDED), ago=1, recorded=1),
            "found": FREE,
        },
        Reason.NOT_FOUND,
        progress="Stalled",
        says="never creates one",
        status={"order": OrderState.REFUSED},
    ),
    "one of the required name in another place is named": Row(
        "the spec has the wrong VPC or cluster",
        {"spec": REQUIRED, "found": FREE, "elsewhere": (THERE,)},
        Reason.NOT_FOUND,
        progress="Stalled",
        says=("'acme-old'", "'Hou1'", "spec.cluster and spec.vpc"),
    ),
    "one of the name in another place is not bought a second time": Row(
        "a wrong VPC in the spec must not cost a VM",
        {"spec": ADOPTS, "found": FREE, "elsewhere": (THERE,)},
        Reason.POSSIBLE_DUPLICATE,
        progress="Stalled",
        records=False,
        says=("'acme-old'", Annotation.BUY_ANYWAY),
    ),
    "a person may have one bought all the same": Row(
        "names are unique in a VPC only",
        {
            "spec": ADOPTS,
            "found": FREE,
            "history": OLD,
            "elsewhere": (THERE,),
            "meta": an_object(annotations={Annotation.BUY_ANYWAY: "true"}),
        },
        Reason.CREATING,
        records=True,
    ),
    "IfExists creates what is not there": Row(
        "adopted, else created", {"spec": ADOPTS, "found": FREE, "history": OLD}, Reason.CREATING, records=True
    ),
    "another configuration than the spec's is told, and nothing is done": Row(
        "Ready would be a lie; it would be switched on",
        {
            "spec": a_spec(vmName="theirs", adoption="Required", powerState="Stopped"),
            "found": THEIRS,
            "configuration_in_use": "H100_80GB_SXM_8x",
        },
        Reason.MISMATCH,
        progress="Stalled",
        says=("'H100_80GB_SXM_8x'", "spec.configuration", "Delete this object (the VM stays)"),
        status={"adopted": True, "order": OrderState.SEEN},
    ),
    "where the spec says Delete, the advice keeps what was adopted": Row(
        "deleting the object would destroy it",
        {
            "spec": a_spec(vmName="theirs", adoption="Required", deletion={"policy": "Delete"}),
            "found": THEIRS,
            "configuration_in_use": "H100_80GB_SXM_8x",
        },
        Reason.MISMATCH,
        progress="Stalled",
        says="Set spec.deletion.policy: Retain (else deletion destroys the VM), delete this object",
        status={"adopted": True, "order": OrderState.SEEN},
    ),
    "the configuration of an alternative is as the spec says, too": Row(
        "it could have been ordered",
        {
            "spec": a_spec(
                vmName="theirs", adoption="IfExists", placement={"alternatives": [{"configuration": "H100_80GB_SXM_8x"}]}
            ),
            "found": THEIRS,
            "configuration_in_use": "H100_80GB_SXM_8x",
        },
        **RUNS,
    ),
    "another image than the spec's is told": Row(
        "its owner relies on it",
        {
            "spec": a_spec(vmName="theirs", adoption="Required", image={"operatingSystem": "Debian 12"}),
            "found": present(name="theirs", image="Ubuntu_22.04.4_LTS"),
        },
        Reason.MISMATCH,
        progress="Stalled",
        says=("'Ubuntu_22.04.4_LTS'", "spec.image.operatingSystem"),
    ),
    "an image in the cloud's spelling is the same": Row(
        "the service answers with underscores",
        {
            "spec": a_spec(vmName="theirs", adoption="Required", image={"operatingSystem": "Ubuntu 22.04.4 LTS"}),
            "found": present(name="theirs", image="Ubuntu_22.04.4_LTS"),
        },
        **RUNS,
    ),
    "what the operator created is not compared": Row(
        "the service may report it by other words",
        {
            "found": present(image="Ubuntu", name="theirs"),
            "spec": a_spec(vmName="theirs", image={"operatingSystem": "Debian"}),
            "status": a_status("Running", "True", None, settled_generation=1, order=an_order("theirs"), vm_id="theirs"),
            "configuration_in_use": "H100_80GB_SXM_8x",
        },
        **RUNS,
    ),
    "adopted and destroyed outside: lost, and not ordered": Row(
        "it was not the operator's to make",
        {"spec": ADOPTS, "status": TAKEN_OVER, "found": Absent(NOW, NOW - 31, NOW - 2)},
        Reason.VM_LOST,
        progress="Stalled",
        records=False,
        says=("The adopted VM", "spec.adoption: Never"),
    ),
    "lost, and the spec asks for a new one": Row(
        "as the message says",
        {
            "spec": a_spec(vmName="theirs"),
            "status": a_status("VMLost", progress="Stalled", order=an_order("theirs", OrderState.LOST, origin=Origin.ADOPTED)),
            "found": FREE,
            "history": OLD,
        },
        Reason.CREATING,
        records=True,
        status={"adopted": None},
    ),
    "claimed by another GpuVM: nothing is taken over": Row(
        "one VM, one object",
        {"spec": REQUIRED, "found": THEIRS, "owner": ResourceOwner("GpuVM", "team", "first")},
        Reason.CONFLICT,
        progress="Stalled",
        says=("already used by GpuVM 'first'", "destroys nothing"),
        status={"adopted": None, "deletion_policy": None},
    ),
    "the owner's change of mind counts at once": Row(
        "the spec is the only proof of an adoption",
        {"spec": a_spec(vmName="theirs"), "status": TAKEN_OVER, "found": THEIRS},
        Reason.CONFLICT,
        progress="Stalled",
        says="spec.adoption: IfExists",
    ),
    "deleted: the VM stays": Row(
        "it was there before",
        {"meta": DELETING, "spec": ADOPTS, "status": TAKEN_OVER, "found": THEIRS},
        released=Reason.RETAINED,
        says="since it was adopted",
    ),
    "deleted: what was adopted goes where the spec says so": Row(
        "its owner says Delete",
        {"meta": DELETING, "spec": DELETES, "status": TAKEN_OVER, "found": THEIRS},
        Reason.DELETING,
        action=Verb.DESTROY,
    ),
    "deleted before it adopted anything: it adopts nothing to destroy": Row(
        "it would be taken over only to be destroyed",
        {"meta": DELETING, "spec": DELETES, "found": THEIRS},
        released=Reason.RETAINED,
        says="is not destroyed",
    ),
    "deleted after the owner took the adoption back: not destroyed": Row(
        "nothing proves that it is ours",
        {"meta": DELETING, "spec": a_spec(vmName="theirs"), "status": TAKEN_OVER, "found": THEIRS},
        released=Reason.RETAINED,
        says="not destroyed",
    ),
}
