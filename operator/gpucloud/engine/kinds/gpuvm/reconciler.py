"""Reconciler of GpuVMs: its facts include SSH keys, price, quota usage and the deletion guard's answer."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from gpucloud.cloud import calls
from gpucloud.engine.cache.references import Target
from gpucloud.engine.cloud.cluster_records import EVERYTHING
from gpucloud.engine.cloud.listings import as_recorded
from gpucloud.engine.kinds import dependents, needs
from gpucloud.engine.kinds.cloud_reconciler import CloudReconciler
from gpucloud.engine.kinds.gpuvm import adopting
from gpucloud.engine.kinds.gpuvm.boot_logs import read_trouble
from gpucloud.engine.kinds.gpuvm.cleanups import cleanups_of_counts
from gpucloud.engine.kinds.gpuvm.create_server import create_server_request
from gpucloud.engine.kinds.gpuvm.destructions import Destructions, replaced_since, still_failed
from gpucloud.engine.kinds.gpuvm.final_snapshots import FinalSnapshots
from gpucloud.engine.kinds.gpuvm.known_names import names_for
from gpucloud.engine.kinds.gpuvm.order_needs import with_order_needs
from gpucloud.engine.kinds.gpuvm.prices import with_prices
from gpucloud.engine.kinds.gpuvm.publishing import Publisher
from gpucloud.engine.kinds.gpuvm.snapshots import (
    has_final,
    may_be_deleted,
    snapshots_of_vm,
    snapshots_to_delete,
    unlisted,
    with_names,
)
from gpucloud.engine.kinds.gpuvm.unclaimed import Unclaimed
from gpucloud.engine.kinds.gpuvm.waiting import WaitingGpuVMs
from gpucloud.engine.kinds.quota_usage import QuotaItem
from gpucloud.engine.kinds.request import Request
from gpucloud.engine.runtime.clock import reading
from gpucloud.kinds import gpusnapshot, gpuvpc
from gpucloud.kinds.gpuvm import KIND, PLURAL, GpuVMSpec, GpuVMStatus, SnapshotPolicy
from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.continuity import Likeness
from gpucloud.reconcile.facts import Unknown, UnknownReason, Verb
from gpucloud.reconcile.gpuvm import VmFacts, decide, replacement, template
from gpucloud.reconcile.gpuvm.clusters import clusters
from gpucloud.reconcile.gpuvm.connection import still_published
from gpucloud.reconcile.gpuvm.facts import SUBJECT
from gpucloud.reconcile.gpuvm.offers import current_offer, ordered_configuration, with_offer
from gpucloud.reconcile.placement import placement_from_answer
from gpucloud.reconcile.price import dollars

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gpucloud.cloud.models import CreateServer, VmRecord
    from gpucloud.engine.cache.store import CachedObject, Store
    from gpucloud.engine.cloud.accounts import ResolvedAccount
    from gpucloud.engine.cloud.port import Precondition
    from gpucloud.engine.kinds.cleanups import Cleanup
    from gpucloud.engine.kinds.dependents import Dependent
    from gpucloud.engine.kinds.deps import ReconcilerDeps
    from gpucloud.engine.kinds.indexes import Reference
    from gpucloud.engine.kinds.observing import Observed
    from gpucloud.engine.kube.events import Event
    from gpucloud.reconcile.evidence import Proofs
    from gpucloud.reconcile.facts import Observation
    from gpucloud.reconcile.gpuvm.snapshots import SnapshotsOfVm
    from gpucloud.reconcile.naming import Identity
    from gpucloud.reconcile.placement import Placement
    from gpucloud.reconcile.plan import Plan
    from gpucloud.reconcile.quota import Usage
    from gpucloud.reconcile.unreadable import Unreadable

    GpuVM = CachedObject[GpuVMSpec, GpuVMStatus]


def references(spec: GpuVMSpec) -> Iterator[Reference]:
    """Yield the objects that a GpuVM refers to."""
    if spec.vpc_ref is not None:
        yield gpuvpc.KIND, spec.vpc_ref.name
    if spec.image is not None and spec.image.snapshot_ref is not None:
        yield gpusnapshot.KIND, spec.image.snapshot_ref.name


class GpuVMReconciler(CloudReconciler[GpuVMSpec, GpuVMStatus, VmFacts]):
    """Reconciler of GpuVMs."""

    kind = KIND
    plural = PLURAL
    inventory_name = "vms"
    subject = SUBJECT
    success_events: ClassVar = {
        Verb.CREATE: (Reason.CREATED, "Requested creation of VM {name}."),
        Verb.START: (Reason.STARTED, "Requested start of VM {name}."),
        Verb.STOP: (Reason.STOPPED, "Requested stop of VM {name}."),
        Verb.DESTROY: (Reason.DESTROYED, "Requested destruction of VM {name} and its data."),
        Verb.DELETE_SNAPSHOT: (Reason.DESTROYED, "Requested deletion of the VM's snapshots {name}."),
        Verb.CREATE_SNAPSHOT: (
            Reason.FINAL_SNAPSHOT_REQUESTED,
            "Requested the final snapshot {name}. No GpuSnapshot stands for it, as the namespace is being deleted.",
        ),
    }
    failed: ClassVar = {
        Verb.CREATE: Reason.ORDER_FAILED,
        Verb.START: Reason.START_FAILED,
        Verb.STOP: Reason.STOP_FAILED,
        Verb.DESTROY: Reason.DESTROY_FAILED,
        Verb.DELETE_SNAPSHOT: Reason.DESTROY_FAILED,
        Verb.CREATE_SNAPSHOT: Reason.FINAL_SNAPSHOT_FAILED,
    }
    delayed_verbs = frozenset({Verb.CREATE, Verb.START, Verb.STOP, Verb.DESTROY})

    def __init__(self, deps: ReconcilerDeps, store: Store[GpuVMSpec, GpuVMStatus]) -> None:
        super().__init__(deps, store)
        self._deletion_guard, self._quota_usage = deps.deletion_guard, deps.quota_usage
        self._destructions = Destructions(
            deps.deletion_guard,
            self._tracker,
            self._ownership,
            lambda stored, spec: self.account(stored, spec).session,
            self.order_of,
        )
        self._unclaimed = Unclaimed(store, self._ownership, self._searches, deps.objects.tag)
        self._publisher = Publisher(deps.kube, store, self._tracker)
        self._final = FinalSnapshots(deps, store, self._tracker)
        self._waiting = WaitingGpuVMs(store, self._tracker, lambda stored, spec: self.account(stored, spec).session)

    def references(self, spec: GpuVMSpec) -> Iterator[Reference]:
        """Yield its VPC and the snapshot that its disk is made from."""
        return references(spec)

    def identity(self, stored: GpuVM, spec: GpuVMSpec) -> Identity | None:
        """Return the VM's identity."""
        return self._deps.objects.vm_identity(stored, spec)

    def desired_identity(self, stored: GpuVM, spec: GpuVMSpec) -> Identity | None:
        """Return the identity that the spec asks for."""
        return self._deps.objects.desired_vm_identity(stored, spec)

    def likeness(self, status: GpuVMStatus, record: VmRecord) -> Likeness:
        """Compare the addresses. A private one decides where it is known.

        A public one may change whenever a VM is switched on.
        """
        if status.private_ip and record.private_ip:
            return Likeness.SAME if status.private_ip == record.private_ip else Likeness.OTHER
        if not (status.ip and record.ip):
            return Likeness.UNKNOWN
        return Likeness.SAME if status.ip == record.ip else Likeness.CHANGED

    def chooses_name(self, spec: GpuVMSpec) -> bool:
        """Whether the spec sets the VM's name."""
        return spec.vm_name is not None

    def dependents(self, stored: GpuVM, spec: GpuVMSpec) -> Iterator[Dependent]:  # noqa: ARG002 - the base's form
        """Yield the GpuSnapshots that are being taken of the VM."""
        return dependents.dependents_of_vm(self._deps.objects, stored)

    def proofs(self, stored: GpuVM, spec: GpuVMSpec, here: Identity, found: Observation[Any]) -> Proofs:
        """Return the base's proofs; a VM that is to be replaced is not spared, and alternatives may name other clusters."""
        proofs = super().proofs(stored, spec, here, found)
        proofs = replace(proofs, movable=proofs.movable or len(clusters(spec)) > 1)
        if not proofs.spared or stored.status.replacement is None:
            return proofs
        return replace(proofs, spared=not template.asks_another(spec, self.order_of(stored)))

    def may_be_destroyed(self, stored: GpuVM) -> bool:
        """Whether the VM may be destroyed soon: as the base says, or since another one is to follow."""
        return super().may_be_destroyed(stored) or replaced_since(stored.status) is not None

    def watches(self, stored: GpuVM, spec: GpuVMSpec) -> Mapping[str, Identity]:
        """Watch the snapshots in the VM's VPC while the VM is deleted together with its snapshots, or needs a final one."""
        deleted = stored.meta.deleting and spec.deletion.snapshots is SnapshotPolicy.DELETE
        if not (deleted or self._final.is_required(stored)):
            return {}
        here = self.identity(self._tracker.with_placement(stored), spec)
        return {} if here is None else {"snapshots": here._replace(name=EVERYTHING)}

    def observe(self, stored: GpuVM, spec: GpuVMSpec, account: ResolvedAccount) -> Observed:
        """Observe the VM; ask for prices that are old."""
        if not stored.meta.deleting and account.session is not None:
            account.session.catalogue.refresh()
        return super().observe(stored, spec, account)

    def facts(self, stored: GpuVM, spec: GpuVMSpec, account: ResolvedAccount, common: dict[str, Any]) -> VmFacts:
        """Return the VM's facts without those that only a purchase needs."""
        objects = self._deps.objects
        facts = VmFacts(
            **common,
            configuration_in_use=adopting.configuration_in_use(common["found"], account),
            elsewhere=adopting.elsewhere(spec, account, common, partial(self._unclaimed.has_owner, stored.meta.uid)),
            known=names_for(objects, stored, spec, account, common["identity"]),
            image_snapshot=objects.snapshot_for(stored, spec),
            needs=() if stored.meta.deleting else tuple(needs.needs_of_vm(objects, stored, spec, account)),
            snapshots=self._snapshots(stored, spec, account, common["identity"]),
            final=self._final.facts(stored),
            reassert_seconds=self._publisher.reassert_seconds,
            said_to_buy=self._tracker.said(stored.meta, Annotation.BUY_ANYWAY),
            default_pool=account.defaults.resource_pool if account.defaults is not None else None,
        )
        if stored.meta.deleting or account.session is None:
            return facts
        catalogue = account.session.catalogue
        facts = self._waiting.with_line(with_prices(facts, catalogue, partial(self._usage, facts)), account.session)
        configuration = facts.configuration_in_use or current_offer(facts).configuration
        first = replacement.ordered_first(facts) if facts.asks_replacement else None
        other = None if first is None else catalogue.price_per_hour(first.configuration)
        return replace(facts, price_per_hour=catalogue.price_per_hour(configuration), replacement_price=other)

    def end_needless_search(self, facts: VmFacts, account: ResolvedAccount) -> None:
        """End the search for a VM that need not be looked for in other clusters any more."""
        self._unclaimed.end_old_search(facts, account)

    async def complete(self, facts: VmFacts, stored: GpuVM, account: ResolvedAccount) -> VmFacts:  # noqa: ARG002 - as above
        """Carry on the search in other clusters; add what it has found, lookalikes, and the order's needs."""
        facts = self._unclaimed.with_lookalikes(await with_order_needs(facts, self._deps), account)
        self._unclaimed.carry_on_search(facts, account)
        facts = self._unclaimed.with_strays(facts, account)
        return replace(self._waiting.with_those_before(facts, account.session), now=reading(self._deps.clock))

    def needs_completion(self, facts: VmFacts) -> bool:
        """As the base's; the needs of the new VM are known before an old one is destroyed for it, too."""
        return super().needs_completion(facts) or facts.replacement_is_planned

    def on_update(self, stored: GpuVM) -> None:
        """Update quota usage and the deletion guard's counts before any decision uses them."""
        super().on_update(stored)
        self._count_usage(stored)
        self._destructions.count(stored)

    def cleanups(self) -> tuple[Cleanup, ...]:
        """Return the steps of every kind, and those of a VM's counts."""
        return (*super().cleanups(), *cleanups_of_counts(self._quota_usage, self._deletion_guard, self._publisher))

    def follow_up(self, uid: str, plan: Plan[GpuVMStatus]) -> float | None:
        """Let the GpuVM wait in the line for capacity, or leave it, as the plan says."""
        if plan.status is not None:
            self._waiting.put(uid, plan.waits)
        return super().follow_up(uid, plan)

    def before_recording(self, uid: str, status: GpuVMStatus) -> None:
        """Count the VM against quotas from now on: it may be bought. One in deletion announces its final snapshot instead."""
        stored = self.store.get(uid)
        if stored is not None and stored.meta.deleting:
            self._final.announce(uid, status)
            return
        super().before_recording(uid, status)
        if stored is not None:
            self._count_usage(replace(stored, status=status))

    async def gather(self, stored: GpuVM) -> VmFacts | Unreadable[GpuVMStatus]:
        """Gather the base's facts after reading the release annotations of a held deletion; count the deletion by them."""
        await self._deletion_guard.refresh_releases(stored.meta.uid)
        facts = await super().gather(stored)
        if not isinstance(facts, VmFacts):
            return facts
        if facts.meta.deleting:
            facts = await self._final.complete(facts)
        self._count_deletion_by(facts)
        return facts

    def admit_deletion(self, facts: VmFacts) -> bool:
        """Count and check the destruction, without an await in between; return whether the deletion guard admits it."""
        uid = facts.meta.uid
        self._count_deletion_by(facts)
        if self._deletion_guard.hold(uid) is not None:
            return False
        self._deletion_guard.admit(uid)
        return True

    def decide_kind(self, facts: VmFacts) -> Plan[GpuVMStatus]:
        """Return the GpuVM's plan, from quota usage and deletion counts of this moment. Counts nothing itself."""
        if self._deletion_guard.on:
            facts = replace(facts, hold=self._deletion_guard.hold(facts.meta.uid))
        if self._quota_usage.on and not facts.meta.deleting:
            facts = replace(facts, usage=self._usage(facts))
        return decide(facts)

    async def act(self, facts: VmFacts | Unreadable[GpuVMStatus], plan: Plan[GpuVMStatus]) -> Event | None:
        """Send the plan's call, and count the VM again by its outcome; or change an object of the VM's namespace."""
        if isinstance(facts, VmFacts) and plan.action in {Verb.PUBLISH, Verb.WITHDRAW}:
            return await self._publisher.act(facts, plan, plan.action)
        if isinstance(facts, VmFacts) and plan.action is Verb.READ_BOOT_LOG:
            await self._read_boot_log(facts)
            return None
        if isinstance(facts, VmFacts) and plan.action is Verb.REQUEST_SNAPSHOT:
            return await self._final.request(facts)
        snapshots = snapshots_to_delete(facts) if isinstance(facts, VmFacts) and plan.action is Verb.DESTROY else ()
        event = await super().act(facts, plan)
        if event is not None and not event.warning and isinstance(facts, VmFacts):
            event = replace(event, note=with_names(event.note, snapshots) + still_published(facts, plan))
        if event is not None and isinstance(facts, VmFacts) and plan.action in {Verb.CREATE, Verb.START}:
            self._waiting.answered(facts, plan.action)
        if (stored := self.store.get(facts.meta.uid)) is not None:
            self._count_usage(stored)
        return event

    async def _read_boot_log(self, facts: VmFacts) -> None:
        """Record what the VM's boot log shows. No Event: Ready says so."""
        session = self._deps.accounts.resolve(facts.meta, facts.spec, facts.status).session
        if session is not None:
            trouble = await read_trouble(session.client, as_recorded(facts.found, facts.identity))
            self._tracker.record_reading(facts.meta.uid, Verb.READ_BOOT_LOG, facts.asked, trouble)

    def requests(self, facts: VmFacts, verb: Verb, targets: tuple[str, ...]) -> Iterator[Request]:
        """Yield the calls for this VM."""
        here = as_recorded(facts.found, facts.identity)
        where = {"namespace": here.vpc, "cluster": here.cluster}
        match verb:
            case Verb.CREATE:
                free = self._waiting.not_refused_to_others(facts)
                yield Request(calls.create_server(self._order(facts)), facts.identity.name, (free,))
            case Verb.START:
                free = self._waiting.not_refused_to_others(facts)
                yield Request(calls.start_server(id=here.name, **where), here.name, (free,))
            case Verb.STOP:
                yield Request(calls.stop_server(id=here.name, **where), here.name)
            case Verb.DESTROY:
                gone = snapshots_to_delete(facts)
                call = calls.destroy_server(id=here.name, **where, delete_snapshots=bool(gone) or None)
                final = has_final(facts, self._newest_snapshots)
                failed = still_failed(facts, partial(self._newest, facts))
                yield Request(call, here.name, (self._deletable(facts, gone), final, failed))
            case Verb.CREATE_SNAPSHOT:
                for name in targets:
                    absent = unlisted(facts, name, self._newest_snapshots)
                    yield Request(calls.create_snapshot(name=name, source_vm_name=here.name, **where), name, (absent,))
            case Verb.DELETE_SNAPSHOT:
                for name in targets:
                    yield Request(
                        calls.delete_snapshot(id=name, **where), name, (self._deletable(facts, (name,)),), one_of_several=True
                    )

    def placement(self, facts: VmFacts, answer: VmRecord) -> Placement:
        """Return what the answer says of where the VM is."""
        return placement_from_answer(facts.identity, answer.id, answer.cluster, answer.namespace)

    def _deletable(self, facts: VmFacts, snapshots: tuple[str, ...]) -> Precondition:
        return may_be_deleted(facts, snapshots, partial(self.store.get, facts.meta.uid), self._deps.objects)

    def _newest(self, facts: VmFacts) -> Observation[VmRecord]:
        """Return what the newest listing shows of the VM."""
        session = self._deps.accounts.resolve(facts.meta, facts.spec, facts.status).session
        if session is None:
            return Unknown(facts.now.mono, UnknownReason.NO_ACCOUNT)
        return session.inventories[self.inventory_name].observe(facts.identity)

    def _newest_snapshots(self, facts: VmFacts) -> SnapshotsOfVm | Unknown | None:
        """Return what the newest listing shows, of the newest view of the object."""
        stored = self.store.get(facts.meta.uid)
        if stored is None or stored.spec is None:
            return None
        return self._snapshots(stored, stored.spec, self.account(stored, stored.spec), facts.identity)

    def _targets(self, stored: GpuVM) -> Iterator[Target]:
        """Yield the base's targets, and the GpuSnapshot that takes the final snapshot: each change of it wakes the VM."""
        yield from super()._targets(stored)
        taker = self._final.taker_name(stored)
        if taker is not None:
            yield Target(gpusnapshot.KIND, stored.meta.namespace, taker)

    def _count_deletion_by(self, facts: VmFacts) -> None:
        """Count the deletion of the newest view, by what its facts show."""
        if (stored := self.store.get(facts.meta.uid)) is not None:
            self._destructions.count(stored, facts.is_present and facts.ours, facts.configuration_in_use)

    def _count_usage(self, stored: GpuVM) -> None:
        """Count this object's VM against quotas if it is, or may be, bought.

        A VM whose order was refused stays counted, since the order may be repeated without another quota check.
        """
        meta, spec, status = stored.meta, stored.spec, stored.status
        if not self._quota_usage.on:
            return
        if spec is None or not orders.uses_quota(self.order_of(stored)):
            self._quota_usage.drop(meta.uid)
            return
        account = self._deps.accounts.name_for(meta, spec, status)
        configuration, price = ordered_configuration(spec, self.order_of(stored)), dollars(status.price_per_hour)
        self._quota_usage.put(meta.uid, QuotaItem(meta.namespace, account, configuration, price))

    def _usage(self, f: VmFacts) -> tuple[Usage, ...]:
        account = self._deps.accounts.resolve(f.meta, f.spec, f.status)
        price_of = (lambda _name: None) if account.session is None else account.session.catalogue.price_per_hour
        return self._quota_usage.usage(f.meta.uid, f.meta.namespace, f.account.name, price_of)

    def _order(self, facts: VmFacts) -> CreateServer:
        account = self._deps.accounts.resolve(facts.meta, facts.spec, facts.status)
        spec = with_offer(facts.spec, current_offer(facts))
        return create_server_request(facts.identity, spec, facts.keys, snapshot=facts.image_snapshot, defaults=account.defaults)

    def _snapshots(
        self, stored: GpuVM, spec: GpuVMSpec, account: ResolvedAccount, here: Identity
    ) -> SnapshotsOfVm | Unknown | None:
        """Return the VM's snapshots and which of them may be deleted with it; None unless the deletion asks for it."""
        if "snapshots" not in self.watches(stored, spec) or account.session is None:
            return None
        return snapshots_of_vm(self._deps.objects, account.session, stored, here)
