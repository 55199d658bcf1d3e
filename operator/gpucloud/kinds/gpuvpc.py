"""GpuVpc (``gvpc``): a VPC of the GPU cloud, made by the operator or adopted."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gpucloud.kinds.common import AdoptingSpec, CloudStatus, DeletionPolicy
from gpucloud.kinds.markers import CEL, IMMUTABLE
from gpucloud.kinds.model import Model, Time

KIND = "GpuVpc"
PLURAL = "gpuvpcs"


class VpcDeletion(Model):
    """What deleting this object does to the VPC."""

    policy: Annotated[
        DeletionPolicy | None,
        Field(
            description="Delete destroys the VPC once nothing is in it; Retain leaves it. When not set: Delete for what the "
            "operator created, Retain for what it adopted; status.deletionPolicy says which applies."
        ),
    ] = None


class GpuVpcSpec(AdoptingSpec):
    """The VPC as its owner wants it. The operator never writes here."""

    cluster: Annotated[
        str,
        Field(min_length=1, max_length=253, description="Cluster of the cloud that the VPC is in."),
        IMMUTABLE,
    ]
    name: Annotated[
        str,
        Field(
            min_length=1,
            max_length=253,
            description="The VPC's full name in the cloud: the tenant's name, a hyphen and more; of the default VPC the "
            "tenant's name alone.",
        ),
        CEL(
            "self.matches('^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$')",
            "Not a name of a VPC: use letters, digits, '-', '.' and '_', and start and end with a letter or digit. "
            "Give the full name, the tenant's prefix included, for example acme-train.",
        ),
        IMMUTABLE,
    ]
    block_intra_vpc_comms: Annotated[
        bool | None,
        Field(
            description="Whether communication inside the VPC is blocked. The cloud's default is false; what stands here is "
            "compared with what the cloud reports."
        ),
        IMMUTABLE,
    ] = None
    is_default: Annotated[
        bool | None,
        Field(
            description="Whether it is the default VPC of the cluster, of which there is one. The cloud's default is false; "
            "what stands here is compared with what the cloud reports."
        ),
        IMMUTABLE,
    ] = None
    deletion: Annotated[VpcDeletion | None, Field(description="What deleting this object does to the VPC.")] = None


class GpuVpcStatus(CloudStatus):
    """What the operator observed. Rebuilt whole in every write."""

    vpc_id: Annotated[str | None, Field(max_length=253, description="Id of the VPC, once it has been seen.")] = None
    cluster: Annotated[str | None, Field(max_length=253, description="Cluster that the VPC is in.")] = None
    name: Annotated[str | None, Field(max_length=253, description="Name of the VPC, as the cloud writes it.")] = None
    ip_range: Annotated[str | None, Field(max_length=253, description="IP range of the VPC.")] = None
    created_at: Annotated[Time | None, Field(description="When the VPC was created, as the cloud reports it.")] = None
    block_intra_vpc_comms: Annotated[bool | None, Field(description="Whether communication inside the VPC is blocked.")] = None
    is_default: Annotated[bool | None, Field(description="Whether it is the default VPC of the cluster.")] = None
