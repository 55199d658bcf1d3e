"""Which histories can show a planted defect at all, told from what their seeds draw: no other needs to be made."""

from __future__ import annotations

from simulation import actors, scenario, situations
from simulation.choices import Choices
from simulation.weather import KINDS, Weather

SETTINGS = ("two replicas", "own account", "accounts")


def meets(seed: int, aim: tuple[str, ...]) -> bool:
    """Whether the history of this seed has all of these: a plot, acts, kinds of faults, settings."""
    if not aim:
        return True
    choices = Choices(seed)
    weather, chosen = Weather(choices), scenario.draw(choices)
    has = {
        *situations.drawn(choices),
        *weather.rates,
        *(actors.next_act(choices) for _ in range(chosen.slots)),
        "two replicas" if chosen.replicas == 2 else "",
        "own account" if chosen.own_account else "accounts",
    }
    return has.issuperset(aim)


def known(word: str) -> bool:
    """Whether histories are told apart by this word."""
    return word in (*situations.PLOTS, *KINDS, *SETTINGS, *actors.WEIGHTS)
