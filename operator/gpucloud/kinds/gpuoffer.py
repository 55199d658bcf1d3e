"""GpuOffer (``goffer``): one configuration in one cluster and pool, as the cloud offers it to one account.

The operator writes it, and nobody declares one: so it has neither spec nor status, like Kubernetes' own CSIStorageCapacity.
See docs/adr/0020.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gpucloud.kinds.model import Model
from gpucloud.kinds.schema import INT32_MAX

KIND = "GpuOffer"
PLURAL = "gpuoffers"
TEXT = 253  # characters of a field, as in a GpuVM that asks for the offer


class GpuOffer(Model):
    """What the cloud offers. Each field has the value that a GpuVM takes, or the size of the VM that it gets."""

    account: Annotated[str, Field(max_length=TEXT, description="GpuCloudAccount of this namespace to which it is offered.")]
    configuration: Annotated[str, Field(max_length=TEXT, description="VM configuration, for spec.configuration of a GpuVM.")]
    cluster: Annotated[str, Field(max_length=TEXT, description="Cluster of the cloud, for spec.cluster of a GpuVM.")]
    resource_pool: Annotated[
        str | None, Field(max_length=TEXT, description="Resource pool, for spec.resourcePool of a GpuVM.")
    ] = None
    gpu_model: Annotated[str | None, Field(max_length=TEXT, description="Model of the GPUs, in the cloud's words.")] = None
    gpus: Annotated[int | None, Field(ge=0, le=INT32_MAX, description="Number of GPUs.")] = None
    vcpus: Annotated[int | None, Field(ge=0, le=INT32_MAX, description="Number of virtual CPUs.")] = None
    memory_gb: Annotated[int | None, Field(alias="memoryGB", ge=0, le=INT32_MAX, description="Memory in GB.")] = None
    storage_gb: Annotated[int | None, Field(alias="storageGB", ge=0, le=INT32_MAX, description="Attached storage in GB.")] = (
        None
    )
    price_per_hour: Annotated[
        str | None, Field(max_length=32, description="Dollars per hour for the whole VM. Absent if the cloud names none.")
    ] = None
    available: Annotated[
        bool | None,
        Field(description="Whether one could be had when the operator last looked. Absent if the cloud does not say."),
    ] = None
