"""Rows of a GpuVM alone: what it needs first, its account, and the words of the cloud."""

from __future__ import annotations

from decimal import Decimal

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import (
    Absent,
    CallHistory,
    Dependency,
    KeyTrouble,
    Readiness,
    SSHKeys,
    Unknown,
    UnknownReason,
    Verb,
)
from gpucloud.reconcile.gpucloudaccount.secret import blocker
from gpucloud.reconcile.quota import Quota, Usage
from support.builders import (
    NOW,
    a_place,
    a_status,
    an_object,
    an_order,
    present,
)
from support.gpuvmfacts import (
    CREATING,
    MINE,
    NAME,
    OFF,
    RUNNING,
)
from support.rows import OLD, Row, tried

LOST_NAME = "To do without that GpuSnapshot, delete this object and create it again with spec.image.snapshot: 'theirs'."
REFUSED = an_order(NAME, OrderState.REFUSED, refused_generation=1)

FORBIDDEN = (  # as engine/kube/ssh_keys.py has it
    "The operator may not read the Secret 'keys' in namespace 'team'. Grant its ServiceAccount the verb get on secrets in this "
    "namespace."
)

ROWS = {
    # --- what a VM needs first
    "a GpuVpc that is not there is waited for, by name": Row(
        "it comes with the same kubectl apply",
        {"needs": (Dependency("GpuVpc 'net'", Readiness.MISSING, field="spec.vpcRef"),)},
        Reason.DEPENDENCY_NOT_READY,
        says=(
            "Waiting for GpuVpc 'net': there is none in namespace 'team' yet, as is usual for some seconds after an apply.",
            "If it stays so, create it; or, if spec.vpcRef is wrong, delete this object and create it again.",
        ),
        status={"progress_deadline_at": None, "order": None},
    ),
    "a GpuVpc that is not there is answered with the name that is near": Row(
        "a slip of the pen is found at once",
        {"needs": (Dependency("GpuVpc 'net'", Readiness.MISSING, field="spec.vpcRef", near=("nets",)),)},
        Reason.DEPENDENCY_NOT_READY,
        says=(
            (
                "there is none in namespace 'team' yet. Did you mean 'nets'? Then delete this object and create it again with "
                "spec.vpcRef.name: nets. Else create GpuVpc 'net'."
            ),
        ),
    ),
    "a GpuVpc that is not ready is waited for, in its own words": Row(
        "one look at one object should do",
        {"needs": (Dependency("GpuVpc 'net'", Readiness.PENDING, "(Conflict: it is taken.)"),)},
        Reason.DEPENDENCY_NOT_READY,
        says=("to become Ready", "it is taken."),
    ),
    "a GpuSnapshot that says Ready, and whose record was lost": Row(
        "nobody waits in vain for what its own status shows",
        {"needs": (Dependency("GpuSnapshot 'base'", Readiness.NAMELESS, LOST_NAME),)},
        Reason.DEPENDENCY_NOT_READY,
        says=f"Waiting for the name of GpuSnapshot 'base' in the cloud: its status lost the record of its order. {LOST_NAME}",
    ),
    "nothing is bought in a VPC that is going": Row(
        "it would hold the VPC up, or be cut off",
        {"needs": (Dependency("GpuVpc 'net'", Readiness.DELETING, held=True),)},
        Reason.DEPENDENCY_NOT_READY,
        says=(
            "GpuVpc 'net' is being deleted and waits until this object is gone, too: nothing is created with it.",
            "Delete this object, too, and",
            "kubectl delete gvm/train --namespace=team",
        ),
    ),
    "nothing is bought from a snapshot that is going, and does not wait for that": Row(
        "an object that has ordered nothing holds no snapshot",
        {"needs": (Dependency("GpuSnapshot 'base'", Readiness.DELETING),)},
        Reason.DEPENDENCY_NOT_READY,
        says=(
            "GpuSnapshot 'base' is being deleted: nothing is created with it. Delete this object, and create both again later",
            "kubectl delete gvm/train --namespace=team",
        ),
    ),
    "the first that is not ready is named": Row(
        "one thing at a time",
        {"needs": (Dependency("GpuVpc 'net'", Readiness.READY), Dependency("GpuSnapshot 'base'", Readiness.PENDING))},
        Reason.DEPENDENCY_NOT_READY,
        says="GpuSnapshot 'base'",
    ),
    "a Secret that cannot be read is not taken for a wrong name": Row(
        "the right is missing, and nobody knows what is there",
        {"keys": SSHKeys(trouble=KeyTrouble.MISSING, detail=FORBIDDEN)},
        Reason.SSH_KEYS_NOT_FOUND,
        says="in this namespace. The VM is created as soon as keys are read.",
    ),
    "a GpuVpc in another cluster calls a person": Row(
        "it can never serve",
        {
            "needs": (
                Dependency(
                    "GpuVpc 'net'",
                    Readiness.UNUSABLE,
                    "It is in cluster 'Hou1', and spec.cluster is 'Msc1'. Delete this object and create it again.",
                ),
            )
        },
        Reason.INVALID_REFERENCE,
        progress="Stalled",
        says=("GpuVpc 'net'", "'Hou1'"),
    ),
    "a record is not acted on when the VPC is not ready any more": Row(
        "between the record and the order a person deleted it",
        {"status": CREATING, "known": MINE, "needs": (Dependency("GpuVpc 'net'", Readiness.DELETING, held=True),)},
        Reason.DEPENDENCY_NOT_READY,
        says="GpuVpc 'net'",
    ),
    "what it needed does not matter once it runs": Row(
        "its GpuVpc may be retained and gone",
        {"status": RUNNING, "found": present(), "needs": (Dependency("GpuVpc 'net'", Readiness.MISSING),)},
        Reason.RUNNING,
        "True",
        None,
    ),
    "found by its fingerprint in whatever VPC, its place is recorded": Row(
        "its GpuVpc is gone and its status was lost",
        {"identity": a_place().placed()._replace(vpc=""), "found": present()},
        Reason.RUNNING,
        "True",
        None,
        status={"order": OrderState.SEEN, "vpc": "acme"},
    ),
    # --- accounts
    "a refused credential whose Secret is gone is waited for": Row(
        "the Secret is what to create, not a key to put into it",
        {
            "status": a_status("CredentialsRefused", progress="Stalled", order=an_order(NAME, OrderState.NOT_ORDERED)),
            "found": Unknown(NOW - 9, UnknownReason.REFUSED, "401"),
            "needs": (blocker("key", None, ""),),
        },
        Reason.ACCOUNT_NOT_READY,
        says="Waiting for Secret 'key': there is none in namespace 'team'. Create it with a valid API key or login",
    ),
    "what may exist under a refused credential still calls a person": Row(
        "it cannot be seen or destroyed",
        {
            "status": a_status("Creating", order=an_order(NAME, OrderState.ACCEPTED)),
            "found": Unknown(NOW - 9, UnknownReason.REFUSED, "401"),
            "needs": (Dependency("Secret 'key'", Readiness.MISSING, account=True),),
        },
        Reason.CREDENTIALS_REFUSED,
        progress="Stalled",
        says="Ask the administrator to replace the operator's own credential",
    ),
    # --- the words of the cloud, and of what is seen late
    "a new one says that nothing was ordered": Row(
        "so that it may go unseen, whoever runs then",
        {"found": Unknown(NOW, UnknownReason.REFUSED), "history": CallHistory(first_seen=NOW - 9, seen_new=True)},
        Reason.CREDENTIALS_REFUSED,
        progress="Stalled",
        status={"order": OrderState.NOT_ORDERED},
        says="Ask the administrator to replace the operator's own credential",
    ),
    "what is missing in the cloud is told": Row(
        "a VPC that is named may be created yet",
        {"status": CREATING, "history": tried(Verb.CREATE, kind=ErrorKind.NOT_FOUND)},
        Reason.NOT_FOUND,
        progress="Stalled",
        says="Create what is missing",
    ),
    "what was missing is asked for again after a restart": Row(
        "its message says so",
        {
            "status": a_status("NotFound", progress="Stalled", order=an_order(NAME, OrderState.REFUSED)),
            "found": Absent(NOW, NOW - 50, NOW - 0.5),
            "history": OLD,
        },
        Reason.CREATING,
        records=True,
    ),
    "an order that may be under way is cleared up before anything else is said": Row(
        "else its snapshot could go while the VM is made from it",
        {
            "status": CREATING,
            "history": tried(Verb.CREATE),
            "needs": (Dependency("GpuSnapshot 'base'", Readiness.DELETING),),
        },
        Reason.CREATING,
        looks=False,
    ),
    "a start of what the cloud does not find does not advise to delete it": Row(
        "that would destroy the VM, which a listing shows",
        {"status": RUNNING, "found": present("OFFLINE"), "history": tried(Verb.START, kind=ErrorKind.NOT_FOUND)},
        Reason.NOT_FOUND,
        progress="Stalled",
        says='StartServer failed: "the cloud\'s own words". Check in the cloud that what the call names is there; the operator',
    ),
    "a switch without room, or throttled, or refused, is told in the words of the cloud": Row(
        "the table of refusals serves each call",
        {"status": RUNNING, "found": present("OFFLINE"), "history": tried(Verb.START, kind=ErrorKind.THROTTLED)},
        Reason.RATE_LIMITED,
        says="the cloud's own words",
    ),
    "a VM that was settled before and moves is Provisioning": Row(
        "its first boot is over", {"status": RUNNING, "found": present("PENDING")}, Reason.PROVISIONING
    ),
    "a VM that failed stalls": Row(
        "a person must look",
        {"status": RUNNING, "found": present("FAILED")},
        Reason.VM_FAILED,
        progress="Stalled",
        says="delete this object",
    ),
    "asked to start: start": Row(
        "an edit",
        {"meta": an_object(generation=2), "status": OFF, "found": present("OFFLINE")},
        Reason.STARTING,
        action=Verb.START,
    ),
    "a limit on the number of VMs is reached: wait": Row(
        "an administrator's limit",
        {"usage": (Usage(Quota("namespace", vms=3), "The namespace 'team'", 3),)},
        Reason.LIMIT_REACHED,
        progress="Stalled",
        says=("has 3 VMs, and --max-vms-per-namespace allows 3.", "ask the administrator for a higher limit"),
    ),
    "a limit on the price, and no price in the catalogue: wait": Row(
        "what cannot be judged is not bought",
        {
            "usage": (Usage(Quota("namespace", price=Decimal(10)), "The namespace 'team'"),),
            "history": CallHistory(first_seen=NOW - 6),
        },
        Reason.LIMIT_REACHED,
        progress="Stalled",
        says=("no price for 'A100_40GB_PCIe_1x', which --max-price", "with an offer that has a price: kubectl gpucloud offers"),
    ),
    "a limit on the price would be exceeded: wait": Row(
        "an administrator's limit",
        {
            "usage": (Usage(Quota("account", price=Decimal(10)), "The account 'lab'", 4, Decimal("9.2"), 1),),
            "price_per_hour": "2.05",
        },
        Reason.LIMIT_REACHED,
        progress="Stalled",
        says="--max-price-per-hour-per-account allows 10.",
    ),
}
