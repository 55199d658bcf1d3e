"""Wait for the apiserver at start, and for the CRDs; log what is missing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

import structlog

from gpucloud.engine.kube.errors import KubeError
from gpucloud.kinds.meta import APPLY_CRDS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")
log = structlog.get_logger("gpucloud.engine")

START_RETRY_SECONDS = 2.0


async def wait_for_apiserver(ask: Callable[[], Awaitable[T]]) -> T:
    """Repeat the request until the apiserver answers it; return the answer."""
    while True:
        try:
            return await ask()
        except KubeError as error:
            hint = (
                f"the CRDs are missing; install them: {APPLY_CRDS}"
                if error.undefined
                else "check KUBECONFIG, the network, and the operator's rights; the operator tries again"
            )
            log.warning("cannot start yet", error=str(error), hint=hint)
            await asyncio.sleep(START_RETRY_SECONDS)
