"""Reconciler of GpuHosts: observes hosts, and sends what a person requests, each request at most once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.engine.cache.claims import Claim
from gpucloud.engine.cache.references import Target
from gpucloud.engine.cloud import observation
from gpucloud.engine.cloud.watches import Watches
from gpucloud.engine.kinds import cleanups, request, sharing
from gpucloud.engine.kinds.cleanups import Cleanup, clean_up
from gpucloud.engine.kinds.gpuhost import cloud_init
from gpucloud.engine.kinds.gpuhost.sending import EVENTS, preconditions, request_of
from gpucloud.engine.kinds.order_tracking import OrderTracker
from gpucloud.engine.kinds.ownership import Ownership
from gpucloud.engine.kube.events import Event
from gpucloud.engine.runtime.clock import reading
from gpucloud.engine.runtime.workqueue import Key
from gpucloud.kinds.common import DEFAULT_ACCOUNT, OWN_ACCOUNT
from gpucloud.kinds.gpucloudaccount import KIND as ACCOUNT
from gpucloud.kinds.gpuhost import KIND, PLURAL, GpuHostSpec, GpuHostStatus
from gpucloud.kinds.meta import Annotation
from gpucloud.reconcile import unreadable
from gpucloud.reconcile.facts import ListingPace, Unknown, UnknownReason
from gpucloud.reconcile.gpuhost import HostFacts, decide, identity
from gpucloud.reconcile.gpuhost.facts import announcement
from gpucloud.reconcile.gpuhost.requests import needs_cloud_init
from gpucloud.reconcile.unreadable import Unreadable

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import TypeAlias

    from gpucloud.cloud.models import HostRecord
    from gpucloud.engine.cache.store import CachedObject, Store
    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.cloud.accounts import ResolvedAccount
    from gpucloud.engine.kinds.deps import ReconcilerDeps
    from gpucloud.reconcile.facts import Observation, Refusal, Verb
    from gpucloud.reconcile.gpuhost.facts import Announcement
    from gpucloud.reconcile.naming import Identity
    from gpucloud.reconcile.plan import Plan

    GpuHost: TypeAlias = CachedObject[GpuHostSpec, GpuHostStatus]
    Facts: TypeAlias = HostFacts | Unreadable[GpuHostStatus]


@dataclass(slots=True)
class _Own:
    """What this process announced last; a part of an object's entry, which a restart loses."""

    announced: Announcement | None = None


class GpuHostReconciler:
    """Reconciler of GpuHosts."""

    kind = KIND
    plural = PLURAL
    inventory_name = "hosts"

    def __init__(self, deps: ReconcilerDeps, store: Store[GpuHostSpec, GpuHostStatus]) -> None:
        self.store = store
        self._deps = deps
        self._tracker = OrderTracker(deps.clock, store.entries)
        self._ownership = Ownership(self.kind, store, deps.accounts, deps.objects.tag, self._tracker, is_seen)
        self._watches = Watches()

    def on_update(self, stored: GpuHost) -> None:
        """Update the object's reference to its account, its claim and its watch."""
        key, spec = self._key(stored), stored.spec
        self._tracker.begin(key.uid)
        self._tracker.note_said(stored.meta)
        named = None if spec is None or spec.account_ref is None else spec.account_ref.name
        account = named or stored.status.account or DEFAULT_ACCOUNT
        self._deps.references.put(key, [Target(ACCOUNT, stored.meta.namespace, account)])
        if spec is not None:
            self._claim_and_watch(stored, spec)

    def needs_finalizer(self, stored: GpuHost) -> bool:  # noqa: ARG002 - as of other kinds
        """Whether the object is to be given our finalizer: nothing is destroyed with a GpuHost."""
        return False

    def awaits_first_listing(self, stored: GpuHost) -> bool:  # noqa: ARG002 - as of other kinds
        """Whether a listing is to wake it: the first reconcile requests one."""
        return False

    def defer_to_listing(self, stored: GpuHost) -> None:
        """Do nothing: it awaits none."""

    async def gather(self, stored: GpuHost) -> Facts:
        """Observe the host; read the cloud-init if a reprovisioning may be sent.

        Raises:
            KubeError: the apiserver did not answer.
        """
        spec = stored.spec
        if spec is None:
            return Unreadable(reading(self._deps.clock), self.kind, stored.meta, stored.status, stored.flaw)
        await self._deps.default_accounts.settle(stored)
        self._claim_and_watch(stored, spec)  # the account may have changed
        account = self._account(stored, spec)
        request.remember(self.store.entries, stored, account.session)
        facts = self._facts(stored, spec, account)
        source = None if spec.reprovision is None else spec.reprovision.cloud_init_secret_ref
        if source is None or stored.meta.deleting or not needs_cloud_init(facts):
            return facts
        return replace(facts, cloud_init=await cloud_init.read(self._deps.kube, stored.meta.namespace, source))

    def decide(self, facts: Facts) -> Plan[GpuHostStatus]:
        """Return the pure core's plan. A query."""
        return unreadable.decide(facts) if isinstance(facts, Unreadable) else decide(facts)

    async def act(self, facts: Facts, plan: Plan[GpuHostStatus]) -> Event | None:
        """Send the plan's call, record its outcome, and return the Event to record; None if no call was sent."""
        verb = plan.action
        if isinstance(facts, Unreadable) or verb is None:
            raise TypeError("nothing is sent for a spec that cannot be read")
        gathered = self.store.entries.part(facts.meta.uid, request.Gathered)
        stored, session, refusal = gathered.stored, gathered.session, None
        if stored is None or session is None or self._account(stored, facts.spec).session is not session:
            return None
        try:
            await self._send(session, stored, facts, plan, verb)
        except CloudError as error:
            if error.kind is ErrorKind.WITHDRAWN:
                return None
            refusal = request.refusal_of(error)
        except (Exception, asyncio.CancelledError) as error:  # also when this task is cancelled: the call may have left
            self._record(facts, plan, verb, request.refusal_of(error))
            raise
        self._record(facts, plan, verb, refusal)
        done, note, failed = EVENTS[verb]
        if refusal is not None:
            return Event(failed, f"{verb} of host {facts.spec.host_id!r} failed: {refusal.message}", verb, warning=True)
        return Event(done, note.format(name=repr(facts.spec.host_id)), verb, always=True)

    def has_delayed_effect(self, stored: GpuHost, verb: Verb) -> bool:  # noqa: ARG002 - as of other kinds
        """Whether a call's effect shows later, and nothing is to be recorded before: its answer is."""
        return False

    def before_recording(self, uid: str, status: GpuHostStatus) -> None:
        """Note that this process announces the operation, so that it may send it afterwards."""
        if status.operation is not None:
            self.store.entries.part(uid, _Own).announced = announcement(status.operation)

    def follow_up(self, uid: str, plan: Plan[GpuHostStatus]) -> float | None:
        """Request the listings that the plan waits for; return when to reconcile if the cache has them already."""
        if plan.action is None:
            request.forget(self.store.entries, uid)
        return self._watches.follow(uid, pending=plan.pending, listed_after=plan.refresh_after, now=self._deps.clock.mono())

    def on_delete(self, key: Key) -> None:
        """Remove a deleted object; nothing is sent. Another object of the same host may own it now."""
        clean_up(self.cleanups(), key)

    def cleanups(self) -> tuple[Cleanup, ...]:
        """Return what is done once an object was deleted, in order. Nothing waits for a host."""
        return (
            cleanups.claim(self._ownership, self._deps.wake),
            cleanups.watches(self._watches),
            cleanups.references(self._deps.references),
        )

    def cluster_of(self, uid: str) -> str:
        """Return the cluster of the host, casefolded; empty while it is unknown. A query without I/O."""
        return self._ownership.cluster_of(uid)

    def expected(self, session: AccountSession, cluster: str, shown: Collection[Identity] = ()) -> set[Identity]:
        """Return the identities that a listing of this cluster should contain: hosts that a listing has shown.

        ``shown`` are records that listings of this session have shown, whichever credential an object uses now.
        """
        watched = self._watches.within(session, self.inventory_name, cluster)
        return self._ownership.expected(watched, session.url, shown, self._has_seen)

    def watchers_of(self, session: AccountSession) -> list[str]:
        """Return the UIDs of the objects that watch an inventory of this session."""
        return self._watches.watchers_of(session)

    def _has_seen(self, uid: str) -> bool:
        stored = self.store.get(uid)
        return stored is not None and is_seen(stored)

    def _account(self, stored: GpuHost, spec: GpuHostSpec) -> ResolvedAccount:
        return self._deps.accounts.resolve(stored.meta, spec, stored.status)

    def _claim_and_watch(self, stored: GpuHost, spec: GpuHostSpec) -> None:
        """Claim and watch the host with the account that the object uses now; without a session, or isolated, neither."""
        uid, here, account = stored.meta.uid, identity(spec), self._account(stored, spec)
        session, isolated = account.session, self._is_isolated(account)
        if session is None:
            self._watches.put(uid, {})
            return
        released = self._ownership.drop(uid) if isolated else self._ownership.put(uid, Claim(session.url, here))
        for other in sorted(released):
            self._deps.wake(other)  # its Conflict may be over
        self._watches.put(uid, {} if isolated else {(session, self.inventory_name): here})

    def _is_isolated(self, account: ResolvedAccount) -> bool:
        return account.session is not None and sharing.is_isolated(self._deps.objects, account)

    def _facts(self, stored: GpuHost, spec: GpuHostSpec, account: ResolvedAccount) -> HostFacts:
        deps, meta, session = self._deps, stored.meta, account.session
        return HostFacts(
            now=reading(deps.clock),
            meta=meta,
            spec=spec,
            status=stored.status,
            found=self._find(stored, spec, account),
            history=self._tracker.history(meta.uid),
            limits=deps.limits,
            account=account.facts,
            isolated=self._is_isolated(account),
            owner=self._ownership.owner(meta.uid),
            synced=deps.synced(),
            listing_pace=ListingPace() if session is None else session.listing_pace(spec.cluster),
            announced=self.store.entries.part(meta.uid, _Own).announced,
        )

    def _find(self, stored: GpuHost, spec: GpuHostSpec, account: ResolvedAccount) -> Observation[HostRecord]:
        """Return what the listings show of the host."""
        deps, now = self._deps, self._deps.clock.mono()
        if not deps.synced() and account.facts.name == OWN_ACCOUNT and stored.status.account is None:
            return Unknown(now, UnknownReason.NOT_LISTED)  # the end of the first lists wakes all objects
        if self._is_isolated(account):
            return Unknown(now, UnknownReason.NOT_LISTED)  # what others list of the host is not shown here
        if account.session is None:
            return account.unknown or Unknown(now, UnknownReason.NO_ACCOUNT)
        accepted = self._tracker.said(stored.meta, Annotation.ACCEPT_ABSENCE)
        sought = observation.Sought(identity(spec), accepted, stored.status.tenancy)
        return observation.observe(account.session, (KIND, self.inventory_name), stored, account, sought, deps.clock)

    async def _send(
        self, session: AccountSession, stored: GpuHost, facts: HostFacts, plan: Plan[GpuHostStatus], verb: Verb
    ) -> None:
        """Send the call through the port.

        Raises:
            CloudError: as ``request.send``.
        """
        done, _, failed = EVENTS[verb]
        purpose = request.purpose_of(KIND, stored, plan, (done, failed))
        common = tuple(preconditions(self.store, self._ownership, stored, plan))
        await request.send(session.writes, [request_of(facts, verb)], purpose, common)

    def _record(self, facts: HostFacts, plan: Plan[GpuHostStatus], verb: Verb, refusal: Refusal | None) -> None:
        self._tracker.record_call(facts.meta.uid, verb, facts.asked, refusal, plan.targets)

    def _key(self, stored: GpuHost) -> Key:
        return Key(KIND, stored.meta.namespace, stored.meta.name, stored.meta.uid)


def is_seen(stored: GpuHost) -> bool:
    """Whether status records the host: only the object that owned it then was shown its record."""
    return stored.status.host_id is not None
