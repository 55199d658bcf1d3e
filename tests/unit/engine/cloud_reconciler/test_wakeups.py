"""Which objects a change wakes, which inventories an object watches, and which listings it asks for."""

from dataclasses import replace

import pytest

from gpucloud.cloud.models import SnapshotRecord, VmRecord, VpcRecord
from gpucloud.engine.cloud.cluster_records import EVERYTHING
from gpucloud.engine.cloud.listing_spacing import LEAST_SPACING_SECONDS
from gpucloud.engine.kinds.request import Gathered
from gpucloud.reconcile.facts import Present, Verb
from gpucloud.reconcile.naming import Identity
from gpucloud.reconcile.plan import Plan
from support.fakes import GOING
from support.ordered import NOW, bought, ours


@pytest.mark.parametrize("coming", [True, False])
async def test_a_new_object_is_woken_by_the_listing_that_it_needs_if_one_is_about_to_come(reconcilers, coming):
    reconcilers.session.vms.coming = coming
    reconcilers.clock.now += 1
    new = reconcilers.put("GpuVM", meta={"finalizers": []})
    reconcilers.session.vms.looks.clear()
    assert reconcilers.vms.awaits_first_listing(new) is coming
    assert not reconcilers.session.vms.looks, "the question changes nothing"
    if coming:
        reconcilers.vms.defer_to_listing(new)
    assert reconcilers.session.vms.looks == ([("u-train", reconcilers.clock.now)] if coming else [])


async def test_an_object_that_was_looked_at_or_had_our_finalizer_or_goes_defers_to_no_listing(reconcilers):
    reconcilers.clock.now += 1
    assert not reconcilers.vms.awaits_first_listing(reconcilers.put("GpuVM", "old"))
    new = reconcilers.put("GpuVM", meta={"finalizers": []})
    assert not reconcilers.vms.awaits_first_listing(replace(new, meta=replace(new.meta, deleting=True)))
    await reconcilers.facts("GpuVM")
    assert not reconcilers.vms.awaits_first_listing(new)
    other = reconcilers.put("GpuVM", "other", meta={"finalizers": []})
    reconcilers.session.vms.as_of = reconcilers.clock.now
    assert not reconcilers.vms.awaits_first_listing(other), "the listing is there"


async def test_no_view_is_kept_beside_the_stores_unless_a_call_is_to_be_sent(reconcilers):
    reconcilers.put("GpuVM")
    gathered = reconcilers.vms.store.entries.part("u-train", Gathered)
    for action, kept in ((Verb.CREATE, True), (None, False)):
        await reconcilers.facts("GpuVM")
        reconcilers.vms.follow_up("u-train", Plan(action=action))
        assert (gathered.stored is not None) is kept


def test_a_change_wakes_its_dependents_once_and_nobody_else(reconcilers):
    reconcilers.put("GpuVM", "inside", spec={"vpc": None, "vpcRef": {"name": "net"}})
    reconcilers.put("GpuVM", "elsewhere", spec={"vpc": None, "vpcRef": {"name": "another"}})
    reconcilers.put("GpuVM", "stranger", spec={"vpc": None, "vpcRef": {"name": "net"}}, meta={"namespace": "others"})
    reconcilers.quiet()
    reconcilers.put("GpuVpc", "net")
    assert reconcilers.woken_names == ["inside"]


def test_a_change_wakes_what_it_depends_on_only_while_that_is_being_deleted(reconcilers):
    reconcilers.put("GpuVpc", "net")
    reconcilers.quiet()
    reconcilers.put("GpuVM", "inside", spec={"vpc": None, "vpcRef": {"name": "net"}})
    assert reconcilers.woken_names == []
    reconcilers.seen("GpuVpc", "net", meta=GOING)
    reconcilers.put("GpuVM", "inside", spec={"vpc": None, "vpcRef": {"name": "net"}})
    assert reconcilers.woken_names == ["net"]


def test_an_end_wakes_who_waited_for_it(reconcilers):
    reconcilers.put("GpuVM", "source", meta=GOING)
    reconcilers.put("GpuVpc", "net", meta=GOING)
    reconcilers.seen("GpuSnapshot", "copy", spec={"vmRef": {"name": "source"}})
    reconcilers.drop("GpuSnapshot", "copy")
    assert sorted(set(reconcilers.woken_names)) == ["net", "source"]


def test_an_end_wakes_its_dependents_too(reconcilers):
    reconcilers.put("GpuVM", "source")
    reconcilers.seen("GpuSnapshot", "copy", spec={"vmRef": {"name": "source"}})
    reconcilers.drop("GpuVM", "source")
    assert reconcilers.woken_names == ["copy"]


@pytest.mark.parametrize(("meta", "woken"), [({}, []), (GOING, ["acct"])])
def test_an_account_that_waits_for_its_last_user_is_woken_by_its_end(reconcilers, meta, woken):
    reconcilers.objects.accounts.put(
        {"metadata": {"name": "default", "namespace": "team", "uid": "acct", "resourceVersion": "1"} | meta, "spec": {
            "secretRef": {"name": "key"}}}
    )  # fmt: skip
    reconcilers.seen("GpuVM")
    reconcilers.drop("GpuVM")
    assert reconcilers.woken == woken


async def test_what_is_forgotten_leaves_no_watch_no_claim_no_reference_and_no_memory(reconcilers):
    reconcilers.put("GpuVpc", "net", status=bought("acme-train", vpc="acme-train", vpcId="7"), meta=GOING)
    reconcilers.put("GpuVM", spec={"vpc": None, "vpcRef": {"name": "net"}}, status=bought(ours().name))
    facts = await reconcilers.facts("GpuVM")
    await reconcilers.vms.act(facts, Plan(action=Verb.CREATE))
    reconcilers.drop("GpuVpc", "net")
    reconcilers.drop("GpuVM")
    assert [inventory.watched for inventory in reconcilers.session.inventories.values()] == [{}, {}, {}]
    reconcilers.quiet()
    reconcilers.put("GpuVpc", "net")
    assert reconcilers.woken_names == []
    reconcilers.put("GpuVM", uid="u-train")
    assert not (await reconcilers.facts("GpuVM")).history.attempts


async def test_a_deleting_vpc_watches_all_that_is_in_it_until_it_is_gone(reconcilers):
    session, inside = reconcilers.session, Identity("Msc1", "acme-train", EVERYTHING)
    reconcilers.put("GpuVpc", "net", status=bought("acme-train", vpc="acme-train", vpcId="7"))
    assert (session.vms.watched, session.snapshots.watched) == ({}, {})
    reconcilers.put("GpuVpc", "net", status=bought("acme-train", vpc="acme-train", vpcId="7"), meta=GOING)
    assert session.vms.watched == session.snapshots.watched == {"u-net": inside}
    reconcilers.drop("GpuVpc", "net")
    assert (session.vms.watched, session.snapshots.watched, session.vpcs.watched) == ({}, {}, {})


async def test_a_snapshot_watches_its_vm_until_it_is_taken(reconcilers):
    reconcilers.put("GpuVM", "train", status=bought(ours().name, vmId=ours().name))
    reconcilers.put("GpuSnapshot", "copy")
    assert reconcilers.session.vms.watched == {"u-train": ours(), "u-copy": ours()}
    reconcilers.put("GpuSnapshot", "copy", status={"snapshotId": "x"})
    assert reconcilers.session.vms.watched == {"u-train": ours()}


def deleting_vpc(reconcilers):
    reconcilers.put("GpuVpc", "net", status=bought("acme-train", vpc="acme-train", vpcId="7"), meta=GOING)
    return reconcilers.session


def test_only_inventories_without_a_young_listing_are_refreshed(reconcilers):
    """One that has looked would wake the object at once, and again, until the last has looked too: a loop without a pause."""
    session = deleting_vpc(reconcilers)
    session.vpcs.as_of, session.vms.as_of, session.snapshots.as_of = NOW - 10, NOW, NOW
    reconcilers.vpcs.follow_up("u-net", Plan(refresh_after=NOW - 5))
    assert [bool(it.looks) for it in (session.vpcs, session.vms, session.snapshots)] == [True, False, False]


def test_with_young_listings_everywhere_the_object_is_requeued_a_little_later(reconcilers):
    """At once would be a circle, should the decision come from those very looks."""
    session = deleting_vpc(reconcilers)
    assert reconcilers.vpcs.follow_up("u-net", Plan(refresh_after=NOW - 5)) == NOW + LEAST_SPACING_SECONDS
    assert sum(len(it.looks) for it in session.inventories.values()) == 0


def test_every_inventory_of_an_object_hurries_while_it_is_pending(reconcilers):
    session = deleting_vpc(reconcilers)
    reconcilers.vpcs.follow_up("u-net", Plan(pending=True))
    assert [it.pending for it in session.inventories.values()] == [{"u-net": True}] * 3


def test_what_is_expected_is_expected_of_the_session_that_watches_it(reconcilers):
    mine = reconcilers.account()
    reconcilers.put("GpuVM", "a", status=bought(ours("a").name, vmId=ours("a").name))
    reconcilers.put("GpuVM", "b", status=bought(ours("b").name, vmId=ours("b").name), meta={"namespace": "others"})
    assert mine.vms.expected("Msc1") == {ours("a")}
    assert reconcilers.session.vms.expected("Msc1") == {ours("b")}
    assert mine.vms.expected("Hou1") == set()


def test_what_a_session_has_shown_of_other_sessions_objects_is_expected_of_it_too(reconcilers):
    mine, going = reconcilers.account(), bought(ours("c").name)
    going["order"]["state"] = "Destroying"
    reconcilers.put("GpuVM", "a", status=bought(ours("a").name, vmId=ours("a").name))
    reconcilers.put("GpuVM", "b", status=bought(ours("b").name, vmId=ours("b").name), meta={"namespace": "others"})
    reconcilers.put("GpuVM", "c", status=going, meta={"namespace": "others"})
    assert mine.vms.expected("Msc1", {ours("b"), ours("c"), ours("nobody's")}) == {ours("a"), ours("b")}


@pytest.mark.parametrize(
    ("kind", "status", "verb", "found"),
    [
        ("GpuVM", bought(ours().name, vmId=ours().name), Verb.DESTROY, VmRecord(id=ours().name)),
        ("GpuVpc", bought("acme-train", vpc="acme-train", vpcId="7"), Verb.DESTROY_VPC, VpcRecord(id="7")),
        ("GpuSnapshot", bought(ours().name, snapshotId="x"), Verb.DELETE_SNAPSHOT, SnapshotRecord(id="x")),
    ],
)
async def test_what_we_destroyed_is_not_expected(reconcilers, kind, status, verb, found):
    reconcilers.put(kind, meta=GOING, status=status)
    inventory = reconcilers.session.inventories[reconcilers.by_kind[kind].inventory_name]
    (here,) = inventory.expected("Msc1")
    inventory.seen[here] = Present(found, NOW)
    await reconcilers.by_kind[kind].act(await reconcilers.facts(kind), Plan(action=verb))
    assert inventory.expected("Msc1") == set()


@pytest.mark.parametrize("kind", ["GpuVM", "GpuVpc"])
@pytest.mark.parametrize("meta", [{}, GOING])
async def test_before_the_first_sync_an_object_waits_without_asking_for_looks(make_reconcilers, kind, meta):
    """The inventories have looked already; a plan that asks them again is answered at once, again and again."""
    reconcilers = make_reconcilers(synced=False)
    reconcilers.put(kind, meta=meta)
    plan = reconcilers.by_kind[kind].decide(await reconcilers.facts(kind))
    assert plan.refresh_after is None
