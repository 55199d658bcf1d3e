"""The wire models: what the cloud's API sends and takes, as frozen pydantic models with Python names.

Answers are read tolerantly (everything may be null, missing, or a number inside a string), because one odd field must
not make a whole machine invisible. Requests are written strictly: an optional field that was not given is left out,
since the service answers 400 to a JSON null. This module does no I/O and knows nothing of HTTP, of errors or of Kubernetes.
"""

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

T = TypeVar("T")


def readable_text(value: Any) -> str | None:
    """Return a string or a number as text without lone surrogates; None for anything else."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return str(value)


def _text(value: Any) -> str | None:
    """Read a short text; blank means absent (an address is "" before a VM is ready)."""
    text = readable_text(value)
    return (text.strip() or None) if text is not None else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def whole_number(value: Any) -> int | None:
    """Return a whole number that is written as an integer, as 5.0 or as text; None for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            pass  # "2.0" is still a whole number
    number = _number(value)
    return int(number) if number is not None and number.is_integer() else None


def _boolean(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    return None


def _moment(value: Any) -> datetime | None:
    """Read a date-time. No zone means UTC, and year 1 is the service's way to say "never" (field notes)."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if not isinstance(value, datetime) or value.year <= 1:
        return None
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        return None


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        return ()
    return tuple(text for text in map(_text, value) if text is not None)


Text = Annotated[str | None, BeforeValidator(_text)]
LongText = Annotated[str | None, BeforeValidator(readable_text)]
Integer = Annotated[int | None, BeforeValidator(whole_number)]
Number = Annotated[float | None, BeforeValidator(_number)]
Boolean = Annotated[bool | None, BeforeValidator(_boolean)]
Moment = Annotated[datetime | None, BeforeValidator(_moment)]
Texts = Annotated[tuple[str, ...], BeforeValidator(_texts)]


class VmStatus(StrEnum):
    """The VM states known so far. A record's ``status`` is plain text, because the list is open."""

    NA = "na"
    PLANNED = "PLANNED"
    PENDING = "PENDING"
    PENDING_RESOURCES = "PENDING_RESOURCES"
    PENDING_READINESS = "PENDING_READINESS"
    ONLINE = "ONLINE"
    OFFLINE = "OFFLINE"
    CREATE_FAILED = "CREATE_FAILED"
    FAILED = "FAILED"
    ADMIN_WAIT = "ADMIN_WAIT"


@lru_cache(maxsize=256)
def _shared(names: frozenset[str]) -> set[str]:
    return set(names)


class Record(BaseModel):
    """A record in an answer: every field optional, unknown fields ignored, made by Python or by wire name."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True, hide_input_in_errors=True)

    identity: ClassVar[str | None] = None
    """The field without which an item of a listing cannot be told from another; None where nothing identifies it."""

    def model_post_init(self, _context: Any) -> None:
        """Share the set of the fields that were given with all records that were given the same: a VM's takes 2 KB."""
        object.__setattr__(self, "__pydantic_fields_set__", _shared(frozenset(self.__pydantic_fields_set__)))


class VmRecord(Record):
    """A virtual machine. ``storage`` and ``memory`` in GB. Source: service-api, Virtual machine record."""

    identity: ClassVar[str | None] = "id"

    id: Text = None
    namespace: Text = None
    configuration: Text = None
    storage: Integer = None
    gpu_type: Text = None
    gpus: Integer = None
    vcpus: Integer = None
    memory: Integer = None
    ip: Text = None
    private_ip: Text = Field(default=None, alias="privateIp")
    image: Text = None
    cluster: Text = None
    username: Text = None
    tenancy_name: Text = None
    rpool: Text = None
    node_selector: Text = Field(default=None, alias="nodeSelector")
    direct_attached_storage_persisted: Boolean = Field(default=None, alias="directAttachedStoragePersisted")
    storage_type: Text = Field(default=None, alias="storageType")
    root_disk_size: Text = Field(default=None, alias="rootDiskSize")
    status: Text = None
    last_updated: Moment = Field(default=None, alias="lastUpdated")


class OperationResult(Record):
    """What start, stop and destroy answer. Source: service-api, Operation result record."""

    identity: ClassVar[str | None] = "id"

    id: Text = None
    cluster: Text = None
    status: Text = None


class ConfigurationRecord(Record):
    """A VM configuration on offer; ``price`` in dollars per hour for the whole VM. Source: service-api."""

    identity: ClassVar[str | None] = "name"

    id: Integer = None
    user_friendly_name: Text = None
    name: Text = None
    description: LongText = None
    storage: Integer = None
    type: Text = None
    brand_family: Text = None
    brand: Text = None
    text_name: Text = None
    gpus: Integer = None
    vcpus: Integer = None
    memory: Integer = None
    price: Number = None
    compute_network: Text = None
    is_gpu_platform: Boolean = None
    clusters: Texts = ()


class AvailabilityRecord(Record):
    """How many of a configuration can be had in a cluster and pool now. Source: service-api, Availability record."""

    identity: ClassVar[str | None] = "configuration"

    configuration: Text = None
    cluster: Text = None
    rpool: Text = None
    price: Number = None
    available: Boolean = None
    count: Integer = None
    max_count: Integer = Field(default=None, alias="maxCount")
    available_node_names: Texts = Field(default=(), alias="availableNodeNames")


class BootLogRecord(Record):
    """The boot log of a VM. Source: service-api, Boot log record."""

    identity: ClassVar[str | None] = "id"

    id: Text = None
    namespace: Text = None
    cluster: Text = None
    boot_logs: LongText = Field(default=None, alias="bootLogs")


class HostRecord(Record):
    """A bare metal host. Source: service-api, Bare metal host record."""

    identity: ClassVar[str | None] = "id"

    id: Text = None
    cluster: Text = None
    tenancy_name: Text = Field(default=None, alias="tenancyName")
    node_type: Text = Field(default=None, alias="nodeType")
    image: Text = None
    private_ip: Text = Field(default=None, alias="privateIp")
    public_ip: Text = Field(default=None, alias="publicIp")
    provisioned_hostname: Text = Field(default=None, alias="provisionedHostname")
    operational_status: Text = Field(default=None, alias="operationalStatus")
    powered_on: Boolean = Field(default=None, alias="poweredOn")
    provisioning_state: Text = Field(default=None, alias="provisioningState")


class SnapshotRecord(Record):
    """A snapshot of a VM; it names no cluster. Source: service-api, Snapshot record."""

    identity: ClassVar[str | None] = "id"

    id: Text = None
    namespace: Text = None
    source_name: Text = Field(default=None, alias="sourceName")
    os_image: Text = Field(default=None, alias="osImage")
    custom_package: Text = Field(default=None, alias="customPackage")
    root_disk_size: Text = Field(default=None, alias="rootDiskSize")
    creation_date: Moment = Field(default=None, alias="creationDate")
    username: Text = None
    tenancy_name: Text = Field(default=None, alias="tenancyName")
    ready_to_use: Boolean = Field(default=None, alias="readyToUse")


class DeletedSnapshot(Record):
    """What DeleteSnapshot answers. Source: service-api."""

    identity: ClassVar[str | None] = "id"

    id: Text = None


class VpcRecord(Record):
    """A virtual private cloud. Source: service-api, VPC record."""

    identity: ClassVar[str | None] = "id"

    id: Text = None
    name: Text = None
    cluster: Text = None
    tenancy_name: Text = Field(default=None, alias="tenancyName")
    ip_range: Text = Field(default=None, alias="ipRange")
    created_at: Moment = Field(default=None, alias="createdAt")
    block_intra_vpc_comms: Boolean = Field(default=None, alias="blockIntraVpcComms")
    is_default: Boolean = Field(default=None, alias="isDefault")


class LoginResult(Record):
    """What Authenticate and RefreshToken answer; the tokens are left out of ``repr``. Source: field notes."""

    access_token: Text = Field(default=None, alias="accessToken", repr=False)
    encrypted_access_token: Text = Field(default=None, alias="encryptedAccessToken", repr=False)
    expire_in_seconds: Integer = Field(default=None, alias="expireInSeconds")
    refresh_token: Text = Field(default=None, alias="refreshToken", repr=False)
    refresh_token_expire_in_seconds: Integer = Field(default=None, alias="refreshTokenExpireInSeconds")
    user_id: Integer = Field(default=None, alias="userId")
    requires_two_factor_verification: Boolean = Field(default=None, alias="requiresTwoFactorVerification")
    should_reset_password: Boolean = Field(default=None, alias="shouldResetPassword")


class CreateServer(BaseModel):
    """The body of CreateServer; None leaves a field out. ``root_disk_size`` in GiB. Source: service-api, CreateServer.

    Lengths and ranges are judged when the call is made (``calls.create_server``), so every refusal is a CloudError.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    vpc: str
    configuration: str
    cluster: str
    ssh_keys: tuple[str, ...]
    name: str | None = None
    rpool: str | None = None
    snapshot_name: str | None = Field(default=None, serialization_alias="snapshotName")
    tenant_custom_image_file_name: str | None = Field(default=None, serialization_alias="tenantCustomImageFileName")
    operating_system_image: str | None = Field(default=None, serialization_alias="operatingSystemImage")
    personal_storage_mount_path: str | None = Field(default=None, serialization_alias="personalStorageMountPath")
    tenant_shared_additional_storage: str | None = Field(default=None, serialization_alias="tenantSharedAdditionalStorage")
    persist_storage: bool | None = Field(default=None, serialization_alias="persistStorage")
    direct_storage_mount_path: str | None = Field(default=None, serialization_alias="directStorageMountPath")
    block_storage_names: tuple[str, ...] | None = Field(default=None, serialization_alias="blockStorageNames")
    root_disk_size: int | None = Field(default=None, serialization_alias="rootDiskSize")
    selected_node: str | None = Field(default=None, serialization_alias="selectedNode")


@dataclass(frozen=True)
class Listing(Generic[T]):
    """The items of a listing, and whether absence from it proves anything.

    ``complete`` is False when something is there that the items do not show, so nothing may be called absent: an item was
    not an object, or carried no usable identity; or the service counted more than it listed. ``flaw`` says which.
    ``delay``: seconds after which the request that was answered began, after others had failed; it shows nothing older.
    """

    items: tuple[T, ...]
    complete: bool = True
    flaw: str = ""
    delay: float = 0.0
