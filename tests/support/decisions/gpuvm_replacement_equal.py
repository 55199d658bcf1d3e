"""Rows of a GpuVM that is what the spec says though its record does not say so, and the other way round."""

from __future__ import annotations

from gpucloud.kinds.common import OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import Verb
from gpucloud.reconcile.gpuvm import template
from gpucloud.reconcile.waiting_line import Line, Offer
from support.builders import a_spec, a_status, an_order, known, present
from support.decisions.gpuvm_replacement import (
    CONFIGURATION,
    GROWN,
    LARGE,
    LARGER,
    OLD,
    OTHER,
    SMALL,
    WALL,
    planned,
    stands,
    unrecorded,
)
from support.gpuvmfacts import NAME
from support.rows import Row


def another(spec, plan=None):
    """The record is of a VM of SMALL, as after a restore of etcd; the cloud shows one of LARGE."""
    order = an_order(NAME, template=OLD, configuration=SMALL)
    status = a_status("Running", "True", None, order=order, vm_id=NAME, replacement=plan)
    return unrecorded(spec, configuration_in_use=LARGE, status=status, known=known(order))


def made_of(spec, plan, configuration, cluster="Msc1", **more):
    """The VM was made from the old spec, of this offer; the cloud shows it so."""
    order = an_order(NAME, cluster=cluster, template=OLD, configuration=configuration)
    status = a_status("Replacing", "False", order=order, vm_id=NAME, settled_generation=1, replacement=plan)
    shown = {"status": status, "known": known(order), "configuration_in_use": configuration}
    return stands(spec) | shown | more


def accepting(*alternatives, **spec):
    """The spec names LARGE now, and accepts these as well."""
    return a_spec(replacePolicy="Recreate", configuration=LARGE, placement={"alternatives": list(alternatives)}, **spec)


def left_over(given):
    """The same long after its destruction was announced, which had no effect."""
    order = given["status"].order.model_copy(update={"state": OrderState.DESTROYING})
    status = given["status"].model_copy(update={"order": order, "recreations": (WALL,)})
    return given | {"status": status, "known": known(order, ago=5000.0)}


ROWS = {
    "a VM of another configuration than its record names is not Ready": Row(
        "etcd was restored: the VM is not as the spec says",
        another(a_spec(replacePolicy="Recreate")),
        Reason.MISMATCH,
        progress="Stalled",
        says=("the cloud shows 'A100_40GB_PCIe_2x'", "The VM is not replaced: status.order describes another VM."),
        status={"replacement": None, "order": OrderState.SEEN},
    ),
    "a VM that is never replaced is not compared with its record": Row(
        "if the cloud showed another word than it takes in orders, no VM would be Ready, and nothing lead to any",
        another(a_spec()),
        Reason.RUNNING,
        "True",
        None,
    ),
    "a VM that is as the spec says, and not as its record, is not destroyed for its own equal": Row(
        "etcd was restored, and the edit was applied again",
        another(OTHER, CONFIGURATION),
        Reason.RUNNING,
        "True",
        None,
        status={"replacement": None, "order": an_order(NAME, template=template.of(OTHER), configuration=LARGE)},
    ),
    "a VM that is an alternative of the changed spec is not destroyed for its own equal": Row(
        "there is room for that one only, and the VM has it already",
        made_of(
            accepting({"configuration": SMALL}),
            CONFIGURATION,
            SMALL,
            line=Line(listed=frozenset({Offer(LARGE), Offer(SMALL)}), turn=Offer(SMALL)),
        ),
        Reason.WAITING_FOR_CAPACITY,
        says="when the cloud has capacity for 'A100_40GB_PCIe_2x'. To keep it",
    ),
    "a VM that is an alternative of the changed spec is destroyed when there is room for the first offer": Row(
        "that one is wanted more",
        made_of(
            accepting({"configuration": SMALL}),
            CONFIGURATION,
            SMALL,
            line=Line(listed=frozenset({Offer(LARGE), Offer(SMALL)}), turn=Offer(LARGE)),
        ),
        Reason.REPLACING,
        action=Verb.DESTROY,
    ),
    "a VM that is an alternative is destroyed for another of it where the disk changes, too": Row(
        "no VM that is there has that disk",
        made_of(
            accepting({"configuration": SMALL}, rootDiskGiB=300),
            planned(LARGER, GROWN),
            SMALL,
            line=Line(listed=frozenset({Offer(LARGE), Offer(SMALL)}), turn=Offer(SMALL)),
        ),
        Reason.REPLACING,
        action=Verb.DESTROY,
    ),
    "a VM that was made of an alternative is not destroyed for that when the spec names it": Row(
        "it is what the spec says",
        made_of(OTHER, CONFIGURATION, LARGE),
        Reason.RUNNING,
        "True",
        None,
        status={
            "replacement": None,
            "order": an_order(NAME, template=template.of(OTHER), configuration=LARGE),
        },
    ),
    "a VM is not destroyed when the spec names the pool in which it is": Row(
        "the cloud shows that pool",
        made_of(a_spec(replacePolicy="Recreate", resourcePool="on-demand"), None, SMALL, found=present(rpool="on-demand")),
        Reason.RUNNING,
        "True",
        None,
        status={"replacement": None},
    ),
    "a VM is replaced when the spec names a pool in which it is not": Row(
        "the cloud shows another pool",
        made_of(a_spec(replacePolicy="Recreate", resourcePool="reserved"), None, SMALL, found=present(rpool="on-demand")),
        Reason.REPLACING,
        says="spec.resourcePool to 'reserved'",
    ),
    "a VM of which the disk changes, too, is not replaced for the offer that it is": Row(
        "the plan names what differs",
        made_of(a_spec(replacePolicy="Recreate", configuration=LARGE, rootDiskGiB=300), None, LARGE),
        Reason.REPLACING,
        says="for a change of spec.rootDiskGiB to '300'. It",
        status={"replacement": planned(GROWN, ago=0)},
    ),
    "a VM that is in another cluster than the first offer is not destroyed for its own equal": Row(
        "another offer of this place the spec does not have",
        made_of(accepting({"configuration": SMALL, "cluster": "Hou1"}), CONFIGURATION, SMALL, cluster="Hou1"),
        Reason.REPLACING,
        progress="Stalled",
        says="name first in cluster 'Hou1'",
    ),
    "a VM that an announced destruction has left is not Ready while it is not as the spec says": Row(
        "the call had no effect, and the policy was taken back",
        left_over(made_of(a_spec(configuration=LARGE), CONFIGURATION, SMALL)),
        Reason.MISMATCH,
        progress="Stalled",
        says="spec.replacePolicy: Never",
    ),
    "a VM whose record announces its destruction, and is of another VM, is not Ready": Row(
        "etcd was restored to a time in the middle of a replacement",
        left_over(another(a_spec(replacePolicy="Recreate"), CONFIGURATION)),
        Reason.MISMATCH,
        progress="Stalled",
        says="the cloud shows 'A100_40GB_PCIe_2x'",
    ),
}
