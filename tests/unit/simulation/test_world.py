"""The simulated world in the suite: histories of fixed seeds, and what makes a world worth its time.

Drawn seeds are for ``make simulate``: about one history in 900 still breaks a rule there (docs/reliability.md).
"""

from __future__ import annotations

import multiprocessing

import pytest

from simulation import exhaustive, single

FIXED = 500  # histories
EVERY = 25
pytestmark = pytest.mark.timeout(1500)  # some minutes of work, and whatever else the machine does meanwhile


@pytest.fixture(scope="module")
def workers():
    with multiprocessing.get_context("fork").Pool(2, single.settle_down) as pool:
        yield pool


def outcomes(workers, first, many):
    return list(workers.imap_unordered(single.live, range(first, first + many), chunksize=EVERY))


def told(found):
    broken = [outcome for outcome in found if outcome.violations]
    return "\n".join(
        [f"{len(broken)} of {len(found)} histories break a rule; `make simulate SEED=n` tells one"]
        + [f"seed {outcome.seed}: {outcome.violations[0]}" for outcome in broken[:20]]
    )


def test_histories_of_fixed_seeds_break_no_rule(workers):
    found = outcomes(workers, 0, FIXED)
    assert not any(outcome.violations for outcome in found), told(found)


def test_every_interleaving_of_the_first_steps_breaks_no_rule(workers):
    layer, seen = [("new",), ("ready",)], set()
    for _ in range(4):
        found = workers.map(exhaustive.visit, layer)
        broken = [item for item in found if item.violations]
        assert broken == []
        fresh = [item for item in found if item.state not in seen]
        seen |= {item.state for item in fresh}
        layer = [(*item.path, option) for item in fresh for option in item.options]
    assert len(seen) > 30
