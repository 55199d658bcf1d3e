"""Alive means that work moves; ready means that every object is known."""

import aiohttp
import pytest

from gpucloud.engine.cache.staleness import WatchStaleness
from gpucloud.engine.manager.health import Endpoints
from gpucloud.engine.telemetry import collectors
from gpucloud.engine.telemetry.metrics import Metrics
from gpucloud.settings import Settings
from support.fakes import HandClock

ENDPOINT = ("default=https://cloud.example",)


class Queue:
    waited, worked = 0.0, 0.0

    def oldest(self):
        return self.waited, self.worked


class Engine:
    def __init__(self):
        self.queue, self.metrics, self.synced, self.clock = Queue(), Metrics(), False, HandClock()
        self.staleness = WatchStaleness(["GpuVM"], self.clock.mono)


@pytest.fixture
async def rig():
    engine = Engine()
    endpoints = Endpoints(engine)
    metrics, health = await endpoints.start(Settings(endpoint=ENDPOINT, metrics_port=0, health_port=0))
    async with aiohttp.ClientSession() as session:

        async def get(path):
            port = metrics if path == "/metrics" else health
            async with session.get(f"http://127.0.0.1:{port}{path}") as answer:
                return answer.status, await answer.text()

        yield engine, get
    await endpoints.stop()


@pytest.mark.parametrize(
    ("waited", "worked", "status"),
    [
        (0, 0, 200),
        (300, 180, 200),
        (301, 0, 500),  # no worker came: all hang
        (0, 181, 500),  # longer than all deadlines of one pass together
    ],
)
async def test_alive_while_work_moves(rig, waited, worked, status):
    engine, get = rig
    engine.queue.waited, engine.queue.worked = waited, worked
    assert (await get("/healthz"))[0] == status


@pytest.mark.parametrize(
    ("seconds", "known", "status", "why"),
    [
        (300, 5, 500, "two lists in a row showed what the watch has not brought"),
        (60, 5, 200, "after a new list the next resync comes soon: it may still be on its way"),
        (300, 9, 200, "it came"),
    ],
)
async def test_alive_while_the_watch_brings_what_there_is(rig, seconds, known, status, why):
    engine, get = rig
    engine.staleness.compare("GpuVM", {"u": 9}, {"u": 5})
    engine.clock.now += seconds
    assert (await get("/healthz"))[0] == 200, "no list has shown it again"
    engine.staleness.compare("GpuVM", {"u": 9}, {"u": known})
    told = await get("/healthz")
    assert told[0] == status, why
    assert ("the watch of GpuVM" in told[1]) is (status == 500)


async def test_alive_says_nothing_of_outages(rig):
    """Neither the cloud nor the apiserver is asked, so that their outage restarts nobody."""
    assert (await rig[1]("/healthz"))[0] == 200


async def test_ready_once_everything_is_known(rig):
    engine, get = rig
    assert (await get("/readyz"))[0] == 503
    engine.synced = True
    assert (await get("/readyz"))[0] == 200


async def test_metrics_are_served(rig):
    engine, get = rig
    engine.metrics.queue.added(3)
    engine.metrics.listings("team/default", "vms").listed("Msc1", plausible=False)
    engine.metrics.export(collectors.Objects(lambda: [("team", "GpuVM", "True", "Running")] * 2))
    status, text = await get("/metrics")
    assert status == 200
    assert 'workqueue_depth{name="gpucloud"} 3.0' in text
    counted = 'gpucloud_cloud_listings_total{account="team/default",cluster="Msc1",kind="vms",outcome="implausible"} 1.0'
    assert counted in text
    assert 'gpucloud_objects{kind="GpuVM",namespace="team",ready="True",reason="Running"} 2.0' in text


async def test_both_ports_are_told_where_both_are_taken():
    first, second = Endpoints(Engine()), Endpoints(Engine())
    metrics, health = await first.start(Settings(endpoint=ENDPOINT, metrics_port=0, health_port=0))
    try:
        with pytest.raises(OSError, match=rf"port {metrics} of .* --metrics-port .*; port {health} of .* --health-port"):
            await second.start(Settings(endpoint=ENDPOINT, metrics_port=metrics, health_port=health))
    finally:
        await first.stop()
        await second.stop()
