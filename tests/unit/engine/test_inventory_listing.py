"""A listing for somebody who looks beyond the objects: the standing one where it will do, else one that changes nothing."""

import asyncio

import pytest

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.models import Listing, VmRecord
from gpucloud.engine.cloud.inventory import Inventory
from gpucloud.engine.cloud.listing_spacing import Intervals
from gpucloud.engine.cloud.listings import vm_identity
from gpucloud.reconcile.facts import Present, Unknown, UnknownReason
from gpucloud.reconcile.naming import Identity
from support.fakes import Fetch, LoopClock, NoMeter

pytestmark = pytest.mark.looptime
NAMES = ("a", "b", "c", "d")


def records(*names):
    return [VmRecord(id=name, namespace="acme", cluster="Msc1", status="ONLINE") for name in names]


@pytest.fixture
async def make():
    made = []

    def inventory(*answers, watched=()):
        fetch = Fetch(*answers, takes=0.01)
        one = Inventory(fetch, vm_identity, clock=LoopClock(), intervals=Intervals(2.0, 60.0), meter=NoMeter())
        one._expected = lambda cluster, _shown: {Identity(cluster, "acme", name) for name in watched}
        for name in watched:
            one.watch(name, Identity("Msc1", "acme", name))
        made.append(one)
        return one, fetch

    yield inventory
    for one in made:
        await one.aclose()


async def test_a_cluster_that_nobody_uses_is_asked_each_time(make):
    one, fetch = make(records("a"))
    for _ in range(2):
        listed = await one.listing("Msc1")
        assert [where.name for where in listed.records] == ["a"]
    assert (len(fetch.began), one.clusters) == (2, frozenset())


@pytest.mark.parametrize("watched", [(), ("a",)])
async def test_it_counts_from_the_request_that_was_answered(make, watched):
    one, fetch = make(Listing(tuple(records("a")), delay=0.5), watched=watched)
    await asyncio.sleep(1)
    assert (await one.listing("Msc1")).as_of == fetch.began[0] + 0.5


async def test_the_standing_listing_will_do_unless_a_younger_is_wanted(make):
    one, fetch = make(records("a"), watched=("a",))
    await asyncio.sleep(5)
    assert (await one.listing("Msc1")).as_of == fetch.began[0]
    assert len(fetch.began) == 1
    assert (await one.listing("Msc1", 5.0)).as_of >= 5.0
    assert len(fetch.began) == 2


async def test_what_is_asked_for_changes_nothing_that_is_known(make):
    one, _ = make(records("a"), [], watched=("a",))
    await asyncio.sleep(5)
    assert not (await one.listing("Msc1", 5.0)).records
    assert isinstance(one.observe(Identity("Msc1", "acme", "a")), Present)


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (CloudError(ErrorKind.FORBIDDEN, "no"), UnknownReason.FORBIDDEN),
        (CloudError(ErrorKind.UNAUTHORIZED, "no"), UnknownReason.REFUSED),
        (CloudError(ErrorKind.SERVER, "no"), UnknownReason.UNREACHABLE),
        (Listing((), complete=False), UnknownReason.UNREACHABLE),
    ],
    ids=["forbidden", "refused", "broken", "incomplete"],
)
@pytest.mark.parametrize("watched", [(), ("a",)], ids=["not in use", "in use"])
async def test_what_failed_shows_nothing(make, answer, cause, watched):
    one, _ = make(answer, watched=watched)
    await asyncio.sleep(5)
    listed = await one.listing("Msc1", 5.0)
    assert isinstance(listed, Unknown)
    assert listed.cause is cause


async def test_what_lacks_too_much_is_not_believed(make):
    one, _ = make(records(*NAMES), [], watched=NAMES)
    await asyncio.sleep(5)
    assert (await one.listing("Msc1", 5.0)).cause is UnknownReason.IMPLAUSIBLE, "by its own look"
    await asyncio.sleep(120)
    assert (await one.listing("Msc1")).cause is UnknownReason.IMPLAUSIBLE, "and by the standing one"


async def test_twins_are_kept_together_and_strangers_left_out(make):
    stray = VmRecord(id="x", namespace="acme", cluster="Msc2", status="ONLINE")
    one, _ = make([*records("a", "a"), stray])
    listed = await one.listing("Msc1")
    assert {where.name: len(found) for where, found in listed.records.items()} == {"a": 2}


async def test_a_record_that_stays_the_same_is_kept_once_however_often_it_is_listed(make):
    one, _ = make(records("a", "b"), [*records("a"), VmRecord(id="b", namespace="acme", cluster="Msc1", status="OFFLINE")])
    here, there = (Identity("Msc1", "acme", name) for name in ("a", "b"))
    one.watch("a", here)
    await asyncio.sleep(1)
    before = one.observe(here).record, one.observe(there).record
    one.refresh_after("a", asyncio.get_running_loop().time())
    await asyncio.sleep(1)
    after = one.observe(here).record, one.observe(there).record
    assert (after[0] is before[0], after[1].status) == (True, "OFFLINE")


async def test_a_listing_compares_no_object_with_every_other(make, monkeypatch):
    """Measured: a hundred missing VMs among a thousand cost more than all else that their creation takes."""
    names = tuple(f"vm-{number}" for number in range(200))
    _, fetch = make([], watched=names)
    compared, equal = [], Identity.__eq__
    monkeypatch.setattr(Identity, "__eq__", lambda self, other: compared.append(1) or equal(self, other))
    await asyncio.sleep(1)
    assert len(fetch.began) == 1
    assert len(compared) < 10 * len(names)
