"""Reconciler of GpuSnapshots: its facts include the VM that a snapshot is taken of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from gpucloud.cloud import calls
from gpucloud.engine.cloud.listings import as_recorded
from gpucloud.engine.kinds import dependents, needs
from gpucloud.engine.kinds.cloud_reconciler import CloudReconciler
from gpucloud.engine.kinds.request import Request
from gpucloud.engine.runtime.clock import reading
from gpucloud.kinds import gpuvm
from gpucloud.kinds.gpusnapshot import KIND, PLURAL, GpuSnapshotSpec, GpuSnapshotStatus
from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.reconcile.accepted_absence import accepted_absence
from gpucloud.reconcile.continuity import Likeness
from gpucloud.reconcile.core.record import moment
from gpucloud.reconcile.facts import Absent, Unknown, Verb
from gpucloud.reconcile.gpusnapshot import SnapshotFacts, Source, decide
from gpucloud.reconcile.gpusnapshot.facts import SUBJECT
from gpucloud.reconcile.gpusnapshot.identity import name_of
from gpucloud.reconcile.placement import placement_from_answer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gpucloud.cloud.models import SnapshotRecord
    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.cloud.accounts import ResolvedAccount
    from gpucloud.engine.kinds.dependents import Dependent
    from gpucloud.engine.kinds.indexes import Reference
    from gpucloud.reconcile.facts import Observation
    from gpucloud.reconcile.naming import Identity
    from gpucloud.reconcile.placement import Placement
    from gpucloud.reconcile.plan import Plan

    GpuSnapshot = CachedObject[GpuSnapshotSpec, GpuSnapshotStatus]


def references(spec: GpuSnapshotSpec) -> Iterator[Reference]:
    """Yield the GpuVM that a GpuSnapshot is taken of."""
    if spec.vm_ref is not None:
        yield gpuvm.KIND, spec.vm_ref.name


class GpuSnapshotReconciler(CloudReconciler[GpuSnapshotSpec, GpuSnapshotStatus, SnapshotFacts]):
    """Reconciler of GpuSnapshots."""

    kind = KIND
    plural = PLURAL
    inventory_name = "snapshots"
    subject = SUBJECT
    success_events: ClassVar = {
        Verb.CREATE_SNAPSHOT: (Reason.CREATED, "Requested creation of snapshot {name}."),
        Verb.DELETE_SNAPSHOT: (Reason.DESTROYED, "Requested deletion of snapshot {name}."),
    }
    failed: ClassVar = {Verb.CREATE_SNAPSHOT: Reason.ORDER_FAILED, Verb.DELETE_SNAPSHOT: Reason.DESTROY_FAILED}

    def references(self, spec: GpuSnapshotSpec) -> Iterator[Reference]:
        """Yield the GpuVM that it is taken of."""
        return references(spec)

    def identity(self, stored: GpuSnapshot, spec: GpuSnapshotSpec) -> Identity | None:
        """Return the snapshot's identity."""
        return self._deps.objects.snapshot_identity(stored, spec)

    def desired_identity(self, stored: GpuSnapshot, spec: GpuSnapshotSpec) -> Identity | None:
        """Return the identity that the spec asks for. Without ``spec.vm`` the cluster and VPC are those of the order record."""
        here, order = self.identity(stored, spec), stored.order
        if here is None:
            return None
        name = name_of(stored.meta, spec, order, self._deps.objects.tag)
        if spec.vm is not None:
            return here._replace(name=name, cluster=spec.vm.cluster, vpc=spec.vm.vpc)
        recorded = {} if order is None or not order.name else {"cluster": order.cluster, "vpc": order.vpc}
        return here._replace(name=name, **recorded)

    def likeness(self, status: GpuSnapshotStatus, record: SnapshotRecord) -> Likeness:
        """Compare the creation times."""
        taken_at = moment(record.creation_date)
        if status.creation_date is None or taken_at is None:
            return Likeness.UNKNOWN
        return Likeness.SAME if taken_at == status.creation_date else Likeness.OTHER

    def chooses_name(self, spec: GpuSnapshotSpec) -> bool:
        """Whether the spec sets the snapshot's name."""
        return spec.snapshot_name is not None

    def dependents(self, stored: GpuSnapshot, spec: GpuSnapshotSpec) -> Iterator[Dependent]:  # noqa: ARG002 - the base's form
        """Yield the GpuVMs that are being made from the snapshot."""
        return dependents.dependents_of_snapshot(self._deps.objects, stored)

    def watches(self, stored: GpuSnapshot, spec: GpuSnapshotSpec) -> Mapping[str, Identity]:
        """Watch the source VM until the snapshot is taken."""
        source = self._deps.objects.source_identity(stored, spec)
        if source is None or stored.meta.deleting or stored.status.snapshot_id is not None:
            return {}
        return {"vms": source}

    def facts(
        self, stored: GpuSnapshot, spec: GpuSnapshotSpec, account: ResolvedAccount, common: dict[str, Any]
    ) -> SnapshotFacts:
        """Return the snapshot's facts."""
        objects, deleting = self._deps.objects, stored.meta.deleting
        return SnapshotFacts(
            **common,
            needs=() if deleting else tuple(needs.needs_of_snapshot(objects, stored, spec, account)),
            source=self._source(stored, spec, account),
            vms_listed=self._vms_listed(stored, account, common["identity"], common["found"]),
            ends_a_vm=needs.ends_a_vm(objects, stored),
        )

    async def complete(self, facts: SnapshotFacts, stored: GpuSnapshot, account: ResolvedAccount) -> SnapshotFacts:  # noqa: ARG002
        """Add whether the namespace is terminating."""
        terminating = await self._deps.namespaces.terminating(stored.meta.namespace)
        return replace(facts, now=reading(self._deps.clock), namespace_terminating=terminating)

    def decide_kind(self, facts: SnapshotFacts) -> Plan[GpuSnapshotStatus]:
        """Return the GpuSnapshot's plan."""
        return decide(facts)

    def requests(self, facts: SnapshotFacts, verb: Verb, targets: tuple[str, ...]) -> Iterator[Request]:  # noqa: ARG002
        """Yield the call for this snapshot."""
        here = facts.identity
        match verb:
            case Verb.CREATE_SNAPSHOT:
                source = facts.source.name if facts.source is not None else None
                call = calls.create_snapshot(name=here.name, namespace=here.vpc, cluster=here.cluster, source_vm_name=source)
                yield Request(call, here.name)
            case Verb.DELETE_SNAPSHOT:
                there = as_recorded(facts.found, here)
                yield Request(calls.delete_snapshot(id=there.name, namespace=there.vpc, cluster=there.cluster), there.name)

    def placement(self, facts: SnapshotFacts, answer: SnapshotRecord) -> Placement:
        """Return what the answer says of where the snapshot is."""
        return placement_from_answer(facts.identity, answer.id, None, answer.namespace)

    def _source(self, stored: GpuSnapshot, spec: GpuSnapshotSpec, account: ResolvedAccount) -> Source | None:
        there = self.watches(stored, spec).get("vms")
        if there is None or account.session is None:
            return None
        return Source(there.name, account.session.vms.observe(there))

    def _vms_listed(
        self, stored: GpuSnapshot, account: ResolvedAccount, here: Identity, found: Observation[SnapshotRecord]
    ) -> float | Unknown | None:
        """Return what is known of the VMs of a cluster whose listing lacks this snapshot; None where it does not matter."""
        listed = account.session.vms.standing(here.cluster) if account.session and isinstance(found, Absent) else None
        if not isinstance(listed, Unknown) or not isinstance(found, Absent):
            return listed
        said, now = self._tracker.said(stored.meta, Annotation.ACCEPT_ABSENCE), reading(self._deps.clock)
        accepted = accepted_absence(said, now).of_credential(account.since)
        if accepted.covers(max(listed.since, found.since)):
            return None
        doubt: Observation[SnapshotRecord] = accepted.explained(listed)
        return doubt if isinstance(doubt, Unknown) else listed
