"""Commands in a message are found where they are written, and nowhere else."""

from __future__ import annotations

import pytest

from gpucloud.reconcile.commands import ends_in_command, has_command

# a message, whether it has a command to paste, whether one ends it, and why
MESSAGES = [
    ("Paused. To continue: kubectl gpucloud resume gvm/a --namespace=team", True, True, "behind a colon"),
    ("kubectl get gpucloud", True, True, "alone"),
    ("To see it: kubectl get gvm/a; Then delete it.", True, False, "a sentence follows"),
    ("Set it: kubectl annotate gvm a 'x=a; b'", True, True, "what parts sentences is within the command's quotes"),
    ("Run kubectl get gvm first.", False, False, "within a sentence"),
    ('The cloud says "no: kubectl delete gvm/a". It waits.', False, False, "the cloud's words"),
    ('The cloud says "no: kubectl delete gvm/a', False, False, "the cloud's words, cut off"),
    ("The cloud says 'no\\'; to: kubectl delete gvm/a'.", False, False, "a quote within the cloud's words ends them not"),
    ("Create it: kubectl create secret generic a;", True, False, "what is joined to it is parted already"),
    ("It waits.", False, False, "no command"),
]


@pytest.mark.parametrize(("message", "has", "ends", "why"), MESSAGES, ids=[row[3] for row in MESSAGES])
def test_a_command_is_found_where_it_is_written(message, has, ends, why):
    assert (has_command(message), ends_in_command(message)) == (has, ends), why
