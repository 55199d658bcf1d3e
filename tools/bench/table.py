"""Results as Markdown: one table of figures and ratios for each number of objects, and one of each operator's phases. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.figures import FIGURES
from bench.results import GO, KOPF, OPERATORS, OURS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench.results import Phase, Result, Run

PHASES = ("phase", "wall s", "steal s", "CPU s: operator", "apiserver", "etcd", "cloud", "RSS MB", "cloud calls", "apiserver")


def report(run: Run) -> str:
    """All of it, as a page's part."""
    parts = [part for objects in sorted({one.objects for one in run.results}) for part in (*size(run, objects), "")]
    return "\n".join(parts)


def size(run: Run, objects: int) -> list[str]:
    """What one run found with so many objects: the run, its figures, and each operator's phases."""
    facts = ", ".join(f"{name} {value}" for name, value in run.machine.items())
    budget = {"none": "none in the way", "default": "the default"}[run.budget]
    chosen = [result for result in run.results if result.objects == objects]
    limited = ", default request budget" if run.budget == "default" else ""
    parts = [f"### N = {objects:,}{limited}", ""]
    parts += [f"Run {run.name}, commit {run.commit}: {facts}. Request budget of `gpucloud`: {budget}.", ""]
    parts += [*comparison(chosen), "", *failures(chosen)]
    for result in chosen:
        parts += [f"#### {result.operator}, N = {objects:,}{limited}", "", *phases(result.phases), ""]
    return parts[:-1]


def comparison(results: Sequence[Result]) -> list[str]:
    """The figures of one number of objects, an operator a column, and ours divided by each peer."""
    by_name = {result.operator: result for result in results}
    columns = [name for name in OPERATORS if name in by_name]
    ratios = [peer for peer in (GO, KOPF) if peer in by_name and OURS in by_name]
    lines = [_row(["", *columns, *(f"{OURS} ÷ {peer}" for peer in ratios)])]
    lines.append(_row(["---"] * (1 + len(columns) + len(ratios))))
    for figure in FIGURES:
        values = {name: figure.value(by_name[name]) for name in columns}
        shown = [ratio(values[OURS], values[peer]) if figure.compare else "" for peer in ratios]
        lines.append(_row([figure.title, *(number(values[name]) for name in columns), *shown]))
    return lines


def failures(results: Iterable[Result]) -> list[str]:
    """What went wrong, as a list."""
    found = [f"- {result.operator}: {' '.join(result.failure.split())}" for result in results if result.failure]
    return [*found, ""] if found else []


def phases(measured: Iterable[Phase]) -> list[str]:
    """Each phase with its counts."""
    lines = [_row(PHASES), _row(["---"] * len(PHASES))]
    for phase in measured:
        cpu = [number(phase.cpu[name]) for name in ("operator", "apiserver", "etcd", "cloud")]
        requests = [_counted(phase.cloud_calls), _counted(phase.api_requests)]
        lines.append(_row([phase.name, number(phase.wall), number(phase.steal), *cpu, number(phase.rss_mb), *requests]))
    return lines


def number(value: float | None) -> str:
    """Three significant digits; blank where nothing was measured."""
    if value is None:
        return ""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.3f}"


def ratio(value: float | None, other: float | None) -> str:
    """How many times the other; blank where one is missing, or there is nothing to divide by."""
    if value is None or not other:
        return ""
    return f"{value / other:.2f}"


def lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """A table of these rows, of which the first is its head."""
    head, *rest = rows
    return [_row(head), _row(["---"] * len(head)), *map(_row, rest)]


def _counted(found: dict[str, int]) -> str:
    return ", ".join(f"{count} `{name}`" for name, count in sorted(found.items())) or "none"


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"
