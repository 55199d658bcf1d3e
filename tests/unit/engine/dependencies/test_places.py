"""In which VPC and under which name a VM or a snapshot is looked for."""

import pytest

from gpucloud.cloud.models import VmRecord
from gpucloud.reconcile.facts import Present, Unknown, UnknownReason
from gpucloud.reconcile.naming import Identity, external_name
from support.builders import TAG
from support.referrers import BY_REF, TAKEN, status

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
    reconcilers.session.vms.seen[Identity("Msc1", "", "chosen")] = Present(VmRecord(id="chosen"), 1000.0)
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
