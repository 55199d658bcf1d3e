"""``PYTHONPATH=tests python -m support.metricspage [--check]``: print the tables of docs/reference/metrics.md from the code.

A row is what a scrape shows of the metric: its name, type, labels and HELP. The prose between the tables is written by hand.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

from gpucloud.kinds.definitions import DEFINITIONS
from pages.markdown import between, table
from printed import stale, write
from support.exportedmetrics import all_metrics

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"
HEAD = ("Metric", "Type", "Labels", "Meaning")
# Which table shows a metric: the first whose prefixes its name has, in the order of these prefixes.
TABLES = {
    "durations": ("gpucloud_time_to_ready", "operator_<kind>"),
    "held": ("gpucloud_deletions_held", "gpucloud_withheld"),
    "cloud": ("gpucloud_cloud",),
    "operator": (
        "gpucloud_build",
        "process_",
        "rest_client",
        "leader_election",
        "gpucloud_watch",
        "gpucloud_status",
        "gpucloud_task",
        "gpucloud_event_loop",
        "controller_runtime",
        "workqueue",
    ),
    "vms": (
        "gpucloud_objects",
        "gpucloud_vms",
        "gpucloud_gpus",
        "gpucloud_price_dollars",
        "gpucloud_accrued",
        "gpucloud_price_limit",
        "gpucloud_vm_limit",
        "gpucloud_orphans",
    ),
}
_KINDS = re.compile(rf"^operator_({'|'.join(item.kind.lower() for item in DEFINITIONS)})_")


class Metric(NamedTuple):
    """A metric as a scrape shows it; those of each kind of object are one, with ``<kind>`` in the name."""

    name: str
    type: str
    labels: tuple[str, ...]
    help: str


def metrics() -> list[Metric]:
    """Every metric that the operator exports, in the order of the registry.

    Raises:
        ValueError: one has no sample, which shows its labels.
    """
    found = {}
    for family in all_metrics(["Msc1"]).registry.collect():
        name = _KINDS.sub("operator_<kind>_", family.name) + ("_total" if family.type == "counter" else "")
        if not family.samples:
            raise ValueError(f"{name} has no sample: give it one in tests/support/exportedmetrics.py")
        labels = tuple(label for label in family.samples[0].labels if label != "le")
        found.setdefault(name, Metric(name, family.type, labels, family.documentation))
    return list(found.values())


def printed_into(page: str, shown: list[Metric]) -> str:
    """Return the page with its tables of these metrics printed again.

    Raises:
        ValueError: a metric has no table.
    """
    left = shown
    for name, prefixes in TABLES.items():
        of_table = [metric for prefix in prefixes for metric in left if metric.name.startswith(prefix)]
        left = [metric for metric in left if metric not in of_table]
        page = between(page, name, table(HEAD, map(_row, of_table)), by="make metrics")
    if left:
        raise ValueError(f"no table of {PAGE.name} shows {', '.join(metric.name for metric in left)}")
    return page


def _row(metric: Metric) -> tuple[str, ...]:
    return f"`{metric.name}`", metric.type, ", ".join(metric.labels), metric.help


def main(arguments: list[str]) -> int:
    """Return 0, or 1 when the page is not as printed."""
    page = {PAGE: printed_into(PAGE.read_text(encoding="utf-8"), metrics())}
    if arguments != ["--check"]:
        write(page)
        return 0
    names = stale(page)
    sys.stderr.writelines(f"{name} differs from what the code exports: run `make metrics`.\n" for name in names)
    return 1 if names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
