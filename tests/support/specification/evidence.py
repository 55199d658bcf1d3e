"""Which test proves which statement: read from the ``proves`` marks of the tests, as pytest collects them.

A mark on a function speaks of all its rows, a mark on a row of that row only.
"""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.specification.statement import Side, Statement

ROOT = Path(__file__).parents[3]
FOLDERS = {Side.SIMULATOR: "tests/simulator", Side.CLIENT: "tests/unit/cloud"}


@dataclass(frozen=True, order=True)
class Proof:
    """A test that fails when the statement does not hold on its side; ``row`` is None where the whole test is meant."""

    id: str
    side: Side
    file: str
    function: str
    row: str | None = None


class _Collector:
    """Takes the marks off what pytest has collected."""

    def __init__(self) -> None:
        self.proofs: list[Proof] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.proofs = [proof for item in items if isinstance(item, pytest.Function) for proof in _proofs_of(item)]


def _proofs_of(item: pytest.Function) -> list[Proof]:
    side = next(side for side, folder in FOLDERS.items() if item.path.is_relative_to(ROOT / folder))
    callspec = getattr(item, "callspec", None)
    return [
        Proof(name, side, item.path.name, item.originalname, callspec.id if callspec and mark in callspec.marks else None)
        for mark in item.iter_markers("proves")
        for name in mark.args
    ]


def collected() -> list[Proof]:
    """Return every proof that the tests claim, each once, in order.

    Raises:
        RuntimeError: when the tests cannot be collected; with pytest's own words.
    """
    collector = _Collector()
    words = io.StringIO()
    arguments = ["--collect-only", "-q", "-p", "no:cacheprovider", "--rootdir", str(ROOT), "-c", str(ROOT / "pyproject.toml")]
    with contextlib.redirect_stdout(words):
        code = pytest.main([*arguments, *(str(ROOT / folder) for folder in FOLDERS.values())], plugins=[collector])
    if code != pytest.ExitCode.OK:
        raise RuntimeError(f"the tests cannot be collected:\n{words.getvalue()}")
    return sorted(set(collector.proofs), key=lambda proof: (proof.id, proof.side, proof.file, proof.function, proof.row or ""))


def complaints(statements: list[Statement], proofs: list[Proof]) -> list[str]:
    """Return what is wrong: ids that stand twice, that nobody proves, that nobody knows, that were called impossible."""
    known = {statement.id: statement for statement in statements}
    proven = {(proof.id, proof.side) for proof in proofs}
    found = [f"{name}: stated twice" for name in known if sum(one.id == name for one in statements) > 1]
    for statement in statements:
        for side in Side:
            excused, shown = bool(statement.reason_against(side)), (statement.id, side) in proven
            if not excused and not shown:
                found.append(f"{statement.id}: no test under {FOLDERS[side]} proves it")
            if excused and shown:
                found.append(
                    f"{statement.id}: a test under {FOLDERS[side]} proves it, though it is said to be impossible there"
                )
    unknown = {proof.id: proof for proof in reversed(proofs) if proof.id not in known}
    return found + [f"{name}: named by {proof.file}::{proof.function}, stated nowhere" for name, proof in unknown.items()]
