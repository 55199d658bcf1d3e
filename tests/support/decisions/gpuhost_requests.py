"""Rows of a GpuHost with requests: each is sent at most once, and only while a person still asks for it."""

from __future__ import annotations

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.gpuhost import HostOutcome, HostVerb
from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.reconcile.facts import Absent, CallHistory, Limits, Unknown, UnknownReason, Verb
from gpucloud.reconcile.gpuhost import CloudInit
from support.builders import NOW
from support.hostfacts import (
    AHEAD,
    LONG_AGO,
    RECENTLY,
    SEEN,
    SINCE,
    a_host,
    a_host_spec,
    a_host_status,
    called,
    off,
    operating,
    requested,
    wiped,
)
from support.rows import LONG_KNOWN, YOUNG, Row

REBOOT, REPROVISION = HostVerb.REBOOT, HostVerb.REPROVISION
BOOTS, WIPES = {"meta": requested(reboot=RECENTLY)}, {"meta": requested(reprovision=RECENTLY)}
OWN, OWN_WIPE = {"announced": (REBOOT, RECENTLY)}, {"announced": (REPROVISION, RECENTLY)}
ANNOUNCED, ANNOUNCED_WIPE = {"status": operating()} | BOOTS, {"status": operating(REPROVISION)} | WIPES
MISSING = CloudInit(trouble=Reason.SECRET_NOT_FOUND, words="Waiting for the Secret 'init'.")
LARGE = CloudInit(trouble=Reason.INVALID_SECRET, words="It holds 65537 bytes; 65536 are the most.")


def refused(why, given, says, **status):
    """A request that is answered without a call, or by the cloud's refusal."""
    return Row(why, given, Reason.REJECTED, progress="Stalled", says=says, status={"operation": HostOutcome.REFUSED} | status)


def unclear(why, given, says, *, settled):
    """A request of which nobody knows whether it was carried out; it is never sent again."""
    progress = "Stalled" if settled else "Reconciling"
    return Row(why, given, Reason.API_ERROR, progress=progress, says=says, status={"operation": HostOutcome.UNCLEAR})


def rebooting(why, given, *, outcome, **more):
    return Row(why, given, Reason.REBOOTING, status={"operation": outcome} | more.pop("status", {}), **more)


def reprovisioning(why, given, *, outcome, **more):
    return Row(why, given, Reason.REPROVISIONING, status={"operation": outcome}, **more)


SENT = {"action": Verb.REBOOT_HOST, "targets": (RECENTLY,)}
SENT_WIPE = {"action": Verb.REPROVISION_HOST, "targets": (RECENTLY,)}

ROWS = {
    # --- announced before it is sent
    "a reboot is announced": rebooting(
        "its answer comes with its outcome",
        BOOTS,
        outcome=HostOutcome.ANNOUNCED,
        records=True,
        status={"last_handled_reboot_at": None},
        **SENT,
    ),
    "a reprovisioning is announced": reprovisioning(
        "so that a new process does not send it again", WIPES, outcome=HostOutcome.ANNOUNCED, records=True, **SENT_WIPE
    ),
    "of two requests the reprovisioning comes first": reprovisioning(
        "it boots the host anyway",
        {"meta": requested(reboot=RECENTLY, reprovision=RECENTLY)},
        outcome=HostOutcome.ANNOUNCED,
        records=True,
        **SENT_WIPE,
    ),
    "what this process announced it sends": rebooting(
        "", ANNOUNCED | OWN, outcome=HostOutcome.ANNOUNCED, records=False, **SENT
    ),
    "a wipe that this process announced it sends": reprovisioning(
        "", ANNOUNCED_WIPE | OWN_WIPE, outcome=HostOutcome.ANNOUNCED, records=False, **SENT_WIPE
    ),
    "a host that is off is asked all the same": rebooting(
        "the cloud decides in which state it accepts a request",
        BOOTS | {"found": off()},
        outcome=HostOutcome.ANNOUNCED,
        records=True,
        **SENT,
    ),
    "a reboot while a reprovisioning runs": rebooting(
        "as above",
        {"meta": requested(reboot=RECENTLY), "status": operating(REPROVISION, HostOutcome.IN_PROGRESS), "found": wiped()},
        outcome=HostOutcome.ANNOUNCED,
        records=True,
        **SENT,
    ),
    # --- not sent
    "an old listing": Row(
        "the host may be another tenant's since",
        BOOTS | {"found": a_host(as_of=NOW - 20)},
        Reason.REBOOTING,
        looks=True,
        status={"operation": None},
    ),
    "an old listing after the announcement": rebooting(
        "as above", ANNOUNCED | OWN | {"found": a_host(as_of=NOW - 20)}, outcome=HostOutcome.ANNOUNCED, looks=True
    ),
    "requested before the first list is complete": Row(
        "another GpuHost may own the host", BOOTS | {"synced": False}, pending=True
    ),
    "under --observe-only": Row(
        "it says what it would do",
        BOOTS | {"limits": Limits(observe_only=True)},
        Reason.OBSERVE_ONLY,
        "Unknown",
        says="RebootHost",
    ),
    "paused": Row(
        "a person holds all action back",
        {"meta": requested(reboot=RECENTLY, **{Annotation.PAUSED: "true"})},
        Reason.RUNNING,
        "True",
        None,
        status={"operation": None, "last_handled_reboot_at": None},
    ),
    "paused after the announcement": Row(
        "it is not sent; the verdict stays",
        {"status": operating(), "meta": requested(reboot=RECENTLY, **{Annotation.PAUSED: "true"})} | OWN,
        Reason.REBOOTING,
        progress=None,
        status={"operation": HostOutcome.ANNOUNCED},
    ),
    "another GpuHost has the host": Row(
        "nothing is sent",
        BOOTS | {"owner": "'first'"},
        Reason.CONFLICT,
        progress="Stalled",
        says="'first'",
        status={"operation": None},
    ),
    "the host cannot be seen": Row(
        "it may be another's",
        BOOTS | {"found": Unknown(NOW - 181, UnknownReason.UNREACHABLE)},
        Reason.API_UNAVAILABLE,
        "Unknown",
    ),
    "the host is gone": Row(
        "as above", BOOTS | {"found": Absent(NOW, NOW - 9, NOW - 9)}, Reason.HOST_LOST, progress="Stalled", says="allocated"
    ),
    "an empty annotation": Row(
        "no status could record its answer", {"meta": requested(reboot="")}, Reason.RUNNING, "True", None
    ),
    "an answered request": Row(
        "it stands there until somebody removes it",
        BOOTS | {"status": a_host_status("Running", "True", None, **SEEN, last_handled_reboot_at=RECENTLY)},
        Reason.RUNNING,
        "True",
        None,
    ),
    # --- refused here
    "a request that stood there before the host was recorded": refused(
        "the status may have been lost, or the manifest restored: it may have been carried out already",
        WIPES | {"status": a_host_status()},
        "before the operator first recorded",
        last_handled_reprovision_at=RECENTLY,
    ),
    "two requests that stood there before": refused(
        "neither is carried out later",
        {"meta": requested(reboot=RECENTLY, reprovision=RECENTLY), "status": a_host_status()},
        "reprovision-requested-at",
        last_handled_reprovision_at=RECENTLY,
        last_handled_reboot_at=RECENTLY,
    ),
    "a request of more than ten minutes ago": refused(
        "it may not be meant any more",
        {"meta": requested(reprovision=LONG_AGO)},
        "within 10 minutes",
        last_handled_reprovision_at=LONG_AGO,
    ),
    "a request from before the last answered one": Row(
        "two writers that take turns, as Argo CD and a person, must not reboot the host each time; the answer stays",
        {
            "meta": requested(reboot=RECENTLY),
            "status": a_host_status("Running", "True", None, **SEEN, last_handled_reboot_at=SINCE),
        },
        Reason.REJECTED,
        progress="Stalled",
        says=(SINCE, "answered before"),
        status={"operation": None, "last_handled_reboot_at": SINCE},
    ),
    "a request after one that lay ahead": rebooting(
        "that one was refused, and may be corrected",
        BOOTS | {"status": a_host_status("Running", "True", None, **SEEN, last_handled_reboot_at=AHEAD)},
        outcome=HostOutcome.ANNOUNCED,
        records=True,
        **SENT,
    ),
    "a request beside one from before": rebooting(
        "what is refused without a record holds nothing up",
        {
            "meta": requested(reboot=RECENTLY, reprovision=RECENTLY),
            "status": a_host_status("Running", "True", None, **SEEN, last_handled_reprovision_at=SINCE),
        },
        outcome=HostOutcome.ANNOUNCED,
        records=True,
        **SENT,
    ),
    "a request of the future": refused(
        "it would be repeated by nobody's wish", {"meta": requested(reboot=AHEAD)}, "lies ahead"
    ),
    "a request without a time": refused("nobody can tell how old it is", {"meta": requested(reboot="now")}, "no time such as"),
    "nothing to install": refused(
        "a wipe must say what for", WIPES | {"spec": a_host_spec(reprovision=None)}, "spec.reprovision"
    ),
    "a request that was taken back before it was sent": Row(
        "the person is heard",
        {"status": operating(REPROVISION)} | OWN_WIPE,
        Reason.RUNNING,
        "True",
        None,
        status={"operation": HostOutcome.REFUSED},
    ),
    "a request that was replaced before it was sent": reprovisioning(
        "only the newest is sent",
        {"status": operating(REPROVISION, value="2026-01-01T00:16:00Z")}
        | {"announced": (REPROVISION, "2026-01-01T00:16:00Z")}
        | WIPES,
        outcome=HostOutcome.ANNOUNCED,
        records=True,
        **SENT_WIPE,
    ),
    "a request that became too old before it was sent": refused(
        "the cloud could not be reached for ten minutes",
        {
            "status": operating(REPROVISION, value=LONG_AGO),
            "announced": (REPROVISION, LONG_AGO),
            "meta": requested(reprovision=LONG_AGO),
        },
        "within 10 minutes",
    ),
    # --- the cloud-init
    "a cloud-init Secret that is missing": Row(
        "it may come",
        WIPES | {"cloud_init": MISSING},
        Reason.SECRET_NOT_FOUND,
        says="'init'",
        wakes=5,
        status={"operation": None},
    ),
    "a cloud-init that is too large": Row(
        "a person must act", WIPES | {"cloud_init": LARGE}, Reason.INVALID_SECRET, progress="Stalled", says="65536", wakes=5
    ),
    "a cloud-init Secret that went after the announcement": Row(
        "nothing is sent without it",
        ANNOUNCED_WIPE | OWN_WIPE | {"cloud_init": MISSING},
        Reason.SECRET_NOT_FOUND,
        says="'init'",
        status={"operation": HostOutcome.ANNOUNCED},
    ),
    "a reboot needs no cloud-init": rebooting(
        "it installs nothing", BOOTS | {"cloud_init": LARGE}, outcome=HostOutcome.ANNOUNCED, records=True, **SENT
    ),
    # --- answers
    "accepted": rebooting(
        "the request is answered",
        ANNOUNCED | OWN | {"history": called(), "found": a_host(as_of=NOW - 2)},
        outcome=HostOutcome.ACCEPTED,
        status={"last_handled_reboot_at": RECENTLY},
        looks=False,
    ),
    "accepted, and the host is off": rebooting(
        "it is seen at it",
        ANNOUNCED | OWN | {"history": called(), "found": off()},
        outcome=HostOutcome.IN_PROGRESS,
        says="powered off",
    ),
    "accepted, and the host is being wiped": reprovisioning(
        "it is seen at it",
        ANNOUNCED_WIPE | OWN_WIPE | {"history": called(REPROVISION), "found": wiped()},
        outcome=HostOutcome.IN_PROGRESS,
    ),
    "accepted, and a listing from before shows the host off": rebooting(
        "that tells nothing of this request",
        ANNOUNCED | OWN | {"history": called(), "found": off(as_of=NOW - 6)},
        outcome=HostOutcome.ACCEPTED,
    ),
    "under way, and the host runs": Row(
        "it is done",
        {"status": operating(outcome=HostOutcome.IN_PROGRESS)} | BOOTS,
        Reason.RUNNING,
        "True",
        None,
        status={"operation": HostOutcome.DONE},
    ),
    "under way, and faulty": Row(
        "a person must act",
        {"status": operating(outcome=HostOutcome.IN_PROGRESS), "found": off(operationalStatus="error")} | BOOTS,
        Reason.HOST_FAILED,
        progress="Stalled",
        says="support",
    ),
    "accepted long ago, and no listing showed it": Row(
        "it was too quick to be seen",
        {"status": operating(outcome=HostOutcome.ACCEPTED), "history": called(ago=31)} | BOOTS,
        Reason.RUNNING,
        "True",
        None,
        status={"operation": HostOutcome.DONE},
    ),
    "accepted for another process": rebooting(
        "this one has only just begun to look",
        {"status": operating(outcome=HostOutcome.ACCEPTED), "history": YOUNG} | BOOTS,
        outcome=HostOutcome.ACCEPTED,
        looks=False,
    ),
    "an image that is another since": Row(
        "the wipe is done, though no listing showed it under way",
        {"status": operating(REPROVISION, HostOutcome.ACCEPTED), "found": a_host(image="new")} | WIPES,
        Reason.RUNNING,
        "True",
        None,
        status={"operation": HostOutcome.DONE, "image": "new"},
    ),
    "a host in the wrong state": refused(
        "422 is a verdict: not sent again, and it names the state",
        ANNOUNCED | OWN | {"history": called(kind=ErrorKind.INVALID), "found": wiped(as_of=NOW - 6)},
        ("deprovisioning, powered on", "the cloud's own words", "reboot-requested-at"),
        last_handled_reboot_at=RECENTLY,
    ),
    "a missing right": refused(
        "not carried out for certain, and not sent again",
        ANNOUNCED | OWN | {"history": called(kind=ErrorKind.FORBIDDEN)},
        ("Grant the credential", "reboot-requested-at"),
    ),
    "refused, and the annotation is gone": Row(
        "the person has read it", {"status": operating(outcome=HostOutcome.REFUSED)}, Reason.RUNNING, "True", None
    ),
    "refused before, and asked again": rebooting(
        "a new request is a new wish",
        {"status": operating(outcome=HostOutcome.REFUSED, value=LONG_AGO)} | BOOTS,
        outcome=HostOutcome.ANNOUNCED,
        records=True,
        **SENT,
    ),
    # --- no clear answer: at most once
    "out of service": unclear(
        "503: it may have been carried out; look at the host",
        ANNOUNCED_WIPE | OWN_WIPE | {"history": called(REPROVISION, kind=ErrorKind.UNAVAILABLE, ambiguous=True)},
        ("out of service for the moment", "not sent again"),
        settled=False,
    ),
    "a failure of the cloud": unclear(
        "500 may come after the wipe has begun",
        ANNOUNCED_WIPE | OWN_WIPE | {"history": called(REPROVISION, kind=ErrorKind.SERVER, ambiguous=True)},
        ("The cloud failed (the cloud's own words)", "not sent again"),
        settled=False,
    ),
    "a lost answer, and the host does not show it": unclear(
        "a person decides: a second wipe would lose work",
        ANNOUNCED_WIPE | OWN_WIPE | {"history": called(REPROVISION, ago=31, kind=ErrorKind.OUTCOME_UNKNOWN, ambiguous=True)},
        ("No clear answer came", "reprovision-requested-at"),
        settled=True,
    ),
    "a lost answer, and the host shows it": reprovisioning(
        "the host tells that it was carried out",
        ANNOUNCED_WIPE
        | OWN_WIPE
        | {"history": called(REPROVISION, kind=ErrorKind.OUTCOME_UNKNOWN, ambiguous=True), "found": wiped()},
        outcome=HostOutcome.IN_PROGRESS,
    ),
    "what another process announced": unclear(
        "it may have sent it right before its end",
        ANNOUNCED_WIPE | {"history": YOUNG},
        ("was restarted", "not sent again"),
        settled=False,
    ),
    "what another process announced, a grace later": unclear(
        "nobody will ever know", ANNOUNCED_WIPE | {"history": LONG_KNOWN}, ("was restarted", "not sent again"), settled=True
    ),
    "what another process announced, and the host shows it": reprovisioning(
        "it was sent", ANNOUNCED_WIPE | {"history": YOUNG, "found": wiped()}, outcome=HostOutcome.IN_PROGRESS
    ),
    "unclear, and the annotation is gone": Row(
        "the person has read it", {"status": operating(outcome=HostOutcome.UNCLEAR)}, Reason.RUNNING, "True", None
    ),
    "unclear, and asked again": reprovisioning(
        "a person has looked at the host",
        {"status": operating(REPROVISION, HostOutcome.UNCLEAR, value=LONG_AGO)} | WIPES,
        outcome=HostOutcome.ANNOUNCED,
        records=True,
        **SENT_WIPE,
    ),
    "unclear, in a new process": unclear(
        "the record says that it is not sent again",
        {"status": operating(outcome=HostOutcome.UNCLEAR, message="Nobody knows."), "history": CallHistory(first_seen=NOW - 1)}
        | BOOTS,
        "Nobody knows",
        settled=False,
    ),
    # --- not carried out for certain: the same request is sent again
    "the cloud could not be reached": Row(
        "nothing left; wait a little",
        ANNOUNCED | OWN | {"history": called(kind=ErrorKind.NOT_SENT)},
        Reason.API_UNAVAILABLE,
        says="RebootHost failed",
        wakes=3,
        status={"operation": HostOutcome.ANNOUNCED, "last_handled_reboot_at": None},
    ),
    "the cloud could not be reached a while ago": Row(
        "it is sent again",
        ANNOUNCED | OWN | {"history": called(kind=ErrorKind.NOT_SENT, ago=9)},
        Reason.API_UNAVAILABLE,
        **SENT,
    ),
    "too many requests": Row(
        "wait a little longer",
        ANNOUNCED | OWN | {"history": called(kind=ErrorKind.THROTTLED)},
        Reason.RATE_LIMITED,
        says="fewer",
        wakes=7,
    ),
}
