"""What the rooms of GpuVM, GpuVpc and GpuSnapshot share: facts gathered, calls sent, claims, watches, memories.

A kind's room says where its object is to be looked for, what else it watches, which facts are its own, and how its calls
are sent.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.engine.cache.claims import Claim, Claims
from gpucloud.engine.cache.references import Target
from gpucloud.engine.cloud import observation, precondition
from gpucloud.engine.cloud.inventory import LEAST_SPACING_SECONDS
from gpucloud.engine.cloud.watches import Watching
from gpucloud.engine.kinds import dependencies
from gpucloud.engine.kinds.order_tracking import DESTROYS, OrderTracker
from gpucloud.engine.kube.events import Event
from gpucloud.engine.runtime.clock import reading
from gpucloud.engine.runtime.workqueue import Key
from gpucloud.kinds.common import OWN_ACCOUNT, Adoption, CloudSpec, CloudStatus, OrderState, Origin
from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.reconcile import naming, placement, retry, unreadable
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.core import failed
from gpucloud.reconcile.core.facts import CloudFacts, Subject
from gpucloud.reconcile.facts import CREATES, Absent, Present, Refusal, Unknown, UnknownReason, Verb
from gpucloud.reconcile.naming import Identity
from gpucloud.reconcile.order import Proofs
from gpucloud.reconcile.placement import Placed
from gpucloud.reconcile.unreadable import Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpucloud.engine.cache.references import References
    from gpucloud.engine.cache.store import CachedObject, Store
    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.cloud.accounts import Accounts, ResolvedAccount
    from gpucloud.engine.cloud.inventory import Inventory
    from gpucloud.engine.kinds.dependencies import Listers
    from gpucloud.engine.kube.client import KubeClient
    from gpucloud.engine.kube.namespaces import Namespaces
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.engine.runtime.entropy import Entropy
    from gpucloud.kinds.common import Order
    from gpucloud.reconcile.facts import Limits, Observation
    from gpucloud.reconcile.order import Standing
    from gpucloud.reconcile.plan import Plan

P = TypeVar("P", bound=CloudSpec)
S = TypeVar("S", bound=CloudStatus)
F = TypeVar("F", bound=CloudFacts[Any, Any, Any])

NOWHERE = Identity("", "", "")


@dataclass(frozen=True, slots=True)
class ReconcilerDeps:
    """What every room works with."""

    accounts: Accounts
    objects: Listers
    references: References
    kube: KubeClient
    namespaces: Namespaces
    clock: Clock
    limits: Limits
    synced: Callable[[], bool]
    wake: Callable[[str], None]  # by UID
    queue: Callable[[Key], None]
    entropy: Entropy


class CloudReconciler(ABC, Generic[P, S, F]):
    """Gathers facts, sends calls, and remembers, for the objects of one kind."""

    kind: ClassVar[str]
    plural: ClassVar[str]
    holds: ClassVar[str]  # which inventory of a session shows its things
    subject: ClassVar[Subject]
    done: ClassVar[Mapping[Verb, tuple[Reason, str]]]  # the event of a call that was carried out; {name} is the thing's
    failed: ClassVar[Mapping[Verb, Reason]]

    def __init__(self, tools: ReconcilerDeps, store: Store[P, S]) -> None:
        self.store = store
        self._tools = tools
        self._tracker = OrderTracker(tools.clock)
        self._claims = Claims(self._rank, self._tenants)
        self._watching = Watching()
        self._looked: dict[str, AccountSession | None] = {}  # through which the facts of the pass under way were seen

    @abstractmethod
    def identity(self, stored: CachedObject[P, S], spec: P) -> Identity | None:
        """Where to look for it; None while nobody can say."""

    def watches(self, stored: CachedObject[P, S], spec: P) -> Mapping[str, Identity]:  # noqa: ARG002 - a kind may need them
        """What else it must see, by inventory."""
        return {}

    @abstractmethod
    def facts(self, stored: CachedObject[P, S], spec: P, seat: ResolvedAccount, common: dict[str, Any]) -> F:
        """The kind's facts round the common ones. No I/O."""

    async def complete(self, facts: F, stored: CachedObject[P, S], seat: ResolvedAccount) -> F:  # noqa: ARG002 - as above
        """What only something that is yet to be created needs to know; may read from the apiserver."""
        return facts

    @abstractmethod
    def decided(self, facts: F) -> Plan[S]:
        """The kind's decision."""

    def proofs(self, stored: CachedObject[P, S], spec: P, here: Identity, found: Observation[Any]) -> Proofs:
        """What makes an observation count for this object. What another object stands for is not adopted."""
        marked = not self.chooses_name(spec) and naming.proves(here.name, stored.meta.uid)
        adoptable = getattr(spec, "adoption", Adoption.NEVER) is not Adoption.NEVER and self._owner(stored.meta.uid) is None
        grace = self._tools.limits.grace
        same = not isinstance(found, Present) or self.is_same(stored.status, found.record)
        return Proofs(marked, adoptable, here, grace, unique_id=self.subject.unique_id, uid=stored.meta.uid, same=same)

    @abstractmethod
    def is_same(self, status: S, record: Any) -> bool | None:
        """Whether a record under a chosen name shows what the status shows, or something else; None: nobody can say."""

    @abstractmethod
    def chooses_name(self, spec: P) -> bool:
        """Whether the owner chose the name in the cloud."""

    @abstractmethod
    def wanted(self, stored: CachedObject[P, S], spec: P) -> Identity | None:
        """What the spec asks for; None while nobody can say."""

    @abstractmethod
    async def send(self, session: AccountSession, facts: F, verb: Verb, targets: tuple[str, ...]) -> Placed | None:
        """Send one call; of an order it answers what the acceptance names.

        Raises:
            CloudError: it failed, or its outcome is unknown.
        """

    def on_update(self, stored: CachedObject[P, S]) -> None:
        """A new view of an object: what it claims, what it watches and depends on; wakes those whom it concerns."""
        key = self._key(stored)
        if not stored.meta.has_finalizer and not stored.meta.deleting and stored.status.order is None:
            self._tracker.saw_new(key.uid)
        self._tools.references.put(key, dependencies.targets_of(stored))
        if stored.spec is not None:
            self.place(stored, stored.spec)
        self._stir(key)

    def place(self, stored: CachedObject[P, S], spec: P) -> None:
        """Claim and watch what the object stands for, behind the account that it uses now."""
        uid, session = stored.meta.uid, self._seat(stored, spec).session
        here = self.identity(stored, spec)
        if session is None or here is None:
            self._watching.put(uid, {})
            return
        for other in sorted(self._claims.put(uid, Claim(session.url, here))):
            self._tools.wake(other)  # its Conflict may be over
        wanted = {(session, self.holds): here}
        self._watching.put(uid, wanted | {(session, name): there for name, there in self.watches(stored, spec).items()})

    async def gather(self, stored: CachedObject[P, S]) -> F | Unreadable[S]:
        """Everything that the decision needs; reads from the apiserver only when something may be created.

        Raises:
            KubeError: the apiserver did not answer.
        """
        if stored.spec is None:
            return Unreadable(reading(self._tools.clock), stored.meta, stored.status, stored.flaw)
        spec = stored.spec
        self.place(stored, spec)  # what it refers to may have come or gone since
        while True:
            seat = self._seat(stored, spec)
            self._looked[stored.meta.uid] = seat.session
            facts = self.facts(stored, spec, seat, self._common(stored, spec, seat))
            if facts.meta.deleting or facts.seen or not isinstance(facts.found, Absent):
                return facts
            facts = await self.complete(facts, stored, seat)
            if self._seat(stored, spec) == seat:  # else its account goes by now, or uses another credential
                return facts

    def decide(self, facts: F | Unreadable[S]) -> Plan[S]:
        """The pure core's answer."""
        return unreadable.decide(facts) if isinstance(facts, Unreadable) else self.decided(facts)

    async def act(self, facts: F | Unreadable[S], plan: Plan[S]) -> Event | None:
        """Send the plan's call for this object, remember how it went, and say what to tell.

        None: nothing was sent, as the object says something else by now, or its account uses another credential: what one
        has shown is nothing for the other to act upon.
        """
        verb = plan.action
        if isinstance(facts, Unreadable) or verb is None:
            raise TypeError("nothing is sent for a spec that cannot be read")
        session = self._tools.accounts.seat(facts.meta, facts.spec, facts.status).session
        if session is None or session is not self._looked.get(facts.meta.uid):
            return None
        refusal, placed, was_shown = None, Placed(), session.inventories[self.holds].shown_now()
        try:
            with precondition.require(lambda: verb not in CREATES or self._may_begin(facts)):
                placed = await self.send(session, facts, verb, plan.targets) or placed
        except CloudError as error:
            if error.kind is ErrorKind.WITHDRAWN:
                return None
            if not (verb in DESTROYS and error.kind is ErrorKind.NOT_FOUND):
                refusal = Refusal(error.kind, error.message, error.ambiguous, error.retry_after)
        named = placement.named(facts.identity, placed)
        if named != facts.identity and was_shown(named):
            placed = Placed()  # it was there before this order was sent, so it is not what was ordered
        self._remember(facts, verb, refusal, placed)
        if refusal is not None:
            words = failed.words(self._tracker.of(facts.meta.uid).attempts[verb])
            return Event(self.failed[verb], words, verb, warning=True)
        reason, note = self.done[verb]
        name = ", ".join(map(repr, plan.targets)) or repr(facts.identity.name)
        return Event(reason, note.format(name=name), verb, always=True)

    def _remember(self, facts: F, verb: Verb, refusal: Refusal | None, placed: Placed) -> None:
        """How a call went, and what that makes of the order."""
        uid = facts.meta.uid
        self._tracker.called(uid, verb, facts.asked, refusal)
        if verb is self.subject.create:
            final_for = facts.meta.generation if retry.is_final(verb, refusal) else None
            self._tracker.ordered(uid, refusal, placed, chosen_name=facts.chosen_name, final_for=final_for)
        elif verb is self.subject.destroy:
            self._tracker.destroying(uid, answered=refusal is None)

    def recording(self, uid: str, status: S) -> None:
        """The record of a new order of ours is about to be written; once it stands, it may be acted on while it is young."""
        if status.order is not None:
            self._tracker.records(uid, status.order)

    def order_of(self, stored: CachedObject[P, S]) -> Order | None:
        """The order as this process knows it, which is ahead of the status, else as the status shows it."""
        known = self._tracker.latest(stored.meta.uid)
        return stored.order if known is None or known.order is None else known.order

    def requeue_after(self, uid: str, plan: Plan[S]) -> float | None:
        """Tell the inventories whether to hurry, and who waits for a look; answers when to decide again, if all have looked."""
        inventories = self._watching.inventories(uid)
        for inventory in inventories:
            inventory.expect_change(uid, plan.pending)
        if plan.status is not None and _is_ready(plan.status):
            self._tracker.settled(uid)
        if plan.release is not None:
            self._tracker.frees(uid)
        now = self._tools.clock.mono()
        if plan.look_after is None or plan.look_after > now:
            return None
        # Only those that have not looked yet: one that has would answer at once, and again, until the last has too.
        behind = [item for item in inventories if not item.has_looked(uid, plan.look_after)]
        for inventory in behind:
            inventory.refresh_after(uid, plan.look_after)
        return None if behind else now + LEAST_SPACING_SECONDS

    def last_facts(self, body: Mapping[str, Any]) -> F | None:
        """The facts of an object that the watch calls gone, as it was at the last; None when its spec cannot be read."""
        self.store.put(body)
        stored = self.store.get(body["metadata"]["uid"])
        if stored is None or stored.spec is None:
            return None
        seat = self._seat(stored, stored.spec)
        return self.facts(stored, stored.spec, seat, self._common(stored, stored.spec, seat))

    def admits_deletion(self, facts: F) -> bool:  # noqa: ARG002 - a kind may have a brake
        """Whether no brake holds what this object's end destroys, which is from here on counted as begun."""
        return True

    def on_delete(self, key: Key) -> None:
        """The object is gone."""
        self._tracker.forget(key.uid)
        self._looked.pop(key.uid, None)
        for other in sorted(self._claims.drop(key.uid)):
            self._tools.wake(other)  # its Conflict may be over
        self._watching.put(key.uid, {})
        self._stir(key)
        self._tools.references.drop(key)
        for vpc in self._tools.objects.vpcs:
            if vpc.meta.deleting:
                self._tools.wake(vpc.meta.uid)  # it may have waited for this one

    def users_of(self, session: AccountSession) -> list[str]:
        """UIDs of the objects that are watched through this session."""
        return self._watching.users_of(session)

    def attach(self, session: AccountSession) -> None:
        """A new session: its inventory asks this room what it should see."""
        inventory: Inventory[Any] = session.inventories[self.holds]
        inventory.expected = lambda cluster: self._expected(session, cluster)

    def _common(self, stored: CachedObject[P, S], spec: P, seat: ResolvedAccount) -> dict[str, Any]:
        meta, status, now = stored.meta, stored.status, reading(self._tools.clock)
        here = self.identity(stored, spec)
        standing = self._tracker.standing(meta.uid, stored.order)
        nonce = self._tools.entropy.token_hex(8)
        found = self._found(stored, spec, seat, here, standing)
        memory = self._tracker.of(meta.uid)
        if here is not None:
            proofs = replace(self.proofs(stored, spec, here, found), nonce=nonce)
            standing = orders.observed(standing, found, proofs, now, memory.first_seen)
            self._tracker.learned(meta.uid, standing)
        return {
            "now": now,
            "meta": meta,
            "spec": spec,
            "status": status,
            "identity": here or NOWHERE,
            "found": found,
            "memory": memory,
            "standing": standing,
            "limits": self._tools.limits,
            "account": seat.facts,
            "owner": self._owner(meta.uid),
            "synced": self._tools.synced(),
            "listing_duration": 0.0 if seat.session is None else seat.session.listing_duration((here or NOWHERE).cluster),
            "nonce": nonce,
        }

    def _found(
        self, stored: CachedObject[P, S], spec: P, seat: ResolvedAccount, here: Identity | None, standing: Standing
    ) -> Observation[Any]:
        now = self._tools.clock.mono()
        if not self._tools.synced() and seat.facts.name == OWN_ACCOUNT and stored.status.account is None:
            return Unknown(now, UnknownReason.NOT_LOOKED)  # its namespace may have an account that the watch has not shown yet
        if here is None:
            return Unknown(now, UnknownReason.UNPLACED)
        wanted, order = self.wanted(stored, spec), standing.order
        if wanted is not None and order is not None and placement.moved(order, wanted):
            return Unknown(now, UnknownReason.MOVED, placement.moved_words(self.subject.noun, order, wanted))
        if seat.session is None:
            return seat.blind or Unknown(now, UnknownReason.NO_ACCOUNT)
        return observation.observe(seat.session, (self.kind, self.holds), stored, seat, here, self._tools.clock)

    def _seat(self, stored: CachedObject[P, S], spec: P) -> ResolvedAccount:
        return self._tools.accounts.seat(stored.meta, spec, stored.status)

    def _may_begin(self, facts: F) -> bool:
        """Whether something may be made with the account still: neither it nor its Secret goes."""
        seat = self._tools.accounts.seat(facts.meta, facts.spec, facts.status)
        return not seat.leaving and seat.bar is None

    def _key(self, stored: CachedObject[P, S]) -> Key:
        return Key(self.kind, stored.meta.namespace, stored.meta.name, stored.meta.uid)

    def _stir(self, key: Key) -> None:
        """Wake those who depend on this object, and those being deleted that wait for it."""
        references = self._tools.references
        for other in sorted(references.dependents(Target(key.kind, key.namespace, key.name))):
            self._tools.queue(other)
        for target in sorted(references.targets(key)):
            needed = self._tools.objects.find(target)
            if needed is not None and needed.meta.deleting:
                self._tools.wake(needed.meta.uid)

    def _tenants(self, uid: str) -> frozenset[str]:
        stored = self.store.get(uid)
        if stored is None or stored.spec is None:
            return frozenset()
        return self._seat(stored, stored.spec).facts.tenants

    def _owner(self, uid: str) -> str | None:
        """The other object that this thing belongs to: one that ordered it counts first, then one that adopted it, then age."""
        first = self._claims.first(uid)
        stored = None if first is None or first == uid else self.store.get(first)
        mine = self.store.get(uid)
        if stored is None or mine is None:
            return None
        if stored.meta.namespace != mine.meta.namespace:
            return "in another namespace"
        return repr(stored.meta.name)

    def _rank(self, uid: str, here: Identity) -> tuple[int, str, str]:
        stored = self.store.get(uid)
        order = None if stored is None else stored.order
        stands = order is not None and orders.may_exist(order) and order.name == here.name
        claim = 2 if order is None or not stands else 1 if order.origin is Origin.ADOPTED else 0
        return (claim, "9999" if stored is None else str(stored.raw_meta.get("creationTimestamp", "")), uid)

    def _expected(self, session: AccountSession, cluster: str) -> set[Identity]:
        """What a listing of this cluster should show: seen before, not destroyed by us, not known to be lost."""
        known = (
            self._watching.of(stored.meta.uid).get((session, self.holds)) for stored in self.store if self._should_show(stored)
        )
        return {here for here in known if here is not None and here.cluster == cluster}

    def _should_show(self, stored: CachedObject[P, S]) -> bool:
        order = self.order_of(stored)
        return order is not None and order.state is OrderState.SEEN


def _is_ready(status: CloudStatus) -> bool:
    ready = find(status.conditions, ConditionType.READY)
    return ready is not None and ready.status == "True"
