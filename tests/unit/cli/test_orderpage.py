"""docs/reference/orders.md says what the core does."""

import argparse
from pathlib import Path

from gpucloud.cli import crds, orderpage
from gpucloud.kinds.common import OrderState
from gpucloud.reconcile.continuity import MATCHES
from gpucloud.reconcile.transitions import IGNORED, TRANSITIONS

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "reference" / orderpage.NAME


def test_the_page_is_as_printed():
    assert PAGE.read_text() == orderpage.order_page(), "run `make crds`"


def test_every_transition_has_a_row_and_an_arrow_and_every_state_a_paragraph():
    text = orderpage.order_page()
    for (before, event), (after, proof) in TRANSITIONS.items():
        assert f"| `{before}` | {event} | `{after}` | {proof} |" in text
        assert before is after or f"    {before} --> {after}: {event}\n" in text
    assert all(f"\n\n**{state}**: " in text for state in OrderState)


def test_every_event_that_changes_nothing_has_a_row_with_its_reason():
    text = orderpage.order_page()
    assert all(f"| `{state}` | {event} | {why} |" in text for (state, event), why in IGNORED.items())
    assert all(IGNORED.values())
    assert not IGNORED.keys() & TRANSITIONS.keys()


def test_every_gap_of_a_chosen_name_has_a_row_and_a_paragraph():
    text = orderpage.order_page()
    for gap, answers in MATCHES.items():
        assert f"| {gap} | {' | '.join(answers.values())} |\n" in text
        assert f"\n\n**{gap.capitalize()}**: " in text


def test_a_page_that_differs_is_told(tmp_path, capsys):
    def check(mode):
        other = {"write": "check", "check": "write"}[mode]
        return crds.run(argparse.Namespace(**{mode: tmp_path / "crds", other: None, "docs": tmp_path, "schemas": None}))

    assert (check("write"), check("check")) == (0, 0)
    page = tmp_path / orderpage.NAME
    page.write_text(page.read_text().replace("| `Seen` |", "| `Sene` |"))
    assert check("check") == 1
    assert "-| `Sene` |" in capsys.readouterr().out
