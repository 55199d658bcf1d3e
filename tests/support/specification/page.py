"""docs/reference/endpoints.md, printed from the statements and the proofs."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from support.specification.statement import Section, Side, Statement

if TYPE_CHECKING:
    from collections.abc import Iterable

    from support.specification.evidence import Proof
    from support.specification.statement import Chapter

_ROWS_NAMED = 2
_HEAD = """# Endpoints: what is stated, and the tests that prove it

Printed from the tests by `make endpoints`; not to be edited. Every operation, parameter and stated rule of the cloud's
specification is a row, with the tests that fail when the simulator or the client breaks it. Tests of the simulator are in
`tests/simulator`, tests of the client in `tests/unit/cloud`; `[...]` is one row of a test's table. A dagger (†) marks what the
specification does not show, and both sides take from evidence about the service.
"""
_COLUMNS = "| id | what is stated | simulator | client |\n|---|---|---|---|\n"
_FIELD_COLUMNS = "| fields | simulator | client |\n|---|---|---|\n"


def page(chapters: Iterable[Chapter], nothing_to_show: Iterable[str], proofs: list[Proof]) -> str:
    """Return the whole page."""
    parts = [_HEAD]
    for chapter in chapters:
        parts.append(f"## {chapter.title}\n")
        parts += [_section(section, proofs) for section in chapter.sections]
    parts.append("## Nothing to show\n\nSaid by the specification, and nothing that a test could fail on.\n")
    parts.append("".join(f"- {sentence}\n" for sentence in nothing_to_show))
    return "\n".join(parts)


def _section(section: Section, proofs: list[Proof]) -> str:
    rows = _fields(section, proofs) if section.fields else _statements(section, proofs)
    return f"### {section.title}\n\n{_FIELD_COLUMNS if section.fields else _COLUMNS}{''.join(rows)}"


def _statements(section: Section, proofs: list[Proof]) -> list[str]:
    return [f"| `{one.id}` | {one.says}{_dagger(one)} | {' | '.join(_cells(one, proofs))} |\n" for one in section.statements]


def _fields(section: Section, proofs: list[Proof]) -> list[str]:
    """Tell neighbouring fields that the same tests prove on one line."""
    return [
        f"| {', '.join(f'`{one.says}`{_dagger(one)}' for one in together)} | {' | '.join(cells)} |\n"
        for cells, together in groupby(section.statements, key=lambda one: _cells(one, proofs))
    ]


def _dagger(statement: Statement) -> str:
    return " †" if statement.noted else ""


def _cells(statement: Statement, proofs: list[Proof]) -> tuple[str, str]:
    own = [proof for proof in proofs if proof.id == statement.id]
    simulator, client = (
        _tests([proof for proof in own if proof.side is side]) or f"none: {statement.reason_against(side)}" for side in Side
    )
    return simulator, client


def _tests(proofs: list[Proof]) -> str:
    return "<br>".join(
        _test(file, function, [proof.row for proof in group])
        for (file, function), group in groupby(proofs, key=lambda proof: (proof.file, proof.function))
    )


def _test(file: str, function: str, rows: list[str | None]) -> str:
    name = f"{file}::{function}"
    named = [row for row in rows if row is not None]
    if len(named) < len(rows):
        return f"`{name}`"
    if len(named) > _ROWS_NAMED:
        return f"`{name}` ({len(named)} rows)"
    return "<br>".join(f"`{name}[{row}]`".replace("|", r"\|") for row in named)
