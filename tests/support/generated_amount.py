"""How much the generated tests try, and from which seed: a sample in the suite, all of it when ``CHAOS=whole``.

Everything is drawn from one seed, so that a run can be repeated; ``FUZZ_SEED=7`` draws something else.
"""

from __future__ import annotations

import os
from random import Random

from hypothesis import HealthCheck, settings

WHOLE = os.environ.get("CHAOS") == "whole"
SEED = int(os.environ.get("FUZZ_SEED", "20240930"))


def amount(sample: int, whole: int) -> int:
    """How many to try."""
    return whole if WHOLE else sample


def replay(test: str) -> str:
    """The command that runs this test again as it was run."""
    size = "CHAOS=whole " if WHOLE else ""
    return f"{size}FUZZ_SEED={SEED} .venv/bin/python -m pytest {test}"


def drawn_for(*names: object) -> Random:
    """A source of random numbers of its own for each case, so that one case can be drawn again without the others."""
    return Random("/".join(map(str, (SEED, *names))))


def tried(sample: int, whole: int, **more: object) -> settings:
    """Settings of a hypothesis test whose seed is ours: no database, no clock, a blob to reproduce a failure by."""
    return settings(
        max_examples=amount(sample, whole),
        deadline=None,
        database=None,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
        **more,
    )
