"""The chain: each step either answers with a plan or passes on. Its order is the order of what matters most.

Safety first (a person's pause, deletion, our finalizer), then sight (no verdict without an observation), then ownership
(nothing is done to what is not ours), then the work itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.kinds.meta import Annotation, ConditionType, Reason
from gpucloud.reconcile.conditions import build, find, stalled, working
from gpucloud.reconcile.facts import Absent, Blindness, Present, Unknown
from gpucloud.reconcile.gpuvm import create, delete, power
from gpucloud.reconcile.gpuvm.report import report
from gpucloud.reconcile.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.kinds.gpuvm import GpuVMStatus
    from gpucloud.reconcile.conditions import Verdict
    from gpucloud.reconcile.gpuvm.facts import VmFacts

    Step = Callable[[VmFacts], Plan[GpuVMStatus] | None]


def decide(f: VmFacts) -> Plan[GpuVMStatus]:
    """The next step for this GpuVM. Total: it answers for any facts, and never raises."""
    for step in STEPS:
        plan = step(f)
        if plan is not None:
            return plan
    return create.decide(f)


def unguarded(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Nothing is bought before our finalizer is visible, and nothing is ours to do once it is gone."""
    if f.meta.guarded or (f.limits.observe_only and not f.meta.deleting):
        return None
    return Plan(pending=not f.meta.deleting)


def paused(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """A person asked us to keep our hands off. The last verdict stands if it speaks of this generation."""
    if not f.annotated(Annotation.PAUSED):
        return None
    how = f"Paused by the annotation {Annotation.PAUSED}; remove it to continue."
    if f.meta.deleting:
        return report(f, stalled(Reason.DELETION_BLOCKED, f"Deletion is held. {how}"))
    ready = find(f.status.conditions, ConditionType.READY)
    if f.status.observed_generation != f.meta.generation or ready is None:
        verdict = working(Reason.PAUSED, how, ready="Unknown")
        conditions = build(verdict, f.status.conditions, f.meta.generation, f.now.wall, paused=how)
        keep = tuple(item for item in conditions if item.type in {ConditionType.READY, ConditionType.PAUSED})
    else:
        standing = find(f.status.conditions, ConditionType.PAUSED)
        fresh = build(working(Reason.PAUSED, how), f.status.conditions, f.meta.generation, f.now.wall, paused=how)
        keep = (ready, standing or fresh[-1])
    return Plan(status=f.status.model_copy(update={"conditions": keep, "observed_generation": f.meta.generation}))


def deleting(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Deletion is watched like life: pause, Retain and a late answer all still count."""
    return delete.decide(f) if f.meta.deleting else None


def claimed(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """One VM, one owner: the second claimant is told, and does nothing."""
    if f.owner is None:
        return None
    return report(
        f,
        stalled(
            Reason.CONFLICT,
            f"The VM {f.identity.name!r} belongs to the GpuVM {f.owner}. Delete this object (that destroys nothing) "
            "and create it again with another spec.vmName.",
        ),
    )


def blind(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """No verdict without sight. A short outage leaves the last verdict standing; a long one says so."""
    if not isinstance(f.vm, Unknown):
        return None
    if f.vm.cause is Blindness.NOT_LOOKED:
        return Plan(look_after=f.memory.first_seen, pending=not f.seen)
    patience = f.limits.blind_after if f.seen else 3 * f.limits.pending_interval
    if f.vm.cause in REFUSALS and not f.seen:
        patience = 0.0
    if f.now.mono < f.vm.since + patience:
        return Plan(wake_at=f.vm.since + patience, pending=not f.seen)
    return report(f, sightless(f.vm))


def sightless(seen: Unknown) -> Verdict:
    """What to say of an object that cannot be seen, by cause."""
    detail = f" ({seen.detail})" if seen.detail else ""
    match seen.cause:
        case Blindness.REFUSED:
            return stalled(
                Reason.CREDENTIALS_REFUSED,
                f"The cloud refuses the operator's credential{detail}. Give it a valid API key or login, and restart it.",
            )
        case Blindness.FORBIDDEN:
            return stalled(
                Reason.PERMISSION_DENIED,
                f"The operator's credential may not list VMs{detail}. Grant it that permission.",
            )
        case Blindness.IMPLAUSIBLE:
            return working(
                Reason.IMPLAUSIBLE_LISTING,
                f"The VM is missing, and so are many others at once{detail}: that is not believed, and nothing is destroyed "
                f'or re-created. If it is true, set the annotation {Annotation.ACCEPT_ABSENCE}: "true".',
                ready="Unknown",
            )
        case _:
            return working(
                Reason.API_UNAVAILABLE,
                f"The cloud cannot be asked about this VM{detail}. Its last known state is shown; the operator goes on asking.",
                ready="Unknown",
            )


def twins(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Two records under one name: touching either could destroy the wrong one."""
    if not (isinstance(f.vm, Present) and f.vm.twins):
        return None
    return report(
        f,
        stalled(
            Reason.AMBIGUOUS,
            f"The cloud lists more than one VM named {f.identity.name!r} in VPC {f.identity.vpc!r} of cluster "
            f"{f.identity.cluster!r}; they cannot be told apart, so nothing is done to any. Destroy the surplus by hand.",
        ),
    )


def foreign(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """The name is taken by a VM that we have no proof of having created."""
    if not isinstance(f.vm, Present) or f.ours:
        return None
    return report(
        f,
        stalled(
            Reason.CONFLICT,
            f"A VM named {f.identity.name!r} exists already in VPC {f.identity.vpc!r} of cluster {f.identity.cluster!r} and "
            "was not created for this object. Delete this object (that destroys nothing) and create it again with another "
            "spec.vmName.",
        ),
        intent=None,
    )


def alive(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """The VM is there and ours: compare its power with what is asked."""
    return power.decide(f, f.vm) if isinstance(f.vm, Present) else None


def lost(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """It was seen, and a later listing lacks it: destroyed from outside, or a listing that was not whole. Never re-bought."""
    if not isinstance(f.vm, Absent) or not f.seen:
        return None
    certain_at = f.vm.since + f.limits.grace
    if f.vm.as_of < certain_at:
        missing = working(
            Reason.VM_LOST,
            "The cloud's latest listing lacks this VM; looking again before believing it.",
            ready="Unknown",
        )
        return report(f, missing, look_after=certain_at)
    return report(
        f,
        stalled(
            Reason.VM_LOST,
            "The VM is gone from the cloud, and not by our hand. It is not bought again unasked: delete and re-create this "
            "object to get a new one.",
        ),
    )


REFUSALS = frozenset({Blindness.REFUSED, Blindness.FORBIDDEN})
STEPS: tuple[Step, ...] = (unguarded, paused, deleting, claimed, blind, twins, foreign, alive, lost)
