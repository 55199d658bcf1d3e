"""What must hold before a VM is bought, beyond what holds for everything that is created."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.reconcile.conditions import stalled, working
from gpucloud.reconcile.core.create import held, order, outstanding, rejected, taken, terminating, unproven
from gpucloud.reconcile.core.report import report
from gpucloud.reconcile.core.steps import dependent
from gpucloud.reconcile.facts import KeyTrouble

if TYPE_CHECKING:
    from gpucloud.kinds.gpuvm import GpuVMStatus
    from gpucloud.reconcile.gpuvm.facts import VmFacts
    from gpucloud.reconcile.plan import Plan

KEY_RETRY_SECONDS = (1.0, 5.0)  # first and longest wait between looks at a missing Secret


def decide(f: VmFacts) -> Plan[GpuVMStatus]:
    """The VM is not there and never was: the steps towards buying it."""
    for step in (rejected, taken, outstanding, dependent, unproven, duplicate, terminating, keyless, held):
        plan = step(f)
        if plan is not None:
            return plan
    return buy(f)


def duplicate(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """A VM that was bought for an object of this name, and that nobody claims, may be what the owner is looking for."""
    if f.intended or not f.lookalikes or f.annotated(Annotation.BUY_ANYWAY):
        return None
    names = ", ".join(f.lookalikes[:3])
    return report(
        f,
        stalled(
            Reason.POSSIBLE_DUPLICATE,
            f"A VM made for an object of this name exists and nobody claims it: {names}. Nothing is bought. Destroy it, or "
            f'set the annotation {Annotation.BUY_ANYWAY}: "true" to buy another.',
        ),
    )


def keyless(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """The keys to install are not known yet, or are no public keys."""
    if f.keys.trouble is KeyTrouble.MISSING:
        waited = max(0.0, f.now.mono - f.memory.first_seen)
        shortest, longest = KEY_RETRY_SECONDS
        wake_at = f.now.mono + min(max(shortest, waited / 4), longest)
        return report(
            f,
            working(Reason.SSH_KEYS_NOT_FOUND, f"{f.keys.detail} The VM is created as soon as it is there."),
            wake_at=wake_at,
        )
    if f.keys.trouble is KeyTrouble.INVALID:
        return report(f, stalled(Reason.INVALID_SSH_KEYS, f.keys.detail), wake_at=f.now.mono + KEY_RETRY_SECONDS[1])
    return None


def buy(f: VmFacts) -> Plan[GpuVMStatus]:
    """Record the intent, then order. A restart asked for before there was anything to restart is answered by the creation."""
    restart = f.meta.annotations.get(Annotation.RESTART_REQUESTED_AT)
    return order(
        f,
        last_handled_restart_at=restart or f.status.last_handled_restart_at,
        price_per_hour=f.status.price_per_hour or f.price_per_hour,
    )
