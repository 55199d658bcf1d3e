"""How the kinds hang together: what is needed before a creation, and who must be gone before an end."""

import pytest

from gpucloud.cloud.models import VmRecord
from gpucloud.kinds.common import Order, OrderState
from gpucloud.reconcile.facts import Present, Readiness, Unknown, UnknownReason, Verb
from gpucloud.reconcile.naming import Identity, external_name
from support.builders import TAG, a_status, an_order
from support.fakes import GOING

NOW = 1000.0
BY_REF = {"vpc": None, "vpcRef": {"name": "net"}}
PAUSED = {"annotations": {"gpucloud.dev/paused": "true"}}
REFUSED = an_order("x", OrderState.REFUSED)
OVERDUE = an_order("x", OrderState.OVERDUE)
FROM_SNAPSHOT = {"image": {"snapshotRef": {"name": "golden"}}}


def status(reason=None, ready="False", progress="Reconciling", *, generation=1, order=None, **fields):
    """A status as it stands in the apiserver; ``order`` is a name, a name with its VPC, or a whole record of an order."""
    document = a_status(reason, ready, progress, generation=generation).model_dump(
        mode="json", by_alias=True, exclude_none=True
    )
    if order is not None:
        if not isinstance(order, Order):
            name, vpc = order if isinstance(order, tuple) else (order, "acme")
            order = an_order(name, vpc=vpc)
        document["order"] = order.model_dump(mode="json", by_alias=True)
    return document | fields


READY = status("Available", "True", None)
COMPLETED = status("Completed", "True", None)


async def need(reconcilers, kind="GpuVM"):
    """The needs that are not met, as words of readiness."""
    found = (await reconcilers.facts(kind)).needs
    return [(item.name, item.readiness) for item in found if item.readiness is not Readiness.READY]


# --- what a VM needs


@pytest.mark.parametrize(
    ("net", "readiness", "why"),
    [
        (None, Readiness.MISSING, "applied in the wrong order"),
        ({"meta": {"namespace": "others"}, "status": READY}, Readiness.MISSING, "references never leave the namespace"),
        ({}, Readiness.PENDING, "not looked at yet"),
        ({"status": status("Creating")}, Readiness.PENDING, "being made"),
        ({"status": status("Conflict", progress="Stalled")}, Readiness.PENDING, "its own trouble is told in its own words"),
        ({"status": READY, "meta": {"generation": 2}}, Readiness.PENDING, "Ready speaks of an older generation"),
        ({"status": READY, "meta": GOING}, Readiness.DELETING, "nothing is put into what goes"),
        ({"status": READY, "spec": {"cluster": "Hou1"}}, Readiness.UNUSABLE, "another cluster"),
        ({"status": READY, "spec": {"cluster": "msc1"}}, Readiness.READY, "the same cluster in another spelling"),
        ({"status": READY | {"tenancy": "other"}}, Readiness.UNUSABLE, "another tenant"),
        ({"status": READY | {"tenancy": "acme"}}, Readiness.READY, "the same tenant"),
        ({"status": READY}, Readiness.READY, ""),
    ],
)
async def test_the_vpc_that_a_vm_refers_to(reconcilers, net, readiness, why):
    reconcilers.session.learned.tenants = frozenset({"acme"})
    if net is not None:
        reconcilers.put("GpuVpc", "net", **net)
    reconcilers.put("GpuVM", spec=BY_REF)
    (found,) = (await reconcilers.facts("GpuVM")).needs
    assert found.readiness is readiness, why
    assert found.name == "GpuVpc 'net'"


async def test_a_vpc_behind_another_endpoint_is_elsewhere(reconcilers, a_session):
    reconcilers.account("there", session=a_session("https://two.example"))
    reconcilers.put("GpuVpc", "net", spec={"accountRef": {"name": "there"}}, status=READY)
    reconcilers.put("GpuVM", spec=BY_REF)
    assert await need(reconcilers) == [("GpuVpc 'net'", Readiness.UNUSABLE)]


async def test_a_vpc_that_stands_for_another_than_the_vm_was_ordered_in_is_elsewhere(reconcilers):
    reconcilers.put("GpuVpc", "net", status=READY)
    name = external_name("train", "u-train", TAG)
    reconcilers.put("GpuVM", spec=BY_REF, status=status("Creating", order=(name, "acme-older")))
    assert await need(reconcilers) == [("GpuVpc 'net'", Readiness.UNUSABLE)]


async def test_why_a_vpc_is_not_ready_is_told_in_its_own_words(reconcilers):
    reconcilers.put("GpuVpc", "net", status=status("Conflict", progress="Stalled"))
    reconcilers.put("GpuVM", spec=BY_REF)
    (found,) = (await reconcilers.facts("GpuVM")).needs
    assert found.detail == "(Conflict: Made up.)"


@pytest.mark.parametrize(
    ("golden", "readiness"),
    [
        (None, Readiness.MISSING),
        ({}, Readiness.PENDING),
        ({"status": status("Creating")}, Readiness.PENDING),
        ({"status": COMPLETED, "meta": GOING}, Readiness.DELETING),
        ({"status": COMPLETED | {"cluster": "Hou1"}}, Readiness.UNUSABLE),
        ({"status": COMPLETED | {"tenancy": "other"}}, Readiness.UNUSABLE),
        ({"status": COMPLETED | {"cluster": "Msc1"}}, Readiness.READY),
    ],
)
async def test_the_snapshot_that_a_vm_is_made_from(reconcilers, golden, readiness):
    reconcilers.session.learned.tenants = frozenset({"acme"})
    if golden is not None:
        reconcilers.put("GpuSnapshot", "golden", **golden)
    reconcilers.put("GpuVM", spec=FROM_SNAPSHOT)
    (found,) = (await reconcilers.facts("GpuVM")).needs
    assert found.readiness is readiness


async def test_nothing_is_created_with_an_account_that_is_leaving(reconcilers):
    reconcilers.account(deleting=True)
    reconcilers.put("GpuVM")
    reconcilers.put("GpuVpc")
    reconcilers.put("GpuSnapshot")
    for kind in ("GpuVM", "GpuVpc", "GpuSnapshot"):
        assert ("GpuCloudAccount 'default'", Readiness.DELETING) in await need(reconcilers, kind)


async def test_what_exists_asks_for_nothing_when_it_goes(reconcilers):
    reconcilers.put("GpuVM", spec=BY_REF, meta=GOING)
    assert (await reconcilers.facts("GpuVM")).needs == ()


LEAVING_VPC = {"spec": {"name": "acme"}, "meta": GOING, "status": READY | {"vpcId": "7"}}


@pytest.mark.parametrize(
    ("vpc", "barred", "why"),
    [
        (LEAVING_VPC, True, "its GpuVpc is about to destroy it"),
        (LEAVING_VPC | {"meta": GOING | {"namespace": "others"}}, True, "whoever's namespace it is in"),
        (LEAVING_VPC | {"meta": {}}, False, "it stays"),
        (LEAVING_VPC | {"meta": GOING | {"finalizers": ["other.example/x"]}}, False, "it is ours no more"),
        (LEAVING_VPC | {"status": READY}, False, "it never was there"),
        (LEAVING_VPC | {"spec": {"name": "acme-train"}}, False, "another VPC"),
        (LEAVING_VPC | {"spec": {"name": "acme", "cluster": "Hou1"}}, False, "another cluster"),
        (LEAVING_VPC | {"spec": {"name": "acme", "deletion": {"policy": "Retain"}}}, False, "the VPC itself stays"),
        (LEAVING_VPC | {"status": READY | {"vpcId": "7", "adopted": True}}, False, "what was adopted stays"),
        (
            {**LEAVING_VPC, "spec": {"name": "acme", "deletion": {"policy": "Delete"}}}
            | {"status": READY | {"vpcId": "7", "adopted": True}},
            True,
            "unless its owner says otherwise",
        ),
    ],
)
async def test_a_vpc_by_name_is_barred_while_it_is_about_to_be_destroyed(reconcilers, vpc, barred, why):
    reconcilers.put("GpuVpc", "net", **vpc)
    reconcilers.put("GpuVM")
    assert await need(reconcilers) == ([("VPC 'acme'", Readiness.DELETING)] if barred else []), why


async def test_a_vpc_of_that_name_behind_another_endpoint_bars_nothing(reconcilers, a_session):
    reconcilers.account("there", session=a_session("https://two.example"))
    reconcilers.put("GpuVpc", "net", **LEAVING_VPC | {"spec": {"name": "acme", "accountRef": {"name": "there"}}})
    reconcilers.put("GpuVM")
    assert await need(reconcilers) == []


# --- what a snapshot needs


@pytest.mark.parametrize(
    ("vm", "needs", "why"),
    [
        (None, [Readiness.MISSING], ""),
        ({}, [Readiness.PENDING], "never seen"),
        ({"status": {"vmId": "x"}}, [Readiness.PENDING], "an id without the record of an order"),
        ({"meta": GOING, "status": status(order="x")}, [Readiness.DELETING], ""),
        ({"status": status("VMLost", progress="Stalled", order=an_order("x", OrderState.LOST))}, [Readiness.PENDING], "gone"),
        ({"status": status("PoweredOff", "True", None, order="x")}, [], "it need not be on"),
        ({"status": status("ApiUnavailable", "Unknown", order="x")}, [], "its present trouble is no matter"),
    ],
)
async def test_the_vm_that_a_snapshot_is_taken_of(reconcilers, vm, needs, why):
    if vm is not None:
        reconcilers.put("GpuVM", "train", **vm)
    reconcilers.put("GpuSnapshot", "copy")
    found = await reconcilers.facts("GpuSnapshot", "copy")
    assert [item.readiness for item in found.needs] == needs, why


async def test_a_snapshot_of_a_vm_by_name_needs_no_object(reconcilers):
    there = {"cluster": "Msc1", "vpc": "acme", "name": "by-hand"}
    reconcilers.put("GpuSnapshot", "copy", spec={"vmRef": None, "vm": there})
    facts = await reconcilers.facts("GpuSnapshot", "copy")
    assert (facts.needs, facts.source.name) == ((), "by-hand")


# --- who needs a VPC still


def a_vpc(reconcilers, **more):
    return reconcilers.put(
        "GpuVpc", "net", **{"status": status(order=("acme-train", "acme-train"), vpcId="7"), "meta": GOING} | more
    )


IN_IT = status("Running", "True", None, order=("x", "acme-train"))
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


# --- who needs a VM, or a snapshot, still


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
    assert list(reconcilers.objects.deletable_snapshots(vm, here)) == []
    reconcilers.put("GpuVM", "restored", spec=spec, status=status("Running", "True", None, order="x", settledGeneration=1))
    assert list(reconcilers.objects.deletable_snapshots(vm, here)) == [TAKEN]


# --- which snapshots go with a VM

TAKEN = external_name("copy", "u-copy", TAG)


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
    assert list(reconcilers.objects.deletable_snapshots(vm, here)) == ([TAKEN] if goes else []), why


# --- where things are looked for

OURS = external_name("train", "u-train", TAG)


async def test_a_vm_whose_vpc_is_not_known_is_looked_for_in_all(reconcilers):
    """Its name bears its own fingerprint, so wherever it is, it is the one."""
    reconcilers.put("GpuVM", spec=BY_REF)
    assert (await reconcilers.facts("GpuVM")).identity == Identity("Msc1", "", OURS)
    reconcilers.put("GpuVpc", "net")
    assert (await reconcilers.facts("GpuVM")).identity == Identity("Msc1", "acme-train", OURS)


async def test_a_chosen_name_is_looked_for_nowhere_before_its_vpc_is_known(reconcilers):
    """In another VPC it is anybody's."""
    reconcilers.put("GpuVM", spec=BY_REF | {"vmName": "chosen"})
    reconcilers.session.vms.seen[Identity("Msc1", "", "chosen")] = Present(VmRecord(id="chosen"), NOW)
    facts = await reconcilers.facts("GpuVM")
    assert isinstance(facts.found, Unknown)
    assert facts.found.cause is UnknownReason.UNPLACED
    ready = reconcilers.vms.decide(facts).status.conditions[0]
    assert (ready.reason, "GpuVpc 'net'" in ready.message) == ("DependencyNotReady", True)


@pytest.mark.parametrize("more", [{}, {"vmName": "chosen"}])
async def test_a_vm_outlives_the_object_that_named_its_vpc(reconcilers, more):
    name = more.get("vmName", OURS)
    reconcilers.put("GpuVM", spec=BY_REF | more, status=status(order=(name, "acme-train"), vmId=name))
    assert (await reconcilers.facts("GpuVM")).identity == Identity("Msc1", "acme-train", name)
    reconcilers.put("GpuVpc", "net", spec={"name": "acme-other"})
    assert (await reconcilers.facts("GpuVM")).identity == Identity("Msc1", "acme-train", name), "a namesake moves no VM"


async def test_a_snapshot_outlives_its_vm(reconcilers):
    reconcilers.put("GpuSnapshot", "copy", status=status(order=(TAKEN, "acme-train"), snapshotId=TAKEN))
    assert (await reconcilers.facts("GpuSnapshot", "copy")).identity == Identity("Msc1", "acme-train", TAKEN)


@pytest.mark.parametrize("vm", [None, {"spec": BY_REF}])
async def test_a_snapshot_whose_vms_place_is_not_known_has_none_itself(reconcilers, vm):
    if vm is not None:
        reconcilers.put("GpuVM", "train", **vm)
    reconcilers.put("GpuSnapshot", "copy")
    facts = await reconcilers.facts("GpuSnapshot", "copy")
    assert facts.found.cause is UnknownReason.UNPLACED
    assert reconcilers.snapshots.decide(facts).action is None
    assert reconcilers.session.snapshots.watched == {}
