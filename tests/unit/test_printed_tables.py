"""Tables in Markdown show what was given, whoever renders them, and only what stands between marks is printed again."""

from __future__ import annotations

import html
import re

import markdown
import pytest

from pages.markdown import between, table

CELLS = [
    ("one or two", "one or two", "words"),
    ("one | two", "one | two", "a bar ends no cell"),
    ("`--output text|json`", "--output text|json", "nor in code, where an entity would be shown as it is written"),
    ("`kubectl get x -o yaml | kubectl apply -f -`", "kubectl get x -o yaml | kubectl apply -f -", "a command can be copied"),
    (r"`echo '\*_a_*' <FILE> & | cat`", r"echo '\*_a_*' <FILE> & | cat", "nothing in code is taken for markup"),
    ("`a` or `b|c`", "a or b|c", "beside other code"),
]


@pytest.mark.parametrize(("cell", "shown", "why"), CELLS, ids=[row[2] for row in CELLS])
def test_a_cell_is_shown_as_it_was_given(cell, shown, why):
    page = markdown.markdown(table(("Head", "Other"), [(cell, "next")]), extensions=["tables"])
    cells = re.findall(r"<td>(.*?)</td>", page)
    assert [html.unescape(re.sub(r"</?code>", "", text)) for text in cells] == [shown, "next"], why
    assert cells[0].count("<code>") == cell.count("`") / 2


def test_what_stands_around_the_marks_stays():
    page = "above\n<!-- one: printed by `make it` -->\nold\n<!-- one: end -->\nbelow\n"
    assert between(page, "one", "new", by="make it") == page.replace("old", "\nnew\n")
