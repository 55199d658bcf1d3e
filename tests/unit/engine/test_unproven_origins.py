"""What bears a chosen name after an order without a clear answer may be anybody's: a person is asked, nothing is destroyed."""

import asyncio

import pytest

from support.orderrig import failed

pytestmark = pytest.mark.looptime
CHOSEN = {"vmName": "prod"}


async def ambiguous(it):
    it.cloud.answer = failed(500, "upstream")
    await it.apply(**CHOSEN)
    await it.until(lambda: it.ready == "False/Ambiguous")
    it.cloud.answer = None


@pytest.mark.parametrize("restarted", [False, True])
async def test_a_vm_that_somebody_makes_before_a_late_order_is_carried_out_is_not_destroyed(it, restarted):
    """Simulated world, seed 7000051: it was destroyed with the object."""
    it.cloud.makes, it.cloud.answer = False, failed(500, "upstream")
    await it.apply(**CHOSEN)
    await it.until(lambda: it.cloud.asked("CreateServer"))
    it.cloud.add("prod")
    await it.until(lambda: it.ready == "False/Ambiguous")
    assert it.status["order"]["state"] == "Unclear"
    if restarted:
        await it.start()
        await asyncio.sleep(1)
    it.delete()
    await it.until(lambda: it.ready == "False/DeletionBlocked")
    await asyncio.sleep(900)
    assert (list(it.cloud.vms), it.cloud.asked("DestroyServer"), it.gone) == (["prod"], [], False)


async def test_a_late_order_counts_though_an_old_listing_showed_another_under_its_name_before(it):
    """Simulated world, seed 70011624: that one was gone again, so what was made late passed for a stranger's, and leaked."""
    await it.start(poll_steady_seconds=4)
    it.cloud.makes, it.cloud.answer = False, failed(500, "upstream")
    await it.apply(**CHOSEN)
    await it.until(lambda: it.cloud.asked("CreateServer"))
    it.cloud.add("prod", private_ip="10.0.0.1")
    await it.until(lambda: it.ready == "False/Ambiguous")
    it.cloud.vms.clear()
    await asyncio.sleep(12)
    it.cloud.add("prod", private_ip="10.0.0.2")
    await asyncio.sleep(8)
    it.delete()
    await it.until(lambda: it.ready == "False/DeletionBlocked")
    await asyncio.sleep(900)
    assert (list(it.cloud.vms), it.gone) == (["prod"], False)


async def test_two_partial_listings_do_not_let_it_go(it):
    await it.start(poll_steady_seconds=4)
    await ambiguous(it)
    shown = dict(it.cloud.vms)
    await asyncio.sleep(120)
    it.delete()
    await it.until(lambda: it.ready == "False/DeletionBlocked")
    it.cloud.vms.clear()
    await asyncio.sleep(20)
    it.cloud.vms |= shown
    await asyncio.sleep(900)
    assert (it.ready, it.gone) == ("False/DeletionBlocked", False)


async def test_nothing_is_done_to_it(it):
    await ambiguous(it)
    it.change(spec={"powerState": "Stopped"}, annotations={"gpucloud.dev/restart-requested-at": "2026-01-01T00:00:00Z"})
    await asyncio.sleep(600)
    assert (it.ready, it.cloud.asked("StopServer")) == ("False/Ambiguous", [])


async def test_when_it_is_destroyed_by_hand_the_object_orders_its_own(it):
    await ambiguous(it)
    it.cloud.vms.clear()
    await it.until(lambda: it.ready == "True/Running", 300)
    it.delete()
    await it.until(lambda: it.gone)
    assert (it.cloud.vms, len(it.cloud.asked("CreateServer"))) == ({}, 2)


async def test_when_it_is_destroyed_by_hand_the_deleted_object_goes(it):
    await ambiguous(it)
    it.delete()
    await it.until(lambda: it.ready == "False/DeletionBlocked")
    it.cloud.vms.clear()
    await it.until(lambda: it.gone, 300)


async def test_retain_lets_the_object_go(it):
    await ambiguous(it)
    it.delete()
    await it.until(lambda: it.ready == "False/DeletionBlocked")
    it.change(spec={"deletion": {"policy": "Retain"}})
    await it.until(lambda: it.gone)
    assert (list(it.cloud.vms), it.cloud.asked("DestroyServer")) == (["prod"], [])


async def test_a_deleted_object_stays_while_nobody_can_look(it):
    await ambiguous(it)
    it.cloud.refuse("GetServers", 503)
    it.delete()
    await asyncio.sleep(600)
    assert (it.ready, it.gone) == ("False/DeletionBlocked", False)


async def test_an_accepted_order_of_a_chosen_name_is_ours(it):
    it.cloud.lag = 40.0
    await it.apply(**CHOSEN)
    await it.until(lambda: it.ready == "True/Running", 300)
    it.delete()
    await it.until(lambda: it.gone)
    assert it.cloud.vms == {}
