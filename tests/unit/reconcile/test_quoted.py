"""Another system's words in a message stand in quotes."""

from __future__ import annotations

import pytest

from gpucloud.reconcile.text import MAX_QUOTED, quoted

SAID = [
    ("The name is taken.", '"The name is taken"', "the sentence that holds them has its own full stop"),
    (' "train" not found. ', "'\"train\" not found'", "the other quotes, where the words hold some"),
    ("it's off", '"it\'s off"', "an apostrophe is no quote"),
    ("", "Server", "nothing was said: the kind of the failure is no quotation"),
    (" . ", "Server", "nothing but a full stop"),
    ("x" * 5000, f'"{"x" * MAX_QUOTED}"', "what to do comes after them, and is not cut off"),
]


@pytest.mark.parametrize(("words", "shown", "why"), SAID, ids=[row[2] for row in SAID])
def test_words_are_quoted(words, shown, why):
    assert quoted(words, "Server") == shown, why
