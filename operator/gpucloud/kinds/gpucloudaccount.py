"""GpuCloudAccount (``gca``): a credential of the GPU cloud and its defaults, for the objects of its own namespace."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from gpucloud.kinds.common import Reference, Status
from gpucloud.kinds.markers import CEL, IMMUTABLE, SET, list_map
from gpucloud.kinds.model import Model, Time
from gpucloud.kinds.schema import INT32_MAX

KIND = "GpuCloudAccount"
PLURAL = "gpucloudaccounts"
MOST_HELD_SECRETS = 8  # by one account: the one in use, and older ones that are not replaced yet


class CredentialKind(StrEnum):
    """What the Secret holds."""

    API_KEY = "ApiKey"
    LOGIN = "Login"


class Access(StrEnum):
    """How the cloud answered this credential when the operation was last tried."""

    ALLOWED = "Allowed"
    FORBIDDEN = "Forbidden"


class AccountDefaults(Model):
    """Used for a GpuVM that does not say."""

    resource_pool: Annotated[str | None, Field(min_length=1, max_length=253, description="Resource pool.")] = None
    operating_system: Annotated[
        str | None,
        Field(
            min_length=1, max_length=253, description="Operating system image, for a GpuVM that names no source of its disk."
        ),
    ] = None
    root_disk_gib: Annotated[
        int | None, Field(alias="rootDiskGiB", ge=1, le=INT32_MAX, description="Size of the root disk in GiB.")
    ] = None


class GpuCloudAccountSpec(Model):
    """The account as its owner wants it. The operator never writes here."""

    endpoint: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=253,
            description="Name of an endpoint that the administrator declared; when not set, the first declared. Never a URL.",
        ),
        # Called forbidden, since the apiserver would print an "invalid" value, and a URL may hold a password.
        CEL(
            "!self.contains(':') && !self.contains('/')",
            "Not a name of an endpoint: the administrator declares endpoints with their URLs (--endpoint NAME=URL); give "
            "the NAME, without ':' and '/'.",
            reason="FieldValueForbidden",
        ),
        IMMUTABLE,
    ] = None
    secret_ref: Annotated[
        Reference,
        Field(description="Secret of this namespace with the key apikey, or the keys username and password."),
    ]
    defaults: Annotated[AccountDefaults | None, Field(description="Used for a GpuVM that does not say.")] = None


class RequestBudget(Model):
    """How many requests the operator may send with this credential."""

    requests_per_second: Annotated[str, Field(max_length=32, description="Requests a second, in the long run.")]
    burst: Annotated[int, Field(ge=0, le=INT32_MAX, description="Requests that may be sent at once.")]


class OperationAccess(Model):
    """Whether the cloud lets this credential carry out one operation."""

    name: Annotated[str, Field(max_length=64, description="The operation, as the cloud's API names it.")]
    access: Annotated[Access, Field(description="Allowed or Forbidden.")]
    message: Annotated[str | None, Field(max_length=1024, description="The cloud's own words, when it forbids.")] = None


class SecretVersion(Model):
    """One version of one Secret."""

    uid: Annotated[str, Field(max_length=64, description="UID of the Secret.")]
    resource_version: Annotated[str, Field(max_length=64, description="Its resourceVersion.")]


class GpuCloudAccountStatus(Status):
    """What the operator observed. Rebuilt whole in every write; it never holds a key, token or password."""

    endpoint: Annotated[str | None, Field(max_length=253, description="Name of the endpoint in use.")] = None
    credential_kind: Annotated[CredentialKind | None, Field(description="What the Secret holds: ApiKey or Login.")] = None
    tenant: Annotated[
        str | None, Field(max_length=253, description="Tenant of the records that the cloud lists for this credential.")
    ] = None
    clusters: Annotated[
        tuple[Annotated[str, Field(max_length=253)], ...],
        Field(max_length=256, description="Clusters that the cloud lists for this credential."),
        SET,
    ] = ()
    last_contact_at: Annotated[
        Time | None, Field(description="When the cloud last answered this credential, as of this write of the status.")
    ] = None
    token_expires_at: Annotated[
        Time | None, Field(description="When the login's token expires. It is renewed before; absent for a key.")
    ] = None
    request_budget: Annotated[
        RequestBudget | None, Field(description="How many requests may be sent with this credential.")
    ] = None
    operations: Annotated[
        tuple[OperationAccess, ...],
        Field(max_length=64, description="What the cloud was seen to allow and to forbid this credential."),
        list_map("name"),
    ] = ()
    users: Annotated[int, Field(ge=0, le=INT32_MAX, description="Number of objects that use it.")] = 0
    held_secrets: Annotated[
        tuple[Annotated[str, Field(max_length=253)], ...],
        Field(
            max_length=MOST_HELD_SECRETS,
            description="Secrets with the operator's finalizer: each stays, though deleted, until no object needs it. An older "
            "one is freed when the cloud has accepted the credential of the one in use, for the same tenant.",
        ),
        SET,
    ] = ()
    proven_secret: Annotated[
        SecretVersion | None, Field(description="Version of the Secret with which the cloud has listed records of this tenant.")
    ] = None
