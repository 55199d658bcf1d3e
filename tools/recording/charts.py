"""Draw the panels of a dashboard as one SVG, as Grafana lays them out: on 24 columns, by the unit of each. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

COLUMN, UNIT, GAP = 42, 26, 8  # pixels: width of one of 24 columns, height of one unit, between panels
LEGEND = 17  # pixels of a line of the legend
MOST_SERIES = 4  # in a legend
PAPER, BOX, INK, FAINT = "#111217", "#181b1f", "#ccccdc", "#8e8e99"
COLOURS = ("#73bf69", "#f2cc0c", "#5794f2", "#ff9830", "#f2495c", "#b877d9")
UNITS = {
    "currencyUSD": "${:,.2f}",
    "percentunit": "{:.0%}",
    "s": "{:.3g} s",
    "reqps": "{:.2g}/s",
    "ops": "{:.2g}/s",
    "short": "{:.4g}",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a panel stands, in columns and units of height."""

    x: int
    y: int
    w: int
    h: int


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a chart: its name, and its values by seconds since the chart begins."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """A row's title, a number (``stat``), or a chart over time (``timeseries``)."""

    title: str
    type: str
    place: Place
    unit: str = "short"
    series: tuple[Series, ...] = ()


def draw(panels: Sequence[Panel], seconds: float, title: str) -> str:
    """Return the SVG of these panels; ``seconds`` is how long the time axis is."""
    width, height = 24 * COLUMN + 2 * GAP, max(one.place.y + one.place.h for one in panels) * UNIT + 2 * GAP
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
            f"<title>{escape(title)}</title>",
            "<style>text{font:12px system-ui,Helvetica,Arial,sans-serif}.b{font-weight:600}</style>",
            f'<rect width="100%" height="100%" fill="{PAPER}"/>',
            *(part for panel in panels for part in _panel(panel, seconds)),
            "</svg>",
            "",
        ]
    )


def _panel(panel: Panel, seconds: float) -> Iterator[str]:
    """Yield one panel, in coordinates of its own."""
    place = panel.place
    width, height = place.w * COLUMN - GAP, place.h * UNIT - GAP
    yield f'<g transform="translate({place.x * COLUMN + GAP} {place.y * UNIT + GAP})">'
    if panel.type == "row":
        yield _text(0, 15, f"▾ {panel.title}", bold=True)
    else:
        yield f'<rect width="{width}" height="{height}" rx="3" fill="{BOX}"/>'
        yield _text(10, 19, panel.title, bold=True)
        yield from _stat(panel, width, height) if panel.type == "stat" else _chart(panel, width, height, seconds)
    yield "</g>"


def _stat(panel: Panel, width: int, height: int) -> Iterator[str]:
    """Yield the last value, large."""
    last = [one.points[-1][1] for one in panel.series if one.points]
    words = "No data" if not last else UNITS[panel.unit].format(last[0])
    yield (
        f'<text x="{width / 2:.0f}" y="{height / 2 + 24:.0f}" text-anchor="middle" style="font-size:32px" '
        f'fill="{COLOURS[0]}">{escape(words)}</text>'
    )


def _chart(panel: Panel, width: int, height: int, seconds: float) -> Iterator[str]:
    """Yield axes, a line a series, and a legend of the first few."""
    shown = [one for one in panel.series if one.points]
    if not shown:
        yield _text(width / 2 - 25, height / 2, "No data", FAINT)
        return
    named = shown[:MOST_SERIES]
    left, top, right, bottom = 62, 34, width - 14, height - 22 - LEGEND * len(named)
    most = max(value for one in shown for _, value in one.points) or 1.0
    for share in (0.0, 0.5, 1.0):
        level = bottom - share * (bottom - top)
        yield f'<path d="M{left} {level:.1f}H{right}" stroke="#2c3036"/>'
        yield _text(left - 6, level + 4, UNITS[panel.unit].format(share * most), FAINT, anchor="end")
    for share in (0.0, 0.5, 1.0):
        minutes, rest = divmod(round(share * seconds), 60)
        yield _text(left + share * (right - left), bottom + 15, f"{minutes}:{rest:02}", FAINT, anchor="middle")
    for place, (one, colour) in enumerate(zip(shown, cycle(COLOURS), strict=False)):
        line = "L".join(
            f"{left + at / seconds * (right - left):.1f} {bottom - value / most * (bottom - top):.1f}"
            for at, value in one.points
        )
        yield f'<path d="M{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        if place < len(named):
            level = bottom + 32 + LEGEND * place
            yield f'<path d="M{left} {level - 4}h14" stroke="{colour}" stroke-width="3"/>'
            yield _text(left + 20, level, _legend(one, len(shown) if place == MOST_SERIES - 1 else 0))


def _legend(one: Series, count: int) -> str:
    """Return the name of a series; that of the last one shown says how many more there are."""
    return f"{one.name}, and {count - MOST_SERIES} more" if count > MOST_SERIES else one.name


def _text(x: float, y: float, words: str, fill: str = INK, *, bold: bool = False, anchor: str = "start") -> str:
    """Return a text."""
    weight = ' class="b"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{weight} fill="{fill}">{escape(words)}</text>'
