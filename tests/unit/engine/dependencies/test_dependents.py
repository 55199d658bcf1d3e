"""Who must be gone before a VPC, a VM or a snapshot is destroyed."""

import pytest

from gpucloud.cloud.models import VmRecord, VpcRecord
from gpucloud.engine.cloud.cluster_records import Contents
from gpucloud.engine.kinds.dependents import deletable_snapshots
from gpucloud.kinds.common import OWN_ACCOUNT, OrderState
from gpucloud.reconcile.facts import Present, Verb
from gpucloud.reconcile.naming import Identity, external_name
from gpucloud.reconcile.plan import Plan
from support.builders import TAG, an_order
from support.fakes import GOING
from support.referrers import BY_REF, FROM_SNAPSHOT, TAKEN, status

NOW = 1000.0
PAUSED = {"annotations": {"gpucloud.dev/paused": "true"}}
REFUSED = an_order("x", OrderState.REFUSED)
OVERDUE = an_order("x", OrderState.OVERDUE)


def a_vpc(reconcilers, **more):
    return reconcilers.put(
        "GpuVpc", "net", **{"status": status(order=("acme-train", "acme-train"), vpcId="7"), "meta": GOING} | more
    )


IN_IT = status("Running", "True", None, order=("x", "acme-train"))
LOST_WITH_IT = status("VMLost", order=an_order("x", OrderState.LOST, vpc="acme-train"))
OVERDUE_IN_IT = status("DependencyNotReady", order=an_order("x", OrderState.OVERDUE, vpc="acme-train"))


@pytest.mark.parametrize(
    ("kind", "other", "named", "why"),
    [
        ("GpuVM", {"spec": BY_REF}, "GpuVM 'other'", "it refers to it"),
        ("GpuVM", {"spec": BY_REF, "meta": GOING}, "GpuVM 'other'", "it goes, and is not gone"),
        ("GpuVM", {"spec": BY_REF, "meta": {"finalizers": []}}, None, "nothing can have been made for it yet"),
        ("GpuVM", {"spec": {"vpc": None, "vpcRef": {"name": "another"}}}, None, "another VPC"),
        ("GpuVM", {"spec": BY_REF, "meta": {"namespace": "others"}}, None, "another namespace's GpuVpc of that name"),
        ("GpuVM", {"spec": {"vpc": "acme-train"}}, None, "by name, and nothing ordered yet"),
        ("GpuVM", {"spec": {"vpc": "acme-train"}, "status": IN_IT}, "GpuVM 'other'", "by name, and ordered, perhaps"),
        (
            "GpuVM",
            {"spec": {"vpc": "acme-train"}, "status": IN_IT, "meta": {"namespace": "others"}},
            "a GpuVM in another namespace",
            "it is not named to those who may not see it",
        ),
        ("GpuVM", {"status": status(order=("x", "acme"))}, None, "ordered elsewhere"),
        (
            "GpuVM",
            {"spec": {"vpc": "acme-train"}, "status": IN_IT | {"tenancy": "b"}},
            None,
            "another tenant's VPC of that name",
        ),
        ("GpuSnapshot", {"status": IN_IT}, "GpuSnapshot 'other'", "a snapshot lives in it"),
        ("GpuSnapshot", {}, None, "nothing ordered"),
        ("GpuVM", {"spec": {"vpc": "acme-train"}, "status": OVERDUE_IN_IT}, None, "not ordered again: no deadlock"),
        ("GpuVM", {"spec": BY_REF, "status": OVERDUE_IN_IT}, "GpuVM 'other'", "it refers to it"),
        ("GpuSnapshot", {"status": OVERDUE_IN_IT}, None, "its VM is gone: no listing has shown it for ten graces"),
    ],
)
async def test_who_needs_a_vpc(reconcilers, kind, other, named, why):
    a_vpc(reconcilers, status=status(order=("acme-train", "acme-train"), vpcId="7", tenancy="a"))
    reconcilers.put(kind, "other", **other)
    assert (await reconcilers.facts("GpuVpc", "net")).dependents == ((named,) if named else ()), why


@pytest.mark.parametrize(
    ("other", "to_delete"),
    [
        ({"spec": BY_REF}, ("gpuvm/other",)),
        ({"spec": BY_REF, "meta": GOING}, ()),
        ({"spec": {"vpc": "acme-train"}, "status": IN_IT, "meta": {"namespace": "others"}}, None),
        ({"spec": {"vpc": "acme-train"}, "status": IN_IT, "meta": {"namespace": "others", **GOING}}, ()),
    ],
    ids=["nobody has deleted it", "it is being deleted", "in another namespace", "there, and being deleted"],
)
async def test_which_of_those_that_need_a_vpc_a_person_has_to_delete(reconcilers, other, to_delete):
    a_vpc(reconcilers, status=status(order=("acme-train", "acme-train"), vpcId="7", tenancy="a"))
    reconcilers.put("GpuVM", "other", **other)
    found = await reconcilers.facts("GpuVpc", "net")
    assert (len(found.dependents), found.dependents_to_delete) == (1, to_delete)


@pytest.mark.parametrize(
    ("other", "waits", "why"),
    [
        ({"spec": BY_REF}, False, "it waits for the VPC, and can use the next one"),
        ({"spec": BY_REF, "status": IN_IT}, True, "its VM shows that the VPC may stand"),
        ({"spec": BY_REF, "status": LOST_WITH_IT}, False, "it was lost with the VPC"),
    ],
)
async def test_who_needs_a_vpc_that_was_lost(reconcilers, other, waits, why):
    lost = an_order("acme-train", OrderState.LOST, vpc="acme-train", cloud_id="7")
    a_vpc(reconcilers, status=status("VPCLost", order=lost))
    reconcilers.put("GpuVM", "other", **other)
    assert (await reconcilers.facts("GpuVpc", "net")).dependents == (("GpuVM 'other'",) if waits else ()), why


async def test_a_vm_behind_another_endpoint_needs_no_vpc_of_ours(reconcilers, a_session):
    """Staging and production have clusters and VPCs of the same names."""
    reconcilers.account("there", session=a_session("https://two.example"))
    reconcilers.put("GpuVM", "other", spec={"vpc": "acme-train", "accountRef": {"name": "there"}}, status=IN_IT)
    a_vpc(reconcilers)
    assert (await reconcilers.facts("GpuVpc", "net")).dependents == ()


async def test_a_vpc_that_stays_asks_for_nobody(reconcilers):
    reconcilers.put("GpuVM", "other", spec=BY_REF)
    reconcilers.put("GpuVpc", "net")
    facts = await reconcilers.facts("GpuVpc", "net")
    assert (facts.dependents, facts.occupants) == ((), None)


@pytest.mark.parametrize(
    ("copy", "waits", "why"),
    [
        ({"status": status("Creating", order="x")}, True, "it is being taken"),
        ({"status": status("Creating")}, False, "nothing was ordered"),
        ({"status": status("Completed", "True", None, order="x", readyToUse=True)}, False, "it is taken"),
        ({"status": status("Stalled", order="x")}, True, "it is being taken, and a person is needed"),
        ({"status": status("Creating", order="x"), "meta": PAUSED}, True, "it is being taken, and paused"),
        ({"status": status("DependencyNotReady", order=REFUSED)}, False, "it waits itself: no deadlock"),
        ({"status": status("DependencyNotReady", order=OVERDUE)}, False, "seed 901011: it is not ordered again: no deadlock"),
        ({"status": status("Creating", order="x"), "meta": GOING}, False, "it goes itself: no deadlock"),
        ({"status": status("Creating", order="x"), "meta": {"finalizers": []}}, False, "it is ours no more"),
        ({"status": status("Creating", order="x"), "meta": {"namespace": "others"}}, False, "of another VM of that name"),
        ({"status": status("Creating", order="x"), "spec": {"vmRef": {"name": "another"}}}, False, "of another VM"),
        ({}, True, "its status may have been lost after it was ordered: its first reconcile tells"),
        ({"meta": {"finalizers": []}}, True, "the same, its finalizer too: etcd went back in time (seed 70039163)"),
        ({"meta": GOING}, False, "nothing is recorded, and it goes itself"),
        ({"status": status("Pending") | {"observedGeneration": 0}}, False, "it was looked for, and nothing was ordered"),
    ],
)
async def test_a_vm_waits_for_its_snapshot_under_way(reconcilers, copy, waits, why):
    reconcilers.put("GpuVM", "train", meta=GOING)
    reconcilers.put("GpuSnapshot", "copy", **copy)
    assert (await reconcilers.facts("GpuVM", "train")).dependents == (("GpuSnapshot 'copy'",) if waits else ()), why


@pytest.mark.parametrize(
    ("place", "more", "named", "why"),
    [
        ({}, {}, "GpuSnapshot 'copy'", "the destroying call may take it along, retained or not"),
        ({}, {"meta": {"namespace": "others"}}, "a GpuSnapshot in another namespace", "there it cannot be named otherwise"),
        ({"cluster": "Msc2"}, {}, None, "a VM of that name elsewhere"),
        ({"vpc": "lab"}, {}, None, "a VM of that name in another VPC"),
        ({"name": "another"}, {}, None, "another VM"),
        ({}, {"status": status("Completed", "True", None, order="x", readyToUse=True)}, None, "it is taken"),
        ({}, {"status": status("Creating", order="x", tenancy="else")}, None, "of another tenant's VM"),
    ],
)
async def test_a_vm_waits_for_a_snapshot_that_names_it_by_its_place(reconcilers, place, more, named, why):
    vm = reconcilers.put("GpuVM", "train", meta=GOING, status=status("Running", "True", None, order="x", tenancy="acme"))
    here = {"cluster": "Msc1", "vpc": "acme", "name": reconcilers.vms.identity(vm, vm.spec).name}
    given = {"status": status("Creating", order="x")} | more
    reconcilers.put("GpuSnapshot", "copy", spec={"vmRef": None, "vm": here | place}, **given)
    assert (await reconcilers.facts("GpuVM", "train")).dependents == (() if named is None else (named,)), why


@pytest.mark.parametrize(
    ("vm", "waits"),
    [
        ({"status": status("Creating", order="x")}, True),
        ({"status": status("WaitingForCapacity", order="x")}, True),
        ({"status": status("ProgressDeadlineExceeded", progress="Stalled", order="x")}, True),
        ({"status": status("Creating", order="x"), "meta": PAUSED}, True),
        ({"status": status("Running", "True", None, order="x", settledGeneration=1)}, False),
        ({"status": status("CreateFailed", progress="Stalled", order="x", state="CREATE_FAILED")}, False),
        ({"status": status("DependencyNotReady", order=REFUSED)}, False),
        ({"status": status("DependencyNotReady", order=OVERDUE)}, False),
        ({"status": status("Creating", order="x"), "meta": GOING}, False),
        ({"status": status("Creating", order="x"), "spec": {"image": {"snapshot": "golden"}}}, False),
        ({}, True),
        ({"meta": GOING}, False),
    ],
)
async def test_a_snapshot_waits_for_the_vm_that_is_made_from_it(reconcilers, vm, waits):
    reconcilers.put("GpuSnapshot", "golden", meta=GOING)
    reconcilers.put("GpuVM", "train", **{"spec": FROM_SNAPSHOT} | vm)
    assert (await reconcilers.facts("GpuSnapshot", "golden")).dependents == (("GpuVM 'train'",) if waits else ())


async def test_an_order_that_was_recorded_and_not_sent_is_withdrawn_when_what_it_needs_goes(reconcilers):
    """Otherwise the VM would wait for its snapshot, and the snapshot for the VM to stay."""
    here = Identity("Msc1", "acme", external_name("train", "u-train", TAG))
    reconcilers.session.vms.seen[here] = Present(VmRecord(id=here.name, status="ONLINE"), NOW)
    running = status("Running", "True", None, order=here.name)
    reconcilers.put("GpuVM", "train", status=running)
    reconcilers.put("GpuSnapshot", "copy")

    async def decided():
        plan = reconcilers.snapshots.decide(await reconcilers.facts("GpuSnapshot", "copy"))
        if plan.records_order:
            reconcilers.snapshots.before_recording("u-copy", plan.status)
        reconcilers.put("GpuSnapshot", "copy", status=plan.status.model_dump(mode="json", by_alias=True, exclude_none=True))
        return plan

    assert (await decided()).records_order
    reconcilers.put("GpuVM", "train", meta=GOING, status=running)
    assert (await reconcilers.facts("GpuVM", "train")).dependents == ("GpuSnapshot 'copy'",)
    assert (await decided()).status.order.state is OrderState.REFUSED
    assert (await reconcilers.facts("GpuVM", "train")).dependents == ()
    reconcilers.put("GpuVM", "train", status=running)
    assert (await decided()).records_order, "nothing is sent on a record that was withdrawn"
    assert (await decided()).action is Verb.CREATE_SNAPSHOT


async def test_a_snapshot_that_another_vm_is_being_made_from_does_not_go_with_its_vm(reconcilers):
    vm = reconcilers.put("GpuVM", "train", meta=GOING)
    reconcilers.put("GpuSnapshot", "copy", status=status(order=TAKEN, snapshotId=TAKEN))
    here = reconcilers.objects.vm_identity(vm, vm.spec)
    spec = {"image": {"snapshotRef": {"name": "copy"}}}
    reconcilers.put("GpuVM", "restored", spec=spec, status=status("Creating", order=an_order("x", OrderState.ACCEPTED)))
    assert list(deletable_snapshots(reconcilers.objects, vm, here)) == []
    reconcilers.put("GpuVM", "restored", spec=spec, status=status("Running", "True", None, order="x", settledGeneration=1))
    assert list(deletable_snapshots(reconcilers.objects, vm, here)) == [TAKEN]


@pytest.mark.parametrize(
    ("copy", "goes", "why"),
    [
        ({}, True, ""),
        ({"spec": {"deletion": {"policy": "Retain"}}}, False, "its owner keeps it"),
        ({"meta": {"namespace": "others"}}, False, "another namespace's"),
        ({"meta": {"annotations": {"gpucloud.dev/paused": "true"}}}, False, "a person said: hands off"),
        ({"status": status(order=TAKEN)}, False, "never seen"),
        ({"spec": {"vmRef": {"name": "another"}}}, False, "of another VM"),
        ({"spec": {"snapshotName": "chosen"}, "status": {"snapshotId": "chosen"}}, False, "no order: the name proves nothing"),
        (
            {"spec": {"snapshotName": "chosen"}, "status": status(order="elsewhere", snapshotId="chosen")},
            False,
            "nor this one",
        ),
    ],
)
async def test_which_snapshots_may_go_with_their_vm(reconcilers, copy, goes, why):
    vm = reconcilers.put("GpuVM", "train", meta=GOING)
    reconcilers.put("GpuSnapshot", "copy", **{"status": status(order=TAKEN, snapshotId=TAKEN)} | copy)
    here = reconcilers.objects.vm_identity(vm, vm.spec)
    assert list(deletable_snapshots(reconcilers.objects, vm, here)) == ([TAKEN] if goes else []), why


def chosen(state=OrderState.SEEN, **more):
    """The status of a GpuSnapshot that chooses the name of its snapshot."""
    return status(order=an_order("chosen", state, **more), snapshotId="chosen")


ADOPTED = chosen(origin="Adopted")
DELETE = {"snapshotName": "chosen", "deletion": {"policy": "Delete"}}


@pytest.mark.parametrize(
    ("spec", "copy", "goes", "why"),
    [
        ({}, chosen(), True, "a listing has shown it as ours"),
        ({}, chosen() | {"tenancy": "acme"}, True, "in this tenant"),
        ({}, chosen() | {"tenancy": "other"}, False, "there its name is another's"),
        ({}, chosen(missing_since="2026-01-01T00:00:00Z"), False, "two listings lacked it: what has the name may be another's"),
        ({}, chosen(OrderState.UNCLEAR), False, "the order may have made it, or anybody"),
        ({}, chosen(OrderState.LOST), False, "another has its name now"),
        ({}, chosen(OrderState.DESTROYING), True, "it goes"),
        ({"adoption": "IfExists"}, ADOPTED | {"account": "ours"}, True, "adopted, and to be deleted"),
        ({}, ADOPTED | {"account": "ours"}, False, "the spec adopts it no more"),
        ({"adoption": "IfExists"}, ADOPTED | {"account": OWN_ACCOUNT}, True, "of an account where that is allowed"),
    ],
)
async def test_a_snapshot_of_a_chosen_name_goes_with_its_vm_only_if_it_is_its_objects(reconcilers, spec, copy, goes, why):
    vm = reconcilers.put("GpuVM", "train", meta=GOING, status=status("Running", "True", None, order="x", tenancy="acme"))
    reconcilers.put("GpuSnapshot", "copy", spec=DELETE | spec, status=copy)
    here = reconcilers.objects.vm_identity(vm, vm.spec)
    assert list(deletable_snapshots(reconcilers.objects, vm, here)) == (["chosen"] if goes else []), why


@pytest.mark.parametrize(("copy", "goes"), [(ADOPTED, False), (chosen(), True)])
async def test_what_was_adopted_does_not_go_with_a_vm_where_nothing_may_be_adopted(isolated, copy, goes):
    """The administrator has isolated the namespaces since: it may be another one's."""
    vm = isolated.put("GpuVM", "train", meta=GOING)
    isolated.put("GpuSnapshot", "copy", spec=DELETE | {"adoption": "IfExists"}, status=copy | {"account": OWN_ACCOUNT})
    here = isolated.objects.vm_identity(vm, vm.spec)
    assert list(deletable_snapshots(isolated.objects, vm, here)) == (["chosen"] if goes else [])


async def test_a_snapshot_goes_with_its_vm_however_its_cluster_is_spelled(reconcilers):
    """``deletion.snapshots: Delete`` would leave it there, billed."""
    vm = reconcilers.put("GpuVM", "train", spec={"vmName": "prod"}, meta=GOING)
    here = reconcilers.objects.vm_identity(vm, vm.spec)
    source = {"vmRef": None, "vm": {"cluster": here.cluster.upper(), "vpc": here.vpc, "name": here.name}}
    reconcilers.put("GpuSnapshot", "copy", spec=source, status=status(order=TAKEN, snapshotId=TAKEN))
    assert list(deletable_snapshots(reconcilers.objects, vm, here)) == [TAKEN]


UNDER_WAY = status("Creating", order="x")
COMES_IN_BETWEEN = {
    "GpuVM": ("GpuSnapshot", {"spec": {"vmRef": {"name": "train"}}, "status": UNDER_WAY}),
    "GpuSnapshot": ("GpuVM", {"spec": FROM_SNAPSHOT | {"image": {"snapshotRef": {"name": "train"}}}, "status": UNDER_WAY}),
    "GpuVpc": ("GpuVM", {"spec": {"vpc": "acme-train"}, "status": IN_IT}),
}


@pytest.mark.parametrize("kind", COMES_IN_BETWEEN)
async def test_what_is_needed_since_the_decision_is_not_destroyed(reconcilers, kind):
    """Another reconcile found out meanwhile, or the call waited for the request budget (seed 70039163)."""
    reconciler = reconcilers.by_kind[kind]
    name, vpc = ("acme-train", "acme-train") if kind == "GpuVpc" else (external_name("train", "u-train", TAG), "acme")
    order = an_order(name, OrderState.DESTROYING, vpc=vpc, cloud_id="7")
    reconcilers.put(kind, meta=GOING, status=status("Deleting", order=order, vpcId="7"))
    reconcilers.session.vpcs.seen[Identity("Msc1", vpc, name)] = Present(VpcRecord(id="7", name=name), NOW)
    for needed in (False, True):
        facts = await reconcilers.facts(kind)
        if needed:
            other, more = COMES_IN_BETWEEN[kind]
            reconcilers.put(other, "other", **more)
        reconcilers.session.client.calls.clear()
        await reconciler.act(facts, Plan(action=facts.subject.destroy))
        assert (reconcilers.session.client.calls == []) is needed


async def test_a_vpc_in_which_a_listing_shows_something_since_the_decision_is_not_destroyed(reconcilers):
    a_vpc(reconcilers)
    here = Identity("Msc1", "acme-train", "acme-train")
    reconcilers.session.vpcs.seen[here] = Present(VpcRecord(id="7", name=here.name), NOW)
    for inside in ((VmRecord(id="a"),), ()):
        facts = await reconcilers.facts("GpuVpc", "net")
        reconcilers.session.vms.inside = {("Msc1", "acme-train"): Contents(inside, NOW)}
        await reconcilers.vpcs.act(facts, Plan(action=Verb.DESTROY_VPC))
        assert (reconcilers.session.client.calls == []) is bool(inside)
