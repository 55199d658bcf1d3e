"""The chain of a GpuVpc: the first step with a plan wins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.kinds.common import DeletionPolicy
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.adoption import missing_required
from gpucloud.reconcile.conditions import settled, stalled, working
from gpucloud.reconcile.core import create, delete, destruction, steps
from gpucloud.reconcile.core.plan_status import plan_status
from gpucloud.reconcile.facts import Present, Unknown, UnknownReason
from gpucloud.reconcile.gpuvpc.facts import Occupants
from gpucloud.reconcile.plan import first_plan
from gpucloud.reconcile.text import bracketed, followed, listed
from gpucloud.reconcile.unseen import RECHECK_SECONDS

if TYPE_CHECKING:
    from gpucloud.kinds.gpuvpc import GpuVpcStatus
    from gpucloud.reconcile.gpuvpc.facts import VpcFacts
    from gpucloud.reconcile.plan import Plan


def decide(f: VpcFacts) -> Plan[GpuVpcStatus]:
    """Return the plan for this GpuVpc. Total: returns a plan for all facts, and never raises."""
    return first_plan(
        f,
        steps.without_finalizer,
        steps.paused,
        steps.unconfirmed,
        deleting,
        steps.claimed,
        steps.unobserved,
        steps.duplicate_records,
        steps.unproven_origin,
        steps.not_owned,
        alive,
        steps.lost,
        create.rejected,
        create.name_conflict,
        create.outstanding,
        create.overdue,
        steps.dependency_not_ready,
        missing_required,
        create.unproven,
        create.terminating,
        create.backing_off,
    ) or create.order(f)


def deleting(f: VpcFacts) -> Plan[GpuVpcStatus] | None:
    """Return the deletion's next step. Pause, Retain and late answers count during deletion too."""
    return delete.decide(f, prepare=lambda: _emptied(f)) if f.meta.deleting else None


def alive(f: VpcFacts) -> Plan[GpuVpcStatus] | None:
    """Report an existing VPC. The cloud cannot change a VPC in place, so a person must settle a difference from the spec."""
    if not isinstance(f.found, Present):
        return None
    record, wanted = f.found.record, f.spec
    compared = (
        ("blockIntraVpcComms", wanted.block_intra_vpc_comms, record.block_intra_vpc_comms),
        ("isDefault", wanted.is_default, record.is_default),
    )
    for name, asked, is_so in compared:
        if asked is not None and is_so is not None and asked != is_so:
            return plan_status(f, stalled(Reason.MISMATCH, _differs(f, name, is_so=is_so)))
    if f.adopted:
        return plan_status(f, settled(Reason.ADOPTED, "The adopted VPC is available."))
    return plan_status(f, settled(Reason.AVAILABLE, "The VPC is available."))


def _differs(f: VpcFacts, field: str, *, is_so: bool) -> str:
    """Return the message for a VPC of which the spec asks what the cloud cannot change in place."""
    here, asked = str(is_so).lower(), str(not is_so).lower()
    words = f"VPC {f.identity.name!r} has {field} {here}, the spec asks for {asked}, and the cloud cannot change that."
    if f.policy is DeletionPolicy.RETAIN:
        kept = f"spec.{field}: {here} and spec.adoption: IfExists"
        return f"{words} Delete this object (the VPC stays) and create it again with {kept}."
    return f"{words} Delete this object, which destroys the VPC, and create it again when the VPC is gone."


def _emptied(f: VpcFacts) -> Plan[GpuVpcStatus] | None:
    """Wait until two fresh listings in a row show no VM and no snapshot in the VPC, whoever owns them."""
    inside = f.occupants
    if isinstance(inside, Unknown) and inside.cause is not UnknownReason.NOT_LISTED:
        words = f"Only an empty VPC is destroyed. Its content is not listed: {inside.cause}{bracketed(inside.detail)}."
        words = followed(f"{words} {delete.first_way_out(f, inside.cause)}".strip(), destruction.retain(f))
        return plan_status(f, stalled(Reason.DELETION_BLOCKED, words), requeue_at=f.now.mono + RECHECK_SECONDS)
    if not isinstance(inside, Occupants) or inside.as_of < f.fresh_from:
        return delete.meanwhile(f, destruction.deleting(f), refresh_after=f.now.mono)
    if inside.names:
        words = (
            f"Still in the VPC: {listed(inside.names)}. It is destroyed once it is empty. How to empty it: kubectl gpucloud "
            f"explain {Reason.DELETION_BLOCKED}"
        )
        words = followed(words, destruction.retain(f))
        return plan_status(f, working(Reason.DELETION_BLOCKED, words))  # a listing that shows less of them wakes this object
    if inside.confirmed is None or inside.confirmed < f.confirmed_from:
        return delete.meanwhile(f, destruction.deleting(f), refresh_after=f.now.mono)
    return None
