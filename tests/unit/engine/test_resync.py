"""Who is called, who is forgotten, and when nobody is."""

import asyncio

import pytest

from gpucloud.engine.cache.staleness import WatchStaleness
from gpucloud.engine.cache.store import Store
from gpucloud.engine.cache.tombstones import REMEMBERED_SECONDS, Tombstones
from gpucloud.engine.kube.client import ListedVersions
from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.manager.health import LONGEST_STALENESS_SECONDS
from gpucloud.engine.manager.resync import FIRST_LIST_SECONDS, INTERVAL_SECONDS, RETRY_SECONDS, Resync
from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus
from support.fakes import HandClock, a_resource


class OneLoop:
    plural = "gpuvms"

    def __init__(self, *names):
        self.store, self.forgotten = Store(GpuVMSpec, GpuVMStatus, ()), []
        for name in names:
            self.store.put(a_resource("GpuVM", name, uid=f"u-{name}"))

    def on_delete(self, key):
        self.forgotten.append(key.name)
        self.store.drop(key.uid)


class Apiserver:
    """``during`` happens while it lists."""

    def __init__(self, *uids, error=None, during=None):
        self.there, self.error, self.during, self.asked, self.version = set(uids), error, during, 0, 0

    async def list_versions(self, plural, namespaces):
        assert (plural, namespaces) == ("gpuvms", ("team",))
        self.asked += 1
        if self.during is not None:
            self.during()
        if self.error is not None:
            raise self.error
        return ListedVersions(dict.fromkeys(self.there, self.version))


def a_resync(server, vms, broken=pytest.fail, staleness=None, tombstones=None):
    staleness, tombstones = staleness or WatchStaleness(["GpuVM"], HandClock().mono), tombstones or Tombstones(HandClock())
    return Resync(server, {"GpuVM": vms}, ("team",), staleness, broken, tombstones)


@pytest.mark.looptime
@pytest.mark.parametrize(
    ("there", "forgotten", "why"),
    [
        (("u-a", "u-b"), [], "all are there"),
        (("u-a",), ["b"], "it went unseen"),
        (("u-a", "u-b", "u-new"), [], "what the watch has not shown yet is not ours to add"),
    ],
)
async def test_who_is_not_in_the_list_is_forgotten(there, forgotten, why):
    vms = OneLoop("a", "b")
    await a_resync(Apiserver(*there), vms).resync()
    assert vms.forgotten == forgotten, why


async def test_one_that_comes_while_the_list_is_read_is_kept():
    """The list is older than it."""
    vms = OneLoop("a")
    server = Apiserver("u-a", during=lambda: vms.store.put(a_resource("GpuVM", "new", uid="u-new")))
    await a_resync(server, vms).resync()
    assert vms.forgotten == []


async def test_no_answer_forgets_nobody():
    vms = OneLoop("a")
    with pytest.raises(KubeError):
        await a_resync(Apiserver(error=KubeError(404, "NotFound", "")), vms).resync()
    assert vms.forgotten == []


@pytest.mark.parametrize(
    ("version", "ends", "why"),
    [
        (6, True, "older than what was seen: etcd was restored"),
        (7, False, "nothing has been written since"),
        (8, False, ""),
        (0, False, "it does not say"),
    ],
)
async def test_an_apiserver_that_went_back_in_time_ends_the_process(version, ends, why):
    vms, server, ended = OneLoop(), Apiserver("u-a"), []
    vms.store.put(a_resource("GpuVM", "a", uid="u-a", version=7))
    server.version = version
    await a_resync(server, vms, lambda: ended.append(True)).resync()
    assert bool(ended) is ends, why
    assert vms.forgotten == [], "it is there"


@pytest.mark.looptime
@pytest.mark.parametrize(
    ("when", "ends", "why"),
    [
        ("before", True, "no list that began later shows it, unless etcd was restored: no event would ever tell of it"),
        ("during", False, "the list may be older than its end"),
        ("never", False, "it is new"),
    ],
)
async def test_what_is_there_again_after_its_end_ends_the_process(when, ends, why):
    ended, tombstones = [], Tombstones(HandClock())
    server = Apiserver("u-a", during=lambda: tombstones.add("u-a") if when == "during" else None)
    if when == "before":
        tombstones.add("u-a")
    await a_resync(server, OneLoop(), lambda: ended.append(True), tombstones=tombstones).resync()
    assert bool(ended) is ends, why


async def test_an_end_is_remembered_for_longer_than_until_the_next_resync():
    assert REMEMBERED_SECONDS > 2 * INTERVAL_SECONDS


@pytest.mark.looptime
async def test_where_nothing_is_known_the_list_shows_what_the_watch_never_brought():
    vms, server, clock = OneLoop(), Apiserver("u-a"), HandClock()
    staleness = WatchStaleness(["GpuVM"], clock.mono)
    resync = a_resync(server, vms, staleness=staleness)
    await resync.resync()
    assert staleness.stuck() == ("GpuVM", 0.0), "it may be on its way"
    clock.now += INTERVAL_SECONDS
    await resync.resync()
    assert staleness.stuck() == ("GpuVM", INTERVAL_SECONDS)
    assert staleness.stuck()[1] > LONGEST_STALENESS_SECONDS, "two resyncs are enough for the probe"
    assert staleness.ages() == {("GpuVM",): INTERVAL_SECONDS}
    vms.store.put(a_resource("GpuVM", "a", uid="u-a"))
    await resync.resync()
    assert (staleness.stuck(), staleness.ages()) == (("", 0.0), {("GpuVM",): 0.0})


@pytest.mark.looptime
async def test_what_arrives_within_a_second_of_the_list_is_in_time():
    """A list is newer than events that are on their way."""
    vms, clock = OneLoop(), HandClock()
    staleness = WatchStaleness(["GpuVM"], clock.mono)
    server = Apiserver("u-a", during=lambda: asyncio.get_running_loop().call_later(0.5, come))

    def come():
        vms.store.put(a_resource("GpuVM", "a", uid="u-a"))

    clock.now += 50
    await a_resync(server, vms, staleness=staleness).resync()
    assert staleness.ages() == {("GpuVM",): 0.0}


@pytest.mark.looptime
async def test_a_change_that_concerns_nobody_is_brought_like_any_other():
    """Nothing is decided by it, so nobody is woken; were its version not known either, the probe would end the process."""
    vms, server, clock = OneLoop(), Apiserver("u-a"), HandClock()
    staleness = WatchStaleness(["GpuVM"], clock.mono)
    vms.store.put(a_resource("GpuVM", "a", uid="u-a", version=1))
    assert not vms.store.put(a_resource("GpuVM", "a", uid="u-a", version=7, meta={"annotations": {"somebody": "else's"}}))
    server.version = 7
    await a_resync(server, vms, staleness=staleness).resync()
    assert (staleness.stuck(), staleness.ages()) == (("", 0.0), {("GpuVM",): 0.0})


@pytest.mark.looptime
async def test_the_roll_is_called_after_a_new_list_and_now_and_then():
    vms, server = OneLoop("a"), Apiserver("u-a", error=KubeError(503, "", ""))
    resync = a_resync(server, vms)
    task = asyncio.create_task(resync.run())
    await asyncio.sleep(5)
    assert server.asked == 0, "an idle operator reads nothing"
    for _ in range(100):
        resync.relisted()
    await asyncio.sleep(5)
    assert server.asked == 1, "one list is shown object by object"
    server.error = None
    server.there.clear()
    await asyncio.sleep(INTERVAL_SECONDS + 2)
    assert vms.forgotten == ["a"]
    task.cancel()


@pytest.mark.looptime
async def test_a_resync_that_failed_is_repeated_soon():
    """Simulated world, seed 402244: a name stayed claimed for five minutes by an object that was gone."""
    vms, server = OneLoop("a"), Apiserver(error=KubeError(503, "ServiceUnavailable", ""))
    resync = a_resync(server, vms)
    task = asyncio.create_task(resync.run())
    resync.relisted()
    await asyncio.sleep(3 * (RETRY_SECONDS + 1))
    assert server.asked == 3
    server.error = None
    await asyncio.sleep(RETRY_SECONDS + 1)
    assert vms.forgotten == ["a"]
    asked = server.asked
    await asyncio.sleep(INTERVAL_SECONDS - 2 * RETRY_SECONDS)
    assert server.asked == asked
    task.cancel()


@pytest.mark.looptime
async def test_a_first_list_that_never_comes_does_not_keep_a_restored_etcd_unnoticed():
    """Etcd was restored while the first list was read: the watch never showed one of its objects (seeds 123061, 200556)."""
    vms, server, ended = OneLoop(), Apiserver("u-a"), []
    tombstones = Tombstones(HandClock())
    tombstones.add("u-a")
    resync = a_resync(server, vms, broken=lambda: ended.append(True), tombstones=tombstones)
    never = asyncio.create_task(asyncio.sleep(10**6))
    task = asyncio.create_task(resync.run(never))
    await asyncio.sleep(2 * FIRST_LIST_SECONDS + 5)
    assert ended
    task.cancel()
    never.cancel()
