"""What the specification states beside its operations: general rules, records, states, authentication, errors, limits."""

from __future__ import annotations

from support.specification.operations import SERVICE_DECIDES
from support.specification.statement import Chapter, Section, Statement

_DASHBOARD = "keys are made and revoked in the dashboard, which the client does not reach"


def _of_service(name: str, says: str, reason: str = SERVICE_DECIDES) -> Statement:
    return Statement(name, says, not_at_client=reason)


GENERAL = Section(
    "General rules",
    (
        Statement("general:1", "creating, starting, stopping or destroying a VM, creating or deleting a snapshot: 202"),
        _of_service("general:1.continues", "after a 202 processing continues"),
        Statement("general:2", "reading, bare metal and VPC operations: 200"),
        Statement("general:3", "a query parameter that is not marked optional is required"),
        Statement("general:credential", "authentication applies to every endpoint"),
        Statement("general:case", "names of query parameters are case-sensitive"),
    ),
)

# Record -> its fields as the specification's tables spell them.
FIELDS = {
    "VmRecord": "id namespace configuration storage gpu_type gpus vcpus memory ip privateIp image cluster username "
    "tenancy_name rpool nodeSelector directAttachedStoragePersisted storageType rootDiskSize status lastUpdated",
    "OperationResult": "id cluster status",
    "ConfigurationRecord": "id user_friendly_name name description storage type brand_family brand text_name gpus vcpus "
    "memory price compute_network is_gpu_platform clusters",
    "AvailabilityRecord": "configuration cluster rpool price available count maxCount availableNodeNames",
    "BootLogRecord": "id namespace cluster bootLogs",
    "HostRecord": "id cluster tenancyName nodeType image privateIp publicIp provisionedHostname operationalStatus "
    "poweredOn provisioningState",
    "SnapshotRecord": "id namespace sourceName osImage customPackage rootDiskSize creationDate username tenancyName readyToUse",
    "DeletedSnapshot": "id",
    "VpcRecord": "id name cluster tenancyName ipRange createdAt blockIntraVpcComms isDefault",
    "LoginResult": "accessToken encryptedAccessToken expireInSeconds refreshToken refreshTokenExpireInSeconds userId "
    "requiresTwoFactorVerification shouldResetPassword",
}


def _record(name: str, fields: str) -> Section:
    noted = name == "LoginResult"
    return Section(name, tuple(Statement(f"{name}.{one}", one, noted=noted) for one in fields.split()), fields=True)


ABOUT_RECORDS = Section(
    "All records",
    (
        Statement("record:null", "a text may be null"),
        Statement("record:optional", "every field is optional"),
        _of_service("VmRecord.namespace:default", "the default namespace is the tenant's name"),
        _of_service("HostRecord.id:unique", "a host's id is unique within its cluster"),
        _of_service("VpcRecord.id:unique", "a VPC's id is unique within its cluster"),
    ),
)

STATES = Section(
    "States",
    (
        Statement("state:words", "PLANNED, PENDING, PENDING_RESOURCES, PENDING_READINESS, ONLINE, OFFLINE are VM statuses"),
        Statement("state:open", "other VM statuses may exist"),
        _of_service("state:start", "StartServer is for a VM that is OFFLINE"),
        _of_service("state:stop", "StopServer shuts a VM down"),
        _of_service("state:destroy", "DestroyServer deletes a VM for good and frees its resources"),
        _of_service("state:host", "RebootHost and ReprovisionHost act on a host: power, provisioning state"),
        _of_service("state:snapshot", "a snapshot is not ready at once; readyToUse says when it is"),
    ),
)

CREDENTIALS = Section(
    "Credentials",
    (
        Statement("auth:token.obtained", "a login token comes from Authenticate"),
        Statement("auth:token.lifetime", "it lives for 24 hours"),
        _of_service("auth:token.permissions", "it carries all permissions of the account"),
        Statement("auth:token.renewal", "it is renewed by RefreshToken"),
        Statement("auth:token.header", "`Authorization: Bearer <token>`"),
        _of_service("auth:key.lifetime", "a key's owner chooses its life, up to a year", _DASHBOARD),
        _of_service("auth:key.permissions", "a key carries all permissions or a subset", _DASHBOARD),
        Statement("auth:key.header", "`Authorization: ApiKey <key>`"),
    ),
)

AUTHENTICATION = Section(
    "Rules of authentication",
    (
        Statement("auth:1.key", "every endpoint takes an API key in place of a login token"),
        Statement("auth:1.none", "Authenticate and RefreshToken need no credential"),
        _of_service("auth:2.case", "the scheme ApiKey is case-insensitive", "the client always sends it as ApiKey"),
        Statement("auth:2.space", "one space follows the scheme"),
        Statement("auth:3", "a key is never sent in a URL"),
        _of_service("auth:4", "creating keys needs the permission API Keys", _DASHBOARD),
        _of_service("auth:5.ten", "a user holds at most 10 active keys", _DASHBOARD),
        _of_service("auth:5.own", "a user sees and revokes only their own keys", _DASHBOARD),
        _of_service("auth:6.description", "a key is created with a description", _DASHBOARD),
        _of_service("auth:6.expiration", "for a week, 1, 3 or 6 months, a year, or until a custom time", _DASHBOARD),
        _of_service("auth:6.permissions", "with all permissions or chosen ones; a child brings its parents", _DASHBOARD),
        _of_service("auth:7.once", "a key's value is shown once, at creation", _DASHBOARD),
        _of_service("auth:7.metadata", "afterwards its last 12 characters, description, permissions, expiration", _DASHBOARD),
        _of_service("auth:8.intersection", "a request has the permissions that both the key and its owner have now"),
        _of_service("auth:8.follows", "a key with all permissions follows later changes of role"),
        _of_service("auth:8.removed", "what the owner loses, all their keys lose"),
        _of_service("auth:9.immediate", "revocation takes effect at once"),
        _of_service("auth:9.final", "revocation cannot be undone", _DASHBOARD),
        Statement("auth:9.rejected", "a request with a revoked or expired key is rejected"),
        _of_service("auth:9.listed", "expired keys stay listed, and count, until revoked", _DASHBOARD),
        _of_service("auth:10.malformed", "a malformed header: 401", "the client refuses a key that would make one"),
        Statement("auth:10.expired", "an expired or revoked key: 401"),
        Statement("auth:10.flag", "the body of a 401 may carry unAuthorizedRequest true"),
        Statement("auth:10.scope", "a scoped key without the permission: 403"),
    ),
)

ERRORS = Section(
    "Errors",
    (
        Statement("errors:names", "400, 401, 403, 422, 500, 503 mean what their names say"),
        _of_service("errors:key-limit", "the eleventh key is refused; the message names the limit of 10", _DASHBOARD),
    ),
)

LIMITS = Section(
    "Limits",
    (
        _of_service("limit:keys", "10 active API keys per user", _DASHBOARD),
        _of_service("limit:key-lifetime", "an API key lives for a year at most", _DASHBOARD),
        Statement("limit:token-lifetime", "a login token lives for 24 hours"),
        Statement("limit:vm-name", "a VM's name has at most 52 characters"),
        Statement("limit:boot-log", "1 to 10000 boot log entries, 2000 by default"),
        _of_service("limit:default-vpc", "one default VPC per cluster"),
    ),
)

VERSIONING = Section(
    "Versioning",
    (
        Statement("version:path", "every resource endpoint begins with /api/v1/"),
        Statement("version:logins", "the authentication endpoints begin with /api/TokenAuth/"),
        _of_service("version:description", "the interface description says v1 and OpenAPI 3.0", "it is the service's document"),
    ),
)

# Each is a knob or a fault of the simulator; the client takes every form.
OPEN = Section(
    "Left open by the specification",
    (
        Statement("open:images", "whether snapshotName, tenantCustomImageFileName and operatingSystemImage combine"),
        Statement("open:root-disk", "the unit of rootDiskSize in answers"),
        Statement("open:host-words", "the values of operationalStatus and provisioningState"),
        Statement("open:vm-errors", "the error codes of the VM endpoints"),
        Statement("open:error-body", "the shape of error bodies"),
        Statement("open:rate-limit", "rate limits"),
    ),
)

RULES = (
    Chapter("Rules", (GENERAL, STATES, CREDENTIALS, AUTHENTICATION, ERRORS, LIMITS, VERSIONING, OPEN)),
    Chapter("Records", (ABOUT_RECORDS, *(_record(name, fields) for name, fields in FIELDS.items()))),
)

# Said by the specification, and nothing that a test could fail on.
NOTHING_TO_SHOW = (
    "DestroyServer wipes the VM's data: no operation reads that data.",
    "A key is renewed by creating a new one: that is creating a key.",
    "StopServer's shutdown is orderly: the API shows only its end.",
    "Events, limits of pagination and a policy of deprecation: none is described.",
    "Permission names other than API Keys, and API keys as API records: not shown.",
)
