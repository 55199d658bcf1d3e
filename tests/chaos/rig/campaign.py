"""Many runs of one test: which of them are made, several at once, counted, and each replayable by one command.

``CHAOS=whole`` makes all of them, else a sample; ``CHAOS_SEED`` fixes the dice; ``CHAOS_ONLY='<run>'`` makes that one alone,
and fails when there is none of that name; ``CHAOS_AT_ONCE`` says how many runs wait at the same time.
"""

from __future__ import annotations

import json
import os
import random
import secrets
import shlex
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

TALLY = "chaos tally"
_SHOWN = 5
_FURTHER = 5  # so many more runs are drawn, one after the other, for each of a sample that did not come to its point
_UNREACHED_SHARE = 0.1  # above it the matrix would be green because nothing was tried


class NotReachedError(Exception):
    """The life went on without coming to the point that this run is about."""


@dataclass(frozen=True)
class Run:
    """One run: ``make`` carries it out and returns what was violated. The name must be the same in every session."""

    name: str
    make: Callable[[], list[str]]


@dataclass(frozen=True)
class Choice:
    """How much is to be run, by which dice."""

    whole: bool
    seed: int
    only: str
    at_once: int

    @classmethod
    def of(cls, environ: Mapping[str, str] = os.environ) -> Choice:
        """Read it from the environment."""
        seed = environ.get("CHAOS_SEED")
        return cls(
            whole=environ.get("CHAOS") == "whole",
            seed=int(seed) if seed else secrets.randbits(32),
            only=environ.get("CHAOS_ONLY", ""),
            at_once=int(environ.get("CHAOS_AT_ONCE", "3")),
        )


@dataclass
class Campaign:
    """A test's runs. ``test`` is its node id, ``tell`` takes what is to be counted at the end of the session."""

    choice: Choice
    test: str
    tell: Callable[[str, str], None]
    dice: random.Random = field(init=False)

    def __post_init__(self) -> None:
        """Each test has dice of its own, whatever ran before it."""
        self.dice = random.Random(f"{self.choice.seed}/{self.test}")

    @property
    def whole(self) -> bool:
        """Whether everything is to be run."""
        return self.choice.whole

    def pick(self, runs: Sequence[Run], sample: int) -> list[Run]:
        """All runs, or so many of them by the dice, at least one; the one alone that was asked for by name."""
        if self.choice.only:
            return [run for run in runs if run.name == self.choice.only] or self._unknown(runs)
        assert runs, "there is nothing to run"
        sample = max(1, sample)
        return list(runs) if self.whole or sample >= len(runs) else self.dice.sample(list(runs), sample)

    def carry_out(
        self,
        ident: str,
        runs: Sequence[Run],
        *,
        sample: int = 3,
        at_once: int | None = None,
        unreached_share: float = _UNREACHED_SHARE,
    ) -> None:
        """Make the picked runs, count them under the catalogue's id (``A1``), and fail with all that was violated."""
        picked = self.pick(runs, sample)
        with ThreadPoolExecutor(at_once or self.choice.at_once, thread_name_prefix="trial") as pool:
            results = list(zip((run.name for run in picked), pool.map(_result, picked), strict=True))
        results += self._further(runs, picked, [name for name, found in results if found is None])
        unreached = [name for name, found in results if found is None]
        broken = [(name, found) for name, found in results if found]
        self.count(ident, len(results) - len(unreached), sum(len(found) for _, found in broken), unreached=len(unreached))
        assert not broken, self._told(broken, len(results))
        if self.whole or self.choice.only:
            enough = len(unreached) < len(results) and len(unreached) <= max(1, unreached_share * len(picked))
        else:
            enough = len(results) - len(unreached) == len(picked)
        assert enough, f"not reached: {unreached}{self.replay(unreached[0])}"

    def count(self, ident: str, runs: int, violations: int, *, unreached: int = 0) -> None:
        """Count runs that were made without ``carry_out``."""
        told = {"class": ident, "runs": runs, "violations": violations, "unreached": unreached, "seed": self.choice.seed}
        self.tell(TALLY, json.dumps(told))

    def replay(self, name: str) -> str:
        """The one command that makes this run again: in a whole or in a sample as here, since they name some runs apart."""
        chosen = f"{'CHAOS=whole ' * self.whole}CHAOS_SEED={self.choice.seed} CHAOS_ONLY={shlex.quote(name)}"
        return f"\nto replay: {chosen} .venv/bin/python -m pytest {shlex.quote(self.test)}"

    def _unknown(self, runs: Sequence[Run]) -> list[Run]:
        some = "\n  ".join(run.name for run in runs[:_SHOWN])
        raise AssertionError(f"no run is called {self.choice.only!r}; the first of {len(runs)} that there are:\n  {some}")

    def _further(
        self, runs: Sequence[Run], picked: Sequence[Run], unreached: Sequence[str]
    ) -> list[tuple[str, list[str] | None]]:
        """In place of each of a sample that did not come to its point: others of its test, drawn until as many have."""
        others = [] if self.whole or self.choice.only else [run for run in runs if run not in picked]
        missing, results = len(unreached), list[tuple[str, list[str] | None]]()
        for run in self.dice.sample(others, min(_FURTHER * missing, len(others))):
            if missing == 0:
                break
            results.append((run.name, _result(run)))
            missing -= results[-1][1] is not None
        return results

    def _told(self, broken: Sequence[tuple[str, list[str]]], made: int) -> str:
        texts = [f"{len(broken)} of {made} runs went wrong:"]
        for name, found in broken[:_SHOWN]:
            texts.append("\n  ".join([f"{name}:", *found]) + self.replay(name))
        texts += [f"and: {name}" for name, _ in broken[_SHOWN:]]
        return "\n".join(texts)


def table(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row a class of the catalogue, summed over the tests that counted for it."""
    rows: dict[str, dict[str, Any]] = {}
    for one in sorted(told, key=lambda one: str(one["class"])):
        row = rows.setdefault(one["class"], {"class": one["class"], "runs": 0, "unreached": 0, "violations": 0})
        for name in ("runs", "unreached", "violations"):
            row[name] += one[name]
    return list(rows.values())


def _result(run: Run) -> list[str] | None:
    """What was violated; None when the point was not reached, twice."""
    for _ in range(2):
        try:
            return run.make()
        except NotReachedError:
            continue
        except AssertionError as error:
            return [str(error)]
        except Exception:  # noqa: BLE001 - a broken run must not hide the others
            return [traceback.format_exc()]
    return None
