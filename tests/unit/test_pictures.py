"""The picture of an order's life shows what the core does: its arrows are rows of the table, and no state is missing."""

from __future__ import annotations

import re
from pathlib import Path

from gpucloud.kinds.common import OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.transitions import TRANSITIONS, OrderEvent

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "life-of-a-vm.md").read_text()
ARROW = re.compile(r"^    (\w+) --> (\w+): (.+)$", re.MULTILINE)


def test_every_arrow_of_the_picture_is_a_transition():
    arrows = ARROW.findall(PAGE)
    assert len(arrows) >= len(OrderState)
    for before, after, event in arrows:
        assert TRANSITIONS[OrderState(before), OrderEvent(event)].to == after


def test_every_state_is_in_the_picture_and_in_the_table_below_it():
    drawn = {state for before, after, _ in ARROW.findall(PAGE) for state in (before, after)}
    listed = {state for row in re.findall(r"^\| (\w+(?:, \w+)*) \| ", PAGE, re.MULTILINE) for state in row.split(", ")}
    assert drawn == set(OrderState) == listed - {"State"}


def test_the_reasons_that_it_names_exist():
    table = PAGE.split("| State |")[1]
    named = set(re.findall(r"`([A-Z]\w+)`", table))
    assert len(named) > 10
    assert named <= set(Reason)
