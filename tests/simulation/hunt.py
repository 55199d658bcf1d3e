"""``python -m simulation --defects``: plants each defect in a copy of the product and runs histories until one finds it.

A find counts only when the same history is clean without the defect.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from simulation.aims import AIMS
from simulation.defects import DEFECTS
from simulation.planting import plant

ROOT = Path(__file__).parents[2]
VIOLATION = re.compile(r"^seed (?P<seed>\d+): (?P<oracle>.+?) at [\d.]+ s:", re.MULTILINE)


def planted_in(copy: Path, name: str) -> list[Path]:
    """Plant one defect in a copy of the product's source; answers the files that have changed."""
    return plant(copy / "gpucloud", DEFECTS[name])


def found_after(name: str, most: int, processes: int) -> str:
    """What the world says with this defect planted: the oracle and the number of histories, or that it found nothing.

    A find counts only when the same history is clean without the defect. Histories that cannot show the defect (``AIMS``) count
    and are not made, so it may have been found earlier.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "operator"
        shutil.copytree(ROOT / "operator", copy, ignore=shutil.ignore_patterns("__pycache__"))
        planted_in(copy, name)
        first = 0
        while first < most:
            said = _campaign(copy, first, most - first, processes, AIMS.get(name, ()))
            found = VIOLATION.search(said)
            if found is None:
                return f"not within {most}" if " histories in " in said else f"the world itself failed: {said[-300:]}"
            first = int(found["seed"]) + 1
            if VIOLATION.search(_campaign(ROOT / "operator", first - 1, 1, 1)) is None:
                return f"{found['oracle']} | {first}"
    return f"not within {most}"


def _campaign(product: Path, first: int, histories: int, processes: int, aim: tuple[str, ...] = ()) -> str:
    """What many histories of this copy of the product print, up to the first violation."""
    flags = ["--first", str(first), "--histories", str(histories), "--processes", str(processes), "--shrink", "0", "--stop"]
    flags += ["--aim", ";".join(aim)] if aim else []
    paths = os.pathsep.join((str(product), str(ROOT / "tests")))
    run = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "simulation", *flags],
        cwd=product,
        env={**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    return run.stdout if " histories in " in run.stdout else run.stdout + run.stderr


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
