"""Parameters that name what is not there."""

import pytest

from simulator.test_sim_client import Cloud, at, of
from support.simrequests import SERVER, SNAPSHOT

# Names that fit but stand for nothing; after the member complained about, what a row proves.
UNKNOWN = {
    "cluster": ("CreateServer", SERVER | {"cluster": "Oslo"}, "cluster", "CreateServer.cluster:listed"),
    "configuration": ("CreateServer", SERVER | {"configuration": "Z80"}, "configuration", "CreateServer.configuration:listed"),
    "configuration not offered in the cluster": (
        "CreateServer",
        SERVER | {"configuration": "H100_80GB_SXM_8x"},
        "configuration",
    ),
    "vpc": ("CreateServer", SERVER | {"vpc": "acme-none"}, "vpc"),
    "vpc of another tenant": ("CreateServer", SERVER | {"vpc": "globex"}, "vpc"),
    "image": ("CreateServer", SERVER | {"operatingSystemImage": "OS/2"}, "operatingSystemImage"),
    "custom image": ("CreateServer", SERVER | {"tenantCustomImageFileName": "no.qcow2"}, "tenantCustomImageFileName"),
    "snapshot": ("CreateServer", SERVER | {"snapshotName": "none"}, None),
    "pool": ("CreateServer", SERVER | {"rpool": "reserved-globex"}, "rpool"),
    "node": ("CreateServer", SERVER | {"rpool": "reserved-acme", "selectedNode": "n"}, "selectedNode"),
    "cluster of a listing": ("GetServers", {"Cluster": "Oslo"}, "Cluster"),
    "cluster of availability": ("GetAvailability", {"cluster": "Oslo"}, "cluster"),
    "cluster of hosts": ("GetHosts", {"Cluster": "Oslo"}, "Cluster"),
    "cluster of VPCs": ("GetVpcs", {"cluster": "Oslo"}, "cluster"),
    "cluster of a new VPC": ("CreateVpc", {"name": "acme-x", "cluster": "Oslo"}, "cluster"),
}


@pytest.mark.parametrize("status", [400, 500])
@pytest.mark.parametrize(
    ("operation", "parameters", "member"),
    [pytest.param(*row[:3], id=why, marks=pytest.mark.proves(*row[3:])) for why, row in UNKNOWN.items()],
)
async def test_sim_an_unknown_reference_is_refused_with_the_knob_s_status(operation, parameters, member, status):
    cloud = Cloud(unknown_reference_status=status)
    answer = await cloud.call(operation, **parameters)
    assert answer.status == status
    if member is not None:
        assert answer.members == [member]


@pytest.mark.proves("CreateServer.selectedNode:pools")
async def test_sim_a_node_is_selected_in_reserved_pools_only():
    answer = await Cloud().create(rpool="on-demand", selectedNode="msc1-reserved-acme-1")
    assert (answer.status, answer.members) == (400, ["selectedNode"])


MISSING = {
    "GetServer": ("GetServer", at("gone")),
    "GetServer in another VPC": ("GetServer", at("gone", "acme-x")),
    "StartServer": ("StartServer", of("gone")),
    "StopServer": ("StopServer", of("gone")),
    "DestroyServer": ("DestroyServer", at("gone")),
    "boot logs": ("GetVirtualMachineBootLogs", at("gone") | {"Limit": "9"}),
}
MISSING_OTHER = {
    "GetSnapshot": ("GetSnapshot", at("gone")),
    "DeleteSnapshot": ("DeleteSnapshot", at("gone")),
    "GetVpc": ("GetVpc", {"Id": "gone", "Cluster": "Msc1"}),
    "DestroyVpc": ("DestroyVpc", {"Id": "gone", "Cluster": "Msc1"}),
    "GetHost": ("GetHost", {"Id": "gone", "Cluster": "Msc1"}),
    "RebootHost": ("RebootHost", {"id": "gone", "cluster": "Msc1"}),
    "ReprovisionHost": ("ReprovisionHost", {"id": "gone", "cluster": "Msc1"}),
    "a snapshot's source": ("CreateSnapshot", SNAPSHOT | {"sourceVMName": "gone"}),
}


@pytest.mark.proves("open:vm-errors")
@pytest.mark.parametrize("status", [404, 400, 500])
@pytest.mark.parametrize(("operation", "parameters"), MISSING.values(), ids=MISSING.keys())
async def test_sim_a_missing_vm_is_told_by_its_text(operation, parameters, status):
    answer = await Cloud(missing_vm_status=status).call(operation, **parameters)
    assert (answer.status, answer.message) == (status, '"gone" not found')


@pytest.mark.parametrize("status", [400, 404, 500])
@pytest.mark.parametrize(("operation", "parameters"), MISSING_OTHER.values(), ids=MISSING_OTHER.keys())
async def test_sim_anything_else_missing_is_told_by_its_text(operation, parameters, status):
    answer = await Cloud(missing_other_status=status).call(operation, **parameters)
    assert (answer.status, answer.message) == (status, '"gone" not found')
