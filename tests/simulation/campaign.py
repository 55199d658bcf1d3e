"""Many histories on all cores, counted."""

from __future__ import annotations

import gc
import multiprocessing
import os
import subprocess
import sys
import time
from collections import Counter, defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from simulation import aims, single, telling

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping

    from simulation.single import Outcome

TESTS = Path(__file__).parents[1]
CHUNK, FEW = 25, 4  # histories a worker takes at once; with --stop few, as one violation ends it all
TOLD = 5  # violations of each oracle, as they come; the table at the end names more
AGAIN = 50  # one history in so many is made twice, and must be the same
COMPARED = 40  # histories that are made once more under another hash seed


def _chunk(seeds: list[int]) -> list[Outcome]:
    found = []
    for seed in seeds:
        outcome = single.live(seed)
        if seed % AGAIN == 0 and single.live(seed).digest != outcome.digest:
            outcome.sometimes["NOT THE SAME TWICE"] += 1
        if not outcome.violations:
            outcome.deviations = {}
        found.append(outcome)
        gc.collect()  # after each: a process stays below 90 MB
    return found


def run(given: argparse.Namespace) -> int:
    """Let them take place; answers the exit code: 2 where no seed of the range draws what is aimed at."""
    seeds = [seed for seed in range(given.first, given.first + given.histories) if aims.meets(seed, given.aim)]
    if seeds:
        return _campaign(given, seeds)
    wanted, last = " and ".join(map(repr, given.aim)), given.first + given.histories - 1
    print(f"{aims.NONE_DRAWN} {given.first} to {last} has {wanted}: give more --histories", file=sys.stderr)
    return 2


@dataclass
class _Tally:
    """What the histories of a campaign have shown so far."""

    began: float = field(default_factory=time.monotonic)
    compared: tuple[int, ...] = ()  # seeds of the histories that another process makes, too
    met: Counter[str] = field(default_factory=Counter)
    sometimes: Counter[str] = field(default_factory=Counter)
    seeds: set[int] = field(default_factory=set)
    digests: dict[int, str] = field(default_factory=dict)
    broken: defaultdict[str, list[Outcome]] = field(default_factory=lambda: defaultdict(list))

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.monotonic() - self.began

    def add(self, outcome: Outcome) -> None:
        """Count a history; print its first violation, and now and then how far it is."""
        self.seeds.add(outcome.seed)
        self.met.update(outcome.met.keys())
        self.sometimes.update(outcome.sometimes)
        if outcome.seed in self.compared:
            self.digests[outcome.seed] = outcome.digest
        if outcome.violations:
            self.broken[outcome.oracle].append(outcome)
            if len(self.broken[outcome.oracle]) <= TOLD:
                print(f"seed {outcome.seed}: {outcome.violations[0]}", flush=True)
        if len(self.seeds) % 500 == 0:
            _progress(len(self.seeds), self.began, self.broken)

    def print(self) -> None:
        """Print the table."""
        seeds = (min(self.seeds), max(self.seeds))
        print(telling.table(len(self.seeds), seeds, self.seconds, self.met, self.sometimes, self.broken))


def _campaign(given: argparse.Namespace, aimed: list[int]) -> int:
    single.quieten()
    tally = _Tally(compared=() if given.stop else tuple([seed for seed in aimed if seed % AGAIN == 0][:COMPARED]))
    with _under_another_hash_seed(tally.compared, given.without) as other:
        try:
            for outcome in _outcomes(given, aimed):
                tally.add(outcome)
                if (given.stop and tally.broken) or (given.minutes and tally.seconds > 60 * given.minutes):
                    break
        except KeyboardInterrupt:
            if tally.seeds:
                tally.print()
            raise
        tally.print()
        for outcomes in list(tally.broken.values())[: given.shrink]:
            print(telling.story(single.live(outcomes[0].seed, keep=True)))
        differing = [] if other is None else _differing(tally.digests, other)
    for seed in differing:
        print(f"seed {seed} depends on the hash seed: an iterated set, or another order that nothing fixes")
    return 1 if tally.broken or differing or tally.sometimes["NOT THE SAME TWICE"] else 0


@contextmanager
def _under_another_hash_seed(seeds: tuple[int, ...], without: Iterable[str]) -> Iterator[subprocess.Popen[str] | None]:
    """Let a process with another hash seed make these histories, too; it leaves out the same kinds of faults.

    It begins with the campaign, so that both run the same code, whatever is edited meanwhile.
    """
    if not seeds:
        yield None
        return
    words = ["--digests", ",".join(map(str, seeds)), "--without", ",".join(sorted(without))]
    env = {**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": str(TESTS)}
    command = [sys.executable, "-m", "simulation", *words]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as other:  # noqa: S603
        try:
            yield other
        finally:
            other.kill()


def _differing(digests: Mapping[int, str], other: subprocess.Popen[str]) -> list[int]:
    """The histories that are not the same in the other process."""
    there = dict(line.split() for line in other.communicate()[0].splitlines())
    return [seed for seed, digest in digests.items() if there.get(str(seed)) != digest]


def _outcomes(given: argparse.Namespace, seeds: list[int]) -> Iterator[Outcome]:
    chunk = FEW if given.stop else CHUNK
    chunks = [seeds[first : first + chunk] for first in range(0, len(seeds), chunk)]
    if given.processes == 1:
        single.settle_down()
        for some in chunks:
            yield from _chunk(some)
        return
    with multiprocessing.get_context("fork").Pool(given.processes, single.begin_worker) as pool:
        for outcomes in (pool.imap if given.stop else pool.imap_unordered)(_chunk, chunks):
            yield from outcomes


def _progress(done: int, began: float, broken: dict[str, list[Outcome]]) -> None:
    seconds = time.monotonic() - began
    found = ", ".join(f"{oracle} {len(outcomes)}" for oracle, outcomes in sorted(broken.items())) or "none"
    print(f"{telling.histories(done)}, {done / seconds:.1f}/s; violations: {found}", flush=True)


def tell_digests(seeds: Iterable[int]) -> int:
    """One line a seed, for another process to compare."""
    single.settle_down()
    for seed in seeds:
        print(seed, single.live(seed).digest)
    return 0
