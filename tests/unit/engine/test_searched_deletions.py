"""Histories of a GpuVM that is deleted, and whose record does not tell where its VM is: every cluster is searched."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest

from gpucloud.cloud import connection as connection_module
from gpucloud.kinds.common import OrderState
from gpucloud.reconcile.naming import external_name
from support.builders import TAG, an_order
from support.fakes import GOING, FakeCloud, a_resource
from support.orderrig import KEY, VPC, History, ManyClusters, history_over

pytestmark = pytest.mark.looptime
NOT_ORDERED = {"order": {"state": "NotOrdered"}}


it = history_over(lambda: ManyClusters("Hou1", "Nyc1"))


async def restored(it, status=None, cluster="Hou1", deleting=True, **spec):
    """A VM is bought in Msc1; etcd goes back to before its order, the spec names another cluster, and a process starts."""
    await it.apply(**spec)
    await it.until(lambda: it.ready == "True/Running")
    body = it.kube.bodies["u-train"]
    body.pop("status")
    if status is not None:
        body["status"] = status
    body["spec"]["cluster"] = cluster
    if deleting:
        body["metadata"] |= GOING
    await it.start()


def listed_clusters(it):
    return it.engine.parts.shared.accounts.own.session.vms.clusters


OLD_RECORDS = {
    "the status is lost": None,
    "it says that nothing was ordered": NOT_ORDERED,
    "it says that an order was refused": {"order": an_order("train", uid="u-train", state=OrderState.REFUSED)},
}


@pytest.mark.parametrize("status", OLD_RECORDS.values(), ids=OLD_RECORDS)
async def test_a_vm_in_another_cluster_is_destroyed_with_its_object(it, status):
    """Seed 91004252: the object was let go after a look where the spec says, and its VM was nobody's."""
    await restored(it, status)
    await it.until(lambda: it.gone, 600)
    assert it.cloud.vms == {}
    assert listed_clusters(it) == set()


@pytest.mark.parametrize("status", OLD_RECORDS.values(), ids=OLD_RECORDS)
@pytest.mark.parametrize(
    ("hidden", "refused", "said"), [({"Msc1"}, None, "Cluster 'Msc1' cannot"), (set(), 500, "No cluster can")]
)
async def test_nothing_is_let_go_while_a_cluster_cannot_be_listed(it, status, hidden, refused, said):
    """Its own cluster lacks the VM; only what every cluster lacks was never bought."""
    await restored(it, status, deleting=False)
    it.cloud.hidden = hidden
    if refused is not None:
        it.cloud.refuse("GetAll", refused)
    it.delete()
    await it.until(lambda: it.ready == "False/DeletionBlocked", 300)
    assert it.words.startswith(f"{said} be searched for VM ")
    assert "(the cloud does not answer as it should). The operator keeps trying. To delete this object now" in it.words
    assert "spec.deletion.policy: Retain" in it.words
    await asyncio.sleep(900)
    assert (it.gone, len(it.cloud.vms)) == (False, 1)
    it.cloud.hidden = set()
    it.cloud.heal()
    await it.until(lambda: it.gone, 600)
    assert it.cloud.vms == {}


async def test_retain_needs_no_search(it):
    await restored(it, deleting=False)
    it.cloud.hidden = {"Msc1"}
    it.delete()
    await it.until(lambda: it.ready == "False/DeletionBlocked", 300)
    it.change({"deletion": {"policy": "Retain"}})
    await it.until(lambda: it.gone, 60)
    assert len(it.cloud.vms) == 1


async def test_what_nobody_ordered_goes_after_one_search(it):
    """And no cluster is listed for it afterwards."""
    await it.engine.stop(0.0)
    it.engine, it.bodies = None, {"u-train": a_resource("GpuVM", uid="u-train", meta=GOING, status=NOT_ORDERED)}
    await it.start()
    await it.until(lambda: it.gone, 60)
    looked = [call[2]["Cluster"] for call in it.cloud.asked("GetServers")]
    assert (len(it.cloud.asked("GetAll")), looked.count("Hou1"), listed_clusters(it)) == (1, 2, set())
    assert it.cloud.asked("DestroyServer") == []


async def test_what_a_process_knows_needs_no_search(it):
    """It saw the object before any order, and ordered itself."""
    await it.apply()
    await it.until(lambda: it.ready == "True/Running")
    it.delete()
    await it.until(lambda: it.gone, 60)
    assert (it.cloud.asked("GetAll"), it.cloud.vms) == ([], {})


async def test_what_a_new_process_finds_where_the_record_says_needs_no_search(it):
    """Nearly every deletion is one of these: another cluster's outage does not delay it."""
    await it.apply()
    await it.until(lambda: it.ready == "True/Running")
    await it.start()
    it.cloud.hidden = {"Hou1"}
    it.delete()
    await it.until(lambda: it.gone, 60)
    assert (it.cloud.asked("GetAll"), it.cloud.vms) == ([], {})


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("wiped", [False, True])
async def test_an_object_whose_spec_was_moved_is_destroyed_where_its_record_says(it, restarted, wiped):
    """Under a definition without rules: its deletion waited for somebody to set the spec back."""
    await it.apply()
    await it.until(lambda: it.ready == "True/Running")
    it.change({"cluster": "Hou1"})
    await it.until(lambda: it.ready.endswith("InvalidSpec"), 300)
    if wiped:
        it.kube.bodies["u-train"].pop("status")
    if restarted:
        await it.start()
    it.delete()
    await it.until(lambda: it.gone, 400)
    assert it.cloud.vms == {}


async def test_a_vm_in_each_of_two_clusters_is_destroyed(it):
    """No rule allows two; a restored backup may have brought them about, and both are billed."""
    await restored(it, cluster="Nyc1", deleting=False)
    name = next(iter(it.cloud.vms))
    it.cloud.vms[f"{name}/2"] = (0.0, it.cloud.vms[name][1] | {"cluster": "Hou1"})
    it.delete()
    await it.until(lambda: it.gone, 900)
    assert it.cloud.vms == {}


async def test_another_object_that_asks_to_adopt_it_does_not_keep_it(it):
    """The name says whose it is: the other object is in Conflict, and must not make it nobody's."""
    await restored(it, deleting=False)
    name = next(iter(it.cloud.vms))
    it._show("ADDED", a_resource("GpuVM", uid="u-other", name="other", spec={"vmName": name, "adoption": "Required"}))
    await asyncio.sleep(5)
    it.delete()
    await it.until(lambda: it.gone, 600)
    assert it.cloud.vms == {}


@pytest.mark.parametrize(
    ("status", "late", "restarted_after"),
    [
        pytest.param(NOT_ORDERED, 10.0, None, id="nothing was ordered, it says"),
        pytest.param(NOT_ORDERED, 25.0, None, id="and the cloud lists late"),
        pytest.param({}, 25.0, None, id="the status is lost"),
        pytest.param({}, 290.0, None, id="seed 92262673: what was accepted shows after nearly ten graces"),
        pytest.param({}, 290.0, 200.0, id="the process that began to look for it ends"),
    ],
)
async def test_what_was_ordered_a_moment_before_the_process_began_is_waited_for(it, status, late, restarted_after):
    """The order of another process shows a while after its answer. A lost record may have told of an accepted one."""
    it.cloud.lag = late
    await it.apply()
    await it.until(lambda: it.cloud.vms)
    body = it.kube.bodies["u-train"]
    body["status"], body["spec"]["cluster"] = status, "Hou1"
    body["metadata"] |= GOING | {"generation": 3}  # created, edited, deleted
    await it.start()
    if restarted_after is not None:
        await asyncio.sleep(restarted_after)
        await it.start()
    await it.until(lambda: it.gone, 900)
    assert it.cloud.vms == {}


class SnapshotCloud(FakeCloud):
    """Two clusters, of which one has a snapshot."""

    def __init__(self, name):
        super().__init__()
        self.world(KEY, GetAll=["Msc1", "Hou1"], GetVpcs=[VPC])
        self.snapshots = {"Msc1": [{"id": name, "namespace": "acme", "tenancyName": "acme", "readyToUse": True}], "Hou1": []}

    async def handle_async_request(self, request):
        operation, cluster = request.url.path.rsplit("/", 1)[1], request.url.params.get("Cluster")
        answer = await super().handle_async_request(request)
        if operation == "GetSnapshots" and cluster is not None:
            return httpx.Response(200, content=json.dumps({"items": self.snapshots[cluster]}).encode())
        if operation == "DeleteSnapshot":
            here, there = self.snapshots[cluster], request.url.params["Id"]
            self.snapshots[cluster] = [one for one in here if one["id"] != there]
        return answer


@pytest.fixture
async def of_snapshot(monkeypatch):
    cloud = SnapshotCloud(external_name("train", "u-train", TAG))
    monkeypatch.setattr(connection_module, "real_transport", lambda _options: cloud)
    made = History(cloud, "GpuSnapshot")
    yield made
    await made.engine.stop(1.0)


@pytest.mark.parametrize("status", [{}, NOT_ORDERED])
async def test_a_snapshot_in_another_cluster_is_deleted_with_its_object(of_snapshot, status):
    it, vm = of_snapshot, {"cluster": "Hou1", "vpc": "acme", "name": "web"}
    spec = {"vmRef": None, "vm": vm}
    it.bodies = {"u-train": a_resource("GpuSnapshot", uid="u-train", meta=GOING, spec=spec, status=status)}
    await it.start()
    await it.until(lambda: it.gone, 300)
    assert (it.cloud.snapshots, it.engine.parts.shared.accounts.own.session.snapshots.clusters) == (
        {"Msc1": [], "Hou1": []},
        set(),
    )
