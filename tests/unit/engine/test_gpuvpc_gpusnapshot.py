"""The rooms of GpuVpc and GpuSnapshot: what must be seen before a VPC goes, and how their calls name things."""

from dataclasses import replace
from datetime import timedelta

import pytest

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.models import SnapshotRecord, VmRecord, VpcRecord
from gpucloud.engine.cloud.cluster_records import Contents
from gpucloud.engine.runtime.clock import reading
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.meta import Annotation, rfc3339
from gpucloud.reconcile.facts import Absent, Present, ResourceOwner, Unknown, UnknownReason, Verb
from gpucloud.reconcile.gpuvpc import Occupants
from gpucloud.reconcile.naming import Identity, external_name
from gpucloud.reconcile.plan import Plan
from gpucloud.reconcile.transitions import ACCEPTED_GRACES
from support.builders import TAG, an_order
from support.fakes import GOING

NOW = 1000.0
VPC, PLACE = Identity("Msc1", "acme-train", "acme-train"), ("Msc1", "acme-train")
RECORD = VpcRecord(id="7", name="acme-train", cluster="Msc1")
MINE = {"order": an_order("acme-train", vpc="acme-train", cloud_id="7").model_dump(mode="json", by_alias=True), "vpcId": "7"}
UNSEEN = Unknown(NOW, UnknownReason.FORBIDDEN)


EMPTY = Contents((), NOW, NOW - 2)
ONE_VM, ONE_SNAPSHOT = Contents((VmRecord(id="a"),), NOW), Contents((SnapshotRecord(id="s"),), NOW)


async def going(reconcilers, vms=EMPTY, snapshots=EMPTY, **more):
    reconcilers.put("GpuVpc", "net", **{"meta": GOING, "status": MINE} | more)
    reconcilers.session.vpcs.seen[VPC] = Present(RECORD, NOW)
    reconcilers.session.vms.inside, reconcilers.session.snapshots.inside = {PLACE: vms}, {PLACE: snapshots}
    return await reconcilers.facts("GpuVpc", "net")


@pytest.mark.parametrize(
    ("vms", "snapshots", "occupants"),
    [
        (EMPTY, EMPTY, Occupants((), NOW, NOW - 2)),
        (ONE_VM, EMPTY, Occupants(("VM 'a'",), NOW)),
        (EMPTY, ONE_SNAPSHOT, Occupants(("snapshot 's'",), NOW)),
        (Contents((), NOW - 9, NOW - 10), EMPTY, Occupants((), NOW - 9, NOW - 10)),  # as young as the older of the two
        (EMPTY, Contents((), NOW - 9, NOW - 10), Occupants((), NOW - 9, NOW - 10)),
        (Contents((), NOW), EMPTY, Occupants((), NOW)),  # one listing of VMs only
        (EMPTY, Contents((), NOW), Occupants((), NOW)),
        (UNSEEN, EMPTY, UNSEEN),
        (EMPTY, UNSEEN, UNSEEN),
        (UNSEEN, UNSEEN, UNSEEN),
    ],
)
async def test_what_is_in_a_vpc_takes_both_listings(reconcilers, vms, snapshots, occupants):
    assert (await going(reconcilers, vms, snapshots)).occupants == occupants


@pytest.mark.parametrize(
    ("vms", "snapshots", "goes", "why"),
    [
        (EMPTY, EMPTY, True, "its content cannot be listed"),
        (ONE_VM, EMPTY, False, "whoever's it is"),
        (EMPTY, ONE_SNAPSHOT, False, ""),
        (Contents((), NOW - 60, NOW - 62), EMPTY, False, "an old look"),
        (Contents((), NOW), EMPTY, False, "one listing of VMs may be partial"),
        (EMPTY, Contents((), NOW), False, "one listing of snapshots may be partial"),
        (UNSEEN, EMPTY, False, "not seen"),
        (EMPTY, UNSEEN, False, "not seen"),
    ],
)
async def test_a_vpc_goes_only_when_it_is_seen_to_be_empty(reconcilers, vms, snapshots, goes, why):
    facts = await going(reconcilers, vms, snapshots)
    assert (reconcilers.vpcs.decide(facts).action is Verb.DESTROY_VPC) is goes, why


async def test_a_vpc_is_destroyed_by_the_id_of_its_record(reconcilers):
    """Not by the one in status, which people can edit: it could be another VPC's."""
    facts = await going(reconcilers, status=MINE | {"vpcId": "forged"})
    event = await reconcilers.vpcs.act(facts, Plan(action=Verb.DESTROY_VPC))
    assert reconcilers.session.client.calls == [("destroy_vpc", {"id": "7", "cluster": "Msc1"})]
    assert "acme-train" in event.note


async def test_a_vpc_is_destroyed_in_the_cluster_as_its_record_spells_it(reconcilers):
    facts = await going(reconcilers)
    facts = replace(facts, found=replace(facts.found, record=RECORD.model_copy(update={"cluster": "MSC1"})))
    await reconcilers.vpcs.act(facts, Plan(action=Verb.DESTROY_VPC))
    assert reconcilers.session.client.calls == [("destroy_vpc", {"id": "7", "cluster": "MSC1"})]


async def test_an_edited_id_does_not_make_ours_pass_for_anothers(reconcilers):
    reconcilers.put("GpuVpc", "net", status=MINE)
    reconcilers.session.vpcs.seen[VPC] = Present(RECORD, NOW)
    await reconcilers.facts("GpuVpc", "net")
    facts = await going(reconcilers, status=MINE | {"vpcId": "forged"})
    assert facts.ours
    assert (reconcilers.vpcs.decide(facts).action, reconcilers.vpcs.decide(facts).release) == (Verb.DESTROY_VPC, None)


async def test_a_vpc_that_is_not_seen_is_not_destroyed_by_what_status_says(reconcilers):
    """People can edit status; nobody has looked whether the VPC of that id is empty."""
    reconcilers.put("GpuVpc", "net", meta=GOING, status=MINE | {"vpcId": "forged"})
    facts = await reconcilers.facts("GpuVpc", "net")
    plan = reconcilers.vpcs.decide(facts)
    if plan.action is not None:
        await reconcilers.vpcs.act(facts, plan)
    assert not [where for _, where in reconcilers.session.client.calls if where["id"] in {"forged", "acme-train"}]


@pytest.mark.parametrize(
    ("spec", "body"),
    [
        ({}, {}),
        ({"blockIntraVpcComms": False, "isDefault": True}, {"block_intra_vpc_comms": False, "is_default": True}),
    ],
)
async def test_a_vpc_is_created_as_the_spec_says_and_says_no_more(reconcilers, spec, body):
    reconcilers.put("GpuVpc", "net", spec=spec)
    await reconcilers.vpcs.act(await reconcilers.intend("GpuVpc", "net"), Plan(action=Verb.CREATE_VPC))
    assert reconcilers.session.client.calls == [("create_vpc", {"name": "acme-train", "cluster": "Msc1"} | body)]


@pytest.mark.parametrize(("seen", "ours"), [("7", True), ("8", False)])
async def test_ours_is_the_one_whose_id_the_cloud_answered(reconcilers, seen, ours):
    """One that a stranger makes of that name, before a listing has shown ours, has another.

    An old listing may show the one that had the name before: it counts when an absence would.
    """
    reconcilers.put("GpuVpc", "net")
    reconcilers.session.client.answers["create_vpc"] = VpcRecord(id="7")
    await reconcilers.vpcs.act(await reconcilers.intend("GpuVpc", "net"), Plan(action=Verb.CREATE_VPC))
    record = RECORD.model_copy(update={"id": seen})
    reconcilers.session.vpcs.seen[VPC] = Present(record, NOW)
    once = await reconcilers.facts("GpuVpc", "net")
    assert once.ours
    assert once.is_unconfirmed(once.found) is not ours
    reconcilers.session.vpcs.seen[VPC] = Present(record, NOW + ACCEPTED_GRACES * once.limits.grace)
    assert (await reconcilers.facts("GpuVpc", "net")).ours is ours


async def test_an_elder_that_may_adopt_takes_no_vpc_from_the_object_that_made_it(reconcilers):
    """Its account came later. Else the maker would be let go, and the VPC that it ordered would stay."""
    reconcilers.put("GpuVpc", "young", status=MINE, meta={"creationTimestamp": "2026-02-01T00:00:00Z"})
    elder = {"cluster": "Msc1", "name": "acme-train", "adoption": "IfExists"}
    reconcilers.put("GpuVpc", "elder", spec=elder, meta={"creationTimestamp": "2026-01-01T00:00:00Z"})
    reconcilers.session.vpcs.seen[VPC] = Present(RECORD, NOW)
    facts = await reconcilers.facts("GpuVpc", "elder")
    assert (facts.owner, facts.state, facts.ours) == (ResourceOwner("GpuVpc", "team", "young"), OrderState.NOT_ORDERED, False)
    taken = an_order("acme-train", vpc="acme-train", cloud_id="7", origin="Adopted").model_dump(mode="json", by_alias=True)
    meta = {"creationTimestamp": "2026-01-01T00:00:00Z"}
    reconcilers.put(
        "GpuVpc", "elder", spec=elder, meta=meta, status={"order": taken, "vpcId": "7"}
    )  # as an operator before wrote it
    assert ((await reconcilers.facts("GpuVpc", "young")).owner, (await reconcilers.facts("GpuVpc", "elder")).owner) == (
        None,
        ResourceOwner("GpuVpc", "team", "young"),
    )


async def test_a_vpc_that_is_not_there_any_more_was_destroyed_well(reconcilers):
    reconcilers.session.client.fails = [CloudError(ErrorKind.NOT_FOUND, "no such VPC")]
    facts = await going(reconcilers)
    assert not (await reconcilers.vpcs.act(facts, Plan(action=Verb.DESTROY_VPC))).warning


NAME = external_name("copy", "u-copy", TAG)


async def test_a_snapshot_is_ordered_where_its_vm_is_and_of_it(reconcilers):
    reconcilers.put("GpuVM", "train")
    reconcilers.put("GpuSnapshot", "copy")
    await reconcilers.snapshots.act(await reconcilers.intend("GpuSnapshot", "copy"), Plan(action=Verb.CREATE_SNAPSHOT))
    source = external_name("train", "u-train", TAG)
    assert reconcilers.session.client.calls == [
        ("create_snapshot", {"name": NAME, "namespace": "acme", "cluster": "Msc1", "source_vm_name": source})
    ]


async def test_a_snapshot_of_a_vm_by_name(reconcilers):
    reconcilers.put("GpuSnapshot", "copy", spec={"vmRef": None, "vm": {"cluster": "Hou1", "vpc": "v", "name": "by-hand"}})
    await reconcilers.snapshots.act(await reconcilers.intend("GpuSnapshot", "copy"), Plan(action=Verb.CREATE_SNAPSHOT))
    (call,) = reconcilers.session.client.calls
    assert call[1] == {"name": NAME, "namespace": "v", "cluster": "Hou1", "source_vm_name": "by-hand"}


async def test_a_snapshot_is_deleted_by_its_own_place(reconcilers):
    order = an_order(NAME, vpc="acme-older").model_dump(mode="json", by_alias=True)
    reconcilers.put("GpuSnapshot", "copy", meta=GOING, status={"order": order, "snapshotId": NAME})
    await reconcilers.snapshots.act(await reconcilers.facts("GpuSnapshot", "copy"), Plan(action=Verb.DELETE_SNAPSHOT))
    assert reconcilers.session.client.calls == [("delete_snapshot", {"id": NAME, "namespace": "acme-older", "cluster": "Msc1"})]


@pytest.mark.parametrize(
    ("seen", "orders"),
    [
        (Present(VmRecord(id="x"), NOW), True),
        (None, False),
        (UNSEEN, False),
        (Present(VmRecord(id="x"), NOW, duplicate_records=True), False),
    ],
)
async def test_a_snapshot_is_taken_only_of_a_vm_that_is_seen(reconcilers, seen, orders):
    reconcilers.put("GpuVM", "train", status={"vmId": "x", "order": an_order("x").model_dump(mode="json", by_alias=True)})
    reconcilers.put("GpuSnapshot", "copy")
    if seen is not None:
        reconcilers.session.vms.seen[Identity("Msc1", "acme", external_name("train", "u-train", TAG))] = seen
    facts = await reconcilers.facts("GpuSnapshot", "copy")
    assert reconcilers.snapshots.decide(facts).records_order is orders


async def listed_as_free(reconcilers, kind, name):
    """Two listings in a row lack it, as a name that anybody may choose needs."""
    reconciler = reconcilers.by_kind[kind]
    here = (await reconcilers.facts(kind, name)).identity
    getattr(reconcilers.session, reconciler.inventory_name).seen[here] = Absent(NOW, NOW, NOW)


@pytest.mark.parametrize("kind", ["GpuVpc", "GpuSnapshot"])
async def test_nothing_is_created_in_a_namespace_that_goes(reconcilers, kind):
    reconcilers.kube.dying.add("team")
    reconcilers.put("GpuVM", "train", status={"vmId": "x"})
    reconcilers.session.vms.seen[Identity("Msc1", "acme", external_name("train", "u-train", TAG))] = Present(
        VmRecord(id="x"), NOW
    )
    reconcilers.put(kind, "it")
    await listed_as_free(reconcilers, kind, "it")
    facts = await reconcilers.facts(kind, "it")
    assert facts.namespace_terminating
    assert not reconcilers.by_kind[kind].decide(facts).records_order


@pytest.mark.parametrize(("kind", "reads"), [("GpuVpc", 1), ("GpuSnapshot", 1)])
async def test_the_apiserver_is_read_only_when_something_may_be_created(reconcilers, kind, reads):
    reconcilers.put("GpuVM", "train", status={"vmId": "x"})
    reconcilers.put(kind, "it", meta=GOING)
    await reconcilers.facts(kind, "it")
    assert reconcilers.kube.reads == []
    reconcilers.put(kind, "new")
    await listed_as_free(reconcilers, kind, "new")
    await reconcilers.facts(kind, "new")
    assert len(reconcilers.kube.reads) == reads


@pytest.mark.parametrize("kind", ["GpuVpc", "GpuVM"])
async def test_nothing_is_read_while_no_listing_proves_that_the_name_is_free(reconcilers, kind):
    """What is read would be unused, and a listing that comes meanwhile would be missed for a turn."""
    reconcilers.clock.now += 1
    reconcilers.put(kind, "new", spec={"sshKeysFrom": [{"kind": "Secret", "name": "k", "key": "k"}]} if kind == "GpuVM" else {})
    facts = await reconcilers.facts(kind, "new")
    assert (isinstance(facts.found, Absent), reconcilers.kube.reads) == (True, [])


DOUBTED = Unknown(NOW - 5, UnknownReason.IMPLAUSIBLE)
# what the snapshot's listing shows, what the VMs' does, how many seconds ago its absence was accepted, what is told of the
# VMs, and why
BESIDE_VMS = [
    (Absent(NOW, NOW), NOW - 5, None, NOW - 5, "as it was listed"),
    (Absent(NOW, NOW), DOUBTED, None, DOUBTED, "as it is doubted"),
    (Absent(NOW, NOW), DOUBTED, 0, None, "a person has accepted that it is gone"),
    (Absent(NOW, NOW), DOUBTED, 300, DOUBTED, "a person has accepted another absence"),
    (UNSEEN, DOUBTED, None, None, "the snapshot is no more known"),
]


@pytest.mark.parametrize(("found", "vms", "accepted", "told", "why"), BESIDE_VMS, ids=[row[-1] for row in BESIDE_VMS])
async def test_a_snapshot_that_is_not_listed_knows_how_vms_are_listed(reconcilers, found, vms, accepted, told, why):
    reconcilers.session.vms.stands = vms
    wall = reading(reconcilers.clock).wall
    annotations = {} if accepted is None else {Annotation.ACCEPT_ABSENCE: rfc3339(wall - timedelta(seconds=accepted))}
    status = {"order": an_order(NAME).model_dump(mode="json", by_alias=True), "snapshotId": NAME}
    reconcilers.put("GpuSnapshot", "copy", meta={"annotations": annotations}, status=status)
    here = (await reconcilers.facts("GpuSnapshot", "copy")).identity
    reconcilers.session.snapshots.seen[here] = found
    facts = await reconcilers.facts("GpuSnapshot", "copy")
    known = facts.vms_listed
    assert (known.since if isinstance(known, Unknown) else known) == (told.since if isinstance(told, Unknown) else told), why


async def test_a_record_that_somebody_else_put_into_the_status_moves_no_snapshot(reconcilers):
    spec = {"vmRef": None, "vm": {"cluster": "Msc1", "vpc": "acme", "name": "by-hand"}}
    seen = an_order(NAME).model_dump(mode="json", by_alias=True)
    reconcilers.put("GpuSnapshot", "copy", spec=spec, status={"order": seen, "snapshotId": NAME})
    await reconcilers.facts("GpuSnapshot", "copy")
    reconcilers.put("GpuSnapshot", "copy", spec=spec, status={"order": seen | {"name": "theirs"}, "snapshotId": "theirs"})
    facts = await reconcilers.facts("GpuSnapshot", "copy")
    assert (facts.identity.name, isinstance(facts.found, Absent)) == (NAME, True)


@pytest.mark.parametrize(("meta", "state"), [({}, OrderState.SEEN), (GOING, OrderState.NOT_ORDERED)])
async def test_an_object_that_is_being_deleted_adopts_no_vpc(reconcilers, meta, state):
    """It would be adopted to be destroyed."""
    spec = {"adoption": "IfExists", "deletion": {"policy": "Delete"}}
    facts = await going(reconcilers, meta=meta, status={}, spec=spec)
    assert (facts.state, facts.ours) == (state, state is OrderState.SEEN)
