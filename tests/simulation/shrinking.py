"""Make a history shorter: fewer deviations, of which the same oracle still fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation import single

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from simulation.choices import Deviations, Key
    from simulation.single import Outcome

RUNS = 300


class Budget:
    """Runs that are left."""

    def __init__(self, runs: int = RUNS) -> None:
        self.left = runs
        self.used = 0

    def take(self) -> bool:
        """Whether there is one more."""
        self.used += 1
        self.left -= 1
        return self.left >= 0


def shrink(outcome: Outcome, live: Callable[..., Outcome] = single.live, runs: int = RUNS) -> tuple[Outcome, int]:
    """The shortest history found of which the same oracle fails, told in full; and how many runs it took."""
    budget, best = Budget(runs), dict(outcome.deviations)

    def fails(deviations: Deviations) -> bool:
        return budget.take() and live(outcome.seed, deviations).oracle == outcome.oracle

    if not fails(best):
        return outcome, budget.used
    best = _without_domains(best, fails)
    best = _without_parts(best, fails)
    return live(outcome.seed, best, keep=True), budget.used


def _without_domains(best: Deviations, fails: Callable[[Deviations], bool]) -> Deviations:
    """Whole kinds of choices first: most have nothing to do with it. The most numerous first."""
    sizes: dict[str, int] = {}
    for domain, _ in best:
        sizes[domain] = sizes.get(domain, 0) + 1
    families = [lambda domain: domain.startswith("latency"), lambda domain: domain.startswith("fault kube")]
    for family in families:
        fewer = {key: value for key, value in best.items() if not family(key[0])}
        if len(fewer) < len(best) and fails(fewer):
            best = fewer
    for domain in sorted(sizes, key=lambda name: -sizes[name]):
        fewer = {key: value for key, value in best.items() if key[0] != domain}
        if len(fewer) < len(best) and fails(fewer):
            best = fewer
    return best


def _without_parts(best: Deviations, fails: Callable[[Deviations], bool]) -> Deviations:
    """Halves, quarters, … and single ones, the latest first."""
    size = max(1, len(best) // 2)
    while True:
        for part in _parts(list(best), size):
            fewer = {key: value for key, value in best.items() if key not in part}
            if len(fewer) < len(best) and fails(fewer):
                best = fewer
        if size == 1:
            return best
        size = max(1, size // 2)


def _parts(keys: Iterable[Key], size: int) -> Iterator[set[Key]]:
    """From the end to the beginning."""
    listed = list(keys)
    for end in range(len(listed), 0, -size):
        yield set(listed[max(0, end - size) : end])
