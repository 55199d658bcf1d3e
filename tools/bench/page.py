"""The part of docs/reference/performance.md that a run prints, and its picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bench import chart, model, table
from bench.results import OURS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.results import Result, Run

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "performance.md"
MEASURED_SIZES = 2  # that a straight line takes
BEGIN = "<!-- printed by `python -m bench page` -->"


def write(runs: Sequence[Run]) -> None:
    """Print the last run's tables, and the growth in all of them, into the documentation."""
    found = newest(runs)
    parts = [*fleets([one for one in found if one.operator == OURS]), table.report(runs[-1])]
    PAGE.write_text(replaced(PAGE.read_text(), "\n".join(parts)))
    PAGE.with_suffix(".svg").write_text(chart.growth(found))


def fleets(results: Sequence[Result]) -> list[str]:
    """What fleets of other sizes would cost, where two sizes were measured."""
    if len({one.objects for one in results}) < MEASURED_SIZES:
        return []
    costs = model.costs(results)
    said = f"Computed from the runs with {costs.lowest:,} and {costs.highest:,} objects, as straight lines through both."
    return ["### Fleets of other sizes", "", said, "", *table.lines(model.table(costs)), ""]


def replaced(text: str, part: str) -> str:
    """The page with another last part: all that follows the mark is printed.

    Raises:
        ValueError: it has no such mark.
    """
    kept, mark, _ = text.partition(BEGIN)
    if not mark:
        raise ValueError(f"{PAGE.name} has lost the line {BEGIN}")
    return f"{kept}{BEGIN}\n\n{part.rstrip()}\n"


def newest(runs: Sequence[Run]) -> list[Result]:
    """Of several results of one operator and number of objects the one of the last run; what failed is left out."""
    found = {(one.operator, one.objects): one for run in runs for one in run.results if not one.failure}
    return list(found.values())
