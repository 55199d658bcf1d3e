"""Publisher of GpuOffers: looks at the catalogue of each credential once an interval, and writes what has changed.

One look serves all accounts of a credential. Process memory holds how often an offer was missed, and when it was last written:
after a restart an offer that is gone only stays a little longer.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog

from gpucloud.cloud.errors import CloudError
from gpucloud.engine.kinds.gpuoffer.look import look
from gpucloud.engine.kube.client import KubeError
from gpucloud.engine.kube.offers import OfferResources
from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.reconcile.gpuoffer import CloudAnswer, ListedOffer, OfferFacts, OfferPlan, Owner, decide
from gpucloud.reconcile.pause import is_paused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from gpucloud.engine.cache.store import Store
    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.cloud.accounts import Accounts, AccountSessions
    from gpucloud.engine.kube.offers import Apiserver
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.kinds.gpucloudaccount import GpuCloudAccountSpec, GpuCloudAccountStatus

log = structlog.get_logger("gpucloud.offers")

TICK_SECONDS = 5.0  # between two looks, without I/O, whether a credential is due
RETRY_SECONDS = 60.0  # after a look or a write that failed
SPACING_SECONDS = 60.0  # between two writes of one offer, however often it changes


@dataclass(frozen=True, slots=True)
class PublisherDeps:
    """Dependencies of the publisher."""

    sessions: AccountSessions
    accounts: Accounts
    objects: Store[GpuCloudAccountSpec, GpuCloudAccountStatus]
    kube: Apiserver
    terminating: Callable[[str], Awaitable[bool]]  # whether a namespace is
    clock: Clock
    interval: float


@dataclass(slots=True)
class _Memory:
    """What this process knows of an account's offers."""

    misses: dict[str, int] = field(default_factory=dict)  # complete answers in a row that lacked the offer, by name
    written: dict[str, float] = field(default_factory=dict)  # when an offer was last written (mono), by name
    taken: frozenset[str] = frozenset()  # names that objects of others have
    held: int = 0


@dataclass(frozen=True, slots=True)
class _Turn:
    """The last look with one credential."""

    due: float  # when the next one is (mono)
    served: frozenset[str]  # UIDs of the accounts that it was for


class OfferPublisher:
    """Publishes offers until cancelled."""

    def __init__(self, deps: PublisherDeps) -> None:
        self._deps = deps
        self._resources = OfferResources(deps.kube)
        self._turns: dict[AccountSession, _Turn] = {}
        self._memory: dict[str, _Memory] = {}  # by UID of the account

    async def run(self) -> None:
        """Publish what is due, again and again."""
        while True:
            await self.publish_due()
            await asyncio.sleep(min(TICK_SECONDS, self._deps.interval))

    async def publish_due(self) -> None:
        """Look with each credential that is due, or that a new account uses, and publish for all of its accounts."""
        users = {session: owners for _, session in self._deps.sessions if (owners := tuple(self._owners(session)))}
        self._turns = {session: turn for session, turn in self._turns.items() if session in users}
        uids = {owner.uid for owners in users.values() for owner in owners}
        self._memory = {uid: memory for uid, memory in self._memory.items() if uid in uids}
        due = [(session, owners) for session, owners in users.items() if self._is_due(session, owners)]
        await asyncio.gather(*(self._publish(session, owners) for session, owners in due))

    def _owners(self, session: AccountSession) -> Iterator[Owner]:
        """Yield the GpuCloudAccounts that use this session.

        Left as they are: those of one that is paused or being deleted, or whose objects belong to another tenant.
        """
        for label in sorted(self._deps.sessions.users(session) - {OWN_ACCOUNT}):
            namespace, name = label.split("/", 1)
            stored, account = self._deps.objects.named(namespace, name), self._deps.accounts.get(namespace, name)
            if stored is None or account is None or stored.meta.deleting or is_paused(stored.meta.annotations):
                continue
            if account.tenant is None or session.learned.tenants <= {account.tenant}:
                yield Owner(namespace, name, stored.meta.uid)

    def _is_due(self, session: AccountSession, owners: tuple[Owner, ...]) -> bool:
        turn = self._turns.get(session)
        if not session.learned.clusters:
            return False
        new = turn is None or not turn.served.issuperset(owner.uid for owner in owners)
        return new or (turn is not None and self._deps.clock.mono() >= turn.due)

    async def _publish(self, session: AccountSession, owners: tuple[Owner, ...]) -> None:
        began = self._deps.clock.mono()
        try:
            done = await self._look_and_write(session, owners)
        except Exception:  # what is wrong with one credential must not stop the others
            log.exception("publishing offers failed unexpectedly")
            done = False
        delay = self._deps.interval if done else min(self._deps.interval, RETRY_SECONDS)
        self._turns[session] = _Turn(began + delay, frozenset(owner.uid for owner in owners))

    async def _look_and_write(self, session: AccountSession, owners: tuple[Owner, ...]) -> bool:
        """Return whether everything could be read and written."""
        try:
            answer = await look(session)
        except CloudError as error:
            log.info("no offers: the configurations cannot be listed", error=str(error))
            return False
        written = [await self._publish_for(owner, answer) for owner in owners]
        return all(written) and answer.availability.keys() == answer.clusters

    async def _publish_for(self, owner: Owner, answer: CloudAnswer) -> bool:
        """Write what one account's offers lack; return whether that succeeded."""
        memory = self._memory.setdefault(owner.uid, _Memory())
        said = {"namespace": owner.namespace, "account": owner.name}
        try:
            if await self._deps.terminating(owner.namespace):
                return True
            listed = await self._resources.owned(owner)
            facts = OfferFacts(owner, answer, listed, memory.misses, self._settling(memory))
            plan = decide(facts)
            memory.misses = dict(plan.misses)
            if plan.held != memory.held and plan.held:
                log.warning("many offers vanished at once; they are kept for now", offers=plan.held, **said)
            memory.held = plan.held
            await self._write(owner, listed, plan, memory)
        except KubeError as error:
            log.warning("the offers cannot be written", error=str(error), **said)
            return False
        return True

    def _settling(self, memory: _Memory) -> frozenset[str]:
        now = self._deps.clock.mono()
        memory.written = {name: at for name, at in memory.written.items() if now < at + SPACING_SECONDS}
        return frozenset(memory.written)

    async def _write(self, owner: Owner, listed: dict[str, ListedOffer], plan: OfferPlan, memory: _Memory) -> None:
        taken = set()
        for name, offer in plan.create.items():
            if await self._unless_conflict(self._resources.create(owner, name, offer)):
                memory.written[name] = self._deps.clock.mono()
            else:
                taken.add(name)
        if taken - memory.taken:
            said = {"namespace": owner.namespace, "account": owner.name, "names": sorted(taken)[:5]}
            log.warning("GpuOffers that this account does not own bear the names of its offers; they are left alone", **said)
        memory.taken = frozenset(taken)
        for name, offer in plan.update.items():
            if await self._unless_conflict(self._resources.update(owner, listed[name], offer)):
                memory.written[name] = self._deps.clock.mono()
        for name in plan.delete:
            await self._unless_conflict(self._resources.delete(owner, listed[name]))

    @staticmethod
    async def _unless_conflict(write: Awaitable[None]) -> bool:
        """Return False if the object is another one, or another version, than was listed: the next look sees to it."""
        try:
            await write
        except KubeError as error:
            if not (error.conflict or error.gone):
                raise
            return False
        return True
