"""Refused adoption of a VPC: the administrator isolates the namespaces that share the operator's own account.

The spec then counts as ``adoption: Never``, during deletion too, so the operator never changes a VPC that existed before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gpucloud.kinds.common import Adoption
from gpucloud.reconcile.core.steps import dependency_not_ready
from gpucloud.reconcile.facts import Present, Readiness
from gpucloud.reconcile.pause import is_paused

if TYPE_CHECKING:
    from gpucloud.kinds.gpuvpc import GpuVpcStatus
    from gpucloud.reconcile.facts import Dependency
    from gpucloud.reconcile.gpuvpc import VpcFacts
    from gpucloud.reconcile.plan import Plan


def without(f: VpcFacts, refused: Dependency) -> VpcFacts:
    """Return the facts without adoption; ``refused`` is added to the needs if the spec requires or finds an existing VPC."""
    kept = replace(f, spec=f.spec.model_copy(update={"adoption": Adoption.NEVER}))
    needed = f.spec.adoption is Adoption.REQUIRED or (isinstance(f.found, Present) and not kept.ours)
    return replace(kept, needs=(*f.needs, refused)) if needed else kept


def refused(f: VpcFacts) -> Plan[GpuVpcStatus] | None:
    """Return a plan that reports an existing VPC that must not be adopted, before any name conflict is reported."""
    acting = f.meta.has_finalizer and not f.meta.deleting and not is_paused(f.meta.annotations)
    theirs = isinstance(f.found, Present) and not f.ours and f.owner is None
    blocked = any(need.readiness is Readiness.UNUSABLE for need in f.needs)
    return dependency_not_ready(f) if acting and theirs and blocked else None
