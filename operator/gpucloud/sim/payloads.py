"""What each operation takes, as pydantic models: the query parameters and bodies of the specification, and nothing else.

Strict, so that a null or a number in a string is refused in a body. An optional field that was not given has an empty
default ("" or 0), which no caller can tell from leaving it out. It must not know the world.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Text = Annotated[str, Field(min_length=1)]
Gibibytes = Annotated[int, Field(ge=1, le=2**31 - 1, json_schema_extra={"format": "int32"})]
LogLines = Annotated[int, Field(ge=1, le=10_000, json_schema_extra={"format": "int32"})]


class Payload(BaseModel):
    """Unknown members are ignored, as the real framework does; names are case-sensitive."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class NoParameters(Payload):
    """An operation without parameters."""


class ClusterFilter(Payload):
    """Listings of VMs, snapshots and hosts."""

    cluster: str = Field("", alias="Cluster")


class VpcFilter(Payload):
    """GetVpcs takes its filter in lower case (field notes)."""

    cluster: str = Field("", alias="cluster")


class NamedInVpc(Payload):
    """One VM or snapshot."""

    id: Text = Field(alias="Id")
    namespace: Text = Field(alias="Namespace")
    cluster: Text = Field(alias="Cluster")


class NamedInCluster(Payload):
    """One host or VPC."""

    id: Text = Field(alias="Id")
    cluster: Text = Field(alias="Cluster")


class DestroyServerQuery(NamedInVpc):
    """DestroyServer."""

    delete_snapshots: bool = Field(False, alias="DeleteSnapshots")


class BootLogQuery(NamedInVpc):
    """GetVirtualMachineBootLogs. Limit is marked required; a knob, checked by the service, may let it be left out."""

    model_config = ConfigDict(json_schema_extra={"required": ["Id", "Namespace", "Cluster", "Limit"]})

    limit: LogLines = Field(0, alias="Limit")


class AvailabilityQuery(Payload):
    """GetAvailability."""

    cluster: Text
    resource_pool: str = Field("", alias="resourcePool")
    report_nodes: bool = Field(True, alias="reportNodes")


class CreateServerBody(Payload):
    """CreateServer."""

    name: str = Field("", max_length=52)
    rpool: str = ""
    vpc: Text
    configuration: Text
    cluster: Text
    ssh_keys: list[str] = Field(min_length=1)
    snapshot_name: str = Field("", alias="snapshotName")
    custom_image: str = Field("", alias="tenantCustomImageFileName")
    operating_system: str = Field("", alias="operatingSystemImage")
    personal_mount: str = Field("", alias="personalStorageMountPath")
    shared_mount: str = Field("", alias="tenantSharedAdditionalStorage")
    persist_storage: bool = Field(False, alias="persistStorage")
    direct_mount: str = Field("", alias="directStorageMountPath")
    block_storage: list[str] = Field(default=[], alias="blockStorageNames")
    root_disk_size: Gibibytes = Field(0, alias="rootDiskSize")
    selected_node: str = Field("", alias="selectedNode")


class ServerBody(Payload):
    """StartServer and StopServer."""

    id: Text
    namespace: Text
    cluster: Text


class HostBody(Payload):
    """RebootHost; id and cluster are required (field notes)."""

    id: Text
    cluster: Text


class ReprovisionHostBody(HostBody):
    """ReprovisionHost."""

    image_url: str = Field("", alias="imageUrl")
    image_checksum: str = Field("", alias="imageChecksum")
    cloud_init: str = Field("", alias="cloudInitBase64", repr=False)


class CreateSnapshotBody(Payload):
    """CreateSnapshot."""

    name: str = ""
    namespace: Text
    cluster: Text
    source: str = Field("", alias="sourceVMName")


class CreateVpcBody(Payload):
    """CreateVpc; name and cluster are required (field notes)."""

    name: Text
    cluster: Text
    blocks_inside: bool = Field(False, alias="blockIntraVpcComms")
    is_default: bool = Field(False, alias="isDefault")


class AuthenticateBody(Payload):
    """Authenticate (field notes)."""

    name: Text = Field(alias="userNameOrEmailAddress", max_length=256)
    password: Text = Field(max_length=128, repr=False)
    remember_client: bool = Field(False, alias="rememberClient")
    two_factor_code: str = Field("", alias="twoFactorVerificationCode", repr=False)


class RefreshQuery(Payload):
    """RefreshToken takes a query parameter and no body (field notes)."""

    refresh_token: Text = Field(alias="refreshToken", repr=False)
