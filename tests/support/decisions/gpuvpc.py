"""Rows of a GpuVpc alone: whose it is, adoption, creation and life."""

from __future__ import annotations

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OWN_ACCOUNT, OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import Absent, CallHistory, ListingPace, ResourceOwner, Verb
from gpucloud.reconcile.ownership import record_id
from gpucloud.reconcile.text import abridged
from support.builders import NOW, UID, an_order, known
from support.rows import YOUNG, Row, tried
from support.vpcfacts import (
    ADOPTED,
    ADOPTS,
    AVAILABLE,
    CREATING,
    EMPTIED,
    INTENDED,
    MADE,
    MINE,
    NAME,
    ORDER,
    OTHERS,
    REFUSED_FOR_CERTAIN,
    RENUMBERED,
    TAKEN_OVER,
    TWICE,
    a_vpc,
    a_vpc_spec,
    a_vpc_status,
)

LONG = "v" * 300
ANEW = record_id("", UID, NAME)  # of a record that is made now
UNCLEAR = an_order(NAME, OrderState.UNCLEAR, vpc=NAME)
REQUIRED = a_vpc_spec(adoption="Required")
CALLED_TAKEN = tried(Verb.CREATE_VPC, kind=ErrorKind.CONFLICT)

ROWS = {
    "a second claimant: the VMs of both may be in the VPC": Row(
        "one object of several namespaces stands for a VPC, and the others' VMs name it as the cloud does",
        {"owner": ResourceOwner("GpuVpc", "others", "first"), "found": Absent(NOW, NOW - 9)},
        Reason.CONFLICT,
        progress="Stalled",
        says=(
            (
                "is already used by a GpuVpc in another namespace. Name the VPC in spec.vpc of VMs, choose another spec.name, "
                "or delete that object with its VPC. To delete this one (destroys nothing): kubectl delete gvpc/"
            ),
        ),
    ),
    # --- sight
    "a listing from before an order shows what was there before": Row(
        "another process saw the name free since, and ordered",
        {"status": CREATING, "history": CallHistory(first_seen=NOW - 1), "found": a_vpc("vpc-0", as_of=NOW - 2)},
        looks=True,
    ),
    "another id is believed a grace later": Row(
        "a listing that lags shows the one that was there before ours",
        {"spec": ADOPTS, "status": AVAILABLE, "history": CallHistory(first_seen=NOW - 1), "found": a_vpc("vpc-0")},
        looks=False,
    ),
    "another id than an order of another process was accepted under is believed a grace later": Row(
        "until then nothing is looked at hotly",
        {
            "status": a_vpc_status("Creating", order=an_order(NAME, OrderState.ACCEPTED, vpc=NAME, cloud_id="vpc-1")),
            "history": CallHistory(first_seen=NOW - 1),
            "found": a_vpc("vpc-2"),
        },
        looks=False,
    ),
    "another id, seen too early, lets nothing go": Row(
        "ours may be there", EMPTIED | {"history": CallHistory(first_seen=NOW - 1), "found": a_vpc("vpc-0")}, looks=False
    ),
    # --- ownership
    "one that exists already is a conflict": Row(
        "it is somebody's",
        {"found": a_vpc()},
        Reason.CONFLICT,
        progress="Stalled",
        says=(NAME, "cluster 'Msc1'", "spec.adoption: IfExists"),
        status={"order": None, "vpc_id": None},
    ),
    "a recorded id alone proves nothing": Row(
        "people can edit status",
        {"found": a_vpc(), "status": a_vpc_status("Available", "True", None, vpc_id="vpc-1")},
        Reason.CONFLICT,
        progress="Stalled",
        says="delete this object (destroys nothing)",
    ),
    "an order that came to nothing proves nothing": Row(
        "people can edit status",
        {"found": a_vpc(), "status": a_vpc_status("Creating", order=an_order("other", OrderState.REFUSED, vpc="other"))},
        Reason.CONFLICT,
        progress="Stalled",
        status={"order": OrderState.REFUSED},
        says="delete this object (destroys nothing)",
    ),
    "one re-made by a stranger is a conflict": Row(
        "another id for a grace: the VPC that we made is gone",
        {"found": a_vpc("vpc-2"), "status": AVAILABLE, "known": RENUMBERED},
        Reason.CONFLICT,
        progress="Stalled",
        says=NAME,
        status={"vpc_id": None, "order": OrderState.LOST},
    ),
    "another id in one listing is waited for": Row(
        "the listing may be older than ours", {"found": a_vpc("vpc-2"), "status": AVAILABLE, "known": known(ORDER)}, None
    ),
    "another id in two listings ends what Ready says": Row(
        "one may be an old one; two lack ours as two without the name do",
        {"found": a_vpc("vpc-2", ipRange="10.9.0.0/16"), "status": AVAILABLE, "known": known(ORDER, sightings=TWICE)},
        Reason.VPC_LOST,
        ready="Unknown",
        looks=False,
        says="latest listing lacks this VPC",
        status={"vpc_id": "vpc-1", "ip_range": None, "order": OrderState.SEEN},
    ),
    "an id that this process saw itself outranks an edited one": Row(
        "people can edit status; else deletion would let ours go",
        {"found": a_vpc("vpc-2"), "status": AVAILABLE, "known": known(an_order(NAME, vpc=NAME, cloud_id="vpc-2"))},
        Reason.AVAILABLE,
        "True",
        None,
        status={"vpc_id": "vpc-2"},
    ),
    "another than the cloud said it made for us is a conflict, though no id is recorded yet": Row(
        "a stranger's may take the name between our order's answer and the next listing",
        {
            "found": a_vpc("vpc-2"),
            "status": a_vpc_status("Creating", order=INTENDED),
            "known": known(an_order(NAME, OrderState.ACCEPTED, vpc=NAME, cloud_id="vpc-1"), ago=300, sightings=OTHERS),
        },
        Reason.CONFLICT,
        progress="Stalled",
        says=NAME,
    ),
    "an id that is longer than a record holds is the recorded one": Row(
        "else it was never confirmed, and never let go",
        {"found": a_vpc(LONG), "status": AVAILABLE, "known": known(an_order(NAME, vpc=NAME, cloud_id=abridged(LONG)))},
        Reason.AVAILABLE,
        "True",
        None,
        status={"vpc_id": LONG[:253]},
    ),
    "ours stays lost when the stranger's has gone too": Row(
        "what was lost is not made again unasked",
        {"found": Absent(NOW, NOW - 31, NOW - 2), "status": a_vpc_status("Conflict", progress="Stalled", **MADE)},
        Reason.VPC_LOST,
        progress="Stalled",
        says="deleted outside Kubernetes",
    ),
    "one re-made by a stranger is adopted where the spec allows, and no proof of making it stays": Row(
        "else the next pass took it for ours, and deletion destroyed it",
        {"spec": ADOPTS, "found": a_vpc("vpc-2"), "status": AVAILABLE, "known": RENUMBERED},
        Reason.ADOPTED,
        "True",
        None,
        status={"vpc_id": "vpc-2", "order": ADOPTED.model_copy(update={"id": ANEW, "cloud_id": "vpc-2"}), "adopted": True},
    ),
    "the owner's change of mind about adoption counts at once": Row(
        "the spec is the only proof of an adoption",
        {"found": a_vpc(), "status": TAKEN_OVER},
        Reason.CONFLICT,
        progress="Stalled",
        says="spec.adoption",
    ),
    "adoption asked for later ends the conflict": Row(
        "as its message says",
        {"spec": ADOPTS, "found": a_vpc(), "status": a_vpc_status("Conflict", progress="Stalled")},
        Reason.ADOPTED,
        "True",
        None,
        status={"vpc_id": "vpc-1", "adopted": True, "account": OWN_ACCOUNT, "tenancy": "acme"},
    ),
    "adoption allowed does not make ours another's": Row(
        "it was created by our order",
        {"spec": ADOPTS, "found": a_vpc(), "status": AVAILABLE},
        Reason.AVAILABLE,
        "True",
        None,
        status={"adopted": False, "order": OrderState.SEEN},
    ),
    "a name that the cloud called taken is adopted once it is seen": Row(
        "it was made between our look and our order",
        {"spec": ADOPTS, "status": CREATING, "history": CALLED_TAKEN, "found": a_vpc()},
        Reason.ADOPTED,
        "True",
        None,
        status={"order": OrderState.SEEN, "adopted": True},
    ),
    "a name that the cloud calls taken and the spec would adopt: wait for a listing that shows it": Row(
        "the spec asks for the adoption already",
        {"spec": ADOPTS, "status": CREATING, "history": CALLED_TAKEN},
        Reason.CONFLICT,
        progress="Stalled",
        says=("Wait until the cloud lists it", "free the name"),
        status={"order": OrderState.REFUSED},
    ),
    "a name that the cloud calls taken and the spec requires: wait for a listing that shows it": Row(
        "nothing is ordered any more, so a free name changes nothing",
        {"spec": REQUIRED, "status": CREATING, "history": CALLED_TAKEN},
        Reason.CONFLICT,
        progress="Stalled",
        says="(another tenant's is never listed)",
        status={"order": OrderState.REFUSED},
    ),
    "a VPC that is there though our order was refused is not ours, and no proof stays": Row(
        "somebody with the right to made it by hand; deleting this object would destroy it",
        {"status": CREATING, "history": REFUSED_FOR_CERTAIN, "found": a_vpc()},
        Reason.CONFLICT,
        progress="Stalled",
        says="spec.adoption",
        status={"order": OrderState.REFUSED},
    ),
    "a VPC that is there before our order was sent is not ours": Row(
        "somebody was quicker",
        {"status": CREATING, "known": MINE, "found": a_vpc()},
        Reason.CONFLICT,
        progress="Stalled",
        says="spec.adoption",
        status={"order": OrderState.REFUSED},
    ),
    "the record of an order that was refused for certain says so": Row(
        "after a restart it would pass for one that may have been carried out",
        {"status": CREATING, "history": REFUSED_FOR_CERTAIN},
        Reason.PERMISSION_DENIED,
        progress="Stalled",
        says="Grant the credential",
        status={"order": OrderState.REFUSED},
    ),
    "taken after a lost answer may be by our own order": Row(
        "it is looked for, and not given up",
        {"status": CREATING, "known": known(UNCLEAR), "found": a_vpc()},
        Reason.AVAILABLE,
        "True",
        None,
    ),
    # --- creating
    "one listing does not show that a name is free": Row(
        "a partial one may hide somebody's VPC", {"found": Absent(NOW, NOW), "history": YOUNG}, looks=True
    ),
    "the listing of a slow cloud is as young as it can be": Row(
        "else nothing would ever be created there",
        {"found": Absent(NOW - 14, NOW - 60, NOW - 30), "listing_pace": ListingPace(12.0, 12.0)},
        Reason.CREATING,
        records=True,
    ),
    "an id from before goes with the new order": Row(
        "ours would be taken for a replacement of that one, and leak",
        {"status": TAKEN_OVER, "found": Absent(NOW, NOW - 40, NOW - 2)},
        Reason.CREATING,
        records=True,
        status={"order": OrderState.INTENDED, "vpc_id": None},
    ),
    "IfExists creates what is not there": Row(
        "adopted, else created", {"spec": ADOPTS}, Reason.CREATING, records=True, status={"order": OrderState.INTENDED}
    ),
    "Required never creates": Row(
        "its owner expects one",
        {"spec": REQUIRED},
        Reason.NOT_FOUND,
        progress="Stalled",
        says=(NAME, "Create it in the cloud, or set spec.adoption: IfExists"),
        records=False,
    ),
    "Required never sends an order that was recorded before": Row(
        "the owner changed their mind in between",
        {"spec": REQUIRED, "status": CREATING, "known": MINE},
        Reason.NOT_FOUND,
        progress="Stalled",
        says="IfExists",
    ),
    "Required keeps ours": Row(
        "it was created before the owner's change of mind",
        {"spec": REQUIRED, "status": AVAILABLE, "found": a_vpc()},
        Reason.AVAILABLE,
        "True",
        None,
    ),
    # --- life
    "created and listed is Ready": Row(
        "the point of it all",
        {"status": CREATING, "found": a_vpc(ipRange="10.0.0.0/16")},
        Reason.AVAILABLE,
        "True",
        None,
        status={"vpc_id": "vpc-1", "ip_range": "10.0.0.0/16", "adopted": False},
    ),
    "another isolation than asked for is told": Row(
        "a person relies on it",
        {"spec": a_vpc_spec(blockIntraVpcComms=True), "status": AVAILABLE, "found": a_vpc(blockIntraVpcComms=False)},
        Reason.MISMATCH,
        progress="Stalled",
        says=(NAME, "blockIntraVpcComms false", "asks for true", "Delete this object"),
    ),
    "not the default VPC though asked for is told": Row(
        "VMs land in the default one",
        {"spec": a_vpc_spec(isDefault=True), "status": AVAILABLE, "found": a_vpc(isDefault=False)},
        Reason.MISMATCH,
        progress="Stalled",
        says=("isDefault false", "Delete this object"),
    ),
    "what is adopted must be as asked too": Row(
        "and it stays adopted: deleting as the message says keeps it",
        {"spec": a_vpc_spec(adoption="IfExists", isDefault=True), "found": a_vpc(isDefault=False)},
        Reason.MISMATCH,
        progress="Stalled",
        status={"adopted": True, "order": OrderState.SEEN},
        says="Delete this object (the VPC stays)",
    ),
    "what is not said is not compared": Row(
        "the owner does not care", {"status": AVAILABLE, "found": a_vpc(isDefault=True)}, Reason.AVAILABLE, "True", None
    ),
    "what the cloud does not say is not compared": Row(
        "every field may be null",
        {"spec": a_vpc_spec(isDefault=True), "status": AVAILABLE, "found": a_vpc()},
        Reason.AVAILABLE,
        "True",
        None,
    ),
    "an adopted one that stays away is lost too": Row(
        "it was not ours to make",
        {"spec": ADOPTS, "status": TAKEN_OVER, "found": Absent(NOW, NOW - 31, NOW - 2)},
        Reason.VPC_LOST,
        progress="Stalled",
        says=("The adopted VPC", "spec.adoption: Never"),
    ),
}
