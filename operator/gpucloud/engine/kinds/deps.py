"""Dependencies that every cloud reconciler gets from the manager."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.engine.cache.references import References
    from gpucloud.engine.cloud.accounts import Accounts
    from gpucloud.engine.kinds.default_accounts import DefaultAccounts
    from gpucloud.engine.kinds.deletion_guard import DeletionGuard
    from gpucloud.engine.kinds.listers import Listers
    from gpucloud.engine.kinds.quota_usage import QuotaUsage
    from gpucloud.engine.kube.client import KubeClient
    from gpucloud.engine.kube.namespaces import Namespaces
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.engine.runtime.entropy import Entropy
    from gpucloud.engine.runtime.workqueue import Key
    from gpucloud.reconcile.facts import Limits


@dataclass(frozen=True, slots=True)
class ReconcilerDeps:
    """Dependencies of a cloud reconciler."""

    accounts: Accounts
    default_accounts: DefaultAccounts
    objects: Listers
    references: References
    kube: KubeClient
    namespaces: Namespaces
    clock: Clock
    limits: Limits
    synced: Callable[[], bool]
    wake: Callable[[str], None]  # by UID
    queue: Callable[[Key], None]
    entropy: Entropy
    deletion_guard: DeletionGuard
    quota_usage: QuotaUsage
