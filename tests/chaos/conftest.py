"""Fixtures of the chaos tests. What they build upon stands in ``chaos/rig``; how to use it, in its modules' docstrings."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from chaos.rig.campaign import TALLY, Campaign, Choice, table
from chaos.rig.rig import Rig
from controlplane import ControlPlane

CHAOS = Path(__file__).parent
OUT = CHAOS.parents[1] / "out" / "chaos.jsonl"
FAILURE_CHARACTERS = 5000
CHOICE = Choice.of()
os.environ.setdefault("CHAOS_SEED", str(CHOICE.seed))  # workers that are started from here take the same


HANGS_AFTER = 1500  # seconds of a sample's test, the control plane's start and further draws included
# What a run of the whole suite takes of each class; ``CHAOS=whole`` or a test's own name takes the rest too.
SAMPLED = {
    "A": (
        "test_killed_once",
        "test_the_status_after_a_good_order_is_never_saved",
        "test_woken_it_obeys_what_was_said_while_it_slept",
    ),
    "B": ("test_each_event_lost_and_each_pair_of_one_object", "test_a_stale_server_shows_the_object_that_bore_the_name_before"),
    "C": ("test_a_throttling_apiserver_is_not_asked_sooner_than_it_says",),
    "D": (
        "test_a_lost_answer_with_every_setting_of_the_duplicate_knob",
        "test_where_the_service_makes_twins_nothing_is_destroyed",
        "test_listings_that_cannot_be_relied_on",
    ),
    "E": ("test_revoked_in_the_middle_and_replaced_later", "test_the_clock_jumps"),
    "F": (
        "test_two_awake_on_the_same_objects",
        "test_a_hundred_takeovers",
        "test_deleted_at_each_point_of_its_creation",
        "test_a_finalizer_is_stripped_by_force",
    ),
    "G": ("test_fourteen_errors_on_delete",),
    "the rig itself": (
        "test_the_oracles_notice_each_kind_of_harm",
        "test_a_link_does_what_its_rules_say",
        "test_a_replay_that_matches_no_run_names_some_that_there_are",
        "test_nothing_to_run_is_not_green",
        "test_what_was_not_tried_is_not_green",
        "test_what_a_status_says_for_long_is_so",
    ),
}


def pytest_collection_modifyitems(config, items):
    sampled = {name for names in SAMPLED.values() for name in names}
    ours = [item for item in items if CHAOS in item.path.parents]
    for item in ours:
        item.add_marker(pytest.mark.e2e)
        if not CHOICE.whole and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(HANGS_AFTER))
    named = any("::" in argument or argument.endswith(".py") for argument in config.args)
    if CHOICE.whole or named:
        return
    left = [item for item in ours if item.originalname not in sampled]
    items[:] = [item for item in items if item not in left]
    config.hook.pytest_deselected(items=left)


@pytest.fixture(scope="session")
def chaos_plane():
    """A control plane with kube-controller-manager, which empties namespaces."""
    with ControlPlane.start(controller_manager=True) as plane:
        yield plane


@pytest.fixture(scope="session")
def rig(chaos_plane, tmp_path_factory):
    """The rig: ``with rig.trial() as trial``."""
    made = Rig(chaos_plane, tmp_path_factory.mktemp("rig"))
    yield made
    made.close()


@pytest.fixture
def campaign(request, record_property):
    """The test's runs: which are made, at once, counted, replayable. See ``chaos.rig.campaign``."""
    path = request.node.nodeid
    return Campaign(CHOICE, path, record_property)


def pytest_report_header():
    """The seed, where a failed session is looked for first."""
    return f"chaos: {'whole' if CHOICE.whole else 'sample'}, CHAOS_SEED={CHOICE.seed}"


def pytest_runtest_logreport(report):
    """Of the whole, what came of each test is written down as it ends: an interrupted session has shown something too."""
    told = [json.loads(text) for name, text in report.user_properties if name == TALLY]
    if CHOICE.whole and report.when == "call" and (told or report.failed) and "PYTEST_XDIST_WORKER" not in os.environ:
        OUT.parent.mkdir(exist_ok=True)
        line = {"test": report.nodeid, "outcome": report.outcome, "seconds": round(report.duration), "runs": told}
        if report.failed:
            line["told"] = report.longreprtext[-FAILURE_CHARACTERS:]
        with OUT.open("a") as file:
            file.write(json.dumps(line) + "\n")


def pytest_terminal_summary(terminalreporter):
    """The table: class, runs, violations."""
    reports = [report for word in ("passed", "failed") for report in terminalreporter.stats.get(word, [])]
    told = [json.loads(text) for report in reports for name, text in report.user_properties if name == TALLY]
    if not told:
        return
    rows = table(told)
    terminalreporter.section("chaos")
    for row in rows:
        terminalreporter.write_line(
            "{class:12} runs {runs:5}  not reached {unreached:3}  violations {violations:3}".format(**row)
        )


@pytest.fixture(scope="module")
def own_plane():
    """A control plane of our own, with processes that are really killed."""
    with ControlPlane.start() as plane:
        if plane.how.startswith(("existing", "kind")):
            pytest.skip(f"about processes of our own, and the cluster is borrowed ({plane.how})")
        yield plane


@pytest.fixture(scope="module")
def own_rig(own_plane, tmp_path_factory):
    made = Rig(own_plane, tmp_path_factory.mktemp("own-rig"))
    yield made
    made.close()
