"""The chains of decisions of the four kinds, one situation a row; each row says why it matters (support/decisions)."""

from __future__ import annotations

import pytest

from support.decisions.tables import TABLES
from support.rows import converges, ends_as_a_sentence, judge

ROWS = [
    pytest.param(table, row, id=f"{kind}: {sentence}") for kind, table in TABLES.items() for sentence, row in table.rows.items()
]


@pytest.mark.parametrize(("table", "row"), ROWS)
def test_decision(table, row):
    judge(row, table.decide(table.facts(**row.given)))


@pytest.mark.parametrize(("table", "row"), ROWS)
def test_it_settles_and_speaks_in_sentences(table, row):
    assert ends_as_a_sentence(table.decide(table.facts(**row.given)))
    converges(row.given, table.decide, table.facts)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_every_reason_has_a_row(table):
    assert {reason for row in table.rows.values() for reason in (row.reason, row.released) if reason} == table.reasons


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_the_message_of_every_row_that_calls_a_person_is_read(table):
    assert [name for name, row in table.rows.items() if row.progress == "Stalled" and row.reason and not row.says] == []
