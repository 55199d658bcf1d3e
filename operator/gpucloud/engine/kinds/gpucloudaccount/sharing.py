"""Secrets that several accounts use: who still needs one, and who sees to the finalizer on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.engine.kinds.indexes import UsesSecret

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.engine.cache.store import CachedObject, Store
    from gpucloud.kinds.gpucloudaccount import GpuCloudAccountSpec, GpuCloudAccountStatus
    from gpucloud.reconcile.gpucloudaccount import SecretFacts

    GpuCloudAccount = CachedObject[GpuCloudAccountSpec, GpuCloudAccountStatus]


class SecretSharing:
    """The accounts of one store that name or hold the same Secret. All methods are queries."""

    def __init__(
        self,
        store: Store[GpuCloudAccountSpec, GpuCloudAccountStatus],
        has_resources: Callable[[GpuCloudAccount], bool],
    ) -> None:
        """``has_resources``: whether objects of an account may have something in the cloud."""
        self._store, self._has_resources = store, has_resources

    def is_shared(self, stored: GpuCloudAccount, name: str, secret: SecretFacts | None) -> bool:
        """Whether another account still needs this Secret: its spec names it, or it holds it as an older one."""
        goes = secret is not None and secret.deleting
        return any(
            self._names(other, name, goes=goes) or self._holds_older(other, name) for other in self._others(stored, name)
        )

    def is_held_elsewhere(self, stored: GpuCloudAccount, name: str) -> bool:
        """Whether another account sees to this older Secret: one whose spec names it, else the one with the least UID."""
        return any(
            self._names(other, name, goes=False)
            or (self._holds_older(other, name) and not other.meta.deleting and other.meta.uid < stored.meta.uid)
            for other in self._others(stored, name)
        )

    def _others(self, stored: GpuCloudAccount, name: str) -> list[GpuCloudAccount]:
        """Return the other accounts of the namespace that name or hold this Secret."""
        found = self._store.indexed(UsesSecret(stored.meta.namespace, name))
        return [other for other in found if other.meta.uid != stored.meta.uid]

    def _names(self, other: GpuCloudAccount, name: str, *, goes: bool) -> bool:
        """Whether an account's spec names this Secret and it is not being deleted, or its objects may have resources."""
        named = other.spec is not None and other.spec.secret_ref.name == name
        return named and (not (other.meta.deleting or goes) or self._has_resources(other))

    def _holds_older(self, other: GpuCloudAccount, name: str) -> bool:
        """Whether an account holds this Secret for what its objects may have, while its spec names another or is unreadable."""
        named = other.spec is not None and other.spec.secret_ref.name == name
        return not named and name in other.status.held_secrets and self._has_resources(other)
