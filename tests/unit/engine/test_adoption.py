"""Who may adopt a VM or snapshot: not before all claims are known, nor what is another object's, nor what may be another's."""

from __future__ import annotations

import pytest

from gpucloud.cloud.models import SnapshotRecord, VmRecord
from gpucloud.kinds.common import Order, OrderState, Origin
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile import naming
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.facts import Absent, Presence, Present, ResourceOwner
from gpucloud.reconcile.naming import Identity
from gpucloud.reconcile.order import is_urgent
from support.builders import TAG
from support.fakes import GOING
from support.ordered import ELDER, YOUNGER

NOW = 1000.0
ADOPTS = {"vmName": "theirs", "adoption": "Required"}


def there(reconcilers, name="theirs", **more):
    here = Identity("Msc1", "acme", name)
    reconcilers.session.vms.seen[here] = Present(
        VmRecord(id=name, namespace="acme", tenancy_name="acme", status="ONLINE", **more), NOW
    )
    snapshot = SnapshotRecord(id=name, namespace="acme", tenancy_name="acme", ready_to_use=True, source_name="old")
    reconcilers.session.snapshots.seen[here] = Present(snapshot, NOW)


async def decided(reconcilers, kind="GpuVM", name="train", **more):
    reconcilers.put(kind, name, **more)
    facts = await reconcilers.facts(kind, name)
    plan = reconcilers.by_kind[kind].decide(facts)
    return facts, plan, None if plan.status is None else find(plan.status.conditions, "Ready")


async def test_what_exists_is_adopted_and_recorded_with_its_id(reconcilers):
    there(reconcilers)
    _, plan, ready = await decided(reconcilers, spec=ADOPTS)
    assert (ready.reason, plan.action) == (Reason.RUNNING, None)
    order = plan.status.order
    assert (order.state, order.origin, order.cloud_id) == (OrderState.SEEN, Origin.ADOPTED, "theirs")


@pytest.mark.parametrize("kind", ["GpuVM", "GpuSnapshot"])
async def test_a_name_that_bears_the_mark_of_another_object_is_refused(reconcilers, kind):
    """The other one may claim another place by now, or have lost its status: the name is its own all the same."""
    name = naming.external_name("first", "u-first", TAG)
    there(reconcilers, name)
    reconcilers.put(kind, "first", spec={"cluster": "Hou1"} if kind == "GpuVM" else {})
    spec = (
        {"vmName": name}
        if kind == "GpuVM"
        else {"snapshotName": name, "vmRef": None, "vm": {"cluster": "Msc1", "vpc": "acme", "name": "old"}}
    )
    facts, plan, ready = await decided(reconcilers, kind, "second", spec=spec | {"adoption": "Required"})
    assert (ready.reason, plan.action, plan.status.adopted) == (Reason.CONFLICT, None, None)
    assert f"already used by {kind} 'first'" in ready.message
    assert facts.state is not OrderState.SEEN


async def test_a_name_that_bears_the_mark_of_an_object_that_is_gone_is_adopted(reconcilers):
    """A VM that was retained, or whose cluster was lost, is to be had again."""
    name = naming.external_name("first", "u-gone", TAG)
    there(reconcilers, name)
    _, _, ready = await decided(reconcilers, spec={"vmName": name, "adoption": "Required"})
    assert ready.reason == Reason.RUNNING


@pytest.mark.parametrize("namespace", ["team", "others"])
async def test_of_two_that_adopt_one_vm_the_elder_does_whoever_comes_first(reconcilers, namespace):
    there(reconcilers)
    reconcilers.put("GpuVM", "young", spec=ADOPTS, meta={"creationTimestamp": YOUNGER, "namespace": namespace})
    reconcilers.put("GpuVM", "elder", spec=ADOPTS, meta={"creationTimestamp": ELDER})
    adopters = [name for name in ("young", "elder") if (await reconcilers.facts("GpuVM", name)).ours]
    assert adopted_by(reconcilers) == adopters == ["elder"]


async def test_what_one_has_just_adopted_no_elder_takes_though_no_status_says_so_yet(reconcilers):
    """Both came in one second, and the watch brought the elder late."""
    there(reconcilers)
    reconcilers.put("GpuVM", "young", spec=ADOPTS, meta={"creationTimestamp": YOUNGER})
    assert (await reconcilers.facts("GpuVM", "young")).ours
    facts, plan, ready = await decided(reconcilers, name="elder", spec=ADOPTS, meta={"creationTimestamp": ELDER})
    owner = ResourceOwner("GpuVM", "team", "young", keeps=True)
    assert (facts.owner, ready.reason, plan.action) == (owner, Reason.CONFLICT, None)


def adopted_by(reconcilers):
    return [
        stored.meta.name
        for stored in reconcilers.vms.store
        if (known := reconcilers.vms.order_of(stored)) is not None and known.origin is Origin.ADOPTED
    ]


async def test_nothing_is_adopted_before_the_first_sync(make_reconcilers):
    """The object that the VM was created for may not have come yet."""
    unsynced = make_reconcilers(synced=False)
    there(unsynced)
    unsynced.put("GpuVM", spec=ADOPTS)
    assert (await unsynced.facts("GpuVM")).state is not OrderState.SEEN


async def test_an_object_in_deletion_adopts_nothing(reconcilers):
    there(reconcilers)
    spec = ADOPTS | {"deletion": {"policy": "Delete"}}
    _, plan, _ = await decided(reconcilers, spec=spec, meta=GOING)
    assert (plan.action, plan.release.reason) == (None, Reason.RETAINED)


DELETES = ADOPTS | {"deletion": {"policy": "Delete"}}


async def test_an_adoption_that_no_status_records_when_the_object_is_deleted_destroys_nothing(reconcilers):
    """The VM was made after the deletion, and the watch brought that late (seed 92243013: somebody's VM was destroyed)."""
    there(reconcilers)
    await decided(reconcilers, spec=DELETES)
    _, plan, _ = await decided(reconcilers, spec=DELETES, meta=GOING)
    assert (plan.action, plan.release.reason) == (None, Reason.RETAINED)
    assert adopted_by(reconcilers) == []


async def test_a_recorded_adoption_is_destroyed_with_its_object_also_if_its_status_is_wiped_later(reconcilers):
    there(reconcilers)
    _, plan, _ = await decided(reconcilers, spec=DELETES)
    order = plan.status.order.model_dump(mode="json", by_alias=True, exclude_none=True)
    for status in ({"order": order}, {}):
        facts, plan, _ = await decided(reconcilers, spec=DELETES, meta=GOING, status=status)
        assert (facts.ours, plan.release, plan.status.order.state) == (True, None, OrderState.DESTROYING)


def recorded_as(plan):
    return {"order": plan.status.order.model_dump(mode="json", by_alias=True, exclude_none=True)}


async def adopted_again(reconcilers, how):
    """The status of the first adoption, and the plan after a second one: somebody has made another VM under the name."""
    reconcilers.session.learned.tenants = frozenset({"acme"})
    there(reconcilers, private_ip="10.0.0.5")
    _, plan, _ = await decided(reconcilers, spec=DELETES)
    first = recorded_as(plan)
    await decided(reconcilers, spec=DELETES, status=first)
    here, later = Identity("Msc1", "acme", "theirs"), NOW + 400
    reconcilers.clock.now = later
    if how == "lost":
        reconcilers.session.vms.seen[here] = Absent(later, NOW + 1, later)
        facts, _, _ = await decided(reconcilers, spec=DELETES, status=first)  # the write of it fails
        assert facts.state is OrderState.LOST
    away = Presence(shown_since=later + 1, lacked_until=later, away_until=later)
    record = VmRecord(id="theirs", namespace="acme", tenancy_name="acme", status="ONLINE", private_ip="10.0.0.9")
    reconcilers.session.vms.seen[here] = Present(record, later + 1, presence=away)
    reconcilers.clock.now = later + 1
    facts, plan, _ = await decided(reconcilers, spec=DELETES, status=first)
    assert (facts.state, facts.order.origin) == (OrderState.SEEN, Origin.ADOPTED)
    return first, plan


@pytest.mark.parametrize("how", ["lost", "replaced"])
async def test_a_second_adoption_that_no_status_records_destroys_nothing_whatever_the_first_one_recorded(reconcilers, how):
    """Both have one name and one id of the cloud; the watch brings the deletion late."""
    first, _ = await adopted_again(reconcilers, how)
    await decided(reconcilers, spec=DELETES, status=first)
    _, plan, _ = await decided(reconcilers, spec=DELETES, meta=GOING, status=first)
    assert (plan.action, plan.release and plan.release.reason) == (None, Reason.RETAINED)


@pytest.mark.parametrize("how", ["lost", "replaced"])
async def test_a_second_adoption_is_recorded_at_once_and_destroyed_with_its_object(reconcilers, how):
    first, plan = await adopted_again(reconcilers, how)
    second = recorded_as(plan)
    assert is_urgent(Order.model_validate(first["order"]), plan.status.order, "u-train")
    await decided(reconcilers, spec=DELETES, status=second)
    facts, plan, _ = await decided(reconcilers, spec=DELETES, meta=GOING, status=second)
    assert (facts.ours, plan.release, plan.status.order.state) == (True, None, OrderState.DESTROYING)


@pytest.mark.parametrize(
    ("adoption", "is_there", "reason"),
    [
        ("IfExists", True, Reason.INVALID_REFERENCE),
        ("Required", False, Reason.INVALID_REFERENCE),
        ("Never", True, Reason.CONFLICT),
    ],
)
async def test_where_namespaces_are_isolated_no_vm_is_adopted(isolated, adoption, is_there, reason):
    """It may be another namespace's."""
    if is_there:
        there(isolated)
    _, plan, ready = await decided(isolated, spec={"vmName": "theirs", "adoption": adoption})
    assert (ready.reason, plan.action, plan.records_order) == (reason, None, False)
    assert "--own-account-sharing=Shared" in ready.message


async def test_the_configuration_is_compared_by_the_catalogue_or_by_its_name(reconcilers):
    for said, reason in (
        ("7", Reason.MISMATCH),
        ("A100_40GB_PCIe_1x", Reason.RUNNING),
        ("99", Reason.RUNNING),
        ("B200", Reason.MISMATCH),
    ):
        there(reconcilers, configuration=said)
        _, _, ready = await decided(reconcilers, spec=ADOPTS)
        assert ready.reason == reason, said


async def test_a_vm_of_the_name_in_another_vpc_is_named_unless_an_object_stands_for_it(reconcilers):
    there = Identity("Msc1", "acme-old", "theirs")
    reconcilers.session.vms.seen[there] = Present(VmRecord(id="theirs", namespace="acme-old"), NOW)
    reconcilers.put("GpuVM", "train", spec=ADOPTS)
    assert (await reconcilers.facts("GpuVM")).elsewhere == (there,)
    reconcilers.put("GpuVM", "theirs", spec={"vmName": "theirs", "vpc": "acme-old"})
    assert (await reconcilers.facts("GpuVM")).elsewhere == ()
