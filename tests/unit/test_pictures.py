"""The pictures of a VM's life show what the code does: what they name exists, and none of the normal life is missing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpucloud.cloud import calls
from gpucloud.kinds.common import FIRST_CONDITION, OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.gpuvm.vm_states import documented
from gpucloud.reconcile.transitions import TRANSITIONS, OrderEvent
from support.decisions.tables import TABLES
from support.specification.operations import OPERATIONS

ROOT = Path(__file__).parents[2]
SEEN, CREATION, DELETION, RECORD = (
    (ROOT / "docs" / "explanation" / "life-of-a-vm.md").read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    for heading in ("What you see", "Creation", "Deletion", "The order record")
)
ARROW = re.compile(r"^    (\w+) --> (\w+): (.+)$", re.MULTILINE)
BETWEEN = re.compile(r"^    (\S+) --> (\S+): ", re.MULTILINE)  # as ARROW, with the begin and the end
# Status and reason of Ready, and the condition beside it, that the tables of decisions know of a GpuVM.
DECIDED = {(row.ready, row.reason, row.progress) for row in TABLES["GpuVM"].rows.values() if row.reason}
CAN_SAY = {(ready, reason) for ready, reason, _ in DECIDED} | {(FIRST_CONDITION["status"], FIRST_CONDITION["reason"])}
# Reasons that need no person, and are no part of a life in which nothing goes wrong.
UNUSUAL = {
    Reason.PAUSED: "somebody paused it",
    Reason.OBSERVE_ONLY: "the operator may change nothing",
    Reason.API_UNAVAILABLE: "the cloud cannot be asked",
    Reason.API_ERROR: "the cloud answers with an error",
    Reason.RATE_LIMITED: "the cloud asks for fewer calls",
    Reason.IMPLAUSIBLE_LISTING: "the listing is not believed",
    Reason.UNKNOWN_STATE: "the cloud says a word that is in no specification",
    Reason.PROVISIONING: "the cloud works on a VM without a call of the operator",
    Reason.DRIFTED: "somebody switched it in the cloud",
    Reason.VM_LOST: "the VM is gone, and nobody asked for that",
    Reason.NAMESPACE_TERMINATING: "its namespace ends before it is ordered",
    Reason.DELETION_BLOCKED: "something needs it, or the cloud still lists it",
}


def rows_of(section):
    """The names in the first cell of each row of the table of a section, and its second cell."""
    cells = re.findall(r"^\| (`?[A-Z][^|]+) \| ([^|]+) \|", section, re.MULTILINE)
    return [(re.findall(r"\w+", first), second) for first, second in cells]


def states_of(section):
    return {state for arrow in BETWEEN.findall(section) for state in arrow} - {"[*]"}


def test_every_state_that_is_shown_is_a_reason_of_a_vm_with_that_status_of_ready():
    told = {(ready, reason) for reasons, ready in rows_of(SEEN)[1:] for reason in reasons}
    assert told - CAN_SAY == set()
    assert {reason for _, reason in told} == states_of(SEEN), "the picture and the table below it"


def test_every_reason_of_the_normal_life_is_shown():
    normal = {reason for _, reason, progress in DECIDED if progress != "Stalled"} - UNUSUAL.keys() | {Reason.PENDING}
    assert states_of(SEEN) == normal, "draw it, or say in UNUSUAL why not"


def test_every_state_that_is_shown_has_a_way_in_and_a_way_out():
    arrows = BETWEEN.findall(SEEN)
    assert {before for before, _ in arrows} == {after for _, after in arrows}


@pytest.mark.parametrize(
    ("section", "sent"),
    [(CREATION, {"GetServers", "CreateServer"}), (DELETION, {"GetServers", "DestroyServer"})],
    ids=["creation", "deletion"],
)
def test_every_call_that_a_sequence_shows_is_one_of_the_client_and_of_the_specification(section, sent):
    shown = set(re.findall(r"Op->>Cloud: (\w+)", section))
    assert shown == sent
    assert shown <= {part.title for chapter in OPERATIONS for part in chapter.sections}
    assert [name for name in shown if not hasattr(calls, re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower())] == []


@pytest.mark.parametrize("section", [CREATION, DELETION], ids=["creation", "deletion"])
def test_every_condition_state_and_word_that_a_sequence_shows_exists(section):
    conditions = re.findall(r"Ready=(\w+) (\w+)", section)
    orders = re.findall(r"status\.order (\w+)", section)
    assert conditions
    assert set(conditions) - CAN_SAY == set()
    assert set(orders) <= set(OrderState)
    assert [word for word in re.findall(r"\b[A-Z_]{5,}\b", section) if documented(word) is None] == []
    assert set(re.findall(r"reason is `(\w+)`", section)) <= {reason for _, reason in CAN_SAY}


def test_every_arrow_of_the_order_record_is_a_transition():
    arrows = ARROW.findall(RECORD)
    assert len(arrows) >= len(OrderState)
    for before, after, event in arrows:
        assert TRANSITIONS[OrderState(before), OrderEvent(event)].to == after


def test_every_state_of_the_order_record_is_drawn_and_listed():
    drawn = {state for before, after, _ in ARROW.findall(RECORD) for state in (before, after)}
    listed = {state for states, _ in rows_of(RECORD)[1:] for state in states}
    assert drawn == set(OrderState) == listed


def test_the_reasons_beside_the_order_record_exist():
    named = set(re.findall(r"`([A-Z]\w+)`", RECORD.split("| State |")[1]))
    assert len(named) > 10
    assert named <= set(Reason)
