"""docs/reference/endpoints.md: everything stated is proven, everything named is stated, and the page is as printed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from support.specification.catalogue import STATEMENTS
from support.specification.evidence import Proof, complaints
from support.specification.operations import OPERATIONS
from support.specification.page import page
from support.specification.statement import Chapter, Section, Side, Statement

ROOT = Path(__file__).parents[2]
BOTH = Statement("GetAll", "`GET /api/v1/clusters/GetAll`")
ONE = Statement("auth:7", "shown once", not_at_client="it is made elsewhere")
PROOFS = [
    Proof("GetAll", Side.CLIENT, "test_calls.py", "test_sent", "a|b"),
    Proof("GetAll", Side.SIMULATOR, "test_sim.py", "test_answered"),
    Proof("auth:7", Side.SIMULATOR, "test_sim.py", "test_keys"),
]


def test_everything_stated_is_proven_and_the_page_is_as_printed():
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    clean["PYTHONPATH"] = str(ROOT / "tests")
    command = [sys.executable, "-m", "support.specification"]
    done = subprocess.run(command, cwd=ROOT, env=clean, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr


def test_the_whole_specification_is_stated():
    operations = [section.title for chapter in OPERATIONS for section in chapter.sections]
    assert len(operations) == len(set(operations)) == 24
    assert len(STATEMENTS) > 300


def test_nothing_is_wrong_where_every_side_that_must_has_a_test():
    assert complaints([BOTH, ONE], PROOFS) == []


def test_a_side_without_a_test_is_named():
    assert complaints([BOTH, ONE], PROOFS[1:]) == ["GetAll: no test under tests/unit/cloud proves it"]


def test_a_proof_on_a_side_that_was_excused_is_named():
    excused = Proof("auth:7", Side.CLIENT, "test_calls.py", "test_sent")
    (said,) = complaints([BOTH, ONE], [*PROOFS, excused])
    assert said.startswith("auth:7: a test under tests/unit/cloud proves it")


def test_an_unknown_id_is_named_with_its_test():
    typo = Proof("GetAl", Side.CLIENT, "test_calls.py", "test_sent")
    assert complaints([BOTH, ONE], [*PROOFS, typo]) == ["GetAl: named by test_calls.py::test_sent, stated nowhere"]


def test_an_id_that_stands_twice_is_named():
    assert "GetAll: stated twice" in complaints([BOTH, BOTH, ONE], PROOFS)


def test_the_page_names_tests_rows_and_reasons():
    text = page([Chapter("All", (Section("One", (BOTH, ONE)),))], ["nothing"], PROOFS)
    assert (
        "| `GetAll` | `GET /api/v1/clusters/GetAll` | `test_sim.py::test_answered` | `test_calls.py::test_sent[a\\|b]` |"
        in text
    )
    assert "| `auth:7` | shown once | `test_sim.py::test_keys` | none: it is made elsewhere |" in text
    assert text.endswith("- nothing\n")


def test_many_rows_of_one_test_are_counted():
    rows = [Proof("GetAll", Side.CLIENT, "test_calls.py", "test_sent", str(number)) for number in range(3)]
    text = page([Chapter("All", (Section("One", (BOTH,)),))], [], rows)
    assert "`test_calls.py::test_sent` (3 rows)" in text
