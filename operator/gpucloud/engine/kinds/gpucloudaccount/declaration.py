"""Declaration of GpuCloudAccount: its keys in the indexes. It stands for nothing that the cloud lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.engine.kinds.declaration import KindDeclaration
from gpucloud.engine.kinds.indexes import UsesSecret
from gpucloud.kinds.gpucloudaccount import KIND, PLURAL, GpuCloudAccountSpec, GpuCloudAccountStatus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpucloud.engine.cache.store import CachedObject


def keys(_tag: str, account: CachedObject[GpuCloudAccountSpec, GpuCloudAccountStatus]) -> Iterator[Any]:
    """Yield the keys of a GpuCloudAccount."""
    named = () if account.spec is None else (account.spec.secret_ref.name,)
    for name in {*named, *account.status.held_secrets}:
        yield UsesSecret(account.meta.namespace, name)


DECLARATION = KindDeclaration(
    kind=KIND, plural=PLURAL, spec=GpuCloudAccountSpec, status=GpuCloudAccountStatus, written_once=(), keys=keys
)
