"""Verbs that look into the cloud itself: ``logs``, ``offers``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.cli.plugin import show
from gpucloud.cli.plugin.cloud.source_of_verb import NoSourceError, complete, source_of
from gpucloud.cli.plugin.cloud.sources import account_of, own_account
from gpucloud.cli.plugin.creation import offer_rows, vm_manifest
from gpucloud.cli.plugin.errors import ExitCode, PluginError
from gpucloud.cli.plugin.model.dependencies import World
from gpucloud.cli.plugin.model.objects import ACCOUNT, Thing
from gpucloud.cli.plugin.targets import cluster, vm_key
from gpucloud.cli.plugin.waiting import patience, watching
from gpucloud.cli.terminal import printing
from gpucloud.cli.terminal.marks import paste
from gpucloud.cli.terminal.page import table
from gpucloud.cli.terminal.printing import Output
from gpucloud.reconcile.price import is_off

if TYPE_CHECKING:
    from gpucloud.cli.plugin.cluster import Cluster
    from gpucloud.cli.plugin.kube.access import At
    from gpucloud.cli.plugin.usage.options import CloudOptions


OFFER_COLUMNS = {
    "CONFIGURATION": "configuration",
    "GPU": "gpu",
    "GPUS": "gpus",
    "PRICE/H": "pricePerHour",
    "CLUSTER": "cluster",
    "POOL": "resourcePool",
    "FREE": "free",
}


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
        raise PluginError(f"--follow prints text, not {output}.", ExitCode.MISUSED, do="Leave one of the two out.")
    here = cluster(at)
    item = here.need(vm_key(here, vm))
    account = None if own_account(item) else _account_of_vm(here, item)
    source = source_of(here, account, cloud)
    if follow:
        patience.over()
        watching.log(lambda: _safe(source.boot_log(item, limit)), tail)
    text = watching.last_lines(source.boot_log(item, limit), tail)
    patience.over()
    if output is not Output.TEXT:
        printing.document(
            {"namespace": item.key.namespace, "name": item.key.name, "vmId": item.text("vmId"), "bootLog": text}, output
        )
    else:
        print(_safe(text), end="")
        if not text and tail != 0:
            show.tell(_no_log(item))
    return ExitCode.OK


def _no_log(vm: Thing) -> str:
    """Why a VM in the cloud has no boot log, and what to do."""
    if is_off(vm.status, vm.uid):
        return f"{vm.key} is off, and the cloud has no boot log of it: start it with '{vm.key.command('start', '--wait')}'."
    return f"the cloud has no boot log of {vm.key} yet: try again, or follow it with --follow."


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
    account = account_of(here, cloud.account)
    place = _spelled(in_cluster, account)
    try:
        source = source_of(here, account, cloud)
    except NoSourceError as error:
        instead = f"For what the operator last read, use '{paste('kubectl get gpuoffers')}'."
        raise NoSourceError(error.what, error.code, do=f"{error.do} {instead}") from None
    found = source.offers(place)
    patience.over()
    rows = offer_rows.offered(found, cluster=place, available=available)
    if output is not Output.TEXT:
        printing.document({"offers": rows, "failures": list(found.failures)}, output)
    elif rows:
        cells = [{**row, "free": offer_rows.free(row)} for row in rows]
        printing.lines(table(tuple(OFFER_COLUMNS), [[_cell(row[name]) for name in OFFER_COLUMNS.values()] for row in cells]))
    else:
        print("There is nothing on offer.")
    return complete(found.failures, ExitCode.OK)


def _spelled(cluster: str, account: Thing | None) -> str:
    """A cluster as the account's status spells it; as it was typed where the status names none."""
    known = None if account is None else account.status.get("clusters")
    return vm_manifest.spelled_if_known("cluster", cluster, map(str, known) if isinstance(known, list) else ())


def _account_of_vm(here: Cluster, item: Thing) -> Thing | None:
    key = World.of((item, *here.things(item.key.namespace, (ACCOUNT,)))).account(item)
    return None if key is None else here.need(key)


def _cell(value: Any) -> str:
    return "" if value is None else str(value)


def _safe(text: str) -> str:
    """A log keeps its lines, each of which ends, and its tabs; what could steer a terminal goes."""
    kept = "".join(char if char.isprintable() or char in "\n\t" else "" for char in text).rstrip("\n")
    return f"{kept}\n" if kept else ""
