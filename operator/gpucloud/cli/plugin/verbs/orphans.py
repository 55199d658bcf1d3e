"""``orphans``: what this installation made in the cloud and no object stands for. Its module loads the operator's own rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud import website
from gpucloud.cli.plugin.cloud.source_of_verb import command_again, complete, source_of
from gpucloud.cli.plugin.cloud.sources import account_of
from gpucloud.cli.plugin.cluster.rights import right_to
from gpucloud.cli.plugin.errors import ExitCode, PluginError
from gpucloud.cli.plugin.model import unowned
from gpucloud.cli.plugin.model.objects import KINDS, SNAPSHOT, VM, VPC
from gpucloud.cli.plugin.targets import cluster
from gpucloud.cli.plugin.waiting import patience
from gpucloud.cli.terminal import printing
from gpucloud.cli.terminal.marks import paste
from gpucloud.cli.terminal.page import Line, plural
from gpucloud.cli.terminal.printing import Output
from gpucloud.cli.unclaimed import lines
from gpucloud.reconcile.naming import installation_tag

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gpucloud.cli.plugin.cluster import Cluster
    from gpucloud.cli.plugin.kube.access import At
    from gpucloud.cli.plugin.usage.options import CloudOptions
    from gpucloud.cli.unclaimed import Leftover

NAMES = "kubectl get gvm -A -o jsonpath='{.items[*].status.order.name}'"
LISTED = (VM, VPC, SNAPSHOT)


def orphans(
    at: At,
    *,
    install_tag: str,
    output: Output,
    cloud: CloudOptions,
) -> int:
    """List VMs and snapshots that this installation created and whose object is gone. They may still be billed.

    Needs the right to list all GpuVMs and GpuSnapshots of the cluster: the object of what is seen may be in any namespace.
    Exit code 3: there are some.
    """
    here = cluster(at, *(right_to("list", kind) for kind in LISTED))
    tag = install_tag or _tag(here)
    source = source_of(here, account_of(here, cloud.account), cloud)
    seen = source.records()  # before the objects, so that what is made meanwhile has its object in the list
    left = unowned.orphans(seen, {kind: tuple(here.bodies(kind, None)) for kind in LISTED}, tag)
    if left:  # and once more: what was going away is gone
        seen = source.records()
        again = {(kind, one.cluster, record.id) for one in seen.clusters for kind, record in _marked_records(one)}
        left = tuple(item for item in left if (item.kind, item.cluster, item.name) in again)
    patience.over()
    if output is not Output.TEXT:
        document = {"installTag": tag, "orphans": [item.document() for item in left], "failures": list(seen.failures)}
        printing.document(document, output)
    elif left:
        printing.lines([*lines(left), Line(""), *_advice(here, cloud, left)])
    else:
        print(f"No orphans were seen: each VM and snapshot with the tag {tag!r} in its name has an object.")
    return complete(seen.failures, ExitCode.FOUND if left else ExitCode.OK)


def _advice(here: Cluster, cloud: CloudOptions, left: Sequence[Leftover]) -> Iterator[Line]:
    """What to do about the first one; the others go the same way. What its object is called, ``adopt`` says."""
    first = left[0]
    place = [f"--cluster={first.cluster}", *([f"--vpc={first.vpc}"] if first.vpc else [])]
    adopt = command_again(here, cloud, "adopt", f"{KINDS[first.kind].short}/{first.name}", *place, "--apply")
    yield Line(f"{plural(len(left), 'orphan')}. This command destroys nothing, and an orphan may be billed.")
    yield Line(f"How to keep or destroy one: {website.ORPHANS}")
    yield Line(f"It begins with an object that adopts it: {adopt}")


def _tag(here: Cluster) -> str:
    found = here.read("/api/v1/namespaces/kube-system")
    uid = ((found or {}).get("metadata") or {}).get("uid")
    if not uid:
        raise PluginError(
            "the installation's tag is made from the namespace kube-system, which you may not read.",
            do=f"Give it as --install-tag: VMs are named NAME-TAG-HASH. To see the names of those there are: {paste(NAMES)}",
        )
    return installation_tag(str(uid))


def _marked_records(one: Any) -> list[tuple[str, Any]]:
    return [*((VM, record) for record in one.vms), *((SNAPSHOT, record) for record in one.snapshots)]
