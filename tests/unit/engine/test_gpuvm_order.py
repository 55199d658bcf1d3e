"""The body of CreateServer for a spec, and whom a record of a listing speaks of."""

import pytest

from gpucloud.cloud.models import VmRecord
from gpucloud.engine.gpuvm import identify, order
from gpucloud.kinds.gpuvm import GpuVMSpec
from gpucloud.reconcile.facts import SSHKeys
from gpucloud.reconcile.naming import Identity
from support.builders import KEY, a_spec


def test_every_field_of_the_spec_has_its_place_in_the_order():
    spec = a_spec(
        resourcePool="reserved-acme",
        nodeName="node-7",
        rootDiskGiB=200,
        storage={
            "persistDirectAttached": False,
            "directMountPath": "/direct",
            "personalMountPath": "/personal",
            "tenantSharedMountPath": "/shared",
            "blockStorageNames": ["b1", "b2"],
        },
    )
    body = order(Identity("Msc1", "acme", "x"), spec, SSHKeys((KEY,))).model_dump(by_alias=True, exclude_none=True)
    assert body == {
        "vpc": "acme",
        "configuration": "A100_40GB_PCIe_1x",
        "cluster": "Msc1",
        "ssh_keys": (KEY,),
        "name": "x",
        "rpool": "reserved-acme",
        "personalStorageMountPath": "/personal",
        "tenantSharedAdditionalStorage": "/shared",
        "persistStorage": False,
        "directStorageMountPath": "/direct",
        "blockStorageNames": ("b1", "b2"),
        "rootDiskSize": 200,
        "selectedNode": "node-7",
    }


@pytest.mark.parametrize(
    ("image", "field"),
    [
        ({"operatingSystem": "i"}, "operatingSystemImage"),
        ({"customFile": "i"}, "tenantCustomImageFileName"),
        ({"snapshot": "i"}, "snapshotName"),
    ],
)
def test_every_source_of_the_disk_has_its_place(image, field):
    body = order(Identity("c", "v", "x"), a_spec(image=image), SSHKeys((KEY,))).model_dump(by_alias=True, exclude_none=True)
    assert body[field] == "i"
    assert set(body) == {"vpc", "configuration", "cluster", "ssh_keys", "name", field}


def test_what_is_not_said_is_left_out():
    body = order(Identity("c", "v", "x"), a_spec(storage={}), SSHKeys((KEY,))).model_dump(by_alias=True, exclude_none=True)
    assert set(body) == {"vpc", "configuration", "cluster", "ssh_keys", "name"}


def test_no_field_of_the_spec_is_overlooked():
    """A new field must be put into the order, or be named here as one that orders nothing."""
    ordered = {
        "cluster", "configuration", "resource_pool", "vpc", "ssh_keys", "ssh_keys_from", "image", "root_disk_gib", "storage",
        "node_name", "vm_name",
    }  # fmt: skip
    assert set(GpuVMSpec.model_fields) == ordered | {"power_state", "deletion", "progress_deadline_seconds"}


@pytest.mark.parametrize(
    ("record", "identity"),
    [
        (VmRecord(id="x", namespace="v", cluster="c"), Identity("c", "v", "x")),
        (VmRecord(id="x", namespace="v"), Identity("c", "v", "x")),
        (VmRecord(id="x", cluster="c"), Identity("c", "", "x")),
        (VmRecord(id="x", namespace="v", cluster="other"), None),
        (VmRecord(namespace="v", cluster="c"), None),
    ],
)
def test_whom_a_record_speaks_of(record, identity):
    assert identify(record, "c") == identity
