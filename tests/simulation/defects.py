"""Defects planted in a copy of the product, one at a time: after how many histories does the world alone find each?

A world without violations says nothing about the world; that it finds what is wrong on purpose, does. The patches of
``tests/planted`` are planted too. A fragment that does not stand in the code any more fails loudly: plant the same anew.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLANTED = ROOT / "tests" / "planted"
VIOLATION = re.compile(r"^seed (?P<seed>\d+): (?P<oracle>[a-z ]+) at", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Defect:
    """A history that was met once, put back: in this file of the product these fragments are replaced."""

    file: str
    changes: tuple[tuple[str, str], ...]


ORDER, STEPS = "gpucloud/reconcile/order.py", "gpucloud/reconcile/core"
DEFECTS = {
    "a lost chosen name stays ours": Defect(
        ORDER,
        (
            (
                "        OrderState.SEEN,\n        OrderState.DESTROYING,\n",
                "        OrderState.SEEN,\n        OrderState.LOST,\n",
            ),
            ("if proofs.marked or proofs.unique_id or found.returned is None", "if True or found.returned is None"),
        ),
    ),
    "what came back is taken for the same": Defect(ORDER, (("found.returned <= standing.since", "found.returned"),)),
    "the words 'not found' make a 5xx a certain refusal": Defect(
        "gpucloud/cloud/errors.py", (("    if safe:\n", "    if safe or kind is ErrorKind.NOT_FOUND:\n"),)
    ),
    "what the acceptance names is not read": Defect(
        ORDER, (("    return Placed(cloud_id and cloud_id[:253], ", "    return Placed(None, "),)
    ),
    "a restart shortens the waits": Defect(
        ORDER,
        (
            (
                "    if standing.state is OrderState.ACCEPTED or standing.unresolved:",
                "    if not standing.own:\n        return first_seen\n    if standing.state is OrderState.ACCEPTED:",
            ),
        ),
    ),
    "gone after one listing": Defect(ORDER, (("return confirmed is not None and confirmed >= from_", "return True"),)),
    "what was destroyed waits like what was accepted": Defect(
        ORDER,
        (
            (
                "return confirmed is not None and confirmed >= from_",
                "return confirmed is not None and confirmed >= from_ + 40 * grace",
            ),
        ),
    ),
    "an accepted order is repeated without end": Defect(
        f"{STEPS}/create.py", (("    if f.order.reorders < MOST_REORDERS and", "    if f.order.reorders >= 0 or"),)
    ),
    "a spec that names another place overwrites the record": Defect(
        ORDER, (("    return elsewhere or bool(order.vpc", "    return False and bool(order.vpc"),)
    ),
    "an order that is proven never made stays unclear": Defect(
        "gpucloud/reconcile/transitions.py",
        (
            (
                "    (S.UNCLEAR, E.MISSING): Transition(\n        S.REFUSED,",
                "    (S.UNCLEAR, E.MISSING): Transition(\n        S.UNCLEAR,",
            ),
        ),
    ),
    "a restart annotation counts again when the status was wiped": Defect(
        "gpucloud/reconcile/gpuvm/power.py", ((" and f.status.order is not None else None", " else None"),)
    ),
    "objects that wait for each other quote each other": Defect(
        "gpucloud/engine/dependencies.py", (('return f"({ready.reason})" if ready.reason in WAITS else', "return"),)
    ),
    "a snapshot under way does not hold its VM": Defect(
        "gpucloud/engine/dependencies.py",
        (("    return orders.being_made(order) or not snapshot.status.ready_to_use", "    return False"),),
    ),
}


def planted_in(copy: Path, name: str) -> None:
    """Plant one defect in a copy of the product's source."""
    if name in DEFECTS:
        defect = DEFECTS[name]
        path = copy / defect.file
        text = path.read_text()
        for old, new in defect.changes:
            if old not in text:
                raise ValueError(f"{name!r} cannot be planted any more: {old!r} is not in {defect.file}")
            text = text.replace(old, new, 1)
        path.write_text(text)
        return
    git = shutil.which("git") or "git"
    command = [git, "apply", "-p1", str(PLANTED / f"{name}.patch")]
    subprocess.run(command, cwd=copy, check=True, env={**os.environ, "GIT_CEILING_DIRECTORIES": str(copy.parent)})  # noqa: S603


def names() -> list[str]:
    """All defects: first the histories of this module, then those of ``tests/planted``."""
    return [*DEFECTS, *sorted(path.stem for path in PLANTED.glob("*.patch"))]


def found_after(name: str, most: int, processes: int) -> str:
    """What the world says with this defect planted: the oracle and the number of histories, or that it found nothing."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "operator"
        shutil.copytree(ROOT / "operator", copy)
        planted_in(copy, name)
        flags = ["--histories", str(most), "--processes", str(processes), "--shrink", "0", "--stop"]
        paths = os.pathsep.join((str(copy), str(ROOT / "tests")))
        run = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-m", "simulation", *flags],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": "0"},
            capture_output=True,
            text=True,
            check=False,
        )
    found = VIOLATION.search(run.stdout)
    if found is not None:
        return f"{found['oracle']}, seed {found['seed']}"
    return f"not within {most}" if " histories in " in run.stdout else f"the world itself failed: {run.stderr[-300:]}"


def table(most: int, processes: int, only: str = "") -> int:
    """Plant each, and say what found it. Exit code 0: all were found."""
    missed = 0
    for name in names():
        if only and only not in name:
            continue
        said = found_after(name, most, processes)
        missed += said.startswith(("not", "the world"))
        print(f"| {name} | {said} |", flush=True)
    return 1 if missed else 0
