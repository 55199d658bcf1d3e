"""The snapshots of a VM that is being deleted, as the cloud lists them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gpucloud.engine.cloud.port import Precondition
from gpucloud.engine.kinds.dependents import deletable_snapshots
from gpucloud.reconcile.facts import Unknown
from gpucloud.reconcile.gpuvm import with_snapshots
from gpucloud.reconcile.gpuvm.final_snapshot import is_ready
from gpucloud.reconcile.gpuvm.snapshots import SnapshotOfVm, SnapshotsOfVm
from gpucloud.reconcile.text import listed

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.cloud.models import SnapshotRecord
    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.kinds.listers import Listers
    from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus
    from gpucloud.reconcile.gpuvm import VmFacts
    from gpucloud.reconcile.naming import Identity

    Vm = CachedObject[GpuVMSpec, GpuVMStatus]


def snapshots_of_vm(objects: Listers, session: AccountSession, vm: Vm, here: Identity) -> SnapshotsOfVm | Unknown:
    """Return the VM's snapshots in the last listing, and which of them may be deleted with it."""
    seen = session.snapshots.within(here.cluster, here.vpc)
    if isinstance(seen, Unknown):
        return seen
    deletable = set(deletable_snapshots(objects, vm, here))
    items = (item for item in seen.records if _may_be_of(item, here))
    listed = (SnapshotOfVm(item.id or "", item.id in deletable, ready=bool(item.ready_to_use)) for item in items)
    stays = any(item.id not in deletable for item in seen.before if _may_be_of(item, here))
    return SnapshotsOfVm(tuple(listed), seen.as_of, None if stays else seen.before_as_of)


def snapshots_to_delete(facts: VmFacts) -> tuple[str, ...]:
    """Return the snapshots that the destroying call deletes with the VM: all of them, or none."""
    seen = facts.snapshots
    return tuple(item.name for item in seen.items) if isinstance(seen, SnapshotsOfVm) and with_snapshots(facts) else ()


def may_be_deleted(
    facts: VmFacts, snapshots: tuple[str, ...], newest: Callable[[], Vm | None], objects: Listers
) -> Precondition:
    """Return the precondition that these snapshots may be deleted: their GpuSnapshots may be retained or paused by now."""

    def holds() -> bool:
        vm = newest() if snapshots else None
        return not snapshots or (vm is not None and set(snapshots) <= set(deletable_snapshots(objects, vm, facts.identity)))

    return Precondition("the snapshots may be deleted", holds)


def has_final(facts: VmFacts, newest: Callable[[VmFacts], SnapshotsOfVm | Unknown | None]) -> Precondition:
    """Return the precondition that the newest listing shows the final snapshot ready, where the spec requires one."""

    def holds() -> bool:
        return not facts.needs_final_snapshot or is_ready(replace(facts, snapshots=newest(facts)))

    return Precondition("its final snapshot is ready", holds)


def unlisted(facts: VmFacts, name: str, newest: Callable[[VmFacts], SnapshotsOfVm | Unknown | None]) -> Precondition:
    """Return the precondition that the newest listing shows no snapshot of this name, so that none is taken twice."""

    def holds() -> bool:
        seen = newest(facts)
        return isinstance(seen, SnapshotsOfVm) and all(item.name != name for item in seen.items)

    return Precondition("no listing shows the final snapshot", holds)


def with_names(note: str, snapshots: tuple[str, ...]) -> str:
    """Return the note of an Event, with the snapshots that its call deletes."""
    return f"{note.rstrip('.')}, with its snapshots {listed(tuple(map(repr, snapshots)))}." if snapshots else note


def _may_be_of(record: SnapshotRecord, vm: Identity) -> bool:
    """Whether a snapshot may be of this VM. A record without a source may be of any VM."""
    return record.source_name in {None, vm.name}
