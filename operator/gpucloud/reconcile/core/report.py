"""From a verdict to the whole status: every write carries everything, so no half-truth can stand."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from gpucloud.kinds.gpuvm import Intent
from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.reconcile.conditions import Progress, Verdict, build, stalled
from gpucloud.reconcile.facts import Present
from gpucloud.reconcile.plan import Plan

if TYPE_CHECKING:
    from datetime import datetime

    from gpucloud.cloud.models import VmRecord
    from gpucloud.kinds.gpuvm import GpuVMStatus
    from gpucloud.reconcile.gpuvm.facts import VmFacts
    from gpucloud.reconcile.naming import Identity

MAX_TEXT = 253
MAX_NUMBER = 2**31 - 1

# Waits that no deadline counts: somebody else must make room, or a person must act, before any progress can be expected.
UNCOUNTED = frozenset({Reason.WAITING_FOR_CAPACITY, Reason.SSH_KEYS_NOT_FOUND, Reason.NAMESPACE_TERMINATING})


def report(
    f: VmFacts, verdict: Verdict, *, look_after: float | None = None, wake_at: float | None = None, **changes: Any
) -> Plan[GpuVMStatus]:
    """A plan that only reports: the verdict, the record as last seen, and the ``changes`` to other fields of status.

    A verdict that has been in progress for longer than the owner allows turns Stalled here; the VM is still watched.
    """
    deadline = _deadline(f, verdict)
    if deadline is not None and f.now.wall >= deadline and verdict.progress is Progress.WORKING:
        verdict = stalled(
            Reason.PROGRESS_DEADLINE_EXCEEDED,
            f"Not done after {f.spec.progress_deadline_seconds} s (spec.progressDeadlineSeconds); it is still watched. "
            f"Last: {verdict.message}",
        )
    reconcile_request = f.meta.annotations.get(Annotation.RECONCILE_REQUESTED_AT)
    status = f.status.model_copy(
        update={
            **_seen(f),
            "price_per_hour": f.status.price_per_hour or f.price_per_hour,
            "last_handled_reconcile_at": reconcile_request or f.status.last_handled_reconcile_at,
            **changes,
            "observed_generation": f.meta.generation,
            "progress_deadline_at": deadline,
            "conditions": build(verdict, f.status.conditions, f.meta.generation, f.now.wall),
        }
    )
    return Plan(
        status=status,
        look_after=look_after,
        wake_at=_earliest(wake_at, _until(f, deadline)),
        pending=verdict.progress is Progress.WORKING,
    )


def _seen(f: VmFacts) -> dict[str, Any]:
    """What the cloud shows of our VM. Its fingerprint is proof enough to restore an intent that was lost with the status."""
    if not isinstance(f.vm, Present) or f.vm.twins or not f.ours:
        return {}
    here = f.identity
    lost = {} if f.intended else {"intent": Intent(name=here.name, cluster=here.cluster, vpc=here.vpc, recorded_at=f.now.wall)}
    return observed(f.vm.record, here) | lost


def observed(record: VmRecord, identity: Identity) -> dict[str, Any]:
    """The part of status that is copied from the cloud's record, in our field names, cut to what the schema holds."""
    texts = {
        "state": record.status,
        "vm_id": record.id or identity.name,
        "vpc": record.namespace or identity.vpc,
        "cluster": record.cluster or identity.cluster,
        "ip": record.ip,
        "private_ip": record.private_ip,
        "gpu_type": record.gpu_type,
        "root_disk_size": record.root_disk_size,
        "storage_type": record.storage_type,
        "image": record.image,
        "resource_pool": record.rpool,
        "node_name": record.node_selector,
        "username": record.username,
        "tenancy": record.tenancy_name,
    }
    numbers = {
        "gpus": record.gpus,
        "vcpus": record.vcpus,
        "memory_gb": record.memory,
        "storage_gb": record.storage,
    }
    return {
        **{name: text[:MAX_TEXT] if text else None for name, text in texts.items()},
        **{name: number if number is not None and 0 <= number <= MAX_NUMBER else None for name, number in numbers.items()},
        "direct_attached_storage_persisted": record.direct_attached_storage_persisted,
    }


def _deadline(f: VmFacts, verdict: Verdict) -> datetime | None:
    """When this work will be called Stalled: carried over while the same generation is being worked on."""
    if verdict.progress is Progress.SETTLED or verdict.reason in UNCOUNTED or f.meta.deleting:
        return None
    if f.status.progress_deadline_at is not None and f.status.observed_generation == f.meta.generation:
        return f.status.progress_deadline_at
    if verdict.progress is Progress.STALLED:
        return None
    return f.now.wall + timedelta(seconds=f.spec.progress_deadline_seconds)


def _until(f: VmFacts, deadline: datetime | None) -> float | None:
    if deadline is None or deadline <= f.now.wall:
        return None
    return f.now.mono + (deadline - f.now.wall).total_seconds()


def _earliest(*times: float | None) -> float | None:
    return min((time for time in times if time is not None), default=None)
