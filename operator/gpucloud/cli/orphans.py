"""``gpucloud orphans``: list what this installation made in the cloud and no object stands for; for administrators.

It changes nothing, and needs no running operator. It knows flags, forms and exit codes; who is an orphan is decided below.
"""

from __future__ import annotations

import asyncio
import json
import sys
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from gpucloud import flags, website
from gpucloud.cli import yamltext
from gpucloud.cli.administration import carry_out
from gpucloud.cli.choices import one_of
from gpucloud.cli.endings import FAILED, MISUSED, refused
from gpucloud.cli.terminal import printing
from gpucloud.cli.terminal.page import Line, plural
from gpucloud.cli.unclaimed import leftover, lines
from gpucloud.cloud.errors import one_line
from gpucloud.reconcile.price import is_billed_state
from gpucloud.settings import SettingsError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence

    from gpucloud.cli.operations.orphans import Found, Report
    from gpucloud.cli.unclaimed import Leftover
    from gpucloud.settings import Settings

FLAGS = ("endpoint", "namespace", "install_tag", "ca_file", "proxy", "cloud_qps", "cloud_burst", "cloud_timeout_seconds")
NONE, SOME = 0, 3
ADVICE = (
    "No object stands for these any more. This command destroys nothing, and an orphan may be billed.",
    "If you need one, adopt it: kubectl gpucloud adopt NAME prints the manifest of an object that does.",
    "If not, adopt it with --apply, wait for Ready, set spec.deletion.policy to Delete, and delete that object.",
    "Or destroy it in the cloud's console, or by its API: DestroyServer for a VM, DeleteSnapshot for a snapshot.",
    f"More, and how leftovers of this kind are collected: {website.ORPHANS}",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The settings of the operator that this look needs, under the same names, and the form of the answer."""
    flags.add_arguments(parser, FLAGS)
    form, taken = one_of(("table", "json", "yaml")), "{table,json,yaml}"
    parser.add_argument("-o", "--output", type=form, metavar=taken, default="table", help="form (default table)")
    parser.epilog = (
        "Accounts: GPUCLOUD_API_KEY, or GPUCLOUD_USERNAME with GPUCLOUD_PASSWORD, or the same with _FILE naming a file; and "
        "every GpuCloudAccount whose Secret can be read. The cluster: KUBECONFIG, or the service account of the pod. "
        f"Exit code: {NONE} no orphans, {SOME} some, {FAILED} not everything could be looked at, {MISUSED} wrong usage."
    )


def run(args: argparse.Namespace) -> int:
    """Look, print, and say by the exit code what was found."""
    return carry_out("orphans", lambda: _chosen(args), lambda chosen: _look(chosen, args.output))


def _look(chosen: Settings, form: str) -> int:
    # Only now: kopf, which knows how to log in, takes half a second to import.
    from gpucloud import app  # noqa: PLC0415
    from gpucloud.cli.operations.orphans import inspect  # noqa: PLC0415
    from gpucloud.engine.kube.errors import KubeError  # noqa: PLC0415
    from gpucloud.handlers.login import connect  # noqa: PLC0415

    app.configure_logging(chosen.replace(log_level="error", log_format="text"))
    try:
        report = asyncio.run(inspect(chosen, connect, tell))
    except KubeError as error:
        return refused(
            "orphans", f"the objects cannot be read: {error}. Run 'gpucloud check', which says what is wrong.", FAILED
        )
    return show(report, form)


def tell(words: str) -> None:
    """Say on a terminal what is waited for. Elsewhere standard error has failures only."""
    if sys.stderr.isatty():
        printing.lines([Line(f"gpucloud orphans: {words} …", hang="  ")], sys.stderr)


def _chosen(args: argparse.Namespace) -> Settings:
    chosen = flags.load(vars(args))
    if chosen.namespace and not chosen.install_tag:
        raise SettingsError(
            "--namespace needs --install-tag: without one, VMs of other namespaces' operators look the same; set it, too"
        )
    return chosen


def show(report: Report, form: str) -> int:
    """Print the report, its failures to standard error, and answer the exit code."""
    left = [_leftover(item) for item in report.orphans]
    if form == "table" and report.accounts:  # else nothing was looked at
        printing.lines(_page(left, report.tag))
    elif form == "table":
        print("Nothing was looked at, so there may be orphans.")
    else:
        document = as_document(report, left)
        print(json.dumps(document, indent=2) if form == "json" else yamltext.text_of(document))
    failures = [f"gpucloud orphans: account {account}: {one_line(why)}" for account, why in report.failures]
    printing.lines([Line(words, hang="  ") for words in failures], sys.stderr)
    if not report.accounts and not report.failures:
        refused(
            "orphans",
            "no credential for the cloud was found: set GPUCLOUD_API_KEY_FILE=FILE, or let it read the GpuCloudAccounts and "
            "their Secrets",
            FAILED,
        )
    if report.failures or not report.accounts:
        return FAILED
    return SOME if report.orphans else NONE


def as_document(report: Report, left: Sequence[Leftover]) -> dict[str, Any]:
    """The same for programs."""
    return {
        "installTag": report.tag,
        "orphans": [item.document() for item in left],
        "pricePerHour": _price(left),
        "accounts": list(report.accounts),
        "failures": [{"account": account, "message": one_line(why)} for account, why in report.failures],
    }


def _page(left: Sequence[Leftover], tag: str) -> Iterator[Line]:
    """The orphans for people, their totals, and what to do."""
    if not left:
        yield Line(f"No orphans were seen: each VM and snapshot with the tag {tag!r} in its name has an object.")
        return
    yield from lines(left)
    yield from (Line(""), Line(_total(left)), Line(""))
    yield from map(Line, ADVICE)


def _leftover(item: Found) -> Leftover:
    return leftover(item.marked.where.cluster, item.marked.record, item.price, item.marked.made_for, item.account)


def _price(left: Iterable[Leftover]) -> str | None:
    known = [Decimal(item.price_per_hour) for item in left if item.price_per_hour and is_billed_state(item.state or None)]
    return str(sum(known)) if known else None


def _total(left: Sequence[Leftover]) -> str:
    kinds = sorted({item.kind for item in left})
    counts = ", ".join(f"{sum(item.kind == kind for item in left)} made for a {kind}" for kind in kinds)
    price = _price(left)
    costs = "." if price is None else f"; of known price ${price} an hour."
    return f"{plural(len(left), 'orphan')}: {counts}{costs}"
