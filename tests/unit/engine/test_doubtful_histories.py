"""Histories of a VM that a listing lacked once, that changed an address, or whose call ended in an error of our own."""

from __future__ import annotations

import asyncio

import pytest

from gpucloud.cloud.options import ApiKey
from gpucloud.engine.cloud import gates
from gpucloud.engine.cloud.accounts import Account
from gpucloud.kinds.common import OWN_ACCOUNT
from support.orderrig import KEY, MakingCloud, failed, history_over

pytestmark = pytest.mark.looptime
PRIVATE, PUBLIC = "10.0.0.5", "198.51.100.5"


class LosingCloud(MakingCloud):
    """Does not carry out the next ``lose`` destroying calls, and answers them with 500."""

    lose = 0

    async def handle_async_request(self, request):
        if request.url.path.endswith("DestroyServer") and self.lose:
            self.lose -= 1
            self.calls.append(("", "DestroyServer", dict(request.url.params)))
            return failed(500, "internal error")
        return await super().handle_async_request(request)


it = history_over(LosingCloud)


async def ready(it):
    """A VM of the chosen name ``prod``, Ready for a while, with recorded addresses."""
    it.cloud.odd = {"private_ip": PRIVATE, "ip": PUBLIC}
    await it.apply(vmName="prod")
    await it.until(lambda: it.ready == "True/Running")
    await asyncio.sleep(60)


async def listed(it):
    """The next listing comes."""
    before = len(it.cloud.asked("GetServers"))
    await it.until(lambda: len(it.cloud.asked("GetServers")) > before, 100)
    await asyncio.sleep(0.05)


async def missed_once(it):
    """One listing is partial; the next may show the VM again."""
    shown = dict(it.cloud.vms)
    it.cloud.vms.clear()
    await listed(it)
    it.cloud.vms |= shown


async def test_a_credential_that_is_replaced_while_a_return_is_doubted_ends_the_doubt(it):
    """The new session has never missed it: the object was in doubt for ever, and its VM was never destroyed."""
    await ready(it)
    await missed_once(it)
    await listed(it)
    it.cloud.refuse("GetServers", 401, key=KEY)
    await asyncio.sleep(300)
    it.cloud.worlds["key-two"] = it.cloud.worlds[KEY]
    engine = it.engine
    session = engine.parts.sessions.open("https://prod.example", ApiKey("key-two"), OWN_ACCOUNT)
    before, engine.parts.shared.accounts.own = (
        engine.parts.shared.accounts.own,
        Account(OWN_ACCOUNT, session, since=engine._clock.mono()),
    )
    engine.parts.sessions.leave(before.session, OWN_ACCOUNT)
    engine.parts.wakeups.wake_all()
    await it.until(lambda: it.ready == "True/Running", 600)
    it.delete()
    await it.until(lambda: it.gone, 600)
    assert it.cloud.vms == {}


async def test_one_that_came_back_and_shows_no_address_any_more_is_ours_still(it):
    """Addresses are blank while it is off. It said Ready while the VM was off, and was never destroyed."""
    await ready(it)
    await missed_once(it)
    await listed(it)
    it.cloud.vms["prod"][1].update(status="OFFLINE", ip="", private_ip=None)
    await it.until(lambda: it.cloud.asked("StartServer"), 600)
    it.delete()
    await it.until(lambda: it.gone, 600)
    assert it.cloud.vms == {}


async def test_another_public_address_does_not_make_it_anothers(it):
    """It was switched off and on between two listings, one of which lacked it."""
    await ready(it)
    await missed_once(it)
    it.cloud.vms["prod"][1]["ip"] = "198.51.100.9"
    await asyncio.sleep(300)
    assert it.ready == "True/Running"
    it.delete()
    await it.until(lambda: it.gone, 600)
    assert it.cloud.vms == {}


@pytest.mark.parametrize("when", ["before it is deleted", "while it is destroyed"])
async def test_another_public_address_does_not_mean_that_it_is_gone(it, when):
    """The destroying call failed, and did nothing."""
    await ready(it)
    it.cloud.lose = 1
    if when == "before it is deleted":
        it.cloud.vms["prod"][1]["ip"] = "198.51.100.9"
    it.delete()
    await it.until(lambda: it.cloud.asked("DestroyServer"))
    it.cloud.vms["prod"][1]["ip"] = "198.51.100.9"
    await it.until(lambda: it.gone, 600)
    assert it.cloud.vms == {}


async def test_another_private_address_after_an_outage_is_anothers(it):
    """Somebody destroyed it while nobody could look, and made another under its name."""
    await ready(it)
    it.cloud.refuse("GetServers", 500)
    it.cloud.vms.clear()
    it.cloud.add("prod", private_ip="10.0.0.99", ip="198.51.100.99")
    await asyncio.sleep(3600)
    it.cloud.heal()
    await it.until(lambda: it.ready == "False/Conflict", 300)
    it.delete()
    await it.until(lambda: it.gone, 600)
    assert it.cloud.asked("DestroyServer") == []


@pytest.mark.parametrize("restarted", [False, True])
async def test_one_that_was_never_up_and_came_back_under_its_recorded_address_is_ours(it, restarted):
    """Seed 720004700: two empty listings right after a restart made it another's, and its object's deletion left it."""
    it.cloud.odd = {"private_ip": PRIVATE, "status": "PENDING"}
    await it.apply(vmName="prod")
    await it.until(lambda: it.status.get("privateIp") == PRIVATE)
    shown = dict(it.cloud.vms)
    it.cloud.vms.clear()
    if restarted:
        await it.start()
    await it.until(lambda: it.status["order"].get("missingSince"))
    it.cloud.vms |= shown
    it.cloud.vms["prod"][1]["status"] = "ONLINE"
    await it.until(lambda: it.ready == "True/Running", 300)
    it.delete()
    await it.until(lambda: it.gone, 600)
    assert it.cloud.vms == {}


async def test_one_that_two_listings_lacked_while_nothing_was_decided_is_anothers_though_one_more_lacked_it_later(it):
    """A status write hung meanwhile. Only the last absence counted, and that was a short one: a stranger's VM was destroyed."""
    await it.apply(vmName="prod")
    await it.until(lambda: it.ready == "True/Running")
    await asyncio.sleep(60)
    written, hangs, goes_on = it.kube.replace_status, asyncio.Event(), asyncio.Event()

    async def hanging(*args):
        hangs.set()
        await goes_on.wait()
        return await written(*args)

    it.kube.replace_status = hanging
    it.change(spec={"powerState": "Stopped"})
    await it.until(hangs.is_set)
    it.cloud.vms.clear()
    await listed(it)
    await listed(it)
    it.cloud.add("prod")
    await listed(it)
    await missed_once(it)
    await listed(it)
    goes_on.set()
    await it.until(lambda: it.ready == "False/Conflict", 300)
    it.delete()
    await it.until(lambda: it.gone, 600)
    assert (list(it.cloud.vms), it.cloud.asked("DestroyServer")) == (["prod"], [])


of_plain_cloud = history_over(MakingCloud)


async def test_an_order_whose_sender_fails_afterwards_is_not_sent_again_at_once(of_plain_cloud, monkeypatch):
    """Something of our own broke after the cloud had accepted it: a second VM was bought a moment later."""
    it, broken = of_plain_cloud, []
    real = gates.log.info

    def breaks(event, **more):
        if event == "call" and more.get("verb") == "CreateServer" and not broken:
            broken.append(event)
            raise ZeroDivisionError
        real(event, **more)

    monkeypatch.setattr(gates.log, "info", breaks, raising=False)
    it.cloud.lag = 20.0
    await it.apply()
    await asyncio.sleep(15)
    assert (len(broken), len(it.cloud.asked("CreateServer"))) == (1, 1)
    await it.until(lambda: it.ready == "True/Running", 100)
    assert len(it.cloud.asked("CreateServer")) == 1


class VpcCloud(MakingCloud):
    """Accepts each order for a VPC under an id of its own, and makes none."""

    number = 10

    async def handle_async_request(self, request):
        if request.url.path.endswith("CreateVpc"):
            self.number += 1
            self.worlds[KEY]["CreateVpc"] = {"id": str(self.number), "name": "acme-train", "cluster": "Msc1"}
        return await super().handle_async_request(request)


of_vpc = history_over(VpcCloud, "GpuVpc")


async def test_a_vpc_that_somebody_made_after_it_was_asked_for_again_is_anothers(of_vpc):
    """Its id is not the accepted one. Nothing was ever said of it, and the object could not be deleted."""
    it = of_vpc
    await it.apply()
    await it.until(lambda: "OrderOverdue" in it.ready, 3000)
    it.change(annotations={"gpucloud.dev/reconcile-requested-at": "2026-01-01T01:00:00Z"})
    await asyncio.sleep(5)
    made = [
        {"id": own_id, "name": name, "cluster": "Msc1", "tenancyName": "acme"}
        for own_id, name in (("7", "acme"), ("99", "acme-train"))
    ]
    it.cloud.worlds[KEY]["GetVpcs"] = made
    await it.until(lambda: it.ready == "False/Conflict", 600)
    it.delete()
    await it.until(lambda: it.gone, 600)
    assert it.cloud.asked("DestroyVpc") == []
