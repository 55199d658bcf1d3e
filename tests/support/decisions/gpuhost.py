"""Rows of a GpuHost without requests: what is said of its host, and whose it is. None of them changes anything in the cloud."""

from __future__ import annotations

from datetime import timedelta

from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.reconcile.facts import Absent, AccountFacts, Limits, ResourceOwner, Unknown, UnknownReason
from support.builders import NOW, an_object
from support.decisions.shared import NO_ACCOUNT, WAITS_FOR_ACCOUNT
from support.hostfacts import IMAGE, RUNNING, SEEN, WALL, a_host, a_host_spec, a_host_status, off, wiped
from support.rows import Row

NEW = a_host_status()
LONG_BLIND, JUST_BLIND = NOW - 181, NOW - 1
TEAMS = AccountFacts("team", frozenset({"other"}), ("Hou1", "Msc1"), "prod")


def unseen(cause, why, reason, *, ready="Unknown", progress="Stalled", says="", **given):
    """A host that was seen, and of which nothing is known since long."""
    found = Unknown(LONG_BLIND, cause, given.pop("detail", ""))
    return Row(why, {"found": found, **given}, reason, ready, progress, says=says)


ROWS = {
    # --- the host's state
    "a host that runs": Row(
        "powered on, provisioned and OK: all of its record is shown",
        {"status": NEW, "found": a_host(privateIp="172.16.0.9", provisionedHostname="msc1-bm-128")},
        Reason.RUNNING,
        "True",
        None,
        pending=False,
        status={**SEEN, "private_ip": "172.16.0.9", "powered_on": True, "provisioned_hostname": "msc1-bm-128"},
    ),
    "letter case of the cloud's words does not count": Row(
        "they are assumptions",
        {"found": a_host(provisioningState="Provisioned", operationalStatus="ok")},
        Reason.RUNNING,
        "True",
        None,
    ),
    "an image's token is not shown": Row(
        "a URL's query may hold one",
        {"found": a_host(image="https://images.example/a.qcow2?sig=made-up#x")},
        Reason.RUNNING,
        "True",
        None,
        status={"image": "https://images.example/a.qcow2"},
    ),
    "a host that is off": Row(
        "only a person's request changes it", {"found": off()}, Reason.HOST_OFF, says="powered off", pending=True
    ),
    "a host that is being provisioned": Row(
        "somebody else may have asked for it", {"found": wiped()}, Reason.PROVISIONING, says="deprovisioning"
    ),
    "a host without an image": Row(
        "only a person can request one", {"found": a_host(provisioningState="available")}, Reason.PROVISIONING, says="no image"
    ),
    "a host that the cloud calls faulty": Row(
        "a person must act", {"found": a_host(operationalStatus="error")}, Reason.HOST_FAILED, progress="Stalled", says="error"
    ),
    "a word that this version does not know": Row(
        "the list is open",
        {"found": a_host(operationalStatus="sleepy")},
        Reason.UNKNOWN_STATE,
        says="'provisioned, powered on, sleepy"[1:],
    ),
    "a record without any word": Row(
        "every field may be null",
        {"found": a_host(operationalStatus=None, provisioningState=None, poweredOn=None)},
        Reason.UNKNOWN_STATE,
        says="of unknown power",
    ),
    "a host that stays off beyond its deadline": Row(
        "it is called Stalled, and still watched",
        {"found": off(), "status": a_host_status("HostOff", **SEEN, progress_deadline_at=WALL - timedelta(seconds=1))},
        Reason.PROGRESS_DEADLINE_EXCEEDED,
        progress="Stalled",
        says="Not Ready after 1800 s (spec.progressDeadlineSeconds); the operator keeps trying. Last: The cloud reports",
    ),
    "a request to look again": Row(
        "it is answered by a fresh listing",
        {"meta": an_object(has_finalizer=False, annotations={Annotation.RECONCILE_REQUESTED_AT: "now"})},
        Reason.RUNNING,
        "True",
        None,
        looks=True,
        status={"last_handled_reconcile_at": "now"},
    ),
    # --- whose it is
    "a host of the operator's own account, whose namespaces are isolated": Row(
        "an id does not prove whose the host is: any namespace could wipe another's",
        {"isolated": True, "found": Unknown(NOW, UnknownReason.NOT_LISTED)},
        Reason.INVALID_REFERENCE,
        progress="Stalled",
        says=("may be shared", "--own-account-sharing=Shared"),
    ),
    "isolated, before the first list is complete": Row(
        "the namespace may have an account of its own",
        {"isolated": True, "synced": False, "found": Unknown(NOW, UnknownReason.NOT_LISTED)},
        pending=True,
    ),
    "a host that another GpuHost has": Row(
        "one host has one owner, and nobody else is shown its record",
        {"owner": ResourceOwner("GpuHost", "team", "first"), "status": NEW},
        Reason.CONFLICT,
        progress="Stalled",
        says="GpuHost 'first'",
        status={"host_id": None, "image": None},
    ),
    "two hosts of one id": Row(
        "a call could hit the wrong one",
        {"found": a_host(duplicate_records=True)},
        Reason.AMBIGUOUS,
        progress="Stalled",
        says="support",
    ),
    "a host that the cloud does not know": Row(
        "a wrong id, or not allocated yet",
        {"status": NEW, "found": Absent(NOW, NOW)},
        Reason.NOT_FOUND,
        progress="Stalled",
        says=("'bm-128'", "'Msc1'", "keeps looking"),
    ),
    "a host that one listing lacks": Row("one may be partial", {"found": Absent(NOW, NOW)}, looks=True, pending=True),
    "a host that is lacked, and no second listing comes": Row(
        "say so, and look on",
        {"found": Absent(NOW - 9, NOW - 9)},
        Reason.HOST_LOST,
        "Unknown",
        looks=True,
        says="checks again",
    ),
    "a host that two listings lack": Row(
        "it is not the tenant's any more",
        {"found": Absent(NOW, NOW - 9, NOW - 9)},
        Reason.HOST_LOST,
        progress="Stalled",
        says="not allocated",
        status={"host_id": "bm-128", "image": IMAGE},
    ),
    # --- held
    "an object in deletion": Row("nothing holds it, nothing is sent", {"meta": an_object(deleting=True, has_finalizer=False)}),
    "a paused object": Row(
        "its last verdict stays",
        {"meta": an_object(has_finalizer=False, annotations={Annotation.PAUSED: "true"}), "found": off()},
        Reason.RUNNING,
        "True",
        None,
    ),
    "a paused object of another generation": Row(
        "nothing is known of what it asks for",
        {"meta": an_object(has_finalizer=False, annotations={Annotation.PAUSED: "true"}, generation=2)},
        Reason.PAUSED,
        "Unknown",
        None,
        says="gpucloud.dev/paused",
    ),
    # --- out of sight
    "a new object before the first listing": Row(
        "wait for it", {"status": NEW, "found": Unknown(NOW, UnknownReason.NOT_LISTED)}, looks=True
    ),
    "before the first list is complete": Row(
        "claims are not", {"found": Unknown(NOW, UnknownReason.NOT_LISTED), "synced": False}, pending=True
    ),
    "blind for a moment": Row("the last verdict stays", {"found": Unknown(JUST_BLIND, UnknownReason.UNREACHABLE)}, wakes=181),
    "blind for long": unseen(
        UnknownReason.UNREACHABLE, "say so", Reason.API_UNAVAILABLE, progress="Reconciling", says="last known state"
    ),
    "never seen, and blind": Row(
        "say so sooner",
        {"status": NEW, "found": Unknown(NOW - 7, UnknownReason.UNREACHABLE)},
        Reason.API_UNAVAILABLE,
        "Unknown",
        says="No request is carried out meanwhile",
    ),
    "a refused credential": unseen(
        UnknownReason.REFUSED,
        "a person must act",
        Reason.CREDENTIALS_REFUSED,
        ready="False",
        says="administrator",
        detail="no.",
    ),
    "a credential that may not list hosts": unseen(
        UnknownReason.FORBIDDEN, "a right is missing", Reason.PERMISSION_DENIED, ready="False", says="list hosts"
    ),
    "an unknown cluster": Row(
        "nothing else can be wrong",
        {
            "status": NEW,
            "found": Unknown(NOW, UnknownReason.REJECTED),
            "account": TEAMS,
            "spec": a_host_spec(cluster="Nowhere"),
        },
        Reason.INVALID_SPEC,
        progress="Stalled",
        says=("'Nowhere'", "Known clusters: Hou1, Msc1"),
    ),
    "an unknown cluster, and the known ones are on their way": Row(
        "the message is to name them", {"status": NEW, "found": Unknown(NOW, UnknownReason.REJECTED)}, wakes=6.1
    ),
    "too many hosts vanish at once": unseen(
        UnknownReason.IMPLAUSIBLE, "not believed", Reason.IMPLAUSIBLE_LISTING, progress="Reconciling", says="accept-absence"
    ),
    "no account": unseen(
        UnknownReason.NO_ACCOUNT,
        "it names no deletion policy: a GpuHost has none",
        Reason.NO_ACCOUNT,
        says="delete this object (the host stays)",
        detail="Delete it with spec.deletion.policy: Retain.",
    ),
    "no account yet": Row(
        "of one that was never seen",
        {"status": NEW, "found": Unknown(NOW, UnknownReason.NO_ACCOUNT, NO_ACCOUNT)},
        Reason.NO_ACCOUNT,
        progress="Stalled",
        says="Create it (kubectl gpucloud explain NoAccount), or recreate this object with spec.accountRef",
    ),
    "an account that is not ready": unseen(
        UnknownReason.ACCOUNT,
        "it comes by itself",
        Reason.ACCOUNT_NOT_READY,
        progress="Reconciling",
        says="there is none",
        detail=WAITS_FOR_ACCOUNT,
    ),
    "another tenant's credential": unseen(
        UnknownReason.TENANT, "it may be another's host now", Reason.TENANT_MISMATCH, says=("'acme'", "'other'"), account=TEAMS
    ),
    "a credential that has shown no tenant": unseen(
        UnknownReason.TENANT, "nothing is done", Reason.TENANT_MISMATCH, says="none yet", account=AccountFacts(OWN_ACCOUNT)
    ),
    "another endpoint": Row(
        "said at once: nothing changes by waiting",
        {
            "status": RUNNING.model_copy(update={"endpoint": "staging"}),
            "found": Unknown(NOW, UnknownReason.ENDPOINT),
            "account": TEAMS,
        },
        Reason.ENDPOINT_MISMATCH,
        "Unknown",
        "Stalled",
        says=("'staging'", "'prod'"),
    ),
    "a doubt that a person wants to end": Row(
        "say at once why it stands",
        {
            "found": Unknown(NOW, UnknownReason.IMPLAUSIBLE),
            "meta": an_object(has_finalizer=False, annotations={Annotation.ACCEPT_ABSENCE: "soon"}),
        },
        Reason.IMPLAUSIBLE_LISTING,
        "Unknown",
        says="looks like an error of the cloud",
    ),
    "a spec without reprovision": Row(
        "it is only observed", {"spec": a_host_spec(reprovision=None)}, Reason.RUNNING, "True", None
    ),
    "under --observe-only nothing else is said": Row(
        "there is nothing to withhold", {"limits": Limits(observe_only=True)}, Reason.RUNNING, "True", None
    ),
}
