"""GpuVM (``gvm``): a virtual machine of the GPU cloud, as its owner declares it and as the operator sees it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field

from gpucloud.kinds.bootlog import BootLogFinding  # noqa: TC001 - pydantic reads the annotations
from gpucloud.kinds.choices import PowerState
from gpucloud.kinds.common import AdoptingSpec, CloudName, CloudStatus, DeletionPolicy, Reference, naming_rules
from gpucloud.kinds.connection import Connection, PublishedConnection  # noqa: TC001 - pydantic reads the annotations
from gpucloud.kinds.deletion import (
    Deletion,
    FinalSnapshot,
    FinalSnapshotPolicy,
    FinalSnapshotState,
    SnapshotPolicy,
)
from gpucloud.kinds.markers import CEL, IMMUTABLE, REPLACEABLE, SET, rules
from gpucloud.kinds.model import Model, Time
from gpucloud.kinds.placement import ALTERNATIVES_FIT, PlacementSpec, PlacementStatus
from gpucloud.kinds.recreation import FailedSince, OnLoss, RecreationTimes, Replacement, ReplacePolicy
from gpucloud.kinds.schema import INT32_MAX

__all__ = [
    "KIND",
    "ON_DEMAND",
    "PLURAL",
    "Cause",
    "Deletion",
    "DeletionPolicy",
    "FinalSnapshot",
    "FinalSnapshotPolicy",
    "FinalSnapshotState",
    "GpuVMSpec",
    "GpuVMStatus",
    "Image",
    "KeySelector",
    "OnLoss",
    "Operation",
    "Outcome",
    "PowerState",
    "PowerVerb",
    "ReplacePolicy",
    "SSHKeySource",
    "SnapshotPolicy",
    "Storage",
]

KIND = "GpuVM"
PLURAL = "gpuvms"
ON_DEMAND = "on-demand"  # service-api: CreateServer, rpool

# Of these rules the apiserver calls the value forbidden, since for an "invalid" one it would print it: a private key
# pasted here must not reach terminals and audit logs. For the same reason the list is no set: duplicates are printed.
PublicKey = Annotated[
    str,
    Field(min_length=1, max_length=8192),
    CEL(
        "!self.contains('PRIVATE KEY')",
        "This is a private key. Give the public key, the one line of the .pub file, and replace this key pair: "
        "it may have been seen.",
        reason="FieldValueForbidden",
    ),
    CEL(
        "!self.matches('[\\n\\r]')",
        "A public key is one line: give one key per list item, without a line break (in YAML, no '|' block).",
        reason="FieldValueForbidden",
    ),
    CEL(
        "self.matches('^(ssh|ecdsa|sk-ssh|sk-ecdsa)-[^ ]+ AAAA')",
        "Not an OpenSSH public key: it must start with its type (ssh-, ecdsa-, sk-ssh- or sk-ecdsa-), followed by AAAA, as in "
        "a .pub file.",
        reason="FieldValueForbidden",
    ),
]
MountPath = Annotated[
    str,
    Field(min_length=1, max_length=1024),
    CEL("self.startsWith('/')", "A mount path is absolute: start it with '/', for example /home/ubuntu/data."),
]


class KeySelector(Model):
    """One key of a Secret or ConfigMap in the object's own namespace."""

    name: Annotated[
        str,
        Field(min_length=1, max_length=253, description="Name of the Secret or ConfigMap."),
        CEL(
            "self.matches('^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$')",
            "Not a name of a Secret or ConfigMap: use lower-case letters, digits, '-' and '.', and start and end "
            "with a letter or digit. Other namespaces cannot be named.",
            reason="FieldValueForbidden",
        ),
    ]
    key: Annotated[
        str,
        Field(min_length=1, max_length=253, description="Key inside it."),
        CEL(
            "self.matches('^[A-Za-z0-9._-]+$')",
            "Not a key of a Secret or ConfigMap: use letters, digits, '-', '_' and '.'.",
            reason="FieldValueForbidden",  # which keeps the apiserver from repeating what may be a key pasted here
        ),
    ]


class SSHKeySource(Model):
    """Where to read public keys from: exactly one of the two."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            CEL(
                "has(self.secretKeyRef) != has(self.configMapKeyRef)",
                "Name exactly one of secretKeyRef and configMapKeyRef in each item of sshKeysFrom.",
            )
        )
    )

    secret_key_ref: Annotated[KeySelector | None, Field(description="A key of a Secret in this namespace.")] = None
    config_map_key_ref: Annotated[KeySelector | None, Field(description="A key of a ConfigMap in this namespace.")] = None


class Image(Model):
    """What the root disk is made from: at most one of the sources; the cloud's default when none is named."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            CEL(
                "[has(self.operatingSystem), has(self.customFile), has(self.snapshotRef), has(self.snapshot)]"
                ".filter(given, given).size() < 2",
                "A root disk is made from one source: keep one of operatingSystem, customFile, snapshotRef and snapshot.",
            )
        )
    )

    operating_system: Annotated[
        str | None,
        Field(min_length=1, max_length=253, description="Name of an operating system image, as the cloud spells it."),
    ] = None
    custom_file: Annotated[str | None, Field(min_length=1, max_length=253, description="A custom image's file name.")] = None
    snapshot_ref: Annotated[
        Reference | None, Field(description="GpuSnapshot of this namespace. The VM waits until it has been taken.")
    ] = None
    snapshot: Annotated[str | None, Field(min_length=1, max_length=253, description="Name of a snapshot in the cloud.")] = None


class Storage(Model):
    """Disks and mounts beside the root disk."""

    persist_direct_attached: Annotated[
        bool | None,
        Field(description="Whether direct attached storage survives a stop. The cloud decides when it is not set."),
    ] = None
    direct_mount_path: Annotated[MountPath | None, Field(description="Mount path of the direct attached storage.")] = None
    personal_mount_path: Annotated[MountPath | None, Field(description="Mount path of the personal file system.")] = None
    tenant_shared_mount_path: Annotated[
        MountPath | None, Field(description="Mount path of the file system shared by the tenant.")
    ] = None
    block_storage_names: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=253)], ...],
        Field(max_length=32, description="Block storage volumes to attach when the VM is created."),
        SET,
    ] = ()


class GpuVMSpec(AdoptingSpec):
    """The VM as its owner wants it. The operator never writes here."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            CEL(
                "self.adoption == 'Required' || (has(self.sshKeys) && size(self.sshKeys) > 0) || "
                "(has(self.sshKeysFrom) && size(self.sshKeysFrom) > 0)",
                "A new VM needs at least one public SSH key: give it in sshKeys, or name a Secret or ConfigMap in sshKeysFrom.",
                reason="FieldValueRequired",
                field_path=".sshKeys",
            ),
            CEL(
                "has(self.vpc) || has(self.vpcRef)",
                "Name the VPC: spec.vpc (its name in the cloud) or spec.vpcRef (a GpuVpc of this namespace).",
                reason="FieldValueRequired",
                field_path=".vpc",
            ),
            CEL(
                "!(has(self.vpc) && has(self.vpcRef))",
                "Set spec.vpc or spec.vpcRef, not both.",
                reason="FieldValueForbidden",
                field_path=".vpcRef",
            ),
            CEL(
                f"!has(self.nodeName) || (has(self.resourcePool) && self.resourcePool != '{ON_DEMAND}')",
                f"A node can be chosen only in a resource pool that is not {ON_DEMAND}: set spec.resourcePool to the "
                "node's pool, or remove spec.nodeName.",
                field_path=".nodeName",
            ),
            *ALTERNATIVES_FIT,
            *naming_rules("vmName", "VM"),
        )
    )

    cluster: Annotated[
        str,
        Field(min_length=1, max_length=253, description="Cluster of the cloud to create the VM in."),
        IMMUTABLE,
    ]
    configuration: Annotated[
        str,
        Field(min_length=1, max_length=253, description="Name of the VM configuration, for example A100_40GB_PCIe_1x."),
        REPLACEABLE,
    ]
    resource_pool: Annotated[
        str | None,
        Field(min_length=1, max_length=253, description="Resource pool. When not set, the tenant's first, else on-demand."),
        REPLACEABLE,
    ] = None
    vpc: Annotated[
        str | None,
        Field(min_length=1, max_length=253, description="Name of the VPC in the cloud; usually the tenant's name."),
        IMMUTABLE,
    ] = None
    vpc_ref: Annotated[
        Reference | None,
        Field(description="GpuVpc of this namespace, in place of vpc. The VM waits until it is Ready."),
        IMMUTABLE,
    ] = None
    ssh_keys: Annotated[
        tuple[PublicKey, ...],
        Field(max_length=64, description="Public SSH keys that may log in. They are installed when the VM is created."),
        REPLACEABLE,
    ] = ()
    ssh_keys_from: Annotated[
        tuple[SSHKeySource, ...],
        Field(max_length=16, description="Public SSH keys read from Secrets and ConfigMaps when the VM is created."),
        REPLACEABLE,
    ] = ()
    image: Annotated[Image | None, Field(description="What the root disk is made from."), REPLACEABLE] = None
    root_disk_gib: Annotated[
        int | None,
        Field(alias="rootDiskGiB", ge=1, le=INT32_MAX, description="Size of the root disk in GiB."),
        REPLACEABLE,
    ] = None
    storage: Annotated[Storage | None, Field(description="Disks and mounts beside the root disk."), REPLACEABLE] = None
    node_name: Annotated[
        str | None,
        Field(min_length=1, max_length=253, description="Node to place the VM on; only in pools that are not on-demand."),
        REPLACEABLE,
    ] = None
    vm_name: Annotated[
        CloudName | None,
        Field(description="Name of the VM in the cloud. When not set, a name is made that proves whose VM it is."),
        IMMUTABLE,
    ] = None
    power_state: Annotated[PowerState, Field(description="Running or Stopped. A stopped VM still pays for its disk.")] = (
        PowerState.RUNNING
    )
    on_loss: Annotated[
        OnLoss,
        Field(
            description="What is done when the VM was deleted outside Kubernetes, or the cloud reports CREATE_FAILED or "
            "FAILED. Fail: nothing; the object is Stalled. Recreate: a failed one is destroyed, and a new one created, at most "
            "3 times an hour; what was on its disks is lost."
        ),
    ] = OnLoss.FAIL
    replace_policy: Annotated[
        ReplacePolicy,
        Field(
            description="What is done when a field changes that the cloud cannot change in place: configuration, resourcePool, "
            "image, rootDiskGiB, storage, nodeName, sshKeys or sshKeysFrom. Never: the edit is refused. Recreate: the VM is "
            "destroyed, and a new one created as the spec says; what was on its disks is lost."
        ),
    ] = ReplacePolicy.NEVER
    deletion: Annotated[Deletion, Field(description="What deleting this object does to the VM.")] = Deletion()
    placement: Annotated[
        PlacementSpec | None,
        Field(description="What is ordered instead where the cloud has no capacity, and who goes first when there is some."),
    ] = None
    connection: Annotated[
        Connection | None, Field(description="ConfigMap and Service through which other workloads reach the running VM.")
    ] = None


class PowerVerb(StrEnum):
    """What is done to a VM that exists."""

    START = "Start"
    STOP = "Stop"
    RESTART = "Restart"


class Cause(StrEnum):
    """Why it is done."""

    REQUESTED = "Requested"
    DRIFT = "Drift"


class Outcome(StrEnum):
    """What became of it."""

    ANNOUNCED = "Announced"
    UNCLEAR = "Unclear"
    REFUSED = "Refused"
    DONE = "Done"


class Operation(Model):
    """The last power call or restart. Written before it is sent, so that a restarted operator knows what may be under way."""

    verb: Annotated[PowerVerb, Field(description="Start, Stop or Restart.")]
    cause: Annotated[Cause, Field(description="Requested by the spec or an annotation, or to correct drift.")] = Cause.REQUESTED
    generation: Annotated[int, Field(ge=0, description="Generation of the spec that it serves.")]
    id: Annotated[
        str,
        Field(max_length=253, description="Of a restart: the value of the annotation that asks for it. Otherwise a random id."),
    ] = ""
    at: Annotated[Time, Field(description="When it was announced.")]
    outcome: Annotated[
        Outcome,
        Field(
            description="Announced: sent, or about to be. Unclear, Refused: the call failed. Done: the VM was seen as asked."
        ),
    ] = Outcome.ANNOUNCED


class GpuVMStatus(CloudStatus):
    """What the operator observed. Rebuilt whole in every write."""

    state: Annotated[str | None, Field(max_length=253, description="The cloud's own word for the VM's state. Informative.")] = (
        None
    )
    vm_id: Annotated[str | None, Field(max_length=253, description="Id of the VM, once it has been seen.")] = None
    vpc: Annotated[str | None, Field(max_length=253, description="VPC that the VM is in.")] = None
    cluster: Annotated[str | None, Field(max_length=253, description="Cluster that the VM is in.")] = None
    ip: Annotated[str | None, Field(max_length=253, description="Public IP address.")] = None
    private_ip: Annotated[str | None, Field(max_length=253, description="Private IP address.")] = None
    gpu_type: Annotated[str | None, Field(max_length=253, description="GPU type of the host.")] = None
    gpus: Annotated[int | None, Field(ge=0, le=INT32_MAX, description="Number of GPUs.")] = None
    vcpus: Annotated[int | None, Field(ge=0, le=INT32_MAX, description="Number of virtual CPUs.")] = None
    memory_gb: Annotated[int | None, Field(alias="memoryGB", ge=0, le=INT32_MAX, description="System memory in GB.")] = None
    storage_gb: Annotated[int | None, Field(alias="storageGB", ge=0, le=INT32_MAX, description="Attached storage in GB.")] = (
        None
    )
    root_disk_size: Annotated[str | None, Field(max_length=253, description="Root disk size, as the cloud writes it.")] = None
    storage_type: Annotated[str | None, Field(max_length=253, description="Storage type, as the cloud writes it.")] = None
    direct_attached_storage_persisted: Annotated[
        bool | None, Field(description="Whether direct attached storage survives a stop.")
    ] = None
    image: Annotated[
        str | None, Field(max_length=253, description="Image in use, as the cloud writes it; of a snapshot, the one inside.")
    ] = None
    resource_pool: Annotated[str | None, Field(max_length=253, description="Resource pool that the VM was created in.")] = None
    node_name: Annotated[str | None, Field(max_length=253, description="Node that the VM is scheduled on.")] = None
    username: Annotated[str | None, Field(max_length=253, description="User of the cloud that created the VM.")] = None
    price_per_hour: Annotated[
        str | None, Field(max_length=32, description="Dollars per hour of this configuration when the VM was bought.")
    ] = None
    billed_since: Annotated[
        Time | None,
        Field(description="When the operator first saw the VM in a billed state; absent while it is in none, as when off."),
    ] = None
    billed_seconds: Annotated[
        int | None,
        Field(ge=0, le=INT32_MAX, description="Seconds of earlier billed periods, without the one that began at billedSince."),
    ] = None
    placement: Annotated[
        PlacementStatus | None,
        Field(description="The alternative of spec.placement in use, the wait for capacity, and what was refused."),
    ] = None
    operation: Annotated[Operation | None, Field(description="The last power call or restart: recorded before it is sent.")] = (
        None
    )
    settled_generation: Annotated[
        int | None, Field(ge=0, description="Last generation of the spec whose powerState the VM was seen to have.")
    ] = None
    last_handled_restart_at: Annotated[
        str | None,
        Field(max_length=253, description="Value of gpucloud.dev/restart-requested-at that was answered last."),
    ] = None
    recreations: RecreationTimes = None
    failed_since: FailedSince = None
    replacement: Annotated[
        Replacement | None, Field(description="What spec.replacePolicy: Recreate is about to do, and which fields ask for it.")
    ] = None
    deletion_held_at: Annotated[
        Time | None,
        Field(description="When the deletion guard began to hold this deletion. Stays until the destroying call is announced."),
    ] = None
    boot_log: Annotated[
        BootLogFinding | None, Field(description="What the boot log shows of a VM that is not ready in time.")
    ] = None
    final_snapshot: Annotated[
        FinalSnapshot | None,
        Field(description="The snapshot that spec.deletion.finalSnapshot requires before the VM is destroyed."),
    ] = None
    connection: Annotated[
        PublishedConnection | None, Field(description="What is published of the VM's addresses, as spec.connection asks.")
    ] = None
