"""Rows of a GpuVM whose spec changed what the cloud cannot change in place, and asks for another VM."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from gpucloud.kinds.common import OrderState, Origin
from gpucloud.kinds.meta import Reason
from gpucloud.kinds.recreation import ReplacedField, Replacement
from gpucloud.reconcile.deletion_guard import Hold
from gpucloud.reconcile.facts import Absent, Dependency, KeyTrouble, Readiness, SSHKeys, Unknown, UnknownReason, Verb
from gpucloud.reconcile.gpuvm import template
from gpucloud.reconcile.gpuvm.misnamed import KnownNames
from gpucloud.reconcile.quota import Quota, Usage
from gpucloud.reconcile.waiting_line import Line, Offer
from support.builders import NOW, START, a_spec, a_status, an_object, an_order, known, present
from support.gpuvmfacts import NAME
from support.rows import LONG_KNOWN, Row, noted

WALL = START + timedelta(seconds=NOW)
EARLIER = "train-tagaa-aaaaaaaaaa"  # made for an earlier object of the name
SMALL, LARGE = "A100_40GB_PCIe_1x", "A100_40GB_PCIe_2x"
OLD = template.of(a_spec(replacePolicy="Recreate"))
SPEC = a_spec(replacePolicy="Recreate", rootDiskGiB=300)
OTHER = a_spec(replacePolicy="Recreate", configuration=LARGE)


def ordered(state=OrderState.SEEN):
    return an_order(NAME, state, template=OLD)


def planned(*changes, ago=60, saves=False):
    """A plan of the default grace of 30 s."""
    at = WALL - timedelta(seconds=ago)
    return Replacement(changes=changes, planned_at=at, not_before=at + timedelta(seconds=30), final_snapshot=saves)


def stands(spec=SPEC, plan=None, **more):
    """The VM runs, and was made from the old spec."""
    fields = {"order": ordered(), "vm_id": NAME, "settled_generation": 1, "replacement": plan}
    status = a_status("Running" if plan is None else "Replacing", "True" if plan is None else "False", None, **fields)
    return {"spec": spec, "status": status, "found": present(), "history": LONG_KNOWN, "known": known(ordered())} | more


PINNED = template.of(a_spec(resourcePool="reserved", nodeName="gpu-7"))


def as_alternative(line):
    """The disk is to change; the VM is of an alternative, which does not count yet for a new order."""
    order = an_order(NAME, template=OLD, configuration=LARGE)
    wanted = {"alternatives": [{"configuration": LARGE}], "waitSeconds": 3600}
    given = stands(a_spec(replacePolicy="Recreate", rootDiskGiB=300, placement=wanted), DISK, known=known(order), line=line)
    return given | {"status": given["status"].model_copy(update={"order": order}), "configuration_in_use": LARGE}


def unrecorded(spec, **more):
    """The VM runs, and its order's record does not say what it was made from."""
    plain = an_order(NAME)
    status = a_status("Running", "True", None, order=plain, vm_id=NAME)
    return {"spec": spec, "status": status, "found": present(), "history": LONG_KNOWN, "known": known(plain)} | more


GROWN, LARGER = ReplacedField(name="rootDiskGiB", after="300"), ReplacedField(name="configuration", before=SMALL, after=LARGE)
DISK, CONFIGURATION = planned(GROWN), planned(LARGER)
RETAINED = {"replacePolicy": "Recreate", "rootDiskGiB": 300, "deletion": {"policy": "Retain"}}
GONE = {
    "spec": SPEC,
    "status": a_status("Replacing", order=ordered(OrderState.GONE), replacement=DISK),
    "tracked": known(ordered(OrderState.GONE), ago=5, absence_counts_from=NOW - 9),
    "found": Absent(NOW - 0.5, NOW - 8, NOW - 3),
    "history": LONG_KNOWN,
}

ROWS = {
    "a replacement is planned before anything happens": Row(
        "a person may put the spec back",
        stands(),
        Reason.REPLACING,
        says=(
            "The VM will be replaced for a change of spec.rootDiskGiB to '300'. It is destroyed",
            "not before 20",
            "To keep it, put the old value back",
        ),
        status={"replacement": planned(GROWN, ago=0), "order": OrderState.SEEN},
        wakes=30,
    ),
    "a plan says that a final snapshot comes first": Row(
        "it is a part of the plan",
        stands(a_spec(replacePolicy="Recreate", rootDiskGiB=300, deletion={"finalSnapshot": "Required"})),
        Reason.REPLACING,
        says="after a final snapshot of it",
        status={"replacement": planned(GROWN, ago=0, saves=True)},
    ),
    "a plan is kept while its grace lasts": Row(
        "a restart shortens no wait", stands(plan=planned(GROWN, ago=10)), Reason.REPLACING, wakes=20
    ),
    "a plan that a clock ahead of this one has recorded counts from now on": Row(
        "the wait must not last until that time",
        stands(plan=planned(GROWN, ago=-3600)),
        Reason.REPLACING,
        status={"replacement": planned(GROWN, ago=0)},
        wakes=30,
    ),
    "another edit is planned anew": Row(
        "its grace begins again",
        stands(a_spec(replacePolicy="Recreate", rootDiskGiB=300, configuration=LARGE), DISK),
        Reason.REPLACING,
        says="spec.configuration from 'A100_40GB_PCIe_1x' to 'A100_40GB_PCIe_2x', spec.rootDiskGiB to '300'",
        status={"replacement": planned(LARGER, GROWN, ago=0)},
    ),
    "an edit that is taken back replaces nothing": Row(
        "the VM is as the spec says",
        stands(a_spec(replacePolicy="Recreate"), DISK),
        Reason.RUNNING,
        "True",
        None,
        status={"replacement": None},
    ),
    "a VM whose spec was edited is not Ready though the policy was taken back": Row(
        "it is not as the spec says",
        stands(a_spec(rootDiskGiB=300), DISK),
        Reason.MISMATCH,
        progress="Stalled",
        says=(
            "spec.rootDiskGiB to '300'",
            "spec.replacePolicy: Never",
            "To keep the VM, set Recreate and the old value in one edit",
        ),
        status={"replacement": None, "order": OrderState.SEEN},
    ),
    "a VM that is not as the spec says is switched off all the same": Row(
        "what can be done in place is done",
        stands(a_spec(rootDiskGiB=300, powerState="Stopped"), meta=an_object(generation=2)),
        Reason.STOPPING,
        action=Verb.STOP,
    ),
    "an adopted VM is not replaced": Row(
        "it was not bought for this object",
        stands(
            a_spec(rootDiskGiB=300, replacePolicy="Recreate", adoption="IfExists", vmName=NAME, deletion={"policy": "Delete"})
        )
        | {"known": known(ordered().model_copy(update={"origin": Origin.ADOPTED}))},
        Reason.MISMATCH,
        progress="Stalled",
        says="it was adopted, so it is not replaced. Put the old value back.",
    ),
    "an adopted VM that Never keeps names an edit that the apiserver takes": Row(
        "it refuses the old value alone",
        stands(a_spec(rootDiskGiB=300, adoption="IfExists", vmName=NAME, deletion={"policy": "Delete"}))
        | {"known": known(ordered().model_copy(update={"origin": Origin.ADOPTED}))},
        Reason.MISMATCH,
        progress="Stalled",
        says="it was adopted, so it is not replaced. Set spec.replacePolicy: Recreate and the old value in one edit.",
    ),
    "a VM that the cloud has placed elsewhere is not replaced": Row(
        "no listing of its own place could show that it is gone",
        stands() | {"known": known(ordered().model_copy(update={"cloud_cluster": "Hou1"}))},
        Reason.MISMATCH,
        progress="Stalled",
        says=("placed it in cluster 'Hou1'", "Put the old value back, or delete this object (that destroys the VM)"),
    ),
    "a VM is destroyed for another one when the grace is over": Row(
        "nothing holds it",
        stands(plan=DISK),
        Reason.REPLACING,
        action=Verb.DESTROY,
        status={"order": OrderState.DESTROYING, "replacement": DISK},
    ),
    "a VM that is retained is not replaced": Row(
        "the spec keeps it",
        stands(a_spec(**RETAINED)),
        Reason.MISMATCH,
        progress="Stalled",
        says="spec.deletion.policy: Retain",
    ),
    "a VM that the deletion guard holds is not replaced": Row(
        "an edit of many specs may be a mistake",
        stands(plan=DISK, hold=Hold(8, Decimal(16), 0, timedelta(minutes=10), "--brake-vms 3")),
        Reason.DELETION_HELD,
        progress="Stalled",
        says="kubectl annotate",
    ),
    "a VM of which a snapshot is being taken is not replaced": Row(
        "a GpuSnapshot needs it",
        stands(plan=DISK, dependents=("GpuSnapshot 'nightly'",)),
        Reason.REPLACING,
        says="as soon as GpuSnapshot 'nightly' is taken",
    ),
    "a VM is replaced three times within an hour": Row(
        "specs that change again and again would buy without end",
        stands(plan=DISK)
        | {
            "status": stands(plan=DISK)["status"].model_copy(
                update={"recreations": tuple(WALL - timedelta(minutes=minutes) for minutes in (50, 30, 10))}
            )
        },
        Reason.RECREATION_LIMITED,
        progress="Stalled",
        says=("The VM is not replaced yet.", "3 times within an hour", "deleting this object destroys it"),
    ),
    "a VM is not destroyed without room for the other one": Row(
        "the old one is better than none",
        stands(OTHER, CONFIGURATION, line=Line(listed=frozenset({Offer(LARGE)}))),
        Reason.WAITING_FOR_CAPACITY,
        says=LARGE,
    ),
    "a VM is destroyed when there is room for the other one": Row(
        "it has the turn in the line",
        stands(OTHER, CONFIGURATION, line=Line(listed=frozenset({Offer(LARGE)}), turn=Offer(LARGE))),
        Reason.REPLACING,
        action=Verb.DESTROY,
    ),
    "a destruction that is announced does not ask for room again": Row(
        "the announcement may have been sent",
        stands(OTHER, CONFIGURATION, line=Line(listed=frozenset({Offer(LARGE)})))
        | {"status": a_status("Replacing", order=ordered(OrderState.DESTROYING), replacement=CONFIGURATION, vm_id=NAME)},
        Reason.REPLACING,
        action=Verb.DESTROY,
    ),
    "a VM is replaced where the cloud lists no room of the other one": Row(
        "nothing can be known", stands(OTHER, CONFIGURATION), Reason.REPLACING, action=Verb.DESTROY
    ),
    "a VM that is on is destroyed though nobody else finds room": Row(
        "it has room for the other one when it is gone",
        stands(plan=DISK, configuration_in_use=SMALL, line=Line(listed=frozenset({Offer(SMALL)}))),
        Reason.REPLACING,
        action=Verb.DESTROY,
    ),
    "a VM that is off is not destroyed without room for the other one": Row(
        "the cloud has given its room to others",
        stands(plan=DISK, found=present("OFFLINE"), configuration_in_use=SMALL, line=Line(listed=frozenset({Offer(SMALL)}))),
        Reason.WAITING_FOR_CAPACITY,
        says=SMALL,
    ),
    "a VM that is off is destroyed when there is room for the other one": Row(
        "it has the turn in the line",
        stands(
            plan=DISK,
            found=present("OFFLINE"),
            configuration_in_use=SMALL,
            line=Line(listed=frozenset({Offer(SMALL)}), turn=Offer(SMALL)),
        ),
        Reason.REPLACING,
        action=Verb.DESTROY,
    ),
    "a VM of an alternative is not destroyed without room for the first offer": Row(
        "what it holds is not what is ordered next",
        as_alternative(Line(listed=frozenset({Offer(SMALL)}))),
        Reason.WAITING_FOR_CAPACITY,
        says=("capacity for 'A100_40GB_PCIe_1x'. To keep",),
    ),
    "a VM of an alternative is destroyed when there is room for the first offer": Row(
        "it has the turn in the line",
        as_alternative(Line(listed=frozenset({Offer(SMALL)}), turn=Offer(SMALL))),
        Reason.REPLACING,
        action=Verb.DESTROY,
    ),
    "a VM on a node of its own that is off is not destroyed without room there": Row(
        "the cloud may have given the node to others",
        stands(
            a_spec(replacePolicy="Recreate", resourcePool="reserved", nodeName="gpu-7", rootDiskGiB=300),
            DISK,
            known=known(an_order(NAME, OrderState.SEEN, template=PINNED)),
            found=present("OFFLINE"),
            line=Line(listed=frozenset({Offer(SMALL, "reserved")})),
        ),
        Reason.WAITING_FOR_CAPACITY,
        says=SMALL,
    ),
    "a VM on a node of its own is replaced though nobody else finds room there": Row(
        "it has room when the old one is gone",
        stands(
            a_spec(replacePolicy="Recreate", configuration=LARGE, resourcePool="reserved", nodeName="gpu-7"),
            planned(LARGER),
            known=known(an_order(NAME, OrderState.SEEN, template=PINNED)),
            line=Line(listed=frozenset({Offer(LARGE, "reserved")})),
        ),
        Reason.REPLACING,
        action=Verb.DESTROY,
    ),
    "a VM is not destroyed for a configuration that nobody offers": Row(
        "the order would be refused",
        stands(OTHER, CONFIGURATION, known_names=KnownNames(configurations=(SMALL, "A100_40GB_PCIe_4x"))),
        Reason.REPLACING,
        progress="Stalled",
        says=("offers no configuration 'A100_40GB_PCIe_2x'", "Did you mean"),
    ),
    "a VM is not destroyed while the keys of the other one are missing": Row(
        "the order would wait for them",
        stands(plan=DISK, keys=SSHKeys((), KeyTrouble.MISSING, "Waiting for Secret 'team-keys'.")),
        Reason.SSH_KEYS_NOT_FOUND,
        says="Waiting for Secret 'team-keys'. The VM is not replaced until keys are read.",
    ),
    "a VM is not destroyed while what the other one refers to is not ready": Row(
        "the order would wait for it",
        stands(plan=DISK, needs=(Dependency("GpuSnapshot 'base'", Readiness.MISSING, field="spec.image.snapshotRef.name"),)),
        Reason.DEPENDENCY_NOT_READY,
        says="GpuSnapshot 'base'",
    ),
    "a VM is not destroyed while what the other one refers to is being deleted": Row(
        "to delete this object, too, would destroy it",
        stands(plan=DISK, needs=(Dependency("GpuVpc 'net'", Readiness.DELETING, held=True),)),
        Reason.DEPENDENCY_NOT_READY,
        says=("To keep the VM, put the old value back. To destroy it: kubectl delete gvm/train --namespace=team",),
    ),
    "a VM is not destroyed in a namespace that is being deleted": Row(
        "nothing is created there",
        stands(plan=DISK, namespace_terminating=True),
        Reason.NAMESPACE_TERMINATING,
    ),
    "a VM is not destroyed while a VM of an earlier object of its name is unused": Row(
        "nothing would be bought beside that one",
        stands(plan=DISK, lookalikes=(EARLIER,)),
        Reason.POSSIBLE_DUPLICATE,
        progress="Stalled",
        wakes=60,
        says=(
            f"The VM is not replaced: VM '{EARLIER}'",
            "put the old value back",
            "(destroys the running VM): kubectl annotate",
        ),
        status={"replacement": DISK, "order": OrderState.SEEN},
    ),
    "a VM is replaced beside one of an earlier object of its name if a person says so": Row(
        "the annotation permits the purchase that follows, too",
        stands(plan=DISK, lookalikes=(EARLIER,), meta=noted(BUY_ANYWAY="true")),
        Reason.REPLACING,
        action=Verb.DESTROY,
    ),
    "a VM is not destroyed for one that is beyond the limit on prices": Row(
        "the order would wait for room",
        stands(
            OTHER,
            CONFIGURATION,
            price_per_hour="1",
            replacement_price="9",
            usage=(Usage(Quota("namespace", price=Decimal(8)), "The namespace 'team'"),),
        ),
        Reason.LIMIT_REACHED,
        progress="Stalled",
        says=(
            "The new VM costs 9.00 dollars an hour; --max-price-per-hour-per-namespace allows 8.",
            "Put the old value back, or",
        ),
    ),
    "a VM of which no record tells what it was made from is not Ready if the cloud shows another": Row(
        "the spec was edited, and the status was lost",
        unrecorded(OTHER, configuration_in_use=SMALL),
        Reason.MISMATCH,
        progress="Stalled",
        says=("no record tells", "the cloud shows 'A100_40GB_PCIe_1x'", "(that destroys the VM)"),
    ),
    "a VM of which no record tells what it was made from is compared first": Row(
        "the catalogue may show another one",
        unrecorded(OTHER, found=present(configuration="17")),
        Reason.REPLACING,
        says="Waiting for the cloud's list of configurations",
    ),
    "a VM of which no record tells what it was made from counts as made from the spec": Row(
        "the cloud shows no other",
        unrecorded(SPEC, configuration_in_use=SMALL),
        Reason.RUNNING,
        "True",
        None,
    ),
    "a VM that cannot be seen is not replaced": Row(
        "nothing proves what is there",
        stands(plan=DISK, found=Unknown(NOW - 400, UnknownReason.UNREACHABLE)),
        Reason.API_UNAVAILABLE,
        "Unknown",
    ),
    "a VM that is being destroyed for another one is awaited": Row(
        "two of one name cannot be",
        stands(plan=DISK, found=Absent(NOW - 1, NOW - 1))
        | {
            "status": a_status("Replacing", order=ordered(OrderState.DESTROYING), replacement=DISK),
            "known": known(ordered(OrderState.DESTROYING), ago=5, absence_counts_from=NOW - 5),
        },
        Reason.REPLACING,
        looks=True,
        records=False,
    ),
    "the other one is ordered when the old one is gone": Row(
        "two listings lack it",
        GONE,
        Reason.RECREATING,
        says="in place of the last one, as spec.replacePolicy asks (1 of",
        records=True,
        status={"replacement": None, "recreations": (WALL,)},
    ),
    "the other one is ordered though the policy was taken back meanwhile": Row(
        "the old one is gone", GONE | {"spec": a_spec(rootDiskGiB=300)}, Reason.RECREATING, records=True
    ),
}
