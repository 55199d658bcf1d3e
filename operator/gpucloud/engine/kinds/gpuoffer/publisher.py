"""Publisher of GpuOffers: reads the catalogue of each credential once an interval, and writes the offers that changed.

One reading serves all accounts of a credential. Process memory holds how often an offer was missed: after a restart an offer
that is gone only stays a little longer.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import structlog

from gpucloud.cloud.errors import CloudError
from gpucloud.engine.kinds.gpuoffer.reading import is_transient, read_offers
from gpucloud.engine.kinds.gpuoffer.resources import OfferResources
from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.kube.events import Event
from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.kinds.gpuoffer import PLURAL
from gpucloud.kinds.meta import APPLY_CRDS, GROUP, Reason
from gpucloud.reconcile.gpuoffer import CloudAnswer, OfferFacts, OfferPlan, Owner, decide
from gpucloud.reconcile.pause import is_paused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

    from gpucloud.engine.cache.store import Store
    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.cloud.accounts import Accounts, AccountSessions
    from gpucloud.engine.kinds.gpuoffer.resources import Apiserver
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.kinds.gpucloudaccount import GpuCloudAccountSpec, GpuCloudAccountStatus
    from gpucloud.reconcile.facts import ObjectFacts
    from gpucloud.reconcile.gpuoffer import ListedOffer

log = structlog.get_logger("gpucloud.offers")

TICK_SECONDS = 5.0  # between two checks, without I/O, whether a credential is due
RETRY_SECONDS = 60.0  # after a reading that failed
ADVICE = {
    403: f"Grant the operator list, create, patch and delete on {PLURAL}.{GROUP}, as the chart's ClusterRole does.",
    404: f"Install the CRDs of the operator's version: {APPLY_CRDS}",
}


@dataclass(frozen=True, slots=True)
class PublisherDeps:
    """Dependencies of the publisher."""

    sessions: AccountSessions
    accounts: Accounts
    objects: Store[GpuCloudAccountSpec, GpuCloudAccountStatus]
    kube: Apiserver
    terminating: Callable[[str], Awaitable[bool]]  # whether a namespace is
    record: Callable[[ObjectFacts, Event], None]  # records an Event on an account
    clock: Clock


@dataclass(frozen=True, slots=True)
class _Reading:
    """The last reading with one credential."""

    due: float  # when the next one is (mono)
    served: frozenset[str]  # UIDs of the accounts that it was for


class OfferPublisher:
    """Publishes offers until cancelled."""

    def __init__(self, deps: PublisherDeps, interval: float) -> None:
        """``interval``: seconds between two readings with one credential."""
        self._deps, self._interval = deps, interval
        self._resources = OfferResources(deps.kube)
        self._readings: dict[AccountSession, _Reading] = {}
        self._misses: dict[str, Mapping[str, int]] = {}  # by UID of the account
        self._refusals: dict[str, str] = {}  # by UID of the account: the apiserver's last refusal, which has been reported
        self._writing = asyncio.Lock()  # one request at a time: a catalogue of a thousand offers must not delay the VMs

    async def run(self) -> None:
        """Publish what is due, again and again."""
        while True:
            await self.publish_due()
            await asyncio.sleep(min(TICK_SECONDS, self._interval))

    async def publish_due(self) -> None:
        """Read with each credential that is due, or that a new account uses, and publish for all of its accounts."""
        users = {session: owners for _, session in self._deps.sessions if (owners := tuple(self._owners(session)))}
        uids = {owner.uid for owners in users.values() for owner in owners}
        self._readings = {session: reading for session, reading in self._readings.items() if session in users}
        self._misses = {uid: misses for uid, misses in self._misses.items() if uid in uids}
        self._refusals = {uid: words for uid, words in self._refusals.items() if uid in uids}
        due = [(session, owners) for session, owners in users.items() if self._is_due(session, owners)]
        await asyncio.gather(*(self._publish(session, owners) for session, owners in due))

    def _owners(self, session: AccountSession) -> Iterator[Owner]:
        """Yield the GpuCloudAccounts that use this session.

        Left as they are: the offers of one that is paused or being deleted, or whose objects belong to another tenant.
        """
        for label in sorted(self._deps.sessions.users(session) - {OWN_ACCOUNT}):
            namespace, name = label.split("/", 1)
            stored, account = self._deps.objects.named(namespace, name), self._deps.accounts.get(namespace, name)
            if stored is None or account is None or stored.meta.deleting or is_paused(stored.meta.annotations):
                continue
            if account.tenant is None or session.learned.tenants <= {account.tenant}:
                yield Owner(namespace, name, stored.meta.uid)

    def _is_due(self, session: AccountSession, owners: tuple[Owner, ...]) -> bool:
        if not session.learned.clusters:
            return False
        reading = self._readings.get(session)
        return (
            reading is None
            or self._deps.clock.mono() >= reading.due
            or any(owner.uid not in reading.served for owner in owners)
        )

    async def _publish(self, session: AccountSession, owners: tuple[Owner, ...]) -> None:
        began, again = self._deps.clock.mono(), False
        try:
            answer, again = await read_offers(session)
            for owner in owners:
                await self._publish_for(owner, answer)
        except CloudError as error:
            log.info("no offers: the configurations cannot be listed", error=str(error), host=session.host)
            again = is_transient(error)
        except Exception:  # what is wrong with one credential must not stop the others
            log.exception("publishing offers failed unexpectedly", host=session.host)
        delay = min(self._interval, RETRY_SECONDS) if again else self._interval
        self._readings[session] = _Reading(began + delay, frozenset(owner.uid for owner in owners))

    async def _publish_for(self, owner: Owner, answer: CloudAnswer) -> None:
        """Write what one account's offers lack, unless the apiserver refuses: then report that once."""
        try:
            if await self._deps.terminating(owner.namespace):
                return
            async with self._writing:
                listed = await self._resources.listed(owner.namespace)
                plan = decide(OfferFacts(owner, answer, listed, self._misses.get(owner.uid, {})))
                self._misses[owner.uid] = plan.misses
                await self._write(owner, listed, plan)
        except KubeError as error:
            self._report(owner, error)
        else:
            self._refusals.pop(owner.uid, None)

    async def _write(self, owner: Owner, listed: Mapping[str, ListedOffer], plan: OfferPlan) -> None:
        """Write one after the other. A conflict (somebody was faster) is left to the next reading."""
        for write in self._writes(owner, listed, plan):
            try:
                await write()
            except KubeError as error:
                if not (error.conflict or error.gone):
                    raise

    def _writes(
        self, owner: Owner, listed: Mapping[str, ListedOffer], plan: OfferPlan
    ) -> Iterator[Callable[[], Awaitable[None]]]:
        for name, offer in plan.write.items():
            known = listed.get(name)
            yield (
                partial(self._resources.create, owner, name, offer)
                if known is None
                else partial(self._resources.update, owner, known, offer)
            )
        for name in plan.delete:
            yield partial(self._resources.delete, owner, listed[name])

    def _report(self, owner: Owner, error: KubeError) -> None:
        """Report a refusal once, in the log and as an Event of the account; again only when another one comes."""
        words = f"{error.status} {error.reason}"
        if self._refusals.get(owner.uid) == words:
            return
        self._refusals[owner.uid] = words
        advice = ADVICE.get(error.status, "The operator tries again at the next interval (--offer-seconds).")
        log.warning("the GpuOffers cannot be written", error=str(error), namespace=owner.namespace, account=owner.name)
        stored = self._deps.objects.named(owner.namespace, owner.name)
        if stored is not None and stored.meta.uid == owner.uid:
            note = f"The GpuOffers of this account cannot be written: {words}. {advice}"
            self._deps.record(stored.meta, Event(Reason.OFFERS_NOT_WRITTEN, note, "Publish", warning=True))
