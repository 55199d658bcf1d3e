"""No object is reconciled, written or listed for hot without a cause outside, whatever the plans ask for."""

import asyncio
from itertools import pairwise

import pytest

from gpucloud.engine.controller.pacing import FIRST_SECONDS, LONGEST_CHAIN, ReconcilePacer
from gpucloud.engine.manager.manager import Engine
from gpucloud.engine.telemetry.reconciles import ReconcileResult
from gpucloud.reconcile.naming import external_name
from gpucloud.settings import Credentials, Settings
from support.builders import TAG
from support.fakes import EveryEntry, FakeKube, HandClock, LoopClock, a_resource, at

KEY, FIVE, HOUR, LONG, LONGEST = "own-made-up-key", 5, 3600, 600, 60.0
VPC = {"id": "7", "name": "acme", "cluster": "Msc1", "tenancyName": "acme"}


def starts(pace, clock, seconds, **did):
    """When reconciles begin that are asked for again at once, each time."""
    found, end = [], clock.now + seconds
    while clock.now < end:
        due = pace.begin("u")
        if due is not None:
            clock.now = due
            continue
        found.append(clock.now)
        pace.ended("u", **did)
        clock.now += 0.001
    return found


@pytest.fixture
def clock():
    return HandClock()


@pytest.fixture
def pace(clock):
    return ReconcilePacer(clock, LONGEST, EveryEntry())


def gaps(found):
    return [round(later - sooner, 1) for sooner, later in pairwise(found)]


def test_what_changes_nothing_is_spaced_ever_wider(pace, clock):
    assert gaps(starts(pace, clock, HOUR, changed=False))[:5] == [0.2, 0.4, 0.8, 1.6, 3.2]
    assert gaps(starts(pace, clock, HOUR, changed=False))[-1] == LONGEST


def test_a_chain_of_changes_goes_at_once_and_an_endless_one_does_not(pace, clock):
    found = gaps(starts(pace, clock, HOUR, changed=True))
    assert found[: LONGEST_CHAIN + 2] == [0] * LONGEST_CHAIN + [FIRST_SECONDS, 2 * FIRST_SECONDS]
    assert found[-1] == LONGEST


def test_endless_announcements_are_spaced_each_with_its_one_send(pace, clock):
    found = gaps(starts(pace, clock, HOUR, changed=True, announced=True))
    assert found[-2:] in ([LONGEST, 0], [0, LONGEST])


def test_an_announcement_that_did_not_come_to_stand_is_no_reason_to_hurry(pace, clock):
    assert gaps(starts(pace, clock, HOUR, changed=False, announced=True))[:3] == [0.2, 0.4, 0.8]


def test_a_change_ends_the_spacing_of_idle_reconciles(pace, clock):
    starts(pace, clock, HOUR, changed=False)
    clock.now += LONGEST
    assert pace.begin("u") is None
    pace.ended("u", changed=True)
    assert pace.begin("u") is None


@pytest.mark.parametrize("during", [False, True])
def test_a_cause_outside_is_served_at_once(pace, clock, during):
    starts(pace, clock, HOUR, changed=False)
    if during:
        clock.now += LONGEST
        assert pace.begin("u") is None
    pace.caused("u")
    if during:
        pace.ended("u", changed=False)
    assert pace.begin("u") is None
    pace.ended("u", changed=False)
    assert pace.begin("u") == pytest.approx(clock.now + FIRST_SECONDS), "and the count begins anew"


def test_two_listings_that_were_waited_for_are_looked_at_at_once_and_no_third_one(pace, clock):
    pace.caused("u")
    for spacing in (FIRST_SECONDS, 2 * FIRST_SECONDS, 4 * FIRST_SECONDS):
        for _ in range(3):
            assert pace.begin("u") is None
            pace.ended("u", changed=False)
            pace.served("u")
        assert pace.begin("u") == pytest.approx(clock.now + spacing)
        clock.now += spacing


def test_an_object_that_has_waited_long_looks_at_its_two_listings_at_once(pace, clock):
    """They waited for up to a minute, too old by then, while the cloud was listed every two seconds."""
    starts(pace, clock, HOUR, changed=False)
    clock.now += LONGEST
    for _ in range(3):
        assert pace.begin("u") is None
        pace.ended("u", changed=False)
        pace.served("u")
    assert pace.begin("u") == pytest.approx(clock.now + LONGEST)


def test_one_object_never_holds_up_another_nor_its_successor(pace, clock):
    starts(pace, clock, HOUR, changed=False)
    assert pace.begin("other") is None
    pace._entries.drop("u")
    assert pace.begin("u") is None


class Rig:
    def __init__(self, cloud, kube):
        self.kube, self.cloud = kube, cloud
        given = {"endpoint": ("prod=https://prod.example",), "install_tag": TAG, "workers": 2, "orphan_scan_seconds": 0}
        self.engine = Engine(Settings(**given, credentials=Credentials(api_key=KEY)), lambda: None, LoopClock(), at(kube))

    def show(self, kind, name, **more):
        self.kube.version += 1
        uid = f"u-{name}"
        body = self.kube.bodies[uid] = a_resource(kind, name, uid=uid, version=self.kube.version, **more)
        self.kube.known.setdefault("gpuvms" if kind == "GpuVM" else "gpusnapshots", set()).add(uid)
        self.engine.on_event(kind, "ADDED", body)

    def passes(self, kind):
        registry = self.engine.metrics.registry
        labels = ({"controller": kind.lower(), "result": result} for result in ReconcileResult)
        return sum(registry.get_sample_value("controller_runtime_reconcile_total", one) for one in labels)

    def ready(self, name):
        conditions = self.kube.bodies[f"u-{name}"].get("status", {}).get("conditions", ())
        return next((it["reason"] for it in conditions if it["type"] == "Ready"), None)


@pytest.fixture
async def rig(cloud):
    made = []
    cloud.world(KEY, GetVpcs=[VPC])

    async def make(kube=None):
        made.append(Rig(cloud, kube or FakeKube()))
        await made[-1].engine.start()
        return made[-1]

    yield make
    for item in made:
        await item.engine.stop(0.0)


def vm(name):
    where = {"namespace": "acme", "cluster": "Msc1", "tenancy_name": "acme"}
    return {"id": external_name(name, f"u-{name}", TAG), "status": "ONLINE"} | where


@pytest.mark.looptime
async def test_snapshots_that_wait_under_an_implausible_listing_cost_next_to_nothing(rig, cloud):
    it = await rig()
    names = [f"vm-{number}" for number in range(FIVE)]
    for name in names:
        it.show("GpuVM", name)
    await asyncio.sleep(5)
    cloud.world(KEY, GetVpcs=[VPC], GetServers=[vm(name) for name in names])
    await asyncio.sleep(10)
    assert {it.ready(name) for name in names} == {"Running"}
    cloud.world(KEY, GetVpcs=[VPC])  # all of them vanish at once, which nobody believes
    await asyncio.sleep(70)
    for name in names:
        it.show("GpuSnapshot", f"copy-of-{name}", spec={"vmRef": {"name": name}})
    await asyncio.sleep(60)
    passes, listings = it.passes("GpuSnapshot"), len(cloud.calls)
    await asyncio.sleep(LONG)
    assert it.passes("GpuSnapshot") - passes <= 2 * FIVE * LONG / LONGEST
    assert len(cloud.calls) - listings <= LONG  # two kinds are pending: each is listed every two seconds
    cloud.world(KEY, GetVpcs=[VPC], GetServers=[vm(name) for name in names])
    await asyncio.sleep(30)
    assert len(cloud.asked("CreateSnapshot")) == FIVE, "what they wait for is a cause: they go on at once"


def restored(status):
    """Of a status the apiserver keeps what it likes: another manager owns a condition."""
    conditions = [it | {"reason": "Restored"} if it["type"] == "Ready" else it for it in status["conditions"]]
    return status | {"conditions": conditions}


@pytest.mark.looptime
async def test_a_status_that_does_not_come_to_stand_is_not_written_hot(rig):
    it = await rig()
    it.kube.keeps = restored
    it.show("GpuVM", "train")
    await asyncio.sleep(120)
    written = len(it.kube.statuses)
    assert it.ready("train") == "Restored"
    await asyncio.sleep(LONG)
    assert 1 <= len(it.kube.statuses) - written <= 2 * LONG / LONGEST
