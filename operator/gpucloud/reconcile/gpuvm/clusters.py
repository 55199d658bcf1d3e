"""The clusters that a GpuVM accepts, and the one in which its VM is looked for. Only a made name proves a VM's owner anywhere.

The order record names it, from the moment that it is written until the order has certainly made nothing; otherwise
``status.placement`` does. Neither is believed where the spec does not name that cluster (docs/adr/0030).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.kinds.common import Adoption, OrderState
from gpucloud.reconcile import naming

if TYPE_CHECKING:
    from gpucloud.kinds.common import Order
    from gpucloud.kinds.gpuvm import GpuVMSpec
    from gpucloud.kinds.placement import PlacementStatus

LEFT_BEHIND = frozenset({OrderState.NOT_ORDERED, OrderState.REFUSED})  # states of an order that has certainly made nothing


def clusters(spec: GpuVMSpec) -> tuple[str, ...]:
    """Return the spec's cluster, then the others that its alternatives name, each once in its first spelling.

    An older definition lets a spec pass that has other clusters, and what is of one cluster: then that one alone counts.
    """
    found = [spec.cluster]
    named = () if spec.placement is None or not _may_be_anywhere(spec) else spec.placement.alternatives
    for one in named:
        if one.cluster is not None and not any(naming.same_cluster(one.cluster, known) for known in found):
            found.append(one.cluster)
    return tuple(found)


def _may_be_anywhere(spec: GpuVMSpec) -> bool:
    """Whether nothing in the spec is of one cluster, or names a VM that may be another's there."""
    image = spec.image
    from_snapshot = image is not None and (image.snapshot is not None or image.snapshot_ref is not None)
    bound = spec.vm_name is not None or spec.node_name is not None or from_snapshot
    return spec.vpc is not None and not bound and spec.adoption is Adoption.NEVER


def is_left_behind(order: Order | None) -> bool:
    """Whether nothing ties the object to the cluster of this order: it made nothing, and was never accepted.

    Nor does it take the place of a VM that was lost: that one may be back, and only a listing of its cluster shows it.
    """
    if order is None:
        return True
    accepted = order.cloud_id is not None or order.reorders > 0
    return order.state in LEFT_BEHIND and not accepted and order.recreation is None


def cluster_in_hand(spec: GpuVMSpec, order: Order | None, placement: PlacementStatus | None) -> str:
    """Return the cluster in which the VM is looked for. ``order``: the record, if it is of a name that the UID proves."""
    known = clusters(spec)
    if is_left_behind(order):
        said = None if placement is None else placement.cluster
    else:
        said = None if order is None else order.cluster
    return spelled(known, said) or spec.cluster


def spelled(known: tuple[str, ...], cluster: str | None) -> str | None:
    """Return the cluster as the spec spells it; None if the spec does not name it."""
    return None if cluster is None else next((one for one in known if naming.same_cluster(one, cluster)), None)
