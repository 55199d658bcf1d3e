"""How a user reaches each operation, parameter and field of the specification: fields of resources, commands, the client.

A field is written as ``GpuVM.spec.cluster`` and a command as ``kubectl gpucloud VERB``: the tests look for each of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = """
## Where a user reaches it

Each operation, parameter and field, and the field of a resource or the command through which a user reaches it. What is named
`CloudClient` is in the [Python client](python-client.md) only, and the row says why.

| operation, parameter or field | reached by |
|---|---|
"""
_LOGS, _OFFERS, _EXPORT = "`kubectl gpucloud logs`", "`kubectl gpucloud offers -o json`", "`kubectl gpucloud export`"
_VM_PLACE = ("`GpuVM.status.vmId`", "`GpuVM.status.vpc`", "`GpuVM.status.cluster`")
_SNAPSHOT_PLACE = ("`GpuSnapshot.status.snapshotId`", "`GpuSnapshot.status.vpc`", "`GpuSnapshot.status.cluster`")
_LISTED = "in use: `GpuVM.spec.cluster`, `GpuVpc.spec.cluster`, `GpuSnapshot.status.cluster`"
_LOGIN = "the Secret that `GpuCloudAccount.spec.secretRef` names"


def _fields(prefix: str, **reached: str) -> dict[str, str]:
    return {f"{prefix}.{name}": text for name, text in reached.items()}


def _paths(prefix: str, base: str, **fields: str) -> dict[str, str]:
    return {f"{prefix}.{name}": f"`{base}.{field}`" for name, field in fields.items()}


def _place(operation: str, where: tuple[str, ...], names: tuple[str, ...]) -> dict[str, str]:
    return {f"{operation}.{name}": text for name, text in zip(names, where, strict=True)}


def _only_client(method: str, **why: str) -> dict[str, str]:
    """What only programs need, by name, and why no object or command has it."""
    return {name: f"`CloudClient.{method}`: {reason}" for name, reason in why.items()}


def _under(prefix: str, reached: dict[str, str]) -> dict[str, str]:
    return {f"{prefix}.{name}": text for name, text in reached.items()}


_AGAIN = (
    "operator and plugin hold the Secret's user and password, and log in again with these; a token to renew would be one more"
)
_IN_QUERY, _IN_BODY = ("Id", "Namespace", "Cluster"), ("id", "namespace", "cluster")
OPERATIONS = {
    "GetAll": "`GpuCloudAccount.status.clusters`",
    "GetServers": "`GpuVM.status`, for all GpuVMs of an account at once; `kubectl gpucloud export`",
    "GetServers.Cluster": f"the clusters {_LISTED}",
    "GetServer": "`GpuVM.status`, from the listing of its cluster",
    **_place("GetServer", _VM_PLACE, _IN_QUERY),
    "CreateServer": "a GpuVM: `GpuVM.spec`; `kubectl gpucloud create`",
    **_paths(
        "CreateServer",
        "GpuVM.spec",
        name="vmName",
        rpool="resourcePool",
        configuration="configuration",
        snapshotName="image.snapshot",
        tenantCustomImageFileName="image.customFile",
        operatingSystemImage="image.operatingSystem",
        personalStorageMountPath="storage.personalMountPath",
        tenantSharedAdditionalStorage="storage.tenantSharedMountPath",
        persistStorage="storage.persistDirectAttached",
        directStorageMountPath="storage.directMountPath",
        blockStorageNames="storage.blockStorageNames",
        rootDiskSize="rootDiskGiB",
        selectedNode="nodeName",
    ),
    "CreateServer.cluster": "`GpuVM.spec.cluster` or `GpuVM.spec.placement.alternatives`",
    "CreateServer.vpc": "`GpuVM.spec.vpc` or `GpuVM.spec.vpcRef`",
    "CreateServer.ssh_keys": "`GpuVM.spec.sshKeys` and `GpuVM.spec.sshKeysFrom`",
    "StartServer": "`GpuVM.spec.powerState`: Running; `kubectl gpucloud start`, `kubectl gpucloud restart`",
    **_place("StartServer", _VM_PLACE, _IN_BODY),
    "StopServer": "`GpuVM.spec.powerState`: Stopped; `kubectl gpucloud stop`, `kubectl gpucloud restart`",
    **_place("StopServer", _VM_PLACE, _IN_BODY),
    "DestroyServer": "deletion of the GpuVM, unless `GpuVM.spec.deletion.policy` is Retain",
    **_place("DestroyServer", _VM_PLACE, _IN_QUERY),
    "DestroyServer.DeleteSnapshots": "`GpuVM.spec.deletion.snapshots`",
    "GetConfigurations": f"`kubectl get gpuoffers`; {_OFFERS}",
    "GetAvailability": f"`kubectl get gpuoffers`; {_OFFERS}",
    "GetAvailability.cluster": "`GpuOffer.cluster`; `kubectl gpucloud offers --cluster`",
    "GetAvailability.resourcePool": "`GpuOffer.resourcePool`: all pools are asked for at once",
    "GetAvailability.reportNodes": f"on in {_OFFERS}, off for `kubectl get gpuoffers`",
    "GetVirtualMachineBootLogs": f"{_LOGS}; `GpuVM.status.bootLog`",
    **_place("GetVirtualMachineBootLogs", _VM_PLACE, _IN_QUERY),
    "GetVirtualMachineBootLogs.Limit": "`kubectl gpucloud logs --limit`",
    "GetHost": "`GpuHost.status`, from the listing of its cluster",
    **_paths("GetHost", "GpuHost.spec", Id="hostId", Cluster="cluster"),
    "GetHosts": f"`GpuHost.status`, for all GpuHosts of an account at once; {_EXPORT}",
    "GetHosts.Cluster": "the clusters in use: `GpuHost.spec.cluster`",
    "RebootHost": "annotation `gpucloud.dev/reboot-requested-at`; `GpuHost.status.lastHandledRebootAt` answers",
    **_paths("RebootHost", "GpuHost.spec", id="hostId", cluster="cluster"),
    "ReprovisionHost": "annotation `gpucloud.dev/reprovision-requested-at`; `GpuHost.status.lastHandledReprovisionAt` answers",
    **_paths(
        "ReprovisionHost",
        "GpuHost.spec",
        id="hostId",
        cluster="cluster",
        imageUrl="reprovision.imageUrl",
        imageChecksum="reprovision.imageChecksumUrl",
        cloudInitBase64="reprovision.cloudInitSecretRef",
    ),
    "GetSnapshots": "`GpuSnapshot.status`, for all GpuSnapshots of an account at once",
    "GetSnapshots.Cluster": f"the clusters {_LISTED}",
    "GetSnapshot": "`GpuSnapshot.status`, from the listing of its cluster",
    **_place("GetSnapshot", _SNAPSHOT_PLACE, _IN_QUERY),
    "CreateSnapshot": "a GpuSnapshot: `GpuSnapshot.spec`; `kubectl gpucloud snapshot`",
    **_paths("CreateSnapshot", "GpuSnapshot.spec", name="snapshotName", namespace="vm.vpc", cluster="vm.cluster"),
    "CreateSnapshot.sourceVMName": "`GpuSnapshot.spec.vmRef` or `GpuSnapshot.spec.vm.name`",
    "DeleteSnapshot": "deletion of the GpuSnapshot, unless `GpuSnapshot.spec.deletion.policy` is Retain",
    **_place("DeleteSnapshot", _SNAPSHOT_PLACE, _IN_QUERY),
    "GetVpcs": "`GpuVpc.status`, for all GpuVpcs of an account at once; `kubectl gpucloud export`",
    "GetVpcs.cluster": f"the clusters {_LISTED}",
    "GetVpc": "`GpuVpc.status`, from the listing of its cluster",
    **_paths("GetVpc", "GpuVpc.status", Id="vpcId", Cluster="cluster"),
    "CreateVpc": "a GpuVpc: `GpuVpc.spec`",
    **_paths(
        "CreateVpc",
        "GpuVpc.spec",
        name="name",
        blockIntraVpcComms="blockIntraVpcComms",
        isDefault="isDefault",
        cluster="cluster",
    ),
    "DestroyVpc": "deletion of the GpuVpc, unless `GpuVpc.spec.deletion.policy` is Retain",
    **_paths("DestroyVpc", "GpuVpc.status", Id="vpcId", Cluster="cluster"),
    "Authenticate": f"`username` and `password` in {_LOGIN}; `GpuCloudAccount.status.credentialKind`",
    **_fields("Authenticate", userNameOrEmailAddress=f"`username` in {_LOGIN}", password=f"`password` in {_LOGIN}"),
    **_under(
        "Authenticate",
        _only_client(
            "authenticate",
            rememberClient="the operator and the plugin ask for nothing that outlives a login token: they log in again",
            twoFactorVerificationCode="a person has it for a moment, and the operator logs in at any time; such a user gives "
            "it an API key (`GpuCloudAccount.spec.secretRef`), as the message of Ready says",
        ),
    ),
    **_only_client("refresh_token", RefreshToken=_AGAIN),
    **_under("RefreshToken", _only_client("refresh_token", refreshToken=_AGAIN)),
}
FIELDS = {
    **_paths(
        "VmRecord",
        "GpuVM.status",
        id="vmId",
        namespace="vpc",
        storage="storageGB",
        gpu_type="gpuType",
        gpus="gpus",
        vcpus="vcpus",
        memory="memoryGB",
        ip="ip",
        privateIp="privateIp",
        image="image",
        cluster="cluster",
        username="username",
        tenancy_name="tenancy",
        rpool="resourcePool",
        nodeSelector="nodeName",
        storageType="storageType",
        status="state",
        directAttachedStoragePersisted="directAttachedStoragePersisted",
        rootDiskSize="rootDiskSize",
    ),
    "VmRecord.configuration": "`GpuVM.spec.configuration`: the cloud may answer with a number",
    "VmRecord.lastUpdated": "`CloudClient.get_server`: it changes without a change of the VM, and each would be a status "
    "write; of an orphan `kubectl gpucloud orphans -o json` shows it: `changedAt`",
    **_paths("OperationResult", "GpuVM.status", id="vmId", cluster="cluster", status="state"),
    **_paths(
        "ConfigurationRecord",
        "GpuOffer",
        name="configuration",
        storage="storageGB",
        type="gpuModel",
        brand="gpuModel",
        gpus="gpus",
        vcpus="vcpus",
        memory="memoryGB",
        price="pricePerHour",
        clusters="cluster",
    ),
    **{
        f"ConfigurationRecord.{name}": f"{_OFFERS}: `{shown}`"
        for name, shown in {
            "id": "configurationId",
            "user_friendly_name": "title",
            "description": "description",
            "brand_family": "brandFamily",
            "text_name": "textName",
            "compute_network": "computeNetwork",
            "is_gpu_platform": "isGPUPlatform",
        }.items()
    },
    **_paths(
        "AvailabilityRecord",
        "GpuOffer",
        configuration="configuration",
        cluster="cluster",
        rpool="resourcePool",
        price="pricePerHour",
        available="available",
    ),
    **{
        f"AvailabilityRecord.{name}": f"{_OFFERS}: `{shown}`"
        for name, shown in {"count": "count", "maxCount": "maxCount", "availableNodeNames": "availableNodes"}.items()
    },
    **_paths("BootLogRecord", "GpuVM.status", id="vmId", namespace="vpc", cluster="cluster"),
    "BootLogRecord.bootLogs": f"{_LOGS}; its class of trouble: `GpuVM.status.bootLog.trouble`",
    **_paths(
        "HostRecord",
        "GpuHost.status",
        id="hostId",
        cluster="cluster",
        tenancyName="tenancy",
        nodeType="nodeType",
        image="image",
        privateIp="privateIp",
        publicIp="publicIp",
        provisionedHostname="provisionedHostname",
        operationalStatus="operationalStatus",
        poweredOn="poweredOn",
        provisioningState="provisioningState",
    ),
    **_paths(
        "SnapshotRecord",
        "GpuSnapshot.status",
        id="snapshotId",
        namespace="vpc",
        sourceName="sourceName",
        osImage="osImage",
        customPackage="customPackage",
        rootDiskSize="rootDiskSize",
        creationDate="creationDate",
        username="username",
        tenancyName="tenancy",
        readyToUse="readyToUse",
    ),
    "DeletedSnapshot.id": "`GpuSnapshot.status.snapshotId`",
    **_paths(
        "VpcRecord",
        "GpuVpc.status",
        id="vpcId",
        name="name",
        cluster="cluster",
        tenancyName="tenancy",
        ipRange="ipRange",
        createdAt="createdAt",
        blockIntraVpcComms="blockIntraVpcComms",
        isDefault="isDefault",
    ),
    "LoginResult.accessToken": "never shown; `GpuCloudAccount.status.credentialKind` says that the operator has one",
    "LoginResult.expireInSeconds": "`GpuCloudAccount.status.tokenExpiresAt`",
    **_under(
        "LoginResult",
        _only_client(
            "authenticate",
            encryptedAccessToken="a secret that no operation of the service takes",
            refreshToken=f"a secret; {_AGAIN}",
            refreshTokenExpireInSeconds=_AGAIN,
            userId="a number that no operation takes; who made a VM is `GpuVM.status.username`",
        ),
    ),
    **{
        f"LoginResult.{name}": "the message of Ready in `GpuCloudAccount.status.conditions`"
        for name in ("requiresTwoFactorVerification", "shouldResetPassword")
    },
}
REACH = OPERATIONS | FIELDS


def table() -> str:
    """Return the part of the page that says how each is reached."""
    return HEAD + "".join(_rows())


def _rows() -> Iterator[str]:
    return (f"| `{name}` | {text} |\n" for name, text in REACH.items())
