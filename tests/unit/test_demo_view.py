"""What the demo shows of GpuVMs: a table on a terminal, a line a change in a log."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demo import view

BORN = datetime(2026, 1, 1, tzinfo=UTC)


def an_object(name="train", ready="True", reason="Running", message="The VM is running.", *, stalled=False, **status):
    conditions = [{"type": "Ready", "status": ready, "reason": reason, "message": message}]
    conditions += [{"type": "Stalled", "status": "True", "reason": reason, "message": message}] if stalled else []
    return {
        "metadata": {"name": name, "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"configuration": "A100_40GB_PCIe_1x"},
        "status": {"conditions": conditions, **status},
    }


ONLINE = view.row(an_object(state="ONLINE", ip="198.51.100.7"))
CREATING = view.row(an_object("notebook", "False", "Creating", "The VM is being created."))
REJECTED = view.row(an_object("spare", "False", "Rejected", "No such image.", stalled=True))


def texts(lines):
    return [line.text for line in lines]


def test_an_object_without_any_status_is_shown_too():
    row = view.row({"metadata": {"name": "new", "creationTimestamp": "2026-01-01T00:00:00Z"}})
    assert (row.name, row.ready, row.reason, row.state, row.ip) == ("new", "Unknown", "", "", "")


def test_the_table_aligns_its_columns_and_puts_the_message_below():
    assert texts(view.table([ONLINE, CREATING], BORN + timedelta(seconds=7))) == [
        "NAME      READY  REASON    STATE   CONFIGURATION      IP            AGE",
        "train     True   Running   ONLINE  A100_40GB_PCIe_1x  198.51.100.7  7s",
        "  The VM is running.",
        "notebook  False  Creating          A100_40GB_PCIe_1x                7s",
        "  The VM is being created.",
    ]


def test_the_table_of_nothing_says_so():
    assert texts(view.table([], BORN)) == ["No GpuVMs."]


@pytest.mark.parametrize(
    ("row", "mood"),
    [(ONLINE, "good"), (CREATING, "busy"), (REJECTED, "bad")],
    ids=["as asked", "under way", "a person must act"],
)
def test_a_row_tells_how_it_is(row, mood):
    assert view.table([row], BORN)[1].mood == mood


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(-3, "0s"), (0, "0s"), (119, "119s"), (120, "2m"), (3600, "60m")],
    ids=["the apiserver's clock is ahead", "just now", "still seconds", "minutes", "no hours: a demo is short"],
)
def test_age(seconds, shown):
    assert view.age(ONLINE, BORN + timedelta(seconds=seconds)) == shown


@pytest.mark.parametrize(
    ("why", "before", "after", "lines"),
    [
        ("nothing changed", {"train": ONLINE}, {"train": ONLINE}, []),
        ("one came", {}, {"train": ONLINE}, [" 12.3s train     Ready=True Running ONLINE 198.51.100.7"]),
        ("one went", {"train": ONLINE}, {}, [" 12.3s train     gone"]),
        (
            "one changed and the other did not; what is not Ready explains itself",
            {"notebook": dataclasses.replace(CREATING, reason="Pending"), "train": ONLINE},
            {"notebook": CREATING, "train": ONLINE},
            [" 12.3s notebook  Ready=False Creating The VM is being created."],
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_log_gets_one_line_a_change(why, before, after, lines):
    assert view.changes(before, after, 12.34) == lines, why


@given(message=st.text(), state=st.text(max_size=300), ip=st.text(max_size=300))
def test_whatever_the_cloud_says_no_line_is_too_wide_or_holds_a_control_character(message, state, ip):
    row = view.row(an_object(ready="False", message=message, state=state, ip=ip))
    lines = texts(view.table([row], BORN)) + view.changes({}, {"train": row}, 1.0)
    assert all(len(line) <= view.WIDTH and line.isprintable() for line in lines)
