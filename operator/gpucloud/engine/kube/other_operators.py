"""Other operators of the Kubernetes cluster, by their Leases."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from gpucloud.engine.kube.client import items_of
from gpucloud.kinds.meta import PART_OF

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpucloud.engine.kube.client import KubeClient

GROUP = "coordination.k8s.io"
SKEW = timedelta(minutes=1)  # between the clocks of two machines, beyond which a Lease counts as left behind


@dataclass(frozen=True, slots=True)
class HeldLease:
    """The Lease of an operator that was lately renewed."""

    namespace: str
    name: str
    holder: str


async def held_leases(kube: KubeClient, now: datetime) -> tuple[HeldLease, ...]:
    """Return the Leases that operators of ours hold in any namespace; none if this user may not list them.

    Whether it may is asked first, so that no refusal stands in the apiserver's log.

    Raises:
        KubeError: the apiserver did not answer.
    """
    right = {"resourceAttributes": {"verb": "list", "group": GROUP, "resource": "leases"}}
    review = await kube.review("authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview", right)
    if not review.get("allowed"):
        return ()
    listed = await kube.call("GET", f"/apis/{GROUP}/v1/leases?labelSelector={quote('='.join(PART_OF), safe='')}")
    found = [(item["metadata"], item.get("spec") or {}) for item in items_of(listed)]
    return tuple(
        HeldLease(meta["namespace"], meta["name"], str(spec["holderIdentity"]))
        for meta, spec in found
        if spec.get("holderIdentity") and _renewed(spec) > now - SKEW
    )


def _renewed(spec: Mapping[str, Any]) -> datetime:
    """When the Lease was last renewed; long ago if it does not say."""
    try:
        return datetime.fromisoformat(str(spec.get("renewTime"))).astimezone(UTC)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
