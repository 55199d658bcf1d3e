"""Choices, and making a history shorter."""

from dataclasses import dataclass, field

from simulation.choices import Choices
from simulation.owner_acts import OwnerActs
from simulation.shrinking import RUNS, shrink
from simulation.world import World


def drawn(choices):
    return [choices.choose("a", (0, 1, 2)) for _ in range(5)] + [choices.pick("b", 0.5, lambda part: part) for _ in range(3)]


def test_a_seed_repeats_and_another_differs():
    assert drawn(Choices(1)) == drawn(Choices(1)) != drawn(Choices(2))


def test_deviations_make_the_same_history_again():
    first = Choices(7)
    was = drawn(first)
    assert drawn(Choices(8, first.deviations)) == was


def test_leaving_one_out_shifts_no_other():
    first = Choices(7)
    was = drawn(first)
    gone = next(key for key in first.deviations if key[0] == "a")
    now = drawn(Choices(7, {key: value for key, value in first.deviations.items() if key != gone}))
    changed = [number for number, (old, new) in enumerate(zip(was, now, strict=True)) if old != new]
    assert changed == [gone[1]]
    assert now[gone[1]] == 0


def test_weights_are_kept():
    choices = Choices(3)
    found = [choices.choose("w", ("x", "y"), (9, 1)) for _ in range(2000)]
    assert 120 < found.count("y") < 280


@dataclass
class Lived:
    seed: int
    deviations: dict
    oracle: str = ""
    lines: list = field(default_factory=list)


def fails_with(*needed, oracle="leak"):
    runs = []

    def live(seed, deviations, *, keep=False):
        runs.append(keep)
        return Lived(seed, dict(deviations), oracle if all(key in deviations for key in needed) else "")

    return live, runs


def test_only_what_is_needed_is_left():
    everything = {(domain, number): 1 for domain in ("latency x", "act", "fault", "weather") for number in range(60)}
    live, runs = fails_with(("act", 7), ("fault", 30), ("weather", 0))
    found, used = shrink(Lived(5, everything, "leak"), live)
    assert set(found.deviations) == {("act", 7), ("fault", 30), ("weather", 0)}
    assert used == len(runs) - 1 <= RUNS


def test_another_oracle_that_fails_does_not_count():
    everything = {("act", number): 1 for number in range(8)}

    def live(seed, deviations, **_more):
        return Lived(seed, dict(deviations), "leak" if len(deviations) > 5 else "twice" if deviations else "")

    found, _ = shrink(Lived(5, everything, "leak"), live)
    assert len(found.deviations) == 6


def test_it_ends_after_so_many_runs():
    everything = {("act", number): 1 for number in range(500)}
    live, runs = fails_with(*everything)
    found, _ = shrink(Lived(5, everything, "leak"), live, runs=40)
    assert len(runs) <= 42
    assert set(found.deviations) == set(everything)


def test_what_cannot_be_made_again_is_left_as_it_was():
    live, _ = fails_with(("never", 0))
    outcome = Lived(5, {("act", 0): 1}, "leak")
    assert shrink(outcome, live)[0] is outcome


def test_the_last_part_of_a_choice_is_within_the_list():
    """Seed 92240110: a part of 0.9996 was rounded to 1, beyond the last backup."""
    world = World(3, {("which backup", 0): 1.0})
    world.actors.prepare()
    acts = OwnerActs(world, world.actors)
    acts.create_vm()
    acts.acts["back up status"]()
    acts.acts["restore status"]()
    assert world.judge.violations == []
    world._bury()
