"""The part of docs/reference/performance.md that a run prints, and its picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bench import chart, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.results import Result, Run

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "performance.md"
BEGIN = "<!-- printed by `python -m bench page` -->"


def write(runs: Sequence[Run]) -> None:
    """Print the last run's tables, and the growth in all of them, into the documentation."""
    PAGE.write_text(replaced(PAGE.read_text(), table.report(runs[-1])))
    PAGE.with_suffix(".svg").write_text(chart.growth(newest(runs)))


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
