"""The faults of a history: which kinds it knows, how often each strikes, and until when.

Swarm: a tenth of all histories has none; in the others each kind is on with a probability of a quarter, at a rate of its own.
All at once would keep each other from showing.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, ClassVar, NamedTuple

if TYPE_CHECKING:
    from simulation.choices import Choices

KUBE = ("kube-401", "kube-409", "kube-429", "kube-500", "kube-503", "kube-lost", "kube-unsaid", "kube-late", "kube-slow")
WATCH = ("watch-cut", "watch-410", "watch-slow")
CLOUD_READ = (
    *("cloud-429", "cloud-500", "cloud-503", "cloud-lost", "cloud-garbage", "cloud-html", "cloud-truncated", "cloud-slow"),
    *("list-partial", "list-empty", "list-twice", "list-stale", "list-foreign", "list-more", "word"),
)
CLOUD_WRITE = (
    *("cloud-429", "cloud-500", "cloud-503", "cloud-lost", "cloud-slow"),
    *("write-unsaid", "write-500", "write-not-found", "write-late", "write-ghost", "write-garbage"),
)
PROCESS = ("crash", "crash-at-call", "pause")
STATES = ("lag", "spelling", "own-id", "odd-knobs", "no-capacity", "cloud-outage", "kube-outage", "cloud-budget")
KINDS = tuple(dict.fromkeys((*KUBE, *WATCH, *CLOUD_READ, *CLOUD_WRITE, *PROCESS, *STATES)))
ON = 0.25
CALM = 0.1
RATES = (0.02, 0.05, 0.1, 0.3)


class _Odds(NamedTuple):
    """What may strike, nothing first, and how often each does."""

    options: tuple[str, ...]
    weights: tuple[float, ...]


class Weather:
    """Which faults there are. ``over`` ends them all. ``without``: kinds of faults and acts that are left out."""

    without: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self.over = False
        self.met: Counter[str] = Counter()
        self.rates: dict[str, float] = {}
        self.plotted: set[str] = set()  # kinds that a plot brings about, and nothing else
        self._odds: dict[tuple[str, ...], _Odds] = {}  # by the kinds that a call may meet
        calm = choices.draw("calm") < CALM
        for kind in KINDS:
            rate = choices.choose(f"weather {kind}", (0.0, *RATES), ((1 - ON) / ON * len(RATES), *(1.0 for _ in RATES)))
            if rate and not calm and kind not in self.without:
                self.rates[kind] = rate

        if "own-id" in self.rates:  # who dies before the answer came can never learn what the cloud has called its VM
            for kind in PROCESS:
                self.rates.pop(kind, None)

    def calm_down(self) -> None:
        """No fault but those that a plot brings about."""
        self.rates.clear()
        self._odds.clear()

    @property
    def tells_news(self) -> bool:
        """Whether no fault of this history delays the news of objects, or loses them."""
        return not (self.rates.keys() | self.plotted) & {*KUBE, *WATCH, "kube-outage"}

    @property
    def shows_cloud(self) -> bool:
        """Whether no fault of this history hides from operators what the cloud has."""
        return not (self.rates.keys() | self.plotted) & {*CLOUD_READ, "cloud-outage", "cloud-budget", "lag", "own-id"}

    def has(self, kind: str) -> bool:
        """Whether this kind belongs to this history, and faults are not over."""
        return not self.over and (kind in self.rates or kind in self.plotted)

    def deafens(self) -> bool:
        """Whether news from the apiserver may come very late."""
        return any(kind in self.rates for kind in ("kube-outage", "watch-slow", "watch-410", "watch-cut"))

    def strikes(self, kinds: tuple[str, ...], domain: str) -> str:
        """Which of these kinds strikes this call; empty for none."""
        odds = self._odds.get(kinds) or self._odds.setdefault(kinds, self._odds_of(kinds))
        if self.over or len(odds.options) == 1:
            return ""
        found = self._choices.choose(f"fault {domain}", odds.options, odds.weights)
        if found:
            self.met[found] += 1
        return found

    def _odds_of(self, kinds: tuple[str, ...]) -> _Odds:
        here = [kind for kind in kinds if kind in self.rates]
        rates = [self.rates[kind] for kind in here]
        return _Odds(("", *here), (max(0.3, 1.0 - sum(rates)), *rates))
