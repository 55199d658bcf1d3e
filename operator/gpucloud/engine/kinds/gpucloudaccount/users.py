"""Which of the objects that use an account a message is about, and what kubectl calls them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.kinds.choices import DeletionPolicy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.runtime.workqueue import Key


def is_any(_kind: str, _stored: CachedObject[Any, Any]) -> bool:
    """Whether it counts among all of them: yes."""
    return True


def is_not_deleted(_kind: str, stored: CachedObject[Any, Any]) -> bool:
    """Whether nobody has deleted it yet."""
    return not stored.meta.deleting


def destroys(_kind: str, stored: CachedObject[Any, Any]) -> bool:
    """Whether its deletion destroys something in the cloud, as its status says."""
    return getattr(stored.status, "deletion_policy", None) is DeletionPolicy.DELETE


def for_kubectl(keys: Iterable[Key]) -> tuple[str, ...]:
    """Return what kubectl and its plugin call these objects: ``gpuvm/train``."""
    return tuple(f"{key.kind.lower()}/{key.name}" for key in keys)
