"""Reads the boot log of a VM for its class of trouble. The text goes no further than this module."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from gpucloud.cloud.errors import CloudError
from gpucloud.kinds.bootlog import BootTrouble
from gpucloud.reconcile.gpuvm.boot_log import classify

if TYPE_CHECKING:
    from gpucloud.cloud.reader import CloudReader
    from gpucloud.reconcile.naming import Identity

log = structlog.get_logger("gpucloud.boot_log")

ENTRIES = 2000  # service-api: the described default


async def read_trouble(client: CloudReader, vm: Identity) -> BootTrouble:
    """Return what the boot log of a VM shows; NotReadable if the cloud does not show it."""
    try:
        record = await client.get_boot_logs(id=vm.name, namespace=vm.vpc, cluster=vm.cluster, limit=ENTRIES)
    except CloudError as error:
        log.info("a boot log cannot be read", target=vm.name, outcome=error.kind)  # its message may repeat a part of the log
        return BootTrouble.NOT_READABLE
    return classify(record.boot_logs or "")
