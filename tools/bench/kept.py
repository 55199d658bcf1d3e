"""The runs that the documentation is printed from: kept beside the page, as JSON. What is not in them was not measured."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.results import OURS, from_json, to_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bench.results import Result, Run

FILE = Path(__file__).parents[2] / "docs" / "reference" / "performance.json"
SIZES = (200, 1_000, 5_000, 10_000)  # numbers of objects that the page has a row for, measured or not


@dataclass(frozen=True)
class Kept:
    """Runs in the order of time."""

    runs: tuple[Run, ...]

    def run(self, objects: int, *, budget: str = "none") -> Run | None:
        """The newest run that measured the product with so many objects."""
        return next((run for run in reversed(self.runs) if run.budget == budget and _of(run, OURS, objects)), None)

    def ours(self, objects: int) -> Result | None:
        """What came of it, if all went well."""
        found = self.any_of_ours(objects)
        return found if found and not found.failure else None

    def any_of_ours(self, objects: int) -> Result | None:
        """The same, even where something went wrong."""
        run = self.run(objects)
        return _of(run, OURS, objects) if run else None

    def peer(self, name: str, objects: int) -> Result | None:
        """A peer's result of the very run that ``ours`` is of: figures of different runs are not comparable."""
        run = self.run(objects)
        found = _of(run, name, objects) if run else None
        return found if found and not found.failure else None

    @property
    def sizes(self) -> list[int]:
        """Those that the page speaks of, and whatever else was measured."""
        return sorted({*SIZES, *(one.objects for run in self.runs for one in run.results)})

    @property
    def good(self) -> list[Result]:
        """The product's results of all sizes, without a request budget in the way."""
        return [found for objects in self.sizes if (found := self.ours(objects))]


def of(runs: Iterable[Run]) -> Kept:
    """These runs, in the order of time."""
    return Kept(tuple(sorted(runs, key=lambda run: run.name)))


def load(file: Path = FILE) -> Kept:
    """Read what is kept."""
    return of(from_json(run) for run in json.loads(file.read_text(encoding="utf-8"))["runs"])


def save(kept: Kept, file: Path = FILE) -> None:
    """Keep these in place of what was kept."""
    file.write_text(json.dumps({"runs": [to_json(run) for run in kept.runs]}, indent=1) + "\n", encoding="utf-8")


def _of(run: Run, operator: str, objects: int) -> Result | None:
    return next((one for one in run.results if one.operator == operator and one.objects == objects), None)
