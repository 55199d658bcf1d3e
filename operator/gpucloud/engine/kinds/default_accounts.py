"""Reads a namespace's account ``default`` from the apiserver before one of its objects uses the operator's own account.

Each kind has a watch of its own, so an object can be shown before the account that was applied with it. Which account it uses
is recorded with its order, and for good.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.engine.kube.shared_reads import SharedReads
from gpucloud.kinds.common import DEFAULT_ACCOUNT, OWN_ACCOUNT
from gpucloud.kinds.gpucloudaccount import PLURAL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.cloud.accounts import Accounts
    from gpucloud.engine.kube.client import KubeClient
    from gpucloud.engine.runtime.clock import Clock


class DefaultAccounts:
    """The reads, one at a time for each namespace; objects that were first seen before a read began share it."""

    def __init__(self, accounts: Accounts, kube: KubeClient, clock: Clock, show: Callable[[Mapping[str, Any]], None]) -> None:
        """``show`` takes an account as if the watch had shown it."""
        self._accounts, self._kube, self._show = accounts, kube, show
        self._reads = SharedReads(self._read, clock)

    async def settle(self, stored: CachedObject[Any, Any], first_seen: float) -> None:
        """Return once every account ``default`` is known that was there when the object was first seen (mono).

        Nothing is read for an object that does not use the operator's own account, or has it in its status.

        Raises:
            KubeError: the apiserver did not answer.
        """
        meta, spec, status = stored.meta, stored.spec, stored.status
        if spec is None or status.account is not None or self._accounts.name_for(meta, spec, status) != OWN_ACCOUNT:
            return
        if self._accounts.own is not None and self._accounts.own_serves(meta.namespace):
            await self._reads.get(meta.namespace, first_seen)

    async def _read(self, namespace: str) -> None:
        found = await self._kube.find(PLURAL, namespace, DEFAULT_ACCOUNT)
        if found is not None:
            self._show(found)
