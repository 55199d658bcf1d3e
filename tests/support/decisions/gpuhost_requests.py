"""Rows of a GpuHost with requests that are not answered yet: each is announced before it is sent, or refused here."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from gpucloud.kinds.gpuhost import HostOutcome
from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.reconcile.facts import Absent, Limits, ResourceOwner, Unknown, UnknownReason
from gpucloud.reconcile.gpuhost import CloudInit
from support.builders import NOW
from support.hostfacts import (
    AHEAD,
    LONG_AGO,
    RECENTLY,
    SEEN,
    SINCE,
    WALL,
    a_host,
    a_host_spec,
    a_host_status,
    an_announcement,
    called,
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
)
from support.rows import Row

# As engine/kinds/gpuhost/cloud_init.py has them.
UNSENT = "The reprovisioning has not been requested."
INIT = "Secret 'init' of spec.reprovision.cloudInitSecretRef"
CREATE = "kubectl create secret generic init --namespace=team --from-file=user-data=FILE"
MISSING = CloudInit(trouble=Reason.SECRET_NOT_FOUND, words=f"{UNSENT} Waiting for the {INIT}. Create it: {CREATE}")
LARGE = CloudInit(
    trouble=Reason.INVALID_SECRET,
    words=f"{UNSENT} Key 'user-data' of the {INIT} holds 65537 bytes; at most 65536 are taken. Let cloud-init fetch "
    "large files.",
)

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
    "what is announced is noted beside the answers": rebooting(
        "no earlier request is carried out after it",
        BOOTS,
        outcome=HostOutcome.ANNOUNCED,
        records=True,
        status={"last_announced_reboot_at": RECENTLY},
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
        BOOTS | {"owner": ResourceOwner("GpuHost", "team", "first")},
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
        "before the operator saw",
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
        says=(SINCE, "answered already"),
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
        "it would be repeated by nobody's wish", {"meta": requested(reboot=AHEAD)}, "in the future"
    ),
    "a request without a time": refused(
        "nobody can tell how old it is", {"meta": requested(reboot="now")}, "not a time such as"
    ),
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
        | {"announced": an_announcement(REPROVISION, "2026-01-01T00:16:00Z")}
        | WIPES,
        outcome=HostOutcome.ANNOUNCED,
        records=True,
        **SENT_WIPE,
    ),
    "a request that became too old before it was sent": refused(
        "the cloud could not be reached for ten minutes",
        {
            "status": operating(REPROVISION, value=LONG_AGO),
            "announced": an_announcement(REPROVISION, LONG_AGO),
            "meta": requested(reprovision=LONG_AGO),
        },
        "within 10 minutes",
    ),
    "a request from before one that was announced": Row(
        "a value without a time came in between, which must not hide that the request was carried out",
        {
            "meta": requested(reboot=RECENTLY),
            "status": a_host_status(
                "Running", "True", None, **SEEN, last_handled_reboot_at="now", last_announced_reboot_at=RECENTLY
            ),
        },
        Reason.REJECTED,
        progress="Stalled",
        says="answered already",
        status={"operation": None, "last_handled_reboot_at": "now"},
    ),
    "a request that is older than its object": refused(
        "the object was restored from a backup, with its status",
        {"meta": replace(requested(reboot=RECENTLY), created_at=WALL - timedelta(seconds=10))},
        "older than this object",
        last_handled_reboot_at=RECENTLY,
    ),
    "a request of the second in which its object was created": rebooting(
        "that is no backup",
        {"meta": replace(requested(reboot=RECENTLY), created_at=WALL - timedelta(seconds=20))},
        outcome=HostOutcome.ANNOUNCED,
        records=True,
        **SENT,
    ),
    "a request that this process sent, and status has lost it": refused(
        "somebody restored an older status",
        BOOTS | {"history": called()},
        "Not sent again",
        last_handled_reboot_at=RECENTLY,
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
}
