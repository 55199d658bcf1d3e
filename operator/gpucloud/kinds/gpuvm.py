"""GpuVM (``gvm``): a virtual machine of the GPU cloud, as its owner declares it and as the operator sees it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field

from gpucloud.kinds.markers import CEL, IMMUTABLE, SET, list_map, rules, schema_default
from gpucloud.kinds.meta import Condition, ConditionType, Model, Reason, Time

KIND = "GpuVM"
PLURAL = "gpuvms"
MAX_VM_NAME = 52  # service-api: CreateServer, name
ON_DEMAND = "on-demand"  # service-api: CreateServer, rpool
INT32_MAX = 2**31 - 1

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
        "A public key is one line: one key per list item, without a line break (in YAML, no '|' block).",
        reason="FieldValueForbidden",
    ),
    CEL(
        "['ssh-', 'ecdsa-', 'sk-ssh-', 'sk-ecdsa-'].exists(start, self.startsWith(start))",
        "This is no OpenSSH public key: it must start with its type (ssh-, ecdsa-, sk-ssh- or sk-ecdsa-), as in a .pub file.",
        reason="FieldValueForbidden",
    ),
]
MountPath = Annotated[
    str,
    Field(min_length=1, max_length=1024),
    CEL("self.startsWith('/')", "A mount path is absolute: start it with '/', for example /home/ubuntu/data."),
]


class PowerState(StrEnum):
    """What the owner wants: powered on or off."""

    RUNNING = "Running"
    STOPPED = "Stopped"


class DeletionPolicy(StrEnum):
    """What becomes of the VM when its GpuVM is deleted."""

    DELETE = "Delete"
    RETAIN = "Retain"


class KeySelector(Model):
    """One key of a Secret or ConfigMap in the object's own namespace."""

    name: Annotated[
        str,
        Field(min_length=1, max_length=253, description="Name of the Secret or ConfigMap."),
        CEL(
            "self.matches('^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$')",
            "This is no name of a Secret or ConfigMap: use lower-case letters, digits, '-' and '.', and start and end "
            "with a letter or digit. Other namespaces cannot be named.",
        ),
    ]
    key: Annotated[
        str,
        Field(min_length=1, max_length=253, description="Key inside it."),
        CEL(
            "self.matches('^[A-Za-z0-9._-]+$')",
            "This is no key of a Secret or ConfigMap: use letters, digits, '-', '_' and '.'.",
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
                "[has(self.operatingSystem), has(self.customFile), has(self.snapshot)].filter(given, given).size() < 2",
                "A root disk is made from one source: keep one of operatingSystem, customFile and snapshot.",
            )
        )
    )

    operating_system: Annotated[
        str | None,
        Field(min_length=1, max_length=253, description="Name of an operating system image, as the cloud spells it."),
    ] = None
    custom_file: Annotated[
        str | None, Field(min_length=1, max_length=253, description="File name of a custom image of the tenant.")
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


class Deletion(Model):
    """What deleting this object does to the VM."""

    policy: Annotated[
        DeletionPolicy,
        Field(description="Delete destroys the VM and its data; Retain leaves it running, billed and unmanaged."),
    ] = DeletionPolicy.DELETE


class GpuVMSpec(Model):
    """The VM as its owner wants it. The operator never writes here."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            CEL(
                "(has(self.sshKeys) && size(self.sshKeys) > 0) || (has(self.sshKeysFrom) && size(self.sshKeysFrom) > 0)",
                "A VM needs at least one public SSH key: give it in sshKeys, or name a Secret or ConfigMap in sshKeysFrom.",
                reason="FieldValueRequired",
                field_path=".sshKeys",
            ),
            CEL(
                f"!has(self.nodeName) || (has(self.resourcePool) && self.resourcePool != '{ON_DEMAND}')",
                f"A node can be chosen only in a resource pool that is not {ON_DEMAND}: set spec.resourcePool to the "
                "node's pool, or remove spec.nodeName.",
                field_path=".nodeName",
            ),
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
        IMMUTABLE,
    ]
    resource_pool: Annotated[
        str | None,
        Field(min_length=1, max_length=253, description="Resource pool. When not set, the tenant's first, else on-demand."),
        IMMUTABLE,
    ] = None
    vpc: Annotated[
        str,
        Field(min_length=1, max_length=253, description="Name of the VPC; usually the tenant's name."),
        IMMUTABLE,
    ]
    ssh_keys: Annotated[
        tuple[PublicKey, ...],
        Field(max_length=64, description="Public SSH keys that may log in. They are installed when the VM is created."),
        IMMUTABLE,
    ] = ()
    ssh_keys_from: Annotated[
        tuple[SSHKeySource, ...],
        Field(max_length=16, description="Public SSH keys read from Secrets and ConfigMaps when the VM is created."),
        IMMUTABLE,
    ] = ()
    image: Annotated[Image | None, Field(description="What the root disk is made from."), IMMUTABLE] = None
    root_disk_gib: Annotated[
        int | None,
        Field(alias="rootDiskGiB", ge=1, le=INT32_MAX, description="Size of the root disk in GiB."),
        IMMUTABLE,
    ] = None
    storage: Annotated[Storage | None, Field(description="Disks and mounts beside the root disk."), IMMUTABLE] = None
    node_name: Annotated[
        str | None,
        Field(min_length=1, max_length=253, description="Node to place the VM on; only in pools that are not on-demand."),
        IMMUTABLE,
    ] = None
    vm_name: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=MAX_VM_NAME,
            description="Name of the VM in the cloud. When not set, a name is made that proves whose VM it is.",
        ),
        CEL(
            "self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",
            "Use lower-case letters, digits and '-', and start and end with a letter or digit. (This is the operator's "
            "own rule, so that a name is safe everywhere; the cloud itself states a length only.)",
        ),
        IMMUTABLE,
    ] = None
    power_state: Annotated[PowerState, Field(description="Running or Stopped. A stopped VM still pays for its disk.")] = (
        PowerState.RUNNING
    )
    deletion: Annotated[Deletion, Field(description="What deleting this object does to the VM.")] = Deletion()
    progress_deadline_seconds: Annotated[
        int,
        Field(
            ge=1,
            le=2592000,
            description="Seconds of pending work, waits for capacity not counted, after which it is called Stalled.",
        ),
    ] = 1800


class Intent(Model):
    """The write-ahead record: under this identity a VM is, or may be, bought. Written before CreateServer is sent."""

    id: Annotated[str, Field(max_length=64, description="Tells this record from any other, whoever wrote it.")] = ""
    name: Annotated[str, Field(max_length=253, description="Name, and so id, of the VM in the cloud.")]
    cluster: Annotated[str, Field(max_length=253, description="Cluster it is created in.")]
    vpc: Annotated[str, Field(max_length=253, description="VPC it is created in.")]
    recorded_at: Annotated[Time, Field(description="When this intent was recorded.")]


# Stands in a new object before the operator has seen it, so that no tool takes "no conditions" for "ready".
FIRST_CONDITION = {
    "type": ConditionType.READY.value,
    "status": "Unknown",
    "reason": Reason.PENDING.value,
    "message": "Waiting for the operator",
    "lastTransitionTime": "1970-01-01T00:00:00Z",
}


class GpuVMStatus(Model):
    """What the operator observed. Rebuilt whole in every write."""

    observed_generation: Annotated[
        int,
        Field(ge=-1, description="The generation of the spec that this status speaks of; -1 before the first look."),
    ] = -1
    conditions: Annotated[
        tuple[Condition, ...],
        Field(max_length=8, description="Ready always; Reconciling, Stalled and Paused only while they are True."),
        list_map("type"),
        schema_default([FIRST_CONDITION]),
    ] = ()
    intent: Annotated[Intent | None, Field(description="Under which identity the VM is, or may be, bought.")] = None
    state: Annotated[str | None, Field(max_length=253, description="The cloud's own word for the VM's state. Informative.")] = (
        None
    )
    vm_id: Annotated[str | None, Field(max_length=253, description="Id of the VM, once it has been seen.")] = None
    vpc: Annotated[str | None, Field(max_length=253, description="VPC that the VM lives in.")] = None
    cluster: Annotated[str | None, Field(max_length=253, description="Cluster that the VM lives in.")] = None
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
    image: Annotated[str | None, Field(max_length=253, description="Image in use, as the cloud writes it.")] = None
    resource_pool: Annotated[str | None, Field(max_length=253, description="Resource pool that the VM was created in.")] = None
    node_name: Annotated[str | None, Field(max_length=253, description="Node that the VM is scheduled on.")] = None
    username: Annotated[str | None, Field(max_length=253, description="User of the cloud that created the VM.")] = None
    tenancy: Annotated[str | None, Field(max_length=253, description="Tenant that the VM belongs to.")] = None
    price_per_hour: Annotated[
        str | None, Field(max_length=32, description="Dollars per hour of this configuration when the VM was bought.")
    ] = None
    progress_deadline_at: Annotated[
        Time | None,
        Field(description="When pending work will be called Stalled. Absent when settled or waiting for capacity."),
    ] = None
    restarting: Annotated[
        str | None,
        Field(max_length=253, description="The restart request that is being carried out: the VM is being stopped."),
    ] = None
    last_handled_restart_at: Annotated[
        str | None,
        Field(max_length=253, description="Value of gpucloud.dev/restart-requested-at that was answered last."),
    ] = None
    last_handled_reconcile_at: Annotated[
        str | None,
        Field(max_length=253, description="Value of gpucloud.dev/reconcile-requested-at that was answered last."),
    ] = None
