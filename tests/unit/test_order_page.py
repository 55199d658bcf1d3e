"""docs/reference/orders.md says what the core does."""

from pathlib import Path

from gpucloud.kinds.common import OrderState
from gpucloud.reconcile.continuity import MATCHES
from gpucloud.reconcile.transitions import IGNORED, TRANSITIONS
from pages import orders
from printed import stale

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "orders.md"


def test_the_page_is_as_printed():
    assert PAGE.read_text() == orders.page(), "run `make crds`"


def test_every_transition_has_a_row_and_an_arrow_and_every_state_a_paragraph():
    text = orders.page()
    for (before, event), (after, proof) in TRANSITIONS.items():
        assert f"| `{before}` | {event} | `{after}` | {proof} |" in text
        assert before is after or f"    {before} --> {after}: {event}\n" in text
    assert all(f"\n\n**{state}**: " in text for state in OrderState)


def test_every_event_that_changes_nothing_has_a_row_with_its_reason():
    text = orders.page()
    assert all(f"| `{state}` | {event} | {why} |" in text for (state, event), why in IGNORED.items())
    assert all(IGNORED.values())
    assert not IGNORED.keys() & TRANSITIONS.keys()


def test_every_gap_of_a_chosen_name_has_a_row_and_a_paragraph():
    text = orders.page()
    for gap, answers in MATCHES.items():
        assert f"| {gap} | {' | '.join(answers.values())} |\n" in text
        assert f"\n\n**{gap.capitalize()}**: " in text


def test_a_page_that_differs_or_is_missing_is_named():
    text = orders.page()
    assert stale({PAGE: text}) == []
    assert stale({PAGE: text.replace("| `Seen` |", "| `Sene` |")}) == ["docs/reference/orders.md"]
    assert stale({PAGE.with_name("no-such-page.md"): text}) == ["docs/reference/no-such-page.md"]
