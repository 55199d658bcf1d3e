"""What the cloud has and no object stands for."""

import pytest

from gpucloud.cli.plugin import leftovers
from gpucloud.cli.plugin.objects import thing
from gpucloud.cloud.models import SnapshotRecord, VmRecord, VpcRecord
from gpucloud.engine.manager.reads import ClusterRecords, Records
from gpucloud.reconcile.naming import external_name
from support.builders import KEY, TAG, UID
from support.pluginworld import a_body

OURS = external_name("train", UID, TAG)
SPEC = {"cluster": "Msc1", "configuration": "A100", "vpc": "acme", "sshKeys": [KEY]}


def seen(*, vms=(), snapshots=(), vpcs=(), cluster="Msc1"):
    here = ClusterRecords(
        cluster=cluster,
        vms=tuple(VmRecord(id=name, namespace="acme", configuration="A100", status="ONLINE") for name in vms),
        snapshots=tuple(SnapshotRecord(id=name, namespace="acme", ready_to_use=True) for name in snapshots),
        vpcs=tuple(VpcRecord(id=f"id-{name}", name=name, is_default=False) for name in vpcs),
    )
    return Records(clusters=(here,), prices={"A100": "2.05"})


@pytest.mark.parametrize(
    ("objects", "expected", "why"),
    [
        ([], [OURS], "no object at all"),
        ([a_body("GpuVM", "train", uid=UID, spec=SPEC)], [], "its own object"),
        ([a_body("GpuVM", "train", uid="another", spec=SPEC)], [OURS], "a namesake with another UID is another object"),
        ([a_body("GpuVM", "x", uid="another", spec={**SPEC, "vmName": OURS})], [], "an object that has chosen the name"),
        ([a_body("GpuVM", "train", uid=UID, namespace="elsewhere", spec=SPEC)], [], "in whichever namespace"),
    ],
)
def test_who_is_an_orphan_is_decided_as_the_operator_does(objects, expected, why):
    found = leftovers.orphans(seen(vms=[OURS, "a-strangers"]), {"GpuVM": objects}, TAG)
    assert [item.name for item in found] == expected, why
    assert all((item.made_for, item.price_per_hour, item.state) == ("train", "2.05", "ONLINE") for item in found)


@pytest.mark.parametrize(
    ("objects", "left", "why"),
    [
        ([], {"a-vm", "a-snapshot", "acme-lab"}, "no objects"),
        (
            [a_body("GpuVM", "x", spec=SPEC, status={"cluster": "Msc1", "vmId": "a-vm"})],
            {"a-snapshot", "acme-lab"},
            "by its id",
        ),
        ([a_body("GpuVM", "x", spec={**SPEC, "vmName": "a-vm"})], {"a-snapshot", "acme-lab"}, "by the name that it chose"),
        (
            [a_body("GpuVM", "x", spec={**SPEC, "vpc": "another", "vmName": "a-vm"})],
            {"a-vm", "a-snapshot", "acme-lab"},
            "a namesake in another VPC",
        ),
        (
            [a_body("GpuVM", "x", spec={**SPEC, "vpc": None, "vpcRef": {"name": "lab"}, "vmName": "a-vm"})],
            {"a-snapshot", "acme-lab"},
            "in a VPC that is not known yet",
        ),
        (
            [a_body("GpuVM", "x", spec={**SPEC, "cluster": "Hou1", "vmName": "a-vm"})],
            {"a-vm", "a-snapshot", "acme-lab"},
            "elsewhere",
        ),
        (
            [a_body("GpuVM", "x", spec=SPEC, status={"order": {"state": "Intended", "cluster": "Msc1", "name": "a-vm"}})],
            {"a-snapshot", "acme-lab"},
            "what is being ordered is claimed",
        ),
        ([a_body("GpuVpc", "lab", spec={"cluster": "Msc1", "name": "acme-lab"})], {"a-vm", "a-snapshot"}, "a VPC by its name"),
    ],
)
def test_what_no_object_claims(objects, left, why):
    things = [thing(body["kind"], body) for body in objects]
    found = leftovers.unclaimed(seen(vms=["a-vm"], snapshots=["a-snapshot"], vpcs=["acme-lab"]), things)
    assert {item.name for item, _ in found} == left, why
