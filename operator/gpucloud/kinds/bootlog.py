"""``status.bootLog`` of a GpuVM: the class of trouble that its boot log shows. The log itself is never stored."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from gpucloud.kinds.model import Model, Time


class BootTrouble(StrEnum):
    """Class of trouble in a boot log."""

    NO_BOOT_DEVICE = "NoBootDevice"
    IMAGE_NOT_FOUND = "ImageNotFound"
    KERNEL_PANIC = "KernelPanic"
    DISK_FULL = "DiskFull"
    OUT_OF_MEMORY = "OutOfMemory"
    EMERGENCY_MODE = "EmergencyMode"
    CLOUD_INIT_FAILED = "CloudInitFailed"
    NETWORK_DOWN = "NetworkDown"
    GPU_DRIVER_FAILED = "GPUDriverFailed"
    SSH_FAILED = "SSHFailed"
    UNKNOWN = "Unknown"
    EMPTY = "Empty"
    NOT_READABLE = "NotReadable"


class BootLogFinding(Model):
    """What the operator found in the boot log of a VM that is not ready in time."""

    trouble: Annotated[
        BootTrouble,
        Field(description="Class of trouble that the boot log shows; Unknown: none of the known ones."),
    ]
    read_at: Annotated[Time, Field(description="When the boot log was last read.")]
