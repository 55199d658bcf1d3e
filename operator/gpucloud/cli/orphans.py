"""``gpucloud orphans``: list what this installation made in the cloud and no object stands for; for administrators.

It changes nothing, and needs no running operator. It knows flags, tables and exit codes; who is an orphan is decided below.
"""

from __future__ import annotations

import asyncio
import json
import sys
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from gpucloud import flags
from gpucloud.cli import variables, yamltext
from gpucloud.cloud.errors import one_line
from gpucloud.cloud.models import SnapshotRecord, VmRecord
from gpucloud.reconcile.price import is_billed_state
from gpucloud.settings import SettingsError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from gpucloud.cli.operations.orphans import Found, Report
    from gpucloud.settings import Settings

FLAGS = ("endpoint", "namespace", "install_tag", "ca_file", "proxy", "cloud_qps", "cloud_burst", "cloud_timeout_seconds")
NONE, FAILED, MISUSED, SOME = 0, 1, 2, 3
COLUMNS = ("ACCOUNT", "KIND", "CLUSTER", "VPC", "NAME", "STATE", "CHANGED", "PRICE/H", "MADE FOR")
ADVICE = """\
No object stands for these any more. This command destroys nothing, and an orphan may be billed.
If you need one, adopt it: kubectl gpucloud adopt NAME prints the manifest of an object that does.
If not, adopt it with --apply, wait for Ready, set spec.deletion.policy to Delete, and delete that object;
or destroy it in the cloud's console, or by its API: DestroyServer for a VM, DeleteSnapshot for a snapshot.
More, and how leftovers of this kind are collected: docs/how-to/orphans.md."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The settings of the operator that this look needs, under the same names, and the form of the answer."""
    flags.add_arguments(parser, FLAGS)
    parser.add_argument("-o", "--output", choices=("table", "json", "yaml"), default="table", help="form (default table)")
    parser.epilog = (
        "Accounts: GPUCLOUD_API_KEY, or GPUCLOUD_USERNAME with GPUCLOUD_PASSWORD, or the same with _FILE naming a file; and "
        "every GpuCloudAccount whose Secret can be read. The cluster: KUBECONFIG, or the service account of the pod. "
        f"Exit code: {NONE} no orphans, {SOME} some, {FAILED} not everything could be looked at, {MISUSED} wrong usage."
    )


def run(args: argparse.Namespace) -> int:
    """Look, print, and say by the exit code what was found."""
    variables.warn("orphans", flags.variables())
    try:
        chosen = _chosen(args)
    except SettingsError as error:
        print(f"gpucloud orphans: {error}", file=sys.stderr)
        return MISUSED
    # Only now: kopf, which knows how to log in, takes half a second to import.
    from gpucloud import app  # noqa: PLC0415
    from gpucloud.cli.operations.orphans import inspect  # noqa: PLC0415
    from gpucloud.engine.kube.errors import KubeError  # noqa: PLC0415
    from gpucloud.handlers.login import NoCluster, connect  # noqa: PLC0415

    app.configure_logging(chosen.replace(log_level="error", log_format="text"))
    try:
        report = asyncio.run(inspect(chosen, connect))
    except (KubeError, NoCluster, OSError, SettingsError) as error:
        print(f"gpucloud orphans: {error}", file=sys.stderr)
        return FAILED
    return show(report, args.output)


def _chosen(args: argparse.Namespace) -> Settings:
    chosen = flags.load(vars(args))
    if chosen.namespace and not chosen.install_tag:
        raise SettingsError(
            "--namespace needs --install-tag: without one, VMs of other namespaces' operators look the same; set it, too"
        )
    return chosen


def show(report: Report, form: str) -> int:
    """Print the report, its failures to standard error, and answer the exit code."""
    if form == "table" and report.accounts:  # else nothing was looked at
        print(as_text(report))
    elif form == "table":
        print("Nothing was looked at, so there may be orphans.")
    else:
        document = as_document(report)
        print(json.dumps(document, indent=2) if form == "json" else yamltext.text_of(document))
    for account, why in report.failures:
        print(f"gpucloud orphans: account {account}: {one_line(why)}", file=sys.stderr)
    if not report.accounts and not report.failures:
        print(
            "gpucloud orphans: no credential for the cloud was found: set GPUCLOUD_API_KEY_FILE=FILE, or let it read the "
            "GpuCloudAccounts and their Secrets",
            file=sys.stderr,
        )
    if report.failures or not report.accounts:
        return FAILED
    return SOME if report.orphans else NONE


def as_text(report: Report) -> str:
    """A table for people, its totals, and what to do."""
    if not report.orphans:
        return f"No orphans were seen (names with the tag {report.tag!r})."
    rows = [COLUMNS, *(tuple(str(cell or "-") for cell in _cells(item).values()) for item in report.orphans)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, "", _total(report.orphans), "", ADVICE])


def as_document(report: Report) -> dict[str, Any]:
    """The same for programs."""
    return {
        "installTag": report.tag,
        "orphans": [_cells(item) for item in report.orphans],
        "pricePerHour": _price(report.orphans),
        "accounts": list(report.accounts),
        "failures": [{"account": account, "message": one_line(why)} for account, why in report.failures],
    }


def _cells(item: Found) -> dict[str, str | None]:
    """One orphan. The cloud's words are made safe for a terminal; a record that is missing a field says nothing there."""
    where, record = item.marked.where, item.marked.record
    changed = record.last_updated if isinstance(record, VmRecord) else record.creation_date
    state = _state(record)
    return {
        "account": item.account,
        "kind": item.marked.kind,
        "cluster": one_line(where.cluster),
        "vpc": one_line(where.vpc) or None,
        "name": where.name,
        "state": None if state is None else one_line(state),
        "changedAt": None if changed is None else changed.isoformat(),
        "pricePerHour": item.price,
        "madeFor": item.marked.made_for,
    }


def _state(record: VmRecord | SnapshotRecord) -> str | None:
    """The cloud's word for the state of a VM; of a snapshot whether it can be used."""
    if isinstance(record, VmRecord):
        return record.status or None
    return {True: "ready", False: "not ready"}.get(record.ready_to_use) if record.ready_to_use is not None else None


def _price(found: Iterable[Found]) -> str | None:
    known = [Decimal(item.price) for item in found if item.price is not None and is_billed_state(_state(item.marked.record))]
    return str(sum(known)) if known else None


def _total(found: tuple[Found, ...]) -> str:
    kinds = sorted({item.marked.kind for item in found})
    counts = ", ".join(f"{sum(item.marked.kind == kind for item in found)} made for a {kind}" for kind in kinds)
    price = _price(found)
    costs = "." if price is None else f"; of known price ${price} an hour."
    return f"{len(found)} orphan{'s' if len(found) > 1 else ''}: {counts}{costs}"
