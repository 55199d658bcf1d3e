"""What the kinds have in common: references, the choices of a spec, the order record, the bases of spec and status.

A cloud kind is one that stands for something in the cloud, under an account: GpuVM, GpuVpc, GpuSnapshot, GpuHost.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from gpucloud import website
from gpucloud.kinds import choices, names
from gpucloud.kinds.markers import CEL, IMMUTABLE, list_map, schema_default
from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.kinds.model import Condition, Model, Time

Adoption = choices.Adoption
DeletionPolicy = choices.DeletionPolicy
OWN_ACCOUNT = names.OWN_ACCOUNT
DEFAULT_ACCOUNT = names.DEFAULT_ACCOUNT

# The name in the cloud, and so the id, of a VM or a snapshot. What exists may bear more names than the operator gives.
CloudName = Annotated[
    str,
    Field(min_length=1, max_length=52),  # service-api: CreateServer, name
    CEL(
        "self.matches('^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$')",
        "Use letters, digits, '-', '.' and '_', and start and end with a letter or digit.",
    ),
]


def naming_rules(field: str, noun: str) -> tuple[CEL, CEL]:
    """Rules for the field with the ``CloudName``: what is adopted must be named, and what may be created is named safely."""
    return (
        CEL(
            f"self.adoption == 'Never' || has(self.{field})",
            f"An existing {noun} is adopted by its name in the cloud: give it in spec.{field}, or leave out spec.adoption.",
            reason="FieldValueRequired",
            field_path=f".{field}",
        ),
        CEL(
            f"self.adoption == 'Required' || !has(self.{field}) || self.{field}.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",
            "Use lower-case letters, digits and '-', and start and end with a letter or digit. What exists in the cloud under "
            "another name can be adopted: set spec.adoption: Required.",
            field_path=f".{field}",
        ),
    )


class Reference(Model):
    """Another object of this namespace."""

    name: Annotated[
        str,
        Field(min_length=1, max_length=253, description="Name of an object in this namespace."),
        CEL(
            "self.matches('^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$')",
            "Not a name of a Kubernetes object: use lower-case letters, digits, '-' and '.', and start and end with a "
            "letter or digit. Other namespaces cannot be named.",
            # An "invalid" value would be printed, and a key pasted in place of its Secret's name must not be.
            reason="FieldValueForbidden",
        ),
    ]


class CloudSpec(Model):
    """What every cloud kind may say."""

    account_ref: Annotated[
        Reference | None,
        Field(
            description="GpuCloudAccount of this namespace to use; when not set the one named default, else the operator's own."
        ),
        IMMUTABLE,
    ] = None
    progress_deadline_seconds: Annotated[
        int,
        Field(
            ge=1,
            le=2592000,
            description="Seconds of pending work, waits for capacity not counted, after which it is called Stalled.",
        ),
    ] = 1800


class AdoptingSpec(CloudSpec):
    """What every kind may say whose resource the operator creates, or takes over where it exists."""

    adoption: Annotated[
        Adoption,
        Field(
            description="Whether what exists already under this name in the cloud becomes this object's. Never: it is a "
            "Conflict. IfExists: adopted, else created. Required: adopted, never created. An adopted resource is retained when "
            "this object is deleted, unless deletion.policy says Delete."
        ),
    ] = Adoption.NEVER


class OrderState(StrEnum):
    """What became of the order for the cloud object. Every transition and its proof: ``reconcile/transitions.py``."""

    NOT_ORDERED = "NotOrdered"
    INTENDED = "Intended"
    ACCEPTED = "Accepted"
    UNCLEAR = "Unclear"
    REFUSED = "Refused"
    OVERDUE = "Overdue"
    SEEN = "Seen"
    LOST = "Lost"
    DESTROYING = "Destroying"
    GONE = "Gone"


class Origin(StrEnum):
    """Where the cloud object comes from."""

    CREATED = "Created"
    ADOPTED = "Adopted"


MOST_DESTROYING_CALLS = 1_000_000
MOST_OTHERS_IDS = 8  # with so many an order that had no clear answer is a person's to settle


class DestroyingPurpose(StrEnum):
    """What follows once a destroying call has had its effect."""

    DELETION = "Deletion"
    RECREATION = "Recreation"


class DestroyingCall(Model):
    """A destroying call for what was ordered. Written before it is sent."""

    number: Annotated[
        int,
        Field(ge=1, le=MOST_DESTROYING_CALLS, description="How many destroying calls were announced, this one included."),
    ]
    announced_at: Annotated[Time, Field(description="When it was announced, before it was sent.")]
    purpose: Annotated[
        DestroyingPurpose, Field(description="Whether nothing follows it, or a new resource in place of the old one.")
    ] = DestroyingPurpose.DELETION


class Order(Model):
    """The record of the one order for this object: written before the order is sent, and kept until the object is gone."""

    id: Annotated[
        str,
        Field(max_length=64, description="Identifies this record; it ends with a hash of the object's UID."),
    ] = ""
    state: Annotated[OrderState, Field(description=f"What became of the order. {website.ORDERS} lists the transitions.")]
    name: Annotated[str, Field(max_length=253, description="Name that was, or is to be, ordered.")] = ""
    cluster: Annotated[str, Field(max_length=253, description="Cluster that it was ordered in.")] = ""
    vpc: Annotated[str, Field(max_length=253, description="VPC that it was ordered in; of a VPC, its own name.")] = ""
    configuration: Annotated[
        str | None, Field(max_length=253, description="VM configuration that was, or is to be, ordered.")
    ] = None
    resource_pool: Annotated[
        str | None, Field(max_length=253, description="Resource pool that it was ordered in, where one was named.")
    ] = None
    recorded_at: Annotated[Time | None, Field(description="When this record was written, before the order was sent.")] = None
    origin: Annotated[
        Origin,
        Field(description="Created for this object, or adopted as the spec allows."),
    ] = Origin.CREATED
    cloud_id: Annotated[
        str | None, Field(max_length=253, description="Id that the cloud gave it: in its acceptance, or in a listing.")
    ] = None
    cloud_cluster: Annotated[
        str | None,
        Field(max_length=253, description="Cluster that the acceptance named, where it is another than was asked for."),
    ] = None
    cloud_vpc: Annotated[
        str | None, Field(max_length=253, description="VPC that the acceptance named, where it is another than was asked for.")
    ] = None
    others_ids: Annotated[
        tuple[Annotated[str, Field(max_length=253)], ...] | None,
        Field(
            max_length=MOST_OTHERS_IDS,
            description="Ids of what had the name before the order, so that it made none of them. Absent: none, or cloudId is "
            "known.",
        ),
    ] = None
    reorders: Annotated[
        int, Field(ge=0, le=1000, description="How often it was ordered again because an accepted order never showed.")
    ] = 0
    template: Annotated[
        tuple[Annotated[str, Field(max_length=300)], ...] | None,
        Field(
            max_length=16,
            description="What a VM was made from: fields of the spec that the cloud cannot change, some as a digest.",
        ),
    ] = None
    recreation: Annotated[
        int | None,
        Field(ge=1, description="Number of this recreation, in place of a VM that was lost or had failed. Absent: none."),
    ] = None
    refused_generation: Annotated[
        int | None, Field(ge=0, description="Generation of the spec for which the cloud's refusal is final.")
    ] = None
    missing_since: Annotated[
        Time | None,
        Field(description="When two listings in a row first lacked a resource whose name the spec chose. Absent while listed."),
    ] = None
    destroying_call: Annotated[
        DestroyingCall | None, Field(description="The last destroying call that was announced. Absent: none.")
    ] = None


# Stands in a new object before the operator has seen it, so that no tool takes "no conditions" for "ready".
FIRST_CONDITION = {
    "type": ConditionType.READY.value,
    "status": "Unknown",
    "reason": Reason.PENDING.value,
    "message": "Waiting for the operator. If this stays for a minute, none runs, or none watches this namespace (--namespace): "
    "run kubectl gpucloud doctor, or ask the administrator.",
    "lastTransitionTime": "1970-01-01T00:00:00Z",
}


class Status(Model):
    """What every kind answers: for which generation, and how it stands."""

    observed_generation: Annotated[
        int,
        Field(
            ge=-1, description="Generation of the spec that this status describes; -1 until the operator has read the object."
        ),
    ] = -1
    conditions: Annotated[
        tuple[Condition, ...],
        Field(max_length=8, description="Ready always; each other only while it is True."),
        list_map("type"),
        schema_default([FIRST_CONDITION]),
    ] = ()


class AccountedStatus(Status):
    """What every kind answers that is looked at with an account."""

    account: Annotated[
        str | None,
        Field(
            max_length=253,
            description="GpuCloudAccount in use, frozen when the object was first acted on; "
            f"`{OWN_ACCOUNT}` is the operator's own.",
        ),
    ] = None
    endpoint: Annotated[
        str | None,
        Field(
            max_length=253,
            description="Endpoint where it was ordered or first seen. While another one is in use, nothing is done to it.",
        ),
    ] = None
    tenancy: Annotated[str | None, Field(max_length=253, description="Tenant that the resource in the cloud belongs to.")] = (
        None
    )
    progress_deadline_at: Annotated[
        Time | None,
        Field(description="When pending work will be called Stalled. Absent when settled or waiting for capacity."),
    ] = None
    last_handled_reconcile_at: Annotated[
        str | None,
        Field(max_length=253, description="Value of gpucloud.dev/reconcile-requested-at that was answered last."),
    ] = None


class CloudStatus(AccountedStatus):
    """What every kind answers whose resource the operator creates and destroys."""

    order: Annotated[
        Order | None, Field(description="What was ordered in the cloud for this object, and what became of that order.")
    ] = None
    deletion_policy: Annotated[
        DeletionPolicy | None,
        Field(
            description="What deleting this object does to what was created or adopted for it: as spec.deletion.policy says, "
            "or the default. Absent where nothing of this object's is in the cloud."
        ),
    ] = None
    adopted: Annotated[
        bool | None, Field(description="True: it existed before this object. False: the operator created it for this object.")
    ] = None
