"""What the rooms of GpuVM, GpuVpc and GpuSnapshot share: facts gathered, calls sent, claims, watches, memories.

A kind's room says where its object is to be looked for, what else it watches, which facts are its own, and how its calls
are sent.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.engine import dependencies
from gpucloud.engine.claims import Claim, Claims
from gpucloud.engine.clock import reading
from gpucloud.engine.events import Happening
from gpucloud.engine.inventory import LEAST_SPACING_SECONDS
from gpucloud.engine.memories import Memories
from gpucloud.engine.queue import Key
from gpucloud.engine.references import Target
from gpucloud.kinds.common import OWN_ACCOUNT, CloudSpec, CloudStatus
from gpucloud.kinds.meta import Annotation, ConditionType, Reason
from gpucloud.reconcile import unreadable
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.core.facts import CloudFacts, Subject
from gpucloud.reconcile.facts import Absent, Blindness, Refusal, Unknown, Verb
from gpucloud.reconcile.naming import Identity
from gpucloud.reconcile.tenancy import believed
from gpucloud.reconcile.unreadable import Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpucloud.engine.accounts import Accounts, Seat
    from gpucloud.engine.clock import Clock
    from gpucloud.engine.dependencies import Objects
    from gpucloud.engine.entropy import Entropy
    from gpucloud.engine.inventory import Inventory
    from gpucloud.engine.kube import KubeClient
    from gpucloud.engine.namespaces import Namespaces
    from gpucloud.engine.objects import ObjectStore, Stored
    from gpucloud.engine.references import References
    from gpucloud.engine.session import Session
    from gpucloud.reconcile.facts import Limits, Observation
    from gpucloud.reconcile.plan import Plan

P = TypeVar("P", bound=CloudSpec)
S = TypeVar("S", bound=CloudStatus)
F = TypeVar("F", bound=CloudFacts[Any, Any, Any])

NOWHERE = Identity("", "", "")
DESTROYS = frozenset({Verb.DESTROY, Verb.DELETE_SNAPSHOT, Verb.DESTROY_VPC})
# Still expected in a listing, unless the verdict was one of these.
_MISSED = frozenset({Reason.VM_LOST, Reason.VPC_LOST, Reason.SNAPSHOT_LOST, Reason.DELETING})


@dataclass(frozen=True, slots=True)
class Tools:
    """What every room works with."""

    accounts: Accounts
    objects: Objects
    references: References
    kube: KubeClient
    namespaces: Namespaces
    clock: Clock
    limits: Limits
    synced: Callable[[], bool]
    wake: Callable[[str], None]  # by UID
    queue: Callable[[Key], None]
    entropy: Entropy


class CloudRoom(ABC, Generic[P, S, F]):
    """Gathers facts, sends calls, and remembers, for the objects of one kind."""

    kind: ClassVar[str]
    plural: ClassVar[str]
    holds: ClassVar[str]  # which inventory of a session shows its things
    subject: ClassVar[Subject]
    done: ClassVar[Mapping[Verb, tuple[Reason, str]]]  # the event of a call that was carried out; {name} is the thing's
    failed: ClassVar[Mapping[Verb, Reason]]

    def __init__(self, tools: Tools, store: ObjectStore[P, S]) -> None:
        self.store = store
        self._tools = tools
        self._memories = Memories(tools.clock)
        self._claims = Claims(self._rank, self._tenants)
        self._watching: dict[str, dict[tuple[Session, str], Identity]] = {}
        self._looked: dict[str, Session | None] = {}  # through which the facts of the pass under way were seen

    @abstractmethod
    def identity(self, stored: Stored[P, S], spec: P) -> Identity | None:
        """Where to look for it; None while nobody can say."""

    def watches(self, stored: Stored[P, S], spec: P) -> Mapping[str, Identity]:  # noqa: ARG002 - a kind may need them
        """What else it must see, by inventory."""
        return {}

    @abstractmethod
    def facts(self, stored: Stored[P, S], spec: P, seat: Seat, common: dict[str, Any]) -> F:
        """The kind's facts round the common ones. No I/O."""

    async def complete(self, facts: F, stored: Stored[P, S], seat: Seat) -> F:  # noqa: ARG002 - as above
        """What only something that is yet to be created needs to know; may read from the apiserver."""
        return facts

    @abstractmethod
    def decided(self, facts: F) -> Plan[S]:
        """The kind's decision."""

    @abstractmethod
    async def send(self, session: Session, facts: F, verb: Verb, targets: tuple[str, ...]) -> str | None:
        """Send one call; answers the id that the cloud gave to what it made, where that tells it from others of its name.

        Raises:
            CloudError: it failed, or its outcome is unknown.
        """

    def noticed(self, stored: Stored[P, S]) -> None:
        """A new view of an object: what it claims, what it watches and depends on; wakes those whom it concerns."""
        key = self._key(stored)
        if not stored.meta.guarded and not stored.meta.deleting and stored.status.intent is None:
            self._memories.saw_new(key.uid)
        self._tools.references.put(key, dependencies.targets_of(stored))
        if stored.spec is not None:
            self.place(stored, stored.spec)
        self._stir(key)

    def place(self, stored: Stored[P, S], spec: P) -> None:
        """Claim and watch what the object stands for, behind the account that it uses now."""
        uid, session = stored.meta.uid, self._seat(stored, spec).session
        here = self.identity(stored, spec)
        if session is None or here is None:
            self._watch(uid, {})
            return
        for other in sorted(self._claims.put(uid, Claim(session.url, here))):
            self._tools.wake(other)  # its Conflict may be over
        wanted = {(session, self.holds): here}
        self._watch(uid, wanted | {(session, name): there for name, there in self.watches(stored, spec).items()})

    async def gather(self, stored: Stored[P, S]) -> F | Unreadable[S]:
        """Everything that the decision needs; reads from the apiserver only when something may be created.

        Raises:
            KubeError: the apiserver did not answer.
        """
        if stored.spec is None:
            return Unreadable(reading(self._tools.clock), stored.meta, stored.status, stored.flaw)
        spec = stored.spec
        self.place(stored, spec)  # what it refers to may have come or gone since
        seat = self._seat(stored, spec)
        self._looked[stored.meta.uid] = seat.session
        facts = self.facts(stored, spec, seat, self._common(stored, spec, seat))
        if facts.meta.deleting or facts.seen or not isinstance(facts.found, Absent):
            return facts
        return await self.complete(facts, stored, seat)

    def decide(self, facts: F | Unreadable[S]) -> Plan[S]:
        """The pure core's answer."""
        return unreadable.decide(facts) if isinstance(facts, Unreadable) else self.decided(facts)

    async def act(self, facts: F | Unreadable[S], plan: Plan[S]) -> Happening | None:
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
        refusal = None
        try:
            made = await self.send(session, facts, verb, plan.targets)
            if made is not None:
                self._memories.saw_id(facts.meta.uid, made)
        except CloudError as error:
            if error.kind is ErrorKind.WITHDRAWN:
                return None
            if not (verb in DESTROYS and error.kind is ErrorKind.NOT_FOUND):
                refusal = Refusal(error.kind, error.message, error.ambiguous, error.retry_after)
        self._memories.called(facts.meta.uid, verb, facts.asked, refusal)
        if refusal is not None:
            return Happening(self.failed[verb], f"{verb} failed: {refusal.message}", verb, warning=True)
        reason, note = self.done[verb]
        name = ", ".join(map(repr, plan.targets)) or repr(facts.identity.name)
        return Happening(reason, note.format(name=name), verb, always=True)

    def intends(self, uid: str, status: S, at: float) -> None:
        """This intent of ours is about to be written; once it stands, it may be acted on while it is young."""
        if status.intent is not None:
            self._memories.intends(uid, status.intent.id, at)

    def attend(self, uid: str, plan: Plan[S]) -> float | None:
        """Tell the inventories whether to hurry, and who waits for a look; answers when to decide again, if all have looked."""
        inventories = [session.inventories[name] for session, name in self._watching.get(uid, {})]
        for inventory in inventories:
            inventory.expect_change(uid, plan.pending)
        if plan.status is not None and _is_ready(plan.status):
            self._memories.settled(uid)
        if plan.release is not None:
            self._memories.frees(uid)
        now = self._tools.clock.mono()
        if plan.look_after is None or plan.look_after > now:
            return None
        # Only those that have not looked yet: one that has would answer at once, and again, until the last has too.
        behind = [item for item in inventories if not item.has_looked(uid, plan.look_after)]
        for inventory in behind:
            inventory.look(uid, plan.look_after)
        return None if behind else now + LEAST_SPACING_SECONDS

    def parting(self, body: Mapping[str, Any]) -> F | None:
        """The facts of an object that the watch calls gone, as it was at the last; None when its spec cannot be read."""
        self.store.put(body)
        stored = self.store.get(body["metadata"]["uid"])
        if stored is None or stored.spec is None:
            return None
        seat = self._seat(stored, stored.spec)
        return self.facts(stored, stored.spec, seat, self._common(stored, stored.spec, seat))

    def lets_pass(self, facts: F) -> bool:  # noqa: ARG002 - a kind may have a brake
        """Whether no brake holds what this object's end destroys, which is from here on counted as begun."""
        return True

    def forget(self, key: Key) -> None:
        """The object is gone."""
        self._memories.forget(key.uid)
        self._looked.pop(key.uid, None)
        for other in sorted(self._claims.drop(key.uid)):
            self._tools.wake(other)  # its Conflict may be over
        self._watch(key.uid, {})
        self._stir(key)
        self._tools.references.drop(key)
        for vpc in self._tools.objects.vpcs:
            if vpc.meta.deleting:
                self._tools.wake(vpc.meta.uid)  # it may have waited for this one

    def users_of(self, session: Session) -> list[str]:
        """UIDs of the objects that are watched through this session."""
        return [uid for uid, watched in self._watching.items() if any(where is session for where, _ in watched)]

    def attach(self, session: Session) -> None:
        """A new session: its inventory asks this room what it should see."""
        inventory: Inventory[Any] = session.inventories[self.holds]
        inventory.expected = lambda cluster: self._expected(session, cluster)

    def _common(self, stored: Stored[P, S], spec: P, seat: Seat) -> dict[str, Any]:
        meta, status = stored.meta, stored.status
        here = self.identity(stored, spec)
        if status.intent is not None:
            self._memories.saw(meta.uid, status.intent.id)
        return {
            "now": reading(self._tools.clock),
            "meta": meta,
            "spec": spec,
            "status": status,
            "identity": here or NOWHERE,
            "found": self._found(stored, seat, here),
            "memory": self._memories.of(meta.uid),
            "limits": self._tools.limits,
            "account": seat.facts,
            "owner": self._owner(meta.uid),
            "synced": self._tools.synced(),
            "listing_takes": 0.0 if seat.session is None else seat.session.listing_takes((here or NOWHERE).cluster),
            "nonce": self._tools.entropy.token_hex(8),
        }

    def _found(self, stored: Stored[P, S], seat: Seat, here: Identity | None) -> Observation[Any]:
        now = self._tools.clock.mono()
        if not self._tools.synced() and seat.facts.name == OWN_ACCOUNT and stored.status.account is None:
            return Unknown(now, Blindness.NOT_LOOKED)  # its namespace may have an account that the watch has not shown yet
        if here is None:
            return Unknown(now, Blindness.UNPLACED)
        if seat.session is None:
            return seat.blind or Unknown(now, Blindness.NO_ACCOUNT)
        accept = stored.meta.annotations.get(Annotation.ACCEPT_ABSENCE) == "true"
        inventory: Inventory[Any] = seat.session.inventories[self.holds]
        found = inventory.observe(here, accept_absence=accept)
        if accept and isinstance(found, Absent):
            return found
        believable = believed(found, stored.status.tenancy, seat.facts, seat.session.began)
        if isinstance(believable, Unknown) and believable.cause is Blindness.TENANT:
            seat.session.prove()
            if seat.session.proving:
                return Unknown(now, Blindness.UNREACHABLE, "it is being found out whose the credential is")
        return believable

    def _seat(self, stored: Stored[P, S], spec: P) -> Seat:
        return self._tools.accounts.seat(stored.meta, spec, stored.status)

    def _key(self, stored: Stored[P, S]) -> Key:
        return Key(self.kind, stored.meta.namespace, stored.meta.name, stored.meta.uid)

    def _watch(self, uid: str, wanted: dict[tuple[Session, str], Identity]) -> None:
        """Watch these, and nothing else that was watched for this object before."""
        standing = self._watching.get(uid, {})
        for (session, name), here in wanted.items():
            if standing.get((session, name)) != here:
                session.inventories[name].watch(uid, here)
        for session, name in standing:
            if (session, name) not in wanted:
                session.inventories[name].unwatch(uid)
        if wanted:
            self._watching[uid] = wanted
        else:
            self._watching.pop(uid, None)

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
        """The other object that this thing belongs to: an intent recorded for its name counts first, then age."""
        first = self._claims.first(uid)
        stored = None if first is None or first == uid else self.store.get(first)
        mine = self.store.get(uid)
        if stored is None or mine is None:
            return None
        if stored.meta.namespace != mine.meta.namespace:
            return "in another namespace"
        return repr(stored.meta.name)

    def _rank(self, uid: str, here: Identity) -> tuple[bool, str, str]:
        stored = self.store.get(uid)
        if stored is None:
            return (True, "9999", uid)
        intent = stored.status.intent
        intended = intent is not None and (intent.cluster, intent.vpc, intent.name) == (here.cluster, here.vpc, here.name)
        return (not intended, str(stored.raw_meta.get("creationTimestamp", "")), uid)

    def _expected(self, session: Session, cluster: str) -> set[Identity]:
        """What a listing of this cluster should show: seen before, not destroyed by us, not known to be lost."""
        known = (
            self._watching.get(stored.meta.uid, {}).get((session, self.holds))
            for stored in self.store
            if self._should_show(stored)
        )
        return {here for here in known if here is not None and here.cluster == cluster}

    def _should_show(self, stored: Stored[P, S]) -> bool:
        if stored.status.intent is None or not self.was_seen(stored.status):
            return False
        ready = find(stored.status.conditions, ConditionType.READY)
        going = DESTROYS & self._memories.of(stored.meta.uid).attempts.keys()
        return not going and (ready is None or ready.reason not in _MISSED)

    @abstractmethod
    def was_seen(self, status: S) -> bool:
        """Whether the status records that it was seen in a listing."""


def _is_ready(status: CloudStatus) -> bool:
    ready = find(status.conditions, ConditionType.READY)
    return ready is not None and ready.status == "True"
