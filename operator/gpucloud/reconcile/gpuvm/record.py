"""Converts the cloud's record of a VM into GpuVM.status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.reconcile.core.record import MAX_NUMBER, cut

if TYPE_CHECKING:
    from gpucloud.cloud.models import VmRecord
    from gpucloud.reconcile.naming import Identity


def observed(record: VmRecord, identity: Identity) -> dict[str, Any]:
    """Return the record in status field names, cut to the limits of the schema."""
    texts = {
        "state": record.status,
        "vm_id": record.id or identity.name,
        "vpc": record.namespace or identity.vpc,
        "cluster": record.cluster or identity.cluster,
        "ip": record.ip,
        "private_ip": record.private_ip,
        "gpu_type": record.gpu_type,
        "root_disk_size": record.root_disk_size,
        "storage_type": record.storage_type,
        "image": record.image,
        "resource_pool": record.rpool,
        "node_name": record.node_selector,
        "username": record.username,
        "tenancy": record.tenancy_name,
    }
    numbers = {
        "gpus": record.gpus,
        "vcpus": record.vcpus,
        "memory_gb": record.memory,
        "storage_gb": record.storage,
    }
    return {
        **cut(texts),
        **{name: number if number is not None and 0 <= number <= MAX_NUMBER else None for name, number in numbers.items()},
        "direct_attached_storage_persisted": record.direct_attached_storage_persisted,
    }
