"""What is done about a VM that is gone, has failed, or is not as the spec says, and what is recorded of it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from gpucloud.kinds.model import Model, Time


class OnLoss(StrEnum):
    """What is done when the VM is gone, or has failed, and nobody asked for that."""

    FAIL = "Fail"
    RECREATE = "Recreate"


class ReplacePolicy(StrEnum):
    """Whether a VM is replaced when the spec changes what the cloud cannot change in place."""

    NEVER = "Never"
    RECREATE = "Recreate"


class ReplacedField(Model):
    """A field of the spec that differs from what the VM was made from."""

    name: Annotated[str, Field(max_length=64, description="Name of the field in the spec.")]
    before: Annotated[
        str | None,
        Field(alias="from", max_length=300, description="What the VM was made with, where that is a number or one name."),
    ] = None
    after: Annotated[
        str | None, Field(alias="to", max_length=300, description="What the spec says now, where that is a number or one name.")
    ] = None


class Replacement(Model):
    """The plan of a replacement. Written before anything is done; absent when the new VM is ordered."""

    changes: Annotated[
        tuple[ReplacedField, ...],
        Field(max_length=16, description="Fields of the spec that differ from what the VM was made from."),
    ]
    planned_at: Annotated[Time, Field(description="When it was planned; each further edit plans it again.")]
    not_before: Annotated[Time, Field(description="Nothing is destroyed before this time.")]
    final_snapshot: Annotated[
        bool, Field(description="Whether a final snapshot is taken before the VM is destroyed, as spec.deletion asks.")
    ] = False


RecreationTimes = Annotated[
    tuple[Time, ...] | None,
    Field(
        max_length=10,
        description="When each of the last recreations was ordered, which the limit within an hour counts.",
    ),
]
FailedSince = Annotated[Time | None, Field(description="When a listing first showed the VM as CREATE_FAILED or FAILED.")]
