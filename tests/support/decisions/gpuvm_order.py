"""Rows of a GpuVM alone: what is seen of it, whose it is, and how it is ordered."""

from __future__ import annotations

from datetime import timedelta

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.gpuvm import GpuVMStatus
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import (
    Absent,
    AccountFacts,
    KeyTrouble,
    ListingPace,
    SSHKeys,
    Unknown,
    UnknownReason,
    Verb,
)
from gpucloud.reconcile.gpuvm import template
from gpucloud.reconcile.ownership import record_id
from support.builders import (
    NOW,
    START,
    UID,
    a_spec,
    a_status,
    an_order,
    known,
    present,
)
from support.gpuvmfacts import (
    CREATING,
    INTENDED,
    NAME,
    ORDER,
    RUNNING,
)
from support.rows import LONG_KNOWN, OLD, Row, noted, tried

AGAIN = INTENDED.model_copy(
    update={
        "id": record_id("", UID, NAME),
        "recorded_at": START + timedelta(seconds=NOW),
        "reorders": 1,
        "template": template.of(a_spec()),
        "configuration": "A100_40GB_PCIe_1x",
    }
)

REFUSED = an_order(NAME, OrderState.REFUSED, refused_generation=1)

ROWS = {
    # --- safety first
    "paused keeps the last verdict and says so": Row(
        "a person's hand is on it",
        {"meta": noted(PAUSED="true"), "status": RUNNING, "found": present("OFFLINE")},
        Reason.RUNNING,
        "True",
        None,
    ),
    # --- sight
    "a cluster that the cloud does not know is told with those that it knows": Row(
        "a slip of the pen",
        {
            "spec": a_spec(cluster="Msc7"),
            "found": Unknown(NOW, UnknownReason.REJECTED, "no such cluster"),
            "account": AccountFacts("default", clusters=("Hou1", "Msc1")),
        },
        Reason.INVALID_SPEC,
        progress="Stalled",
        says="Unknown cluster 'Msc7' (\"no such cluster\"). Did you mean 'Msc1'? Known clusters: Hou1, Msc1. Delete",
    ),
    "which clusters there are may take a moment to be known": Row(
        "the event, which holds the first message, is to name them", {"found": Unknown(NOW - 5, UnknownReason.REJECTED, "400")}
    ),
    "without a list of clusters the refusal is told all the same": Row(
        "the credential may not list them",
        {"found": Unknown(NOW - 7, UnknownReason.REJECTED, "400")},
        Reason.INVALID_SPEC,
        progress="Stalled",
        says="refuses to list VMs in cluster 'Msc1' (\"400\").",
    ),
    "a listing that is refused in a cluster that the cloud spells otherwise": Row(
        "the spelling may be why: a service that tells letter cases apart",
        {
            "spec": a_spec(cluster="msc1"),
            "found": Unknown(NOW, UnknownReason.REJECTED, "closed"),
            "account": AccountFacts("default", clusters=("Hou1", "Msc1")),
        },
        Reason.INVALID_SPEC,
        progress="Stalled",
        says=(
            "Unknown cluster 'msc1' (\"closed\"). Did you mean 'Msc1'? Known clusters: Hou1, Msc1. Delete this object, and "
            "create it again with one of them in spec.cluster."
        ),
    ),
    "a listing that is refused in a cluster that is spelt as the cloud spells it": Row(
        "nothing speaks against the name",
        {
            "found": Unknown(NOW, UnknownReason.REJECTED, "closed"),
            "account": AccountFacts("default", clusters=("Hou1", "Msc1")),
        },
        Reason.INVALID_SPEC,
        progress="Stalled",
        says="The cloud refuses to list VMs in cluster 'Msc1' (\"closed\"). If spec.cluster is wrong,",
    ),
    "a cluster that is not listed any more, of a VM that was seen there": Row(
        "its place was right: who deletes the object destroys the VM as soon as the cluster is listed again",
        {
            "found": Unknown(NOW - 1000, UnknownReason.REJECTED, "no such cluster"),
            "status": a_status("Running", ready="True", order=an_order(NAME, OrderState.SEEN)),
            "account": AccountFacts("default", clusters=("Hou1",)),
        },
        Reason.INVALID_SPEC,
        "Unknown",
        "Stalled",
        says=(
            "The cloud lists no cluster 'Msc1' now (\"no such cluster\"). This VM was last seen there. Nothing is done "
            "meanwhile. Ask the cloud's support. Do not delete this object: that destroys the VM."
        ),
    ),
    "a cluster that refuses its listing, of a VM that may have been made there": Row(
        "the order may have been carried out",
        {
            "found": Unknown(NOW - 1000, UnknownReason.REJECTED, "closed"),
            "status": a_status(order=an_order(NAME, OrderState.UNCLEAR)),
            "account": AccountFacts("default", clusters=("Hou1", "mSC1")),
        },
        Reason.INVALID_SPEC,
        progress="Stalled",
        says=(
            "The cloud refuses to list VMs in cluster 'Msc1' (\"closed\"). This VM may have been made there. Nothing is done "
            "meanwhile. Ask the cloud's support. Do not delete this object: that destroys the VM."
        ),
    ),
    # --- ownership
    "a taken name with an order for another name is a conflict": Row(
        "an edited status proves nothing",
        {
            "spec": a_spec(vmName="theirs"),
            "found": present(name="theirs"),
            "status": a_status(order=an_order("other", OrderState.LOST)),
        },
        Reason.CONFLICT,
        progress="Stalled",
        says="may be yours",
    ),
    "accepted, and not listed for ten graces: ordered again": Row(
        "the cloud may have lost it; the record says how often",
        {
            "status": CREATING,
            "known": known(an_order(NAME, OrderState.ACCEPTED), ago=310, recorded=311),
            "found": Absent(NOW, NOW - 300, NOW - 1),
        },
        Reason.CREATING,
        records=True,
        status={"order": AGAIN},
        says="The order is sent for the second time: the cloud accepted it and listed no VM.",
    ),
    "accepted for the third time, and not listed yet": Row(
        "a person sees that the cloud takes orders and makes nothing",
        {
            "status": a_status("Creating", order=an_order(NAME, OrderState.ACCEPTED, reorders=2)),
            "known": known(an_order(NAME, OrderState.ACCEPTED, reorders=2), ago=10, recorded=11),
            "found": Absent(NOW, NOW - 300, NOW - 1),
        },
        Reason.CREATING,
        says="The order is sent for the third time: the cloud accepted each order and listed no VM.",
    ),
    "accepted under another id and never listed: not ordered again": Row(
        "it lives under a name of the cloud's own",
        {
            "status": CREATING,
            "known": known(an_order(NAME, OrderState.ACCEPTED, cloud_id="vm-of-its-own"), ago=310, recorded=311),
            "found": Absent(NOW, NOW - 300, NOW - 1),
        },
        Reason.ORDER_OVERDUE,
        progress="Stalled",
        status={"order": OrderState.OVERDUE},
        says=(f"accepted the order for VM '{NAME}' once, as 'vm-of-its-own' in VPC", "The VM may be billed", "to order again"),
    ),
    "overdue, and a person asks to order again: looked for once more": Row(
        "it may have come just now; the record keeps that it was asked for",
        {
            "meta": noted(RECONCILE_REQUESTED_AT="t1"),
            "status": a_status("Creating", order=an_order(NAME, OrderState.OVERDUE, reorders=3)),
            "found": Absent(NOW, NOW - 300, NOW - 1),
        },
        Reason.CREATING,
        status={"last_handled_reconcile_at": "t1", "order": an_order(NAME, OrderState.UNCLEAR)},
    ),
    "gone by its record, of an object that stays: lost": Row(
        "a backup restored the status of one that was being deleted",
        {
            "status": a_status("Deleting", order=an_order(NAME, OrderState.GONE)),
            "found": Absent(NOW, NOW - 50, NOW - 2),
            "history": OLD,
        },
        Reason.VM_LOST,
        progress="Stalled",
        says="deleted outside Kubernetes",
    ),
    "a restart that was asked for when the record was lost counts as answered": Row(
        "nobody can know, and restarting twice loses work",
        {"meta": noted(RESTART_REQUESTED_AT="t1"), "found": present()},
        Reason.RUNNING,
        "True",
        None,
        status={"last_handled_restart_at": "t1"},
    ),
    "a restart counts as answered when the lost record is put back while nothing can be seen": Row(
        "the next pass finds a record again, and would restart once more (seeds 120424, 120558)",
        {
            "meta": noted(RESTART_REQUESTED_AT="t1"),
            "tracked": known(ORDER, ago=60, recorded=60),
            "found": Unknown(NOW - 400, UnknownReason.UNREACHABLE, "HTTP 502"),
        },
        Reason.API_UNAVAILABLE,
        "Unknown",
        status={"order": OrderState.SEEN, "last_handled_restart_at": "t1"},
    ),
    "a restart counts as answered when the lost record is put back during a pause": Row(
        "the end of the pause finds a record again",
        {
            "meta": noted(RESTART_REQUESTED_AT="t1", PAUSED="true"),
            "tracked": known(ORDER, ago=60, recorded=60),
            "found": present(),
        },
        Reason.PAUSED,
        "Unknown",
        progress=None,
        status={"order": OrderState.SEEN, "last_handled_restart_at": "t1"},
    ),
    # --- buying
    "a chosen name wants two listings": Row(
        "a partial one may hide somebody's VM", {"spec": a_spec(vmName="ours-to-be"), "found": Absent(NOW, NOW)}, looks=True
    ),
    "a chosen name wants two listings of late": Row(
        "it may have been taken since the first, and the second may be partial (simulated world, seed 903364)",
        {"spec": a_spec(vmName="ours-to-be"), "found": Absent(NOW, NOW - 70, NOW - 60)},
        looks=True,
    ),
    "a cloud that takes long to list is told to whom nothing was told yet": Row(
        "the object's first condition says that no operator may be running",
        {"status": GpuVMStatus(), "history": LONG_KNOWN, "found": Absent(NOW - 70, NOW - 70)},
        Reason.API_UNAVAILABLE,
        ready="Unknown",
        looks=True,
        says=("is slow to list", "keeps trying"),
    ),
    "a chosen name in a slow cloud: each listing takes 25 seconds, and so does the pause after it": Row(
        "the first of two is three times as old as one takes; were it too old, nothing would ever be ordered",
        {
            "spec": a_spec(vmName="ours-to-be"),
            "history": LONG_KNOWN,
            "listing_pace": ListingPace(25.0, 25.0),
            "found": Absent(NOW - 26, NOW - 77, NOW - 77),
        },
        Reason.CREATING,
        records=True,
    ),
    "a chosen name in a cloud whose listings are slow and fast in turn": Row(
        "the first of two took 25 seconds, and so did the pause after it; the second is fresh",
        {
            "spec": a_spec(vmName="ours-to-be"),
            "history": LONG_KNOWN,
            "listing_pace": ListingPace(0.1, 25.0),
            "found": Absent(NOW - 1, NOW - 77, NOW - 51),
        },
        Reason.CREATING,
        records=True,
    ),
    "a listing during which the process slept is no slow cloud": Row(
        "it shows what was so before that",
        {"listing_pace": ListingPace(0.1, 12.0), "found": Absent(NOW - 12, NOW - 12)},
        looks=True,
    ),
    "a chosen name that the cloud calls taken stays another's when it is seen": Row(
        "the record of an order that was refused proves nothing",
        {
            "spec": a_spec(vmName="theirs"),
            "status": a_status("Creating", order=an_order("theirs", OrderState.INTENDED)),
            "found": present(name="theirs"),
            "history": tried(Verb.CREATE, kind=ErrorKind.CONFLICT),
        },
        Reason.CONFLICT,
        progress="Stalled",
        status={"order": OrderState.REFUSED},
        says="another spec.vmName",
    ),
    "a name that the cloud called taken is tried again": Row(
        "whoever had it may be gone: two listings lack it (simulated world, seed 1303033)",
        {
            "spec": a_spec(vmName="theirs"),
            "status": a_status("Conflict", progress="Stalled", order=an_order("theirs", OrderState.INTENDED)),
            "found": Absent(NOW, NOW - 300, NOW - 1),
            "history": tried(Verb.CREATE, ago=400, kind=ErrorKind.CONFLICT),
        },
        Reason.CONFLICT,
        progress="Stalled",
        says="free the name",
        records=True,
    ),
    "a refusal still calls a person after a pause": Row(
        "a pause takes Stalled away and keeps the words (seed 500557)",
        {"status": a_status("Rejected", progress="Paused", order=REFUSED), "history": OLD},
        Reason.REJECTED,
        progress="Stalled",
        says="Made up.",
    ),
    "a refusal is told again when an outage was told over it": Row(
        "after a restart nothing else would ever be said (seeds 120950, 121006)",
        {"status": a_status("ApiUnavailable", "Unknown", order=REFUSED), "history": OLD},
        Reason.REJECTED,
        progress="Stalled",
        says=(
            "refused this order",
            "corrected: kubectl delete gvm/train --namespace=team; The same order",
            "fails again unless the cloud",
            "kubectl gpucloud retry gvm/train --namespace=team",
        ),
        status={"order": OrderState.REFUSED},
    ),
    "no capacity waits without a deadline": Row(
        "scarce GPUs are waited for",
        {"status": CREATING, "history": tried(Verb.CREATE, ago=31, kind=ErrorKind.UNAVAILABLE, ambiguous=True, failures=3)},
        Reason.WAITING_FOR_CAPACITY,
        status={"progress_deadline_at": None},
    ),
    "a missing Secret is waited for by name": Row(
        "it arrives with the same kubectl apply",
        {
            "keys": SSHKeys(
                trouble=KeyTrouble.MISSING,
                detail="Waiting for Secret 'keys' in namespace 'team': there is none. Create it: kubectl create secret generic "
                "keys --namespace=team --from-file=id=FILE;",
                may_be_misnamed=True,
            )
        },
        Reason.SSH_KEYS_NOT_FOUND,
        says=(
            "keys --namespace=team --from-file=id=FILE; The VM is created as soon as keys are read.",
            "If spec.sshKeysFrom is wrong, delete this object and create it again with the right name.",
        ),
    ),
    "keys that are none stall": Row(
        "a person must act",
        {
            "keys": SSHKeys(
                trouble=KeyTrouble.INVALID,
                detail="Key 'id' of the Secret 'keys' holds a private key. Put the public key there, and replace this key "
                "pair: it is no longer secret.",
            )
        },
        Reason.INVALID_SSH_KEYS,
        progress="Stalled",
        says="holds a private key",
    ),
}
