"""Names of the kinds and of accounts, without the models: a program that shows objects starts without loading pydantic."""

from __future__ import annotations

from typing import NamedTuple

OWN_ACCOUNT = "(operator)"  # no object can bear this name, so status.account is never mistaken for one
DEFAULT_ACCOUNT = "default"
ACCOUNT, VPC, VM, SNAPSHOT, HOST = "GpuCloudAccount", "GpuVpc", "GpuVM", "GpuSnapshot", "GpuHost"


class KindNames(NamedTuple):
    """The names of a kind, as its CRD has them, and the fields of its status that ``kubectl gpucloud status`` shows."""

    kind: str
    plural: str
    short: str
    details: tuple[str, ...]
    wide_details: tuple[str, ...]


# In the order of their references: an object refers to objects of the kinds before its own.
KINDS = (
    KindNames(ACCOUNT, "gpucloudaccounts", "gca", ("tenant",), ("endpoint",)),
    KindNames(VPC, "gpuvpcs", "gvpc", ("name", "ipRange"), ("cluster", "vpcId")),
    KindNames(VM, "gpuvms", "gvm", ("state", "ip"), ("cluster", "vpc", "vmId", "privateIp", "image")),
    KindNames(SNAPSHOT, "gpusnapshots", "gsnap", ("rootDiskSize",), ("cluster", "snapshotId")),
    KindNames(HOST, "gpuhosts", "ghost", ("provisioningState", "publicIp"), ("cluster", "hostId", "nodeType", "image")),
)
