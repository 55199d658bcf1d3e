"""Base reconciler of GpuVM, GpuVpc and GpuSnapshot: gathers facts, sends calls, keeps claims, watches and orders.

``CloudKind`` is what the reconciler of a kind adds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.engine.cache.claims import Claim
from gpucloud.engine.cache.references import Target
from gpucloud.engine.cloud.watches import Watches
from gpucloud.engine.kinds import cleanups, request, sharing
from gpucloud.engine.kinds.account_choice import AccountChoice
from gpucloud.engine.kinds.cleanups import Cleanup, clean_up
from gpucloud.engine.kinds.cloud_kind import CloudKind, F, P, S
from gpucloud.engine.kinds.dependents import deletable
from gpucloud.engine.kinds.indexes import Deleting
from gpucloud.engine.kinds.observing import Observed, Observer
from gpucloud.engine.kinds.order_tracking import OrderTracker
from gpucloud.engine.kinds.ownership import Ownership
from gpucloud.engine.kinds.preconditions import Preconditions
from gpucloud.engine.kinds.searches import Searches
from gpucloud.engine.kinds.sending import Sender
from gpucloud.engine.runtime.clock import reading
from gpucloud.engine.runtime.workqueue import Key
from gpucloud.kinds.common import DEFAULT_ACCOUNT, Adoption, OrderState
from gpucloud.kinds.gpucloudaccount import KIND as ACCOUNT
from gpucloud.reconcile import adoption, naming, unreadable
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.conditions import is_ready
from gpucloud.reconcile.continuity import Likeness
from gpucloud.reconcile.core import steps
from gpucloud.reconcile.core.create import is_free
from gpucloud.reconcile.core.plan_status import keep_record
from gpucloud.reconcile.evidence import Proofs
from gpucloud.reconcile.facts import ListingPace, Present, Verb
from gpucloud.reconcile.naming import Identity
from gpucloud.reconcile.placement import claimed_identity
from gpucloud.reconcile.unreadable import Unreadable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from gpucloud.engine.cache.store import CachedObject, Store
    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.cloud.accounts import ResolvedAccount
    from gpucloud.engine.kinds.deps import ReconcilerDeps
    from gpucloud.engine.kube.events import Event
    from gpucloud.kinds.common import Order
    from gpucloud.reconcile.facts import Observation
    from gpucloud.reconcile.plan import Plan


class CloudReconciler(CloudKind[P, S, F]):
    """Reconciler of the objects of one kind that stand for a cloud resource."""

    def __init__(self, deps: ReconcilerDeps, store: Store[P, S]) -> None:
        self.store = store
        self._deps = deps
        self._tracker = OrderTracker(deps.clock, store.entries)
        self._ownership = Ownership(self.kind, store, deps.accounts, deps.objects.tag, self._tracker)
        self._preconditions = Preconditions(store, self._ownership, deps.accounts, self._tracker, self.dependents)
        self._watches = Watches()
        self._choice = AccountChoice(self, deps, self._tracker)
        self._searches = Searches(self.inventory_name, store.entries)
        self._observer = Observer(self, deps, self._tracker, self._searches)
        self._sender = Sender(self, deps, self._tracker, self._preconditions, self._watches)

    def account(self, stored: CachedObject[P, S], spec: P) -> ResolvedAccount:
        """Return the account with which the object's resource is looked for and acted upon now. A query."""
        return self._choice.account(stored, spec)

    def observe(self, stored: CachedObject[P, S], spec: P, account: ResolvedAccount) -> Observed:
        """Take in what status and listings say of the object's resource; return what is known now."""
        return self._observer.observe(stored, spec, account)

    def proofs(self, stored: CachedObject[P, S], spec: P, here: Identity, found: Observation[Any]) -> Proofs:
        """Return the proofs that a record is this object's resource. A resource that another object claims is not adopted."""
        marked = not self.chooses_name(spec) and naming.proves(here.name, stored.meta.uid)
        adoptable = self._may_adopt(stored, spec, here) and self._ownership.owner(stored.meta.uid) is None
        grace = self._deps.limits.grace
        likeness = Likeness.UNKNOWN
        if isinstance(found, Present) and self._tracker.is_described(stored.meta.uid, stored.status.order):
            likeness = self.likeness(stored.status, found.record)
        return Proofs(
            marked,
            adoptable,
            here,
            grace,
            unique_id=self.subject.unique_id,
            uid=stored.meta.uid,
            likeness=likeness,
            markable=self.subject.markable,
            spared=isinstance(found, Present) and not stored.meta.deleting and not self.subject.is_failed(found.record),
            movable=stored.meta.may_be_edited,
        )

    def _may_adopt(self, stored: CachedObject[P, S], spec: P, here: Identity) -> bool:
        """Whether the spec asks for adoption, and nothing forbids it. Before the first sync others may claim it unseen."""
        if spec.adoption is Adoption.NEVER or stored.meta.deleting or not self._deps.synced():
            return False
        return sharing.adoption(self._deps.objects, spec, self.subject, here.name, self.account(stored, spec)) is None

    def on_update(self, stored: CachedObject[P, S]) -> None:
        """Update the object's references, claim and watches; wake the objects that depend on it."""
        key = self._key(stored)
        self._tracker.begin(key.uid)
        self._tracker.note_said(stored.meta)
        if not stored.meta.has_finalizer and not stored.meta.deleting and stored.status.order is None:
            self._tracker.mark_new(key.uid)
        self._deps.references.put(key, self._targets(stored))
        if stored.spec is not None:
            self.claim_and_watch(stored, stored.spec)
        if self.needs_finalizer(stored):
            for inventory in self._watches.inventories(key.uid):  # the listing that a creation needs comes meanwhile
                inventory.expect_change(key.uid, pending=True)
                inventory.list_after(key.uid, self._tracker.history(key.uid).first_seen)
        self._wake_dependents(key)

    def needs_finalizer(self, stored: CachedObject[P, S]) -> bool:
        """Whether the object is to be given our finalizer."""
        return steps.awaits_finalizer(stored.meta, self._deps.limits)

    def awaits_first_listing(self, stored: CachedObject[P, S]) -> bool:
        """Whether the listing that a new object needs is about to come. A query.

        Before that listing nothing can be decided, and a reconcile would only ask for it.
        """
        uid, history = stored.meta.uid, self._tracker.history(stored.meta.uid)
        new = history.seen_new and not stored.meta.deleting and self._tracker.latest(uid) is None
        return new and self._watches.awaits_listing(uid, history.first_seen)

    def defer_to_listing(self, stored: CachedObject[P, S]) -> None:
        """Let the listing that a new object needs wake it."""
        self._watches.refresh_after(stored.meta.uid, self._tracker.history(stored.meta.uid).first_seen)

    def claim_and_watch(self, stored: CachedObject[P, S], spec: P) -> None:
        """Claim and watch the object's resource with the account that the object uses now."""
        uid, here, both = stored.meta.uid, self._choice.identity(stored, spec), self._choice.sessions(stored, spec)
        session = self.account(stored, spec).session or next(iter(both), None)
        claimed = claimed_identity(self.order_of(stored), here)
        if session is None or here is None:
            if claimed is not None and self._ownership.of(uid) is None and orders.may_exist(stored.order):
                self._ownership.put(uid, Claim("", claimed))
            self._watches.put(uid, {})
            return
        for other in sorted(self._ownership.put(uid, Claim(session.url, claimed or here))):
            self._deps.wake(other)  # its Conflict may be over
        wanted = {(one, self.inventory_name): here for one in (session, *both)}
        self._watches.put(uid, wanted | {(session, name): there for name, there in self.watches(stored, spec).items()})

    async def gather(self, stored: CachedObject[P, S]) -> F | Unreadable[S]:
        """Observe the object's resource, then return the facts for the decision.

        The apiserver is asked only for the account of an object that has none yet, and for what an order needs:
        ``needs_completion``.

        Raises:
            KubeError: the apiserver did not answer.
        """
        if stored.spec is None:
            return Unreadable(reading(self._deps.clock), self.kind, stored.meta, stored.status, stored.flaw)
        spec = stored.spec
        await self._deps.default_accounts.settle(stored)
        self.claim_and_watch(stored, spec)  # the referenced objects may have changed
        while True:
            account = self.account(stored, spec)
            request.remember(self.store.entries, stored, account.session)
            facts = self._observed_facts(stored, spec, account)
            if facts.meta.deleting or not self.needs_completion(facts):
                return facts
            facts = await self.complete(facts, stored, account)
            if self.account(stored, spec) == account:  # else the account was deleted or changed its credential meanwhile
                return facts

    def needs_completion(self, facts: F) -> bool:
        """Whether the facts lack what only an order needs: the resource does not exist, and its name is free."""
        return not (facts.seen and not facts.recreates) and is_free(facts)

    def _observed_facts(self, stored: CachedObject[P, S], spec: P, account: ResolvedAccount) -> F:
        """Observe the resource, and return the facts after that; end a search that they do not need."""
        seen = self.observe(stored, spec, account)
        facts = self.facts(stored, spec, account, self._common(stored, spec, account, seen))
        self.end_needless_search(facts, account)
        why = sharing.adoption(self._deps.objects, spec, self.subject, facts.identity.name, account)
        return facts if why is None else adoption.without(facts, why)

    def decide(self, facts: F | Unreadable[S]) -> Plan[S]:
        """Return the pure core's plan. A query."""
        if isinstance(facts, Unreadable):
            return unreadable.decide(facts)
        return keep_record(facts, adoption.refused(facts) or self.decide_kind(facts))

    async def act(self, facts: F | Unreadable[S], plan: Plan[S]) -> Event | None:
        """Send the plan's call, record its outcome, and return the Event to record; None if no call was sent.

        No call is sent if its precondition fails, or if the account changed its session since the facts were gathered.
        """
        if isinstance(facts, Unreadable) or plan.action is None:
            raise TypeError("nothing is sent for a spec that cannot be read")
        return await self._sender.act(facts, plan, plan.action)

    def before_recording(self, uid: str, status: S) -> None:
        """Note the new order's record before status is written, so that this process may act on it afterwards."""
        if status.order is not None:
            self._tracker.record_order(uid, status.order)

    def has_delayed_effect(self, stored: CachedObject[P, S], verb: Verb) -> bool:
        """Whether a call that the cloud has just accepted leaves nothing to be done, nor recorded, before its effect shows."""
        known = self._tracker.latest(stored.meta.uid)
        recorded = known is None or not orders.is_urgent(stored.status.order, known.order, stored.meta.uid)
        return verb in self.delayed_verbs and recorded

    def cluster_of(self, uid: str) -> str:
        """Return the cluster of the object's resource, casefolded; empty while it is unknown. A query without I/O."""
        return self._ownership.cluster_of(uid)

    def order_of(self, stored: CachedObject[P, S]) -> Order | None:
        """Return the order as this process knows it, which is ahead of status; else the order in status."""
        known = self._tracker.latest(stored.meta.uid)
        return stored.order if known is None or known.order is None else known.order

    def follow_up(self, uid: str, plan: Plan[S]) -> float | None:
        """Do what follows from a plan beside its write and its call: note it, and request the listings that it waits for.

        Return when to reconcile (mono) if the caches have those listings already.
        """
        if plan.action is None:
            request.forget(self.store.entries, uid)
        if plan.status is not None:
            self._tracker.announce(uid, plan.status.order, destroys=plan.action is self.subject.destroy)
        if plan.status is not None and is_ready(plan.status.conditions):
            self._tracker.reset_power_calls(uid)
        if plan.release is not None:
            self._tracker.mark_released(uid)
        return self._watches.follow(uid, pending=plan.pending, listed_after=plan.refresh_after, now=self._deps.clock.mono())

    def observe_last(self, body: Mapping[str, Any]) -> F | None:
        """Take in the last view of an object, from its DELETED event; return its facts, None if its spec is unreadable."""
        self.store.put(body)
        stored = self.store.get(body["metadata"]["uid"])
        if stored is None or stored.spec is None:
            return None
        account = self.account(stored, stored.spec)
        return self._observed_facts(stored, stored.spec, account)

    def on_delete(self, key: Key) -> None:
        """Remove a deleted object; wake the objects that waited for it."""
        clean_up(self.cleanups(), key)

    def cleanups(self) -> tuple[Cleanup, ...]:
        """Return what is done once an object was deleted, in order; a kind may add steps."""
        return (
            cleanups.claim(self._ownership, self._deps.wake),
            cleanups.watches(self._watches),
            Cleanup(
                "dependents", "they would wait on; its references, dropped next, say which they are", self._wake_dependents
            ),
            cleanups.references(self._deps.references),
            Cleanup("VPCs", "they would wait on for what was in them", self._wake_deleted_vpcs),
        )

    def watchers_of(self, session: AccountSession) -> list[str]:
        """Return the UIDs of the objects that watch an inventory of this session."""
        return self._watches.watchers_of(session)

    def _common(self, stored: CachedObject[P, S], spec: P, account: ResolvedAccount, seen: Observed) -> dict[str, Any]:
        meta, here, session = stored.meta, seen.identity, account.session
        needing = tuple(self.dependents(stored, spec)) if self.may_be_destroyed(stored) else ()
        return {
            "now": seen.now,
            "meta": meta,
            "spec": spec,
            "status": stored.status,
            "identity": here or Identity("", "", ""),
            "found": seen.found,
            "history": self._tracker.history(meta.uid),
            "tracked": seen.tracked,
            "limits": self._deps.limits,
            "account": account.facts,
            "account_undecided": self._choice.is_undecided(stored, spec, account),
            "owner": self._ownership.owner(meta.uid),
            "dependents": tuple(map(str, needing)),
            "dependents_to_delete": deletable(needing),
            "synced": self._deps.synced(),
            "may_adopt": not sharing.is_isolated(self._deps.objects, account),
            "listing_pace": ListingPace() if session is None or here is None else session.listing_pace(here.cluster),
            "nonce": seen.nonce,
            "unsearched": seen.unsearched,
            "seen_tenancy": self._tracker.tenancy(meta.uid),
        }

    def _targets(self, stored: CachedObject[P, S]) -> Iterator[Target]:
        """Yield the account and the objects that an object refers to."""
        spec, namespace = stored.spec, stored.meta.namespace
        named = None if spec is None or spec.account_ref is None else spec.account_ref.name
        account = named or stored.status.account or (None if spec is None else DEFAULT_ACCOUNT)
        if account is not None:
            yield Target(ACCOUNT, namespace, account)
        for kind, name in self.references(spec) if spec is not None else ():
            yield Target(kind, namespace, name)

    def _key(self, stored: CachedObject[P, S]) -> Key:
        return Key(self.kind, stored.meta.namespace, stored.meta.name, stored.meta.uid)

    def _wake_dependents(self, key: Key) -> None:
        """Wake the dependents of this object, and the objects it refers to whose deletion waits for it."""
        references = self._deps.references
        for other in sorted(references.dependents(Target(key.kind, key.namespace, key.name))):
            self._deps.queue(other)
        for target in sorted(references.targets(key)):
            needed = self._deps.objects.find(target)
            if needed is not None and needed.meta.deleting:
                self._deps.wake(needed.meta.uid)

    def _wake_deleted_vpcs(self, _key: Key) -> None:
        for vpc in self._deps.objects.vpcs.indexed(Deleting()):
            self._deps.wake(vpc.meta.uid)

    def expected(self, session: AccountSession, cluster: str, shown: Collection[Identity] = ()) -> set[Identity]:
        """Return the identities that a listing of this cluster should contain: resources in state Seen.

        ``shown`` are records that listings of this session have shown. Whichever credential an object uses, its resource
        should go on being shown here.
        """
        watched = self._watches.within(session, self.inventory_name, cluster)
        return self._ownership.expected(watched, session.url, shown, self._has_seen)

    def _has_seen(self, uid: str) -> bool:
        """Whether a listing has shown the resource of this object."""
        stored = self.store.get(uid)
        order = None if stored is None else self.order_of(stored)
        if stored is None or order is None or order.state is not OrderState.SEEN:
            return False
        written = stored.order is not None or stored.spec is None
        return written or not self._choice.sessions(stored, stored.spec)  # else it is in one of two accounts
