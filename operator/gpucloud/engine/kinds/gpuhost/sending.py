"""The calls of a GpuHost, their Events, and what must be true in the instant of sending."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.cloud import calls
from gpucloud.engine.cloud.port import Precondition
from gpucloud.engine.kinds.request import Request
from gpucloud.kinds.gpuhost import HostOutcome, Reprovision
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile import pause
from gpucloud.reconcile.facts import Verb
from gpucloud.reconcile.gpuhost.facts import CALLS, announcement
from gpucloud.reconcile.gpuhost.requests import ANNOTATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpucloud.engine.cache.store import CachedObject, Store
    from gpucloud.engine.kinds.ownership import Ownership
    from gpucloud.kinds.gpuhost import GpuHostSpec, GpuHostStatus
    from gpucloud.reconcile.gpuhost import HostFacts
    from gpucloud.reconcile.plan import Plan

    GpuHost = CachedObject[GpuHostSpec, GpuHostStatus]

# By verb: reason and note after a success, reason after a failure.
EVENTS = {
    Verb.REBOOT_HOST: (Reason.REBOOT_REQUESTED, "Requested a reboot of host {name}.", Reason.REBOOT_FAILED),
    Verb.REPROVISION_HOST: (
        Reason.REPROVISION_REQUESTED,
        "Requested a reprovisioning of host {name}, which wipes it.",
        Reason.REPROVISION_FAILED,
    ),
}


def request_of(facts: HostFacts, verb: Verb) -> Request:
    """Return the call of a verb.

    Raises:
        CloudError: it breaks a rule of the cloud's API, so it cannot be sent.
    """
    spec = facts.spec
    if verb is Verb.REBOOT_HOST:
        return Request(calls.reboot_host(id=spec.host_id, cluster=spec.cluster), spec.host_id)
    what = spec.reprovision or Reprovision()
    call = calls.reprovision_host(
        id=spec.host_id,
        cluster=spec.cluster,
        image_url=what.image_url,
        image_checksum=what.image_checksum_url,
        cloud_init_base64=None if facts.cloud_init is None else facts.cloud_init.encoded,
    )
    return Request(call, spec.host_id)


def preconditions(
    store: Store[GpuHostSpec, GpuHostStatus], ownership: Ownership, stored: GpuHost, plan: Plan[GpuHostStatus]
) -> Iterator[Precondition]:
    """Yield what must be true of the object in the instant of sending: a person may have taken the request back."""
    uid, decided = stored.meta.uid, stored.status.operation

    def is_announced() -> bool:
        latest = store.get(uid)
        operation = None if latest is None else latest.status.operation
        if operation is None or decided is None or operation.outcome is not HostOutcome.ANNOUNCED:
            return False
        sent = (CALLS[operation.verb], (operation.id,)) == (plan.action, plan.targets)
        return sent and announcement(operation) == announcement(decided)

    def is_requested() -> bool:
        latest = store.get(uid)
        if latest is None or decided is None:
            return False
        return (latest.meta.annotations.get(ANNOTATIONS[decided.verb]),) == plan.targets

    def is_paused() -> bool:
        latest = store.get(uid)
        return latest is None or pause.is_paused(latest.meta.annotations)

    yield Precondition("the object still says what was decided upon", lambda: store.is_current(stored))
    yield Precondition("its operation is announced in status", is_announced)
    yield Precondition("the annotation still requests it", is_requested)
    yield Precondition("the object is not paused", lambda: not is_paused())
    yield Precondition("no other object owns the host", lambda: ownership.owner(uid) is None)
