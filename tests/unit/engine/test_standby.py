"""An engine that stands by knows all and touches nothing; when its turn comes it acts at once, and when it loses, no more."""

import asyncio

import pytest

from gpucloud.engine.manager.manager import Engine
from gpucloud.settings import Credentials, Settings
from support.builders import TAG
from support.fakes import GOING, FakeKube, LoopClock, a_resource, a_secret, at
from support.leases import MemoryLeases

pytestmark = pytest.mark.looptime
OWN, KEY = "own-made-up-key", "made-up-key"
PLURALS = {"GpuVM": "gpuvms", "GpuVpc": "gpuvpcs", "GpuSnapshot": "gpusnapshots", "GpuCloudAccount": "gpucloudaccounts"}


class Replica:
    """One of two operators: an engine between a fake apiserver and a fake cloud; the other is somebody who holds the Lease."""

    def __init__(self, cloud, **chosen):
        self.cloud, self.kube, self.leases = cloud, FakeKube(), MemoryLeases()
        given = {"endpoint": ("prod=https://prod.example",), "install_tag": TAG, "workers": 4, "leader_elect": True}
        settings = Settings(**given | {"credentials": Credentials(api_key=OWN), "lease_namespace": "team"} | chosen)
        self.engine = Engine(settings, lambda: None, LoopClock(), at(self.kube))
        if settings.leader_elect:
            self.engine.election._leases = self.leases
        self.kube.known = {plural: set() for plural in PLURALS.values()}
        self._other = None

    async def another_leads(self):
        """Somebody holds the Lease, and renews it until ``another_dies``."""
        await self.leases.create_lease({"metadata": {"name": "it"}, "spec": {"holderIdentity": "another"}})

        async def renew():
            for number in range(10_000):
                self.leases.take("another")
                self.leases.body["spec"].update(renewTime=str(number), leaseDurationSeconds=15)
                await asyncio.sleep(2.0)

        self._other = asyncio.create_task(renew())

    def another_dies(self):
        self._other.cancel()

    def show(self, kind, name="train", event="ADDED", **more):
        """One event of the watch."""
        self.kube.version += 1
        uid = f"u-{name}"
        body = self.kube.bodies[uid] = a_resource(kind, name, uid=uid, version=self.kube.version, **more)
        (self.kube.known[PLURALS[kind]].discard if event == "DELETED" else self.kube.known[PLURALS[kind]].add)(uid)
        self.engine.on_event(kind, event, body)

    @property
    def written(self):
        """All that the apiserver was asked to change."""
        return self.kube.statuses + self.kube.released + self.kube.events + self.kube.held

    async def ordering(self):
        """Wait until an order is on its way."""
        while not self.cloud.asked("CreateServer"):  # noqa: ASYNC110 - the fake tells nobody
            await asyncio.sleep(0.1)

    def known(self, kind):
        return {stored.meta.name for stored in self.engine.parts.kinds.reconcilers[kind].store}


@pytest.fixture
async def replica(cloud):
    made = []
    cloud.world(OWN, GetVpcs=[{"id": "7", "name": "acme", "cluster": "Msc1", "tenancyName": "acme"}])
    cloud.world(KEY)

    async def make(*, stands_by=True, **chosen):
        made.append(Replica(cloud, **chosen))
        if stands_by:
            await made[-1].another_leads()
        await made[-1].engine.start()
        return made[-1]

    yield make
    for one in made:
        await one.engine.stop(1.0)
        if one._other is not None:
            one._other.cancel()


async def test_standing_by_it_knows_all_and_touches_nothing(replica):
    it = await replica(brake_vms=1)
    it.kube.secrets["team", "key"] = a_secret(apikey=KEY)
    for kind, name in (("GpuCloudAccount", "default"), ("GpuVM", "train"), ("GpuVpc", "net"), ("GpuSnapshot", "copy")):
        it.show(kind, name)
    for name in ("one", "two", "three"):
        it.show("GpuVM", name, meta=GOING)
    it.show("GpuVM", "shown", status={"state": "ONLINE"})
    it.show("GpuVM", "three", "DELETED")
    it.engine.on_event("GpuVM", "MODIFIED", it.kube.bodies["u-three"])  # overtaken by its last event
    assert it.known("GpuVM") == {"train", "shown", "one", "two"}, "gone is gone, whatever comes after it"
    await asyncio.sleep(1000)
    assert it.engine.synced, "a standby is ready"
    assert it.known("GpuVM") == {"train", "shown", "one", "two"}
    assert (it.cloud.calls, it.written, len(it.engine.queue)) == ([], [], 0)
    assert it.engine.queue.oldest() == (0, 0), "and healthy, however long it waits"
    value = it.engine.metrics.registry.get_sample_value
    assert value("leader_election_master_status", {"name": "gpucloud-operator"}) == 0
    pending = {"namespace": "team", "kind": "GpuVM", "ready": "Unknown", "reason": "Pending"}
    assert value("gpucloud_objects", pending) is None, "counted by one"
    assert value("gpucloud_vms", {"namespace": "team", "state": "ONLINE"}) is None
    going = {"type": "Ready", "reason": "Pending"}
    assert value("operator_gpuvm_termination_current_time_seconds", going) is None, "one and two wait for the leader"
    assert it.engine.console_deps() is None, "the console knows no more than what the leader has proven"


async def test_its_turn_comes_and_it_acts_on_what_it_has_seen(replica):
    it = await replica()
    it.show("GpuVM")
    await asyncio.sleep(50)
    it.another_dies()
    died = asyncio.get_running_loop().time()
    await it.ordering()
    assert asyncio.get_running_loop().time() - died <= 20
    await asyncio.sleep(30)
    assert len(it.cloud.asked("CreateServer")) == 1
    assert it.engine.standby_over.is_set()
    assert it.engine.metrics.registry.get_sample_value("leader_election_master_status", {"name": "gpucloud-operator"}) == 1


async def test_an_object_s_own_account_is_used_from_the_start(replica):
    """Its account is known as long as it is: not one listing goes through the operator's own."""
    it = await replica()
    it.kube.secrets["team", "key"] = a_secret(apikey=KEY)
    it.show("GpuVM", status={"order": {"state": "NotOrdered"}})  # with a lost status it would be looked for in both
    it.show("GpuCloudAccount", "default")
    await asyncio.sleep(10)
    it.another_dies()
    await asyncio.sleep(40)
    assert it.cloud.asked("GetServers", KEY)
    assert it.cloud.asked("GetServers", OWN) == []


async def test_what_vanished_unseen_while_it_stood_by_is_forgotten(replica):
    it = await replica()
    it.show("GpuVM", "first")
    it.show("GpuVM", "second")
    await asyncio.sleep(5)
    it.kube.known["gpuvms"].remove("u-first")
    it.engine.on_event("GpuVM", None, it.kube.bodies["u-second"])
    await asyncio.sleep(5)
    assert it.known("GpuVM") == {"second"}
    assert (it.cloud.calls, it.written, len(it.engine.queue)) == ([], [], 0)


async def test_it_loses_the_lease_and_does_nothing_more(replica):
    it = await replica(stands_by=False)
    it.show("GpuVM")
    await asyncio.sleep(20)
    assert len(it.cloud.asked("CreateServer")) == 1
    it.leases.take("another")
    await asyncio.sleep(3)
    assert it.engine.ending.is_set()
    assert it.engine.restart_required, "the process ends with an error, and is started anew"
    written, orders = list(it.written), len(it.cloud.asked("CreateServer"))
    it.show("GpuVM", "late")
    it.show("GpuVM", "train", "MODIFIED", meta=GOING)
    await asyncio.sleep(60)
    assert (it.written, len(it.cloud.asked("CreateServer")), it.cloud.asked("DestroyServer")) == (written, orders, [])


async def test_what_is_under_way_at_the_loss_is_cut_off(replica):
    """Its answer could not be saved; who leads then finds out what became of it."""
    it = await replica(stands_by=False)
    it.cloud.takes["CreateServer"] = 25.0
    it.show("GpuVM")
    await it.ordering()
    it.leases.take("another")
    await asyncio.sleep(3)
    assert all(task.done() for task in it.engine._workers), "at once, and not when the process gets round to its end"
    began = asyncio.get_running_loop().time()
    await it.engine.stop(35.0)
    assert asyncio.get_running_loop().time() - began < 1.0, "no drain"
    assert it.leases.holder == "another", "what is another's is not released"


async def test_a_clean_end_saves_what_was_sent_and_then_lets_the_lease_go(replica):
    it = await replica(stands_by=False)
    it.cloud.takes["CreateServer"] = 14.0
    it.show("GpuVM")
    await it.ordering()
    sent = asyncio.get_running_loop().time()
    it.engine.end()
    await it.engine.stop(35.0)
    (released, holder), renewed = it.leases.writes[-1], [at for at, name in it.leases.writes if name]
    assert holder == ""
    assert released >= sent + 13.9
    assert max(renewed) > sent + 11, "held until the last call is answered"
    assert any(event["reason"] == "Created" for event in it.kube.events)


async def test_ended_while_standing_by_it_leaves_the_lease_alone(replica):
    it = await replica()
    await asyncio.sleep(5)
    it.engine.end()
    await it.engine.stop(35.0)
    assert {name for _, name in it.leases.writes} == {"another"}


async def test_a_turn_that_comes_too_late_is_not_taken(replica):
    it = await replica()
    it.show("GpuVM")
    it.engine.end()
    it.another_dies()
    await asyncio.sleep(30)
    assert (it.engine.leading, it.cloud.calls) == (False, [])


async def test_without_an_election_it_leads_at_once(replica):
    it = await replica(stands_by=False, leader_elect=False)
    it.show("GpuVM")
    assert it.engine.leading
    assert it.engine.is_leader()
    await asyncio.sleep(10)
    assert len(it.cloud.asked("CreateServer")) == 1
    assert it.leases.writes == []
