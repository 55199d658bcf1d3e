"""The chain of a GpuCloudAccount: the first step with a plan wins. No step changes the cloud."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gpucloud.kinds.gpucloudaccount import KIND
from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.reconcile import pause
from gpucloud.reconcile.conditions import Verdict, build, find, stalled
from gpucloud.reconcile.facts import Verb
from gpucloud.reconcile.gpucloudaccount import delete, secret_finalizer
from gpucloud.reconcile.gpucloudaccount.facts import Contact
from gpucloud.reconcile.gpucloudaccount.report import report
from gpucloud.reconcile.gpucloudaccount.secret import read_again_at, usable
from gpucloud.reconcile.gpucloudaccount.verdict import verdict
from gpucloud.reconcile.plan import Plan, first_plan, observing

if TYPE_CHECKING:
    from gpucloud.kinds.gpucloudaccount import GpuCloudAccountStatus
    from gpucloud.reconcile.gpucloudaccount.facts import AccountStateFacts
    from gpucloud.reconcile.gpucloudaccount.secret_finalizer import SecretCall

UNTRIED_SECONDS = 60.0  # after a start, the last conditions stay this long without an answer of the cloud


def decide(f: AccountStateFacts) -> Plan[GpuCloudAccountStatus]:
    """Return the plan for this account. Total: returns a plan for all facts, and never raises."""
    return first_plan(f, without_finalizer, paused, deleting, restarted) or alive(f)


def without_finalizer(f: AccountStateFacts) -> Plan[GpuCloudAccountStatus] | None:
    """Do nothing before our finalizer is visible, nor after it is removed."""
    if f.meta.has_finalizer or (f.limits.observe_only and not f.meta.deleting):
        return None
    return Plan(pending=not f.meta.deleting)


def paused(f: AccountStateFacts) -> Plan[GpuCloudAccountStatus] | None:
    """Pause: change nothing. The last conditions stay if they are of this generation."""
    if not pause.is_paused(f.meta.annotations):
        return None
    how = pause.message(f.meta.annotations, KIND, f.meta.namespace, f.meta.name)
    if f.meta.deleting:
        return report(f, stalled(Reason.DELETION_BLOCKED, f"Deletion is held. {how}"), f.status.held_secrets, paused=how)
    unseen = Verdict("Unknown", Reason.PAUSED, how)
    conditions = build(unseen, f.status.conditions, f.meta.generation, f.now.wall, paused=how)
    ready = find(f.status.conditions, ConditionType.READY)
    if ready is not None and f.status.observed_generation == f.meta.generation:
        conditions = (ready, conditions[-1])
    status = f.status.model_copy(update={"conditions": conditions, "observed_generation": f.meta.generation})
    return Plan(status=status, requeue_at=read_again_at(f))  # a paused account still reads a rotated key


def deleting(f: AccountStateFacts) -> Plan[GpuCloudAccountStatus] | None:
    """Return the deletion's next step: after the last user, and after our finalizer is removed from the Secret."""
    return delete.decide(f) if f.meta.deleting else None


def restarted(f: AccountStateFacts) -> Plan[GpuCloudAccountStatus] | None:
    """After a start, keep the conditions of this version of the Secret until the cloud answers."""
    ready, until = find(f.status.conditions, ConditionType.READY), f.history.first_seen + UNTRIED_SECONDS
    connected = ready is not None and ready.status == "True" and f.status.observed_generation == f.meta.generation
    proven = usable(f.secret) and f.secret.version == f.status.proven_secret
    same = proven and f.endpoint is not None and f.endpoint == f.status.endpoint
    if f.contact != Contact() or not (connected and same) or f.now.mono >= until:
        return None
    return Plan(requeue_at=min(until, read_again_at(f)), pending=True)


def _described(call: SecretCall) -> str:
    """Return what the call does, after "it would"."""
    return f"{'protect' if call.verb is Verb.HOLD_SECRET else 'free'} Secret {call.secret!r}"


def alive(f: AccountStateFacts) -> Plan[GpuCloudAccountStatus]:
    """Report the account, and keep our finalizer on its Secret."""
    said, step = verdict(f), secret_finalizer.step(f)
    if step.call is None:
        return report(f, said, step.recorded)
    if f.limits.observe_only:
        words = f"{said.message} {observing(_described(step.call))}"
        return replace(report(f, replace(said, message=words), secret_finalizer.recorded_secrets(f)), withheld=step.call.verb)
    return secret_finalizer.plan_action(f, report(f, said, step.recorded), step.call)
