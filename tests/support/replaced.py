"""Whether facts allow that a VM is replaced, worked out once more from docs/adr/0029."""

from __future__ import annotations

from datetime import timedelta

from gpucloud.kinds.gpuvm import GpuVMSpec
from gpucloud.reconcile.facts import Present
from gpucloud.reconcile.gpuvm import template
from support.builders import NOW

FRESH_SECONDS = 10.0


def is_replaced(f):
    """Whether the status has the plan to replace a VM that was created for the object."""
    if not isinstance(f.spec, GpuVMSpec) or f.meta.deleting or f.tracked.order is None:
        return False
    return f.status.replacement is not None and f.tracked.order.origin == "Created"


def is_to_be_replaced(f):
    """Whether a fresh listing shows a VM of another spec, its replacement was planned long ago, and nothing keeps it."""
    if not is_replaced(f) or f.spec.replace_policy != "Recreate" or not isinstance(f.found, Present):
        return False
    differs = set(f.tracked.order.template or ()) != set(template.of(f.spec)) and f.tracked.order.template is not None
    old = f.now.wall - f.status.replacement.planned_at >= timedelta(seconds=f.limits.grace)
    return differs and old and f.found.as_of >= NOW - FRESH_SECONDS
