"""What may be concluded from listings of one record: present, absent or unknown."""

import asyncio

import pytest

from gpucloud.cloud.errors import ErrorKind
from gpucloud.cloud.models import Listing
from gpucloud.reconcile.facts import Absent, Present, Unknown, UnknownReason
from support.inventoryrig import INSIDE, SLOW, SOMEWHERE, broken, here, record

pytestmark = pytest.mark.looptime


async def test_a_record_that_one_listing_lacked_has_returned_doubtfully(rig):
    """Not believed, or one alone: somebody may have made another of its name meanwhile, or it was never away."""
    it = rig([record()], [], [record()], [], [], [record()])
    it.inventory.watch("a", here())
    await asyncio.sleep(2 * SLOW + 5)
    seen = it.sees().presence
    assert (seen.lacked_until, seen.away_until) == (it.fetch.began[2], None)
    await asyncio.sleep(3 * SLOW)
    seen = it.sees().presence
    assert (seen.lacked_until, seen.away_until) == (it.fetch.began[5], it.fetch.began[5])


async def test_a_record_that_two_listings_in_a_row_lacked_says_since_when(rig):
    it = rig([], [record()], [], [], [record()])
    it.inventory.watch("a", here())
    await asyncio.sleep(SLOW + 5)
    assert it.sees().presence.confirmed is None
    await asyncio.sleep(3 * SLOW)
    assert it.sees().presence.confirmed == it.fetch.began[2]


async def test_shown_since_counts_anew_after_a_listing_without_the_record_and_after_a_time_without_watchers(rig):
    it = rig([record(), record("y")], [record(), record("y")], [record("y")], [record(), record("y")])
    it.inventory.watch("a", here())
    it.inventory.watch("b", here("y"))
    await asyncio.sleep(SLOW + 5)
    assert it.sees().presence.shown_since == it.fetch.began[0]
    await asyncio.sleep(2 * SLOW)
    assert it.sees().presence.shown_since == it.fetch.began[3]
    assert it.sees("y").presence.shown_since == it.fetch.began[0]
    it.inventory.unwatch("b")
    await asyncio.sleep(SLOW)
    it.inventory.watch("b", here("y"))
    assert it.sees("y").presence.shown_since == it.fetch.began[4]


async def test_as_of_is_the_beginning_of_the_listing(rig):
    it = rig([record()], takes=3.0)
    it.inventory.watch("a", here())
    await asyncio.sleep(1)
    assert it.sees().cause is UnknownReason.NOT_LISTED
    await asyncio.sleep(3)
    assert it.sees("other") == Absent(it.fetch.began[0], it.fetch.began[0])
    assert it.sees().as_of == it.fetch.began[0]


async def test_absent_since_the_first_listing_that_lacks_it_and_confirmed_by_the_one_before(rig):
    it = rig([record()], [], [], [record()], [])
    it.inventory.watch("a", here())
    await asyncio.sleep(2 * SLOW + 5)
    assert it.sees() == Absent(it.fetch.began[2], it.fetch.began[1], confirmed=it.fetch.began[1])
    await asyncio.sleep(SLOW)
    assert isinstance(it.sees(), Present)
    await asyncio.sleep(SLOW)
    assert it.sees() == Absent(it.fetch.began[4], it.fetch.began[4])


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (broken(ErrorKind.SERVER), UnknownReason.UNREACHABLE),
        (broken(ErrorKind.NOT_SENT), UnknownReason.UNREACHABLE),
        (broken(ErrorKind.MALFORMED), UnknownReason.UNREACHABLE),
        (broken(ErrorKind.THROTTLED), UnknownReason.UNREACHABLE),
        (broken(ErrorKind.NOT_FOUND), UnknownReason.UNREACHABLE),  # a listing that is "not found" proves nothing of a VM
        (broken(ErrorKind.UNAUTHORIZED), UnknownReason.REFUSED),
        (broken(ErrorKind.LOGIN), UnknownReason.REFUSED),
        (broken(ErrorKind.FORBIDDEN), UnknownReason.FORBIDDEN),
        (Listing((), complete=False), UnknownReason.UNREACHABLE),
        (Listing((record("another"),), complete=False), UnknownReason.UNREACHABLE),  # of which some entries could be read
        (RuntimeError("a defect of ours"), UnknownReason.UNREACHABLE),
    ],
)
async def test_a_listing_that_failed_makes_nothing_absent(rig, answer, cause):
    it = rig([record()], answer)
    it.inventory.watch("a", here())
    await asyncio.sleep(SLOW + 1)
    seen = it.sees()
    assert isinstance(seen, Unknown)
    assert (seen.cause, seen.since) == (cause, it.fetch.began[0])
    assert it.meter.failures


@pytest.mark.parametrize(
    ("records", "shown", "duplicate", "why"),
    [
        ([record("x", vpc=None)], True, False, "one that names no VPC may be the object's"),
        ([record("x"), record("x")], True, True, "two of one identity"),
        ([record("x"), record("x", vpc=None)], True, True, "the second may be the object's too"),
        ([record("x", cluster="Hou1")], False, False, "another cluster"),
        ([record("x", vpc="acme-train")], False, False, "another VPC"),
    ],
)
async def test_which_records_may_be_the_objects_own(rig, records, shown, duplicate, why):
    it = rig(records)
    it.inventory.watch("a", here("x"))
    await asyncio.sleep(1)
    seen = it.sees("x")
    assert isinstance(seen, Present if shown else Absent), why
    assert not shown or seen.duplicate_records is duplicate, why


async def test_what_is_within_a_vpc(rig):
    it = rig([record("x"), record("y", vpc="acme-train"), record("z", vpc=None)])
    it.inventory.watch("a", INSIDE)
    assert it.inventory.within("Msc1", "acme").cause is UnknownReason.NOT_LISTED
    await asyncio.sleep(1)
    inside = it.inventory.within("Msc1", "acme")
    assert [item.id for item in inside.records] == ["x", "z"], "one that names no VPC may be in it"
    assert inside.as_of == it.fetch.began[0]
    assert it.inventory.within("Msc1", "empty").records == (inside.records[1],)


async def test_a_vpc_is_confirmed_empty_by_the_listing_before(rig):
    it = rig([record("x")], [], [], [record("x")], [])
    it.inventory.watch("a", INSIDE)
    seen = []
    for _ in range(5):
        await asyncio.sleep(1 if not seen else SLOW)
        inside = it.inventory.within("Msc1", "acme")
        seen.append((len(inside.records), inside.as_of, inside.confirmed))
    began = it.fetch.began
    assert seen == [
        (1, began[0], None),
        (0, began[1], None),
        (0, began[2], began[1]),
        (1, began[3], None),
        (0, began[4], None),
    ]


async def test_the_names_of_a_base_are_those_of_the_last_two_listings(rig):
    """The last one may be partial."""
    base, first, second = "train-tag1-", "aaaaaaaaaa", "bbbbbbbbbb"
    alike = [record(f"{base}{first}-more"), record(f"{base}short"), record(f"{base}{first}", vpc="other"), record(first)]
    it = rig([record(base + first), *alike], [record(base + second)])
    assert it.inventory.names("Msc1", "acme", base) == []
    it.inventory.watch("a", here(base + first))
    await asyncio.sleep(1)
    assert it.inventory.names("Msc1", "acme", base) == [base + first]
    assert it.inventory.names("Hou1", "acme", base) == []
    await asyncio.sleep(SLOW + 1)
    assert it.inventory.names("Msc1", "acme", base) == [base + second, base + first]
    await asyncio.sleep(SLOW + 1)
    assert it.inventory.names("Msc1", "acme", base) == [base + second]


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (broken(ErrorKind.FORBIDDEN), UnknownReason.FORBIDDEN),
        (broken(ErrorKind.SERVER), UnknownReason.UNREACHABLE),
        (Listing((), complete=False), UnknownReason.UNREACHABLE),
    ],
)
async def test_a_failed_listing_makes_no_vpc_empty(rig, answer, cause):
    it = rig([], answer)
    it.inventory.watch("a", INSIDE)
    await asyncio.sleep(SLOW + 1)
    assert it.inventory.within("Msc1", "acme").cause is cause


async def test_a_name_is_found_in_any_vpc_and_two_of_it_are_duplicate_records(rig):
    it = rig([record("x", vpc="acme-train")], [record("x"), record("x", vpc="acme-train")])
    it.inventory.watch("a", SOMEWHERE)
    await asyncio.sleep(1)
    assert it.inventory.observe(SOMEWHERE).record.namespace == "acme-train"
    await asyncio.sleep(SLOW)
    assert it.inventory.observe(SOMEWHERE).duplicate_records


async def test_absent_from_all_vpcs_is_confirmed_by_two_listings(rig):
    it = rig([record("x", vpc="acme-train")], [], [])
    it.inventory.watch("a", SOMEWHERE)
    await asyncio.sleep(SLOW + 1)
    assert it.inventory.observe(SOMEWHERE) == Absent(it.fetch.began[1], it.fetch.began[1])
    await asyncio.sleep(SLOW)
    assert it.inventory.observe(SOMEWHERE).confirmed == it.fetch.began[1]


async def test_shown_since_counts_anew_after_a_listing_that_failed(rig):
    it = rig([record()], broken(ErrorKind.SERVER), [record()])
    it.inventory.watch("a", here())
    await asyncio.sleep(2 * SLOW + 5)
    assert it.sees().presence.shown_since == it.fetch.began[2]
