"""Verbs that look into the cloud itself: ``logs``, ``offers``, ``orphans``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.cli.plugin import leftovers, show, watching
from gpucloud.cli.plugin.console import console
from gpucloud.cli.plugin.errors import ExitCode, PluginError
from gpucloud.cli.plugin.kube.client import KubeApi
from gpucloud.cli.plugin.objects import ACCOUNT, SNAPSHOT, VM, VPC, Thing
from gpucloud.cli.plugin.page import Line, plural, table
from gpucloud.cli.plugin.show import Output
from gpucloud.cli.plugin.sources import Source, account_of, direct, own_account
from gpucloud.cli.plugin.verbs.shared import cluster, vm_key
from gpucloud.cli.plugin.world import World
from gpucloud.reconcile.naming import installation_tag

if TYPE_CHECKING:
    from gpucloud.cli.plugin.cluster import Cluster
    from gpucloud.cli.plugin.kube.access import At
    from gpucloud.cli.plugin.options import CloudOptions

OFFER_COLUMNS = {
    "CONFIGURATION": "configuration",
    "GPU": "gpu",
    "GPUS": "gpus",
    "PRICE/H": "pricePerHour",
    "CLUSTER": "cluster",
    "POOL": "resourcePool",
    "FREE": "free",
}
LEFT_COLUMNS = ("KIND", "CLUSTER", "VPC", "NAME", "STATE", "PRICE/H", "MADE FOR")
ADVICE = (
    "Nothing is done to them, and they may be billed. What is not needed, destroy in the cloud; see docs/how-to/orphans.md."
)


def logs(
    at: At,
    *,
    vm: str,
    limit: int,
    tail: int | None,
    follow: bool,
    output: Output,
    cloud: CloudOptions,
) -> int:
    """Print the boot log of a VM."""
    if follow and output is not Output.TEXT:
        raise PluginError(f"--follow prints text, not {output}: leave one of the two out.", ExitCode.MISUSED)
    here = cluster(at)
    item = here.need(vm_key(here, vm))
    account = None if own_account(item) else _account_of_vm(here, item)
    source = source_of(here, account, cloud)
    if follow:
        watching.log(lambda: _safe(source.boot_log(item, limit)), tail)
    text = watching.last_lines(source.boot_log(item, limit), tail)
    if output is not Output.TEXT:
        show.document(
            {"namespace": item.key.namespace, "name": item.key.name, "vmId": item.text("vmId"), "bootLog": text}, output
        )
    else:
        print(_safe(text), end="")
    return ExitCode.OK


def offers(
    at: At,
    *,
    in_cluster: str,
    available: bool,
    output: Output,
    cloud: CloudOptions,
) -> int:
    """List what can be bought: configurations, prices, and where they can be had now."""
    here = cluster(at)
    found = source_of(here, account_of(here, cloud.account), cloud).offers(in_cluster)
    rows = leftovers.offered(found, cluster=in_cluster, available=available)
    if output is not Output.TEXT:
        show.document({"offers": rows, "failures": list(found.failures)}, output)
    elif rows:
        cells = [{**row, "free": leftovers.free(row)} for row in rows]
        show.lines(table(tuple(OFFER_COLUMNS), [[_cell(row[name]) for name in OFFER_COLUMNS.values()] for row in cells]))
    else:
        print("There is nothing on offer.")
    return complete(found.failures, ExitCode.OK)


def orphans(
    at: At,
    *,
    install_tag: str,
    output: Output,
    cloud: CloudOptions,
) -> int:
    """List what the operator made in the cloud and no object stands for any more. It may be billed.

    Needs the right to list all GpuVMs and GpuSnapshots of the cluster: the object of what is seen may be in any namespace.
    Exit code 3: there are some.
    """
    here = cluster(at)
    tag = install_tag or _tag(here)
    source = source_of(here, account_of(here, cloud.account), cloud)
    seen = source.records()  # before the objects, so that what is made meanwhile has its object in the list
    left = leftovers.orphans(seen, {kind: tuple(here.bodies(kind, None)) for kind in (VM, VPC, SNAPSHOT)}, tag)
    if left:  # and once more: what was going away is gone
        seen = source.records()
        again = {(kind, one.cluster, record.id) for one in seen.clusters for kind, record in _marked_records(one)}
        left = tuple(item for item in left if (item.kind, item.cluster, item.name) in again)
    if output is not Output.TEXT:
        document = {"installTag": tag, "orphans": [item.document() for item in left], "failures": list(seen.failures)}
        show.document(document, output)
    elif left:
        show.lines([*_left_table(left), Line(""), Line(f"{plural(len(left), 'orphan')}. {ADVICE}")])
    else:
        print(f"No orphans were seen (names with the tag {tag!r}).")
    return complete(seen.failures, ExitCode.FOUND if left else ExitCode.OK)


def source_of(here: Cluster, account: Thing | None, cloud: CloudOptions) -> Source:
    """The Secret, if it can be used, else the operator's console; when neither, both reasons."""
    found, why = direct(here, account, cloud)
    if found is not None:
        return found
    if not isinstance(here.api, KubeApi):
        raise PluginError(f"{why}.")
    try:
        return console(here, here.api, account, cloud)
    except PluginError as error:
        raise PluginError(f"the cloud cannot be asked: {why}; and {error}", error.code) from None


def _account_of_vm(here: Cluster, item: Thing) -> Thing | None:
    key = World.of((item, *here.things(item.key.namespace, (ACCOUNT,)))).account(item)
    return None if key is None else here.need(key)


def _tag(here: Cluster) -> str:
    found = here.read("/api/v1/namespaces/kube-system")
    uid = ((found or {}).get("metadata") or {}).get("uid")
    if not uid:
        raise PluginError(
            "the installation's tag is made from the namespace kube-system, which you may not read: give --install-tag."
        )
    return installation_tag(str(uid))


def _marked_records(one: Any) -> list[tuple[str, Any]]:
    return [*((VM, record) for record in one.vms), *((SNAPSHOT, record) for record in one.snapshots)]


def _left_table(left: tuple[leftovers.Leftover, ...]) -> list[Line]:
    rows = [
        [item.kind, item.cluster, item.vpc, item.name, item.state, item.price_per_hour or "", item.made_for or ""]
        for item in left
    ]
    return list(table(LEFT_COLUMNS, rows))


def complete(failures: tuple[str, ...], code: ExitCode) -> ExitCode:
    """What could not be looked at outweighs what was found."""
    for failure in failures:
        show.tell(f"{failure}.")
    return ExitCode.FAILED if failures else code


def _cell(value: Any) -> str:
    return "" if value is None else str(value)


def _safe(text: str) -> str:
    """A log keeps its lines, each of which ends, and its tabs; what could steer a terminal goes."""
    kept = "".join(char if char.isprintable() or char in "\n\t" else "" for char in text).rstrip("\n")
    return f"{kept}\n" if kept else ""
