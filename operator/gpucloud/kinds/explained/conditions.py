"""What every type of condition says: for the page of status, and for ``explain``."""

from __future__ import annotations

from typing import NamedTuple

from gpucloud.kinds.meta import ConditionType


class ConditionRow(NamedTuple):
    """A type of condition, when it is there, and its meaning, in Markdown."""

    type: ConditionType
    present: str
    meaning: str


CONDITIONS = (
    ConditionRow(
        ConditionType.READY,
        "always",
        "`True`: the cloud's last listing matches the spec of this generation. `False`: it does not. `Unknown`: the operator "
        "cannot see it, or has not looked yet.",
    ),
    ConditionRow(
        ConditionType.RECONCILING,
        "only while `True`",
        "The operator works, or waits for something that needs no person. Never together with Stalled.",
    ),
    ConditionRow(
        ConditionType.STALLED,
        "only while `True`",
        "A person must act, or the progress deadline has passed. The object is still watched.",
    ),
    ConditionRow(
        ConditionType.PAUSED,
        "only while `True`",
        "The annotation `gpucloud.dev/paused` stops all action.",
    ),
    ConditionRow(
        ConditionType.SUCCEEDED,
        "only while `True`",
        "Of a GpuSnapshot: the snapshot is taken.",
    ),
    ConditionRow(
        ConditionType.RESTRICTED,
        "only while `True`",
        "Of a GpuCloudAccount: the cloud forbids its credential some operations; `status.operations` names them. The rest "
        "works.",
    ),
    ConditionRow(
        ConditionType.PUBLICATION_FAILED,
        "only while `True`",
        "Of a GpuVM: what [`spec.connection`](../how-to/connection.md) asks for could not be published, or not be withdrawn. "
        "Its reason is `Conflict` (the name is taken), `NoAddress`, `PermissionDenied` (the operator's rights), `Rejected` "
        "or `ApiError` (the apiserver's words); the message says what to do. Ready speaks of the VM alone. A withdrawal that "
        "fails delays a stop or destruction by at most 60 seconds.",
    ),
)
