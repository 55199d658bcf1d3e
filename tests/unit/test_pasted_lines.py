"""A message is one line: whoever pastes it from a command to its end runs that command as it is written."""

from __future__ import annotations

import re
import shlex

import pytest

from gpucloud.reconcile.commands import IN_MESSAGE
from gpucloud.reconcile.text import followed
from support.messages.conditions import said

FIRST = re.compile(r"""(?:'[^']*'|"[^"]*"|[^'";])*""")  # up to the first semicolon outside of quotes
COMMAND = "kubectl delete gvm/train --namespace=team"
# what follows a command, the command that a shell runs of the whole, and why
PASTED = [
    (followed(COMMAND, "The same order fails again."), COMMAND, "a sentence"),
    (followed(COMMAND, f"To keep it: {COMMAND}"), COMMAND, "another command, which is no argument of the first"),
    (followed(COMMAND, ""), COMMAND, "nothing"),
]


def run(line):
    """The words of the first command that a shell runs."""
    return shlex.split(FIRST.match(line)[0])


@pytest.mark.parametrize(("line", "command", "why"), PASTED, ids=[row[2] for row in PASTED])
def test_what_follows_a_command_is_no_part_of_it(line, command, why):
    assert run(line) == run(command), why


MESSAGES = {item.words: item for item in said() if any(found["alone"] for found in IN_MESSAGE.finditer(item.words))}


@pytest.mark.parametrize("words", MESSAGES, ids=lambda words: f"{MESSAGES[words].kind} {MESSAGES[words].reason}")
def test_a_message_that_is_pasted_from_a_command_on_runs_that_command_alone(words):
    for found in IN_MESSAGE.finditer(words):
        if found["alone"]:
            assert run(words[found.start() :]) == run(found["alone"]), words


def test_a_shell_takes_no_sentence_after_a_command_for_the_beginning_of_a_compound_one():
    """`if`, `until` and `for` begin one; no word with a capital letter does."""
    for words in MESSAGES:
        ends = [found.end() for found in IN_MESSAGE.finditer(words) if found["alone"]]
        assert all(words[end + 2 :][:1].isupper() or not words[end:] for end in ends), words
