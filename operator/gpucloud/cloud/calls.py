"""One pure function per operation of the service: checked arguments in, a frozen ``Call`` out.

Everything that the specification fixes about a request is here and nowhere else: method, path, names and case of
parameters, the shape of the body, required fields, lengths and ranges. A call that breaks a rule is refused here with
``ErrorKind.INVALID`` before anything is sent. This module does no I/O and knows nothing of credentials or transports.
"""
# ruff: noqa: A002 - "id" is the API's own name for it

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar
from urllib.parse import unquote_plus

from gpucloud.cloud import models
from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.parsing import listing_of, login_of, names_of, record_of
from gpucloud.cloud.quotations import document_of

T = TypeVar("T")

MAX_NAME = 52
_VM = "/api/v1/servers/virtual/"
_METAL = "/api/v1/servers/metal/"
_SNAPSHOTS = "/api/v1/servers/snapshots/"
_VPCS = "/api/v1/vpcs/"
_AUTH = "/api/TokenAuth/"


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request that is ready to be sent, and how to read its answer.

    ``safe`` calls only read and may be sent again. ``parse`` takes the decoded, unwrapped answer and raises CloudError
    (MALFORMED) when it is not what the specification promises. ``secrets`` are values that no text may ever repeat,
    ``documents`` texts of which it may quote no line and no value.
    """

    operation: str
    method: str
    path: str
    parse: Callable[[Any], T] = field(repr=False)
    params: Mapping[str, str] = field(default_factory=dict, repr=False)
    json: Mapping[str, Any] | None = field(default=None, repr=False)
    authenticated: bool = True
    secrets: tuple[str, ...] = field(default=(), repr=False)
    documents: tuple[str, ...] = field(default=(), repr=False)

    @property
    def safe(self) -> bool:
        """Whether the call changes nothing, so that repeating it is harmless."""
        return self.method == "GET"


# --- clusters -------------------------------------------------------------------------------------------------------


def get_all_clusters() -> Call[tuple[str, ...]]:
    """List the names of the clusters allocated to the caller. Source: service-api, GetAll."""
    return Call("GetAll", "GET", "/api/v1/clusters/GetAll", names_of)


# --- virtual machines -----------------------------------------------------------------------------------------------


def get_servers(*, cluster: str | None = None) -> Call[models.Listing[models.VmRecord]]:
    """List VMs, of one cluster or of all. Source: service-api, GetServers."""
    return _read("GetServers", _VM, listing_of(models.VmRecord), Cluster=_optional("cluster", cluster))


def get_server(*, id: str, namespace: str, cluster: str) -> Call[models.VmRecord]:
    """Read one VM. Source: service-api, GetServer."""
    return _read("GetServer", _VM, record_of(models.VmRecord), **_whole_key(id, namespace, cluster))


def create_server(server: models.CreateServer) -> Call[models.VmRecord]:
    """Create a VM. Source: service-api, CreateServer (lengths, ranges, required fields)."""
    for name in ("vpc", "configuration", "cluster"):
        _required(name, getattr(server, name))
    if not server.ssh_keys:
        raise _refused("ssh_keys needs at least one key")
    if server.name is not None:
        _sized("name", server.name, 1, MAX_NAME)
    if server.root_disk_size is not None:
        _ranged("root_disk_size", server.root_disk_size, 1, 2**31 - 1)
    body = server.model_dump(mode="json", by_alias=True, exclude_none=True)
    return _change("CreateServer", _VM, record_of(models.VmRecord), body)


def start_server(*, id: str, namespace: str, cluster: str) -> Call[models.OperationResult]:
    """Start a VM that is OFFLINE. Source: service-api, StartServer."""
    return _change("StartServer", _VM, record_of(models.OperationResult), _whole_body(id, namespace, cluster))


def stop_server(*, id: str, namespace: str, cluster: str) -> Call[models.OperationResult]:
    """Shut a VM down in order. Source: service-api, StopServer."""
    return _change("StopServer", _VM, record_of(models.OperationResult), _whole_body(id, namespace, cluster))


def destroy_server(
    *,
    id: str,
    namespace: str,
    cluster: str,
    delete_snapshots: bool | None = None,
) -> Call[models.OperationResult]:
    """Destroy a VM for good, with its snapshots when asked. Source: service-api, DestroyServer."""
    params = _whole_key(id, namespace, cluster) | {"DeleteSnapshots": _flag(delete_snapshots)}
    return _delete("DestroyServer", _VM, record_of(models.OperationResult), **params)


def get_configurations() -> Call[models.Listing[models.ConfigurationRecord]]:
    """List the VM configurations. Source: service-api, GetConfigurations."""
    return _read("GetConfigurations", _VM, listing_of(models.ConfigurationRecord))


def get_availability(
    *,
    cluster: str,
    resource_pool: str | None = None,
    report_nodes: bool | None = None,
) -> Call[models.Listing[models.AvailabilityRecord]]:
    """List what can be had now; without ``report_nodes`` it is faster and counts nothing. Source: GetAvailability."""
    return _read(
        "GetAvailability",
        _VM,
        listing_of(models.AvailabilityRecord),
        cluster=_required("cluster", cluster),
        resourcePool=_optional("resource_pool", resource_pool),
        reportNodes=_flag(report_nodes),
    )


def get_boot_logs(
    *,
    id: str,
    namespace: str,
    cluster: str,
    limit: int = 2000,
) -> Call[models.BootLogRecord]:
    """Read at most ``limit`` (1 to 10000) entries of a boot log. Source: service-api, GetVirtualMachineBootLogs."""
    params = _whole_key(id, namespace, cluster) | {"Limit": str(_ranged("limit", limit, 1, 10_000))}
    return _read("GetVirtualMachineBootLogs", _VM, record_of(models.BootLogRecord), **params)


# --- bare metal -----------------------------------------------------------------------------------------------------


def get_host(*, id: str, cluster: str) -> Call[models.HostRecord]:
    """Read one bare metal host. Source: service-api, GetHost."""
    return _read("GetHost", _METAL, record_of(models.HostRecord), **_key(id, cluster))


def get_hosts(*, cluster: str | None = None) -> Call[models.Listing[models.HostRecord]]:
    """List bare metal hosts, of one cluster or of all. Source: service-api, GetHosts; the parameter's name: field notes."""
    return _read("GetHosts", _METAL, listing_of(models.HostRecord), Cluster=_optional("cluster", cluster))


def reboot_host(*, id: str, cluster: str) -> Call[models.HostRecord]:
    """Reboot a bare metal host. Source: service-api, RebootHost; both fields are required by the field notes."""
    body = {"id": _required("id", id), "cluster": _required("cluster", cluster)}
    return _change("RebootHost", _METAL, record_of(models.HostRecord), body)


def reprovision_host(
    *,
    id: str,
    cluster: str,
    image_url: str | None = None,
    image_checksum: str | None = None,
    cloud_init_base64: str | None = None,
) -> Call[models.HostRecord]:
    """Write a bare metal host again from an image. Source: service-api, ReprovisionHost.

    The cloud-init is a secret, encoded and decoded, and so is what a URL is signed with.
    """
    optional = {
        "imageUrl": _optional("image_url", image_url),
        "imageChecksum": _optional("image_checksum", image_checksum),
        "cloudInitBase64": _optional("cloud_init_base64", cloud_init_base64),
    }
    body = {"id": _required("id", id), "cluster": _required("cluster", cluster)} | _given(optional)
    secrets = (cloud_init_base64 or "", *_signatures(image_url or ""), *_signatures(image_checksum or ""))
    call = _change("ReprovisionHost", _METAL, record_of(models.HostRecord), body, tuple(filter(None, secrets)))
    return replace(call, documents=document_of(cloud_init_base64 or ""))


def _signatures(url: str) -> tuple[str, ...]:
    """Return what may be a secret in a URL: its user and password, its query and fragment, and each value of the query."""
    rest, _, fragment = url.partition("#")
    address, _, query = rest.partition("?")
    user = address.partition("://")[2].partition("/")[0].rpartition("@")[0]
    values = [pair.partition("=")[2] for pair in query.split("&")]
    return (user, query, fragment, *values, *map(unquote_plus, values))


# --- snapshots ------------------------------------------------------------------------------------------------------


def get_snapshots(*, cluster: str | None = None) -> Call[models.Listing[models.SnapshotRecord]]:
    """List snapshots, of one cluster or of all. Source: service-api, GetSnapshots."""
    return _read("GetSnapshots", _SNAPSHOTS, listing_of(models.SnapshotRecord), Cluster=_optional("cluster", cluster))


def get_snapshot(*, id: str, namespace: str, cluster: str) -> Call[models.SnapshotRecord]:
    """Read one snapshot. Source: service-api, GetSnapshot."""
    return _read("GetSnapshot", _SNAPSHOTS, record_of(models.SnapshotRecord), **_whole_key(id, namespace, cluster))


def create_snapshot(
    *,
    namespace: str,
    cluster: str,
    name: str | None = None,
    source_vm_name: str | None = None,
) -> Call[models.SnapshotRecord]:
    """Take a snapshot of a VM. Source: service-api, CreateSnapshot."""
    body = {
        "name": _optional("name", name),
        "namespace": _required("namespace", namespace),
        "cluster": _required("cluster", cluster),
        "sourceVMName": _optional("source_vm_name", source_vm_name),
    }
    return _change("CreateSnapshot", _SNAPSHOTS, record_of(models.SnapshotRecord), _given(body))


def delete_snapshot(*, id: str, namespace: str, cluster: str) -> Call[models.DeletedSnapshot]:
    """Delete a snapshot. Source: service-api, DeleteSnapshot."""
    return _delete("DeleteSnapshot", _SNAPSHOTS, record_of(models.DeletedSnapshot), **_whole_key(id, namespace, cluster))


# --- VPCs -----------------------------------------------------------------------------------------------------------


def get_vpcs(*, cluster: str | None = None) -> Call[models.Listing[models.VpcRecord]]:
    """List VPCs, of one cluster or of all. Source: service-api, GetVpcs; the parameter is lower case here (field notes)."""
    return _read("GetVpcs", _VPCS, listing_of(models.VpcRecord), cluster=_optional("cluster", cluster))


def get_vpc(*, id: str, cluster: str) -> Call[models.VpcRecord]:
    """Read one VPC by its id (not its name). Source: service-api, GetVpc."""
    return _read("GetVpc", _VPCS, record_of(models.VpcRecord), **_key(id, cluster))


def create_vpc(
    *,
    name: str,
    cluster: str,
    block_intra_vpc_comms: bool | None = None,
    is_default: bool | None = None,
) -> Call[models.VpcRecord]:
    """Create a VPC; its name begins with the tenant's. Source: service-api, CreateVpc; required fields: field notes."""
    body = {
        "name": _required("name", name),
        "blockIntraVpcComms": block_intra_vpc_comms,
        "isDefault": is_default,
        "cluster": _required("cluster", cluster),
    }
    return _change("CreateVpc", _VPCS, record_of(models.VpcRecord), _given(body))


def destroy_vpc(*, id: str, cluster: str) -> Call[models.VpcRecord]:
    """Destroy a VPC by its id (not its name). Source: service-api, DestroyVpc."""
    return _delete("DestroyVpc", _VPCS, record_of(models.VpcRecord), **_key(id, cluster))


# --- logins ---------------------------------------------------------------------------------------------------------


def authenticate(
    *,
    username: str,
    password: str,
    remember_client: bool | None = None,
    two_factor_verification_code: str | None = None,
) -> Call[models.LoginResult]:
    """Ask for a login token of any account; the client's own credential is neither used nor changed.

    Source: service-api, Authentication; payload: field notes.
    """
    body = {
        "userNameOrEmailAddress": _sized("username", username, 1, 256),
        "password": _sized("password", password, 1, 128),
        "rememberClient": remember_client,
        "twoFactorVerificationCode": _optional("two_factor_verification_code", two_factor_verification_code),
    }
    secrets = tuple(filter(None, (password, two_factor_verification_code)))
    return Call(
        "Authenticate",
        "POST",
        f"{_AUTH}Authenticate",
        login_of,
        json=_given(body),
        authenticated=False,
        secrets=secrets,
    )


def refresh_token(*, refresh_token: str) -> Call[models.LoginResult]:
    """Ask for a new login token by a refresh token. Source: field notes (it goes in the query, with an empty body)."""
    return Call(
        "RefreshToken",
        "POST",
        f"{_AUTH}RefreshToken",
        login_of,
        params={"refreshToken": _required("refresh_token", refresh_token)},
        authenticated=False,
        secrets=(refresh_token,),
    )


# --- building -------------------------------------------------------------------------------------------------------


def _read(operation: str, prefix: str, parse: Callable[[Any], T], **params: str | None) -> Call[T]:
    return Call(operation, "GET", prefix + operation, parse, params=_given(params))


def _delete(operation: str, prefix: str, parse: Callable[[Any], T], **params: str | None) -> Call[T]:
    return Call(operation, "DELETE", prefix + operation, parse, params=_given(params))


def _change(
    operation: str,
    prefix: str,
    parse: Callable[[Any], T],
    body: Mapping[str, Any],
    secrets: tuple[str, ...] = (),
) -> Call[T]:
    return Call(operation, "POST", prefix + operation, parse, json=body, secrets=secrets)


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what was not given: a null for an optional field is answered with 400 (field notes)."""
    return {name: value for name, value in values.items() if value is not None}


def _key(id: str, cluster: str) -> dict[str, str | None]:
    return {"Id": _required("id", id), "Cluster": _required("cluster", cluster)}


def _whole_key(id: str, namespace: str, cluster: str) -> dict[str, str | None]:
    return _key(id, cluster) | {"Namespace": _required("namespace", namespace)}


def _whole_body(id: str, namespace: str, cluster: str) -> dict[str, str]:
    values = {"id": id, "namespace": namespace, "cluster": cluster}
    return {name: _required(name, value) for name, value in values.items()}


def _flag(value: bool | None) -> str | None:
    return None if value is None else str(value).lower()


# --- checking -------------------------------------------------------------------------------------------------------


def _refused(reason: str) -> CloudError:
    return CloudError(ErrorKind.INVALID, f"{reason}; nothing was sent")


def _required(name: str, value: str) -> str:
    return _sized(name, value, 1, None)


def _optional(name: str, value: str | None) -> str | None:
    return None if value is None else _required(name, value)


def _sized(name: str, value: str, least: int, most: int | None) -> str:
    """Check a text's length without ever repeating the text, which may be a password."""
    if not isinstance(value, str):
        raise _refused(f"{name} must be text")
    if len(value) < least:
        raise _refused(f"{name} must not be empty")
    if most is not None and len(value) > most:
        raise _refused(f"{name} has {len(value)} characters; at most {most} are allowed")
    return value


def _ranged(name: str, value: int, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise _refused(f"{name} must be a whole number from {least} to {most}")
    return value
