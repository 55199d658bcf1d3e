"""Buying exactly one VM: look, record the intent, buy, and look again before ever asking twice.

The rules (docs/adr/0002): nothing is sent without an intent that this process has just recorded in status, after a listing
showed the name free. After an answer that may hide a success, and after a crash, a listing must show the name free for the
length of the grace before the same name is asked for again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gpucloud.kinds.gpuvm import Intent
from gpucloud.kinds.meta import Annotation, ConditionType, Reason
from gpucloud.reconcile.conditions import find, stalled, working
from gpucloud.reconcile.facts import Absent, KeyTrouble, Verb
from gpucloud.reconcile.gpuvm import failed
from gpucloud.reconcile.gpuvm.act import propose
from gpucloud.reconcile.gpuvm.report import report
from gpucloud.reconcile.plan import Plan

if TYPE_CHECKING:
    from gpucloud.kinds.gpuvm import GpuVMStatus
    from gpucloud.reconcile.gpuvm.facts import VmFacts

CREATING = working(Reason.CREATING, "The VM is being created.")
ACCEPTED_GRACES = 10  # an accepted VM may take this many graces to show in a listing before it is asked for again
KEY_RETRY_SECONDS = (1.0, 5.0)  # first and longest wait between looks at a missing Secret


def decide(f: VmFacts) -> Plan[GpuVMStatus]:
    """The VM is not there and never was: the steps towards buying it."""
    for step in (rejected, taken, unproven, duplicate, terminating, keyless, held):
        plan = step(f)
        if plan is not None:
            return plan
    return buy(f)


def believable_from(f: VmFacts) -> float:
    """A listing that lacks the VM is believed when it began at or after this mono time."""
    grace, times = f.limits.grace, [f.memory.first_seen]
    if f.by_stranger:  # whoever wrote that intent may have acted on it until just now
        times.append((f.now.mono if f.memory.stranger_seen is None else f.memory.stranger_seen) + grace)
    attempt = f.attempt(Verb.CREATE)
    if attempt is not None:
        accepted, unclear = attempt.refusal is None, attempt.refusal is not None and attempt.refusal.ambiguous
        times.append(attempt.at + (ACCEPTED_GRACES * grace if accepted else grace if unclear else 0.0))
    return max(times)


def absent(f: VmFacts) -> bool:
    """Whether it is proven that no VM stands under this identity, and none is on its way.

    One listing will do for a name that only we can have given and never have. Where an order may have been carried out, or
    where the name may be anybody's, two in a row must agree, since one may be partial.
    """
    if not isinstance(f.vm, Absent):
        return False
    needed = believable_from(f)
    if f.memory.unclear or f.by_stranger or f.spec.vm_name is not None:
        return f.vm.confirmed is not None and f.vm.confirmed >= needed
    return f.vm.as_of >= needed


def rejected(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """The cloud refused this very generation before we were started: one attempt is enough, and the status tells why."""
    ready = find(f.status.conditions, ConditionType.READY)
    unchanged = f.status.observed_generation == f.meta.generation
    asked_again = f.asked.reconcile_request not in (None, f.status.last_handled_reconcile_at)
    if f.attempt(Verb.CREATE) is None and f.memory.intent_recorded is None and unchanged and not asked_again:
        return Plan() if ready is not None and ready.reason == Reason.REJECTED else None
    return None


def unproven(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """The last listing is too old to show that the name is free, or stands alone where two must agree."""
    fresh = isinstance(f.vm, Absent) and f.vm.as_of >= f.fresh_from
    if fresh and absent(f):
        return None
    needed = max(believable_from(f), f.fresh_from)
    if isinstance(f.vm, Absent) and f.vm.as_of >= needed:
        needed = f.now.mono  # the second of two
    attempt = f.attempt(Verb.CREATE)
    if not f.intended:
        return Plan(look_after=needed, pending=True)
    if attempt is not None and attempt.refusal is not None:
        return report(f, failed.verdict(attempt), look_after=needed)
    return report(f, CREATING, look_after=needed)


def taken(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """The cloud says that the chosen name is another's. The intent goes, so that it can never pass for a proof."""
    attempt = f.attempt(Verb.CREATE)
    if not f.taken or attempt is None or attempt.asked != f.asked:
        return None
    verdict = stalled(
        Reason.CONFLICT,
        f"The cloud says that the name {f.identity.name!r} is taken in VPC {f.identity.vpc!r} of {f.identity.cluster!r}. "
        "Delete this object (that destroys nothing) and create it again with another spec.vmName.",
    )
    return report(f, verdict, intent=None)


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


def terminating(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Nothing is created in a namespace that is going away."""
    if not f.namespace_terminating:
        return None
    return report(
        f,
        working(
            Reason.NAMESPACE_TERMINATING,
            f"The namespace {f.meta.namespace!r} is being deleted: nothing is created in it.",
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


def held(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """The last attempt failed, and it is too early for the next."""
    attempt = f.attempt(Verb.CREATE)
    if attempt is None or not failed.holds(f, attempt):
        return None
    return report(f, failed.verdict(attempt), wake_at=failed.again_at(f, attempt))


def buy(f: VmFacts) -> Plan[GpuVMStatus]:
    """Record the intent; with a recorded one that is ours, unused and young, send the order."""
    attempt = f.attempt(Verb.CREATE)
    announcement = failed.verdict(attempt) if attempt is not None and attempt.refusal is not None else CREATING
    if _may_send(f):
        return propose(f, Verb.CREATE, announcement)
    plan = propose(f, Verb.CREATE, announcement, **_record(f))
    return plan if plan.action is None else replace(plan, action=None, record_intent=True)


def _may_send(f: VmFacts) -> bool:
    """Whether the standing intent was recorded by this process, is unused, and is younger than half the grace.

    Its youth matters where another process may have taken over: that one waits a whole grace before it sends.
    """
    recorded, attempt = f.memory.intent_recorded, f.attempt(Verb.CREATE)
    latest = f.status.intent is not None and f.status.intent.id == f.memory.intent_id
    if not f.intended or not latest or recorded is None or (attempt is not None and attempt.at >= recorded):
        return False
    return f.now.mono - recorded <= max(f.limits.grace / 2, 5.0)


def _record(f: VmFacts) -> dict[str, object]:
    here = f.identity
    intent = Intent(id=f.nonce, name=here.name, cluster=here.cluster, vpc=here.vpc, recorded_at=f.now.wall)
    # A restart that was asked for before there was anything to restart is answered by the creation itself.
    restart = f.meta.annotations.get(Annotation.RESTART_REQUESTED_AT)
    return {"intent": intent, "last_handled_restart_at": restart or f.status.last_handled_restart_at}
