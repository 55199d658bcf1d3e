"""Where the thing of an order is: as the acceptance names it, as the record keeps it, as the spec asks for it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from gpucloud.reconcile.text import abridged
from gpucloud.reconcile.transitions import MAY_EXIST

if TYPE_CHECKING:
    from gpucloud.kinds.common import Order
    from gpucloud.reconcile.naming import Identity


class Placement(NamedTuple):
    """What an acceptance names, as far as it differs from what was asked for."""

    cloud_id: str | None = None
    cluster: str | None = None
    vpc: str | None = None

    def changes(self) -> dict[str, str | None]:
        """As fields of the record."""
        return {"cloud_id": self.cloud_id, "cloud_cluster": self.cluster, "cloud_vpc": self.vpc}


def placement_from_answer(wanted: Identity, cloud_id: str | None, cluster: str | None, vpc: str | None) -> Placement:
    """What an acceptance names. A cluster in another spelling is the same cluster."""
    other_cluster = cluster if cluster and cluster.casefold() != wanted.cluster.casefold() else None
    return Placement(*(text and abridged(text) for text in (cloud_id, other_cluster, vpc if vpc != wanted.vpc else None)))


def named(wanted: Identity, made: Placement) -> Identity:
    """What an acceptance says that it made."""
    return replace(
        wanted, name=made.cloud_id or wanted.name, cluster=made.cluster or wanted.cluster, vpc=made.vpc or wanted.vpc
    )


def cloud_placement(order: Order | None) -> tuple[str | None, str | None, str | None] | None:
    """Where an acceptance or a listing says that it is, when that is not what was asked for; None otherwise.

    A VPC's record has an id that is no name, so of VPCs only the place counts.
    """
    if order is None:
        return None
    own_id = None if order.name in {order.cloud_id, order.vpc} else order.cloud_id
    place = (own_id, order.cloud_cluster, order.cloud_vpc)
    return None if place == (None, None, None) else place


def placed(wanted: Identity, order: Order | None) -> Identity:
    """Where to look for what was wanted: where the cloud says that it put it, if that is another place."""
    place = cloud_placement(order)
    if order is None or place is None or order.state not in MAY_EXIST or order.name != wanted.name:
        return wanted
    own_id, cluster, vpc = place
    return replace(wanted, name=own_id or wanted.name, cluster=cluster or wanted.cluster, vpc=vpc or wanted.vpc)


def moved(order: Order | None, wanted: Identity) -> bool:
    """Whether the spec names another place or name than the one under which something may exist."""
    if order is None or order.state not in MAY_EXIST or not order.name:
        return False
    elsewhere = order.cluster.casefold() != wanted.cluster.casefold() or order.name != wanted.name
    return elsewhere or bool(order.vpc and wanted.vpc and order.vpc != wanted.vpc)


def moved_message(noun: str, order: Order, wanted: Identity) -> str:
    """What to say when it is moved."""
    return (
        f"The {noun} was ordered as {order.name!r} in VPC {order.vpc!r} of cluster {order.cluster!r}, and the spec names "
        f"{wanted.name!r} in VPC {wanted.vpc!r} of cluster {wanted.cluster!r}: it cannot be moved. Set the spec back; to give "
        f"the {noun} up and keep it in the cloud, delete this object with spec.deletion.policy: Retain."
    )
