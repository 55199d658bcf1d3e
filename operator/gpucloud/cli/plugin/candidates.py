"""Completes the words that name something in the cluster or the kubeconfig. Typer calls these functions when Tab is pressed."""

from collections.abc import Iterable

import typer

from gpucloud.cli.plugin import kube
from gpucloud.cli.plugin.cluster import Cluster
from gpucloud.cli.plugin.objects import ACCOUNT, KINDS, VM

SECONDS = 3  # somebody waits at the prompt


def namespaces(ctx: typer.Context) -> list[str]:
    """The namespaces of the cluster."""
    listed = _cluster(ctx).read("/api/v1/namespaces") or {}
    return [item["metadata"]["name"] for item in listed.get("items") or ()]


def contexts(ctx: typer.Context) -> list[str]:
    """The contexts of the kubeconfig."""
    return kube.contexts(ctx.params.get("kubeconfig"))


def vms(ctx: typer.Context) -> list[str]:
    """The GpuVMs of the namespace."""
    return _names(ctx, (VM,))


def accounts(ctx: typer.Context) -> list[str]:
    """The GpuCloudAccounts of the namespace."""
    return _names(ctx, (ACCOUNT,))


def objects(ctx: typer.Context, incomplete: str) -> list[str]:
    """The kinds, then the objects of the kind: ``gvm/``, ``gvm/train``."""
    word, slash, _ = incomplete.partition("/")
    if not slash:
        return [f"{kind.short}/" for kind in KINDS.values()]
    kinds = [kind.name for kind in KINDS.values() if word.lower() in {kind.short, kind.plural, kind.name.lower()}]
    return [f"{word}/{name}" for name in _names(ctx, kinds)] if kinds else []


def _names(ctx: typer.Context, kinds: Iterable[str]) -> list[str]:
    here = _cluster(ctx)
    return sorted(item.key.name for item in here.things(here.namespace, tuple(kinds)))


def _cluster(ctx: typer.Context) -> Cluster:
    """The cluster that the options typed so far lead to."""
    given = ctx.params
    at = kube.At(given.get("kubeconfig"), given.get("context"), given.get("namespace"))
    return Cluster(kube.KubeApi(at, SECONDS))
