"""Words that name something in the cluster or the kubeconfig, for completion. Each takes where to look and the word begun."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.cli.plugin.cluster import Cluster
from gpucloud.cli.plugin.kube import client
from gpucloud.cli.plugin.objects import ACCOUNT, KINDS, VM, VPC
from gpucloud.cli.plugin.verbs.explain import explanations

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpucloud.cli.plugin.kube.access import At

SECONDS = 3  # somebody waits at the prompt


def namespaces(at: At, _begun: str) -> list[str]:
    """The namespaces of the cluster."""
    return [item["metadata"]["name"] for item in _cluster(at).listed("namespaces", "/api/v1/namespaces") or ()]


def contexts(at: At, _begun: str) -> list[str]:
    """The contexts of the kubeconfig."""
    return client.contexts(at.kubeconfig)


def vms(at: At, _begun: str) -> list[str]:
    """The GpuVMs of the namespace."""
    return _names(at, (VM,))


def vpcs(at: At, _begun: str) -> list[str]:
    """The GpuVpcs of the namespace."""
    return _names(at, (VPC,))


def accounts(at: At, _begun: str) -> list[str]:
    """The GpuCloudAccounts of the namespace."""
    return _names(at, (ACCOUNT,))


def objects(at: At, begun: str) -> list[str]:
    """The kinds, then the objects of the kind: ``gvm/``, ``gvm/train``."""
    word, slash, _ = begun.partition("/")
    if not slash:
        return [f"{kind.short}/" for kind in KINDS.values()]
    kinds = [kind.name for kind in KINDS.values() if word.lower() in {kind.short, kind.plural, kind.name.lower()}]
    return [f"{word}/{name}" for name in _names(at, kinds)] if kinds else []


def vms_or_objects(at: At, begun: str) -> list[str]:
    """The GpuVMs by their names alone, and all objects by kind and name."""
    return objects(at, begun) if "/" in begun else [*vms(at, begun), *objects(at, begun)]


def reasons(_at: At, _begun: str) -> list[str]:
    """The reasons of conditions and events."""
    return list(explanations())


def _names(at: At, kinds: Iterable[str]) -> list[str]:
    here = _cluster(at)
    return sorted(item.key.name for item in here.things(here.namespace, tuple(kinds)))


def _cluster(at: At) -> Cluster:
    return Cluster(client.KubeApi(at, SECONDS))
