"""The chain of decisions for a GpuVpc, one situation a row; each row says why it matters."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OWN_ACCOUNT, Adoption, OrderState, Origin
from gpucloud.kinds.gpuvpc import GpuVpcStatus
from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.reconcile.facts import Absent, CallHistory, Dependency, Limits, Readiness, Unknown, UnknownReason, Verb
from gpucloud.reconcile.gpuvpc import Occupants, decide
from gpucloud.reconcile.text import abridged
from support.builders import NOW, START, an_object, an_order, known
from support.rows import LONG_KNOWN, WORDS, Row, converges, ends_as_a_sentence, judge, noted, tried
from support.vpcfacts import EMPTY, MADE, NAME, a_vpc, a_vpc_spec, a_vpc_status, vpc_facts

LONG = "v" * 300
INTENDED = an_order(NAME, OrderState.INTENDED, vpc=NAME)
MINE = known(INTENDED, ago=1, recorded=1)
TOLD = known(an_order(NAME, OrderState.DESTROYING, vpc=NAME, cloud_id="vpc-1"), ago=5, destroyed_at=NOW - 5)
UNCLEAR = an_order(NAME, OrderState.UNCLEAR, vpc=NAME)
REFUSED = an_order(NAME, OrderState.REFUSED, vpc=NAME, refused_generation=1)
CREATING = a_vpc_status("Creating", order=INTENDED, account=OWN_ACCOUNT)
AVAILABLE = a_vpc_status("Available", "True", None, **MADE)
ADOPTED = an_order(NAME, vpc=NAME, cloud_id="vpc-1", origin=Origin.ADOPTED)
TAKEN_OVER = a_vpc_status("Adopted", "True", None, vpc_id="vpc-1", account=OWN_ACCOUNT, adopted=True, order=ADOPTED)
GOING = a_vpc_status("Deleting", **MADE)
DELETING = an_object(deleting=True)
ADOPTS = a_vpc_spec(adoption="IfExists")
REQUIRED = a_vpc_spec(adoption="Required")
DELETES = a_vpc_spec(adoption="IfExists", deletion={"policy": "Delete"})
RETAINS = a_vpc_spec(deletion={"policy": "Retain"})
CALLED_TAKEN = tried(Verb.CREATE_VPC, kind=ErrorKind.CONFLICT)
REFUSED_FOR_CERTAIN = tried(Verb.CREATE_VPC, ago=0.5, kind=ErrorKind.FORBIDDEN)
EMPTIED = {"meta": DELETING, "status": GOING, "found": a_vpc(), "occupants": EMPTY}

ROWS = {
    # --- safety first
    "without our finalizer nothing happens": Row("it would leak", {"meta": an_object(has_finalizer=False), "found": a_vpc()}),
    "paused keeps the last verdict": Row(
        "a person's hand is on it", {"meta": noted(PAUSED="true"), "status": AVAILABLE}, Reason.AVAILABLE, "True", None
    ),
    "paused before anything was said is Unknown": Row(
        "nobody has looked", {"meta": noted(PAUSED="true")}, Reason.PAUSED, "Unknown", None, says="paused"
    ),
    "paused holds deletion": Row(
        "pause means hands off, deletion included",
        EMPTIED | {"meta": noted(deleting=True, PAUSED="true")},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says=("gpucloud.dev/paused", "remove it"),
    ),
    # --- sight
    "never looked: look": Row("no verdict without sight", {"found": Unknown(NOW, UnknownReason.NOT_LOOKED)}, looks=True),
    "a short outage leaves the verdict": Row(
        "one outage must not turn everything red", {"status": AVAILABLE, "found": Unknown(NOW - 10, UnknownReason.UNREACHABLE)}
    ),
    "a long outage says so": Row(
        "Ready must not stay True for ever",
        {"status": AVAILABLE, "found": Unknown(NOW - 181, UnknownReason.UNREACHABLE, "HTTP 502")},
        Reason.API_UNAVAILABLE,
        "Unknown",
        says=("VPC", "HTTP 502"),
    ),
    "a refused credential stalls a new object at once": Row(
        "a person must act",
        {"found": Unknown(NOW, UnknownReason.REFUSED, "401")},
        Reason.CREDENTIALS_REFUSED,
        progress="Stalled",
        says=("'(operator)'", "Put a valid"),
    ),
    "a missing permission stalls a new object at once": Row(
        "VPCs belong to a tenant's administrators",
        {"found": Unknown(NOW, UnknownReason.FORBIDDEN)},
        Reason.PERMISSION_DENIED,
        progress="Stalled",
        says=("may not list VPCs", "Grant"),
    ),
    "an implausible listing is not believed": Row(
        "not all VPCs can have vanished",
        {"status": AVAILABLE, "found": Unknown(NOW - 200, UnknownReason.IMPLAUSIBLE)},
        Reason.IMPLAUSIBLE_LISTING,
        "Unknown",
        says="accept-absence",
    ),
    "no account stalls at once, in the account's words": Row(
        "a person must create one",
        {"found": Unknown(NOW, UnknownReason.NO_ACCOUNT, "No account. Create one.")},
        Reason.NO_ACCOUNT,
        progress="Stalled",
        says="Create one.",
    ),
    "an account that is not ready is waited for, without a deadline": Row(
        "it says itself what is wrong",
        {"found": Unknown(NOW, UnknownReason.ACCOUNT, "Waiting for the GpuCloudAccount 'lab'.")},
        Reason.ACCOUNT_NOT_READY,
        says="'lab'",
        status={"progress_deadline_at": None},
    ),
    "an account that fails later leaves the verdict for a while": Row(
        "a key is being changed", {"status": AVAILABLE, "found": Unknown(NOW - 10, UnknownReason.ACCOUNT, "Waiting.")}
    ),
    "another tenant's credential stalls": Row(
        "all of ours looks gone with it",
        {
            "status": AVAILABLE,
            "found": Unknown(NOW - 181, UnknownReason.TENANT, "It is of tenant 'x': put the right one back."),
        },
        Reason.TENANT_MISMATCH,
        "Unknown",
        "Stalled",
        says="put the right one back",
    ),
    "a listing from before an order shows what was there before": Row(
        "another process saw the name free since, and ordered",
        {"status": CREATING, "memory": CallHistory(first_seen=NOW - 1), "found": a_vpc("vpc-0", as_of=NOW - 2)},
        looks=True,
    ),
    "another id is believed a grace later": Row(
        "a listing that lags shows the one that was there before ours",
        {"spec": ADOPTS, "status": AVAILABLE, "memory": CallHistory(first_seen=NOW - 1), "found": a_vpc("vpc-0")},
        looks=False,
    ),
    "another id than an order of another process was accepted under is believed a grace later": Row(
        "until then nothing is looked at hotly",
        {
            "status": a_vpc_status("Creating", order=an_order(NAME, OrderState.ACCEPTED, vpc=NAME, cloud_id="vpc-1")),
            "memory": CallHistory(first_seen=NOW - 1),
            "found": a_vpc("vpc-2"),
        },
        looks=False,
    ),
    "another id, seen too early, lets nothing go": Row(
        "ours may be there", EMPTIED | {"memory": CallHistory(first_seen=NOW - 1), "found": a_vpc("vpc-0")}, looks=False
    ),
    # --- ownership
    "a second claimant is told": Row(
        "one VPC, one owner",
        {"owner": "'first'", "found": a_vpc(), "status": AVAILABLE},
        Reason.CONFLICT,
        progress="Stalled",
        says=("'first'", NAME, "Delete this object"),
    ),
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
        says="Delete this object",
    ),
    "an order that came to nothing proves nothing": Row(
        "people can edit status",
        {"found": a_vpc(), "status": a_vpc_status("Creating", order=an_order("other", OrderState.REFUSED, vpc="other"))},
        Reason.CONFLICT,
        progress="Stalled",
        status={"order": OrderState.REFUSED},
        says="Delete this object",
    ),
    "one re-made by a stranger is a conflict": Row(
        "another id: the VPC that we made is gone",
        {"found": a_vpc("vpc-2"), "status": AVAILABLE},
        Reason.CONFLICT,
        progress="Stalled",
        says=NAME,
        status={"vpc_id": None, "order": OrderState.LOST},
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
            "known": known(an_order(NAME, OrderState.ACCEPTED, vpc=NAME, cloud_id="vpc-1")),
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
        {"spec": ADOPTS, "found": a_vpc("vpc-2"), "status": AVAILABLE},
        Reason.ADOPTED,
        "True",
        None,
        status={"vpc_id": "vpc-2", "order": ADOPTED.model_copy(update={"cloud_id": "vpc-2"}), "adopted": True},
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
    "a name that the cloud calls taken is a conflict, and no proof stays": Row(
        "it may be another tenant's, whom we cannot see",
        {"status": CREATING, "memory": CALLED_TAKEN},
        Reason.CONFLICT,
        progress="Stalled",
        says=NAME,
        status={"order": OrderState.REFUSED},
    ),
    "a name that the cloud called taken is adopted once it is seen": Row(
        "it was made between our look and our order",
        {"spec": ADOPTS, "status": CREATING, "memory": CALLED_TAKEN, "found": a_vpc()},
        Reason.ADOPTED,
        "True",
        None,
        status={"order": OrderState.SEEN, "adopted": True},
    ),
    "a VPC that is there though our order was refused is not ours, and no proof stays": Row(
        "somebody with the right to made it by hand; deleting this object would destroy it",
        {"status": CREATING, "memory": REFUSED_FOR_CERTAIN, "found": a_vpc()},
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
        {"status": CREATING, "memory": REFUSED_FOR_CERTAIN},
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
    "twins stall and nothing is touched": Row(
        "either could be the wrong one",
        {"found": a_vpc(duplicate_records=True), "status": AVAILABLE},
        Reason.AMBIGUOUS,
        progress="Stalled",
        says=(NAME, "by hand"),
    ),
    # --- creating
    "one listing does not show that a name is free": Row(
        "a partial one may hide somebody's VPC", {"found": Absent(NOW, NOW)}, looks=True
    ),
    "a free name is first written down": Row(
        "a crash after an unrecorded order would forget whose it is",
        {},
        Reason.CREATING,
        records=True,
        status={"order": OrderState.INTENDED, "account": OWN_ACCOUNT},
    ),
    "a listing of before is too old to show that a name is free": Row(
        "somebody may have taken it since", {"found": Absent(NOW - 14, NOW - 60, NOW - 30)}, looks=True
    ),
    "the listing of a slow cloud is as young as it can be": Row(
        "else nothing would ever be created there",
        {"found": Absent(NOW - 14, NOW - 60, NOW - 30), "listing_duration": 12.0},
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
    "a recorded order of ours is acted on": Row(
        "look, record, create", {"status": CREATING, "known": MINE}, Reason.CREATING, action=Verb.CREATE_VPC
    ),
    "a record of another process is waited out": Row(
        "it may have been sent",
        {"status": CREATING, "memory": CallHistory(first_seen=NOW - 20)},
        Reason.CREATING,
        looks=False,
    ),
    "IfExists creates what is not there": Row(
        "adopted, else created", {"spec": ADOPTS}, Reason.CREATING, records=True, status={"order": OrderState.INTENDED}
    ),
    "Required never creates": Row(
        "its owner expects one",
        {"spec": REQUIRED},
        Reason.NOT_FOUND,
        progress="Stalled",
        says=(NAME, "Create it, or set spec.adoption: IfExists"),
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
    "nothing is created with an account that is going": Row(
        "nobody could destroy it then",
        {"needs": (Dependency("GpuCloudAccount 'lab'", Readiness.LEAVING),)},
        Reason.DEPENDENCY_NOT_READY,
        says="GpuCloudAccount 'lab'",
    ),
    "nothing is created in a dying namespace": Row(
        "it would be destroyed at once", {"namespace_terminating": True}, Reason.NAMESPACE_TERMINATING, says="'team'"
    ),
    "observe-only says what it would do": Row(
        "disaster recovery", {"limits": Limits(observe_only=True)}, Reason.OBSERVE_ONLY, "Unknown", says="CreateVpc"
    ),
    "before the first list nothing is created": Row(
        "another object may claim the name", {"synced": False, "status": CREATING, "known": MINE}
    ),
    "a refused order is not repeated": Row(
        "a name without the tenant's prefix stays wrong",
        {"status": CREATING, "memory": tried(Verb.CREATE_VPC, ago=9999, kind=ErrorKind.INVALID)},
        Reason.REJECTED,
        progress="Stalled",
        says=(WORDS, "create it anew"),
    ),
    "a refusal outlives a restart": Row(
        "one attempt a generation",
        {"status": a_vpc_status("Rejected", progress="Stalled", order=REFUSED)},
        Reason.REJECTED,
        progress="Stalled",
        says="Made up.",
    ),
    "a refusal is tried again when a person asks": Row(
        "the cloud may have been wrong",
        {
            "meta": noted(RECONCILE_REQUESTED_AT="t1"),
            "status": a_vpc_status("Rejected", progress="Stalled", order=REFUSED),
        },
        Reason.CREATING,
        records=True,
        status={"last_handled_reconcile_at": "t1"},
    ),
    "a forbidden order calls a person": Row(
        "VPCs belong to a tenant's administrators",
        {"status": CREATING, "memory": tried(Verb.CREATE_VPC, kind=ErrorKind.FORBIDDEN)},
        Reason.PERMISSION_DENIED,
        progress="Stalled",
        says="Grant",
    ),
    "a credential refused at the order calls a person": Row(
        "it was revoked in between",
        {"status": CREATING, "memory": tried(Verb.CREATE_VPC, kind=ErrorKind.UNAUTHORIZED)},
        Reason.CREDENTIALS_REFUSED,
        progress="Stalled",
        says="Put a valid",
    ),
    "a throttled order waits": Row(
        "the cloud asks for patience",
        {"status": CREATING, "memory": tried(Verb.CREATE_VPC, kind=ErrorKind.THROTTLED)},
        Reason.RATE_LIMITED,
    ),
    "an order that could not be sent waits": Row(
        "surely not carried out",
        {"status": CREATING, "memory": tried(Verb.CREATE_VPC, kind=ErrorKind.NOT_SENT)},
        Reason.API_UNAVAILABLE,
    ),
    "a cluster that is down is waited for": Row(
        "503",
        {"status": CREATING, "memory": tried(Verb.CREATE_VPC, kind=ErrorKind.UNAVAILABLE)},
        Reason.WAITING_FOR_CAPACITY,
        status={"progress_deadline_at": None},
    ),
    "after a lost answer: look for the grace": Row(
        "it may have been carried out",
        {"status": CREATING, "memory": tried(Verb.CREATE_VPC, kind=ErrorKind.OUTCOME_UNKNOWN, ambiguous=True)},
        Reason.API_ERROR,
        looks=False,
    ),
    "an error that never ends calls a person": Row(
        "500 is how this service reports business errors too",
        {"status": CREATING, "memory": tried(Verb.CREATE_VPC, ago=31, kind=ErrorKind.SERVER, ambiguous=True, failures=5)},
        Reason.API_ERROR,
        progress="Stalled",
        says=WORDS,
    ),
    "an order that never shows calls a person at the deadline": Row(
        "it may be waited for without end",
        {
            "status": CREATING.model_copy(update={"progress_deadline_at": START + timedelta(seconds=NOW - 1)}),
            "memory": tried(Verb.CREATE_VPC, ago=100),
        },
        Reason.PROGRESS_DEADLINE_EXCEEDED,
        progress="Stalled",
        says="spec.progressDeadlineSeconds",
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
        says="Delete this object",
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
    "one that vanished is looked for again first": Row(
        "a listing may have been partial",
        {"status": AVAILABLE, "found": Absent(NOW, NOW - 2, NOW - 2)},
        Reason.VPC_LOST,
        "Unknown",
        looks=False,
    ),
    "one that stays away is lost, and not made again": Row(
        "a person decides",
        {"status": AVAILABLE, "found": Absent(NOW, NOW - 31, NOW - 2)},
        Reason.VPC_LOST,
        progress="Stalled",
        says=("VPC", "delete this object and apply it again"),
        records=False,
    ),
    "an adopted one that stays away is lost too": Row(
        "it was not ours to make",
        {"spec": ADOPTS, "status": TAKEN_OVER, "found": Absent(NOW, NOW - 31, NOW - 2)},
        Reason.VPC_LOST,
        progress="Stalled",
        says="apply it again",
    ),
    # --- letting go
    "an empty one is announced, then destroyed": Row(
        "every mutation is announced", EMPTIED, Reason.DELETING, action=Verb.DESTROY_VPC
    ),
    "what is in it must be known": Row("somebody's VM may be", EMPTIED | {"occupants": None}, Reason.DELETING, looks=True),
    "what is in it must be known of now": Row(
        "a VM may have come since", EMPTIED | {"occupants": Occupants((), NOW - 11)}, Reason.DELETING, looks=True
    ),
    "not looked into yet: look": Row(
        "somebody's VM may be in it",
        EMPTIED | {"occupants": Unknown(NOW, UnknownReason.NOT_LOOKED)},
        Reason.DELETING,
        looks=True,
    ),
    "anything in it holds it, whoever owns it": Row(
        "the VM would be cut off",
        EMPTIED | {"occupants": Occupants(("VM 'a'", "snapshot 'b'"), NOW)},
        Reason.DELETION_BLOCKED,
        says=("VM 'a', snapshot 'b'", "as soon as it is empty"),
        looks=False,
    ),
    "many in it are counted": Row(
        "a message for people",
        EMPTIED | {"occupants": Occupants(tuple("abcdefg"), NOW)},
        Reason.DELETION_BLOCKED,
        says="a, b, c, d, e and 2 more",
    ),
    "what cannot be listed holds it": Row(
        "unknown is not empty",
        EMPTIED | {"occupants": Unknown(NOW, UnknownReason.FORBIDDEN, "403")},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says=("403", "Retain"),
        looks=False,
    ),
    "objects that need it hold it": Row(
        "they are told apart by name",
        EMPTIED | {"dependents": ("GpuVM 'train'",)},
        Reason.DELETION_BLOCKED,
        says=("GpuVM 'train'", "as soon as"),
    ),
    "objects that need it do not hold what stays": Row(
        "nothing happens to them",
        EMPTIED | {"spec": RETAINS, "dependents": ("GpuVM 'train'",)},
        released=Reason.RETAINED,
        says=(NAME, "spec.deletion.policy"),
    ),
    "what was adopted stays": Row(
        "it was there before",
        {"meta": DELETING, "spec": ADOPTS, "status": TAKEN_OVER, "found": a_vpc()},
        released=Reason.RETAINED,
        says=(NAME, "adopted"),
    ),
    "what was adopted goes where the spec says so": Row(
        "the owner's word",
        {"meta": DELETING, "spec": DELETES, "status": TAKEN_OVER, "found": a_vpc(), "occupants": EMPTY},
        Reason.DELETING,
        action=Verb.DESTROY_VPC,
    ),
    "what was created goes although adoption was allowed": Row(
        "else it would leak", EMPTIED | {"spec": ADOPTS}, Reason.DELETING, action=Verb.DESTROY_VPC
    ),
    "Retain lets go blind": Row(
        "the way out when the cloud is gone for good",
        {"meta": DELETING, "spec": RETAINS, "status": AVAILABLE, "found": Unknown(NOW, UnknownReason.UNREACHABLE)},
        released=Reason.RETAINED,
    ),
    "deleting what was refused for certain destroys nothing that bears the name": Row(
        "it is somebody else's", EMPTIED | {"status": CREATING, "memory": REFUSED_FOR_CERTAIN}, released=Reason.RETAINED
    ),
    "deleting what met a taken name destroys nothing": Row(
        "it was there before us",
        {"meta": DELETING, "found": a_vpc(), "occupants": EMPTY},
        released=Reason.RETAINED,
        says="not created for this object",
    ),
    "deleting the loser of a conflict destroys nothing": Row(
        "the VPC is another's", EMPTIED | {"owner": "'first'"}, released=Reason.RETAINED, says="GpuVpc 'first' uses it"
    ),
    "deleting one re-made by a stranger destroys nothing": Row(
        "another id: it is not the one that we made",
        EMPTIED | {"found": a_vpc("vpc-2")},
        released=Reason.RETAINED,
        says="is not destroyed",
    ),
    "deleting beside a twin lets nothing go": Row(
        "the stranger's is listed first, and ours may be the other",
        EMPTIED | {"found": a_vpc("vpc-2", duplicate_records=True)},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says=(NAME, "by hand"),
    ),
    "the cloud's refusal keeps the object": Row(
        "no error ever frees the finalizer",
        EMPTIED | {"memory": tried(Verb.DESTROY_VPC, kind=ErrorKind.INVALID)},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says=(WORDS, "Retain"),
    ),
    "the cloud's refusal is met with another try, when it is empty still": Row(
        "a VM that was going is gone now",
        EMPTIED | {"memory": tried(Verb.DESTROY_VPC, ago=400, kind=ErrorKind.INVALID)},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        action=Verb.DESTROY_VPC,
        says="Retain",
    ),
    "another try looks inside again": Row(
        "somebody moved in meanwhile",
        EMPTIED | {"memory": tried(Verb.DESTROY_VPC, ago=400), "occupants": Occupants(("VM 'late'",), NOW)},
        Reason.DELETION_BLOCKED,
        says="'late'",
    ),
    "one listing without it is not proof": Row(
        "a listing may be partial",
        EMPTIED | {"found": Absent(NOW, NOW), "known": TOLD, "memory": tried(Verb.DESTROY_VPC, ago=5)},
        Reason.DELETING,
        looks=True,
    ),
    "two listings without it are proof": Row(
        "gone",
        EMPTIED | {"found": Absent(NOW, NOW - 9, NOW - 2), "known": TOLD, "memory": tried(Verb.DESTROY_VPC, ago=5)},
        released=Reason.GONE,
        says=NAME,
    ),
    "two listings from before the destroy are none": Row(
        "they may have been partial",
        EMPTIED | {"found": Absent(NOW, NOW - 9, NOW - 8), "known": TOLD, "memory": tried(Verb.DESTROY_VPC, ago=5)},
        Reason.DELETING,
    ),
    "what went without our call is missed for the grace before it is let go": Row(
        "only its record tells the id to destroy it by, and a listing may lag",
        EMPTIED | {"found": Absent(NOW, NOW - 20, NOW - 2)},
        Reason.DELETING,
        looks=False,
    ),
    "one listing after the grace is not proof": Row(
        "a listing may be partial", EMPTIED | {"found": Absent(NOW, NOW - 99)}, Reason.DELETING, looks=True
    ),
    "two listings after the grace are proof": Row(
        "somebody destroyed it outside",
        EMPTIED | {"found": Absent(NOW, NOW - 99, NOW - 2), "occupants": Occupants(("VM 'a'",), NOW)},
        released=Reason.GONE,
        says=NAME,
    ),
    "nothing is recorded: free, and told": Row(
        "the status may be wiped", {"meta": DELETING}, released=Reason.RETAINED, says="may be your VPC"
    ),
    "never ordered: free": Row(
        "nothing was made",
        {"meta": DELETING, "memory": CallHistory(first_seen=NOW - 9, seen_new=True)},
        released=Reason.GONE,
        says="No VPC was created",
    ),
    "ordered by a process before us and not there after the grace: free": Row(
        "two listings that began late enough",
        {"meta": DELETING, "status": CREATING, "memory": CallHistory(first_seen=NOW - 310)},
        released=Reason.GONE,
        says="No VPC was created for this object",
    ),
    "ordered with a lost answer: wait before letting go": Row(
        "it may still come",
        {
            "meta": DELETING,
            "status": CREATING,
            "memory": tried(Verb.CREATE_VPC, kind=ErrorKind.OUTCOME_UNKNOWN, ambiguous=True),
        },
        Reason.DELETING,
        looks=False,
    ),
    "a record of our own, never sent, frees even blind": Row(
        "nothing can be there",
        {"meta": DELETING, "status": CREATING, "known": MINE, "found": Unknown(NOW, UnknownReason.UNREACHABLE)},
        released=Reason.GONE,
    ),
    "a record of another process does not": Row(
        "it may have been sent",
        {"meta": DELETING, "status": CREATING, "memory": LONG_KNOWN, "found": Unknown(NOW - 99, UnknownReason.UNREACHABLE)},
        Reason.DELETION_BLOCKED,
        says=("VPC", "Retain"),
    ),
    "without an account, with something made: held": Row(
        "no account is no proof",
        EMPTIED | {"found": Unknown(NOW, UnknownReason.NO_ACCOUNT)},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says="Retain",
    ),
    "without an account, of one that was made and lost its order: held": Row(
        "the id says that it was seen",
        EMPTIED
        | {"status": a_vpc_status("Deleting", vpc_id="vpc-1"), "spec": DELETES, "found": Unknown(NOW, UnknownReason.ACCOUNT)},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says="Retain",
    ),
    "another tenant's credential lets nothing go": Row(
        "everything of ours looks gone with it",
        EMPTIED | {"found": Unknown(NOW, UnknownReason.TENANT, "It is tenant 'x'.")},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says="tenant 'x'",
    ),
    "observe-only says what it would do, and lets nothing go": Row(
        "whoever restores a cluster counts these before anything is done",
        EMPTIED | {"limits": Limits(observe_only=True)},
        Reason.OBSERVE_ONLY,
        "Unknown",
        says=("--observe-only", "DestroyVpc"),
    ),
    "before the first list nothing is let go": Row(
        "nobody can say yet whose VPC it is", EMPTIED | {"owner": "'first'", "synced": False}
    ),
    "before the first list nothing is destroyed": Row("another object may own it", EMPTIED | {"synced": False}),
}

# What a GpuVpc can say, by the steps of its chain and the table of refusals.
REASONS = {
    *("Available", "Adopted", "Mismatch", "VPCLost", "Conflict", "Ambiguous", "NotFound", "Creating", "Deleting"),
    *("DeletionBlocked", "Paused", "ObserveOnly", "NamespaceTerminating", "DependencyNotReady", "NoAccount"),
    *("AccountNotReady", "TenantMismatch", "ApiUnavailable", "ImplausibleListing", "CredentialsRefused"),
    *("PermissionDenied", "Rejected", "RateLimited", "WaitingForCapacity", "ApiError", "ProgressDeadlineExceeded"),
    *("Retained", "Gone"),
}


@pytest.mark.parametrize("sentence", ROWS)
def test_decision(sentence):
    judge(ROWS[sentence], decide(vpc_facts(**ROWS[sentence].given)))


def test_every_reason_has_a_row():
    assert {reason for row in ROWS.values() for reason in (row.reason, row.released) if reason is not None} == REASONS


def test_the_message_of_every_row_that_calls_a_person_is_read():
    assert [sentence for sentence, row in ROWS.items() if row.progress == "Stalled" and row.reason and not row.says] == []


@pytest.mark.parametrize("sentence", ROWS)
def test_it_settles_and_speaks_in_sentences(sentence):
    assert ends_as_a_sentence(decide(vpc_facts(**ROWS[sentence].given)))
    converges(ROWS[sentence].given, decide, vpc_facts)


def test_adopted_from_a_stranger_it_stays_when_this_object_goes():
    """Ours was destroyed outside and re-made by another: what the first pass writes must not make it ours for the second."""
    adopted = decide(vpc_facts(spec=ADOPTS, found=a_vpc("vpc-2"), status=AVAILABLE)).status
    again = decide(vpc_facts(spec=ADOPTS, found=a_vpc("vpc-2"), status=adopted))
    assert again.status == adopted
    gone = decide(vpc_facts(meta=DELETING, spec=ADOPTS, found=a_vpc("vpc-2"), status=adopted, occupants=EMPTY))
    assert (gone.release.reason, gone.action) == (Reason.RETAINED, None)


def test_one_made_anew_after_another_was_there_is_ours():
    """The id of the one before must not make it a stranger's: it would be left behind."""
    recorded = decide(vpc_facts(status=TAKEN_OVER, found=Absent(NOW, NOW - 40, NOW - 2))).status
    alive = decide(vpc_facts(status=recorded, found=a_vpc("vpc-3")))
    assert alive.status.conditions[0].reason == Reason.AVAILABLE
    gone = decide(vpc_facts(meta=DELETING, status=alive.status, found=a_vpc("vpc-3"), occupants=EMPTY))
    assert gone.action is Verb.DESTROY_VPC


@pytest.mark.parametrize("adoption", list(Adoption))
def test_a_mismatch_keeps_ready_false_whoever_made_it(adoption):
    spec = a_vpc_spec(adoption=adoption, isDefault=True)
    plan = decide(vpc_facts(spec=spec, status=AVAILABLE, found=a_vpc(isDefault=False)))
    assert {item.type: item.status for item in plan.status.conditions} == {
        ConditionType.READY: "False",
        ConditionType.STALLED: "True",
    }


def test_a_record_of_rubbish_still_fits_the_schema():
    plan = decide(vpc_facts(status=CREATING, found=a_vpc(ipRange="x" * 5000, createdAt="2026-01-01T00:00:00.5")))
    assert len(plan.status.ip_range) == 253
    assert GpuVpcStatus.model_validate(plan.status.model_dump(mode="json", by_alias=True)) == plan.status


def test_an_id_longer_than_the_record_holds_is_the_same_id():
    """Else it would be looked at again for ever, and never be let go."""
    order = an_order(NAME, vpc=NAME, cloud_id=abridged("x" * 300))
    facts = vpc_facts(found=a_vpc("x" * 300), standing=known(order))
    plan = decide(facts)
    assert (facts.differs(facts.found), plan.status is None) == (False, False)
