"""The growth of the costs with the number of objects, as an SVG of small panels with logarithmic axes. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from bench.figures import FIGURES
from bench.results import OPERATORS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bench.results import Result

SHOWN = (
    "create + delete: operator CPU, s",
    "create + delete: apiserver CPU, s",
    "peak RSS, MB",
    "create: all Ready, s",
    "delete: all gone, s",
    "cloud calls a life",
)
COLOURS = dict(zip(OPERATORS, ("#d55e00", "#0072b2", "#009e73"), strict=True))  # told apart by the colour-blind, too
_INK = "#808080"  # on light and on dark pages
_WIDTH, _HEIGHT, _COLUMNS = 300, 220, 3
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 24, 30, 26
_HEAD = 24

Points = list[tuple[float, float]]


@dataclass(frozen=True)
class Scale:
    """A logarithmic axis from the decade below the least value to the decade above the greatest."""

    low: int
    high: int
    begin: float
    end: float

    @classmethod
    def around(cls, values: Sequence[float], begin: float, end: float) -> Scale:
        """The scale that shows these values."""
        low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        return cls(low, max(high, low + 1), begin, end)

    def __call__(self, value: float) -> float:
        """The place of a value."""
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)

    @property
    def decades(self) -> list[float]:
        """Where lines go."""
        return [10.0**power for power in range(self.low, self.high + 1)]


def growth(results: Iterable[Result]) -> str:
    """The whole picture."""
    results = list(results)
    panels = [panel for title in SHOWN if (panel := _panel(title, series(results, title)))]
    rows = math.ceil(len(panels) / _COLUMNS)
    width, height = _COLUMNS * _WIDTH, _HEAD + rows * _HEIGHT
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">',
        "<title>Costs by number of objects; both axes are logarithmic</title>",
        *_legend([name for name in OPERATORS if any(result.operator == name for result in results)]),
    ]
    for index, panel in enumerate(panels):
        x, y = index % _COLUMNS * _WIDTH, _HEAD + index // _COLUMNS * _HEIGHT
        parts.append(f'<g transform="translate({x} {y})">{panel}</g>')
    return "\n".join([*parts, "</svg>", ""])


def series(results: Iterable[Result], title: str) -> dict[str, Points]:
    """The points of one figure by operator, in the order of N; what is 0 or missing has no place on the axis."""
    figure = next(figure for figure in FIGURES if figure.title == title)
    found: dict[str, Points] = {}
    for result in sorted(results, key=lambda result: result.objects):
        if value := figure.value(result):
            found.setdefault(result.operator, []).append((float(result.objects), value))
    return found


def _panel(title: str, lines: Mapping[str, Points]) -> str:
    points = [point for line in lines.values() for point in line]
    if not points:
        return ""
    across = Scale.around([x for x, _ in points], _LEFT, _WIDTH - _RIGHT)
    up = Scale.around([y for _, y in points], _HEIGHT - _BOTTOM, _TOP)
    parts = [f'<text x="{_LEFT}" y="{_TOP - 10}" fill="{_INK}" font-weight="bold">{escape(title)}</text>']
    for value in up.decades:
        parts += [
            _line(_LEFT, up(value), _WIDTH - _RIGHT, up(value)),
            _label(_LEFT - 4, up(value) + 4, f"{value:g}", "end"),
        ]
    for value in across.decades:
        parts += [
            _line(across(value), _TOP, across(value), _HEIGHT - _BOTTOM),
            _label(across(value), _HEIGHT - _BOTTOM + 14, f"{value:,.0f}", "middle"),
        ]
    for name, line in lines.items():
        places = [(across(x), up(y)) for x, y in line]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[name]}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLOURS[name]}"/>' for x, y in places]
    return "".join(parts)


def _legend(names: Iterable[str]) -> list[str]:
    return [
        f'<text x="{_LEFT + 150 * index}" y="16" fill="{COLOURS[name]}" font-weight="bold">● {escape(name)}</text>'
        for index, name in enumerate(names)
    ]


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{_INK}" stroke-opacity="0.35"/>'


def _label(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{_INK}" text-anchor="{anchor}">{text}</text>'
