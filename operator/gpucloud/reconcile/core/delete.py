"""Letting go of a VM: destroyed and proven gone, or retained because the owner says so. Nothing else frees the finalizer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.kinds.gpuvm import DeletionPolicy
from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.reconcile.conditions import Progress, stalled, working
from gpucloud.reconcile.facts import Absent, Blindness, Present, Unknown, Verb
from gpucloud.reconcile.gpuvm import failed
from gpucloud.reconcile.gpuvm.act import propose
from gpucloud.reconcile.gpuvm.create import absent, believable_from
from gpucloud.reconcile.gpuvm.report import report
from gpucloud.reconcile.plan import Plan, Release

if TYPE_CHECKING:
    from gpucloud.cloud.models import VmRecord
    from gpucloud.kinds.gpuvm import GpuVMStatus
    from gpucloud.reconcile.conditions import Verdict
    from gpucloud.reconcile.gpuvm.facts import VmFacts

DELETING = working(Reason.DELETING, "The VM is being destroyed.")
RESEND_SECONDS = 300.0  # a destroy that was accepted and shows no effect is asked for again after this


def decide(f: VmFacts) -> Plan[GpuVMStatus]:
    """The next step of a deletion that was asked for."""
    if f.limits.observe_only:
        words = "The operator runs with --observe-only: it neither destroys the VM nor lets this object go."
        return report(f, stalled(Reason.DELETION_BLOCKED, words))
    if f.spec.deletion.policy is DeletionPolicy.RETAIN:
        return _let_go(f, Reason.RETAINED, f"The VM {f.identity.name!r} is retained, as spec.deletion.policy says.")
    if not f.ours:  # a second claimant, or a name that was taken before we came
        return _let_go(f, Reason.RETAINED, f"The VM {f.identity.name!r} was never this object's: nothing is destroyed.")
    if isinstance(f.vm, Unknown):
        return _sightless(f, f.vm)
    if isinstance(f.vm, Present):
        return _destroy(f, f.vm)
    return _prove_gone(f, f.vm)


def _sightless(f: VmFacts, seen: Unknown) -> Plan[GpuVMStatus]:
    """Gone cannot be proven while nothing can be seen."""
    if seen.cause is Blindness.NOT_LOOKED:
        return report(f, DELETING, look_after=f.memory.first_seen)
    way_out = "To let this object go and keep the VM, set spec.deletion.policy: Retain."
    if seen.cause is Blindness.IMPLAUSIBLE:
        way_out = f'If the VMs are truly gone, set the annotation {Annotation.ACCEPT_ABSENCE}: "true". {way_out}'
    detail = f" ({seen.detail})" if seen.detail else ""
    message = f"The VM cannot be seen: {seen.cause}{detail}. It is not forgotten before it is proven gone. {way_out}"
    if seen.cause is Blindness.UNREACHABLE:
        patience = seen.since + 3 * f.limits.pending_interval
        if f.now.mono < patience:
            return report(f, DELETING, wake_at=patience)
        return report(f, working(Reason.DELETION_BLOCKED, message))
    return report(f, stalled(Reason.DELETION_BLOCKED, message))


def _destroy(f: VmFacts, vm: Present[VmRecord]) -> Plan[GpuVMStatus]:
    """It is there and ours: destroy it, once, and then only look."""
    if vm.twins:
        return report(
            f,
            stalled(
                Reason.DELETION_BLOCKED,
                f"The cloud lists more than one VM named {f.identity.name!r}; they cannot be told apart, so none is destroyed. "
                "Destroy them by hand, or set spec.deletion.policy: Retain.",
            ),
        )
    attempt = f.attempt(Verb.DESTROY)
    if attempt is None:
        return propose(f, Verb.DESTROY, DELETING)
    if failed.holds(f, attempt):
        return report(f, _refused(failed.verdict(attempt)), wake_at=failed.again_at(f, attempt))
    patience = RESEND_SECONDS if attempt.refusal is None else f.limits.grace if attempt.refusal.ambiguous else 0.0
    if vm.as_of < attempt.at + patience:
        return report(f, DELETING, look_after=attempt.at + patience)
    return propose(f, Verb.DESTROY, DELETING if attempt.refusal is None else _refused(failed.verdict(attempt)))


def _refused(said: Verdict) -> Verdict:
    """The cloud's refusal of a destroy, in the words of a deletion."""
    words = f"{said.message} To let this object go and keep the VM, set spec.deletion.policy: Retain."
    make = stalled if said.progress is Progress.STALLED else working
    return make(Reason.DELETION_BLOCKED, words)


def _prove_gone(f: VmFacts, vm: Absent) -> Plan[GpuVMStatus]:
    """Absent from a listing: believed when two agree that are young enough for all that was sent.

    What was seen and that this process has not yet destroyed is destroyed all the same: the cloud's answer about a missing VM
    costs one call, and a listing alone may have left it out.
    """
    if not f.seen:
        return _never_seen(f)
    attempt = f.attempt(Verb.DESTROY)
    if attempt is None:
        return propose(f, Verb.DESTROY, DELETING)
    if vm.confirmed is None or vm.confirmed < attempt.at:
        return report(f, DELETING, look_after=max(attempt.at, f.now.mono))
    return _let_go(f, Reason.GONE, f"The VM {f.identity.name!r} is gone from the cloud.")


def _never_seen(f: VmFacts) -> Plan[GpuVMStatus]:
    if absent(f):
        return _let_go(f, Reason.GONE, "No VM was bought for this object.")
    return report(f, DELETING, look_after=max(believable_from(f), f.now.mono))


def _let_go(f: VmFacts, reason: Reason, note: str) -> Plan[GpuVMStatus]:
    """Free the object, once every claim is known: before that, nobody can say whose VM it is."""
    return Plan(release=Release(reason, note)) if f.synced else Plan(pending=True)
