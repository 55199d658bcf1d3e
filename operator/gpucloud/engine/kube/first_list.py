"""Wait for cache sync: the watch has delivered every object that a list contains."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, Any

import structlog

from gpucloud.engine.kube.errors import KubeError

if TYPE_CHECKING:
    from collections.abc import Collection

    from gpucloud.engine.kube.client import KubeClient
    from gpucloud.engine.runtime.clock import Clock

log = structlog.get_logger("gpucloud.engine")

CHECK_SECONDS = 0.2
RELIST_SECONDS = 10.0


async def wait_for_first_list(
    kube: KubeClient, reconcilers: Collection[Any], namespaces: tuple[str, ...], clock: Clock
) -> None:
    """Wait until each reconciler's store has every object that a list contains."""
    while True:
        try:
            listed = [(reconciler.store, await kube.uids(reconciler.plural, namespaces)) for reconciler in reconcilers]
        except KubeError as error:
            log.warning("the first list failed", error=str(error))
            await asyncio.sleep(1.0)
            continue
        if await _are_delivered(listed, clock):
            return
        missing = {item.plural: item.store.lacks(uids) for item, (_, uids) in zip(reconcilers, listed, strict=True)}
        log.warning("the watch has not delivered all objects of the list; listing again", missing=missing)


async def _are_delivered(listed: Collection[tuple[Any, set[str]]], clock: Clock) -> bool:
    """Wait until the watch has delivered all that is listed; False if nothing more comes: what is missing may have vanished."""
    fewest, deadline = math.inf, math.inf
    while clock.mono() < deadline:
        missing = sum(store.lacks(uids) for store, uids in listed)
        if missing == 0:
            return True
        if missing < fewest:
            fewest, deadline = missing, clock.mono() + RELIST_SECONDS
        await asyncio.sleep(CHECK_SECONDS)
    return False
