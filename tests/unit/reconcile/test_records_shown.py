"""What the cloud says of a thing stands in its object's status, each field under its own name."""

from datetime import UTC, datetime

import pytest

from gpucloud.reconcile import gpusnapshot, gpuvm, gpuvpc
from gpucloud.reconcile.core.record import cut
from support.builders import a_status, an_order, facts, our_name, present
from support.snapshotfacts import NAME as SNAPSHOT
from support.snapshotfacts import ORDER as TAKING
from support.snapshotfacts import VM, a_snapshot, a_snapshot_status, snapshot_facts
from support.vpcfacts import NAME as VPC
from support.vpcfacts import ORDER as MAKING
from support.vpcfacts import a_vpc, a_vpc_status, vpc_facts

BORN = datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)
SHOWN_BORN = BORN.replace(microsecond=0)


def shown(plan, names):
    return {name: getattr(plan.status, name) for name in names}


def test_a_vpc():
    found = a_vpc(ipRange="10.0.0.0/16", createdAt=BORN, blockIntraVpcComms=True, isDefault=False)
    plan = gpuvpc.decide(vpc_facts(found=found, status=a_vpc_status("Creating", order=MAKING)))
    expected = {
        "vpc_id": "vpc-1",
        "name": VPC,
        "cluster": "Msc1",
        "ip_range": "10.0.0.0/16",
        "tenancy": "acme",
        "created_at": SHOWN_BORN,
        "block_intra_vpc_comms": True,
        "is_default": False,
        "adopted": False,
    }
    assert shown(plan, expected) == expected


def test_a_snapshot():
    record = {"osImage": "Ubuntu", "customPackage": "torch", "rootDiskSize": "100", "creationDate": BORN, "username": "ubuntu"}
    plan = gpusnapshot.decide(snapshot_facts(found=a_snapshot(**record), status=a_snapshot_status("Creating", order=TAKING)))
    expected = {
        "snapshot_id": SNAPSHOT,
        "source_name": VM.name,
        "cluster": "Msc1",
        "vpc": "acme",
        "os_image": "Ubuntu",
        "custom_package": "torch",
        "root_disk_size": "100",
        "username": "ubuntu",
        "tenancy": "acme",
        "creation_date": SHOWN_BORN,
        "ready_to_use": True,
    }
    assert shown(plan, expected) == expected


TEXTS = {  # of a VM, by the cloud's name and ours
    "ip": "ip",
    "privateIp": "private_ip",
    "gpu_type": "gpu_type",
    "root_disk_size": "root_disk_size",
    "storageType": "storage_type",
    "image": "image",
    "rpool": "resource_pool",
    "nodeSelector": "node_name",
    "username": "username",
    "tenancy_name": "tenancy",
}
NUMBERS = {"gpus": "gpus", "vcpus": "vcpus", "memory": "memory_gb", "storage": "storage_gb"}


def a_vm(**record):
    status = a_status("Creating", order=an_order(our_name()))
    return gpuvm.decide(facts(found=present(**record), status=status))


def test_a_vm():
    record = {**{name: f"the {name}" for name in TEXTS}, **{name: number for number, name in enumerate(NUMBERS, 1)}}
    plan = a_vm(**record, directAttachedStoragePersisted=True)
    expected = {ours: record[name] for name, ours in (TEXTS | NUMBERS).items()}
    expected |= {"state": "ONLINE", "vm_id": our_name(), "vpc": "acme", "cluster": "Msc1"}
    expected |= {"direct_attached_storage_persisted": True}
    assert shown(plan, expected) == expected


@pytest.mark.parametrize(
    ("number", "kept"),
    [(0, True), (2**31 - 1, True), (-1, False), (2**31, False)],  # what the schema holds
)
@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_that_no_schema_holds_is_not_shown(name, number, kept):
    assert getattr(a_vm(**{name: number}).status, NUMBERS[name]) == (number if kept else None)


def test_what_a_record_leaves_out_is_where_it_was_looked_for():
    """Every field of an answer may be null."""
    vm = a_vm(namespace=None, cluster=None).status
    assert (vm.vpc, vm.cluster) == ("acme", "Msc1")
    vpc = gpuvpc.decide(vpc_facts(found=a_vpc(cluster=None), status=a_vpc_status("Creating", order=MAKING)))
    assert vpc.status.cluster == "Msc1"
    taken = snapshot_facts(found=a_snapshot(id=None, namespace=None), status=a_snapshot_status("Creating", order=TAKING))
    assert shown(gpusnapshot.decide(taken), ("snapshot_id", "vpc")) == {"snapshot_id": SNAPSHOT, "vpc": "acme"}


@pytest.mark.parametrize(
    ("word", "shown_as"),
    {
        "an emoji stays": ("ON\U0001f389LINE", "ON\U0001f389LINE"),
        "beyond the BMP stays": ("\U00010348", "\U00010348"),
        "controls": ("A\x00B\x1b[31mC\x7fD\x85E\nF", "A B [31mC D E F"),
        "lone surrogates": ("A\ud83dB\udf89", "A?B?"),  # the client has replaced them by then
        "counted by code points": ("\U0001f389" * 300, "\U0001f389" * 253),
    }.values(),
)
def test_a_text_of_the_cloud_fits_the_status(word, shown_as):
    assert a_vm(status=word).status.state == shown_as


def test_a_text_that_no_utf8_can_carry_is_replaced():
    assert cut({"state": "A\ud83dB", "ip": "", "image": None}) == {"state": "A B", "ip": None, "image": None}
