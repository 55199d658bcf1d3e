"""Histories of a VM that the cloud named itself, or placed elsewhere than it was ordered."""

from __future__ import annotations

import asyncio

import pytest

from gpucloud.reconcile.ownership import record_id

pytestmark = pytest.mark.looptime
OF_ITS_OWN = {"id": "srv-1", "private_ip": "172.16.0.1", "ip": "198.51.100.1"}


async def runs(it, odd):
    it.cloud.odd = odd
    await it.apply()
    await it.until(lambda: it.ready == "True/Running")
    await asyncio.sleep(60)
    it.cloud.odd = {}


async def test_what_a_listing_lacks_when_its_object_is_deleted_is_destroyed_by_the_clouds_own_name(it):
    """The name that was ordered is nobody's: a call for that would say nothing."""
    await runs(it, OF_ITS_OWN)
    hidden = dict(it.cloud.vms)
    it.cloud.vms.clear()
    await asyncio.sleep(5)
    it.delete()
    await it.until(lambda: it.gone, 600)
    assert list(hidden) == ["srv-1"]
    assert {call["Id"] for _, _, call in it.cloud.asked("DestroyServer")} == {"srv-1"}


async def test_what_was_proven_missing_under_the_clouds_own_name_is_let_go_with_a_warning(it):
    """What appears under it later may be another's, and is not destroyed: its owner must hear of it."""
    await runs(it, OF_ITS_OWN)
    it.cloud.vms.clear()
    await it.until(lambda: it.ready == "False/VMLost", 600)
    it.delete()
    await it.until(lambda: it.gone, 600)
    event = [event for event in it.kube.events if event["reason"] == "Gone"][-1]
    assert (event["type"], it.cloud.asked("DestroyServer")) == ("Warning", [])
    assert "'srv-1'" in event["note"]


async def test_what_is_shown_again_where_it_was_ordered_is_watched_there(it):
    """Its place was kept in the record, so Ready stood for good when it was gone."""
    await runs(it, {"namespace": "acme-2"})
    ((name, _),) = it.cloud.vms.items()
    it.cloud.vms.clear()
    await it.until(lambda: it.ready == "False/VMLost", 600)
    it.cloud.add(name)
    await it.until(lambda: it.ready == "True/Running", 600)
    it.cloud.vms.clear()
    await it.until(lambda: it.ready != "True/Running", 120)


async def ordered_anew(it, status=()):
    """Another VM than the one that the status describes; the cloud has not started it yet."""
    it.cloud.odd = {"id": "srv-2", "private_ip": "172.16.0.2", "ip": "198.51.100.2", "status": "PENDING"}
    await it.apply(status)
    await it.until(lambda: "srv-2" in it.cloud.vms)
    await asyncio.sleep(3)  # a listing has shown it, and the status does not say so yet


async def stands_after_an_outage(it):
    it.cloud.refuse("GetServers", 503)
    await asyncio.sleep(5)
    it.cloud.heal()
    it.cloud.vms["srv-2"][1]["status"] = "ONLINE"
    await it.until(lambda: it.ready == "True/Running")
    it.delete()
    await it.until(lambda: it.gone)
    return it.cloud.vms


async def test_an_address_in_a_backup_of_another_objects_status_makes_no_vm_a_strangers(it):
    """Simulated world, seed 70003325: the object was let go as lost, and its VM stayed."""
    name = "train-abcde-abcdefghij"
    theirs = {"id": record_id("theirs", "u-other", name), "state": "Gone", "name": name, "cluster": "Msc1", "vpc": "acme"}
    await ordered_anew(it, {"order": theirs, "privateIp": "172.16.0.1", "ip": "198.51.100.1", "settledGeneration": 1})
    assert await stands_after_an_outage(it) == {}


async def test_an_address_in_a_status_from_before_the_order_makes_no_vm_a_strangers(it):
    """While the cloud cannot be listed, nothing but the order is put back into such a status."""
    await ordered_anew(it)
    older = {"id": record_id("older", "u-train", "train"), "state": "Lost", "name": it.status["order"]["name"]}
    it.cloud.refuse("GetServers", 503)
    await asyncio.sleep(3)
    it.restore({"order": older | {"cluster": "Msc1", "vpc": "acme"}, "privateIp": "172.16.0.1", "settledGeneration": 1})
    assert await stands_after_an_outage(it) == {}


async def test_after_a_restart_it_is_shown_as_it_is_and_not_switched(it):
    """Simulated world, seed 3000650: it was called another's. The status alone is no proof, so nothing is done to it."""
    await runs(it, OF_ITS_OWN)
    await it.start(own_account_sharing="Shared")
    await asyncio.sleep(60)
    assert (it.ready, it.status["vmId"]) == ("True/Running", "srv-1")
    it.cloud.vms["srv-1"][1]["status"] = "OFFLINE"
    await it.until(lambda: it.ready == "False/Ambiguous", 120)
    assert "the VM is not switched on. Do that in the cloud" in it.words
    assert it.cloud.asked("StartServer") == []
    it.cloud.vms["srv-1"][1]["status"] = "ONLINE"
    await it.until(lambda: it.ready == "True/Running", 120)
    it.delete()
    await it.until(lambda: it.ready == "False/DeletionBlocked", 120)
    assert it.cloud.asked("DestroyServer") == []


async def test_after_a_restart_nothing_of_it_is_shown_where_isolated_namespaces_share_the_account(it):
    """Whoever may write a status could read what another namespace has."""
    await runs(it, OF_ITS_OWN)
    it.cloud.vms["srv-1"][1]["ip"] = "203.0.113.9"
    await it.start()
    await it.until(lambda: it.ready == "False/Ambiguous", 120)
    assert it.status["ip"] == OF_ITS_OWN["ip"], "as it was recorded"
    assert "--own-account-sharing=Shared" in it.words
    it.delete()
    await it.until(lambda: it.ready == "False/DeletionBlocked", 120)
    assert it.cloud.asked("DestroyServer") == []
