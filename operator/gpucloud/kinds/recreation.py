"""What is done about a VM that is gone or has failed, and what is recorded of it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from gpucloud.kinds.model import Time


class OnLoss(StrEnum):
    """What is done when the VM is gone, or has failed, and nobody asked for that."""

    FAIL = "Fail"
    RECREATE = "Recreate"


RecreationTimes = Annotated[
    tuple[Time, ...] | None,
    Field(max_length=10, description="When the VM was last recreated, as spec.onLoss asks; the limit counts the last hour."),
]
FailedSince = Annotated[Time | None, Field(description="When a listing first showed the VM as CREATE_FAILED or FAILED.")]
