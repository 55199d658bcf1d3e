"""The records of the answers, field by field as the specification tables them.

The services fill them and the OpenAPI document describes them. Every field is optional and may be null.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

Text = str | None
Int32 = Annotated[int | None, Field(json_schema_extra={"format": "int32"})]
Int64 = Annotated[int | None, Field(json_schema_extra={"format": "int64"})]
Number = Annotated[float | None, Field(json_schema_extra={"format": "double"})]
Flag = bool | None
DateTime = Annotated[str | None, Field(json_schema_extra={"format": "date-time"})]


class VmRecord(TypedDict, total=False):
    """A virtual machine."""

    id: Text
    namespace: Text
    configuration: Text
    storage: Int64
    gpu_type: Text
    gpus: Int32
    vcpus: Int32
    memory: Int64
    ip: Text
    privateIp: Text
    image: Text
    cluster: Text
    username: Text
    tenancy_name: Text
    rpool: Text
    nodeSelector: Text
    directAttachedStoragePersisted: Flag
    storageType: Text
    rootDiskSize: Text
    status: Text
    lastUpdated: DateTime


class VmItems(TypedDict, total=False):
    """GetServers."""

    items: list[VmRecord]


class OperationRecord(TypedDict, total=False):
    """What start, stop and destroy answer."""

    id: Text
    cluster: Text
    status: Text


class ConfigurationRecord(TypedDict, total=False):
    """A VM configuration."""

    id: Int32
    user_friendly_name: Text
    name: Text
    description: Text
    storage: Int64
    type: Text
    brand_family: Text
    brand: Text
    text_name: Text
    gpus: Int32
    vcpus: Int32
    memory: Int64
    price: Number
    compute_network: Text
    is_gpu_platform: Flag
    clusters: list[str] | None


class ConfigurationItems(TypedDict, total=False):
    """GetConfigurations."""

    items: list[ConfigurationRecord]


class AvailabilityRecord(TypedDict, total=False):
    """Availability of one configuration in one pool."""

    configuration: Text
    cluster: Text
    rpool: Text
    price: Number
    available: Flag
    count: Int32
    maxCount: Int32
    availableNodeNames: list[str] | None


class AvailabilityItems(TypedDict, total=False):
    """GetAvailability."""

    items: list[AvailabilityRecord]


class BootLogRecord(TypedDict, total=False):
    """The boot log of a machine."""

    id: Text
    namespace: Text
    cluster: Text
    bootLogs: Text


class HostRecord(TypedDict, total=False):
    """A bare metal host."""

    id: Text
    cluster: Text
    tenancyName: Text
    nodeType: Text
    image: Text
    privateIp: Text
    publicIp: Text
    provisionedHostname: Text
    operationalStatus: Text
    poweredOn: Flag
    provisioningState: Text


class HostItems(TypedDict, total=False):
    """GetHosts."""

    items: list[HostRecord]


class SnapshotRecord(TypedDict, total=False):
    """A snapshot."""

    id: Text
    namespace: Text
    sourceName: Text
    osImage: Text
    customPackage: Text
    rootDiskSize: Text
    creationDate: DateTime
    username: Text
    tenancyName: Text
    readyToUse: Flag


class SnapshotItems(TypedDict, total=False):
    """GetSnapshots."""

    items: list[SnapshotRecord]


class IdRecord(TypedDict, total=False):
    """What DeleteSnapshot answers."""

    id: Text


class VpcRecord(TypedDict, total=False):
    """A VPC."""

    id: Text
    name: Text
    cluster: Text
    tenancyName: Text
    ipRange: Text
    createdAt: DateTime
    blockIntraVpcComms: Flag
    isDefault: Flag


class VpcItems(TypedDict, total=False):
    """GetVpcs."""

    items: list[VpcRecord]


class LoginRecord(TypedDict, total=False):
    """What Authenticate answers, inside the wrapper."""

    accessToken: Text
    encryptedAccessToken: Text
    expireInSeconds: Int32
    refreshToken: Text
    refreshTokenExpireInSeconds: Int32
    userId: Int64
    requiresTwoFactorVerification: Flag
    shouldResetPassword: Flag


class RefreshRecord(TypedDict, total=False):
    """What RefreshToken answers, inside the wrapper; never a new refresh token."""

    accessToken: Text
    encryptedAccessToken: Text
    expireInSeconds: Int32


class ValidationErrorRecord(TypedDict, total=False):
    """One complaint about the request and the members it is about."""

    message: str
    members: list[str]


class ErrorRecord(TypedDict, total=False):
    """The error inside an error answer."""

    code: int
    message: Text
    details: Text
    validationErrors: list[ValidationErrorRecord] | None


class ErrorAnswer(TypedDict, total=False):
    """The body of an error, as the web framework forms it."""

    success: bool
    error: ErrorRecord | None
    unAuthorizedRequest: bool
