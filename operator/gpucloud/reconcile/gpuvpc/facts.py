"""Facts for decisions about a GpuVpc."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from gpucloud.cloud.models import VpcRecord
from gpucloud.kinds.gpuvpc import KIND, GpuVpcSpec, GpuVpcStatus
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.core.facts import CloudFacts, Subject
from gpucloud.reconcile.core.record import cut, moment
from gpucloud.reconcile.facts import Present, Unknown, Verb

if TYPE_CHECKING:
    from gpucloud.kinds.common import DeletionPolicy, Order

SUBJECT = Subject(
    kind=KIND,
    noun="VPC",
    create=Verb.CREATE_VPC,
    destroy=Verb.DESTROY_VPC,
    lost=Reason.VPC_LOST,
    by_name=False,
    unique_id=True,
    shown=("adopted", "vpc_id", "ip_range"),
    kept_when_gone=("created_at",),
    conflict_advice="",
    without_adoption=" and name the VPC in spec.vpc of a GpuVM",
    name_field="spec.name",
    sharing="name the VPC in spec.vpc of VMs",
    billed=False,
    markable=False,
)


def is_id_known(status: GpuVpcStatus, order: Order | None) -> bool:
    """Whether the id of the object's VPC is known: without it there is no VPC to destroy."""
    return status.vpc_id is not None or (order is not None and order.cloud_id is not None)


@dataclass(frozen=True, slots=True)
class Occupants:
    """Names for messages ("VM train-1") of VMs and snapshots in the VPC, from listings that began at ``as_of`` or later.

    ``confirmed``: begin of the listings before those, if they show nothing in it, too: one listing may be partial.
    """

    names: tuple[str, ...]
    as_of: float
    confirmed: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VpcFacts(CloudFacts[GpuVpcSpec, GpuVpcStatus, VpcRecord]):
    """Facts of one GpuVpc: the object, the observation of its VPC, and this process's call history."""

    subject: ClassVar[Subject] = SUBJECT

    occupants: Occupants | Unknown | None = None  # known only during deletion

    @property
    def chosen_name(self) -> bool:
        """Whether the spec sets the VPC's name: always, since the tenant's prefix leaves no room for a fingerprint."""
        return True

    @property
    def declared_policy(self) -> DeletionPolicy | None:
        """What the spec says about the VPC when this object is deleted."""
        return None if self.spec.deletion is None else self.spec.deletion.policy

    @property
    def place(self) -> str:
        """A VPC's name is unique in its cluster."""
        return f"cluster {self.identity.cluster!r}"

    def observed(self) -> dict[str, Any]:
        """The VPC's record in status."""
        if not isinstance(self.found, Present):
            return {}
        record = self.found.record
        texts = {
            "vpc_id": record.id,
            "name": record.name,
            "cluster": record.cluster or self.identity.cluster,
            "ip_range": record.ip_range,
            "tenancy": record.tenancy_name,
        }
        return {
            **cut(texts),
            "created_at": moment(record.created_at),
            "block_intra_vpc_comms": record.block_intra_vpc_comms,
            "is_default": record.is_default,
        }
