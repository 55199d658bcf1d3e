"""Histories of one VM's order, with the whole engine, a cloud that makes and destroys VMs, and the default grace."""

import asyncio
import copy
import json

import httpx
import pytest

from gpucloud.reconcile.naming import external_name
from support.builders import TAG
from support.fakes import GOING
from support.orderrig import failed

pytestmark = pytest.mark.looptime
GRACE = 30.0
OURS = external_name("train", "u-train", TAG)
CHOSEN = {"vmName": "prod"}
PAUSED = {"gpucloud.dev/paused": "true"}


async def test_a_vm_that_somebody_makes_under_the_name_of_a_lost_one_is_theirs(it):
    await it.apply(**CHOSEN)
    await it.until(lambda: it.ready == "True/Running")
    it.cloud.vms.clear()
    await it.until(lambda: it.ready == "False/VMLost", 600)
    it.cloud.add("prod")
    await it.until(lambda: it.ready == "False/Conflict", 300)
    it.delete()
    await it.until(lambda: it.gone)
    assert (list(it.cloud.vms), it.cloud.asked("DestroyServer")) == (["prod"], [])


@pytest.mark.parametrize("restarted", [False, True])
async def test_a_vm_that_somebody_makes_as_soon_as_ours_was_destroyed_is_theirs(it, restarted):
    """No two listings lack it: other addresses than the recorded ones tell."""
    it.cloud.odd = {"private_ip": "10.0.0.5"}
    await it.apply(**CHOSEN)
    await it.until(lambda: it.ready == "True/Running")
    it.delete()
    await it.until(lambda: it.cloud.asked("DestroyServer"))
    await asyncio.sleep(0.05)
    it.cloud.add("prod", private_ip="10.0.0.9")
    if restarted:
        await it.start()
    await it.until(lambda: it.gone, 600)
    assert (list(it.cloud.vms), len(it.cloud.asked("DestroyServer"))) == (["prod"], 1)


async def test_what_a_listing_showed_of_an_accepted_order_outlives_the_process_that_saw_it(it):
    """Simulated world, seed 100960: unrecorded, a new process waits for what is gone, and takes a stranger's VM for it."""
    it.cloud.lag, it.cloud.odd = 12.0, {"status": "PENDING_READINESS"}
    await it.apply(**CHOSEN)
    await it.until(lambda: it.status.get("order", {}).get("state") == "Accepted")
    await asyncio.sleep(15.0 - asyncio.get_running_loop().time())  # a listing has shown it, less than five seconds ago
    it.cloud.vms.clear()
    it.cloud.lag = 0.0
    await it.start()
    await it.until(lambda: it.status["order"].get("missingSince"))
    it.cloud.add("prod")
    await it.until(lambda: it.ready == "False/Conflict")
    it.delete()
    await it.until(lambda: it.gone)
    assert (list(it.cloud.vms), it.cloud.asked("DestroyServer")) == (["prod"], [])


async def test_what_was_seen_under_a_chosen_name_is_recorded_at_once(it):
    """Simulated world, seed 500751: it stayed with its process, and the next one took a stranger's VM for what was ordered.

    Seed 1301158: its address was recorded nowhere when the listings failed, and a stranger's VM passed for it.
    """
    it.cloud.odd = {"status": "PENDING_READINESS"}
    await it.apply(**CHOSEN)
    await it.until(lambda: it.cloud.asked("CreateServer"))
    listings = len(it.cloud.asked("GetServers"))
    await it.until(lambda: len(it.cloud.asked("GetServers")) > listings)
    it.cloud.add("elsewhere", cluster="Hou1")  # no listing is believed any more
    await asyncio.sleep(0.1)
    assert it.status["order"]["state"] == "Seen"
    assert it.ready == "False/Creating"


async def test_a_vm_that_somebody_makes_after_an_order_that_was_never_carried_out_is_theirs(it):
    """A 503 says nothing; two listings that began a grace later prove that nothing was made."""
    it.cloud.makes, it.cloud.answer = False, failed(503, "upstream")
    await it.apply(**CHOSEN)
    await it.until(lambda: it.cloud.asked("CreateServer"))
    it.cloud.answer = failed(403, "not permitted")
    await it.until(lambda: it.status.get("order", {}).get("state") == "Refused", 10 * GRACE)
    assert len(it.cloud.asked("CreateServer")) == 2
    it.cloud.add("prod")
    await it.until(lambda: it.ready == "False/Conflict", 300)
    it.delete()
    await it.until(lambda: it.gone)
    assert (list(it.cloud.vms), it.cloud.asked("DestroyServer")) == (["prod"], [])


async def test_an_order_that_was_carried_out_and_answered_with_a_500_is_found(it):
    it.cloud.answer = failed(500, "configuration not found")
    await it.apply()
    await it.until(lambda: it.ready == "True/Running", 300)
    it.delete()
    await it.until(lambda: it.gone)
    assert (it.cloud.vms, len(it.cloud.asked("CreateServer"))) == ({}, 1)


@pytest.mark.parametrize("odd", [{"id": "vm-0815"}, {"cluster": "MSC1"}], ids=["an id of the cloud's own", "another spelling"])
async def test_what_the_acceptance_names_is_looked_for_by_that(it, odd):
    it.cloud.odd = odd
    await it.apply()
    await it.until(lambda: it.ready == "True/Running")
    await asyncio.sleep(15 * GRACE)
    assert len(it.cloud.asked("CreateServer")) == 1
    it.delete()
    await it.until(lambda: it.gone)
    assert it.cloud.vms == {}


async def test_an_id_of_the_clouds_own_that_is_listed_before_the_answer_comes_is_seen_at_once(it, monkeypatch):
    send = it.cloud.handle_async_request

    async def answers_late(request):
        answer = await send(request)
        await asyncio.sleep(20.0 if request.url.path.endswith("CreateServer") else 0.0)
        return answer

    monkeypatch.setattr(it.cloud, "handle_async_request", answers_late)
    it.cloud.odd = {"id": "vm-0815"}
    await it.apply()
    await it.until(lambda: it.ready == "True/Running", 2 * GRACE)


async def test_what_stood_there_before_is_not_what_an_acceptance_names(it):
    """The cloud answers with the record of another VM of the VPC."""
    other = it.cloud.add("prod")
    it.cloud.answer = httpx.Response(202, content=json.dumps(other).encode())
    await it.apply()
    await it.until(lambda: it.ready == "True/Running")
    it.delete()
    await it.until(lambda: it.gone)
    assert (list(it.cloud.vms), len(it.cloud.asked("DestroyServer"))) == (["prod"], 1)


async def test_of_an_id_of_the_clouds_own_the_status_alone_proves_nothing(it):
    it.cloud.odd = {"id": "vm-0815"}
    await it.apply()
    await it.until(lambda: it.ready == "True/Running")
    await asyncio.sleep(60)
    await it.start()
    it.change(spec={"powerState": "Stopped"})
    await asyncio.sleep(60)
    assert it.cloud.asked("StopServer") == []
    it.delete()
    await it.until(lambda: it.ready == "False/DeletionBlocked")
    assert "Destroy it in the cloud, or set spec.deletion.policy: Retain" in it.words
    assert list(it.cloud.vms) == ["vm-0815"]
    it.change(spec={"deletion": {"policy": "Retain"}}, **GOING)
    await it.until(lambda: it.gone)


async def test_what_an_acceptance_names_is_recorded_of_a_paused_object_too(it):
    it.cloud.odd = {"id": "vm-0815"}
    it.cloud.takes["CreateServer"] = 5.0
    await it.apply()
    await it.until(lambda: it.cloud.asked("CreateServer"))
    it.change(annotations=PAUSED)
    await it.until(lambda: it.status["order"].get("cloudId") == "vm-0815")
    await it.start()
    it.change()
    await asyncio.sleep(15 * GRACE)
    assert (list(it.cloud.vms), len(it.cloud.asked("CreateServer"))) == (["vm-0815"], 1)


async def test_that_a_vm_is_lost_is_recorded_of_a_paused_object_too(it):
    await it.apply(**CHOSEN)
    await it.until(lambda: it.ready == "True/Running")
    it.change(annotations=PAUSED)
    it.cloud.vms.clear()
    await it.until(lambda: it.status["order"]["state"] == "Lost", 600)
    await it.start()
    it.cloud.add("prod")
    it.change()
    await it.until(lambda: it.ready == "False/Conflict", 300)
    it.delete()
    await it.until(lambda: it.gone)
    assert (list(it.cloud.vms), it.cloud.asked("DestroyServer")) == (["prod"], [])


async def test_an_accepted_order_that_never_shows_is_sent_four_times_at_most(it):
    it.cloud.makes = False
    await it.apply()
    await it.until(lambda: it.ready == "False/OrderOverdue", 3600)
    assert len(it.cloud.asked("CreateServer")) == 4
    assert "to order again: kubectl gpucloud retry gvm/" in it.words
    await asyncio.sleep(3600)
    assert len(it.cloud.asked("CreateServer")) == 4
    it.change(annotations={"gpucloud.dev/reconcile-requested-at": "now"})
    await it.until(lambda: len(it.cloud.asked("CreateServer")) == 5)


@pytest.mark.parametrize("restarted", [False, True])
async def test_a_request_to_order_again_outlasts_an_outage(it, restarted):
    it.cloud.refuse("CreateServer", 400)
    it.cloud.makes = False
    await it.apply()
    await it.until(lambda: it.ready == "False/Rejected")
    await asyncio.sleep(60)
    it.cloud.heal()
    it.cloud.makes = True
    it.cloud.refuse("GetServers", 503)
    await asyncio.sleep(400)
    it.change(annotations={"gpucloud.dev/reconcile-requested-at": "now"})
    await it.until(lambda: it.status.get("lastHandledReconcileAt") == "now", 400)
    if restarted:
        await it.start()
        await asyncio.sleep(60)
    it.cloud.heal()
    await it.until(lambda: it.ready == "True/Running", 400)


async def test_an_empty_request_to_reconcile_orders_nothing_beyond_that(it):
    """Simulated world, seed 800110: no status answered it, so each order counted as asked for again."""
    it.cloud.makes = False
    await it.apply()
    await it.until(lambda: it.cloud.asked("CreateServer"))
    it.change(annotations={"gpucloud.dev/reconcile-requested-at": ""})
    await it.until(lambda: it.ready == "False/OrderOverdue", 3600)
    await asyncio.sleep(3600)
    assert len(it.cloud.asked("CreateServer")) == 4


async def test_what_was_accepted_is_waited_for_by_the_next_process_too(it):
    """The listing lags seven graces; the object is deleted after a kill."""
    it.cloud.lag = 7 * GRACE
    await it.apply()
    await it.until(lambda: it.cloud.vms)
    await asyncio.sleep(1)
    await it.start()
    it.delete()
    took = await it.until(lambda: it.gone, 11 * GRACE)
    assert took >= 6 * GRACE
    assert (it.cloud.vms, len(it.cloud.asked("CreateServer"))) == ({}, 1)


@pytest.mark.parametrize("ordered", [True, False])
async def test_what_no_record_tells_of_is_destroyed_before_it_is_listed(it, ordered):
    """Simulated world, seed 906180: two listings lacked what was accepted, since they lag; the status named another's VM."""
    it.cloud.lag, it.cloud.makes = 0.8 * GRACE, ordered
    await it.apply()
    await it.until(lambda: it.cloud.asked("CreateServer"))
    await asyncio.sleep(1)
    body = copy.deepcopy(it.kube.bodies["u-train"])
    body["status"]["order"]["name"] = "bystander"
    it.kube.bodies["u-train"] = body
    it.cloud.add("bystander")
    await it.start()
    it.delete()
    took = await it.until(lambda: it.gone, 3 * GRACE)
    assert (list(it.cloud.vms), took > GRACE) == (["bystander"], True)


@pytest.mark.parametrize("recorded", [None, {"id": "backup-aaaaaaaaaa", "state": "Seen", "name": "another", "cluster": "Msc1"}])
async def test_what_no_record_of_its_own_tells_of_is_recorded_as_destroyed_before_the_call(it, monkeypatch, recorded):
    """The status kept another object's record, or none: the next process let the object go at once (seed 70005754)."""
    it.cloud.lag, states = 100 * GRACE, []
    await it.apply()
    await it.until(lambda: it.cloud.asked("CreateServer"))
    it.kube.bodies["u-train"]["status"] = {} if recorded is None else {"order": recorded}
    it.kube.bodies["u-train"]["metadata"] |= GOING
    it.cloud.vms.clear()
    noted = it.cloud.handle_async_request

    async def notes(request):
        if request.url.path.endswith("DestroyServer"):
            states.append(it.status["order"])
        return await noted(request)

    monkeypatch.setattr(it.cloud, "handle_async_request", notes)
    await it.start()
    await it.until(lambda: states)
    assert [(order["state"], order["name"]) for order in states] == [("Destroying", OURS)]
    await it.start()  # an order of before may be carried out within a grace from the first sight
    assert await it.until(lambda: it.gone) > GRACE - 1
    assert len(states) == 2


@pytest.mark.parametrize("state", ["NotOrdered", "Refused"])
async def test_a_restored_record_of_before_the_order_lets_nothing_go_before_it_can_be_listed(it, state):
    """As seed 906180, where etcd was restored while no operator ran."""
    it.cloud.lag = 0.8 * GRACE
    await it.apply()
    await it.until(lambda: it.cloud.asked("CreateServer"))
    body = copy.deepcopy(it.kube.bodies["u-train"])
    body["status"]["order"]["state"] = state
    it.kube.bodies["u-train"] = body
    await it.start()
    it.delete()
    await it.until(lambda: it.gone, 3 * GRACE)
    assert it.cloud.vms == {}


async def test_what_is_deleted_right_after_its_creation_goes_within_seconds(it):
    await it.apply()
    await it.until(lambda: it.cloud.vms)
    it.delete()
    assert await it.until(lambda: it.gone) < GRACE / 3
    assert it.cloud.vms == {}


async def test_a_restart_that_was_asked_for_before_the_status_was_lost_is_not_carried_out_again(it):
    await it.apply()
    await it.until(lambda: it.ready == "True/Running")
    body = copy.deepcopy(it.kube.bodies["u-train"])
    body["metadata"]["annotations"] = {"gpucloud.dev/restart-requested-at": "long ago"}
    del body["status"]
    it.kube.bodies["u-train"] = body
    await it.start()
    await it.until(lambda: it.ready == "True/Running")
    await asyncio.sleep(5 * GRACE)
    assert it.cloud.asked("StopServer") == it.cloud.asked("StartServer") == []
    assert it.status["lastHandledRestartAt"] == "long ago"


async def test_a_restart_is_not_carried_out_again_after_a_status_was_lost_while_no_listing_showed_the_vm(it):
    """Seed 100326: the first write after the loss recorded the order, and not that the restart is answered."""
    await it.apply()
    await it.until(lambda: it.ready == "True/Running")
    record = it.cloud.vms.pop(OURS)
    body = copy.deepcopy(it.kube.bodies["u-train"])
    body["metadata"]["annotations"] = {"gpucloud.dev/restart-requested-at": "long ago"}
    del body["status"]
    await it.until(lambda: it.ready == "Unknown/VMLost", 2 * GRACE + 60)
    it._show("MODIFIED", body)
    await it.until(lambda: it.ready == "Unknown/VMLost")
    it.cloud.vms[OURS] = record
    await it.until(lambda: it.ready == "True/Running", 600)
    await asyncio.sleep(5 * GRACE)
    assert it.cloud.asked("StopServer") == it.cloud.asked("StartServer") == []
    assert it.status["lastHandledRestartAt"] == "long ago"


async def test_a_cluster_that_was_changed_all_the_same_moves_nothing(it):
    """A definition without rules lets it through."""
    await it.apply()
    await it.until(lambda: it.ready == "True/Running")
    ordered = it.status["order"]
    it.change(spec={"cluster": "Hou1"})
    await it.until(lambda: it.ready == "Unknown/InvalidSpec")
    assert "the spec names another place" in it.words
    assert (it.status["order"], len(it.cloud.asked("CreateServer"))) == (ordered, 1)
    it.delete()
    await it.until(lambda: it.gone)
    assert it.cloud.vms == {}


async def test_a_chosen_name_whose_cluster_was_changed_is_not_followed_there(it):
    """Only the record says that it was ordered elsewhere, and people can edit a status."""
    await it.apply(**CHOSEN)
    await it.until(lambda: it.ready == "True/Running")
    it.change(spec={"cluster": "Hou1"})
    await it.until(lambda: it.ready == "Unknown/InvalidSpec")
    it.delete()
    await it.until(lambda: it.ready == "False/DeletionBlocked")
    assert "spec.deletion.policy: Retain" in it.words
    await asyncio.sleep(15 * GRACE)
    assert (it.gone, list(it.cloud.vms)) == (False, ["prod"])
    it.change(spec={"cluster": "Msc1"}, **GOING)
    await it.until(lambda: it.gone)
    assert it.cloud.vms == {}


async def test_a_crash_between_the_record_and_the_answer_costs_ten_graces_and_one_vm(it):
    it.cloud.takes["CreateServer"] = 1000.0
    it.cloud.makes = False
    await it.apply()
    await it.until(lambda: it.status.get("order", {}).get("state") == "Intended")
    await it.start()
    asked, it.cloud.makes = len(it.cloud.asked("CreateServer")), True
    it.cloud.takes["CreateServer"] = 0.01
    took = await it.until(lambda: it.ready == "True/Running", 12 * GRACE)
    assert took >= 10 * GRACE
    assert (len(it.cloud.vms), len(it.cloud.asked("CreateServer"))) == (1, asked + 1)
