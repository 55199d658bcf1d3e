"""The fields of a spec that a VM is made from and that the cloud cannot change in place, as an order's record keeps them."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpucloud.kinds.common import Order
    from gpucloud.kinds.gpuvm import GpuVMSpec

# Not the place and the name: in another place two VMs of one name could be.
FIELDS = ("configuration", "resourcePool", "image", "rootDiskGiB", "storage", "nodeName", "sshKeys", "sshKeysFrom")
_DIGEST_LENGTH = 16


def of(spec: GpuVMSpec) -> tuple[str, ...]:
    """Return the digest of each field that is set."""
    said = spec.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return tuple(f"{name}={_digest(said[name])}" for name in FIELDS if said.get(name) not in (None, [], {}))


def changes(spec: GpuVMSpec, order: Order | None) -> tuple[str, ...]:
    """Return the fields that differ from what the order was made from; none if its record does not tell."""
    if order is None or order.template is None:
        return ()
    differing = {item.partition("=")[0] for item in set(order.template) ^ set(of(spec))}
    return tuple(name for name in FIELDS if name in differing)


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:_DIGEST_LENGTH]
