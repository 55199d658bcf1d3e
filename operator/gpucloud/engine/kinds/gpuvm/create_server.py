"""The body of CreateServer: what the spec of a GpuVM orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.cloud.models import CreateServer
from gpucloud.kinds.gpuvm import Image

if TYPE_CHECKING:
    from gpucloud.kinds.gpucloudaccount import AccountDefaults
    from gpucloud.kinds.gpuvm import GpuVMSpec
    from gpucloud.reconcile.facts import SSHKeys
    from gpucloud.reconcile.naming import Identity


def create_server_request(
    here: Identity,
    spec: GpuVMSpec,
    keys: SSHKeys,
    *,
    snapshot: str | None = None,
    defaults: AccountDefaults | None = None,
) -> CreateServer:
    """Return the body of CreateServer for this spec, with the account's defaults for unset fields."""
    image, storage = spec.image, spec.storage
    pool, disk = spec.resource_pool, spec.root_disk_gib
    system = image.operating_system if image else None
    if defaults is not None:
        pool, disk = pool or defaults.resource_pool, disk or defaults.root_disk_gib
        if image in (None, Image()):
            system = defaults.operating_system
    return CreateServer(
        name=here.name,
        cluster=here.cluster,
        vpc=here.vpc,
        configuration=spec.configuration,
        ssh_keys=keys.lines,
        rpool=pool,
        operating_system_image=system,
        tenant_custom_image_file_name=image.custom_file if image else None,
        snapshot_name=snapshot if snapshot is not None else image.snapshot if image else None,
        root_disk_size=disk,
        selected_node=spec.node_name,
        persist_storage=storage.persist_direct_attached if storage else None,
        direct_storage_mount_path=storage.direct_mount_path if storage else None,
        personal_storage_mount_path=storage.personal_mount_path if storage else None,
        tenant_shared_additional_storage=storage.tenant_shared_mount_path if storage else None,
        block_storage_names=(storage.block_storage_names or None) if storage else None,
    )
