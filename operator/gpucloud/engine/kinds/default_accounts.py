"""Reads a namespace's account ``default`` from the apiserver before one of its objects uses the operator's own account.

Each kind has a watch of its own, so an object can be shown before the account that was applied with it. Which account it uses
is recorded with its order, and for good.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from gpucloud.engine.kube.shared_reads import SharedReads
from gpucloud.kinds.common import DEFAULT_ACCOUNT, OWN_ACCOUNT
from gpucloud.kinds.gpucloudaccount import PLURAL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpucloud.engine.cache.entries import Entries
    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.cloud.accounts import Accounts
    from gpucloud.engine.kube.client import KubeClient
    from gpucloud.engine.runtime.clock import Clock


REMEMBERED_SECONDS = 5.0  # what the operator polls, such as a Secret of SSH keys, may have been applied with the account, too


class Seen(NamedTuple):
    """By what the time of a view is known and kept."""

    clock: Clock
    entries: Entries


@dataclass(slots=True)
class _Shown:
    """When the watch last showed another view of an object (mono)."""

    at: float = -math.inf


class DefaultAccounts:
    """The reads of each namespace; one answers all objects that were last shown before it began, for a few seconds."""

    def __init__(self, accounts: Accounts, kube: KubeClient, seen: Seen, take: Callable[[Mapping[str, Any]], None]) -> None:
        """``take`` takes an account as if the watch had shown it."""
        self._accounts, self._kube, self._take = accounts, kube, take
        self._clock, self._entries = seen
        self._reads = SharedReads(self._read, self._clock, REMEMBERED_SECONDS)

    def shown(self, uid: str) -> None:
        """Note that the watch has shown another view of an object: what was applied with it may have brought the account."""
        self._entries.part(uid, _Shown).at = self._clock.mono()

    async def settle(self, stored: CachedObject[Any, Any]) -> None:
        """Return once an account ``default`` is known that was there when the object was last shown.

        Nothing is read for an object that does not use the operator's own account, or has it in its status.

        Raises:
            KubeError: the apiserver did not answer.
        """
        meta, spec, status = stored.meta, stored.spec, stored.status
        if spec is None or status.account is not None or self._accounts.name_for(meta, spec, status) != OWN_ACCOUNT:
            return
        if self._accounts.own is not None and self._accounts.own_serves(meta.namespace):
            await self._reads.get(meta.namespace, self._entries.part(meta.uid, _Shown).at)

    async def _read(self, namespace: str) -> None:
        found = await self._kube.find(PLURAL, namespace, DEFAULT_ACCOUNT)
        if found is not None:
            self._take(found)
