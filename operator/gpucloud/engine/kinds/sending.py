"""Sends the call of a plan through the port, and records what became of it: the last step of a reconcile."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Protocol

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.engine.kinds import request
from gpucloud.engine.kube.events import Event
from gpucloud.reconcile import placement, retry
from gpucloud.reconcile.core import failed
from gpucloud.reconcile.placement import Placement

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gpucloud.engine.cache.store import CachedObject, Store
    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.cloud.accounts import ResolvedAccount
    from gpucloud.engine.cloud.watches import Watches
    from gpucloud.engine.kinds.deps import ReconcilerDeps
    from gpucloud.engine.kinds.order_tracking import OrderTracker
    from gpucloud.engine.kinds.preconditions import Preconditions
    from gpucloud.engine.kinds.request import Request
    from gpucloud.kinds.meta import Reason
    from gpucloud.reconcile.core.facts import CloudFacts, Subject
    from gpucloud.reconcile.facts import Attempt, Refusal, Verb
    from gpucloud.reconcile.plan import Plan


class SentKind(Protocol):
    """The calls of one kind, as data."""

    @property
    def kind(self) -> str:
        """The kind, as in a manifest."""

    @property
    def inventory_name(self) -> str:
        """The inventory that lists the kind's resources."""

    @property
    def subject(self) -> Subject:
        """The constants of the kind."""

    @property
    def store(self) -> Store[Any, Any]:
        """The cached objects."""

    @property
    def success_events(self) -> Mapping[Verb, tuple[Reason, str]]:
        """Reason and note of the Event after a success."""

    @property
    def failed(self) -> Mapping[Verb, Reason]:
        """Reason of the Event after a failure."""

    @property
    def delayed_verbs(self) -> frozenset[Verb]:
        """Calls whose effect only a listing some seconds later can show."""

    def account(self, stored: CachedObject[Any, Any], spec: Any) -> ResolvedAccount:
        """Return the account with which the object's resource is acted upon now."""

    def requests(self, facts: Any, verb: Verb, targets: tuple[str, ...]) -> Iterator[Request]:
        """Yield the calls of a plan's action."""

    def placement(self, facts: Any, answer: Any) -> Placement:
        """Return what the answer to a creating call says of where the resource is."""


class Sender:
    """Sends the calls of one kind, as its reconciler describes them."""

    def __init__(
        self,
        kind: SentKind,
        deps: ReconcilerDeps,
        tracker: OrderTracker,
        preconditions: Preconditions,
        watches: Watches,
    ) -> None:
        self._kind, self._deps, self._tracker = kind, deps, tracker
        self._preconditions, self._watches = preconditions, watches

    async def act(self, facts: CloudFacts[Any, Any, Any], plan: Plan[Any], verb: Verb) -> Event | None:
        """Send the plan's call, record its outcome, and return the Event to record; None if no call was sent.

        No call is sent if its precondition fails, or if the account changed its session since the facts were gathered.
        """
        gathered = self._kind.store.entries.part(facts.meta.uid, request.Gathered)
        session = None if gathered.stored is None else self._kind.account(gathered.stored, facts.spec).session
        if session is None or gathered.stored is None or session is not gathered.session:
            return None
        refusal, placed, was_shown = None, Placement(), session.inventories[self._kind.inventory_name].shown_now()
        try:
            placed = await self._send(session, gathered.stored, facts, plan, verb)
        except CloudError as error:
            if error.kind is ErrorKind.WITHDRAWN:
                return None
            refusal = request.refusal_of(error)
        except (Exception, asyncio.CancelledError) as error:  # also when this task is cancelled: the call may have left
            self._remember(facts, verb, request.refusal_of(error), placed, plan.targets)
            raise
        if verb is self._kind.subject.create:
            self._tracker.set_credential(facts.meta.uid, session.learned)
        named = placement.identity_from_answer(facts.identity, placed)
        if named != facts.identity and was_shown(named):
            placed = Placement()  # the record existed before this call, so the call did not create it
        attempt = self._remember(facts, verb, refusal, placed, plan.targets)
        if refusal is not None:
            return Event(self._kind.failed[verb], failed.message(facts, attempt), verb, warning=True)
        reason, note = self._kind.success_events[verb]
        name = ", ".join(map(repr, plan.targets)) or repr(facts.identity.name)
        return Event(reason, note.format(name=name), verb, always=True)

    async def _send(
        self,
        session: AccountSession,
        stored: CachedObject[Any, Any],
        facts: CloudFacts[Any, Any, Any],
        plan: Plan[Any],
        verb: Verb,
    ) -> Placement:
        """Send the calls of the plan's action; for a creating one return what the answer names.

        Raises:
            CloudError: as ``request.send``.
        """
        kind = self._kind
        purpose = request.purpose_of(kind.kind, stored, plan, (kind.success_events[verb][0], kind.failed[verb]))
        common = tuple(self._preconditions.of(stored, facts, verb, session.inventories[self._kind.inventory_name]))
        answer = await request.send(session.writes, self._kind.requests(facts, verb, plan.targets), purpose, common)
        return kind.placement(facts, answer) if verb is kind.subject.create else Placement()

    def _remember(
        self,
        facts: CloudFacts[Any, Any, Any],
        verb: Verb,
        refusal: Refusal | None,
        placed: Placement,
        targets: tuple[str, ...],
    ) -> Attempt:
        """Record the outcome of a call, and its effect on the order; return the attempt."""
        uid = facts.meta.uid
        attempt = self._tracker.record_call(uid, verb, facts.asked, refusal, targets)
        if verb is self._kind.subject.create:
            final_for = facts.meta.generation if retry.is_final(verb, refusal) else None
            self._tracker.record_answer(uid, refusal, placed, chosen_name=facts.chosen_name, final_for=final_for)
        elif verb is self._kind.subject.destroy:
            self._tracker.record_destroying(uid, refusal, self._deps.limits.grace)
            for inventory in self._watches.inventories(uid) if refusal is None and verb in self._kind.delayed_verbs else ():
                inventory.expect_end(uid)
        return attempt
