"""Histories of a GpuVM with spec.onLoss: Recreate: there is never a second VM, and none that nobody claims."""

from __future__ import annotations

import asyncio

import pytest

from support.orderrig import MakingCloud, history_over

pytestmark = pytest.mark.looptime


class RefusingCloud(MakingCloud):
    """It does not destroy what it refuses to destroy. ``bought``: when each order arrived."""

    def __init__(self):
        super().__init__()
        self.bought = []

    async def handle_async_request(self, request):
        kept = dict(self.vms)
        if request.url.path.endswith("/CreateServer"):
            self.bought.append(asyncio.get_running_loop().time())
        try:
            return await super().handle_async_request(request)
        finally:
            if request.url.path.endswith("/DestroyServer") and (None, "DestroyServer") in self.refused:
                self.vms.update(kept)

    def show(self, state):
        for _, record in self.vms.values():
            record["status"] = state


it = history_over(RefusingCloud)


@pytest.mark.parametrize("odd", [{"id": "srv-1"}, {"namespace": "acme-2"}, {}], ids=["named", "placed", "as ordered"])
async def test_a_lost_vm_that_is_listed_again_is_not_bought_twice(it, odd):
    """Under a name or in a place of the cloud's choice it is not looked for once it is lost."""
    it.cloud.odd = odd
    await it.apply(onLoss="Recreate")
    await it.until(lambda: it.ready == "True/Running")
    hidden, it.cloud.vms = it.cloud.vms, {}
    await it.until(lambda: it.status["order"]["state"] == "Lost", 600)
    await asyncio.sleep(3)
    it.cloud.odd = {"id": "srv-2"} if "id" in odd else odd
    it.cloud.vms = hidden
    await asyncio.sleep(300)
    assert len(it.cloud.asked("CreateServer")) == 1
    assert it.ready == ("False/VMLost" if odd else "True/Running")


@pytest.mark.parametrize("name", [{}, {"vmName": "lasting"}], ids=["marked", "chosen"])
async def test_a_failed_vm_that_recovers_is_what_it_was(it, name):
    """Its destruction was refused. Neither a restart nor a listing that lacks it for a moment takes it for destroyed."""
    it.cloud.odd = {"private_ip": "10.0.0.5"}
    await it.apply(onLoss="Recreate", **name)
    await it.until(lambda: it.ready == "True/Running")
    it.cloud.refuse("DestroyServer", 409)
    it.cloud.show("FAILED")
    await it.until(lambda: it.cloud.asked("DestroyServer"), 300)
    it.cloud.show("ONLINE")
    it.cloud.heal()
    await it.until(lambda: it.status["order"]["state"] == "Seen", 1200)
    assert it.ready == "True/Running"
    await it.start()
    await asyncio.sleep(60)
    assert it.ready == "True/Running"
    hidden, it.cloud.vms = it.cloud.vms, {}
    listed = len(it.cloud.asked("GetServers"))
    await it.until(lambda: len(it.cloud.asked("GetServers")) >= listed + 2, 200)
    it.cloud.vms = hidden
    await asyncio.sleep(300)
    assert len(it.cloud.asked("CreateServer")) == 1
    assert it.ready == "True/Running"
    it.delete()
    await it.until(lambda: it.gone, 900)
    assert it.cloud.vms == {}


@pytest.mark.parametrize("code", [400, 403, 409, 500, 503])
async def test_a_destruction_that_is_refused_again_and_again_changes_no_condition_to_and_fro(it, code):
    """Ready changed to Recreating before each try, and back after it: up to 24 writes an hour."""
    await it.apply(onLoss="Recreate")
    await it.until(lambda: it.ready == "True/Running")
    it.cloud.refuse("DestroyServer", code)
    it.cloud.show("FAILED")
    await asyncio.sleep(1800)
    tried, written, said = len(it.cloud.asked("DestroyServer")), len(it.kube.statuses), it.status["conditions"]
    await asyncio.sleep(3600)
    assert len(it.cloud.asked("DestroyServer")) - tried in range(9, 13)
    calls = range(9, 13) if code >= 500 else [0]
    assert len(it.kube.statuses) - written in calls, "only what follows a call that may have been carried out is announced"
    assert it.status["conditions"] == said
    assert "DestroyServer failed" in it.words
    it.cloud.heal()
    await it.until(lambda: it.ready == "True/Running", 900)
    assert len(it.cloud.asked("CreateServer")) == 2


async def test_a_failed_vm_that_is_to_be_kept_after_all_is_told_as_failed(it):
    """Its destruction was refused, and spec.onLoss is Fail by now: nothing is being destroyed, nor created."""
    await it.apply(onLoss="Recreate")
    await it.until(lambda: it.ready == "True/Running")
    it.cloud.refuse("DestroyServer", 409)
    it.cloud.show("FAILED")
    await it.until(lambda: it.cloud.asked("DestroyServer"), 300)
    it.change(spec={"onLoss": "Fail"})
    await it.until(lambda: it.ready == "False/VMFailed", 900)
    await asyncio.sleep(3600)
    assert it.ready == "False/VMFailed"


async def fails(it, code=409):
    """The VM fails, and the cloud refuses to destroy it."""
    asked = len(it.cloud.asked("DestroyServer"))
    it.cloud.refuse("DestroyServer", code)
    it.cloud.show("FAILED")
    await it.until(lambda: len(it.cloud.asked("DestroyServer")) > asked, 300)


async def test_a_destruction_without_effect_is_no_recreation(it):
    """It has bought nothing: a VM that failed and recovered three times is recreated when it is lost."""
    await it.apply(onLoss="Recreate")
    await it.until(lambda: it.ready == "True/Running")
    for _ in range(3):
        await fails(it)
        it.cloud.show("ONLINE")
        await it.until(lambda: it.status["order"]["state"] == "Seen", 1200)
    it.cloud.heal()
    it.cloud.vms.clear()
    await it.until(lambda: len(it.cloud.bought) == 2, 300)
    assert (it.status["order"]["recreation"], len(it.status["recreations"])) == (1, 1)


@pytest.mark.parametrize("restarts", [False, True])
async def test_a_destruction_without_effect_says_nothing_of_a_later_one(it, restarts):
    """The first write of a deletion quoted a refusal of the day before, and its first call was counted as the second."""
    await it.apply(onLoss="Recreate")
    await it.until(lambda: it.ready == "True/Running")
    await fails(it)
    it.cloud.show("ONLINE")
    await it.until(lambda: it.status["order"]["state"] == "Seen", 1200)
    it.cloud.heal()
    await asyncio.sleep(3600)
    if restarts:
        await it.start()
        await asyncio.sleep(60)
    written = len(it.kube.statuses)
    it.delete()
    await it.until(lambda: it.gone, 900)
    first = it.kube.statuses[written]
    ready = next(one for one in first["conditions"] if one["type"] == "Ready")
    assert (ready["reason"], first["order"]["destroyingCall"]["number"]) == ("Deleting", 1)


async def test_a_destruction_that_takes_long_lets_no_fourth_vm_be_bought_within_an_hour(it):
    """The hour began with the announcement of the destruction, half an hour before the new VM was ordered."""
    await it.apply(onLoss="Recreate")
    await it.until(lambda: it.ready == "True/Running")
    await fails(it)
    await asyncio.sleep(1800)
    it.cloud.heal()
    for number in range(2, 6):
        await it.until(lambda number=number: len(it.cloud.bought) == number, 7200)
        await it.until(lambda: it.ready == "True/Running", 300)
        it.cloud.show("FAILED")
    recreated = it.cloud.bought[1:]
    assert recreated[3] - recreated[0] >= 3600


def unsent(kube, state):
    """The process is killed when a status announces a call of an order in this state: the call does not leave."""
    write = kube.replace_status

    async def answer(*asked):
        body = await write(*asked)
        if asked[-1]["order"]["state"] == state:
            await asyncio.Event().wait()
        return body

    kube.replace_status = answer


async def test_an_announced_destruction_that_was_not_sent_is_no_recreation(it):
    """Seed 92151215: it counted, and so the third VM in place of a failed one was refused for an hour."""
    await it.apply(onLoss="Recreate")
    await it.until(lambda: it.ready == "True/Running")
    unsent(it.kube, "Destroying")
    it.cloud.show("FAILED")
    await it.until(lambda: it.status["order"]["state"] == "Destroying", 300)
    assert it.status["order"]["destroyingCall"]["purpose"] == "Recreation"
    it.cloud.show("ONLINE")
    await it.start()
    await asyncio.sleep(200)
    assert it.ready == "False/Recreating", "the call may have been sent, for all that this process knows"
    await it.until(lambda: it.ready == "True/Running", 900)
    assert (it.cloud.asked("DestroyServer"), it.status.get("recreations", [])) == ([], [])


async def test_an_order_that_was_recorded_and_not_sent_counts_once_and_from_its_last_record(it):
    """The hour began with the first record, minutes before the order was sent."""
    await it.apply(onLoss="Recreate")
    await it.until(lambda: it.ready == "True/Running")
    unsent(it.kube, "Intended")
    it.cloud.vms.clear()
    await it.until(lambda: it.status["order"]["state"] == "Intended", 300)
    (first,) = it.status["recreations"]
    await it.start()
    await it.until(lambda: len(it.cloud.bought) == 2, 900)
    (last,) = it.status["recreations"]
    assert (it.status["order"]["recreation"], last) == (1, it.status["order"]["recordedAt"])
    assert last > first
