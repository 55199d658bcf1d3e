"""The snapshots of one VM: those that a listing shows, and the final one, if the VM needs one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gpucloud.kinds.common import DeletionPolicy
from gpucloud.kinds.deletion import FinalSnapshotPolicy
from gpucloud.reconcile import naming

if TYPE_CHECKING:
    from gpucloud.kinds.deletion import Deletion
    from gpucloud.kinds.recreation import Replacement
    from gpucloud.reconcile.core.facts import CloudFacts
    from gpucloud.reconcile.facts import ObjectFacts

_OBJECT_NAME_LENGTH = 200  # of a GpuVM's name in that of its snapshot; the apiserver allows 253 characters
_SUFFIX_LENGTH = 5
_ORDER_ID_LENGTH = 40  # of an order's id in what its plan is called; those that the operator writes are shorter
FOR_REPLACEMENT = "-replaced-"


@dataclass(frozen=True, slots=True)
class SnapshotOfVm:
    """A snapshot of this VM. ``deletable``: a GpuSnapshot of this namespace stands for it and allows its deletion."""

    name: str
    deletable: bool
    ready: bool = False  # the cloud calls it ready to use


@dataclass(frozen=True, slots=True)
class SnapshotsOfVm:
    """All snapshots of this VM in a listing that began at ``as_of`` (mono seconds).

    ``confirmed``: begin of the listing before that one, if that showed no snapshot of it that must stay; one may be partial.
    """

    items: tuple[SnapshotOfVm, ...]
    as_of: float
    confirmed: float | None = None


def are_fresh(f: CloudFacts[Any, Any, Any], seen: SnapshotsOfVm) -> bool:
    """Whether the listing is recent, and began after the deletion: somebody may have made a snapshot right before that."""
    return seen.as_of >= max(f.fresh_from, f.deletion_seen)


@dataclass(frozen=True, slots=True)
class Taker:
    """The GpuSnapshot of the final snapshot's name."""

    made_for_vm: bool  # the operator made it for this VM
    deleting: bool
    snapshot_id: str | None  # the snapshot's id in the cloud; None while it is unknown
    stalled: str = ""  # reason and message, if it is Stalled


@dataclass(frozen=True, slots=True)
class Requests:
    """What this process knows of the requests that ``status.finalSnapshot`` announces. Times are mono seconds."""

    seen_at: float = 0.0  # when it first acted upon the status that announces the last one
    announced: int = 0  # number of the last one that it has itself announced
    announced_at: float = 0.0


@dataclass(frozen=True, slots=True)
class FinalSnapshotFacts:
    """What is known of the final snapshot beside the record and the listing."""

    name: str  # of the GpuSnapshot that takes it
    unattended_id: str  # of a snapshot that is taken without a GpuSnapshot: it bears the fingerprint of the VM's object
    taker: Taker | None = None
    terminating: bool = False  # the namespace is being deleted, so that no GpuSnapshot can be made
    requests: Requests = field(default_factory=Requests)  # of one that is taken without a GpuSnapshot


def replacement_of(order_id: str, plan: Replacement) -> str:
    """Return what tells this plan to replace the VM of this order from any other; the status has both, so a restart finds it.

    A plan that was given up may have had a snapshot taken long ago: the VM has gone on since, so each plan has one of its own.
    """
    return f"{order_id[:_ORDER_ID_LENGTH]}{FOR_REPLACEMENT}{int(plan.planned_at.timestamp())}"


def names(vm: ObjectFacts, tag: str, replacement: str | None = None) -> tuple[str, str]:
    """Return the name of the GpuSnapshot that takes the final snapshot, and the id of one that is taken without it.

    Both are of this one deletion, or of this plan to replace the VM (``replacement_of``). What an earlier object of the name
    left behind does not count, nor does what this object left before a restore of etcd undid its deletion, though its VM may
    have been ordered anew since.
    """
    deletion = naming.digest(f"{vm.uid} {vm.deleted_at or replacement}", _SUFFIX_LENGTH)
    base = vm.name[:_OBJECT_NAME_LENGTH].rstrip("-.")
    return f"{base}-final-{deletion}", naming.external_name(f"final-{deletion}-{vm.name}", vm.uid, tag)


def is_required(deletion: Deletion, policy: DeletionPolicy) -> bool:
    """Whether a deletion destroys the VM, and must not do so without a final snapshot. ``policy``: the one that applies."""
    return deletion.final_snapshot is FinalSnapshotPolicy.REQUIRED and policy is not DeletionPolicy.RETAIN
