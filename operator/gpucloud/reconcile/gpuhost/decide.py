"""The chain of a GpuHost: the first step with a plan wins. Nothing is ever destroyed, and nothing holds a deletion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.kinds.gpuhost import KIND
from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.reconcile import credential, pause
from gpucloud.reconcile.conditions import Verdict, build, find, stalled, working
from gpucloud.reconcile.facts import Absent, Present
from gpucloud.reconcile.gpuhost import unseen
from gpucloud.reconcile.gpuhost.carry_out import alive
from gpucloud.reconcile.gpuhost.operation import followed
from gpucloud.reconcile.gpuhost.report import answer, report
from gpucloud.reconcile.plan import Plan, first_plan

if TYPE_CHECKING:
    from gpucloud.kinds.gpuhost import GpuHostStatus
    from gpucloud.reconcile.gpuhost.facts import HostFacts

UNSURE_INTERVALS = 3  # of the fast poll, in which a second listing should have come


def decide(f: HostFacts) -> Plan[GpuHostStatus]:
    """Return the plan for this GpuHost. Total: returns a plan for all facts, and never raises."""
    plan = first_plan(f, deleting, paused, isolated, claimed, unseen.unobserved, duplicate_records, absent)
    if plan is not None:
        return plan
    return alive(f, f.found) if isinstance(f.found, Present) else Plan(pending=True)


def deleting(f: HostFacts) -> Plan[GpuHostStatus] | None:
    """Do nothing: the object has no finalizer of ours, and its host stays as it is."""
    return Plan() if f.meta.deleting else None


def paused(f: HostFacts) -> Plan[GpuHostStatus] | None:
    """Send nothing. The last verdict stays if it is of this generation; what became of a sent call is recorded."""
    if not pause.is_paused(f.meta.annotations):
        return None
    how = pause.message(f.meta.annotations, KIND, f.meta.namespace, f.meta.name)
    unknown = Verdict("Unknown", Reason.PAUSED, how)
    conditions = build(unknown, f.status.conditions, f.meta.generation, f.now.wall, paused=how)
    ready = find(f.status.conditions, ConditionType.READY)
    if ready is not None and f.status.observed_generation == f.meta.generation:
        conditions = (ready, conditions[-1])
    operation = followed(f, f.found) if isinstance(f.found, Present) else f.status.operation
    fields: dict[str, Any] = {"conditions": conditions, "observed_generation": f.meta.generation, "operation": operation}
    return Plan(status=f.status.model_copy(update={**fields, **answer(operation)}))


def isolated(f: HostFacts) -> Plan[GpuHostStatus] | None:
    """Refuse a host of the operator's own account while its namespaces are isolated: an id does not prove whose the host is."""
    if not f.isolated:
        return None
    if not f.synced:
        return Plan(pending=True)  # the account of the namespace may not be known yet
    words = "The operator's own account may be shared, so nothing proves whose the host is"
    anew = f"Delete this object (the host stays) and create it again {credential.OWN_ACCOUNT_WAY_OUT}"
    return report(f, stalled(Reason.INVALID_REFERENCE, f"{words}. {anew}."))


def claimed(f: HostFacts) -> Plan[GpuHostStatus] | None:
    """Report Conflict on an object whose host another object owns."""
    if f.owner is None:
        return None
    words = f"Host {f.spec.host_id!r} of cluster {f.spec.cluster!r} is already used by {f.owner.named_in(f.meta.namespace)}"
    return report(f, stalled(Reason.CONFLICT, f"{words}. Delete this object (the host stays)."))


def duplicate_records(f: HostFacts) -> Plan[GpuHostStatus] | None:
    """Report Ambiguous if several records have the id: a call could hit the wrong host."""
    if not (isinstance(f.found, Present) and f.found.duplicate_records):
        return None
    words = (
        f"The cloud lists more than one host {f.spec.host_id!r} in cluster {f.spec.cluster!r}; they cannot be told apart, so "
        "nothing is done to them. Ask the cloud's support."
    )
    return report(f, stalled(Reason.AMBIGUOUS, words))


def absent(f: HostFacts) -> Plan[GpuHostStatus] | None:
    """Report a host that the cloud does not list: unknown to it, or not allocated any more."""
    if not isinstance(f.found, Absent):
        return None
    where = f"host {f.spec.host_id!r} in cluster {f.spec.cluster!r}"
    if not f.seen:
        words = (
            f"The cloud lists no {where}. If the id or the cluster is wrong, delete this object and create it again; else have "
            "the host allocated: the operator keeps looking."
        )
        return report(f, stalled(Reason.NOT_FOUND, words))
    unsure_until = f.found.as_of + UNSURE_INTERVALS * f.limits.pending_interval
    if f.found.confirmed is None and f.now.mono < unsure_until:  # one listing may be partial
        return Plan(refresh_after=f.now.mono, requeue_at=unsure_until, pending=True)
    if f.found.confirmed is None:
        words = f"The cloud's latest listing lacks {where}; the operator checks again."
        return report(f, working(Reason.HOST_LOST, words, ready="Unknown"), refresh_after=f.now.mono)
    words = (
        f"The cloud no longer lists {where}: the host is not allocated to the tenant any more. Have it allocated again, or "
        "delete this object (the host stays)."
    )
    return report(f, stalled(Reason.HOST_LOST, words))
