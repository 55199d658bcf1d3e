"""What a VM is made from, as the order's record keeps it: the fields of a spec that the cloud cannot change in place."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from gpucloud.kinds.common import DeletionPolicy, Origin
from gpucloud.kinds.model import Model
from gpucloud.kinds.recreation import ReplacedField, ReplacePolicy
from gpucloud.reconcile.placement import cloud_placement
from gpucloud.reconcile.retention import recorded_policy
from gpucloud.reconcile.text import MAX_TEXT

if TYPE_CHECKING:
    from gpucloud.kinds.common import Order
    from gpucloud.kinds.gpuvm import GpuVMSpec

# By the name in the model. Not the place and the name: in another place two VMs of one name could be.
FIELDS = {
    "configuration": "configuration",
    "resource_pool": "resourcePool",
    "image": "image",
    "root_disk_gib": "rootDiskGiB",
    "storage": "storage",
    "node_name": "nodeName",
    "ssh_keys": "sshKeys",
    "ssh_keys_from": "sshKeysFrom",
}
DIGEST = "sha256:"
_DIGEST_LENGTH = 16


def of(spec: GpuVMSpec) -> tuple[str, ...]:
    """Return each field that is set with its value: as it stands where that is a number or one name, else its digest."""
    given = ((FIELDS[name], _text(getattr(spec, name))) for name in FIELDS)
    return tuple(f"{name}={text}" for name, text in given if text)


def changes(spec: GpuVMSpec, made_from: tuple[str, ...] | None) -> tuple[ReplacedField, ...]:
    """Return the fields that differ from what a VM was made from; none if no record tells that."""
    if made_from is None:
        return ()
    wanted = of(spec)
    if wanted == made_from:
        return ()
    before, after = _values(made_from), _values(wanted)
    differing = (name for name in FIELDS.values() if before.get(name) != after.get(name))
    return tuple(
        ReplacedField(name=name, before=_readable(before.get(name)), after=_readable(after.get(name))) for name in differing
    )


def asks_another(spec: GpuVMSpec, order: Order | None) -> bool:
    """Whether another VM is asked for in place of this order's. Not of one that was adopted, or that the cloud placed."""
    if spec.replace_policy is ReplacePolicy.NEVER or order is None or order.origin is not Origin.CREATED:
        return False
    kept = recorded_policy(spec.deletion.policy, order) is DeletionPolicy.RETAIN or cloud_placement(order) is not None
    return not kept and bool(changes(spec, order.template))


def _values(entries: tuple[str, ...]) -> dict[str, str]:
    return {name: value for name, _, value in (entry.partition("=") for entry in entries)}


def _readable(value: str | None) -> str | None:
    return None if value is None or value.startswith(DIGEST) else value


@lru_cache(maxsize=4096)
def _text(value: object) -> str:
    """Return a value as the record keeps it; empty for one that says nothing. Each reconcile asks this of the same keys."""
    said = _plain(value)
    if not said:
        return ""
    match said:
        case {"operatingSystem": str(name)} | {"customFile": str(name)} | {"snapshot": str(name)} if len(said) == 1:
            return f"{next(iter(said))}: {name}"
        case int() | str() if len(str(said)) <= MAX_TEXT:
            return str(said)
    return DIGEST + hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:_DIGEST_LENGTH]


def _plain(value: object) -> Any:
    """Return a value without models; the order of a list means nothing in any of these fields."""
    if isinstance(value, Model):
        dumped = value.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_defaults=True)
        return {name: sorted(item) if isinstance(item, list) else item for name, item in dumped.items()}
    if isinstance(value, tuple):
        return sorted((_plain(one) for one in value), key=lambda one: json.dumps(one, sort_keys=True))
    return value
