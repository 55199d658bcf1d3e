"""What stands in the way for long, and is gone: what the operator tries every few minutes, it goes on trying."""

import asyncio
from itertools import pairwise

import pytest

from gpucloud.kinds.meta import Annotation
from gpucloud.reconcile.naming import external_name
from support.builders import TAG
from support.orderrig import failed

pytestmark = pytest.mark.looptime


@pytest.mark.parametrize("spec", [{}, {"vmName": "prod"}])
@pytest.mark.parametrize("code", [500, 409, 503])
async def test_what_failed_for_an_hour_is_ordered_when_the_cloud_is_well(it, code, spec):
    """Passes without a cause outside were spaced so far apart that each record of an order was too old to be sent."""
    it.cloud.makes = False
    it.cloud.refuse("CreateServer", code)
    await it.apply(**spec)
    await asyncio.sleep(3600)
    before = len(it.cloud.asked("CreateServer"))
    assert before <= 20, "no hot loop"
    it.cloud.heal()
    it.cloud.makes = True
    await asyncio.sleep(900)
    assert (it.ready, len(it.cloud.asked("CreateServer")) - before) == ("True/Running", 1)


async def test_a_person_who_asks_again_and_again_has_nothing_ordered_without_two_new_listings(it):
    """Chaos, lost answers: what a lost order made was the reason for the refusal of the next, and not listed yet."""
    it.cloud.lag, it.cloud.answer = 300.0, failed(502, "Bad gateway")
    await it.apply()
    await it.until(lambda: len(it.cloud.asked("CreateServer")) == 1)
    it.cloud.answer = failed(400, "It exists already.")
    await it.until(lambda: it.ready == "False/Rejected", 120)
    for request in ("a", "b", "c"):
        it.change(annotations={Annotation.RECONCILE_REQUESTED_AT: request})
        await asyncio.sleep(0.5)
    await asyncio.sleep(30.0)
    calls = [call[1] for call in it.cloud.calls if call[1] in {"CreateServer", "GetServers"}]
    last = [place for place, call in enumerate(calls) if call == "CreateServer"]
    assert all(calls[before:after].count("GetServers") >= 2 for before, after in pairwise(last))


async def test_what_passed_for_a_duplicate_holds_nobody_once_it_is_gone(it):
    """Seed 3000167: the person did as the message says, and nobody looked again."""
    older = external_name("train", "an-older-uid", TAG)
    it.cloud.add(older)
    await it.apply()
    await it.until(lambda: it.ready == "False/PossibleDuplicate")
    await asyncio.sleep(600)
    assert it.cloud.asked("CreateServer") == []
    del it.cloud.vms[older]
    await it.until(lambda: it.ready == "True/Running", 180)


@pytest.mark.parametrize("code", [400, 403, 422])
async def test_a_start_that_is_refused_for_good_is_tried_every_five_minutes_and_written_once(it, code):
    """Each try was announced and recorded as refused: 22 writes an hour that said nothing new."""
    it.cloud.odd = {"status": "OFFLINE"}
    it.cloud.refuse("StartServer", code)
    await it.apply()
    await asyncio.sleep(600)
    calls, writes = len(it.cloud.asked("StartServer")), len(it.kube.statuses)
    assert calls >= 2
    await asyncio.sleep(3600)
    assert (len(it.cloud.asked("StartServer")) - calls) in range(9, 13)
    assert len(it.kube.statuses) - writes == 0
