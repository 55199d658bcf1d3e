"""What several verbs begin with: the cluster, the object that is meant, and whether it may be asked something."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from gpucloud.cli.plugin import show
from gpucloud.cli.plugin.cluster import Cluster
from gpucloud.cli.plugin.errors import ExitCode, PluginError, UnansweredError
from gpucloud.cli.plugin.kube.client import KubeApi
from gpucloud.cli.plugin.model.objects import KINDS, VM, Key, Thing, target

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpucloud.cli.plugin.cluster.rights import Right
    from gpucloud.cli.plugin.kube.access import At


# Who writes the manifest again at its next look, and by which mark that is known.
KEEPERS = {
    "Argo CD": ("argocd.argoproj.io/tracking-id",),
    "Flux": ("kustomize.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/name"),
    "Helm": ("meta.helm.sh/release-name",),
}


def cluster(at: At, *needs: Right) -> Cluster:
    """The cluster that the options lead to, for a verb that needs these rights, in this order."""
    return Cluster(KubeApi(at), needs)


def vm_key(here: Cluster, name: str) -> Key:
    """Which GpuVM is meant.

    Raises:
        PluginError: the name is none, or another kind stands before it.
    """
    kind, called = target(name, others="/" in name)
    if kind != VM:
        raise _of_another_kind(here, name)
    return Key(here.namespace, kind, called)


def _of_another_kind(here: Cluster, name: str) -> PluginError:
    """The error for an object that is no GpuVM, with those of the namespace, where they may be listed."""
    what = f"{name!r} is not a {VM}, and this verb takes nothing else."
    try:
        names = tuple(sorted(item.key.name for item in here.things(here.namespace, (VM,))))
    except PluginError:
        return PluginError(what, ExitCode.MISUSED, do=f"Name a {VM}.")
    from gpucloud.reconcile.text import listed  # noqa: PLC0415 - for a refusal only

    there = f" of namespace {here.namespace!r}: {listed(names)}." if names else f". Namespace {here.namespace!r} has none."
    return PluginError(what, ExitCode.MISUSED, do=f"Name a {VM}{there}")


def keys_of(here: Cluster, objects: Iterable[str]) -> tuple[Key, ...]:
    """Which objects are meant, each once; a name alone is a GpuVM's."""
    return tuple(dict.fromkeys(Key(here.namespace, *target(item, others=True)) for item in objects))


def kept(here: Cluster, name: str) -> Thing:
    """The VM, which must be there and stay.

    Raises:
        PluginError: it is not there, or being deleted: whatever is asked of it would come to nothing.
    """
    item = here.need(vm_key(here, name))
    if item.deleting is not None:
        raise PluginError(
            f"{item.key} is being deleted, which cannot be taken back.",
            do="When it is gone, create it again if it is still wanted.",
        )
    return item


def mind_pause(item: Thing, *, refuse: bool) -> None:
    """Tell that a pause holds back what is asked; or refuse it, since it would be waited for in vain, or come unforeseen.

    Raises:
        PluginError: it is paused, and that is to be refused.
    """
    if not item.paused:
        return
    if refuse:
        raise PluginError(f"{item.key} is paused.", do=f"Run this first: {item.key.command('resume')}")
    show.tell(f"{item.key} is paused: nothing happens until the pause ends. To end it: {item.key.command('resume')}")


def warn_of_keepers(item: Thing, field: str) -> None:
    """Tell who writes the manifest again, and would set this field back."""
    marks = {*item.annotations, *item.labels}
    keeper = next((name for name, known in KEEPERS.items() if marks.intersection(known)), None)
    if keeper is not None:
        show.tell(f"{item.key} comes from {keeper}, which sets {field} back if the manifest has it: change it there, too.")


def request_time() -> str:
    """The value of an annotation that asks for something: two in one second are two requests."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def listed(here: Cluster, namespace: str | None, selector: str = "") -> tuple[tuple[Thing, ...], dict[str, PluginError]]:
    """All objects that can be listed in a namespace, or in all when None; and by plural why the others cannot.

    Raises:
        UnansweredError: the cluster did not answer.
    """
    found: list[Thing] = []
    unread: dict[str, PluginError] = {}
    for kind in KINDS.values():
        try:
            found += here.things(namespace, (kind.name,), selector)
        except UnansweredError:
            raise
        except PluginError as error:
            unread[kind.plural] = error
    return tuple(found), unread
