"""A recording: what a program shows on a terminal becomes frames, and frames become one SVG."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from recording import charts
from recording.__main__ import plain
from recording.charts import Panel, Place, Series
from recording.dashboard import DASHBOARD, filled, panels
from recording.svg import LAST_SECONDS, draw
from recording.terminal import Frame, Run, Terminal

IMAGES = Path(__file__).parents[2] / "docs" / "images"
SVG = "{http://www.w3.org/2000/svg}"


def texts(frame: Frame) -> list[str]:
    return ["".join(run.text for run in line) for line in frame.lines if line]


def test_what_a_program_redraws_at_once_is_no_frame_and_its_end_is():
    terminal = Terminal(20, 4)
    terminal.type("count")
    script = "print('one', end='\\r'); print('\\x1b[32mtwo\\x1b[0m  x')"
    assert terminal.run([sys.executable, "-c", script], os.environ) == 0
    assert texts(terminal.frames[0]) == ["$ count"]
    assert texts(terminal.frames[-1]) == ["$ count", "two  x"]
    assert terminal.frames[-1].lines[1][0] == Run(0, "two", "green")


def test_a_program_that_fails_says_so():
    assert Terminal(20, 4).run([sys.executable, "-c", "raise SystemExit(3)"], os.environ) == 3


def test_the_drawing_is_xml_with_a_frame_each_and_keeps_columns():
    frames = [Frame(((Run(0, "a < b", bold=True),),), 9.0), Frame(((Run(2, "NAME  AGE", "green"),),), 1.0)]
    root = ET.fromstring(draw(frames, 20, 2, "a & b"))  # noqa: S314 - our own
    film = root.find(f"{SVG}g")
    assert [text.text for text in film.iter(f"{SVG}text")] == ["a\u00a0<\u00a0b", "NAME\u00a0\u00a0AGE"]
    assert len(film) == 2
    style = root.find(f"{SVG}style").text
    assert f"animation:play {1.6 + LAST_SECONDS:.2f}s" in style, "a long pause is cut"


def test_a_folder_of_temporary_files_has_one_name_in_every_recording():
    (frame,) = plain([Frame(((Run(0, "export PATH=/dev/shm/gpucloud-control-plane-1x_/bin:$PATH"),),), 1.0)])
    assert texts(frame) == ["export PATH=/tmp/demo/bin:$PATH"]


@pytest.mark.parametrize("name", ["demo", "status"])
def test_the_recordings_in_the_documents_are_whole(name):
    root = ET.parse(IMAGES / f"{name}.svg").getroot()  # noqa: S314 - our own
    shown = " ".join(text.text for text in root.iter(f"{SVG}text"))
    assert {"demo": "The\u00a0cloud\u00a0is\u00a0empty", "status": "gpucloud\u00a0status"}[name] in shown


# ---- the dashboard


def words(svg: str) -> list[str]:
    return [text.text for text in ET.fromstring(svg).iter(f"{SVG}text")]  # noqa: S314 - our own


def test_a_chart_shows_its_scale_its_time_and_a_line_a_series():
    series = tuple(Series(f"team-{number} <a>", ((0.0, 2.0), (60.0, 4.1))) for number in range(8))
    svg = charts.draw([Panel("Dollars & cents", "timeseries", Place(0, 1, 12, 12), "currencyUSD", series)], 90.0, "all")
    shown = words(svg)
    assert {"Dollars & cents", "$0.00", "$2.05", "$4.10", "0:00", "0:45", "1:30", "team-0 <a>"} <= set(shown)
    assert shown[-1] == "team-3 <a>, and 4 more", "a legend of eight would hide the chart"
    assert svg.count('stroke-width="1.5"') == 8


@pytest.mark.parametrize(
    ("unit", "series", "expected"),
    [
        ("currencyUSD", (Series("", ((0.0, 1.0), (2.0, 4.1))),), "$4.10"),
        ("short", (Series("", ((0.0, 12.0),)),), "12"),
        ("short", (), "No data"),
        ("short", (Series("", ()),), "No data"),
    ],
)
def test_a_number_is_the_last_one(unit, series, expected):
    assert expected in words(charts.draw([Panel("What", "stat", Place(0, 0, 8, 4), unit, series)], 10.0, "all"))


def test_the_variables_of_the_dashboard_are_filled_in():
    expression = 'sum_over_time(m{exported_namespace=~"$namespace"}[$__range:$__interval]) * $__interval_ms'
    assert filled(expression, 90.4) == 'sum_over_time(m{exported_namespace=~".*"}[90s:2s]) * 2000'


def test_panels_ask_what_the_dashboard_asks():
    """All of its rows, and every query of theirs."""
    asked = []

    def ask(expression):
        asked.append(expression)
        return [{"metric": {"exported_namespace": "team", "kind": "GpuVM"}, "values": [[10.0, "1"], [12.0, "NaN"]]}]

    dashboard = json.loads(DASHBOARD.read_text())
    found = panels(dashboard, ask, 8.0)
    assert [panel.title for panel in found] == [one["title"] for one in dashboard["panels"]]
    assert asked == [target["expr"] for one in dashboard["panels"] for target in one.get("targets", ())]
    (spend,) = (one for one in found if one.title == "Dollars an hour, by namespace")
    assert spend.series == (Series("team", ((2.0, 1.0),)),), "a value that is no number is left out"
    assert charts.draw(found, 10.0, "all"), "every unit is known"


def test_the_picture_in_the_documents_shows_the_dashboard_as_it_is():
    """A panel that is added, renamed or moved: `python -m recording dashboard`."""
    shown = words((IMAGES / "dashboard.svg").read_text())
    dashboard = json.loads(DASHBOARD.read_text())
    titles = Counter(f"▾ {one['title']}" if one["type"] == "row" else one["title"] for one in dashboard["panels"])
    assert titles - Counter(shown) == Counter()
    assert "$4.10" in shown, "with the price of the demo's VMs"
    assert "gpucloud-demo" in shown
