"""Every choice of a history goes through here: drawn by a seed, or as a list of deviations says.

A choice is known by its domain and how often that domain was asked before, so that leaving one out shifts no other. What was
drawn and is not the default is a deviation; the deviations of a run are its whole history, and make it again.
"""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

V = TypeVar("V")
Key = tuple[str, int]
Deviations = dict[Key, object]
_WHOLE = float(2**53)


def fraction(seed: object, domain: str, occurrence: int) -> float:
    """A number from 0 to 1 that depends on nothing else."""
    digest = blake2b(f"{seed}\0{domain}\0{occurrence}".encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> 11) / _WHOLE


class Choices:
    """The choices of one run. ``replayed``: only these deviations; else they are drawn by the seed."""

    def __init__(self, seed: object, replayed: Mapping[Key, object] | None = None) -> None:
        self.seed = seed
        self.deviations: Deviations = {}
        self._replayed = replayed
        self._asked: Counter[str] = Counter()

    def pick(self, domain: str, default: V, make: Callable[[float], V]) -> V:
        """The default, or what is made of a number from 0 to 1."""
        occurrence = self._asked[domain]
        self._asked[domain] += 1
        key = (domain, occurrence)
        if self._replayed is not None:
            found = self._replayed.get(key, default)
        else:
            found = make(fraction(self.seed, domain, occurrence))
        if found != default:
            self.deviations[key] = found
        return found  # type: ignore[return-value] # what was recorded under this key is of its type

    def choose(self, domain: str, options: Sequence[V], weights: Sequence[float] | None = None) -> V:
        """One of several; the first is the default."""
        return self.pick(domain, options[0], lambda part: _weighted(part, options, weights))

    def chance(self, domain: str, probability: float) -> bool:
        """Whether something unusual happens."""
        return self.pick(domain, default=False, make=lambda part: part < probability)

    def draw(self, domain: str) -> float:
        """A number that is no deviation: the same in every run of the seed, replayed or not."""
        occurrence = self._asked[domain]
        self._asked[domain] += 1
        return fraction(self.seed, domain, occurrence)


def _weighted(part: float, options: Sequence[V], weights: Sequence[float] | None) -> V:
    if weights is None:
        return options[min(int(part * len(options)), len(options) - 1)]
    rest = part * sum(weights)
    for option, weight in zip(options, weights, strict=True):
        rest -= weight
        if rest < 0:
            return option
    return options[-1]
