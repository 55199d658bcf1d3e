"""The page of performance is what the kept runs say: every bar with its value and its verdict, every size with a row."""

from __future__ import annotations

import re

import pytest

from bench import __main__ as program
from bench import kept, page
from bench.bars import BARS, FIRST_GOALS, NOT_KNOWN
from bench.errors import BenchError
from bench.results import GO, OURS, Phase, Result, Run

TEXT = page.PAGE.read_text()
# What was asked for, written down here again so that no bar moves with its measurement: words, N, bar, stretch.
ASKED = {
    ("cloud calls a life, listings included", 1_000): (2.05, None),
    ("listings of one kind in an idle interval, the scan for orphans apart", 1_000): (1, None),
    ("apiserver writes a life, Events apart", 1_000): (5, None),
    ("apiserver writes in an idle interval", 1_000): (0, None),
    ("passes of an object from apply to gone", 1_000): (8, None),
    ("of them, those that change nothing", 1_000): (2, None),
    ("operator CPU, create + delete, ÷ Go", 1_000): (2.5, 1.8),
    ("apiserver CPU, create + delete, ÷ Go", 1_000): (1.3, None),
    ("all Ready ÷ Go", 1_000): (1.0, 0.9),
    ("all gone ÷ Go", 1_000): (1.0, 0.8),
    ("apply to first status, p50, s", 1_000): (0.3, None),
    ("apply to first status, p99, s", 1_000): (2, None),
    ("peak RSS in the image, MB", 1_000): (110, 90),
    ("peak RSS in the image, MB", 10_000): (350, 250),
    ("operator CPU an idle minute, s", 1_000): (0.15, None),
    ("operator CPU an idle minute, s", 10_000): (0.4, None),
    ("restart with all Ready: operator CPU, s", 1_000): (2, None),
    ("restart with all Ready: operator CPU, s", 10_000): (15, None),
    ("restart with all Ready: apiserver writes", 10_000): (0, None),
    ("restart with all Ready: creations", 10_000): (0, None),
    ("restart with all Ready: calls of one operation, in one cluster", 10_000): (1, None),
    ("runs in which an object was not Ready, not gone, bought twice or left", 5_000): (0, None),
    ("runs in which an object was not Ready, not gone, bought twice or left", 10_000): (0, None),
    ("operator CPU of an object ÷ that at 1,000", 5_000): (1, None),
    ("cloud calls of an object ÷ those at 1,000", 10_000): (1, None),
    ("apiserver writes of an object, Events apart ÷ those at 1,000", 10_000): (1, None),
    ("growth from 1,000 to 10,000: create + delete: operator CPU, s", 10_000): (10, None),
    ("growth from 1,000 to 10,000: peak RSS, MB", 10_000): (10, None),
    ("one edit to its cloud call, p99, s, among idle VMs", 1_000): (0.25, None),
}
ASKED_FIRST = {
    ("cloud calls an idle minute, a cluster", 5_000): (2, 1),
    ("cloud calls a life", 1_000): (2.05, 2.01),
    ("apiserver writes a life, Events apart", 1_000): (4, 3),
    ("operator CPU, create + delete, s", 1_000): (12, 6),
    ("operator CPU an idle minute, s", 1_000): (0.1, 0.03),
    ("all Ready, s", 1_000): (20, 16),
    ("all gone, s", 1_000): (10, 8),
    ("one object, apply to Ready, p50, s", 1_000): (10, 8),
    ("restart: operator CPU, s", 1_000): (2.5, 1),
    ("restart: apiserver writes", 1_000): (0, None),
    ("restart: cloud calls", 1_000): (2, 1),
    ("peak RSS, MB", 1_000): (90, 60),
    ("peak RSS, MB", 5_000): (130, 100),
}


def a_phase(name, cpu=1.0, calls=None, **more):
    spent = dict.fromkeys(("operator", "apiserver", "etcd", "cloud", "driver"), cpu)
    return Phase(name, 10.0, 0.0, spent, 80.0, **{"peak_rss_mb": 100.0, "api_requests": {}, "cloud_calls": calls or {}} | more)


def a_result(objects=1_000, cpu=1.0, operator=OURS, failure="", **idle):
    phases = [a_phase(name, cpu) for name in ("start", "create", "restart", "delete")]
    return Result(operator, objects, (*phases, a_phase("idle", cpu, **idle)), failure)


def a_run(*results, environment="image", name="2026-01-02T120000Z", budget="none"):
    return Run(name, "0123456789", {"environment": environment}, budget, results)


def the(what, objects=1_000):
    return next(bar for bar in BARS if (bar.what, bar.objects) == (what, objects))


@pytest.mark.parametrize(("bars", "asked"), [(BARS, ASKED), (FIRST_GOALS, ASKED_FIRST)], ids=["bars", "first goals"])
def test_no_bar_is_bent(bars, asked):
    set_ = {(bar.what, bar.objects): (bar.most, bar.stretch) for bar in bars}
    assert {key: set_.get(key) for key in asked} == asked


MEMORY, CPU, PER_OBJECT = (
    "peak RSS in the image, MB",
    "operator CPU, create + delete, ÷ Go",
    "operator CPU of an object ÷ that at 1,000",
)
LISTINGS, WHOLE = (
    "listings of one kind in an idle interval, the scan for orphans apart",
    "runs in which an object was not Ready, not gone, bought twice or left",
)


@pytest.mark.parametrize(
    ("bar", "runs", "verdict", "why"),
    [
        (the(MEMORY), [a_run(a_result())], "met", "100 MB of 110, and not the 90 of the stretch"),
        (the(MEMORY), [a_run(a_result(), environment="checkout")], "not measured", "the bar is about the image"),
        (the(MEMORY, 10_000), [a_run(a_result())], "not measured", "no run with 10,000"),
        (the(MEMORY, 10_000), [a_run(a_result(10_000))], "met, and the stretch", "100 MB of 250"),
        (the(CPU), [a_run(a_result())], "not measured", "no peer in this run"),
        (the(CPU), [a_run(a_result(cpu=2.6), a_result(operator=GO))], "missed", "2.6 times Go"),
        (the(CPU), [a_run(a_result(cpu=2.5), a_result(operator=GO))], "met", "exactly the bar"),
        (
            the(CPU),
            [a_run(a_result(operator=GO), name="2026-01-01T"), a_run(a_result())],
            "not measured",
            "Go is of another run",
        ),
        (the(CPU), [a_run(a_result(), a_result(operator=GO), budget="default")], "not measured", "bars hold without a budget"),
        (the(PER_OBJECT, 5_000), [a_run(a_result(), a_result(5_000, 5.0))], "met", "five times as much for five times as many"),
        (the(PER_OBJECT, 5_000), [a_run(a_result(), a_result(5_000, 5.1))], "missed", "more for each"),
        (
            the(LISTINGS),
            [a_run(a_result(calls={"GetServers": 3, "GetSnapshots": 2, "GetAll": 1}))],
            "met",
            "two are the scan's",
        ),
        (the(LISTINGS), [a_run(a_result(calls={"GetServers": 2, "GetSnapshots": 2, "GetAll": 1}))], "met", "shared with it"),
        (the(LISTINGS), [a_run(a_result(calls={"GetServers": 4, "GetSnapshots": 2, "GetAll": 1}))], "missed", "one too many"),
        (the(LISTINGS), [a_run(a_result(calls={"GetVpcs": 2}))], "missed", "a kind that nobody has"),
        (the(LISTINGS), [a_run(a_result(calls={"GetServers": 2}))], "missed", "two listings and no scan"),
        (the(LISTINGS), [a_run(a_result(calls={}))], "met", "no call at all"),
        (the(WHOLE, 5_000), [a_run(a_result(5_000, failure="1 VMs are left"))], "missed", "a leak"),
        (the(WHOLE, 5_000), [a_run(a_result(5_000))], "met", "all Ready, all gone"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_verdict(bar, runs, verdict, why):
    assert bar.verdict(kept.of(runs)) == verdict, why


def test_a_missed_bar_is_told_with_its_cause_and_a_met_one_is_not():
    found = kept.of([a_run(a_result(cpu=2.6, peak_rss_mb=111.0), a_result(operator=GO))])
    text = "\n".join(page.bars(found, [the(MEMORY), the(CPU), the("restart with all Ready: creations")]))
    assert "| peak RSS in the image, MB | 1,000 | ≤ 110 | ≤ 90 | 190, not in the image | 111 | missed |" in text
    assert f"- {the(CPU).why} Missed:\n    - operator CPU, create + delete, ÷ Go (N = 1,000)" in text
    assert "creations (N" not in text


@pytest.mark.parametrize(
    ("cpu", "row"),
    [(2.5, "2.50 | met |"), (2.504, "2.504 | missed |"), (2.5000001, "2.5000001 | missed |"), (2.4999, "2.50 | met |")],
)
def test_a_value_is_shown_with_the_digits_that_show_the_verdict(cpu, row):
    found = kept.of([a_run(a_result(cpu=cpu), a_result(operator=GO))])
    assert page.bars(found, [the(CPU)])[2].endswith(row)


@pytest.mark.parametrize("objects", kept.SIZES)
def test_each_size_has_a_row_measured_or_not(objects):
    nothing = [line for line in page.sizes(kept.of([])) if line.startswith(f"| {objects:,} |")]
    assert nothing
    assert all(line.endswith("| not measured |") for line in nothing)
    measured = page.sizes(kept.of([a_run(a_result(objects, failure="1 VMs\nare left"))]))
    assert any(line.startswith(f"| {objects:,} | none | 2026-01-02T120000Z | image |") for line in measured)
    assert any(line.endswith("| 1 VMs are left |") for line in measured), "what went wrong is told"
    assert f"\n| {objects:,} | none |" in TEXT


def test_the_default_budget_has_a_row_too():
    (line,) = [line for line in page.sizes(kept.of([])) if "| default |" in line]
    assert line.endswith("| not measured |")
    assert "| 1,000 | default | 2026" in "\n".join(page.sizes(kept.of([a_run(a_result(), budget="default")])))


def test_sizing_says_what_was_measured_and_what_is_computed():
    few, many = a_result(1_000), a_result(10_000, cpu=4.0)
    rows = page.sizing(kept.of([a_run(few, many)]))
    assert [row.rsplit("|", 2)[1].strip() for row in rows[2:]] == [
        "measured",
        "measured, in one account",
        "computed from 1,000 and 10,000",
        "measured, in one account",
        "computed from 1,000 and 10,000",
    ]
    assert all(row.endswith("| not measured |") for row in page.sizing(kept.of([]))[2:])


@pytest.mark.parametrize("file", page.pages(), ids=lambda file: file.name)
def test_what_is_kept_is_what_the_documentation_shows(file):
    assert file.read_text() == page.pages()[file], "run: make bench-page"


@pytest.mark.parametrize("bar", [*BARS, *FIRST_GOALS], ids=lambda bar: f"{bar.what}, {bar.objects}")
def test_every_bar_stands_on_the_page(bar):
    most, verdict = f"≤ {bar.most:g}" if bar.most else "0", bar.verdict(kept.load())
    line = rf"^\| {re.escape(bar.what)} \| {bar.objects:,} \| {most} \|.*\| {verdict} \|$"
    assert re.search(line, TEXT, re.MULTILINE)
    assert bar.why == NOT_KNOWN or not re.search(r"\d (MB|KB|ms|s)\b", bar.why), "a cause has no figures of other runs"


def test_above_the_mark_there_is_no_figure_of_a_run():
    above = TEXT.partition(page.BEGIN)[0]
    assert not re.findall(r"\d (?:MB|KB|GB|ms of CPU|s of CPU|CPU seconds)", above)


def test_results_are_kept_and_read_again(tmp_path):
    found = kept.of([a_run(a_result(200), name="2026-01-03T"), a_run(a_result())])
    kept.save(found, tmp_path / "kept.json")
    assert kept.load(tmp_path / "kept.json") == found
    assert [run.name for run in found.runs] == ["2026-01-02T120000Z", "2026-01-03T"], "in the order of time"


def test_results_that_cannot_be_read_are_named_and_replace_nothing(tmp_path):
    before = kept.FILE.read_text()
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(BenchError, match=r"other\.json"):
        program.write_page([tmp_path / "other.json"])
    assert kept.FILE.read_text() == before
