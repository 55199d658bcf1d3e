"""Draw frames as one animated SVG: all frames stand in a row, and the window jumps from one to the next. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recording.terminal import Frame, Run

CELL_WIDTH, CELL_HEIGHT, MARGIN = 7.8, 17, 14
SHORTEST_SECONDS, LONGEST_SECONDS, LAST_SECONDS = 0.25, 1.6, 6.0  # how long a frame is shown in the recording
PAPER, INK = "#0d1117", "#c9d1d9"
COLOURS = {
    "default": INK,
    "black": "#8b949e",
    "red": "#ff7b72",
    "green": "#7ee787",
    "brown": "#e3b341",  # yellow, as pyte names it
    "blue": "#79c0ff",
    "magenta": "#d2a8ff",
    "cyan": "#76e3ea",
    "white": "#ffffff",
}


def draw(frames: Sequence[Frame], columns: int, rows: int, title: str) -> str:
    """Return the SVG; pauses are cut to what a reader needs."""
    width, height = columns * CELL_WIDTH + 2 * MARGIN, rows * CELL_HEIGHT + 2 * MARGIN
    shown = [min(max(frame.seconds, SHORTEST_SECONDS), LONGEST_SECONDS) for frame in frames[:-1]] + [LAST_SECONDS]
    steps = "".join(f"{percent:.3f}%{{transform:translateX({-i * width:.1f}px)}}" for i, percent in enumerate(_percents(shown)))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.1f} {height:.1f}" role="img">',
        f"<title>{escape(title)}</title>",
        "<style>text{font:13px ui-monospace,Menlo,Consolas,monospace}.b{font-weight:bold}",
        f"@keyframes play{{{steps}}}#film{{animation:play {sum(shown):.2f}s step-end infinite}}</style>",
        f'<rect width="100%" height="100%" rx="8" fill="{PAPER}"/><g id="film" fill="{INK}">',
    ]
    for index, frame in enumerate(frames):
        parts.append(f'<g transform="translate({index * width + MARGIN:.1f} {MARGIN})">')
        parts += [_text(run, row) for row, line in enumerate(frame.lines) for run in line if run.text.strip()]
        parts.append("</g>")
    return "\n".join([*parts, "</g></svg>", ""])


def _percents(seconds: Sequence[float]) -> Iterable[float]:
    """When each frame begins, in per cent of the whole."""
    whole, passed = sum(seconds), 0.0
    for one in seconds:
        yield 100 * passed / whole
        passed += one


def _text(run: Run, row: int) -> str:
    column = run.column + len(run.text) - len(run.text.lstrip())
    text = run.text.strip().replace(" ", "\u00a0")  # SVG renderers fold blanks
    place = f'x="{column * CELL_WIDTH:.1f}" y="{(row + 1) * CELL_HEIGHT - 4}" textLength="{len(text) * CELL_WIDTH:.1f}"'
    weight = ' class="b"' if run.bold else ""
    fill = "" if run.colour == "default" else f' fill="{COLOURS.get(run.colour, INK)}"'
    return f"<text {place}{weight}{fill}>{escape(text)}</text>"
