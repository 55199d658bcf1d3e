"""Points at which an operator may die: a class of calls, which of them, and how far it has come."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chaos.rig.calls import CLOUD, KUBE, Phase
from chaos.rig.rules import nth

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from chaos.rig.calls import Call
    from chaos.rig.reference import Reference
    from chaos.rig.rules import Outcome
    from chaos.rig.trial import Trial


@dataclass(frozen=True)
class Point:
    """The number-th call of a class on a link, in a phase; counted from when it is armed.

    ``place`` stands for the number in names: how often something is read depends on time, and a run must be found again.
    """

    link: str
    word: str
    number: int
    phase: Phase
    place: str = ""

    @property
    def call(self) -> tuple[str, str, int]:
        """The link, class and number of its call."""
        return self.link, self.word, self.number

    def __str__(self) -> str:
        """As it stands in the names of runs."""
        return f"{self.link} {self.word}#{self.place or self.number} {self.phase}"

    def arm(self, trial: Trial, do: Callable[[Call], Awaitable[Outcome]]) -> None:
        """Have something done there."""
        link = trial.cloud if self.link == CLOUD else trial.kube
        link.add(nth(self.word, self.number), self.phase, do)


def points(seen: Reference) -> list[Point]:
    """All points of a life: cloud calls in three phases, writes to the apiserver in two.

    Every call that changes something is one. Of the others, which repeat for as long as something is waited for: the
    first, one in the middle and the last but one (whether the very last comes is chance).
    """
    return [
        *(
            Point(CLOUD, word, number, phase, place)
            for word, number, place in _chosen(seen.cloud)
            for phase in (Phase.RECEIVED, Phase.ANSWERED, Phase.DELIVERED)
        ),
        *(
            Point(KUBE, word, number, phase, place)
            for word, number, place in _chosen(call for call in seen.kube if call.writes)
            for phase in (Phase.RECEIVED, Phase.ANSWERED)
        ),
    ]


def _chosen(calls: Iterable[Call]) -> list[tuple[str, int, str]]:
    """Which calls of each class, and what those are called whose number another life may not share."""
    calls = list(calls)
    changing = {call.word for call in calls if call.writes}
    found: list[tuple[str, int, str]] = []
    for word, count in sorted(Counter(call.word for call in calls).items()):
        if word in changing:
            found += [(word, number, "") for number in range(1, count + 1)]
        else:
            places = {max(1, count - 1): "last but one", (count + 1) // 2: "middle", 1: ""}  # of one number the last name
            found += [(word, number, places[number]) for number in sorted(places)]
    return found
