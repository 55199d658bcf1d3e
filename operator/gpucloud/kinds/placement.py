"""``spec.placement`` of a GpuVM, and its record in status: what is ordered instead where the cloud has no capacity."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field

from gpucloud.kinds.markers import CEL, rules
from gpucloud.kinds.model import Model, Time

MOST_ALTERNATIVES = 8


class Alternative(Model):
    """Another cluster, configuration or resource pool that serves as well. A field that is not set is that of the spec."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            CEL(
                "has(self.cluster) || has(self.configuration) || has(self.resourcePool)",
                "An alternative differs from the spec: set its cluster, configuration or resourcePool, or more of them.",
            )
        )
    )

    cluster: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=253,
            description="Cluster to order in instead of spec.cluster. It needs a VPC of the name in spec.vpc.",
        ),
    ] = None
    configuration: Annotated[
        str | None, Field(min_length=1, max_length=253, description="VM configuration to order instead of spec.configuration.")
    ] = None
    resource_pool: Annotated[
        str | None, Field(min_length=1, max_length=253, description="Resource pool to order in instead of spec.resourcePool.")
    ] = None


class PlacementOrder(StrEnum):
    """The order in which alternatives are tried."""

    AS_LISTED = "AsListed"
    PRICE = "Price"


class PlacementSpec(Model):
    """What is ordered where the cloud refuses the configuration and resource pool of the spec."""

    alternatives: Annotated[
        tuple[Alternative, ...],
        Field(
            max_length=MOST_ALTERNATIVES,
            description="Ordered in turn, each after a certain refusal of the one before; the spec's own comes first. They may "
            "be changed at any time; a VM that was ordered stays what it is, and the cluster that it is in must stay named.",
        ),
    ] = ()
    order: Annotated[
        PlacementOrder | None,
        Field(
            description="How alternatives are tried, after the spec's own. AsListed: as above; so when not set. Price: the "
            "cheapest by the cloud's catalogue first, then as listed; those without a known price last."
        ),
    ] = None
    wait_seconds: Annotated[
        int | None,
        Field(
            ge=1,
            le=2592000,
            description="Seconds from status.placement.waitingSince on during which only spec.configuration in "
            "spec.resourcePool of spec.cluster is ordered; when not set, alternatives are ordered as soon as that is refused.",
        ),
    ] = None
    priority: Annotated[
        int | None,
        Field(
            ge=-1000,
            le=1000,
            description="Of the GpuVMs that wait for capacity equally long, the one with the highest priority goes first; 0 "
            "when not set.",
        ),
    ] = None


class RefusedReason(StrEnum):
    """Why the cloud did not make the VM there."""

    NO_CAPACITY = "NoCapacity"
    REJECTED = "Rejected"
    FAILED = "Failed"


class RefusedOffer(Model):
    """A configuration, resource pool and cluster for which the cloud refused the order."""

    configuration: Annotated[str, Field(max_length=253, description="VM configuration that was ordered.")]
    resource_pool: Annotated[
        str | None, Field(max_length=253, description="Resource pool that was ordered, where one was named.")
    ] = None
    cluster: Annotated[str | None, Field(max_length=253, description="Cluster, where it is another than spec.cluster.")] = None
    reason: Annotated[
        RefusedReason,
        Field(
            description="NoCapacity: ordered again when its turn comes. Rejected: not ordered again for this generation of the "
            "spec. Failed: an error whose cause the cloud does not name."
        ),
    ]
    message: Annotated[str, Field(max_length=253, description="The cloud's words.")]
    at: Annotated[Time, Field(description="When the cloud refused it last.")]
    generation: Annotated[int, Field(ge=0, description="Generation of the spec that was ordered.")]


class PricedOffer(Model):
    """A configuration, resource pool and cluster that is tried, and its price."""

    configuration: Annotated[str, Field(max_length=253, description="VM configuration.")]
    resource_pool: Annotated[str | None, Field(max_length=253, description="Resource pool, where one is named.")] = None
    cluster: Annotated[str | None, Field(max_length=253, description="Cluster, where it is another than spec.cluster.")] = None
    price_per_hour: Annotated[
        str | None,
        Field(max_length=32, description="Dollars per hour, by the cloud's catalogue; absent while it is not known."),
    ] = None


class PlacementStatus(Model):
    """The alternative in hand, the wait for capacity, and what was refused. Absent where there is none of these."""

    configuration: Annotated[str, Field(max_length=253, description="VM configuration that was ordered, or is ordered next.")]
    resource_pool: Annotated[
        str | None, Field(max_length=253, description="Resource pool of it; if none, the account's or the tenant's.")
    ] = None
    cluster: Annotated[
        str | None,
        Field(
            max_length=253,
            description="Cluster of it, where it is another than spec.cluster: there the VM is looked for, and ordered next.",
        ),
    ] = None
    waiting_since: Annotated[
        Time | None,
        Field(description="Since when the GpuVM waits for capacity: whoever waits longest goes first."),
    ] = None
    look_seconds: Annotated[
        int | None,
        Field(
            ge=1,
            description="While it waits: seconds between two requests for what is free, which serve all GpuVMs that wait in "
            "a cluster.",
        ),
    ] = None
    refused: Annotated[
        tuple[RefusedOffer, ...],
        Field(
            max_length=MOST_ALTERNATIVES + 1,
            description="What the cloud refused, and when; of a VM that is there, its last start.",
        ),
    ] = ()
    offers: Annotated[
        tuple[PricedOffer, ...] | None,
        Field(
            max_length=MOST_ALTERNATIVES + 1,
            description="With spec.placement.order: Price, what is tried, in this order; decided again when all were refused.",
        ),
    ] = None


def _in_one_cluster(given: str, message: str, field: str) -> CEL:
    """Return the rule that with ``given`` no alternative names a cluster."""
    none = "!has(self.placement) || !has(self.placement.alternatives) || self.placement.alternatives.all(a, !has(a.cluster))"
    return CEL(f"!({given}) || {none}", f"{message} or remove cluster from the alternatives.", field_path=field)


ALTERNATIVES_FIT = (
    CEL(
        "!has(self.nodeName) || !has(self.placement) || !has(self.placement.alternatives) || "
        "self.placement.alternatives.all(a, !has(a.resourcePool))",
        "A node is in one resource pool: remove resourcePool from the alternatives, or remove spec.nodeName.",
        field_path=".placement",
    ),
    _in_one_cluster(
        "has(self.vpcRef)",
        "A GpuVpc is in one cluster: set spec.vpc in place of spec.vpcRef, to a name that is a VPC's in each of the clusters,",
        ".vpcRef",
    ),
    _in_one_cluster(
        "has(self.vmName)",
        "In another cluster only a name that the operator makes proves whose VM it is: remove spec.vmName,",
        ".vmName",
    ),
    _in_one_cluster("has(self.nodeName)", "A node is in one cluster: remove spec.nodeName,", ".nodeName"),
    _in_one_cluster(
        "has(self.image) && (has(self.image.snapshot) || has(self.image.snapshotRef))",
        "A snapshot is in one cluster: choose another image,",
        ".image",
    ),
)
