"""Words that name something in the cluster or the kubeconfig, for completion. Each takes where to look and the word begun."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.cli.plugin.cluster import Cluster
from gpucloud.cli.plugin.errors import PluginError
from gpucloud.cli.plugin.kube import client
from gpucloud.cli.plugin.model.explanations import explanations
from gpucloud.cli.plugin.model.objects import ACCOUNT, KINDS, SNAPSHOT, VM, VPC

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpucloud.cli.plugin.kube.access import At
    from gpucloud.cli.plugin.model.objects import Thing

SECONDS = 3  # somebody waits at the prompt
ADOPTABLE = (VM, SNAPSHOT, VPC)


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


def configurations(at: At, _begun: str) -> list[str]:
    """The configurations that the GpuOffers and the GpuVMs of the namespace name. The cloud itself takes seconds to ask."""
    here = _cluster(at).within(SECONDS)
    named = [item.spec.get("configuration") for item in _seen(here, VM)]
    return _once([*(item.get("configuration") for item in _offers(here)), *named])


def clusters(at: At, _begun: str) -> list[str]:
    """The clusters that the GpuOffers, accounts, GpuVpcs and GpuVMs of the namespace name, as the cloud spells them."""
    here = _cluster(at).within(SECONDS)
    things = [*_seen(here, ACCOUNT), *_seen(here, VPC), *_seen(here, VM)]
    listed = [name for item in things for name in _list_of(item.status.get("clusters"))]
    return _once([*(item.get("cluster") for item in _offers(here)), *listed, *(item.spec.get("cluster") for item in things)])


def adoptable_kinds(_at: At, begun: str) -> list[str]:
    """The kinds that ``adopt`` takes: ``gvm/``. No names.

    Only the cloud knows what has no object. It is asked through the account's Secret, or a port that is forwarded to the
    operator's console, and lists all that the account sees in every cluster: too slow for a prompt.
    """
    return [] if "/" in begun else [f"{KINDS[kind].short}/" for kind in ADOPTABLE]


def reasons(_at: At, _begun: str) -> list[str]:
    """The reasons of conditions and events."""
    return list(explanations())


def _offers(here: Cluster) -> list[dict[str, Any]]:
    """The GpuOffers of the namespace; none where the apiserver does not answer."""
    try:
        return here.offers()
    except PluginError:
        return []


def _seen(here: Cluster, kind: str) -> tuple[Thing, ...]:
    """The objects of a kind in the namespace; none where they may not be seen."""
    try:
        return here.things(here.namespace, (kind,))
    except PluginError:
        return ()


def _list_of(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _once(names: Iterable[object]) -> list[str]:
    """Each name once, as the first one spells it: a spec may have it in other letters than the cloud.

    A name of several words, or with a control character, is none to complete.
    """
    found: dict[str, str] = {}
    for name in names:
        if isinstance(name, str) and name.isprintable() and len(name.split()) == 1:
            found.setdefault(name.casefold(), name)
    return list(found.values())


def _names(at: At, kinds: Iterable[str]) -> list[str]:
    here = _cluster(at)
    return sorted(item.key.name for item in here.things(here.namespace, tuple(kinds)))


def _cluster(at: At) -> Cluster:
    return Cluster(client.KubeApi(at, SECONDS))
