"""``python -m simulation --defects``: plants each defect in a process of its own and runs histories until one finds it.

A find counts only when the same history is clean without the defect. An exception is none: what was planted calls
the product, and does not fit it any more.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from simulation.aims import AIMS, NONE_DRAWN
from simulation.defects import DEFECTS

TESTS = Path(__file__).parents[1]
RAN = re.compile(r"\bhistor(?:y|ies) in \d")
VIOLATION = re.compile(r"^seed (?P<seed>\d+): (?P<oracle>.+?) at [\d.]+ s:", re.MULTILINE)


def found_after(name: str, most: int, processes: int) -> str:
    """What the world says with this defect planted: the oracle, the number of histories and the last one's seed; or not found.

    A find counts only when the same history is clean without the defect. Histories that cannot show the defect (``AIMS``) count
    and are not made, so it may have been found earlier.
    """
    first = 0
    while first < most:
        said = _campaign(name, first, most - first, processes, AIMS.get(name, ()))
        found = VIOLATION.search(said)
        if found is None:
            return f"not within {most}" if RAN.search(said) or NONE_DRAWN in said else f"the world itself failed: {said[-300:]}"
        first = int(found["seed"]) + 1
        if found["oracle"] == "exception":
            return f"the world itself failed: what is planted does not fit the product any more, see seed {first - 1}"
        if VIOLATION.search(_campaign(None, first - 1, 1, 1)) is None:
            return f"{found['oracle']} | {first} | {first - 1}"
    return f"not within {most}"


def _campaign(defect: str | None, first: int, histories: int, processes: int, aim: tuple[str, ...] = ()) -> str:
    """What many histories with this defect print, up to the first violation."""
    flags = ["--first", str(first), "--histories", str(histories), "--processes", str(processes), "--shrink", "0", "--stop"]
    flags += ["--plant", defect] if defect is not None else []
    flags += ["--aim", ";".join(aim)] if aim else []
    run = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "simulation", *flags],
        env={**os.environ, "PYTHONPATH": str(TESTS), "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    return run.stdout if RAN.search(run.stdout) else run.stdout + run.stderr


def table(most: int, processes: int, only: str = "") -> int:
    """Plant each, and say what found it. Exit code 0: all were found."""
    missed = 0
    for name in DEFECTS:
        if only and only not in name:
            continue
        said = found_after(name, most, processes)
        missed += said.startswith(("not", "the world"))
        print(f"| {name} | {said} |", flush=True)
    return 1 if missed else 0
