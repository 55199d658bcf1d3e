"""The GpuSnapshots that take final snapshots: what is known of one, and its creation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gpucloud.cloud.errors import ErrorKind
from gpucloud.engine.cloud.listings import as_recorded
from gpucloud.engine.kinds import audit, request
from gpucloud.engine.kinds.dependents import is_final_snapshot
from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.kube.events import Event
from gpucloud.kinds import gpusnapshot
from gpucloud.kinds.common import OWN_ACCOUNT, DeletionPolicy
from gpucloud.kinds.gpuvm import KIND, GpuVMSpec, GpuVMStatus
from gpucloud.kinds.meta import FIELD_MANAGER, FINAL_SNAPSHOT_OF, ConditionType, Reason
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.facts import Refusal, Verb
from gpucloud.reconcile.gpuvm.snapshots import FinalSnapshotFacts, Requests, Taker, is_required, names, replacement_of
from gpucloud.reconcile.retention import recorded_policy
from gpucloud.reconcile.text import quoted

if TYPE_CHECKING:
    from gpucloud.engine.cache.store import CachedObject, Store
    from gpucloud.engine.kinds.deps import ReconcilerDeps
    from gpucloud.engine.kinds.order_tracking import OrderTracker
    from gpucloud.kinds.gpusnapshot import GpuSnapshotSpec, GpuSnapshotStatus
    from gpucloud.reconcile.gpuvm import VmFacts

    Vm = CachedObject[GpuVMSpec, GpuVMStatus]
    Snapshot = CachedObject[GpuSnapshotSpec, GpuSnapshotStatus]


RIGHTS = "Grant the operator create on gpusnapshots."


@dataclass(slots=True)
class _Known:
    """The requests of one object, as this process knows them."""

    seen: int = 0  # number of the last one that the status announced
    requests: Requests = field(default_factory=Requests)


class FinalSnapshots:
    """The final snapshots of all GpuVMs of this process."""

    def __init__(self, deps: ReconcilerDeps, store: Store[GpuVMSpec, GpuVMStatus], tracker: OrderTracker) -> None:
        self._kube, self._namespaces, self._objects, self._clock = deps.kube, deps.namespaces, deps.objects, deps.clock
        self._store, self._tracker = store, tracker

    def is_required(self, vm: Vm) -> bool:
        """Whether this object is being deleted or its VM replaced, and that must not be destroyed without a final snapshot."""
        if vm.spec is None or not (vm.meta.deleting or vm.status.replacement is not None):
            return False
        return is_required(vm.spec.deletion, recorded_policy(vm.spec.deletion.policy, vm.order))

    def taker_name(self, vm: Vm) -> str | None:
        """Return the name of the GpuSnapshot that takes the final snapshot of a VM; None if its deletion needs none."""
        return self._names(vm)[0] if self.is_required(vm) else None

    def facts(self, vm: Vm) -> FinalSnapshotFacts | None:
        """Return what is known of the final snapshot of a VM that is reconciled; None if its deletion needs none."""
        if not self.is_required(vm):
            return None
        name, unattended_id = self._names(vm)
        found = self._objects.snapshots.named(vm.meta.namespace, name)
        taker = None if found is None else self._taker(vm, found)
        return FinalSnapshotFacts(name, unattended_id, taker, requests=self._requests(vm))

    def _names(self, vm: Vm) -> tuple[str, str]:
        order, planned = vm.order, vm.status.replacement
        replacement = None if order is None or planned is None else replacement_of(order.id, planned)
        return names(vm.meta, self._objects.tag, replacement)

    def announce(self, uid: str, status: GpuVMStatus) -> None:
        """Note that this process is about to announce a request by writing this status, so that it may send it afterwards."""
        if status.final_snapshot is not None:
            known, number = self._store.entries.part(uid, _Known), status.final_snapshot.requests
            known.requests = replace(known.requests, announced=number, announced_at=self._clock.mono())

    def _requests(self, vm: Vm) -> Requests:
        """Return what this process knows of the requests; note when it first acts upon a status that announces another one."""
        known, recorded = self._store.entries.part(vm.meta.uid, _Known), vm.status.final_snapshot
        number = 0 if recorded is None else recorded.requests
        if known.seen != number:
            known.seen, known.requests = number, replace(known.requests, seen_at=self._clock.mono())
        return known.requests

    async def complete(self, facts: VmFacts) -> VmFacts:
        """Add whether the namespace is terminating, as read after the deletion and after the last request.

        Whoever deletes the namespace deletes the GpuVM with it: what was known of the namespace before that is out of date.
        """
        if facts.final is None or facts.final.taker is not None or not facts.meta.deleting:
            return facts
        requested = facts.attempt(Verb.REQUEST_SNAPSHOT)
        not_before = facts.deletion_seen if requested is None else max(facts.deletion_seen, requested.at)
        namespace = await self._namespaces.get(facts.meta.namespace, not_before)
        return replace(facts, final=replace(facts.final, terminating=namespace.terminating))

    async def request(self, facts: VmFacts) -> Event | None:
        """Create the GpuSnapshot, and record the outcome; return the Event, None if nothing was sent."""
        meta, final = facts.meta, facts.final
        gathered = self._store.entries.part(meta.uid, request.Gathered).stored
        if gathered is None or final is None or not self._store.is_current(gathered):
            return None
        refusal = None
        try:
            await self._kube.create_resource(gpusnapshot.PLURAL, meta.namespace, _body(facts, final.name))
        except KubeError as error:
            refusal = None if error.conflict else _refusal(error)  # an earlier request was carried out
        self._tracker.record_call(meta.uid, Verb.REQUEST_SNAPSHOT, facts.asked, refusal, (final.name,))
        verb = Verb.REQUEST_SNAPSHOT
        if refusal is not None:
            audit.failed(verb, KIND, meta, Reason.FINAL_SNAPSHOT_FAILED, refusal.message)
            return Event(Reason.FINAL_SNAPSHOT_FAILED, refusal.message, verb, warning=True)
        audit.done(verb, KIND, meta, Reason.FINAL_SNAPSHOT_REQUESTED, target=final.name)
        words = f"Requested the final snapshot of the VM as GpuSnapshot {final.name!r}."
        return Event(Reason.FINAL_SNAPSHOT_REQUESTED, words, verb)

    def _taker(self, vm: Vm, found: Snapshot) -> Taker:
        here = None if found.spec is None else self._objects.snapshot_identity(found, found.spec)
        trouble = find(found.status.conditions, ConditionType.STALLED)
        return Taker(
            made_for_vm=is_final_snapshot(found, vm),
            deleting=found.meta.deleting,
            snapshot_id=None if here is None else here.name,
            stalled="" if trouble is None else f"{trouble.reason}: {trouble.message}",
        )


def _body(facts: VmFacts, name: str) -> dict[str, Any]:
    """Return the GpuSnapshot. No owner reference: it outlives the GpuVM."""
    here = as_recorded(facts.found, facts.identity)
    spec: dict[str, Any] = {
        "vm": {"cluster": here.cluster, "vpc": here.vpc, "name": here.name},
        "deletion": {"policy": DeletionPolicy.RETAIN.value},
    }
    if facts.account.name != OWN_ACCOUNT:
        spec["accountRef"] = {"name": facts.account.name}
    labels = {"app.kubernetes.io/managed-by": FIELD_MANAGER}
    annotations = {FINAL_SNAPSHOT_OF: facts.meta.uid}
    return {"kind": gpusnapshot.KIND, "metadata": {"name": name, "labels": labels, "annotations": annotations}, "spec": spec}


def _refusal(error: KubeError) -> Refusal:
    """Return why the apiserver did not create it. A request without an answer may have been carried out; it is sent again."""
    kind = {403: ErrorKind.FORBIDDEN, 422: ErrorKind.INVALID, 0: ErrorKind.NOT_SENT}.get(error.status, ErrorKind.SERVER)
    rights = f" {RIGHTS}" if kind is ErrorKind.FORBIDDEN and not error.namespace_terminating else ""
    said = quoted(str(error), kind)
    words = f"The GpuSnapshot for the final snapshot cannot be created; it is tried again.{rights} The apiserver says: {said}."
    return Refusal(kind, words, ambiguous=error.status == 0)
