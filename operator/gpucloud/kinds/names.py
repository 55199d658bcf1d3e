"""Names of the kinds and of accounts, without the models: a program that shows objects starts without loading pydantic."""

from __future__ import annotations

from typing import NamedTuple

OWN_ACCOUNT = "(operator)"  # no object can bear this name, so status.account is never mistaken for one
DEFAULT_ACCOUNT = "default"


class KindNames(NamedTuple):
    """The names of a kind, as its CRD has them."""

    kind: str
    plural: str
    short: str


# In the order of their references: an object refers to objects of the kinds before its own.
KINDS = (
    KindNames("GpuCloudAccount", "gpucloudaccounts", "gca"),
    KindNames("GpuVpc", "gpuvpcs", "gvpc"),
    KindNames("GpuVM", "gpuvms", "gvm"),
    KindNames("GpuSnapshot", "gpusnapshots", "gsnap"),
    KindNames("GpuHost", "gpuhosts", "ghost"),
)
