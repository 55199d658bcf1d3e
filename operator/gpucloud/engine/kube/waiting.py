"""Ask the apiserver until it answers: an operator that starts before it, or before its CRDs, waits and says for what."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

import structlog

from gpucloud.engine.kube.client import KubeError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")
log = structlog.get_logger("gpucloud.engine")

START_RETRY_SECONDS = 2.0


async def wait_for_apiserver(ask: Callable[[], Awaitable[T]]) -> T:
    """Ask until answered."""
    while True:
        try:
            return await ask()
        except KubeError as error:
            hint = "are the CRDs installed (kubectl apply -f crds/)?" if error.gone else "is the apiserver up, and may we read?"
            log.warning("cannot start yet", error=str(error), hint=hint)
            await asyncio.sleep(START_RETRY_SECONDS)
