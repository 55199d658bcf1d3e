"""The annotation accept-absence: which doubts it ends, and what it says when it ends none."""

from datetime import UTC, datetime, timedelta

import pytest

from gpucloud.reconcile.accepted_absence import NEVER, AcceptedAbsence, accepted_absence, command
from gpucloud.reconcile.facts import Absent, Now, Unknown, UnknownReason
from gpucloud.reconcile.time_annotations import Said

WALL, MONO = datetime(2026, 1, 1, 12, tzinfo=UTC), 5000.0
NAME = "gpucloud.dev/accept-absence"


def read(text):
    return accepted_absence(Said(text, Now(WALL, MONO)), Now(WALL, MONO))


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("2026-01-01T12:00:00Z", MONO),
        ("2026-01-01T13:00:00+01:00", MONO),
        ("2026-01-01T11:00:00Z", MONO - 3600),
        ("2026-01-01T12:01:00Z", MONO + 60),  # clocks may differ a little
    ],
)
def test_it_ends_the_doubts_that_began_up_to_its_time(text, until):
    found = read(text)
    assert (found.until, found.trouble) == (until, "")
    assert (found.covers(until), found.covers(until + 0.1)) == (True, False)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("true", "is 'true', not a time such as 2026-01-02T03:04:05Z."),
        ("2026-01-01T12:00:00", "not a time such as"),  # without a zone it may be any hour
        ("2026-01-01T12:01:01Z", "in the future: nobody can know"),
        ("9" * 500, "9" * 40 + "'"),
    ],
)
def test_anything_else_ends_none_and_says_so(text, says):
    found = read(text)
    assert (found.until, says in found.trouble) == (NEVER, True), found.trouble
    doubt = Unknown(MONO, UnknownReason.IMPLAUSIBLE, "why.")
    assert found.explained(doubt).detail == f"why. {found.trouble}"
    assert found.explained(Unknown(MONO, UnknownReason.REFUSED)).detail == "", "only where it would have been of use"
    assert found.explained(gone := Absent(MONO, MONO)) is gone


def test_one_that_stood_there_when_the_operator_began_excuses_no_clock():
    """It was set before, and would cover what came since."""
    now = Now(WALL, MONO)
    ahead, before = (accepted_absence(Said(f"2026-01-01T{text}Z", now, stood=True), now) for text in ("12:00:01", "12:00:00"))
    assert ("in the future" in ahead.trouble, ahead.until, before.until) == (True, NEVER, MONO)


def test_no_annotation_ends_none_and_says_nothing():
    assert read(None) == AcceptedAbsence()
    assert AcceptedAbsence().explained(doubt := Unknown(MONO, UnknownReason.TENANT, "why.")) is doubt


def test_a_time_before_the_doubt_began_says_so():
    found = read("2026-01-01T11:00:00Z")
    says = f"The annotation {NAME} is 2026-01-01T11:00:00Z, but this began later."
    assert found.explained(Unknown(MONO, UnknownReason.IMPLAUSIBLE)).detail == says
    assert found.of_credential(MONO).explained(Unknown(MONO, UnknownReason.IMPLAUSIBLE)).detail == says
    assert found.explained(Unknown(MONO, UnknownReason.TENANT, "why.")).detail == "why.", (
        "a later time would not end each of these"
    )


def test_the_words_do_not_change_with_the_time_of_day():
    """Else every look at the object would write its status anew."""
    later = accepted_absence(Said("true", Now(WALL, MONO)), Now(WALL + timedelta(seconds=9), MONO + 9))
    assert later.trouble == read("true").trouble


def test_a_credential_that_came_later_was_not_meant():
    found = read("2026-01-01T12:00:00Z")
    assert found.of_credential(MONO) is found
    assert found.of_credential(MONO + 1).until == NEVER


def test_the_command_can_be_pasted():
    assert command("GpuVM", "team", "train") == (
        f"kubectl annotate gpuvm train --namespace=team --overwrite {NAME}=$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    )
