"""What the order of a GpuVM needs beside the cloud, read from the apiserver: SSH keys, and a namespace that stays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gpucloud.engine.kube import ssh_keys

if TYPE_CHECKING:
    from gpucloud.engine.kinds.deps import ReconcilerDeps
    from gpucloud.reconcile.gpuvm import VmFacts


async def with_order_needs(facts: VmFacts, deps: ReconcilerDeps) -> VmFacts:
    """Add the SSH keys, and whether the namespace is terminating.

    Raises:
        KubeError: the apiserver did not answer.
    """
    keys = await ssh_keys.resolve(deps.kube, facts.meta.namespace, facts.spec)
    return replace(facts, keys=keys, namespace_terminating=await deps.namespaces.terminating(facts.meta.namespace))
