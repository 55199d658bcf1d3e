"""The body of CreateServer for a spec, and whom a record of a listing speaks of."""

import pytest

from gpucloud.cloud.models import Listing, SnapshotRecord, VmRecord, VpcRecord
from gpucloud.engine.cloud import listings
from gpucloud.engine.cloud.listings import as_recorded, snapshot_identity, vm_identity, vpc_identity
from gpucloud.engine.kinds.gpuvm import create_server_request
from gpucloud.kinds.gpucloudaccount import AccountDefaults
from gpucloud.kinds.gpuvm import GpuVMSpec
from gpucloud.reconcile.facts import Absent, Present, SSHKeys
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
    body = create_server_request(Identity("Msc1", "acme", "x"), spec, SSHKeys((KEY,))).model_dump(
        by_alias=True, exclude_none=True
    )
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
    body = create_server_request(Identity("c", "v", "x"), a_spec(image=image), SSHKeys((KEY,))).model_dump(
        by_alias=True, exclude_none=True
    )
    assert body[field] == "i"
    assert set(body) == {"vpc", "configuration", "cluster", "ssh_keys", "name", field}


def test_what_is_not_said_is_left_out():
    body = create_server_request(Identity("c", "v", "x"), a_spec(storage={}), SSHKeys((KEY,))).model_dump(
        by_alias=True, exclude_none=True
    )
    assert set(body) == {"vpc", "configuration", "cluster", "ssh_keys", "name"}


def test_no_field_of_the_spec_is_overlooked():
    """A new field must be put into the order, or be named here as one that orders nothing by itself."""
    ordered = {
        "cluster", "configuration", "resource_pool", "vpc", "ssh_keys", "ssh_keys_from", "image", "root_disk_gib", "storage",
        "node_name", "vm_name",
    }  # fmt: skip
    told_by_the_identity = {"vpc_ref"}
    others = {
        "adoption", "power_state", "deletion", "progress_deadline_seconds", "account_ref", "connection", "placement", "on_loss",
        "replace_policy",
    }  # fmt: skip
    assert set(GpuVMSpec.model_fields) == ordered | told_by_the_identity | others


def test_a_snapshot_that_is_referred_to_is_ordered_by_its_name_in_the_cloud():
    spec = a_spec(image={"snapshotRef": {"name": "golden"}})
    assert (
        create_server_request(Identity("c", "v", "x"), spec, SSHKeys((KEY,)), snapshot="golden-tagaa-abc").snapshot_name
        == "golden-tagaa-abc"
    )


DEFAULTS = AccountDefaults(resource_pool="reserved", operating_system="ubuntu", root_disk_gib=100)


@pytest.mark.parametrize(
    ("spec", "pool", "system", "disk"),
    [
        ({}, "reserved", "ubuntu", 100),
        ({"resourcePool": "mine"}, "mine", "ubuntu", 100),
        ({"rootDiskGiB": 7}, "reserved", "ubuntu", 7),
        ({"image": {"operatingSystem": "debian"}}, "reserved", "debian", 100),
        ({"image": {"snapshot": "s"}}, "reserved", None, 100),  # a disk has one source
        ({"image": {"customFile": "f"}}, "reserved", None, 100),
        ({"image": {}}, "reserved", "ubuntu", 100),  # names no source
    ],
)
def test_the_accounts_defaults_stand_where_the_spec_is_silent(spec, pool, system, disk):
    body = create_server_request(Identity("c", "v", "x"), a_spec(**spec), SSHKeys((KEY,)), defaults=DEFAULTS)
    assert (body.rpool, body.operating_system_image, body.root_disk_size) == (pool, system, disk)


@pytest.mark.parametrize(
    ("record", "identity"),
    [
        (VmRecord(id="x", namespace="v", cluster="c"), Identity("c", "v", "x")),
        (VmRecord(id="x", namespace="v"), Identity("c", "v", "x")),
        (VmRecord(id="x", cluster="c"), Identity("c", "", "x")),
        (VmRecord(id="x", namespace="v", cluster="other"), None),
        (VmRecord(id="x", namespace="v", cluster="C"), Identity("c", "v", "x")),  # spelled as the cloud spells it
        (VmRecord(namespace="v", cluster="c"), None),
    ],
)
def test_whom_a_record_speaks_of(record, identity):
    assert vm_identity(record, "c") == identity


@pytest.mark.parametrize(
    ("record", "identity"),
    [
        (SnapshotRecord(id="s", namespace="v"), Identity("c", "v", "s")),
        (SnapshotRecord(id="s"), Identity("c", "", "s")),
        (SnapshotRecord(namespace="v"), None),
    ],
)
def test_whom_a_snapshots_record_speaks_of(record, identity):
    """It names no cluster: it is of the one that was asked."""
    assert snapshot_identity(record, "c") == identity


@pytest.mark.parametrize(
    ("record", "identity"),
    [
        (VpcRecord(id="7", name="acme-train", cluster="c"), Identity("c", "acme-train", "acme-train")),
        (VpcRecord(id="7", name="acme-train"), Identity("c", "acme-train", "acme-train")),
        (VpcRecord(id="7", name="acme-train", cluster="other"), None),
        (VpcRecord(id="7", name="acme-train", cluster="C"), Identity("c", "acme-train", "acme-train")),
        (VpcRecord(id="7", cluster="c"), None),
    ],
)
def test_a_vpc_is_told_by_its_name(record, identity):
    assert vpc_identity(record, "c") == identity


@pytest.mark.parametrize(
    ("items", "complete", "proves"),
    [
        ((VpcRecord(id="7", name="a"),), True, True),
        ((VpcRecord(id="7", name="a"), VpcRecord(id="8")), True, False),  # the nameless one may be any
        ((VpcRecord(id="7", name="a"),), False, False),
        ((), True, True),
    ],
)
async def test_a_vpc_without_a_name_makes_its_listing_incomplete(items, complete, proves):
    class Client:
        async def get_vpcs(self, *, cluster):
            assert cluster == "c"
            return Listing(items, complete)

    assert (await listings.vpcs(Client(), "c")).complete is proves


@pytest.mark.parametrize(("cluster", "proves"), [("c", True), ("C", True), (None, True), ("d", False)])
@pytest.mark.parametrize("kind", ["vms", "vpcs"])
async def test_a_record_of_another_cluster_makes_a_filtered_listing_incomplete(kind, cluster, proves):
    """The filter did not work, so nobody knows what else was left out."""
    one, other = {"vms": VmRecord, "vpcs": VpcRecord}[kind](id="7", name="a", cluster="c"), None
    other = one.model_copy(update={"id": "8", "cluster": cluster})

    class Client:
        async def get_servers(self, *, cluster):  # noqa: ARG002
            return Listing((one, other))

        get_vpcs = get_servers

    listing = await getattr(listings, kind)(Client(), "c")
    assert listing.complete is proves
    assert proves or "'d'" in listing.flaw


def test_calls_go_where_the_record_says():
    """What it leaves out is where it was looked for."""
    here = Identity("c", "v", "x")
    assert as_recorded(Present(VmRecord(id="x", namespace="V", cluster="C"), 0.0), here) == Identity("C", "V", "x")
    assert as_recorded(Present(VmRecord(id="x"), 0.0), here) == here
    assert as_recorded(Present(SnapshotRecord(id="x", namespace="V"), 0.0), here) == Identity("c", "V", "x")
    assert as_recorded(Absent(0.0, 0.0), here) == here
