"""Reconciler of GpuVpcs: its facts include the occupants of a VPC that is being deleted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from gpucloud.cloud import calls
from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.engine.cloud.cluster_records import EVERYTHING
from gpucloud.engine.cloud.port import Precondition
from gpucloud.engine.kinds import dependents, needs
from gpucloud.engine.kinds.cloud_reconciler import CloudReconciler
from gpucloud.engine.kinds.request import Request
from gpucloud.engine.runtime.clock import reading
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.gpuvpc import KIND, PLURAL, GpuVpcSpec, GpuVpcStatus
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.continuity import Likeness
from gpucloud.reconcile.facts import Present, Unknown, Verb
from gpucloud.reconcile.gpuvpc import Occupants, VpcFacts, decide, identity
from gpucloud.reconcile.gpuvpc.facts import SUBJECT, is_id_known
from gpucloud.reconcile.placement import placement_from_answer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gpucloud.cloud.models import VpcRecord
    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.cloud.accounts import ResolvedAccount
    from gpucloud.engine.kinds.dependents import Dependent
    from gpucloud.reconcile.naming import Identity
    from gpucloud.reconcile.placement import Placement
    from gpucloud.reconcile.plan import Plan

    GpuVpc = CachedObject[GpuVpcSpec, GpuVpcStatus]


class GpuVpcReconciler(CloudReconciler[GpuVpcSpec, GpuVpcStatus, VpcFacts]):
    """Reconciler of GpuVpcs."""

    kind = KIND
    plural = PLURAL
    inventory_name = "vpcs"
    subject = SUBJECT
    success_events: ClassVar = {
        Verb.CREATE_VPC: (Reason.CREATED, "Requested creation of VPC {name}."),
        Verb.DESTROY_VPC: (Reason.DESTROYED, "Requested destruction of VPC {name}."),
    }
    failed: ClassVar = {Verb.CREATE_VPC: Reason.ORDER_FAILED, Verb.DESTROY_VPC: Reason.DESTROY_FAILED}

    def identity(self, stored: GpuVpc, spec: GpuVpcSpec) -> Identity:  # noqa: ARG002 - the base's form
        """Return the VPC's identity."""
        return identity(spec)

    def desired_identity(self, stored: GpuVpc, spec: GpuVpcSpec) -> Identity:  # noqa: ARG002 - the base's form
        """Return the identity that the spec asks for."""
        return identity(spec)

    def chooses_name(self, spec: GpuVpcSpec) -> bool:  # noqa: ARG002 - as above
        """Whether the spec sets the VPC's name: always."""
        return True

    def dependents(self, stored: GpuVpc, spec: GpuVpcSpec) -> Iterator[Dependent]:
        """Yield the objects that have or may have a resource in the VPC, or refer to it."""
        known = self._tracker.latest(stored.meta.uid)
        lost = known is not None and known.state is OrderState.LOST
        return dependents.dependents_of_vpc(self._deps.objects, stored, spec, lost=lost)

    def watches(self, stored: GpuVpc, spec: GpuVpcSpec) -> Mapping[str, Identity]:
        """Watch all VMs and snapshots in the VPC while the GpuVpc is being deleted."""
        if not stored.meta.deleting or not is_id_known(stored.status, self.order_of(stored)):
            return {}
        inside = identity(spec)._replace(name=EVERYTHING)
        return {"vms": inside, "snapshots": inside}

    def facts(self, stored: GpuVpc, spec: GpuVpcSpec, account: ResolvedAccount, common: dict[str, Any]) -> VpcFacts:
        """Return the VPC's facts."""
        return VpcFacts(
            **common,
            needs=() if stored.meta.deleting else tuple(needs.needs_of_vpc(account)),
            occupants=self._occupants(stored, spec, account),
        )

    def likeness(self, status: GpuVpcStatus, record: VpcRecord) -> Likeness:  # noqa: ARG002 - as above
        """Compare nothing: the id of a VPC is unique, and tells."""
        return Likeness.SAME

    async def complete(self, facts: VpcFacts, stored: GpuVpc, account: ResolvedAccount) -> VpcFacts:  # noqa: ARG002 - the base's form
        """Add whether the namespace is terminating."""
        terminating = await self._deps.namespaces.terminating(stored.meta.namespace)
        return replace(facts, now=reading(self._deps.clock), namespace_terminating=terminating)

    def decide_kind(self, facts: VpcFacts) -> Plan[GpuVpcStatus]:
        """Return the GpuVpc's plan."""
        return decide(facts)

    def requests(self, facts: VpcFacts, verb: Verb, targets: tuple[str, ...]) -> Iterator[Request]:  # noqa: ARG002 - the base's form
        """Yield the call for this VPC. The destroying call needs the id of the VPC's record, not its name."""
        here, spec = facts.identity, facts.spec
        match verb:
            case Verb.CREATE_VPC:
                call = calls.create_vpc(
                    name=here.name,
                    cluster=here.cluster,
                    block_intra_vpc_comms=spec.block_intra_vpc_comms,
                    is_default=spec.is_default,
                )
                yield Request(call, here.name)
            case Verb.DESTROY_VPC:
                record = facts.found.record if isinstance(facts.found, Present) else None
                its_id = facts.known_id if record is None else record.id
                if its_id is None:
                    raise CloudError(
                        ErrorKind.INVALID,
                        "the VPC's record has no id, and only by its id can it be destroyed: destroy it in the dashboard",
                    )
                cluster = here.cluster if record is None else record.cluster or here.cluster
                yield Request(calls.destroy_vpc(id=its_id, cluster=cluster), here.name, (self._empty(facts),))

    def placement(self, facts: VpcFacts, answer: VpcRecord) -> Placement:
        """Return what the answer says of where the VPC is."""
        return placement_from_answer(facts.identity, answer.id, None, None)

    def _empty(self, facts: VpcFacts) -> Precondition:
        """Return the precondition that no listing shows anything in the VPC: something may have come since the decision."""

        def holds() -> bool:
            stored = self.store.get(facts.meta.uid)
            account = None if stored is None else self.account(stored, facts.spec)
            inside = None if stored is None or account is None else self._occupants(stored, facts.spec, account)
            return isinstance(inside, Occupants) and not inside.names

        return Precondition("no listing shows anything in the VPC", holds)

    def _occupants(self, stored: GpuVpc, spec: GpuVpcSpec, account: ResolvedAccount) -> Occupants | Unknown | None:
        if not self.watches(stored, spec) or account.session is None:
            return None
        vms = account.session.vms.within(spec.cluster, spec.name)
        snapshots = account.session.snapshots.within(spec.cluster, spec.name)
        if isinstance(vms, Unknown):
            return vms
        if isinstance(snapshots, Unknown):
            return snapshots
        names = [f"VM {item.id!r}" for item in vms.records] + [f"snapshot {item.id!r}" for item in snapshots.records]
        neither = None if vms.confirmed is None or snapshots.confirmed is None else min(vms.confirmed, snapshots.confirmed)
        return Occupants(tuple(names), min(vms.as_of, snapshots.as_of), neither)
