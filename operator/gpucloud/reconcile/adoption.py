"""Adoption: where it must not be, what is missing, and where what was adopted differs from the spec.

Under the operator's own account the administrator may isolate namespaces from each other. The spec then counts as ``adoption:
Never``, during deletion too, so the operator never changes what existed before. Why: docs/adr/0026.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from gpucloud.kinds.common import Adoption, CloudStatus, DeletionPolicy
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.conditions import stalled
from gpucloud.reconcile.core.plan_status import plan_status
from gpucloud.reconcile.core.steps import dependency_not_ready
from gpucloud.reconcile.facts import Absent, Present
from gpucloud.reconcile.pause import is_paused

if TYPE_CHECKING:
    from gpucloud.reconcile.core.facts import CloudFacts
    from gpucloud.reconcile.facts import Dependency
    from gpucloud.reconcile.plan import Plan

F = TypeVar("F", bound="CloudFacts[Any, Any, Any]")
S = TypeVar("S", bound=CloudStatus)


def without(f: F, why: Dependency) -> F:
    """Return the facts without adoption; ``why`` is added to the needs if the spec requires or finds what exists."""
    kept = replace(f, spec=f.spec.model_copy(update={"adoption": Adoption.NEVER}))
    needed = f.spec.adoption is Adoption.REQUIRED or (isinstance(f.found, Present) and not kept.ours)
    return replace(kept, needs=(*f.needs, why), adoption_refused=why) if needed else kept


def refused(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Return a plan that reports what exists and must not be adopted, before any name conflict is reported."""
    acting = f.meta.has_finalizer and not f.meta.deleting and not is_paused(f.meta.annotations)
    theirs = isinstance(f.found, Present) and not f.ours and f.owner is None
    if not (acting and theirs and f.adoption_refused is not None):
        return None
    return dependency_not_ready(replace(f, needs=(f.adoption_refused,)))


def missing_required(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Report NotFound if the spec requires an existing resource and there is none."""
    if f.adoption is not Adoption.REQUIRED or not isinstance(f.found, Absent):
        return None
    return plan_status(
        f,
        stalled(
            Reason.NOT_FOUND,
            f"There is no {f.subject.noun} named {f.identity.name!r} in {f.place}, and spec.adoption: Required never "
            f"creates one. Create it in the cloud, or {f.creation_advice(Adoption.IF_EXISTS)}.",
        ),
    )


def mismatch(f: CloudFacts[Any, S, Any], field: str, actual: str, wanted: str) -> Plan[S]:
    """Return a plan that reports what was adopted and is not as the spec says. The cloud cannot change it in place."""
    way_out = f"Delete this object (the {f.subject.noun} stays)"
    if f.policy is not DeletionPolicy.RETAIN:
        way_out = f"Set spec.deletion.policy: Retain (else deletion destroys the {f.subject.noun}), delete this object"
    words = (
        f"{field} is {wanted!r}, but the adopted {f.subject.noun} {f.identity.name!r} has {actual!r}. {way_out} and apply it "
        f"with {field}: {actual}."
    )
    return plan_status(f, stalled(Reason.MISMATCH, words))
