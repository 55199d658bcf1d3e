"""Snapshots that are deleted with their VM."""

from dataclasses import replace

import pytest

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.models import SnapshotRecord
from gpucloud.engine.cloud.cluster_records import EVERYTHING, Contents
from gpucloud.reconcile.facts import Unknown, UnknownReason, Verb
from gpucloud.reconcile.naming import Identity, external_name
from gpucloud.reconcile.plan import Plan
from support.builders import TAG
from support.fakes import GOING
from support.gpuvmrig import NOW, bought, ours

GOES = {"meta": GOING, "spec": {"deletion": {"snapshots": "Delete"}}}
WITH_ORDER = {"status": bought(ours().name, ours().name)}
INSIDE = Identity("Msc1", "acme", EVERYTHING)


def test_snapshots_are_watched_only_for_a_deletion_that_takes_them(rig):
    snapshots = rig.reconcilers.session.snapshots
    rig.put(spec=GOES["spec"])
    assert snapshots.watched == {}
    rig.put(meta=GOING)
    assert snapshots.watched == {}
    rig.put(**GOES)
    assert snapshots.watched == {"u1": INSIDE}
    rig.put(meta=GOING, spec={"deletion": {"snapshots": "Keep"}})
    assert snapshots.watched == {}, "the owner has changed his mind"


async def test_which_snapshots_are_the_vms_and_which_of_them_may_go(rig):
    rig.put(**GOES, **WITH_ORDER)
    name = external_name("mine", "u-mine", TAG)
    rig.reconcilers.put("GpuSnapshot", "mine", status=bought(name) | {"snapshotId": name})
    records = (
        SnapshotRecord(id=name, source_name=ours().name),
        SnapshotRecord(id="by-hand", source_name=ours().name),
        SnapshotRecord(id="of-nobody-knows"),
        SnapshotRecord(id="of-another-vm", source_name="another"),
    )
    rig.reconcilers.session.snapshots.inside = {("Msc1", "acme"): Contents(records, NOW)}
    found = (await rig.facts()).snapshots
    assert {item.name: item.deletable for item in found.items} == {name: True, "by-hand": False, "of-nobody-knows": False}
    assert found.as_of == NOW


async def test_snapshots_that_cannot_be_listed_are_unknown(rig):
    rig.put(**GOES, **WITH_ORDER)
    unseen = Unknown(NOW, UnknownReason.FORBIDDEN)
    rig.reconcilers.session.snapshots.inside = {("Msc1", "acme"): unseen}
    assert (await rig.facts()).snapshots == unseen


def two_snapshots(rig, **more):
    """Their names in the cloud; ``more``: of the second."""
    names = [external_name(one, f"u-{one}", TAG) for one in ("a", "b")]
    for one, name, extra in zip(("a", "b"), names, ({}, more), strict=True):
        rig.reconcilers.put("GpuSnapshot", one, status=bought(name) | {"snapshotId": name}, **extra)
    return names


async def test_every_snapshot_is_told_to_go_though_one_has_gone_already(rig):
    rig.put(**GOES, **WITH_ORDER)
    names = two_snapshots(rig)
    rig.client.fails = [CloudError(ErrorKind.NOT_FOUND, "not found")]
    event = await rig.act(Verb.DELETE_SNAPSHOT, targets=tuple(names))
    assert [(call, where["id"]) for call, where in rig.client.calls] == [("delete_snapshot", name) for name in names]
    assert not event.warning
    assert ", ".join(map(repr, names)) in event.note


async def test_a_snapshot_that_is_refused_ends_the_call_as_a_failure(rig):
    rig.put(**GOES, **WITH_ORDER)
    names = two_snapshots(rig)
    rig.client.fails = [CloudError(ErrorKind.FORBIDDEN, "no permission")]
    assert (await rig.act(Verb.DELETE_SNAPSHOT, targets=tuple(names))).warning
    assert len(rig.client.calls) == 1


@pytest.mark.parametrize(
    "said", [{"spec": {"deletion": {"policy": "Retain"}}}, {"meta": {"annotations": {"gpucloud.dev/paused": "true"}}}]
)
async def test_a_snapshot_whose_owner_keeps_it_meanwhile_stays(rig, said):
    """Between the decision and its turn, which the others before it may delay for minutes."""
    rig.put(**GOES, **WITH_ORDER)
    names = two_snapshots(rig, **said)
    assert await rig.act(Verb.DELETE_SNAPSHOT, targets=tuple(names)) is None
    assert [where["id"] for _, where in rig.client.calls] == names[:1]


async def test_a_vm_whose_snapshot_is_kept_meanwhile_is_not_destroyed_with_it(rig):
    rig.put(**GOES, **WITH_ORDER)
    names = two_snapshots(rig)
    records = tuple(SnapshotRecord(id=name, source_name=ours().name) for name in names)
    rig.reconcilers.session.snapshots.inside = {("Msc1", "acme"): Contents(records, NOW, None, records, NOW)}
    decided = await rig.facts()
    two_snapshots(rig, spec={"deletion": {"policy": "Retain"}})
    assert await rig.reconciler.act(decided, Plan(action=Verb.DESTROY)) is None
    assert rig.client.calls == []


async def test_the_vm_takes_its_snapshots_along_only_if_all_may_go(rig):
    name = external_name("mine", "u-mine", TAG)
    rig.reconcilers.put("GpuSnapshot", "mine", status=bought(name) | {"snapshotId": name, "readyToUse": True})
    rig.put(**GOES, **WITH_ORDER)
    place, listed = ("Msc1", "acme"), [SnapshotRecord(id=name, source_name=ours().name)]
    by_hand = SnapshotRecord(id="by-hand")
    once = Contents(tuple(listed), NOW)
    rig.reconcilers.session.snapshots.inside = {place: replace(once, before=(*listed, by_hand), before_as_of=NOW)}
    await rig.act(Verb.DESTROY)
    assert "delete_snapshots" not in rig.client.calls[-1][1], "one of the two listings shows another one"
    rig.reconcilers.session.snapshots.inside = {place: replace(once, before=tuple(listed), before_as_of=NOW)}
    told = await rig.act(Verb.DESTROY)
    assert rig.client.calls[-1][1]["delete_snapshots"] is True
    assert told.note == f"Requested destruction of VM {ours().name!r} and its data, with its snapshots {name!r}."
    rig.reconcilers.session.snapshots.inside = {place: Contents((*listed, by_hand), NOW)}
    told = await rig.act(Verb.DESTROY)
    assert "delete_snapshots" not in rig.client.calls[-1][1]
    assert "snapshots" not in told.note
