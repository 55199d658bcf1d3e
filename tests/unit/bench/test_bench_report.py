"""Results become figures, ratios within one run, a page and a picture; what was not measured stays blank."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest

from bench import chart, kept, page, table
from bench.figures import FIGURES
from bench.results import GO, KOPF, OURS, Phase, Result, Run, from_json, to_json

PAGE = page.PAGE


def a_phase(name, cpu=1.0, **more):
    spent = dict.fromkeys(("operator", "apiserver", "etcd", "cloud", "driver"), cpu)
    given = {"wall": 10.0, "steal": 0.5, "rss_mb": 80.0, "peak_rss_mb": 100.0, "cloud_calls": {}, "api_requests": {}}
    return Phase(name=name, cpu=spent, **given | more)


def a_result(operator=OURS, objects=100, cpu=1.0, **more):
    create = {"cloud_calls": {"CreateServer": 100, "GetServers": 3}, "api_requests": {"update gpuvms/status": 200}}
    delete = {"cloud_calls": {"DestroyServer": 100}, "api_requests": {"update gpuvms/status": 100, "create events": 50}}
    phases = (a_phase("create", cpu, **create), a_phase("delete", cpu, **delete))
    return Result(operator, objects, phases, **more)


def a_run(*results, name="2026-01-02T120000Z"):
    return Run(name, "0123456789", {"processors": "2"}, "none", results)


def figure(title, result):
    return next(one for one in FIGURES if one.title == title).value(result)


@pytest.mark.parametrize(
    ("title", "wanted"),
    [
        ("cloud calls a life", 2.03),
        ("apiserver writes a life, Events apart", 3.0),
        ("Events written a life", 0.5),
        ("create + delete: operator CPU, s", 2.0),
        ("peak RSS, MB", 100.0),
        ("steal during all phases, s", 1.0),
        ("idle interval: cloud calls", None),
        ("passes a life", None),
    ],
)
def test_figures(title, wanted):
    assert figure(title, a_result()) == wanted


def test_a_life_without_its_end_has_no_figure():
    cut_short = Result(OURS, 100, a_result().phases[:1], "no answer")
    assert figure("cloud calls a life", cut_short) is None


def test_passes_are_those_of_operators_that_tell():
    told = tuple(a_phase(name, passes={"success": 300, "unchanged": 50}) for name in ("create", "delete"))
    assert figure("passes a life", Result(OURS, 100, told)) == 7.0
    assert figure("passes a life that change nothing", Result(OURS, 100, told)) == 1.0
    other = tuple(a_phase(name, passes={"success": 300}) for name in ("create", "delete"))
    assert figure("passes a life that change nothing", Result(GO, 100, other)) is None, "controller-runtime does not tell"


def test_ratios_are_ours_by_the_peers():
    lines = table.comparison([a_result(GO, cpu=0.5), a_result(KOPF, cpu=4.0), a_result()])
    assert lines[0] == "|  | kopf | controller-runtime | gpucloud | gpucloud ÷ controller-runtime | gpucloud ÷ kopf |"
    (line,) = [line for line in lines if "operator CPU" in line and line.startswith("| create")]
    assert line == "| create + delete: operator CPU, s | 8.00 | 1.00 | 2.00 | 2.00 | 0.25 |"
    (line,) = [line for line in lines if line.startswith("| steal")]
    assert line.endswith("| 1.00 |  |  |"), "what the host withheld is no merit of an operator"


def test_names_of_requests_are_code():
    """Else spelling of the documents is checked in words such as selfsubjectaccessreviews."""
    lines = table.phases([a_phase("create", api_requests={"create selfsubjectaccessreviews": 2, "list gpuvms": 1})])
    assert lines[-1].endswith("| none | 2 `create selfsubjectaccessreviews`, 1 `list gpuvms` |")


def test_without_peers_there_are_no_ratios():
    assert table.comparison([a_result()])[0] == "|  | gpucloud |"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, ""), (0, "0"), (1234.5, "1234"), (12.34, "12.3"), (0.5, "0.50"), (0.0123, "0.012")],
)
def test_numbers_have_about_three_digits(value, shown):
    assert table.number(value) == shown


def test_a_ratio_needs_two_numbers():
    assert [table.ratio(*pair) for pair in ((1, None), (None, 1), (1, 0), (3, 2))] == ["", "", "", "1.50"]


def test_a_failure_is_told():
    text = table.report(a_run(a_result(), a_result(KOPF, failure="Not within 5 s:\nall Ready.")))
    assert "- kopf: Not within 5 s: all Ready." in text


def test_results_survive_json():
    run = a_run(a_result(), a_result(GO, failure="no answer"))
    assert from_json(json.loads(json.dumps(to_json(run)))) == run


def test_of_each_size_the_newest_run_is_taken_and_what_failed_there_is_not_drawn():
    old = a_run(a_result(objects=100), a_result(objects=200))
    new = a_run(a_result(objects=100, cpu=9.0), a_result(objects=200, cpu=7.0, failure="no answer"), name="2026-01-03T120000Z")
    drawn = chart.series(kept.of([new, old]).good, "create + delete: operator CPU, s")
    assert drawn == {OURS: [(100.0, 18.0)]}


def test_the_picture_has_a_line_for_each_operator_and_costs_that_grow_go_up():
    results = [a_result(name, objects, cpu) for name in (GO, OURS) for objects, cpu in ((100, 1.0), (1000, 10.0))]
    picture = ET.fromstring(chart.growth(results))  # noqa: S314 - our own
    lines = picture.findall(".//{*}polyline")
    assert len(lines) == 2 * len(chart.SHOWN)
    first, last = (tuple(map(float, point.split(","))) for point in lines[0].get("points").split())
    assert last[0] > first[0], "more objects are to the right"
    assert last[1] < first[1], "more seconds are above"
    assert picture.findall(".//{*}text")[0].text == f"● {GO}"


def test_the_scale_spans_whole_decades():
    scale = chart.Scale.around([30.0, 200.0], 0.0, 200.0)
    assert scale.decades == [10.0, 100.0, 1000.0]
    assert [scale(value) for value in scale.decades] == [0.0, 100.0, 200.0]
    assert chart.Scale.around([100.0], 0.0, 1.0).decades == [100.0, 1000.0], "one value has a decade, too"


def test_the_page_keeps_what_stands_above_its_mark():
    assert page.replaced(f"Words.\n{page.BEGIN}\nold\n", "new\n") == f"Words.\n{page.BEGIN}\n\nnew\n"
    with pytest.raises(ValueError, match="has lost the line"):
        page.replaced("Words.\n", "new")
    assert page.BEGIN in PAGE.read_text()
