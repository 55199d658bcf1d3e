"""Every refusal of a call makes a message that is short enough to be read, once and when it comes again and again."""

from __future__ import annotations

import pytest

from gpucloud.cloud.errors import ErrorKind
from gpucloud.reconcile.conditions import find
from support.builders import facts
from support.decisions.gpuvm_final_snapshot import GOES, TAKE, asked, did
from support.decisions.kinds import GPUSNAPSHOT, GPUVM, GPUVPC
from support.messages import judge
from support.rows import LAB, tried

FAILED = [(kind, failures) for kind in ErrorKind for failures in (1, 5)]


def said(plan):
    return find(plan.status.conditions, "Ready").message


@pytest.mark.parametrize(("kind", "failures"), FAILED)
@pytest.mark.parametrize("k", [GPUVM, GPUVPC, GPUSNAPSHOT], ids=lambda k: k.name)
def test_a_refused_creation_or_destruction_is_told_in_few_words(k, kind, failures):
    for given in (
        {"status": k.creating, "history": tried(k.create, kind=kind, failures=failures)},
        k.leaving | {"status": k.going, "history": tried(k.destroy, kind=kind, failures=failures)},
    ):
        for account in ({}, {"account": LAB}):
            words = said(k.decide(k.facts(**given | account)))
            assert len(judge.own_words(words)) <= judge.LONGEST, words


@pytest.mark.parametrize(("kind", "failures"), FAILED)
def test_a_refused_final_snapshot_is_told_in_few_words(kind, failures):
    given = GOES | asked(1, announced=1) | {"history": did(TAKE, 5, kind, failures)}
    for account in ({}, {"account": LAB}):
        words = said(GPUVM.decide(facts(**given | account)))
        assert len(judge.own_words(words)) <= judge.LONGEST, words
