"""Namespaces that share the operator's own account: what may be named by its name in the cloud, and what may be adopted."""

import pytest

from gpucloud.cloud.models import VpcRecord
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.facts import Absent, Present, Readiness
from gpucloud.reconcile.naming import Identity
from support.builders import an_order
from support.fakes import GOING
from support.ordered import NOT_ORDERED

NOW = 1000.0
OWN = "(operator)"
PROD = {"cluster": "Msc1", "vpc": "acme", "name": "prod"}
COPY = {"vmRef": None, "vm": PROD}
BOOT = {"image": {"snapshot": "golden"}}
THEIRS = {"namespace": "others"}
HERE = Identity("Msc1", "acme", "acme")


def made(name, field, state=OrderState.SEEN, **more):
    """The status of something that was ordered under this name with the operator's own account, and has been seen."""
    order = an_order(name, state, vpc="acme").model_dump(mode="json", by_alias=True)
    return {"account": OWN, "order": order, field: name} | more


VM = {"spec": {"vmName": "prod"}, "status": made("prod", "vmId")}
SPELLED = {"snapshotName": "golden", "vm": PROD | {"cluster": "MSC1"}}
SNAPSHOT = {"spec": {"snapshotName": "golden"}, "status": made("golden", "snapshotId")}


async def refused(reconcilers, kind, name="train"):
    """What is refused, in the words of the condition."""
    (found,) = [need for need in (await reconcilers.facts(kind, name)).needs if need.readiness is not Readiness.READY] or (
        None,
    )
    if found is None:
        return None
    assert found.readiness is Readiness.UNUSABLE
    assert "--own-account-sharing=Shared" in found.detail
    assert "spec.accountRef" in found.detail
    return found.name


@pytest.mark.parametrize(
    ("vms", "is_refused", "why"),
    [
        ((), True, "nobody knows whose it is"),
        (({**VM, "meta": THEIRS},), True, "it is another namespace's"),
        ((VM,), False, "it is ours"),
        ((VM, {**VM, "meta": THEIRS}), True, "it may be either's"),
        ((VM, {"spec": {"vmName": "prod"}, "meta": THEIRS}), False, "a claim alone takes nothing from us"),
        (({"spec": {"vmName": "prod"}},), True, "a claim alone gives nothing either"),
        (({"spec": {"vmName": "prod"}, "status": made("prod", "vmId", vmId=None)},), True, "nor does an order"),
        (({"spec": {"vmName": "prod"}, "status": made("prod", "vmId", account="mine")},), True, "through another account"),
        (({"spec": {"vmName": "prod"}, "status": made("prod", "vmId", OrderState.REFUSED)},), True, "it was made by others"),
        (({"spec": {"vmName": "prod"}, "status": made("prod", "vmId", OrderState.LOST)},), True, "what is there now is not"),
        (({"spec": {"vmName": "prod", "vpc": "acme-x"}, "status": made("prod", "vmId")},), True, "in another VPC"),
        (({"spec": {"vmName": "prod", "cluster": "Hou1"}, "status": made("prod", "vmId")},), True, "in another cluster"),
        (
            ({"spec": {"vmName": "prod", "cluster": "MSC1"}, "status": made("prod", "vmId")},),
            False,
            "one cluster, two spellings",
        ),
        (
            (VM, {"spec": {"vmName": "prod", "cluster": "MSC1"}, "status": made("prod", "vmId"), "meta": THEIRS}),
            True,
            "the same",
        ),
    ],
)
async def test_a_copy_of_a_vms_disk(isolated, vms, is_refused, why):
    """The history: one namespace took a snapshot of the other's VM by spec.vm, and booted a copy of its disk."""
    for number, vm in enumerate(vms):
        isolated.put("GpuVM", f"vm{number}", **vm)
    isolated.put("GpuSnapshot", spec=COPY)
    assert await refused(isolated, "GpuSnapshot") == ("VM 'prod'" if is_refused else None), why


@pytest.mark.parametrize(
    ("snapshots", "is_refused", "why"),
    [
        ((), True, "nobody knows whose it is"),
        (({**SNAPSHOT, "meta": THEIRS},), True, "it is another namespace's"),
        ((SNAPSHOT,), False, "it is ours"),
        ((SNAPSHOT, {**SNAPSHOT, "meta": THEIRS}), True, "it may be either's"),
        (
            (SNAPSHOT, {**SNAPSHOT, "meta": THEIRS, "spec": SPELLED}),
            True,
            "either's: one cluster, two spellings",
        ),
        (({**SNAPSHOT, "spec": SPELLED},), False, "it is ours, in another spelling of its cluster"),
        (({"spec": {"snapshotName": "golden"}},), True, "a claim alone gives nothing"),
        (
            ({"spec": {"snapshotName": "golden"}, "status": made("golden", "snapshotId", snapshotId=None)},),
            True,
            "nor an order",
        ),
    ],
)
async def test_a_boot_from_a_snapshot(isolated, snapshots, is_refused, why):
    isolated.put("GpuVM", "source", status=made("source", "vmId"))
    isolated.put("GpuVM", "source2", status=made("source", "vmId"), meta=THEIRS)
    for number, snapshot in enumerate(snapshots):
        spec = {"vmRef": None, "vm": PROD} | snapshot["spec"]
        isolated.put("GpuSnapshot", f"s{number}", **snapshot | {"spec": spec})
    isolated.put("GpuVM", spec=BOOT)
    assert await refused(isolated, "GpuVM") == ("Snapshot 'golden'" if is_refused else None), why


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"image": {"customFile": "team-a.qcow2"}}, "Custom image 'team-a.qcow2'"),
        ({"storage": {"blockStorageNames": ["team-a-data", "b"]}}, "Block storage 'team-a-data', 'b'"),
        ({"storage": {"personalMountPath": "/p"}}, "File system at '/p'"),
        ({"storage": {"tenantSharedMountPath": "/s"}}, "File system at '/s'"),
        ({"storage": {"persistDirectAttached": True, "directMountPath": "/d"}, "image": {"operatingSystem": "Ubuntu"}}, None),
    ],
)
async def test_a_volume_or_an_image_of_whom_nobody_knows(isolated, spec, words):
    """The history: team-b attached team-a's volume, as no object can stand for one."""
    isolated.put("GpuVM", spec=spec)
    assert await refused(isolated, "GpuVM") == words


async def test_what_only_refers_to_objects_is_refused_nothing(isolated):
    isolated.put("GpuVM", "source", status=made("source", "vmId"))
    isolated.put("GpuSnapshot", spec={"vmRef": {"name": "source"}})
    isolated.put("GpuVM", spec={"vpc": "acme"})
    assert await refused(isolated, "GpuSnapshot") is None
    assert await refused(isolated, "GpuVM") is None, "spec.vpc names a place, not a disk"


@pytest.mark.parametrize("own", [True, False])
async def test_with_an_account_of_its_own_or_where_all_is_shared_names_are_free(own, reconcilers, isolated):
    if own:
        isolated.account()
        reconcilers = isolated
    reconcilers.put("GpuSnapshot", spec=COPY, status=NOT_ORDERED)
    storage = {"blockStorageNames": ["data"], "personalMountPath": "/p"}
    reconcilers.put("GpuVM", spec=BOOT | {"storage": storage}, status=NOT_ORDERED)
    reconcilers.put("GpuVM", "custom", spec={"image": {"customFile": "a.qcow2"}}, status=NOT_ORDERED)
    reconcilers.put("GpuVpc", "net", spec={"name": "acme", "adoption": "Required"})
    for kind, name in (("GpuSnapshot", "train"), ("GpuVM", "train"), ("GpuVM", "custom"), ("GpuVpc", "net")):
        assert await refused(reconcilers, kind, name) is None


# --- VPCs


def there(reconcilers):
    reconcilers.session.vpcs.seen[HERE] = Present(VpcRecord(id="7", name="acme", tenancy_name="acme"), NOW)


async def decided(reconcilers, **more):
    reconcilers.put("GpuVpc", "net", **more)
    facts = await reconcilers.facts("GpuVpc", "net")
    return reconcilers.vpcs.decide(facts)


@pytest.mark.parametrize(
    ("adoption", "is_there", "reason"),
    [
        ("IfExists", True, Reason.INVALID_REFERENCE),
        ("Required", True, Reason.INVALID_REFERENCE),
        ("Required", False, Reason.INVALID_REFERENCE),
        ("Never", True, Reason.CONFLICT),
    ],
)
async def test_no_vpc_is_taken_over(isolated, adoption, is_there, reason):
    """The history: one namespace adopted the VPC that all used, deleted its object, and so blocked all."""
    if is_there:
        there(isolated)
    plan = await decided(isolated, spec={"name": "acme", "adoption": adoption})
    ready = find(plan.status.conditions, "Ready")
    assert (ready.reason, plan.action, plan.records_order) == (reason, None, False)
    assert "--own-account-sharing=Shared" in ready.message
    assert "IfExists" not in ready.message, "what is refused is not advised"


async def test_adoption_is_advised_where_it_is_allowed(reconcilers):
    there(reconcilers)
    ready = find((await decided(reconcilers, spec={"name": "acme"})).status.conditions, "Ready")
    assert (ready.reason, "spec.adoption: IfExists" in ready.message) == (Reason.CONFLICT, True)


async def test_one_that_is_not_there_is_created_and_is_ours(isolated):
    spec = {"name": "acme", "adoption": "IfExists"}
    await decided(isolated, spec=spec)  # it is first seen now; two younger listings must lack it
    isolated.clock.now += 8
    isolated.session.vpcs.seen[HERE] = Absent(NOW + 8, NOW, NOW + 4)
    assert (await decided(isolated, spec=spec)).records_order
    order = an_order("acme", vpc="acme", cloud_id="7").model_dump(mode="json", by_alias=True)
    isolated.clock.now += 100
    isolated.session.vpcs.seen[HERE] = Present(VpcRecord(id="7", name="acme"), isolated.clock.now)
    plan = await decided(isolated, spec=spec, status={"order": order, "vpcId": "7", "account": OWN})
    assert find(plan.status.conditions, "Ready").reason == Reason.AVAILABLE


@pytest.mark.parametrize("policy", [None, "Delete"])
async def test_one_that_was_adopted_before_is_not_destroyed(isolated, policy):
    """The administrator has parted the namespaces since; what was adopted is nobody's now."""
    there(isolated)
    spec = {"name": "acme", "adoption": "IfExists"} | ({"deletion": {"policy": policy}} if policy else {})
    plan = await decided(isolated, spec=spec, status={"vpcId": "7", "adopted": True, "account": OWN}, meta=GOING)
    assert plan.release.reason == Reason.RETAINED


@pytest.mark.parametrize("meta", [{"annotations": {"gpucloud.dev/paused": "true"}}, {"finalizers": []}])
async def test_pause_and_finalizer_come_first(isolated, meta):
    there(isolated)
    plan = await decided(isolated, spec={"name": "acme", "adoption": "Required"}, meta=meta)
    ready = None if plan.status is None else find(plan.status.conditions, "Ready")
    assert ready is None or ready.reason == Reason.PAUSED


@pytest.mark.parametrize(("namespace", "barred"), [("others", False), ("team", True)])
async def test_a_vpc_that_another_namespace_adopted_bars_nobody_while_it_goes(reconcilers, namespace, barred):
    spec = {"name": "acme", "adoption": "IfExists", "deletion": {"policy": "Delete"}}
    going = GOING | {"namespace": namespace}
    reconcilers.put("GpuVpc", "net", spec=spec, meta=going, status={"vpcId": "7", "adopted": True})
    reconcilers.put("GpuVM")
    found = [need.readiness for need in (await reconcilers.facts("GpuVM")).needs]
    assert found == ([Readiness.DELETING] if barred else [])
