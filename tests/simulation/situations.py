"""Short plots that random acts alone meet too seldom: a quarter of all histories has one of people, with times drawn as ever.

A third has one of the others, also beside one of people: calls and news that cross each other, names and records that mislead,
a cloud that answers wrongly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation import (
    adopting,
    alternatives,
    crossings,
    elsewhere,
    impostors,
    last_snapshots,
    losing,
    lost_statuses,
    people_plots,
    scarce,
    wrong_answers,
)
from simulation.stage import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from simulation.choices import Choices
    from simulation.world import World

SHARE, SECOND_SHARE, LASTING_SHARE, ADOPTING_SHARE, SAVING_SHARE, LOSING_SHARE = (
    0.25,
    0.3,
    0.02,
    0.08,
    0.06,
    0.06,
)  # of the histories
CHOOSING_SHARE, STATUSES_SHARE, ENDING_SHARE, SCARCE_SHARE, ELSEWHERE_SHARE = 0.04, 0.02, 0.02, 0.06, 0.06
OF_PEOPLE: dict[str, Callable[[Stage], None]] = people_plots.PLOTS
OTHERS: dict[str, Callable[[Stage], None]] = crossings.PLOTS | impostors.PLOTS | wrong_answers.PLOTS
LASTING = wrong_answers.LASTING  # in calm always: faults for an hour would be causes of calls, and take long
ADOPTING = adopting.PLOTS  # drawn by themselves, so that the histories without them stay what they were
SAVING, LOSING, SCARCE = last_snapshots.PLOTS, losing.PLOTS, scarce.PLOTS  # in the same way
CHOOSING, STATUSES, ENDING, ELSEWHERE = alternatives.PLOTS, lost_statuses.PLOTS, lost_statuses.ENDING, elsewhere.PLOTS
PLOTS = OF_PEOPLE | OTHERS | LASTING | ADOPTING | SAVING | LOSING | SCARCE | CHOOSING | STATUSES | ENDING | ELSEWHERE


def drawn(choices: Choices) -> tuple[str, ...]:
    """The plots of a history; mostly none."""
    first, second = _one(choices, "situation", OF_PEOPLE, SHARE), _one(choices, "second situation", OTHERS, SECOND_SHARE)
    lasting = _one(choices, "lasting situation", LASTING, LASTING_SHARE)
    adopts = _one(choices, "adopting situation", ADOPTING, ADOPTING_SHARE)
    saves = _one(choices, "saving situation", SAVING, SAVING_SHARE)
    loses = _one(choices, "losing situation", LOSING, LOSING_SHARE)
    wants = _one(choices, "scarce situation", SCARCE, SCARCE_SHARE)
    chooses = _one(choices, "choosing situation", CHOOSING, CHOOSING_SHARE)
    status = _one(choices, "lost status situation", STATUSES, STATUSES_SHARE)
    ends = _one(choices, "ending situation", ENDING, ENDING_SHARE)
    goes = _one(choices, "elsewhere situation", ELSEWHERE, ELSEWHERE_SHARE)
    found = (first, second, lasting, adopts, saves, loses, wants, chooses, status, ends, goes)
    return tuple(plot for plot in found if plot)


def _one(choices: Choices, domain: str, plots: Collection[str], share: float) -> str:
    none = len(plots) * (1 - share) / share
    return choices.choose(domain, ("", *plots), (none, *(1.0 for _ in plots)))


def begin(world: World, cluster: str) -> None:
    """Draw the plots; what they do comes later, beside everything else."""
    for plot in drawn(world.choices):
        if plot not in world.weather.without:
            world.tell("world", f"situation: {plot}")
            if plot in LASTING or (plot in OTHERS and world.choices.choose("situation in calm", (True, False))):
                world.weather.calm_down()  # faults would keep much of it from showing
            if plot in SCARCE and world.choices.choose("scarce situation in calm", (True, False)):
                world.weather.calm_down()
            if plot in ELSEWHERE and world.choices.choose("elsewhere situation in calm", (True, False)):
                world.weather.calm_down()
            PLOTS[plot](Stage(world, cluster))
