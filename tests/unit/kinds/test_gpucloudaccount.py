"""GpuCloudAccount: what its models read from, and write to, the objects of a cluster."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from gpucloud.kinds.crd import custom_resource_definition
from gpucloud.kinds.definitions import GPUCLOUDACCOUNT
from gpucloud.kinds.gpucloudaccount import Access, CredentialKind, GpuCloudAccountSpec, GpuCloudAccountStatus
from support.crdschema import fields

PROPERTIES = custom_resource_definition(GPUCLOUDACCOUNT)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
WRITTEN = {
    "observedGeneration": 2,
    "conditions": [],
    "endpoint": "eu",
    "credentialKind": "Login",
    "tenant": "acme",
    "clusters": ["Msc1", "Hou1"],
    "lastContactAt": "2026-01-02T03:04:05Z",
    "tokenExpiresAt": "2026-01-03T03:04:05Z",
    "requestBudget": {"requestsPerSecond": "10", "burst": 20},
    "operations": [
        {"name": "GetServers", "access": "Allowed"},
        {"name": "CreateVpc", "access": "Forbidden", "message": "Required permissions are not granted."},
    ],
    "users": 3,
    "heldSecrets": ["cloud-credential"],
    "provenSecret": {"uid": "3f0c", "resourceVersion": "812"},
}


def test_the_least_account_names_its_secret_and_leaves_the_rest():
    spec = GpuCloudAccountSpec.model_validate({"secretRef": {"name": "cloud-credential"}})
    assert (spec.secret_ref.name, spec.endpoint, spec.defaults) == ("cloud-credential", None, None)


def test_without_a_secret_it_is_none():
    with pytest.raises(ValidationError, match="secretRef"):
        GpuCloudAccountSpec.model_validate({"endpoint": "eu"})


def test_the_defaults_are_read():
    defaults = {"resourcePool": "reserved-acme", "operatingSystem": "Ubuntu 22.04.4 LTS", "rootDiskGiB": 200}
    read = GpuCloudAccountSpec.model_validate({"secretRef": {"name": "s"}, "defaults": defaults}).defaults
    assert (read.resource_pool, read.operating_system, read.root_disk_gib) == ("reserved-acme", "Ubuntu 22.04.4 LTS", 200)


def test_a_status_is_read_and_written_as_it_stands():
    status = GpuCloudAccountStatus.model_validate(WRITTEN)
    assert status.credential_kind is CredentialKind.LOGIN
    assert [item.access for item in status.operations] == [Access.ALLOWED, Access.FORBIDDEN]
    assert status.model_dump(mode="json", by_alias=True, exclude_none=True) == WRITTEN


def test_an_endpoint_is_named_and_a_url_nowhere_asked_for():
    """An endpoint's URL comes from the administrator alone: a user's could lead the operator, and its credential, anywhere."""
    assert [path for path, _ in fields(PROPERTIES["spec"]) if "url" in path.lower()] == []


def test_status_has_no_place_for_a_credential():
    names = {path.rsplit(".", 1)[-1].lower() for path, _ in fields(PROPERTIES["status"])}
    assert names & {"apikey", "key", "token", "password", "username", "secret"} == set()
