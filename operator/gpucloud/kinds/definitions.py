"""How each kind looks in ``kubectl``: names, columns and the fields that can be selected by.

Columns are for people; scripts read conditions. Adding a kind means adding it to ``DEFINITIONS``.
"""

from __future__ import annotations

from gpucloud.kinds import gpuvm
from gpucloud.kinds.crd import Column, Definition

_READY = '.status.conditions[?(@.type=="Ready")]'

GPUVM = Definition(
    kind=gpuvm.KIND,
    plural=gpuvm.PLURAL,
    short_name="gvm",
    description="A virtual machine of the GPU cloud: what its owner wants (spec) and what the operator sees (status).",
    spec=gpuvm.GpuVMSpec,
    status=gpuvm.GpuVMStatus,
    columns=(
        Column("Ready", f"{_READY}.status", "Whether the VM is as the spec asks."),
        Column("Reason", f"{_READY}.reason", "Why, in one word."),
        Column("State", ".status.state", "The cloud's own word for the VM's state."),
        Column("Configuration", ".spec.configuration", "VM configuration."),
        Column("Cluster", ".spec.cluster", "Cluster of the cloud."),
        Column("IP", ".status.ip", "Public IP address."),
        Column("Age", ".metadata.creationTimestamp", "Age of this object.", type="date"),
        Column("VM-ID", ".status.vmId", "Id of the VM in the cloud.", wide=True),
        Column("VPC", ".spec.vpc", "VPC that the VM lives in.", wide=True),
        Column("Price/h", ".status.pricePerHour", "Dollars per hour when the VM was bought.", wide=True),
        Column("Message", f"{_READY}.message", "What happened and what to do next.", wide=True),
    ),
    selectable_fields=(".spec.cluster", ".spec.configuration", ".spec.vpc", ".status.vmId", ".status.state"),
)

DEFINITIONS = (GPUVM,)
