"""What ``make mutants`` makes of what mutmut says: neither silence nor nothing at all passes for found."""

import pytest

from mutation.campaign import UNTOLD, Outcome, held, share, table, untold


def outcomes(**statuses):
    """So many of each status."""
    return [
        Outcome(f"gpucloud.room.module.{status}_{number}", "room.module", status.replace("_", " "))
        for status, count in statuses.items()
        for number in range(count)
    ]


@pytest.mark.parametrize(
    ("seen", "least", "enough", "why"),
    [
        ([], 0.8, False, "nothing was tried"),
        ([], 0.0, False, "nothing was tried, though no share is asked for"),
        (outcomes(killed=8, survived=2), 0.8, True, "just enough"),
        (outcomes(killed=79, survived=21), 0.8, False, "one too few"),
        (outcomes(killed=6, timeout=2, no_tests=2), 0.8, True, "a test that never ends has noticed"),
        (outcomes(killed=7, no_tests=3), 0.8, False, "what no test calls was not noticed"),
        (outcomes(killed=7, skipped=3), 0.8, False, "nor what was not tried"),
        (outcomes(killed=8, survived=1, no_outcome=2), 0.8, False, "nor that of which nothing was told"),
        (outcomes(survived=3), 0.0, True, "of this room no share is asked for"),
    ],
)
def test_when_enough_were_found(seen, least, enough, why):
    assert held(seen, least) is enough, why


def test_of_nothing_nothing_was_found():
    assert share([]) == 0.0


def test_what_was_drawn_and_has_no_outcome_counts_as_not_found():
    seen = outcomes(killed=2)
    names = [*(item.name for item in seen), "gpucloud.room.other.lost_1", "gpucloud.room.other.lost_1"]
    (lost,) = untold(names, seen)
    assert (lost.name, lost.module, lost.status, lost.found) == (names[-1], "room.other", UNTOLD, False)
    assert share([*seen, lost]) == pytest.approx(2 / 3)


def test_the_table_says_how_many_have_no_outcome():
    seen = outcomes(killed=2, survived=1)
    assert not [line for line in table(seen) if "nothing was told" in line]
    told = table([*seen, *untold(["gpucloud.room.other.lost_1"], seen)])
    assert told[-1] == "  of 1 drawn nothing was told: counted as not found"
    assert "2 of     4  (50.0%)" in told[-2]
