"""The boot log of a VM is read late, and seldom."""

import pytest


@pytest.mark.parametrize(
    ("waits", "found"),
    [((600, 600), []), ((600, 300), ["boot log"]), ((60,), ["boot log"]), ((597,), ["boot log"])],
    ids=["late", "too soon again", "too soon", "a little too soon"],
)
def test_a_boot_log_is_read_late_and_seldom(courts, waits, found):
    it = courts()
    it.bought()
    for seconds in waits:
        it.passes(seconds)
        it.judge.rates.reads_boot_log(it.operator, "a-x")
    assert it.oracles == found


def test_who_reads_a_time_that_somebody_else_wrote_may_read_early(courts):
    it = courts()
    it.bought()
    (life,) = it.judge.books.standing()
    it.world.actors.wipe(life.now | {"kind": "GpuVM"})
    it.judge.rates.reads_boot_log(it.operator, "a-x")
    assert it.oracles == []


def test_how_old_a_vm_is_that_was_made_by_hand_nobody_can_tell(courts):
    """Seed 92032034: an adopted VM went, and its owner made it again while its object waited."""
    it = courts()
    assert it.world.cloud.make_vm("legacy", "acme", "Msc1", "stranger")
    it.judge.rates.reads_boot_log(it.operator, "legacy")
    assert it.oracles == []
