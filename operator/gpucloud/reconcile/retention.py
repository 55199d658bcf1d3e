"""Whether a resource outlasts its object: as the spec says, else what was adopted is retained and what was created is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.kinds.common import DeletionPolicy, Origin

if TYPE_CHECKING:
    from gpucloud.kinds.common import Order


def deletion_policy(declared: DeletionPolicy | None, *, adopted: bool) -> DeletionPolicy:
    """Return the policy that applies. ``declared`` is the spec's, None if it leaves the policy open."""
    if declared is not None:
        return declared
    return DeletionPolicy.RETAIN if adopted else DeletionPolicy.DELETE


def recorded_policy(declared: DeletionPolicy | None, order: Order | None) -> DeletionPolicy:
    """Return the policy that applies to the resource of a recorded order."""
    return deletion_policy(declared, adopted=order is not None and order.origin is Origin.ADOPTED)
