"""Which facts are gathered of a GpuVM, and what a listing should show for it."""

import pytest

from gpucloud.cloud.models import VmRecord
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.gpuvm import GpuVMStatus
from gpucloud.reconcile.continuity import Likeness
from gpucloud.reconcile.facts import Present, Unknown, UnknownReason, Verb
from gpucloud.reconcile.naming import external_name
from gpucloud.reconcile.plan import Plan
from gpucloud.reconcile.unreadable import Unreadable
from gpucloud.spelling import MOST_COMPARED
from support.builders import TAG, a_status
from support.gpuvmrig import NOW, bought, ours

FROM_SECRET = {"sshKeys": [], "sshKeysFrom": [{"secretKeyRef": {"name": "keys", "key": "k"}}]}


async def test_what_may_be_bought_costs_its_secrets_and_its_namespace(rig):
    rig.put(spec=FROM_SECRET)
    facts = await rig.facts()
    assert rig.kube.reads == [("secrets", "team", "keys"), ("namespaces", "team")]
    assert facts.keys.trouble is not None
    assert facts.price_per_hour == "2.05"


@pytest.mark.parametrize(("listed", "price"), [("A100_40GB_PCIe_1x", "2.05"), (None, None), ("7", None)])
async def test_a_vm_whose_record_names_no_configuration_costs_what_its_listing_says(rig, listed, price):
    """Its status was lost, and its spec edited under a definition without rules."""
    rig.put(spec={"configuration": "unheard-of"})
    rig.inventory.seen[ours()] = Present(VmRecord(id=ours().name, configuration=listed), NOW)
    assert (await rig.facts()).price_per_hour == price


@pytest.mark.parametrize("why", ["present", "seen", "deleting", "unknown"])
async def test_nothing_is_read_when_nothing_can_be_bought(rig, why):
    name = ours().name
    more = {
        "seen": {"status": bought(name, vm_id=name)},
        "deleting": {"meta": {"deletionTimestamp": "2026-01-01T00:00:00Z"}},
    }.get(why, {})
    rig.put(spec=FROM_SECRET, **more)
    if why == "present":
        rig.inventory.seen[ours()] = Present(VmRecord(id=name), NOW)
    if why == "unknown":
        rig.inventory.seen[ours()] = Unknown(NOW, UnknownReason.UNREACHABLE)
    await rig.facts()
    assert rig.kube.reads == []


async def test_a_namespace_is_asked_once_for_many(rig):
    for number in range(20):
        rig.put(f"u{number}", f"vm{number}")
        await rig.facts(f"u{number}")
    assert rig.kube.reads == [("namespaces", "team")]
    rig.clock.now += 6
    await rig.facts("u0")
    assert len(rig.kube.reads) == 2


async def test_a_spec_that_cannot_be_read_is_told_as_such(rig):
    rig.put(spec={"powerState": "Sleeping"})
    facts = await rig.facts()
    assert isinstance(facts, Unreadable)
    assert rig.reconciler.decide(facts).action is None
    with pytest.raises(TypeError):
        await rig.reconciler.act(facts, Plan(action=Verb.DESTROY))


async def test_accept_absence_is_handed_on(rig):
    rig.put(meta={"annotations": {"gpucloud.dev/accept-absence": "2026-01-01T00:16:40Z"}})
    await rig.facts()
    assert rig.inventory.accepted == [NOW]


def test_what_a_listing_should_show(rig):
    rig.put("never", "never")
    for uid in ("seen", "lost", "going"):
        name = external_name(uid, uid, TAG)
        state = {"lost": OrderState.LOST, "going": OrderState.DESTROYING}.get(uid, OrderState.SEEN)
        rig.put(uid, uid, status=bought(name, name, state))
    rig.put("elsewhere", "elsewhere", spec={"cluster": "Hou1"}, status=bought("x", "x"))
    assert rig.inventory.expected("Msc1") == {ours("seen", "seen")}


async def test_every_gathering_offers_an_order_of_its_own(rig):
    rig.put()
    assert (await rig.facts()).nonce != (await rig.facts()).nonce


def test_the_inventory_is_told_what_a_plan_waits_for(rig):
    rig.put()
    rig.inventory.as_of = NOW - 1
    rig.reconciler.follow_up("u1", Plan(pending=True, refresh_after=NOW))
    rig.reconciler.follow_up("u1", Plan(refresh_after=NOW + 9))  # the loop wakes it then
    assert rig.inventory.pending == {"u1": False}
    assert rig.inventory.looks == [("u1", NOW)]


async def test_a_missing_snapshot_is_compared_with_those_that_were_taken_there(rig):
    """Of its namespace, VPC and cluster: others cannot be meant, and those of other namespaces are not shown."""
    there, taken = {"cluster": "Msc1", "vpc": "acme", "name": "base"}, ready_at()
    for name, vm, status in [
        ("golden-1", there, taken),
        ("other-vpc", there | {"vpc": "lab"}, taken),
        ("other-cluster", there | {"cluster": "Hou1"}, taken),
        ("not-taken", there, {}),
    ]:
        spec = {"vmRef": None, "vm": vm, "snapshotName": name}
        rig.reconcilers.put("GpuSnapshot", name, spec=spec, status=status)
    rig.put(spec={"image": {"snapshot": "golden"}})
    assert (await rig.facts()).known.snapshots == ("golden-1",)
    rig.put(spec={"image": {"operatingSystem": "Ubuntu 22.04"}})
    assert (await rig.facts()).known.snapshots == ()


@pytest.mark.parametrize(("name", "namespace", "known"), [("golden", "team", True), ("golden", "others", False)])
async def test_a_gpusnapshot_that_is_named_as_the_clouds_snapshot_is_known_by_its_namespace(rig, name, namespace, known):
    rig.reconcilers.put("GpuSnapshot", name, meta={"namespace": namespace})
    rig.put(spec={"image": {"snapshot": "golden"}})
    assert (await rig.facts()).known.is_object is known


async def test_a_missing_snapshot_is_compared_with_no_crowd(rig):
    """Each pass of an order that waits would look at them all."""
    there = {"cluster": "Msc1", "vpc": "acme", "name": "base"}
    for number in range(MOST_COMPARED):
        spec = {"vmRef": None, "vm": there, "snapshotName": f"golden-{number}"}
        rig.reconcilers.put("GpuSnapshot", f"golden-{number}", spec=spec, status=ready_at())
    rig.put(spec={"image": {"snapshot": "golden"}})
    assert len((await rig.facts()).known.snapshots) == MOST_COMPARED
    rig.reconcilers.put("GpuSnapshot", "one-more", spec=spec | {"snapshotName": "one-more"}, status=ready_at())
    assert (await rig.facts()).known.snapshots == ()


def ready_at():
    """The status of an object that is Ready."""
    ready = a_status("Completed", ready="True", progress=None)
    return {"conditions": [one.model_dump(mode="json", by_alias=True) for one in ready.conditions]}


@pytest.mark.parametrize(
    ("recorded", "listed", "likeness"),
    [
        (("10.0.0.5", "198.51.100.5"), ("10.0.0.5", "198.51.100.9"), Likeness.SAME),
        (("10.0.0.5", None), ("10.0.0.5", "198.51.100.5"), Likeness.SAME),  # it has come up since
        (("10.0.0.5", "198.51.100.5"), ("10.0.0.9", "198.51.100.5"), Likeness.OTHER),
        ((None, "198.51.100.5"), ("10.0.0.5", "198.51.100.5"), Likeness.SAME),
        (("10.0.0.5", "198.51.100.5"), (None, "198.51.100.9"), Likeness.CHANGED),
        (("10.0.0.5", None), (None, "198.51.100.5"), Likeness.UNKNOWN),
        ((None, None), ("10.0.0.5", "198.51.100.5"), Likeness.UNKNOWN),
    ],
)
@pytest.mark.parametrize("settled", [None, 1])
def test_a_vm_is_compared_by_its_addresses_whether_or_not_it_was_ever_up(rig, recorded, listed, likeness, settled):
    """Seed 720004700: it was called another's, under the very address that was recorded while it was being made."""
    private, public = recorded
    status = GpuVMStatus(private_ip=private, ip=public, settled_generation=settled)
    record = VmRecord(id="prod", private_ip=listed[0], ip=listed[1])
    assert rig.reconciler.likeness(status, record) is likeness
