"""The OpenAPI document: valid, complete by the hand-written list, and true of what is answered."""

import json

import pytest
from openapi_spec_validator import validate

from gpucloud.sim.openapi import document
from simulator.test_sim_client import OPERATIONS, Cloud, at

# Written by hand from the specification: operation -> (required query parameters, optional ones).
QUERY = {
    "GetServers": ([], ["Cluster"]),
    "GetServer": (["Cluster", "Id", "Namespace"], []),
    "DestroyServer": (["Cluster", "Id", "Namespace"], ["DeleteSnapshots"]),
    "GetAvailability": (["cluster"], ["reportNodes", "resourcePool"]),
    "GetVirtualMachineBootLogs": (["Cluster", "Id", "Limit", "Namespace"], []),
    "GetHost": (["Cluster", "Id"], []),
    "GetHosts": ([], ["Cluster"]),
    "GetSnapshots": ([], ["Cluster"]),
    "GetSnapshot": (["Cluster", "Id", "Namespace"], []),
    "DeleteSnapshot": (["Cluster", "Id", "Namespace"], []),
    "GetVpcs": ([], ["cluster"]),
    "GetVpc": (["Cluster", "Id"], []),
    "DestroyVpc": (["Cluster", "Id"], []),
    "RefreshToken": (["refreshToken"], []),
}
# Written by hand from the specification's table of errors; the VM endpoints list none.
USUAL = {"400", "401", "403", "500"}
ERRORS = {
    **dict.fromkeys(("GetAll", "GetHost", "GetHosts", "GetSnapshots", "GetSnapshot", "DeleteSnapshot"), USUAL),
    **dict.fromkeys(("GetVpcs", "GetVpc", "CreateVpc", "DestroyVpc"), USUAL),
    **dict.fromkeys(("RebootHost", "ReprovisionHost"), USUAL | {"422"}),
    "CreateSnapshot": USUAL | {"503"},
}
NAMES = {
    "400": "Bad Request",
    "401": "Unauthorized",
    "403": "Forbidden",
    "422": "Unprocessable Content",
    "500": "Internal Server Error",
    "503": "Service Unavailable",
}
ACCEPTED = {"CreateServer", "StartServer", "StopServer", "DestroyServer", "CreateSnapshot", "DeleteSnapshot"}


def test_sim_the_document_is_valid():
    validate(document())


@pytest.mark.parametrize("path", ["/openapi.json", "/swagger/v1/swagger.json"])
async def test_sim_the_document_is_served_without_a_credential(path):
    answer = await Cloud().send("GET", path)
    assert (answer.status, answer.data["openapi"][:2]) == (200, "3.")


@pytest.mark.proves("version:path", "version:logins")
def test_sim_the_document_has_every_operation_of_the_specification_and_no_other():
    told = {
        operation["operationId"]: (method.upper(), path)
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    }
    assert told == OPERATIONS


@pytest.mark.parametrize("name", OPERATIONS)
def test_sim_the_document_has_the_parameters_and_success_codes_of_the_specification(name):
    method, path = OPERATIONS[name]
    operation = document()["paths"][path][method.lower()]
    required = sorted(item["name"] for item in operation["parameters"] if item["required"])
    optional = sorted(item["name"] for item in operation["parameters"] if not item["required"])
    assert (required, optional) == QUERY.get(name, ([], []))
    assert ("202" if name in ACCEPTED else "200") in operation["responses"]
    assert ("requestBody" in operation) is (method == "POST" and name != "RefreshToken")


def test_sim_the_body_of_create_server_is_that_of_the_specification():
    schema = document()["components"]["schemas"]["CreateServerBody"]
    assert sorted(schema["required"]) == ["cluster", "configuration", "ssh_keys", "vpc"]
    assert sorted(schema["properties"]) == [
        "blockStorageNames",
        "cluster",
        "configuration",
        "directStorageMountPath",
        "name",
        "operatingSystemImage",
        "persistStorage",
        "personalStorageMountPath",
        "rootDiskSize",
        "rpool",
        "selectedNode",
        "snapshotName",
        "ssh_keys",
        "tenantCustomImageFileName",
        "tenantSharedAdditionalStorage",
        "vpc",
    ]
    assert schema["properties"]["name"]["maxLength"] == 52


async def test_sim_records_have_exactly_the_documented_fields():
    cloud = Cloud()
    await cloud.online()
    await cloud.ready_snapshot()
    schemas = document()["components"]["schemas"]
    for operation, query, schema in (
        ("GetServer", at(), "VmRecord"),
        ("GetSnapshot", at("snap"), "SnapshotRecord"),
        ("GetHost", {"Id": "bm-128", "Cluster": "Msc1"}, "HostRecord"),
        ("GetVpc", {"Id": "vpc-101", "Cluster": "Msc1"}, "VpcRecord"),
        ("StopServer", {"id": "vm", "namespace": "acme", "cluster": "Msc1"}, "OperationRecord"),
    ):
        assert sorted((await cloud.call(operation, **query)).data) == sorted(schemas[schema]["properties"]), operation
    (configuration, *_) = (await cloud.call("GetConfigurations")).items
    assert sorted(configuration) == sorted(schemas["ConfigurationRecord"]["properties"])
    found = (await cloud.call("GetAvailability", cluster="Msc1", resourcePool="reserved-acme")).items[0]
    assert sorted(found) == sorted(schemas["AvailabilityRecord"]["properties"])


def test_sim_the_document_says_nullable_as_openapi_3_0_does():
    text = json.dumps(document())
    assert '"nullable": true' in text
    assert '"type": "null"' not in text


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.proves(f"{name}:errors", "errors:names")) for name in ERRORS]
)
async def test_sim_an_operation_has_its_listed_error_codes_and_can_answer_them(name):
    method, path = OPERATIONS[name]
    told = document()["paths"][path][method.lower()]["responses"]
    failures = {code: answer["description"] for code, answer in told.items() if code >= "400"}
    assert failures == {code: NAMES[code] for code in ERRORS[name]}
    for code in ERRORS[name]:
        cloud = Cloud()
        cloud.fault("status", name, status=int(code))
        assert (await cloud.call(name)).status == int(code)


@pytest.mark.proves("version:description")
def test_sim_the_document_is_version_1_in_openapi_3_0():
    assert (document()["info"]["version"], document()["openapi"][:4]) == ("v1", "3.0.")
