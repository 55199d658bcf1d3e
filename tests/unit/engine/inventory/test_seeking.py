"""Clusters that are listed for objects elsewhere: those whose status was lost, and whose resource may be anywhere."""

import asyncio

import pytest

from gpucloud.cloud.errors import ErrorKind
from gpucloud.engine.cloud.inventory import LONGEST_BACKOFF_SECONDS
from gpucloud.reconcile.facts import Unknown, UnknownReason
from support.inventoryrig import FAST, SLOW, broken, here, record

pytestmark = pytest.mark.looptime
THERE = frozenset({"Hou1"})
FAILED = broken(ErrorKind.SERVER)


def seek(it, uid, name="x", not_before=None):
    """As a reconcile does: the object needs a listing of another cluster that began when it was first seen, or later."""
    it.inventory.seek(uid, THERE)
    began = asyncio.get_running_loop().time() if not_before is None else not_before
    it.inventory.list_until_known(uid, "Hou1", name, began)
    return it.inventory.locations_since("Hou1", name, began)


async def none_of(it, uid):
    """Whether one more listing proves that there is nothing of the name."""
    asked = seek(it, uid, not_before=0)
    await asyncio.sleep(1)
    return isinstance(asked, Unknown) and seek(it, uid, not_before=0) == ()


async def test_one_listing_serves_all_who_look_and_wakes_each_once(rig):
    it = rig([record("x", cluster="Hou1"), record("x", vpc="lab", cluster="Hou1")])
    everyone = [f"uid-{number}" for number in range(100)]
    assert {seek(it, uid).cause for uid in everyone} == {UnknownReason.NOT_LISTED}
    await asyncio.sleep(1)
    assert (it.count, sorted(it.woken)) == (1, sorted(everyone))
    assert seek(it, "uid-7", not_before=0) == (here(cluster="Hou1"), here(vpc="lab", cluster="Hou1"))


async def test_the_question_where_a_name_is_lists_nothing_and_wakes_nobody(rig):
    it = rig([])
    assert it.inventory.locations_since("Hou1", "x", 0).cause is UnknownReason.NOT_LISTED, "a cluster that nobody lists"
    it.inventory.seek("uid", THERE)
    await asyncio.sleep(1)
    for began in (0, 0.5, 1):
        assert it.inventory.locations_since("Hou1", "x", began).cause is UnknownReason.NOT_LISTED
    await asyncio.sleep(SLOW - 2)
    assert (it.count, it.woken) == (1, [])


async def test_that_a_cluster_has_none_of_the_name_takes_two_listings(rig):
    """Seed 1644: a second VM was bought, as one listing of the cluster with the first was partial."""
    there = [record("x", cluster="Hou1")]
    it = rig(there, [], there, [], [])
    said = []
    for _ in range(4):
        found = seek(it, "uid", not_before=0)
        said.append(found.cause if isinstance(found, Unknown) else found)
        await asyncio.sleep(SLOW + 1)
    assert said == [*3 * [UnknownReason.NOT_LISTED], ()]


async def test_a_listing_that_began_before_the_object_was_seen_proves_nothing(rig):
    it = rig([], [record("x", cluster="Hou1")])
    seek(it, "first")
    await asyncio.sleep(1)
    assert isinstance(seek(it, "second"), Unknown)
    await asyncio.sleep(1)
    assert (it.count, seek(it, "second", not_before=1)) == (2, (here(cluster="Hou1"),))


async def test_a_cluster_that_fails_is_asked_again_for_all_ever_more_rarely(rig):
    it = rig(FAILED)
    for uid in "abc":
        seek(it, uid)
    await asyncio.sleep(1)
    assert sorted(it.woken) == ["a", "b", "c"], "each says why it waits"
    assert {seek(it, uid, not_before=0).cause for uid in "abc"} == {UnknownReason.UNREACHABLE}
    await asyncio.sleep(600)
    assert it.count <= 5 + 600 / LONGEST_BACKOFF_SECONDS
    assert len(it.woken) == 3
    it.fetch.answers = [[]]
    await asyncio.sleep(LONGEST_BACKOFF_SECONDS)
    assert sorted(it.woken[3:]) == ["a", "b", "c"]
    assert await none_of(it, "b")


async def test_a_doubted_listing_proves_nothing_and_its_end_wakes_who_looks(rig):
    full = [record(name, cluster="Hou1") for name in "pqrs"]
    it = rig(full, [], [], full)
    it.inventory._expected = lambda _cluster, _shown: [here(name, cluster="Hou1") for name in "pqrs"]
    seek(it, "uid", not_before=0)
    await asyncio.sleep(1)
    seek(it, "uid")
    await asyncio.sleep(1)
    assert seek(it, "uid", not_before=0).cause is UnknownReason.IMPLAUSIBLE
    it.woken.clear()
    await asyncio.sleep(4 * FAST)
    assert it.woken == ["uid"]
    assert await none_of(it, "uid")


@pytest.mark.parametrize("seekers", ["a", "ab"])
async def test_a_cluster_is_listed_as_long_as_somebody_looks(rig, seekers):
    it = rig([])
    for uid in seekers:
        seek(it, uid)
    it.inventory.seek("a", frozenset())
    await asyncio.sleep(2 * SLOW + 1)
    assert (it.count, it.inventory.clusters) == ((0, set()) if seekers == "a" else (3, THERE))
    it.inventory.seek("b", frozenset())
    assert it.inventory.clusters == set()


async def test_who_looks_no_more_is_not_woken_for_it(rig):
    it = rig([], takes=1.0)
    seek(it, "a")
    seek(it, "b")
    await asyncio.sleep(0.5)
    it.inventory.seek("a", frozenset())
    await asyncio.sleep(3)
    assert it.woken == ["b"]


async def test_the_wait_for_the_own_cluster_outlives_the_search(rig):
    it = rig([])
    it.inventory.watch("a", here(cluster="Hou1"))
    await asyncio.sleep(1)
    it.inventory.seek("a", THERE)
    it.inventory.refresh_after("a", asyncio.get_running_loop().time())
    it.woken.clear()
    it.inventory.seek("a", frozenset())
    await asyncio.sleep(1)
    assert (it.woken, it.inventory.clusters) == (["a"], THERE)
