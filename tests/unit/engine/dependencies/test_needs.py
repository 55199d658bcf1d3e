"""What must be there before a VM or a snapshot is ordered."""

import pytest

from gpucloud.kinds.common import OrderState
from gpucloud.kinds.meta import FINAL_SNAPSHOT_OF
from gpucloud.reconcile.facts import Readiness
from gpucloud.reconcile.naming import external_name
from support.builders import TAG, an_order
from support.fakes import GOING
from support.ordered import NOT_ORDERED
from support.referrers import BY_REF, COMPLETED, FROM_SNAPSHOT, READY, need, status

ID = {"snapshotId": "golden-1"}


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
    assert (found.readiness, found.held) == (readiness, readiness is Readiness.DELETING), why
    assert found.name == "GpuVpc 'net'"


@pytest.mark.parametrize(
    ("order", "taken", "says"),
    [
        (None, COMPLETED | ID, "delete this object and create it again with spec.image.snapshot: 'golden-1'."),
        (None, COMPLETED, "delete this object and create it again with another spec.image."),
        (None, status("DependencyNotReady") | ID, "create it again with spec.image.snapshot: 'golden-1'."),
        ("train-1", COMPLETED | ID, "GpuSnapshot, set spec.image.snapshot: 'golden-1'."),
    ],
    ids=["nothing is ordered", "its id is lost, too", "it waits for its GpuVM by now", "a deletion would destroy the VM"],
)
async def test_a_snapshot_that_was_taken_and_has_lost_its_name(reconcilers, order, taken, says):
    reconcilers.put("GpuSnapshot", "golden", spec={"vmRef": {"name": "other"}}, status=taken)
    reconcilers.put("GpuVM", spec=FROM_SNAPSHOT, status=status(order=order))
    (found,) = (await reconcilers.facts("GpuVM")).needs
    assert (found.readiness, found.detail.endswith(says)) == (Readiness.NAMELESS, True), found.detail


@pytest.mark.parametrize(
    ("kind", "spec", "field"),
    [
        ("GpuVM", BY_REF, "spec.vpcRef"),
        ("GpuVM", FROM_SNAPSHOT, "spec.image.snapshotRef"),
        ("GpuSnapshot", {"vmRef": {"name": "train"}}, "spec.vmRef"),
    ],
)
async def test_what_is_missing_is_told_with_the_field_that_names_it(reconcilers, kind, spec, field):
    reconcilers.put(kind, spec=spec)
    (found,) = (await reconcilers.facts(kind)).needs
    assert (found.readiness, found.field) == (Readiness.MISSING, field)


@pytest.mark.parametrize(
    ("there", "meant", "why"),
    [
        ([("nte", "team")], ("nte",), "a slip"),
        ([("nte", "others")], (), "names of other namespaces are not shown"),
        ([("wide", "team")], (), "no name is near"),
        ([("net", "team")], (), "it is there, and not Ready"),
        ([("nte", "team"), *((f"net-{n}", "team") for n in range(100))], (), "each reconcile would compare them all"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)
async def test_what_is_missing_is_told_with_the_name_that_is_near(reconcilers, there, meant, why):
    for name, namespace in there:
        reconcilers.put("GpuVpc", name, meta={"namespace": namespace})
    reconcilers.put("GpuVM", spec=BY_REF)
    (found,) = (await reconcilers.facts("GpuVM")).needs
    assert found.near == meant, why


@pytest.mark.parametrize(
    ("kind", "spec", "other"),
    [("GpuVM", FROM_SNAPSHOT, ("GpuSnapshot", "goldn")), ("GpuSnapshot", {"vmRef": {"name": "train"}}, ("GpuVM", "trian"))],
)
async def test_each_reference_is_compared_with_the_names_of_its_kind(reconcilers, kind, spec, other):
    reconcilers.put(*other)
    reconcilers.put(kind, spec=spec)
    (found,) = (await reconcilers.facts(kind)).needs
    assert found.near == (other[1],)


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


async def test_a_command_that_ends_these_words_stands_in_no_bracket(reconcilers):
    stalled = status("Conflict", progress="Stalled")
    for one in stalled["conditions"]:
        one["message"] = "It is taken: kubectl delete gpuvpc first --namespace=team"
    reconcilers.put("GpuVpc", "net", status=stalled)
    reconcilers.put("GpuVM", spec=BY_REF)
    (found,) = (await reconcilers.facts("GpuVM")).needs
    assert found.detail == "Conflict: It is taken: kubectl delete gpuvpc first --namespace=team"


@pytest.mark.parametrize("reason", ["Pending", "DependencyNotReady", "Creating", "ApiError"])
async def test_the_state_of_an_object_that_goes_on_by_itself_is_not_repeated(reconcilers, reason):
    """It passes within seconds, in which the message about it would be wrong."""
    reconcilers.put("GpuVpc", "net", status=status(reason))
    reconcilers.put("GpuVM", spec=BY_REF)
    (found,) = (await reconcilers.facts("GpuVM")).needs
    assert (found.readiness, found.detail) == (Readiness.PENDING, "")
    reconcilers.put("GpuSnapshot", spec={"vmRef": {"name": "train"}})
    (found,) = (await reconcilers.facts("GpuSnapshot")).needs
    assert (found.readiness, found.detail) == (Readiness.PENDING, "")


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


async def test_a_vm_that_may_stand_is_not_given_up_for_a_snapshot_of_another_tenant(reconcilers):
    """It may be replaced for an edit: who deletes the object destroys the VM."""
    reconcilers.session.learned.tenants = frozenset({"acme"})
    reconcilers.put("GpuSnapshot", "golden", status=COMPLETED | {"tenancy": "other"})
    reconcilers.put("GpuVM", spec=FROM_SNAPSHOT, status=status("Creating", order=external_name("train", TAG, "u-train")))
    (found,) = (await reconcilers.facts("GpuVM")).needs
    assert found.detail.endswith("Give GpuSnapshot 'golden' an account of this object's tenant.")
    assert "Delete" not in found.detail


async def test_nothing_is_created_with_an_account_that_is_leaving(reconcilers):
    reconcilers.account(deleting=True)
    reconcilers.put("GpuVM", status=NOT_ORDERED)
    reconcilers.put("GpuVpc")
    reconcilers.put("GpuSnapshot", status=NOT_ORDERED)
    for kind in ("GpuVM", "GpuVpc", "GpuSnapshot"):
        assert ("GpuCloudAccount 'default'", Readiness.DELETING) in await need(reconcilers, kind)


@pytest.mark.parametrize(("vm", "waits"), [({"meta": GOING}, False), ({}, True), (None, True)])
async def test_the_final_snapshot_of_a_vm_is_taken_with_an_account_that_waits_for_the_vm(reconcilers, vm, waits):
    """Seed 92010036: the Secret waited for the VM, the VM for its final snapshot, and that for another Secret."""
    reconcilers.account(deleting=True)
    if vm is not None:
        reconcilers.put("GpuVM", "train", **vm)
    reconcilers.put("GpuSnapshot", status=NOT_ORDERED, meta={"annotations": {FINAL_SNAPSHOT_OF: "u-train"}})
    assert (("GpuCloudAccount 'default'", Readiness.DELETING) in await need(reconcilers, "GpuSnapshot")) is waits


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
