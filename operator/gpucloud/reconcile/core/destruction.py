"""What all steps of a deletion share: the verdicts, the destroying call, and the release of the finalizer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from gpucloud.kinds.common import CloudStatus
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.conditions import Progress, Verdict, stalled, working
from gpucloud.reconcile.core.act import plan_action
from gpucloud.reconcile.core.plan_status import plan_status, recorded
from gpucloud.reconcile.plan import RELEASE, Plan, Release

if TYPE_CHECKING:
    from gpucloud.reconcile.core.facts import CloudFacts

S = TypeVar("S", bound=CloudStatus)


def deleting(f: CloudFacts[Any, Any, Any]) -> Verdict:
    """Return the verdict while the resource is being destroyed."""
    return working(Reason.DELETING, f"The {f.subject.noun} is being destroyed.")


def retain(f: CloudFacts[Any, Any, Any]) -> str:
    """Return the way out that is always there: give the resource up and keep it."""
    kept = f"{f.subject.noun} (billed on)" if f.subject.billed else f.subject.noun
    return f"To let this object go and keep the {kept}, set spec.deletion.policy: Retain."


def refused(f: CloudFacts[Any, Any, Any], said: Verdict, way_out: str | None = None) -> Verdict:
    """Return the verdict of a refused destroying call, with the advice for a deletion; by default to retain the resource."""
    words = f"{said.message} {retain(f) if way_out is None else way_out}"
    make = stalled if said.progress is Progress.STALLED else working
    return make(Reason.DELETION_BLOCKED, words)


def send(f: CloudFacts[Any, S, Any], said: Verdict) -> Plan[S]:
    """Announce the destroying call, with the order in state Destroying, and send it."""
    order = orders.destroying(f.tracked, f.now.mono).order or recorded(f)
    return plan_action(f, f.subject.destroy, said, order=order)


def release_finalizer(f: CloudFacts[Any, S, Any], reason: Reason, note: str, warning: bool = False) -> Plan[S]:
    """Return a plan that removes our finalizer; not before the first sync (claims are incomplete), nor if only observing."""
    if not f.synced:
        return Plan(pending=True)
    if f.limits.observe_only:
        words = f"The operator runs with --observe-only: it would let this object go now, and does not. {note}"
        return replace(plan_status(f, working(Reason.OBSERVE_ONLY, words, ready="Unknown")), withheld=RELEASE)
    return Plan(release=Release(reason, note, warning))
