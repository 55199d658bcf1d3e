"""Tracks the order and the call history of each object. Both may be ahead of the status; a restart loses them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from gpucloud.engine.runtime.clock import reading
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.meta import Annotation
from gpucloud.reconcile import evidence, takeover
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.facts import DESTROYS, Asked, Attempt, CallHistory, Present, Refusal, Verb
from gpucloud.reconcile.placement import current_placement
from gpucloud.reconcile.tenancy import tenant_of
from gpucloud.reconcile.time_annotations import Said

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from gpucloud.engine.cache.entries import Entries
    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.cloud.account_session import Learned
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.kinds.common import DestroyingCall, Order
    from gpucloud.reconcile.evidence import Proofs
    from gpucloud.reconcile.facts import Now, ObjectFacts, Observation
    from gpucloud.reconcile.order import TrackedOrder
    from gpucloud.reconcile.placement import Placement
    from gpucloud.reconcile.takeover import RecordVersion

POWER = frozenset({Verb.START, Verb.STOP})
TIMED = (Annotation.ACCEPT_ABSENCE, Annotation.BUY_ANYWAY)  # they cover what there was up to the time that they hold


@dataclass(slots=True)
class _Known:
    """Order and call history of one object."""

    history: CallHistory | None = None  # None: it has not begun
    tracked: TrackedOrder | None = None
    versions: frozenset[RecordVersion] = field(default_factory=frozenset)  # of records that this process wrote or took over
    tenancy: str | None = None  # of what a listing showed
    ordered_with: Learned | None = None  # what the cloud's answers say of the credential of the last order
    calls: frozenset[DestroyingCall | None] = field(default_factory=frozenset)  # that this process has announced or taken over
    called: DestroyingCall | None = None  # the last one that the call history tells of
    said: dict[Annotation, Said] = field(default_factory=dict)  # what annotations say that hold a time


class Recorded(NamedTuple):
    """What the status of an object records, and whether the object is being deleted."""

    order: Order | None
    answered: Asked  # the last request of a person that the status answers
    deleting: bool = False


def _location(order: Order | None, stored: CachedObject[Any, Any]) -> tuple[object, ...]:
    """Return where an order of this object is looked for: of one that is deleted, where it was ordered at last."""
    placed = current_placement(order)
    return (placed,) if order is None or not stored.meta.deleting else (placed, order.name, order.cluster, order.vpc)


class OrderTracker:
    """Orders and call histories by UID, in the entries of the objects."""

    def __init__(self, clock: Clock, entries: Entries) -> None:
        self._clock = clock
        self._entries = entries

    def begin(self, uid: str, *, deleting: bool = False) -> None:
        """Begin the object's call history unless it has begun, and note when its deletion is first seen."""
        known = self._entry(uid)
        history = self._history(known)
        if deleting and history.deletion_seen is None:
            known.history = replace(history, deletion_seen=self._clock.mono())

    def note_said(self, meta: ObjectFacts) -> None:
        """Note what the annotations say that hold a time: whoever asks later learns since when."""
        for annotation in TIMED:
            self.said(meta, annotation)

    def said(self, meta: ObjectFacts, annotation: Annotation) -> Said:
        """Return what an annotation that holds a time says, and when this process first saw it say so."""
        known, text = self._entry(meta.uid), meta.annotations.get(annotation)
        before = known.said.get(annotation)
        if before is None or before.text != text:
            known.said[annotation] = Said(text, reading(self._clock), stood=before is None)
        return known.said[annotation]

    def history(self, uid: str) -> CallHistory:
        """Return the object's call history; an empty one if it has not begun."""
        known = self._entries.find(uid, _Known)
        return CallHistory(first_seen=self._clock.mono()) if known is None or known.history is None else known.history

    def take_over(self, uid: str, recorded: Recorded, destroy: Verb, now: Now) -> TrackedOrder:
        """Merge the order that the status records with what this process knows; return the result.

        The call history then tells of its last destroying call. ``destroy``: the verb of that call.
        """
        known, order = self._entry(uid), recorded.order
        written = takeover.Written(known.versions, known.calls)
        known.tracked = takeover.take_over(known.tracked, order, written, now.mono, deleting=recorded.deleting)
        if order is not None:
            known.calls |= {order.destroying_call}
            known.versions |= {takeover.version_of(order)}
        self._recall_destroying(known, destroy, recorded.answered, now)
        return known.tracked

    def latest(self, uid: str) -> TrackedOrder | None:
        """Return the order as it was last known; None if its record was never read."""
        known = self._entries.find(uid, _Known)
        return None if known is None else known.tracked

    def is_described(self, uid: str, recorded: Order | None) -> bool:
        """Whether a status describes the resource of the order that this process knows: somebody may restore an older one."""
        known = self.latest(uid)
        if known is None or known.order is None or recorded is None:
            return False
        return recorded.id == known.order.id

    def with_placement(self, stored: CachedObject[Any, Any]) -> CachedObject[Any, Any]:
        """Return the view with the order as this process knows it, if it is to be looked for elsewhere than status says."""
        known = self.latest(stored.meta.uid)
        if known is None or known.order is None or known.order is stored.order:
            return stored
        same_location = _location(known.order, stored) == _location(stored.order, stored)
        if same_location and not _names_clusters(known.order, stored):
            return stored
        return replace(stored, status=stored.status.model_copy(update={"order": known.order}))

    def update(self, uid: str, tracked: TrackedOrder) -> None:
        """Store the order after an observation changed it."""
        known = self._entry(uid)
        known.tracked = tracked
        if tracked.order is not None:
            known.versions |= {takeover.version_of(tracked.order)}

    def observe(self, uid: str, tracked: TrackedOrder, found: Observation[Any], proofs: Proofs, now: Now) -> TrackedOrder:
        """Return the order after an observation, and keep it, with the tenant of what is seen as the object's."""
        before, tracked = tracked, evidence.observed(tracked, found, proofs, now, self.history(uid).first_seen)
        self.update(uid, tracked)
        if (before.state, tracked.state) == (OrderState.DESTROYING, OrderState.SEEN):
            self.forget_calls(uid, DESTROYS)
        if isinstance(found, Present) and tracked.state is OrderState.SEEN and not found.duplicate_records:
            self.record_tenant(uid, tenant_of(found.record))
        return tracked

    def announce(self, uid: str, order: Order | None, *, destroys: bool = False) -> None:
        """Note the record that is about to be written to status: it is this process's own, with the call that it announces."""
        if order is not None:
            known = self._entry(uid)
            known.versions |= {takeover.version_of(order)}
            known.tracked = None if known.tracked is None else takeover.corrected(known.tracked, order)
            if known.tracked is not None and destroys:
                known.tracked = replace(known.tracked, announced=order.destroying_call)
            known.calls |= {order.destroying_call}

    def mark_new(self, uid: str) -> None:
        """Note that the object had no finalizer and no order record when first seen: no call can have been sent for it."""
        known = self._entry(uid)
        known.history = replace(self._history(known), seen_new=True)

    def record_order(self, uid: str, order: Order) -> None:
        """Note the record of a new order before it is written to status: only a process that wrote it may act on it."""
        known = self._entry(uid)
        if known.tracked is not None:
            if not orders.may_exist(known.tracked.order):
                known.tenancy = known.ordered_with = None
            if orders.was_seen(known.tracked.order):  # calls for the resource that is gone say nothing of the new one
                known.history = replace(self._history(known), attempts={})
            known.tracked = orders.record(known.tracked, order, self._clock.mono())
            known.versions |= {takeover.version_of(order)}

    def record_call(
        self, uid: str, verb: Verb, asked: Asked, refusal: Refusal | None, targets: tuple[str, ...] = ()
    ) -> Attempt:
        """Record the outcome of a call, and return the attempt."""
        known = self._entry(uid)
        history = self._history(known)
        before = history.attempts.get(verb)
        same = before is not None and set(targets) <= set(before.targets)
        failures = 0 if refusal is None else 1 + (before.failures if before is not None and same else 0)
        unrefused = (before.unrefused if before is not None and same else 0) + (refusal is None)
        attempt = Attempt(verb, self._clock.mono(), asked, refusal, failures, unrefused, targets)
        known.history = replace(history, attempts={**history.attempts, verb: attempt})
        return attempt

    def record_reading(self, uid: str, verb: Verb, asked: Asked, answer: str) -> None:
        """Record what a call that only reads has shown."""
        known = self._entry(uid)
        history = self._history(known)
        attempt = Attempt(verb, self._clock.mono(), asked, answer=answer)
        known.history = replace(history, attempts={**history.attempts, verb: attempt})

    def record_answer(
        self, uid: str, refusal: Refusal | None, placed: Placement, *, chosen_name: bool, final_for: int | None = None
    ) -> None:
        """Apply the answer to the creating call to the order."""
        known = self._entry(uid)
        if known.tracked is not None:
            now = self._clock.mono()
            known.tracked = orders.answered(known.tracked, refusal, placed, now, chosen_name=chosen_name, final_for=final_for)

    def record_destroying(self, uid: str, refusal: Refusal | None, grace: float) -> None:
        """Apply the sent destroying call, as it was announced, and its answer to the order."""
        known = self._entry(uid)
        if known.tracked is not None:
            now = self._clock.mono()
            known.tracked = orders.destroy_answered(orders.destroying(known.tracked, now), refusal, grace, now)
            known.called = None if known.tracked.order is None else known.tracked.order.destroying_call
            known.calls = frozenset({known.called})

    def _recall_destroying(self, known: _Known, verb: Verb, asked: Asked, now: Now) -> None:
        """Note the last destroying call that another process announced: it counts as accepted at that time.

        So a restart shortens no wait between two such calls.
        """
        order = None if known.tracked is None else known.tracked.order
        call = None if order is None else order.destroying_call
        if call is None or call == known.called:
            return
        attempt = Attempt(verb, orders.called_before(call, now), asked, unrefused=call.number, recalled=True)
        known.history = replace(self._history(known), attempts={**self._history(known).attempts, verb: attempt})
        known.called = call

    def tenancy(self, uid: str) -> str | None:
        """Return the tenant of what was seen, or ordered and may exist; None while this process does not know it."""
        known = self._entries.find(uid, _Known)
        if known is None or known.tracked is None or not orders.may_exist(known.tracked.order):
            return None
        return known.tenancy or (None if known.ordered_with is None else known.ordered_with.tenant)

    def ordered_with_another(self, uid: str, learned: Learned) -> bool | None:
        """Whether this process sent the last order with another credential than this one; None if it sent none."""
        known = self._entries.find(uid, _Known)
        if known is None or known.ordered_with is None:
            return None
        return known.ordered_with.identity != learned.identity

    def record_tenant(self, uid: str, tenancy: str | None) -> None:
        """Note the tenant that the listed record of the object's resource names."""
        self._entry(uid).tenancy = tenancy or self._entry(uid).tenancy

    def set_credential(self, uid: str, learned: Learned) -> None:
        """Note the credential with which the order was sent: it may show its tenant later."""
        self._entry(uid).ordered_with = learned

    def mark_released(self, uid: str) -> None:
        """Note that this process is about to release the finalizer."""
        known = self._entry(uid)
        known.history = replace(self._history(known), finalizer_released=True)

    def reset_power_calls(self, uid: str) -> None:
        """Forget the power calls: the wanted power state is reached, so their failures do not delay the next call."""
        self.forget_calls(uid, POWER)

    def forget_calls(self, uid: str, verbs: AbstractSet[Verb]) -> None:
        """Forget the last calls of these verbs."""
        known = self._entry(uid)
        history = self._history(known)
        if verbs & history.attempts.keys():
            kept = {verb: attempt for verb, attempt in history.attempts.items() if verb not in verbs}
            known.history = replace(history, attempts=kept)

    def _entry(self, uid: str) -> _Known:
        known = self._entries.part(uid, _Known)
        self._history(known)
        return known

    def _history(self, known: _Known) -> CallHistory:
        if known.history is None:
            known.history = CallHistory(first_seen=self._clock.mono())
        return known.history


def _names_clusters(order: Order, stored: CachedObject[Any, Any]) -> bool:
    """Whether the order, the spec and the status name more than one cluster: then what this process knows decides."""
    recorded, placement = stored.order, getattr(stored.status, "placement", None)
    in_spec, in_hand = getattr(stored.spec, "cluster", None), None if placement is None else placement.cluster
    named = (order.cluster, in_spec, in_hand, None if recorded is None else recorded.cluster)
    return len({one.casefold() for one in named if one}) > 1
