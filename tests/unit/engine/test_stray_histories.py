"""Histories of a GpuVM whose status was lost, and whose spec names another cluster than the one where its VM was bought."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from gpucloud.kinds.common import OrderState
from gpucloud.kinds.meta import Annotation, rfc3339
from gpucloud.reconcile.naming import external_name
from support.builders import TAG, an_order
from support.fakes import LoopClock, a_resource
from support.orderrig import ManyClusters, history_over

pytestmark = pytest.mark.looptime
OURS = external_name("train", "u-train", TAG)


it = history_over(lambda: ManyClusters("Hou1"))


async def restored(it, cluster="Hou1", status=None, annotations=None, **spec):
    """A VM is bought in Msc1; etcd goes back to before its order, the spec is edited, and another process starts."""
    await it.apply(**spec)
    await it.until(lambda: it.ready == "True/Running")
    it.kube.bodies["u-train"].pop("status")
    if status is not None:
        it.kube.bodies["u-train"]["status"] = status
    it.kube.bodies["u-train"]["metadata"]["annotations"] = annotations or {}
    it.kube.bodies["u-train"]["spec"]["cluster"] = cluster
    it.cloud.odd = {"cluster": cluster}
    await it.start()


@pytest.mark.parametrize(
    ("spec", "name", "where"),
    [
        ({}, OURS, "VPC 'acme' of cluster 'Msc1'"),
        ({"vmName": "prod"}, "prod", "another place"),  # with the operator's own account it may be another namespace's
    ],
)
async def test_no_second_vm_is_bought_in_another_cluster(it, spec, name, where):
    """Seed 91004252: a second one was bought and destroyed with the object, and nobody told of the first."""
    await restored(it, **spec)
    await it.until(lambda: it.ready == "False/PossibleDuplicate", 300)
    await asyncio.sleep(600)
    assert (list(it.cloud.vms), len(it.cloud.asked("CreateServer"))) == ([name], 1)
    assert f"VM {name!r} in {where} may be this object's" in it.words
    it.change({"cluster": "Msc1"})
    await it.until(lambda: it.ready == ("False/Conflict" if spec else "True/Running"), 300)


OLDER = {
    "nothing was ordered": {"state": "NotOrdered"},
    "the order was refused": an_order(OURS, OrderState.REFUSED, uid="u-train").model_dump(mode="json", by_alias=True),
    "it was seen there, too": an_order(OURS, OrderState.LOST, cluster="Hou1", uid="u-train").model_dump(
        mode="json", by_alias=True
    ),
}


@pytest.mark.parametrize("order", OLDER.values(), ids=OLDER)
async def test_an_older_record_buys_no_second_vm_in_another_cluster(it, order):
    """A backup says what was so before the order, and nobody can tell it from what is so now."""
    await restored(it, status={"order": order}, onLoss="Recreate")
    await it.until(lambda: it.ready == "False/PossibleDuplicate", 900)
    await asyncio.sleep(600)
    assert (list(it.cloud.vms), len(it.cloud.asked("CreateServer"))) == ([OURS], 1)
    it.change({"cluster": "Msc1"})
    await it.until(lambda: it.ready == "True/Running", 300)


async def test_what_waited_over_a_restart_is_bought_after_one_search(it):
    """Most records that say that nothing was ordered are true."""
    await it.apply(sshKeys=None, sshKeysFrom=[{"secretKeyRef": {"name": "keys", "key": "pub"}}])
    await it.until(lambda: it.ready == "False/SSHKeysNotFound")
    assert it.status["order"]["state"] == "NotOrdered"
    spec = it.kube.bodies["u-train"]["spec"]
    spec["sshKeys"] = ["ssh-ed25519 AAAAMADEUP t"]
    del spec["sshKeysFrom"]
    await it.start()
    await it.until(lambda: it.ready == "True/Running", 60)
    assert (len(it.cloud.asked("GetAll")), listed_clusters(it)) == (1, {"Msc1"})


async def test_it_is_bought_when_the_stray_is_gone(it):
    """The message says to destroy it: whoever does so need not touch the object as well."""
    await restored(it)
    await it.until(lambda: it.ready == "False/PossibleDuplicate", 300)
    it.cloud.vms.clear()
    await it.until(lambda: it.ready == "True/Running", 300)
    assert it.status["order"]["cluster"] == "Hou1"


async def test_a_person_may_buy_another(it):
    await restored(it)
    await it.until(lambda: it.ready == "False/PossibleDuplicate", 300)
    it.change(annotations={Annotation.BUY_ANYWAY: rfc3339(LoopClock().wall())})
    await it.until(lambda: it.ready == "True/Running", 300)
    assert (len(it.cloud.asked("CreateServer")), listed_clusters(it)) == (2, {"Hou1"})


@pytest.mark.parametrize("value", ["true", "2026-01-01T00:00:00Z"])
async def test_what_a_person_said_before_buys_no_second_vm_when_the_status_is_lost(it, value):
    """Seed 92310697: the annotation of the first purchase stood there still."""
    await restored(it, annotations={Annotation.BUY_ANYWAY: value})
    await it.until(lambda: it.ready == "False/PossibleDuplicate", 300)
    await asyncio.sleep(600)
    assert len(it.cloud.asked("CreateServer")) == 1


@pytest.mark.parametrize(
    ("ahead", "why"),
    [
        (timedelta(hours=9), "local time, written as UTC: it was refused, and nobody thought of it any more"),
        (timedelta(seconds=40), "by a clock that is ahead, before this process began"),
    ],
)
async def test_a_time_that_lay_ahead_buys_nothing_when_it_has_come(it, ahead, why):
    await restored(it, annotations={Annotation.BUY_ANYWAY: rfc3339(LoopClock().wall() + ahead)})
    await it.until(lambda: it.ready == "False/PossibleDuplicate", 300)
    await asyncio.sleep(ahead.total_seconds() + 600)
    assert len(it.cloud.asked("CreateServer")) == 1, why
    assert "was in the future when set" in it.words
    it.change(annotations={Annotation.BUY_ANYWAY: rfc3339(LoopClock().wall() + timedelta(seconds=40))})
    await it.until(lambda: it.ready == "True/Running", 300)


async def test_the_vm_of_an_earlier_object_hides_none_of_its_own(it):
    """That one is why buy-anyway was set: it stands in the cluster that the spec names now."""
    it.cloud.add(external_name("train", "u-earlier", TAG), cluster="Hou1")
    await restored(it, annotations={Annotation.BUY_ANYWAY: "true"})
    await it.until(lambda: it.ready == "False/PossibleDuplicate", 300)
    await asyncio.sleep(600)
    assert len(it.cloud.asked("CreateServer")) == 1


async def test_no_cluster_is_listed_for_an_object_that_is_gone(it):
    await restored(it)
    await it.until(lambda: it.ready == "False/PossibleDuplicate", 300)
    assert listed_clusters(it) == {"Hou1", "Msc1"}
    it.delete()
    await it.until(lambda: it.gone, 700)
    assert listed_clusters(it) == set()


def listed_clusters(it):
    return it.engine.parts.shared.accounts.own.session.vms.clusters


@pytest.mark.parametrize("elsewhere", ["Msc1", "Hou1"])
async def test_nothing_is_bought_while_a_cluster_cannot_be_listed(it, elsewhere):
    """Only what every cluster lacks was never bought."""
    it.cloud.hidden = {elsewhere}
    await restored_unordered(it, {"Msc1": "Hou1", "Hou1": "Msc1"}[elsewhere])
    await it.until(lambda: it.ready == "Unknown/ApiUnavailable", 300)
    await asyncio.sleep(300)
    assert it.cloud.asked("CreateServer") == []
    it.cloud.hidden = set()
    await it.until(lambda: it.ready == "True/Running", 300)


async def test_a_new_object_is_bought_without_a_look_at_other_clusters(it):
    it.cloud.add("prod", cluster="Hou1")
    await it.apply(vmName="prod")
    await it.until(lambda: it.ready == "True/Running")
    assert {call[2].get("Cluster") for call in it.cloud.asked("GetServers")} == {"Msc1"}


async def restored_unordered(it, cluster):
    """An object with our finalizer and no status, which nothing was ordered for: a process starts."""
    it.cloud.odd = {"cluster": cluster}
    await it.engine.stop(0.0)
    it.engine = None
    await it.start()
    it._show("ADDED", a_resource("GpuVM", uid="u-train", spec={"cluster": cluster}))


async def test_an_object_that_asks_to_adopt_the_stray_does_not_hide_it(it):
    """The name says whose it is; a second VM was bought, since the other object claimed the first."""
    await restored(it)
    other = a_resource("GpuVM", uid="u-other", name="other", spec={"vmName": OURS, "adoption": "Required"})
    it._show("ADDED", other)
    await it.until(lambda: it.ready == "False/PossibleDuplicate", 300)
    await asyncio.sleep(300)
    assert (list(it.cloud.vms), len(it.cloud.asked("CreateServer"))) == ([OURS], 1)
