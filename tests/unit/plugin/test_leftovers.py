"""What the cloud has and no object stands for, and what it offers."""

import pytest

from gpucloud.cli.plugin import leftovers
from gpucloud.cli.plugin.objects import thing
from gpucloud.cloud.models import AvailabilityRecord, ConfigurationRecord, SnapshotRecord, VmRecord, VpcRecord
from gpucloud.engine.manager.reads import ClusterRecords, Offers, Records
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


def test_offers_are_sorted_by_price_and_unknown_stays_unknown():
    offers = Offers(
        configurations=(
            ConfigurationRecord(name="dear", price=9, gpus=8),
            ConfigurationRecord(name="cheap", price=1),
            ConfigurationRecord(name="unpriced"),
        ),
        availability=(
            AvailabilityRecord(configuration="dear", cluster="Msc1", rpool="on-demand", available=True, count=3),
            AvailabilityRecord(configuration="cheap", cluster="Hou1", available=False),
        ),
    )
    rows = leftovers.offered(offers)
    assert [(row["configuration"], row["available"], row["pricePerHour"]) for row in rows] == [
        ("cheap", False, "1.00"),
        ("dear", True, "9.00"),
        ("unpriced", None, None),
    ]
    assert [row["configuration"] for row in leftovers.offered(offers, available=True)] == ["dear"]


def test_an_offer_says_everything_that_the_cloud_says():
    described = {
        "title": "One A100",
        "description": "An A100",
        "brandFamily": "NVIDIA",
        "textName": "a100",
        "computeNetwork": "IB",
    }
    item = ConfigurationRecord(
        name="a", id=7, user_friendly_name="One A100", description="An A100", brand_family="NVIDIA", text_name="a100",
        compute_network="IB", is_gpu_platform=True,
    )  # fmt: skip
    place = AvailabilityRecord(
        configuration="a", cluster="Msc1", available=True, count=1, maxCount=4, availableNodeNames=["n1"]
    )
    (row,) = leftovers.offered(Offers(configurations=(item,), availability=(place,)))
    expected = described | {"configurationId": 7, "isGPUPlatform": True, "maxCount": 4, "availableNodes": ["n1"]}
    assert {name: row[name] for name in expected} == expected
    (unplaced,) = leftovers.offered(Offers(configurations=(item,)))
    assert (unplaced["maxCount"], unplaced["availableNodes"]) == (None, [])
