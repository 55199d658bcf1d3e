"""What the runs that are kept print into the documentation: a part of two pages, and a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bench import chart, kept, model, table
from bench.bars import BARS, FIRST_GOALS, within
from bench.measures import BASE, figure
from bench.results import OPERATORS, OURS
from pages.markdown import between

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.bars import Bar
    from bench.kept import Kept
    from bench.results import Result, Run

DOCS = Path(__file__).parents[2] / "docs"
PAGE, SIZING = DOCS / "reference" / "performance.md", DOCS / "explanation" / "sizing.md"
MEASURED_SIZES = 2  # that a straight line takes
BEGIN = "<!-- printed by `python -m bench page` -->"
NOT_MEASURED = "not measured"
DEFAULT_BUDGET_SIZE = 1_000
SIZING_FLEETS = (model.Fleet(1_000, 10, 0.1), model.Fleet(4_000, 10, 0.1), *model.FLEETS[1:])


def pages(found: Kept | None = None) -> dict[Path, str]:
    """Return the files that are printed from what is kept, whole or in part."""
    found = found or kept.load()
    return {
        PAGE: replaced(PAGE.read_text(encoding="utf-8"), "\n".join(_parts(found))),
        PAGE.with_suffix(".svg"): chart.growth(_drawn(found)),
        SIZING: between(SIZING.read_text(encoding="utf-8"), "fleets", "\n".join(sizing(found))),
    }


def replaced(text: str, part: str) -> str:
    """The page with another last part: all that follows the mark is printed.

    Raises:
        ValueError: it has no such mark.
    """
    before, mark, _ = text.partition(BEGIN)
    if not mark:
        raise ValueError(f"{PAGE.name} has lost the line {BEGIN}")
    return f"{before}{BEGIN}\n\n{part.rstrip()}\n"


def bars(found: Kept, chosen: Sequence[Bar]) -> list[str]:
    """Bars with what was measured, and below them the causes of those that are missed."""
    head = ["what", "N", "bar", "stretch", "before", "measured", "so it is"]
    rows = [head, *(_bar(found, bar) for bar in chosen)]
    if not any(bar.before for bar in chosen):
        rows = [[cell for place, cell in enumerate(row) if head[place] != "before"] for row in rows]
    whys: dict[str, list[str]] = {}
    for bar in chosen:
        if bar.verdict(found) == "missed":
            whys.setdefault(bar.why, []).append(f"{bar.what} (N = {bar.objects:,})")
    told = [line for why, whats in whys.items() for line in (f"- {why} Missed:", *(f"    - {what}" for what in whats))]
    return [*table.lines(rows), "", *told, *([""] if told else [])]


def sizes(found: Kept) -> list[str]:
    """A row for each number of objects, measured or not."""
    rows = [["N", "request budget", "run", "environment", "operators", "all Ready, s", "all gone, s", "what went wrong"]]
    rows += [_size(objects, "none", found.run(objects)) for objects in found.sizes]
    rows.append(_size(DEFAULT_BUDGET_SIZE, "default", found.run(DEFAULT_BUDGET_SIZE, budget="default")))
    return table.lines(rows)


def modelled(found: Kept) -> list[Result]:
    """The results that other sizes are computed from: without small ones, in which constant costs weigh too much."""
    return [one for one in found.good if one.objects >= BASE]


def fleets(results: Sequence[Result]) -> list[str]:
    """What fleets of other sizes would cost, where two sizes were measured."""
    if len({one.objects for one in results}) < MEASURED_SIZES:
        said = f"Computed from two runs with {BASE:,} objects and more, of which not both are kept: {NOT_MEASURED}."
        return ["### Fleets of other sizes", "", said, ""]
    costs = model.costs(results)
    said = f"Computed from the runs with {costs.lowest:,} and {costs.highest:,} objects, as straight lines through both."
    return ["### Fleets of other sizes", "", said, "", *table.lines(model.table(costs)), ""]


def sizing(found: Kept) -> list[str]:
    """The table of what a fleet needs: measured where that size was, else computed from two that were."""
    rows = [["VMs", "Memory at the peak", "CPU in steady state", "Listings a minute, nothing pending", "How it is known"]]
    smallest = next(iter(found.good), None)
    start = smallest.phase("start") if smallest else None
    rows.append(["none", f"{start.peak_rss_mb:.0f} MB", "", "", "measured"] if start else ["none", *[""] * 3, NOT_MEASURED])
    costs = model.costs(lined) if len(lined := modelled(found)) >= MEASURED_SIZES else None
    rows += [_fleet(fleet, found.ours(fleet.vms), costs) for fleet in SIZING_FLEETS]
    return table.lines(rows)


def _fleet(fleet: model.Fleet, measured: Result | None, costs: model.Costs | None) -> list[str]:
    name, listings = f"{fleet.vms:,} in {fleet.accounts} accounts", str(fleet.accounts)
    idle = measured.phase("idle") if measured else None
    if measured and idle:
        cells = [_mb(model.peak_rss(measured)), _cores(idle.cpu["operator"] / idle.wall), listings]
        return [name, *cells, "measured, in one account"]
    if costs is None:
        return [name, "", "", listings, NOT_MEASURED]
    cells = [_mb(costs.memory.at(fleet.vms)), _cores(costs.idle_minute.at(fleet.vms) / model.MINUTE), listings]
    return [name, *cells, f"computed from {costs.lowest:,} and {costs.highest:,}"]


def _mb(value: float) -> str:
    return f"{value:.0f} MB" if value < 1_000 else f"{value / 1_000:.1f} GB"


def _cores(value: float) -> str:
    return f"{value:.3f} cores"


def _bar(found: Kept, bar: Bar) -> list[str]:
    stretch = "" if bar.stretch is None else f"≤ {bar.stretch:g}"
    return [
        bar.what,
        f"{bar.objects:,}",
        f"≤ {bar.most:g}" if bar.most else "0",
        stretch,
        bar.before,
        _beside(bar.measured(found), bar.most),
        bar.verdict(found),
    ]


def _value(value: float | None) -> str:
    return table.number(value)


def _beside(value: float | None, most: float) -> str:
    """The value with as many digits as show on which side of the bar it is."""
    shown = table.number(value)
    if value is None or within(value, most) == within(float(shown), most):
        return shown
    return next(text for digits in range(4, 18) if within(float(text := f"{value:.{digits}g}"), most) == within(value, most))


def _size(objects: int, budget: str, run: Run | None) -> list[str]:
    head = [f"{objects:,}", budget]
    if run is None:
        return [*head, "", "", "", "", "", NOT_MEASURED]
    chosen = {one.operator: one for one in run.results if one.objects == objects}
    ours = chosen[OURS]
    walls = [_value(figure(title, ours)) for title in ("create: all Ready, s", "delete: all gone, s")]
    names = ", ".join(name for name in OPERATORS if name in chosen)
    return [*head, run.name, run.machine.get("environment", ""), names, *walls, " ".join(ours.failure.split()) or "nothing"]


def _parts(found: Kept) -> list[str]:
    parts = ["### The sizes", "", *sizes(found), "", "### The bars", "", *bars(found, BARS)]
    parts += ["### The first goals", "", *bars(found, FIRST_GOALS), *fleets(modelled(found))]
    for objects in found.sizes:
        if run := found.run(objects):
            parts += [*table.size(run, objects), ""]
    if limited := found.run(DEFAULT_BUDGET_SIZE, budget="default"):
        parts += [*table.size(limited, DEFAULT_BUDGET_SIZE), ""]
    return parts


def _drawn(found: Kept) -> list[Result]:
    """Of each size all operators of one run; what failed is left out."""
    runs = ((objects, found.run(objects)) for objects in found.sizes)
    results = (one for objects, run in runs if run for one in run.results if one.objects == objects)
    return [one for one in results if not one.failure]
