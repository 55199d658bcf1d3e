"""What the rows of a GpuHost with requests have in common."""

from __future__ import annotations

from gpucloud.kinds.gpuhost import HostOutcome, HostVerb
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import Verb
from support.hostfacts import RECENTLY, an_announcement, operating, requested
from support.rows import Row

REBOOT, REPROVISION = HostVerb.REBOOT, HostVerb.REPROVISION
BOOTS, WIPES = {"meta": requested(reboot=RECENTLY)}, {"meta": requested(reprovision=RECENTLY)}
OWN, OWN_WIPE = {"announced": an_announcement()}, {"announced": an_announcement(REPROVISION)}
ANNOUNCED, ANNOUNCED_WIPE = {"status": operating()} | BOOTS, {"status": operating(REPROVISION)} | WIPES


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
    return Row(why, given, Reason.REPROVISIONING, status={"operation": outcome} | more.pop("status", {}), **more)


SENT = {"action": Verb.REBOOT_HOST, "targets": (RECENTLY,)}
SENT_WIPE = {"action": Verb.REPROVISION_HOST, "targets": (RECENTLY,)}
