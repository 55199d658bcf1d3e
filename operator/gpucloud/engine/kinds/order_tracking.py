"""What this process knows of each object: its order, ahead of the status, and how its calls went. A crash loses it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gpucloud.reconcile import order as orders
from gpucloud.reconcile.facts import Asked, Attempt, CallHistory, Refusal, Verb

if TYPE_CHECKING:
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.kinds.common import Order
    from gpucloud.reconcile.order import Standing
    from gpucloud.reconcile.placement import Placed

DESTROYS = frozenset({Verb.DESTROY, Verb.DELETE_SNAPSHOT, Verb.DESTROY_VPC})
POWER = frozenset({Verb.START, Verb.STOP})


@dataclass(slots=True)
class _Known:
    """Of one object."""

    memory: CallHistory
    standing: Standing | None = None
    record_ids: frozenset[str] = field(default_factory=frozenset)  # of records that this process wrote, or has taken over


class OrderTracker:
    """One entry an object, from its first view until it is gone."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[str, _Known] = {}

    def of(self, uid: str) -> CallHistory:
        """What is remembered; a new object is first seen now."""
        return self._entry(uid).memory

    def standing(self, uid: str, recorded: Order | None) -> Standing:
        """The order as this process knows it, with what the status shows taken into account."""
        known = self._entry(uid)
        known.standing = orders.take_over(known.standing, recorded, known.record_ids, self._clock.mono())
        if recorded is not None:
            known.record_ids |= {recorded.id}
        return known.standing

    def latest(self, uid: str) -> Standing | None:
        """The order as it was known last; None for an object whose record was never read."""
        known = self._known.get(uid)
        return None if known is None else known.standing

    def learned(self, uid: str, standing: Standing) -> None:
        """A listing moved the order, or brought a record of it."""
        known = self._entry(uid)
        known.standing = standing
        if standing.order is not None:
            known.record_ids |= {standing.order.id}

    def forget(self, uid: str) -> None:
        """The object is gone."""
        self._known.pop(uid, None)

    def saw_new(self, uid: str) -> None:
        """The object has no finalizer of ours yet, and nothing is recorded for it: nothing can have been sent."""
        known = self._entry(uid)
        known.memory = replace(known.memory, seen_new=True)

    def records(self, uid: str, order: Order) -> None:
        """This record of a new order is about to be written; once it stands, it may be acted on while it is young."""
        known = self._entry(uid)
        if known.standing is not None:
            known.standing = orders.record(known.standing, order, self._clock.mono())
            known.record_ids |= {order.id}

    def called(self, uid: str, verb: Verb, asked: Asked, refusal: Refusal | None) -> None:
        """A call was sent, and this is how it went."""
        known = self._entry(uid)
        before = known.memory.attempts.get(verb)
        failures = 0 if refusal is None else 1 + (before.failures if before is not None else 0)
        attempt = Attempt(verb, self._clock.mono(), asked, refusal, failures)
        known.memory = replace(known.memory, attempts={**known.memory.attempts, verb: attempt})

    def ordered(
        self, uid: str, refusal: Refusal | None, placed: Placed, *, chosen_name: bool, final_for: int | None = None
    ) -> None:
        """The answer to the order of what the object stands for."""
        known = self._entry(uid)
        if known.standing is not None:
            now = self._clock.mono()
            known.standing = orders.answered(known.standing, refusal, placed, now, chosen_name=chosen_name, final_for=final_for)

    def destroying(self, uid: str, *, answered: bool) -> None:
        """The destroying call for what the object stands for was sent; ``answered``: it was carried out."""
        known = self._entry(uid)
        if known.standing is not None:
            now = self._clock.mono()
            known.standing = orders.destroying(known.standing, now)
            if answered:
                known.standing = orders.destroy_answered(known.standing, now)

    def frees(self, uid: str) -> None:
        """It is about to be let go by us: its end is nobody else's doing."""
        known = self._entry(uid)
        known.memory = replace(known.memory, freed=True)

    def settled(self, uid: str) -> None:
        """What was asked for is there: how the power calls towards it went says nothing about the next."""
        known = self._entry(uid)
        if POWER & known.memory.attempts.keys():
            kept = {verb: known.memory.attempts[verb] for verb in known.memory.attempts if verb not in POWER}
            known.memory = replace(known.memory, attempts=kept)

    def _entry(self, uid: str) -> _Known:
        known = self._known.get(uid)
        if known is None:
            known = self._known[uid] = _Known(CallHistory(first_seen=self._clock.mono()))
        return known
