"""How each kind looks in ``kubectl``: names, columns and the fields that can be selected by.

Columns are for people; scripts read conditions. Adding a kind that people declare means adding it to ``DEFINITIONS``.
"""

from __future__ import annotations

from gpucloud.kinds import gpucloudaccount, gpuhost, gpuoffer, gpusnapshot, gpuvm, gpuvpc
from gpucloud.kinds.crd import Column, Definition, RecordDefinition

_READY = '.status.conditions[?(@.type=="Ready")]'
_REASON = Column("Reason", f"{_READY}.reason", "Why, in one word.")
_AGE = Column("Age", ".metadata.creationTimestamp", "Age of this object.", type="date")
_ADOPTED = Column("Adopted", ".status.adopted", "Whether it existed before this object.", type="boolean", wide=True)
_ACCOUNT = Column("Account", ".status.account", "GpuCloudAccount in use.", wide=True)
_PAUSED = Column("Paused", '.status.conditions[?(@.type=="Paused")].status', "True while an annotation pauses it.", wide=True)
_MESSAGE = Column("Message", f"{_READY}.message", "What happened and what to do next.", wide=True)

GPUVM = Definition(
    kind=gpuvm.KIND,
    plural=gpuvm.PLURAL,
    short_name="gvm",
    description="A virtual machine of the GPU cloud: what its owner wants (spec) and what the operator sees (status).",
    spec=gpuvm.GpuVMSpec,
    status=gpuvm.GpuVMStatus,
    columns=(
        Column("Ready", f"{_READY}.status", "Whether the VM is as the spec asks."),
        _REASON,
        Column("State", ".status.state", "The cloud's own word for the VM's state."),
        Column("Configuration", ".spec.configuration", "VM configuration."),
        Column("Cluster", ".spec.cluster", "Cluster of the cloud."),
        Column("IP", ".status.ip", "Public IP address."),
        _AGE,
        Column("VM-ID", ".status.vmId", "Id of the VM in the cloud.", wide=True),
        Column("VM-Cluster", ".status.cluster", "Cluster that the VM is in.", wide=True),
        Column("VPC", ".status.vpc", "VPC that the VM is in.", wide=True),
        _ACCOUNT,
        Column("Price/h", ".status.pricePerHour", "Dollars per hour when the VM was bought.", wide=True),
        _ADOPTED,
        _PAUSED,
        _MESSAGE,
    ),
    selectable_fields=(
        ".spec.cluster",
        ".spec.configuration",
        ".spec.vpc",
        ".spec.vpcRef.name",
        ".spec.accountRef.name",
        ".status.vmId",
        ".status.state",
    ),
)

GPUVPC = Definition(
    kind=gpuvpc.KIND,
    plural=gpuvpc.PLURAL,
    short_name="gvpc",
    description="A VPC of the GPU cloud: what its owner wants (spec) and what the operator sees (status).",
    spec=gpuvpc.GpuVpcSpec,
    status=gpuvpc.GpuVpcStatus,
    columns=(
        Column("Ready", f"{_READY}.status", "Whether the VPC is as the spec asks."),
        _REASON,
        Column("Name", ".spec.name", "Name of the VPC in the cloud."),
        Column("Cluster", ".spec.cluster", "Cluster of the cloud."),
        Column("IP-Range", ".status.ipRange", "IP range of the VPC."),
        Column("Default", ".status.isDefault", "Whether it is the default VPC of the cluster.", type="boolean"),
        _AGE,
        Column("VPC-ID", ".status.vpcId", "Id of the VPC in the cloud.", wide=True),
        _ADOPTED,
        _ACCOUNT,
        _PAUSED,
        _MESSAGE,
    ),
    selectable_fields=(".spec.cluster", ".spec.name", ".spec.accountRef.name", ".status.vpcId"),
)

GPUSNAPSHOT = Definition(
    kind=gpusnapshot.KIND,
    plural=gpusnapshot.PLURAL,
    short_name="gsnap",
    description="A snapshot of a virtual machine of the GPU cloud: what its owner wants (spec) and what the operator sees "
    "(status).",
    spec=gpusnapshot.GpuSnapshotSpec,
    status=gpusnapshot.GpuSnapshotStatus,
    columns=(
        Column("Ready", f"{_READY}.status", "Whether the snapshot has been taken and can be used."),
        _REASON,
        Column("Source", ".status.sourceName", "VM that it was taken of."),
        Column("Cluster", ".status.cluster", "Cluster of the cloud."),
        Column("Size", ".status.rootDiskSize", "Root disk size, as the cloud writes it."),
        _AGE,
        Column("Snapshot-ID", ".status.snapshotId", "Id of the snapshot in the cloud.", wide=True),
        Column("VPC", ".status.vpc", "VPC that the snapshot is in.", wide=True),
        _ADOPTED,
        _ACCOUNT,
        _PAUSED,
        _MESSAGE,
    ),
    selectable_fields=(".spec.vmRef.name", ".spec.accountRef.name", ".status.snapshotId", ".status.sourceName"),
)

GPUHOST = Definition(
    kind=gpuhost.KIND,
    plural=gpuhost.PLURAL,
    short_name="ghost",
    description="A bare metal host that is allocated already: what its owner wants (spec) and what the operator sees (status). "
    "Deleting this object changes nothing in the cloud.",
    spec=gpuhost.GpuHostSpec,
    status=gpuhost.GpuHostStatus,
    columns=(
        Column("Ready", f"{_READY}.status", "Whether the host is powered on, provisioned and OK."),
        _REASON,
        Column("State", ".status.provisioningState", "The cloud's own word for how far the host is provisioned."),
        Column("Host", ".spec.hostId", "Id of the host in the cloud."),
        Column("Cluster", ".spec.cluster", "Cluster of the cloud."),
        Column("IP", ".status.publicIp", "Public IP address."),
        _AGE,
        Column("Type", ".status.nodeType", "Node type of the host.", wide=True),
        Column("Image", ".status.image", "Image that the host was provisioned with.", wide=True),
        Column("Operation", ".status.operation.verb", "Last reboot or reprovisioning.", wide=True),
        Column("Outcome", ".status.operation.outcome", "What became of it.", wide=True),
        _ACCOUNT,
        _PAUSED,
        _MESSAGE,
    ),
    selectable_fields=(
        ".spec.cluster",
        ".spec.hostId",
        ".spec.accountRef.name",
        ".status.nodeType",
        ".status.operationalStatus",
        ".status.provisioningState",
    ),
)

GPUCLOUDACCOUNT = Definition(
    kind=gpucloudaccount.KIND,
    plural=gpucloudaccount.PLURAL,
    short_name="gca",
    description="A credential of the GPU cloud with its defaults, for the objects of its own namespace: what its owner wants "
    "(spec) and what the operator sees (status).",
    spec=gpucloudaccount.GpuCloudAccountSpec,
    status=gpucloudaccount.GpuCloudAccountStatus,
    columns=(
        Column("Ready", f"{_READY}.status", "Whether the cloud accepts the credential."),
        _REASON,
        Column("Endpoint", ".status.endpoint", "Endpoint in use, as the administrator named it."),
        Column("Tenant", ".status.tenant", "Tenant that the credential belongs to."),
        Column("Users", ".status.users", "Number of objects that use it.", type="integer"),
        _AGE,
        Column("Credential", ".status.credentialKind", "ApiKey or Login.", wide=True),
        Column("Last-Contact", ".status.lastContactAt", "When the cloud last answered.", type="date", wide=True),
        _PAUSED,
        _MESSAGE,
    ),
    selectable_fields=(".spec.endpoint", ".spec.secretRef.name", ".status.tenant"),
)

GPUOFFER = RecordDefinition(
    kind=gpuoffer.KIND,
    plural=gpuoffer.PLURAL,
    short_name="goffer",
    description="A configuration of the GPU cloud in one cluster and resource pool, with its price, as offered to one "
    "GpuCloudAccount. The operator writes it and deletes it; how many are free, `kubectl gpucloud offers` shows.",
    fields=gpuoffer.GpuOffer,
    columns=(
        Column("Configuration", ".configuration", "VM configuration."),
        Column("GPU", ".gpuModel", "Model of the GPUs."),
        Column("GPUs", ".gpus", "Number of GPUs.", type="integer"),
        Column("Memory-GB", ".memoryGB", "Memory in GB.", type="integer"),
        Column("Price/h", ".pricePerHour", "Dollars per hour for the whole VM."),
        Column("Cluster", ".cluster", "Cluster of the cloud."),
        Column("Pool", ".resourcePool", "Resource pool."),
        Column("Available", ".available", "Whether one could be had when the operator last looked.", type="boolean"),
        Column("CPUs", ".vcpus", "Number of virtual CPUs.", type="integer", wide=True),
        Column("Storage-GB", ".storageGB", "Attached storage in GB.", type="integer", wide=True),
        Column("Account", ".account", "GpuCloudAccount to which it is offered.", wide=True),
        Column("Age", ".metadata.creationTimestamp", "Age of this object.", type="date", wide=True),
    ),
    selectable_fields=(".account", ".configuration", ".cluster", ".resourcePool", ".gpuModel", ".available"),
)

# The kinds that people declare, and the operator watches.
DEFINITIONS = (GPUVM, GPUVPC, GPUSNAPSHOT, GPUHOST, GPUCLOUDACCOUNT)
# All kinds: with those that only the operator writes, and nobody needs to watch.
ALL_DEFINITIONS = (*DEFINITIONS, GPUOFFER)
