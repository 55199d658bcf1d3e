"""A chosen name proves nothing: whose a VM of that name is, by the record, the object's UID, and what became of it since."""

import asyncio
import copy

import pytest

from gpucloud.reconcile.ownership import record_id
from support.fakes import GOING

pytestmark = pytest.mark.looptime
GRACE = 30.0
PAUSED = {"gpucloud.dev/paused": "true"}
MAY_BE_YOURS = "this may be your VM, and billed. If so, destroy it in the cloud"


def notes(it, reason):
    return [event["note"] for event in it.kube.events if event["reason"] == reason and event["type"] == "Warning"]


async def ready(it):
    await it.apply(vmName="prod")
    await it.until(lambda: it.ready == "True/Running")
    await asyncio.sleep(GRACE)  # all is recorded


async def missed(it):
    """Our VM goes, and two listings show that."""
    it.cloud.vms.clear()
    await it.until(lambda: it.status["order"].get("missingSince"), 100)
    assert it.status["order"]["state"] in {"Seen", "Destroying"}


@pytest.mark.parametrize("how", ["", "paused", "deleted"])
async def test_a_vm_that_was_missing_before_a_restart_and_is_made_again_is_somebody_elses(it, how):
    await ready(it)
    if how == "paused":
        it.change(annotations=PAUSED)
    await missed(it)
    if how == "deleted":
        it.delete()
        await asyncio.sleep(1)
    it.cloud.add("prod")
    await it.start()
    if how == "paused":
        it.change()
    if how != "deleted":
        await it.until(lambda: it.ready == "False/Conflict")
        assert "may be yours, and billed" in it.words
        it.delete()
    await it.until(lambda: it.gone)
    assert (list(it.cloud.vms), it.cloud.asked("DestroyServer")) == (["prod"], [])
    assert any(MAY_BE_YOURS in note for note in notes(it, "Retained"))


@pytest.mark.parametrize(("address", "ours"), [("10.0.0.9", False), ("10.0.0.5", True)])
async def test_a_vm_that_was_made_again_while_no_operator_looked_is_told_by_its_private_address(it, address, ours):
    """Simulated world, seeds 100960 and 72271: a new process destroyed it, whatever the recorded address was."""
    it.cloud.odd = {"private_ip": "10.0.0.5", "ip": "198.51.100.5"}
    await ready(it)
    await it.engine.stop(0.0)
    it.cloud.vms.clear()
    it.cloud.add("prod", private_ip=address, ip="198.51.100.9")  # a public address may change
    await it.start()
    await asyncio.sleep(GRACE)
    assert it.ready == ("True/Running" if ours else "False/Conflict")
    it.delete()
    await it.until(lambda: it.gone)
    assert (list(it.cloud.vms), len(it.cloud.asked("DestroyServer"))) == (([], 1) if ours else (["prod"], 0))


async def test_what_vanished_costs_no_write_more(it):
    await ready(it)
    written = len(it.kube.statuses)
    await missed(it)
    assert (it.ready, len(it.kube.statuses)) == ("Unknown/VMLost", written + 1)


async def test_one_listing_that_lacks_it_says_nothing(it):
    await ready(it)
    written, gone = len(it.kube.statuses), dict(it.cloud.vms)
    it.cloud.vms.clear()
    listings = len(it.cloud.asked("GetServers"))
    await it.until(lambda: len(it.cloud.asked("GetServers")) > listings, 100)
    await asyncio.sleep(0.05)
    it.cloud.vms |= gone
    await asyncio.sleep(3 * GRACE)
    assert (it.ready, len(it.kube.statuses)) == ("True/Running", written)


async def test_the_same_address_shows_that_what_came_back_after_a_restart_is_ours(it):
    it.cloud.odd = {"privateIp": "10.0.0.5"}
    await ready(it)
    assert it.status["privateIp"] == "10.0.0.5"
    await missed(it)
    it.cloud.add("prod", privateIp="10.0.0.5")
    await it.start()
    await it.until(lambda: it.ready == "True/Running")
    assert "missingSince" not in it.status["order"]


async def test_one_old_listing_does_not_bring_it_back(it):
    """Seen in the simulated world: the listing showed ours, with its address; the name was a stranger's by then."""
    it.cloud.odd = {"privateIp": "10.0.0.5"}
    await ready(it)
    ours = copy.deepcopy(it.cloud.vms)
    await missed(it)
    it.delete()
    it.cloud.vms |= ours
    listings = len(it.cloud.asked("GetServers"))
    await it.until(lambda: len(it.cloud.asked("GetServers")) > listings)
    it.cloud.vms.clear()
    it.cloud.add("prod", privateIp="10.0.0.9")
    await it.until(lambda: it.gone)
    assert (list(it.cloud.vms), it.cloud.asked("DestroyServer")) == (["prod"], [])


async def test_what_a_destroying_call_without_an_answer_left_missing_is_somebody_elses_when_it_comes_back(it):
    await ready(it)
    await it.start(poll_steady_seconds=2)  # listings lack it before it counts as destroyed
    await asyncio.sleep(GRACE)
    it.cloud.refuse("DestroyServer", 503)
    it.delete()
    await it.until(lambda: it.cloud.asked("DestroyServer"))
    await missed(it)
    it.cloud.heal()
    asked = len(it.cloud.asked("DestroyServer"))
    it.cloud.add("prod")
    await it.start()
    await it.until(lambda: it.gone, 300)
    assert (list(it.cloud.vms), len(it.cloud.asked("DestroyServer"))) == (["prod"], asked)
    assert any(MAY_BE_YOURS in note for note in notes(it, "Retained"))


@pytest.mark.parametrize("deleted", [False, True], ids=["in life", "in deletion"])
async def test_a_record_of_an_object_with_another_uid_is_not_believed(it, deleted):
    """A backup restores the status onto a new object, whose name in the cloud is the old one's."""
    await ready(it)
    body = it.kube.bodies["u-train"]
    restored = record_id("of-before", "u-before", "prod")
    body["status"]["order"]["id"] = restored
    body["metadata"] |= GOING if deleted else {}
    await it.start()
    if not deleted:
        await it.until(lambda: it.ready == "False/Conflict")
        assert "status.order is of another object" in it.words
        assert "may be yours, and billed" in it.words
        assert it.status["order"]["id"] == restored, "it stays, for people and for the next process"
        it.delete()
    await it.until(lambda: it.gone)
    assert (list(it.cloud.vms), it.cloud.asked("DestroyServer"), it.cloud.asked("StopServer")) == (["prod"], [], [])
    assert any(MAY_BE_YOURS in note for note in notes(it, "Retained"))


@pytest.mark.parametrize("restarted", [False, True])
async def test_a_name_that_is_taken_out_of_the_spec_leaves_nothing_behind(it, restarted):
    """A definition without rules lets it through."""
    await ready(it)
    it.change(spec={"vmName": None})
    if restarted:
        await it.start()
    await it.until(lambda: it.ready == "Unknown/InvalidSpec")
    assert "Ordered as 'prod'" in it.words
    it.delete()
    await it.until(lambda: it.ready == "False/DeletionBlocked")
    await asyncio.sleep(15 * GRACE)
    assert (it.gone, list(it.cloud.vms), len(it.cloud.asked("CreateServer"))) == (False, ["prod"], 1)
    it.change(spec={"vmName": "prod"}, **GOING)
    await it.until(lambda: it.gone)
    assert it.cloud.vms == {}


async def test_that_what_came_back_may_be_ours_is_told_before_it_is_let_go(it):
    await ready(it)
    ours = copy.deepcopy(it.cloud.vms)
    it.cloud.vms.clear()
    await it.until(lambda: it.ready == "False/VMLost", 600)
    it.cloud.vms |= ours
    await it.until(lambda: it.ready == "False/Conflict", 300)
    assert "may be yours, and billed" in it.words
    it.delete()
    await it.until(lambda: it.gone)
    assert any(MAY_BE_YOURS in note for note in notes(it, "Retained"))
    assert it.cloud.asked("DestroyServer") == []


async def test_an_id_of_any_length_is_found_and_destroyed(it):
    long = "srv-" + 300 * "i"
    it.cloud.odd = {"id": long}
    await it.apply(vmName="prod")
    await it.until(lambda: it.ready == "True/Running")
    assert list(it.cloud.vms) == [long]
    assert it.status["order"]["cloudId"] != it.status["vmId"], "cut, it would be told from none that begins the same"
    it.delete()
    await it.until(lambda: it.gone)
    assert it.cloud.vms == {}


@pytest.mark.parametrize("deleted", ["before", "after"])
async def test_what_comes_to_stand_under_the_clouds_own_name_for_a_lost_vm_is_anothers(it, deleted):
    """Simulated world, seed 1010082: the object said Running of it, and its deletion destroyed it."""
    it.cloud.odd = {"id": "srv-1"}
    await it.apply()
    await it.until(lambda: it.ready == "True/Running")
    await asyncio.sleep(GRACE)
    await missed(it)
    if deleted == "before":
        it.delete()
        await asyncio.sleep(0.1)
    it.cloud.odd = {}
    before = len(it.cloud.asked("DestroyServer"))
    it.cloud.add("srv-1")
    if deleted == "after":
        await it.until(lambda: it.ready == "False/VMLost", 100)
        it.delete()
    await it.until(lambda: it.gone, 300)
    assert list(it.cloud.vms) == ["srv-1"]
    assert "srv-1" not in {asked["Id"] for _, _, asked in it.cloud.asked("DestroyServer")[before:]}


async def test_what_stands_under_the_clouds_own_name_after_a_restart_is_not_destroyed_where_its_address_is_another(it):
    """It was called lost without a listing that lacked it; what goes then is what bears the object's mark."""
    it.cloud.odd = {"id": "srv-1", "private_ip": "172.16.0.1"}
    await it.apply()
    await it.until(lambda: it.ready == "True/Running")
    await asyncio.sleep(GRACE)
    it.cloud.odd = {}
    it.cloud.vms.clear()
    it.cloud.add("srv-1", private_ip="172.16.0.2")
    await it.start()
    await it.until(lambda: it.ready == "False/VMLost", 100)
    it.delete()
    await it.until(lambda: it.gone, 300)
    assert list(it.cloud.vms) == ["srv-1"]


@pytest.mark.parametrize("code", [403, 409])
async def test_what_no_destroying_call_has_reached_is_ours_under_another_address(it, code):
    """Each was refused for certain, and its owner switched it off and on: it was called another's, and stayed."""
    it.cloud.odd = {"ip": "198.51.100.5"}
    await ready(it)
    it.cloud.refuse("DestroyServer", code)
    it.delete()
    await it.until(lambda: it.ready == "False/DeletionBlocked", 60)
    it.cloud.vms["prod"][1]["ip"] = "198.51.100.9"
    await asyncio.sleep(3 * GRACE)
    assert not it.gone
    it.cloud.heal()
    await it.until(lambda: it.gone, 900)
    assert it.cloud.vms == {}


async def test_what_a_destroying_call_may_have_reached_is_anothers_under_another_address(it):
    it.cloud.odd = {"ip": "198.51.100.5"}
    await ready(it)
    stands = it.cloud.vms["prod"]
    it.cloud.refuse("DestroyServer", 503)
    it.delete()
    await it.until(lambda: it.cloud.asked("DestroyServer"), 60)
    stands[1]["ip"] = "198.51.100.9"
    it.cloud.vms["prod"] = stands
    await it.until(lambda: it.gone, 300)
    assert list(it.cloud.vms) == ["prod"]
