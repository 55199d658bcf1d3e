"""The look for orphans in worlds that are badly seen: whatever it is shown, only what was truly abandoned is destroyed."""

from collections import Counter

import pytest

from support.generated_amount import drawn_for, replay
from support.orphanworld import ENDS, LISTINGS, OBJECTS, OrphanWorld

# Objects in a world. Of few even a lost list leaves no crowd of orphans, which alone would hold everything back.
SIZES = (1, 2, 4, 12)
WORLDS, TURNS = 25, 100  # of each size; a scan a turn: ten thousand in all
TEMPTED = (
    *ENDS,
    *(f"objects {how}" for how in OBJECTS),
    *(f"listing {how}" for how in LISTINGS),
    "came back",
    "a namesake",
    "gone before its VM came",
)


@pytest.mark.parametrize("size", SIZES)
async def test_nothing_that_has_an_owner_or_was_not_seen_abandoned_is_destroyed(size):
    wrong, faults, collected = [], Counter(), 0
    for number in range(WORLDS):
        world = OrphanWorld(drawn_for("orphan scans", size, number), size)
        for _ in range(TURNS):
            await world.turn()
        wrong += [f"world {number}: {what}" for what in world.wrong]
        faults += world.faults
        collected += world.collected
    assert wrong == [], replay("tests/unit/engine/test_orphan_scans.py")
    assert collected > WORLDS / 2, "it collects what is to be collected, or its restraint would prove nothing"
    assert [what for what in TEMPTED if not faults[what]] == []
