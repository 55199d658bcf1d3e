"""Where the resource of an order is: as the cloud's answer names it, as the record keeps it, and as the spec asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gpucloud.reconcile.naming import Identity
from gpucloud.reconcile.text import abridged
from gpucloud.reconcile.transitions import MAY_EXIST

if TYPE_CHECKING:
    from gpucloud.kinds.common import Order


class Placement(NamedTuple):
    """Id, cluster and VPC in the answer to a creating call, as far as they differ from the request."""

    cloud_id: str | None = None
    cluster: str | None = None
    vpc: str | None = None

    def changes(self) -> dict[str, str | None]:
        """Return the placement as fields of the order record."""
        return {"cloud_id": self.cloud_id, "cloud_cluster": self.cluster, "cloud_vpc": self.vpc}


def placement_from_answer(wanted: Identity, cloud_id: str | None, cluster: str | None, vpc: str | None) -> Placement:
    """Return the placement that an answer names. A cluster in another spelling is the same cluster."""
    other_cluster = cluster if cluster and cluster.casefold() != wanted.cluster.casefold() else None
    return Placement(*(text and abridged(text) for text in (cloud_id, other_cluster, vpc if vpc != wanted.vpc else None)))


def identity_from_answer(wanted: Identity, made: Placement) -> Identity:
    """Return the identity of the resource that an answer names."""
    return wanted._replace(
        name=made.cloud_id or wanted.name, cluster=made.cluster or wanted.cluster, vpc=made.vpc or wanted.vpc
    )


def cloud_placement(order: Order | None) -> tuple[str | None, str | None, str | None] | None:
    """Return where the cloud says that the resource is, if that is not where it was ordered; else None.

    A VPC's record has an id that is no name, so of VPCs only the place counts.
    """
    if order is None:
        return None
    own_id = None if order.name in {order.cloud_id, order.vpc} else order.cloud_id
    place = (own_id, order.cloud_cluster, order.cloud_vpc)
    return None if place == (None, None, None) else place


def placed_message(order: Order | None) -> str | None:
    """Return where the cloud has put the resource, as the beginning of a sentence; None if that is where it was ordered."""
    place = cloud_placement(order)
    if order is None or place is None:
        return None
    own_id, cluster, vpc = place
    where = f"VPC {vpc!r}" if vpc else f"cluster {cluster!r}"
    return f"The cloud itself named it {own_id!r}" if own_id else f"The cloud itself placed it in {where}"


def current_placement(order: Order | None) -> tuple[str | None, str | None, str | None] | None:
    """Return ``cloud_placement`` while the resource may exist. Afterwards what is there has taken its place."""
    return cloud_placement(order) if order is not None and order.state in MAY_EXIST else None


def as_ordered(order: Order | None) -> Order | None:
    """Return the order to be looked for as it was ordered: under the cloud's own name for what is lost may be another's.

    A VPC's unique id is no name, and stays: it tells the VPC from one that somebody makes under its name.
    """
    if order is None:
        return None
    own_id, _, _ = cloud_placement(order) or (None, None, None)
    kept = order.cloud_id if own_id is None else None
    return order.model_copy(update=Placement(kept).changes())


def actual_identity(wanted: Identity, order: Order | None) -> Identity:
    """Return the identity under which listings show the resource: where the cloud placed it, else as the spec asks."""
    place = current_placement(order)
    if order is None or place is None or order.name != wanted.name:
        return wanted
    own_id, cluster, vpc = place
    return wanted._replace(name=own_id or wanted.name, cluster=cluster or wanted.cluster, vpc=vpc or wanted.vpc)


def recorded_identity(order: Order | None) -> Identity | None:
    """Return where the resource of an order may exist, whatever the spec names by now; None if there is none."""
    if order is None or order.state not in MAY_EXIST or not order.name:
        return None
    return actual_identity(Identity(cluster=order.cluster, vpc=order.vpc, name=order.name), order)


def claimed_identity(order: Order | None, wanted: Identity | None) -> Identity | None:
    """Return what an object claims: where its resource may exist, whatever the spec names by now; else what the spec names.

    A record without a VPC names no place, as an edited one may be.
    """
    recorded = recorded_identity(order)
    return recorded if recorded is not None and recorded.vpc else wanted


def is_moved(order: Order | None, wanted: Identity) -> bool:
    """Whether the spec names another place or name than the one under which the resource may exist."""
    if order is None or order.state not in MAY_EXIST or not order.name:
        return False
    elsewhere = order.cluster.casefold() != wanted.cluster.casefold() or order.name != wanted.name
    return elsewhere or bool(order.vpc and wanted.vpc and order.vpc != wanted.vpc)


def moved_message(order: Order, noun: str) -> str:
    """Return the message for a spec that names another place than the order. Its fields are immutable: none is set back."""
    vpc = "" if noun == "VPC" or not order.vpc else f"VPC {order.vpc!r} of "
    return (
        f"Ordered as {order.name!r} in {vpc}cluster {order.cluster!r}; the spec names another place. Adopt it in a new object."
    )
