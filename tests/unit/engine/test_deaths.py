"""Each background task of the engine is killed by an unexpected exception: it recovers, or the process is told to end.

Every exception comes out of what the task works with: the apiserver, the cloud, a callback. Time is the loop's.
"""

import asyncio
from functools import partial

import pytest

from gpucloud.cloud.models import Listing
from gpucloud.engine.cloud.operator_account import INTERVAL_SECONDS as CREDENTIALS_SECONDS
from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.manager.manager import Engine
from gpucloud.engine.runtime import loop_lag
from gpucloud.engine.runtime.supervisor import TASKS
from gpucloud.reconcile.naming import external_name
from gpucloud.reconcile.waiting_line import Line, Offer, Waiter
from gpucloud.settings import Credentials, Settings
from support.builders import START, TAG, an_object
from support.fakes import FakeKube, LoopClock, a_resource, a_secret, at
from support.leases import MemoryLeases

pytestmark = pytest.mark.looptime
KEY, OWN = "made-up-key", "own-made-up-key"
OURS = external_name("train", "u-train", TAG)
VPC = {"id": "7", "name": "acme", "cluster": "Msc1", "tenancyName": "acme"}
VM = {"id": OURS, "namespace": "acme", "cluster": "Msc1", "tenancy_name": "acme", "status": "ONLINE"}
PLURALS = {"GpuVM": "gpuvms", "GpuCloudAccount": "gpucloudaccounts"}


class PoisonError(KubeError):
    """Fails whoever handles it, too."""

    def __init__(self):
        super().__init__(500, "Poison", "a defect")

    @property
    def conflict(self):
        raise RuntimeError("a defect")


class Failing:
    """Raises as often as it is told, and then does what it stands for."""

    def __init__(self, real, error=None, times=1):
        self.real, self.error, self.times = real, error or RuntimeError("a defect"), times

    def __call__(self, *args, **more):
        if self.times:
            self.times -= 1
            raise self.error
        return self.real(*args, **more)


class Unlisted:
    """A client of a cloud that lists no offers, after a defect."""

    def __init__(self):
        self.asked = []
        self.get_availability = Failing(self._answer)

    async def _answer(self, *, cluster):
        self.asked.append(cluster)
        return Listing(())


class Rig:
    def __init__(self, cloud, **chosen):
        self.cloud, self.kube = cloud, FakeKube()
        given = {"endpoint": ("prod=https://prod.example",), "install_tag": TAG, "workers": 2, "brake_vms": 1}
        settings = Settings(**given | {"credentials": Credentials(api_key=OWN), "orphan_scan_seconds": 60.0} | chosen)
        self.engine = Engine(settings, lambda: None, LoopClock(), at(self.kube))
        self.kube.known = {plural: set() for plural in PLURALS.values()}

    def show(self, kind="GpuVM", name="train", **more):
        self.kube.version += 1
        uid = f"u-{name}"
        body = self.kube.bodies[uid] = a_resource(kind, name, uid=uid, version=self.kube.version, **more)
        self.kube.known[PLURALS[kind]].add(uid)
        self.engine.on_event(kind, "ADDED", body)

    def ready(self, name="train"):
        conditions = self.kube.bodies[f"u-{name}"].get("status", {}).get("conditions", ())
        return next(((it["status"], it["reason"]) for it in conditions if it["type"] == "Ready"), None)

    def deaths(self, task):
        return self.engine.metrics.registry.get_sample_value("gpucloud_task_failures_total", {"task": task})

    @property
    def session(self):
        return self.engine.parts.shared.accounts.own.session


@pytest.fixture
async def rig(cloud):
    made = []
    cloud.world(OWN, GetVpcs=[VPC])
    cloud.world(KEY, GetVpcs=[VPC])

    def make(**chosen):
        made.append(Rig(cloud, **chosen))
        return made[-1]

    yield make
    for item in made:
        await item.engine.stop(0.0)


async def kill_poll(it):
    it.show()
    await asyncio.sleep(5)
    it.session.vms._expected = Failing(it.session.vms._expected)
    await asyncio.sleep(5)
    it.cloud.world(OWN, GetVpcs=[VPC], GetServers=[VM])
    await asyncio.sleep(70)
    assert it.ready() == ("True", "Running")


async def kill_worker(it):
    it.kube.namespaces["team"] = PoisonError()
    it.show()
    await asyncio.sleep(5)
    assert it.ready() is None
    it.kube.namespaces.clear()
    await asyncio.sleep(70)
    assert it.ready() == ("False", "Creating")


async def kill_sync(it):
    it.kube.uids = Failing(it.kube.uids)
    await asyncio.sleep(5)
    assert it.engine.synced


async def kill_resync(it):
    it.show()
    it.kube.list_versions = Failing(it.kube.list_versions)
    await asyncio.sleep(400)
    it.kube.known["gpuvms"].clear()  # it goes, and the watch does not tell
    await asyncio.sleep(400)
    assert len(it.engine.parts.kinds.reconcilers["GpuVM"].store) == 0


async def kill_events(it):
    it.kube.record_event = Failing(it.kube.record_event)
    it.show()
    await asyncio.sleep(5)
    it.cloud.world(OWN, GetVpcs=[VPC], GetServers=[VM])
    await asyncio.sleep(10)
    assert [event["reason"] for event in it.kube.events][-1] == "Running"


async def kill_orphans(it):
    await asyncio.sleep(30)
    it.kube.uids = Failing(it.kube.uids)
    it.cloud.world(OWN, GetVpcs=[VPC], GetServers=[VM])
    await asyncio.sleep(300)
    assert [count for _, count, _ in it.engine.parts.orphans.counts() if count] == [1]


async def kill_own_account(it, key_file):
    key_file.write_text("new-made-up-key\n")
    before = it.session
    it.engine.parts.sessions.open = Failing(it.engine.parts.sessions.open)
    await asyncio.sleep(2 * CREDENTIALS_SECONDS + 5)
    assert it.session is not before


async def kill_deletion_guard(it):
    guard = it.engine.parts.kinds.owned["GpuVM"]._deletion_guard
    it.kube.namespaces["team"] = RuntimeError("a defect")
    guard.put(an_object(deleting=True, deleted_at=START), None, held=True)
    await asyncio.sleep(10)
    it.kube.namespaces.clear()
    reads = len(it.kube.reads)
    await asyncio.sleep(20)
    assert it.kube.reads[reads:].count(("namespaces", "team")) >= 2


async def kill_account_check(it):
    it.cloud.refuse("GetAll", RuntimeError("a defect"))
    it.kube.secrets["team", "key"] = a_secret(apikey=KEY)
    it.show("GpuCloudAccount", "prod")
    await asyncio.sleep(5)
    it.cloud.heal()
    await asyncio.sleep(20)
    assert it.engine.parts.shared.accounts.get("team", "prod").session.learned.clusters == ("Msc1",)


async def kill_evidence(it):
    it.cloud.world(OWN)  # nothing tells whose the credential is
    it.session.learn_tenant()
    it.cloud.refuse("GetVpcs", RuntimeError("a defect"))
    await asyncio.sleep(5)
    it.cloud.heal()
    it.cloud.world(OWN, GetVpcs=[VPC])
    await asyncio.sleep(20)
    assert it.session.learned.tenants == {"acme"}


async def kill_catalogue(it):
    it.cloud.refuse("GetConfigurations", RuntimeError("a defect"))
    it.session.catalogue.refresh()
    await asyncio.sleep(5)
    it.cloud.heal()
    await asyncio.sleep(60)
    it.session.catalogue.refresh()
    await asyncio.sleep(5)
    assert len(it.cloud.asked("GetConfigurations")) >= 2


async def kill_close_session(it):
    session = it.session
    session.catalogue.aclose = Failing(session.catalogue.aclose)
    it.engine.parts.sessions.leave(session, "")
    it.engine.parts.sessions.leave(session, "(operator)")
    await asyncio.sleep(200)
    assert session not in it.engine.parts.sessions._users


async def kill_loop_lag(it):
    it.engine.tasks.spawn("loop-lag", partial(loop_lag.measure, Failing(it.engine.metrics.loop_lag.observe)))
    await asyncio.sleep(5)
    assert it.engine.metrics.registry.get_sample_value("gpucloud_event_loop_lag_seconds_count") > 5


async def kill_capacity(it):
    await asyncio.sleep(5)
    place = Waiter("u-train", START, (Offer("A100_40GB_PCIe_1x", "reserved-acme"),))
    it.session.capacity._client = Unlisted()
    it.session.capacity.join("Msc1", place)
    await asyncio.sleep(45)
    assert it.session.capacity.line("Msc1", place) == Line(), "a query has ended"
    assert len(it.session.capacity._client.asked) > 1


async def kill_offers(it):
    await asyncio.sleep(5)
    publisher, published = it.engine.parts.offers, []

    async def publish():
        published.append(it.engine.synced)

    publisher.publish_due = Failing(publish)
    await asyncio.sleep(60)
    assert len(published) > 1


RECOVER = {
    name.removeprefix("kill_").replace("_", "-"): kill for name, kill in list(globals().items()) if name.startswith("kill_")
}


@pytest.mark.parametrize("task", sorted(RECOVER))
async def test_a_task_that_dies_recovers_and_is_counted(rig, logs, task, tmp_path, monkeypatch):
    key_file = tmp_path / "key"
    key_file.write_text(f"{OWN}\n")
    monkeypatch.setenv("GPUCLOUD_API_KEY_FILE", str(key_file))
    it = rig()
    await it.engine.start()
    await (RECOVER[task](it, key_file) if task == "own-account" else RECOVER[task](it))
    assert it.deaths(task) >= 1
    assert {line["task"] for line in logs if line["event"].startswith("a background task")} == {task}
    assert not it.engine.ending.is_set()


def test_the_death_of_every_task_is_tested():
    assert set(TASKS) == {*RECOVER, "election"}


async def test_an_election_that_dies_ends_the_process_at_once(rig, logs):
    it = rig(leader_elect=True, lease_namespace="team")
    it.engine.election._leases = leases = MemoryLeases()
    await it.engine.start()
    await asyncio.sleep(5)
    assert it.engine.leading
    it.engine.election._on_loss = Failing(it.engine.election._on_loss)
    leases.refuses, leases.take = RuntimeError("a defect"), None
    await asyncio.wait_for(it.engine.ending.wait(), 20)
    assert (it.engine.restart_required, it.engine.leading, it.deaths("election")) == (True, False, 1)
    assert [line["task"] for line in logs if line["log_level"] == "critical"] == ["election"]
    began = asyncio.get_running_loop().time()
    await it.engine.stop(35.0)
    assert asyncio.get_running_loop().time() - began < 5


async def test_while_its_poller_is_down_nothing_is_called_ready(rig):
    it = rig(blind_after_seconds=30.0)
    await it.engine.start()
    it.show()
    await asyncio.sleep(5)
    it.cloud.world(OWN, GetVpcs=[VPC], GetServers=[VM])
    await asyncio.sleep(5)
    assert it.ready() == ("True", "Running")
    expected, it.session.vms._expected = it.session.vms._expected, Failing(None, times=10**9)
    await asyncio.sleep(200)
    assert it.ready() == ("Unknown", "ApiUnavailable")
    it.session.vms._expected = expected
    await asyncio.sleep(61)
    assert it.ready() == ("True", "Running")
