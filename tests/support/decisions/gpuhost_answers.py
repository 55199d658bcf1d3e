"""Rows of a GpuHost whose request was announced: what became of it. It is sent at most once."""

from __future__ import annotations

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.gpuhost import HostOutcome, HostVerb
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import CallHistory, Verb
from gpucloud.reconcile.gpuhost.requests import again
from support.builders import NOW
from support.hostfacts import (
    LONG_AGO,
    RECENTLY,
    SINCE,
    a_host,
    an_announcement,
    called,
    host_facts,
    off,
    operating,
    requested,
    wiped,
)
from support.hostrows import (
    ANNOUNCED,
    ANNOUNCED_WIPE,
    BOOTS,
    OWN,
    OWN_WIPE,
    REPROVISION,
    SENT,
    SENT_WIPE,
    WIPES,
    rebooting,
    refused,
    reprovisioning,
    unclear,
)
from support.rows import LAB, LAB_LOGIN, LONG_KNOWN, NEW_KEY, NEW_LOGIN, YOUNG, Row

RESTARTED = (  # as reconcile/gpuhost/operation.py has it
    "The operator was restarted before it recorded an answer: RebootHost may have been carried out, and is not sent again. "
    f"{again(host_facts(), HostVerb.REBOOT, unsure=True)}"
)


ROWS = {
    # --- answers
    "accepted": rebooting(
        "the request is answered",
        ANNOUNCED | OWN | {"history": called(), "found": a_host(as_of=NOW - 2)},
        outcome=HostOutcome.ACCEPTED,
        status={"last_handled_reboot_at": RECENTLY},
        looks=False,
    ),
    "accepted, and the other call is requested meanwhile": reprovisioning(
        "the answer to the first must not be lost: it would be sent a second time",
        ANNOUNCED | OWN | {"history": called(), "meta": requested(reboot=RECENTLY, reprovision=SINCE)},
        outcome=HostOutcome.ANNOUNCED,
        records=True,
        status={"last_handled_reboot_at": RECENTLY, "last_announced_reprovision_at": SINCE},
        action=Verb.REPROVISION_HOST,
        targets=(SINCE,),
    ),
    "accepted, and a request that is refused stands there meanwhile": refused(
        "both are answered",
        ANNOUNCED | OWN | {"history": called(), "meta": requested(reboot=RECENTLY, reprovision="now")},
        "not a time such as",
        last_handled_reboot_at=RECENTLY,
        last_handled_reprovision_at="now",
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
    "the operator's own credential, which the cloud refuses": refused(
        "not carried out for certain, and not sent again",
        ANNOUNCED | OWN | {"history": called(kind=ErrorKind.UNAUTHORIZED)},
        ("Ask the administrator to replace the operator's own credential; ", "reboot-requested-at-"),
    ),
    "an account's key that the cloud refuses: each command can be pasted": refused(
        "which Secret is to be updated is known",
        ANNOUNCED | OWN | {"history": called(kind=ErrorKind.UNAUTHORIZED), "account": LAB},
        ("Update Secret 'lab-key' in place (do not delete it); ", f"{NEW_KEY}; Ask again: kubectl annotate"),
    ),
    "a host that the cloud does not find does not ask for another object": refused(
        "a listing shows the host",
        ANNOUNCED | OWN | {"history": called(kind=ErrorKind.NOT_FOUND)},
        "Check in the cloud that what the call names is there. Ask again: kubectl annotate",
    ),
    "an account's login that the cloud refuses": refused(
        "the command asks for what the Secret holds",
        ANNOUNCED | OWN | {"history": called(kind=ErrorKind.LOGIN), "account": LAB_LOGIN},
        ("Update Secret 'lab-key' in place (do not delete it); ", f"{NEW_LOGIN}; Ask again: kubectl annotate"),
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
        ("out of service", "not sent again"),
        settled=False,
    ),
    "a failure of the cloud": unclear(
        "500 may come after the wipe has begun",
        ANNOUNCED_WIPE | OWN_WIPE | {"history": called(REPROVISION, kind=ErrorKind.SERVER, ambiguous=True)},
        ('The cloud failed ("the cloud\'s own words")', "not sent again"),
        settled=False,
    ),
    "a lost answer, and the host does not show it": unclear(
        "a person decides: a second wipe would lose work",
        ANNOUNCED_WIPE | OWN_WIPE | {"history": called(REPROVISION, ago=31, kind=ErrorKind.OUTCOME_UNKNOWN, ambiguous=True)},
        ("The cloud gave no clear answer", "reprovision-requested-at"),
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
    "what another process announced for the same request": unclear(
        "the write of this process was refused, since that one's came first, and it may have sent its call",
        ANNOUNCED_WIPE | {"announced": an_announcement(REPROVISION, ago=4), "history": YOUNG},
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
        {
            "status": operating(
                outcome=HostOutcome.UNCLEAR,
                message=RESTARTED,
            ),
            "history": CallHistory(first_seen=NOW - 1),
        }
        | BOOTS,
        "may have been carried out",
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
