"""``adopt`` and ``export``: objects for what exists in the cloud and has none."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gpucloud.cli.plugin import show
from gpucloud.cli.plugin.cloud.source_of_verb import command_again, complete, source_of
from gpucloud.cli.plugin.cloud.sources import account_of
from gpucloud.cli.plugin.cluster import writing
from gpucloud.cli.plugin.creation import adoption, vm_manifest
from gpucloud.cli.plugin.errors import ExitCode, PluginError
from gpucloud.cli.plugin.model import unowned
from gpucloud.cli.plugin.model.objects import HOST, KINDS, SNAPSHOT, VM, VPC, Key, target
from gpucloud.cli.plugin.targets import cluster
from gpucloud.cli.plugin.waiting import patience
from gpucloud.cli.terminal import printing
from gpucloud.cli.terminal.marks import paste
from gpucloud.cli.terminal.page import Line
from gpucloud.cli.terminal.printing import Output
from gpucloud.reconcile.commands import AFTER_COMMAND
from gpucloud.spelling import nearest, question

if TYPE_CHECKING:
    from gpucloud.cli.plugin.cluster import Cluster
    from gpucloud.cli.plugin.creation.adoption import Found, Manifests
    from gpucloud.cli.plugin.kube.access import At
    from gpucloud.cli.plugin.model.objects import Thing
    from gpucloud.cli.plugin.usage.options import CloudOptions
    from gpucloud.cli.unclaimed import Leftover
    from gpucloud.engine.cloud.queries import Records

DESTROY = '{"spec":{"deletion":{"policy":"Delete"}}}'
NO_HOSTS = (
    "bare metal hosts are left out: the credential may not list them, or the operator is older than this plugin."
    " Compare the versions with `kubectl gpucloud version`, and ask your administrator for the permission to list hosts."
)


class _AccountView(NamedTuple):
    """What the account sees, what of it no object stands for, and the objects in view."""

    account: str
    namespace: str | None  # as it was said; else the objects go where they are applied
    records: Records
    left: tuple[Found, ...]
    things: tuple[Thing, ...]

    def manifests(self, here: Cluster, found: list[Found]) -> Manifests:
        """Return objects that adopt these, under names that are free in the namespace."""
        taken = [(item.key.kind, item.key.name) for item in self.things if item.key.namespace == here.namespace]
        return adoption.manifests(found, self.account, self.namespace, taken, self.records.configurations)


def export(
    at: At,
    *,
    kind: str,
    in_cluster: str,
    output: Output,
    cloud: CloudOptions,
) -> int:
    """Print manifests for what exists in the cloud and has no object.

    Each adopts (adoption: Required), asks for the power state that there is, and leaves what it adopts when it is deleted:
    applied, they change nothing in the cloud. The object of a host observes it, and requests nothing.
    """
    wanted = target(f"{kind}/any", others=True)[0] if kind else ""
    if wanted not in {"", HOST, *adoption.NOUNS}:
        what = f"a {wanted} has no resource in the cloud to export."
        raise PluginError(what, ExitCode.MISUSED, do="Choose one with --kind: gvm, gsnap, gvpc or ghost.")
    here = cluster(at)
    hosts = wanted in {"", HOST}
    view = _look(here, cloud, at.namespace, hosts=hosts)
    place = vm_manifest.spelled_if_known("cluster", in_cluster, (one.cluster for one in view.records.clusters))
    left = [
        (item, record)
        for item, record in view.left
        if wanted in {"", item.kind} and place.casefold() in {"", item.cluster.casefold()}
    ]
    objects, refused = view.manifests(here, left)
    if output is Output.JSON:
        cannot = [item.document() | {"why": why} for item, why in refused]
        printing.document({"manifests": objects, "notExported": cannot, "failures": list(view.records.failures)}, output)
    else:
        if objects:
            printing.documents(objects)
        for item, why in refused:
            show.tell(f"not exported: {item.kind} {item.name} in {_place(item)}: {why}.")
        if not left:
            where = f" in cluster {place}" if place else ""
            show.tell(f"everything that the account sees{where} has an object.")
    code = ExitCode.OK
    if hosts and any(one.hosts is None for one in view.records.clusters):
        show.tell(NO_HOSTS)
        code = ExitCode.FAILED if wanted else code
    return complete(view.records.failures, code)


def adopt(
    at: At,
    *,
    name: str,
    in_cluster: str,
    vpc: str,
    apply: bool,
    output: Output,
    cloud: CloudOptions,
) -> int:
    """Print the manifest of an object that adopts one VM, snapshot or VPC, or create that object."""
    kind, called = target(name, others=True)
    if kind == HOST:
        command = command_again(cluster(at), cloud, "export", "--kind=ghost")
        what = "a GpuHost adopts nothing: it observes a host that is allocated already."
        raise PluginError(what, ExitCode.MISUSED, do=f"See the manifests: {command}")
    if kind not in adoption.NOUNS:
        raise PluginError(
            f"a {kind} has no resource in the cloud to adopt.", ExitCode.MISUSED, do="Name a VM, or gsnap/NAME, or gvpc/NAME."
        )
    here = cluster(at)
    view = _look(here, cloud, at.namespace)
    found = adoption.chosen(view.left, kind, called, in_cluster, vpc)
    if len(found) != 1:
        raise _which(kind, called, found) if found else _none(kind, called, view.left, command_again(here, cloud, "export"))
    objects, refused = view.manifests(here, found)
    for _, why in refused:
        command = command_again(here, cloud, "export")
        raise PluginError(
            f"the {adoption.NOUNS[kind]} {called!r} cannot be adopted: {why}.", do=f"See what else can be adopted: {command}"
        )
    (manifest,) = objects
    if not apply:
        printing.document(manifest, output)
        return ExitCode.OK
    made, is_new = writing.create(here, Key(here.namespace, kind, manifest["metadata"]["name"]), manifest["spec"])
    how = "created" if is_new else "exists already"
    print(f"{made.key}: {how}; it adopts the {adoption.NOUNS[kind]} {called!r}, which stays when the object is deleted.")
    patch = f"kubectl patch {KINDS[kind].short} {made.key.name} --namespace={here.namespace} --type=merge --patch='{DESTROY}'"
    printing.lines([Line(f"To have it destroyed with the object: {paste(patch)}")])
    return ExitCode.OK


def _which(kind: str, name: str, found: list[Found]) -> PluginError:
    """Say that there are several to adopt."""
    places = ", ".join(f"VPC {item.vpc!r} of {item.cluster}" if item.vpc else item.cluster for item, _ in found)
    what = f"there are several {adoption.NOUNS[kind]}s named {name!r}: in {places}."
    return PluginError(what, do="Say which with --cluster and --vpc.")


def _none(kind: str, name: str, left: tuple[Found, ...], export_command: str) -> PluginError:
    """Say that there is none to adopt, and which name may be meant."""
    suggested = question(nearest(name, {item.name for item, _ in left if item.kind == kind}))
    return PluginError(
        f"there is no {adoption.NOUNS[kind]} named {name!r} that the account sees and no object stands for.{suggested}",
        do=f"See all of these: {export_command}{AFTER_COMMAND}And the objects: {paste('kubectl gpucloud status -A')}",
    )


def _place(item: Leftover) -> str:
    """Where it is; a VPC and a host are in no VPC."""
    return f"VPC {item.vpc} of {item.cluster}" if item.vpc else f"cluster {item.cluster}"


def _look(here: Cluster, cloud: CloudOptions, namespace: str | None, *, hosts: bool = False) -> _AccountView:
    chosen = account_of(here, cloud.account)
    records = source_of(here, chosen, cloud).records(hosts=hosts)
    things = _all_things(here, (VPC, VM, SNAPSHOT, HOST) if hosts else (VPC, VM, SNAPSHOT))
    patience.over()
    account = "default" if chosen is None else chosen.key.name
    return _AccountView(account, namespace, records, unowned.unclaimed(records, things), things)


def _all_things(here: Cluster, kinds: tuple[str, ...]) -> tuple[Thing, ...]:
    """Return the objects of all namespaces; where these cannot be listed, those of this one, with a warning."""
    try:
        return here.things(None, kinds)
    except PluginError as error:
        listing = paste(f"kubectl get {','.join(KINDS[kind].short for kind in kinds)} -A")
        show.tell(
            f"{error.what} Only the objects of namespace {here.namespace!r} were compared with the cloud: what you export or"
            f" adopt may have an object in another namespace. Before you apply it, have an administrator look: {listing}"
        )
        return here.things(here.namespace, kinds)
