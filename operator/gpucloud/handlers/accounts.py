"""Timer of GpuCloudAccounts: checks once a minute that the account's credential still works.

Here kopf's timer is worth its price (its own finalizer, two tasks): accounts are few and long-lived. See docs/adr/0001.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import kopf

from gpucloud.kinds.gpucloudaccount import PLURAL
from gpucloud.kinds.meta import GROUP, VERSION

if TYPE_CHECKING:
    from gpucloud.engine.manager.manager import Engine

HEALTH_SECONDS = 60.0


def register(registry: kopf.OperatorRegistry, engine: Engine) -> None:
    """Start the timer of every account. The first check is the engine's own, when the account's Secret is read."""

    @kopf.timer(GROUP, VERSION, PLURAL, registry=registry, id="health", interval=HEALTH_SECONDS, initial_delay=HEALTH_SECONDS)
    async def health(namespace: str | None, name: str | None, **_: Any) -> None:
        if namespace is not None and name is not None:
            engine.check_account(namespace, name)
