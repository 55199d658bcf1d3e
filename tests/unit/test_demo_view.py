"""What the demo shows of our objects: a table on a terminal, a line or two a change in a log."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demo import view
from demo.view import Key

BORN = datetime(2026, 1, 1, tzinfo=UTC)
TRAIN, LAB = Key("GpuVM", "train"), Key("GpuVpc", "lab")


def an_object(key=TRAIN, ready="True", reason="Running", message="The VM is running.", *, stalled=False, **status):
    conditions = [{"type": "Ready", "status": ready, "reason": reason, "message": message}]
    conditions += [{"type": "Stalled", "status": "True", "reason": reason, "message": message}] if stalled else []
    return {
        "kind": key.kind,
        "metadata": {"name": key.name, "creationTimestamp": "2026-01-01T00:00:00Z"},
        "status": {"conditions": conditions, **status},
    }


ONLINE = view.row(an_object(state="ONLINE", ip="198.51.100.7"))
CREATING = view.row(an_object(LAB, "False", "Creating", "The VPC is being created.", ipRange="10.1.0.0/16"))
REJECTED = view.row(an_object(Key("GpuVM", "spare"), "False", "Rejected", "No such image.", stalled=True))


def texts(lines):
    return [line.text for line in lines]


def test_an_object_without_any_status_is_shown_too():
    row = view.row({"kind": "GpuVM", "metadata": {"name": "new", "creationTimestamp": "2026-01-01T00:00:00Z"}})
    assert (row.key, row.ready, row.reason, row.state, row.address) == (("GpuVM", "new"), "Unknown", "", "", "")


def test_the_table_aligns_its_columns_and_puts_the_message_below():
    assert texts(view.table([CREATING, ONLINE], BORN + timedelta(seconds=7))) == [
        "KIND    NAME   READY  REASON    STATE   ADDRESS       AGE",
        "GpuVpc  lab    False  Creating          10.1.0.0/16   7s",
        "  The VPC is being created.",
        "GpuVM   train  True   Running   ONLINE  198.51.100.7  7s",
        "  The VM is running.",
    ]


def test_the_widest_words_of_all_kinds_fit_into_the_width():
    account = an_object(Key("GpuCloudAccount", "default"), "Unknown", "ProgressDeadlineExceeded")
    vm = an_object(Key("GpuVM", "builder"), "Unknown", "DependencyNotReady", state="PENDING_READINESS", ip="198.51.100.200")
    rows = [view.row(account), view.row(vm)]
    assert not [line for line in texts(view.table(rows, BORN)) if line.endswith("…")]


def test_the_table_of_nothing_says_so():
    assert texts(view.table([], BORN)) == ["No objects."]


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
        ("nothing changed", [ONLINE], [ONLINE], []),
        ("one came", [], [ONLINE], [" 12.3s  GpuVM train              Ready=True Running ONLINE 198.51.100.7"]),
        ("one went", [ONLINE], [], [" 12.3s  GpuVM train              gone"]),
        ("what is Ready has nothing to explain", [ONLINE], [dataclasses.replace(ONLINE, message="It still runs.")], []),
        (
            "one changed and the other did not; what is not Ready explains itself",
            [dataclasses.replace(CREATING, reason="Pending"), ONLINE],
            [CREATING, ONLINE],
            [
                " 12.3s  GpuVpc lab               Ready=False Creating 10.1.0.0/16",
                "        The VPC is being created.",
            ],
        ),
        (
            "two kinds of one name are two objects",
            [ONLINE],
            [dataclasses.replace(ONLINE, key=Key("GpuVpc", "train"))],
            [
                " 12.3s  GpuVpc train             Ready=True Running ONLINE 198.51.100.7",
                " 12.3s  GpuVM train              gone",
            ],
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_log_tells_what_changed(why, before, after, lines):
    assert view.changes({row.key: row for row in before}, {row.key: row for row in after}, 12.34) == lines, why


@given(message=st.text(), state=st.text(max_size=300), ip=st.text(max_size=300))
def test_whatever_the_cloud_says_no_line_is_too_wide_or_holds_a_control_character(message, state, ip):
    row = view.row(an_object(ready="False", message=message, state=state, ip=ip))
    lines = texts(view.table([row], BORN)) + view.changes({}, {row.key: row}, 1.0)
    assert all(len(line) <= view.WIDTH and line.isprintable() for line in lines)
