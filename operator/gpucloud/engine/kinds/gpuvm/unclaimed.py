"""VMs that no object claims and that may have been bought for one: under an earlier UID's name, or in another place."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gpucloud.engine.cache.claims import Claim
from gpucloud.engine.kinds.indexes import Marked
from gpucloud.engine.kinds.searches import Search
from gpucloud.kinds.common import OrderState
from gpucloud.reconcile import evidence, naming
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.core.create import free_from
from gpucloud.reconcile.facts import Unknown, UnknownReason
from gpucloud.reconcile.gpuvm import buy_anyway
from gpucloud.reconcile.gpuvm.clusters import clusters

if TYPE_CHECKING:
    from gpucloud.engine.cache.store import Store
    from gpucloud.engine.cloud.accounts import ResolvedAccount
    from gpucloud.engine.kinds.ownership import Ownership
    from gpucloud.engine.kinds.searches import Searches
    from gpucloud.reconcile.gpuvm import VmFacts
    from gpucloud.reconcile.naming import Identity


class Unclaimed:
    """Looks for VMs among those that a session lists."""

    def __init__(self, store: Store[Any, Any], ownership: Ownership, searches: Searches, tag: str) -> None:
        self._store, self._ownership, self._searches, self._tag = store, ownership, searches, tag

    def has_owner(self, uid: str, claim: Claim) -> bool:
        """Whether another object claims this VM, or the name has the fingerprint of another object's UID.

        That object may claim another place by now: its spec was edited, or its status lost. What bears this object's own
        fingerprint is no other's: whoever claims it is in Conflict.
        """
        if naming.proves(claim.identity.name, uid):
            return False
        mark = naming.read_mark(claim.identity.name, self._tag)
        owners = [] if mark is None else self._store.indexed(Marked(mark.fingerprint))
        return self._ownership.is_claimed(claim) or any(one.meta.uid != uid for one in owners)

    def carry_on_search(self, facts: VmFacts, account: ResolvedAccount) -> None:
        """Look in other clusters for the VM of an object that needs it; it is woken when more becomes known.

        Facts whose lookalikes hold the purchase need no search: its own VM need not be looked for.
        """
        search = None if buy_anyway.is_held_by_others(facts) else _search(facts, account)
        if search is None or account.session is None or search.not_before > facts.now.mono:
            return
        self._searches.carry_on(facts.meta.uid, search)
        _, unknown = self._searches.locations_of(search)
        if unknown is not None and unknown.cause is UnknownReason.REJECTED:
            account.session.learn_clusters()  # the message lists the known clusters

    def with_lookalikes(self, facts: VmFacts, account: ResolvedAccount) -> VmFacts:
        """Add the VMs that may be this object's, under an earlier UID's name. A query."""
        return replace(facts, lookalikes=self.lookalikes(facts, account))

    def with_strays(self, facts: VmFacts, account: ResolvedAccount) -> VmFacts:
        """Add the VMs that may be this object's, in another place, to facts with lookalikes. A query."""
        if buy_anyway.is_held_by_others(facts):
            return facts
        return replace(facts, strays=self.strays(facts, account))

    def lookalikes(self, facts: VmFacts, account: ResolvedAccount) -> tuple[str, ...]:
        """Return names of VMs that this installation created for an object of this name, and for which no other one stands."""
        if (orders.may_exist(facts.order) and not facts.replacement_is_planned) or account.session is None:
            return ()
        base, here, url = naming.base_name(facts.meta.name, self._tag), facts.identity, account.session.url
        places = [here._replace(cluster=cluster) for cluster in {here.cluster: None, **dict.fromkeys(_others(facts))}]
        named = [place._replace(name=name) for place in places for name in account.session.vms.names(*place[:2], base)]
        others = (one for one in named if one.name != here.name)  # its own one is no lookalike
        return tuple(one.name for one in others if not self.has_owner(facts.meta.uid, Claim(url, one)))

    def strays(self, facts: VmFacts, account: ResolvedAccount) -> tuple[Identity, ...] | Unknown:
        """Return where else VMs of this name are, for which no other object stands, if the status was lost or may be older.

        Any of them may be its own: the last record may have named another place than the spec does now. Otherwise the clusters
        that the spec names beside the one in hand are looked into. A query: ``carry_on_search`` asks for the listings.
        """
        search = _search(facts, account)
        if search is None:
            return ()
        if search.not_before > facts.now.mono:  # no listing that began until now counts
            return Unknown(search.not_before, UnknownReason.NOT_LISTED, min(_others(facts), default=""))
        found, unknown = self._searches.locations_of(search)
        url, uid = search.session.url, facts.meta.uid
        return tuple(there for there in found if not self.has_owner(uid, Claim(url, there))) or unknown or ()

    def end_old_search(self, facts: VmFacts, account: ResolvedAccount) -> None:
        """Look in no other cluster for an object that does not need it any more, or looks with another credential now.

        The search before an object is deleted is ended where it is begun.
        """
        if facts.meta.deleting:
            return
        if _must_search(facts):
            self._searches.end_other(facts.meta.uid, account.session)
        else:
            self._searches.end(facts.meta.uid)


def _search(facts: VmFacts, account: ResolvedAccount) -> Search | None:
    """Return what is searched for the object; None if its VM can be in no other cluster."""
    if not _must_search(facts) or account.session is None:
        return None
    anywhere = _may_be_anywhere(facts)
    return Search(account.session, facts.identity, _looked_from(facts), _others(facts), only_named=not anywhere)


def _must_search(facts: VmFacts) -> bool:
    """Whether the VM of an object may be in another cluster, and nobody has said to buy another one."""
    if facts.meta.deleting or buy_anyway.beside_own(facts):
        return False
    unsent = facts.state is not OrderState.INTENDED and orders.may_be_recorded(facts.state)
    return _may_be_anywhere(facts) or ((unsent or _awaits_planned_replacement(facts)) and bool(_others(facts)))


def _awaits_planned_replacement(facts: VmFacts) -> bool:
    """Whether the VM is about to be destroyed for another one, which is ordered only if no cluster shows one of its name."""
    return facts.awaits_replacement and facts.replacement_is_planned


def _may_be_anywhere(facts: VmFacts) -> bool:
    """Whether the record is lost, or may be older than the last order, so that it is as good as none.

    Under a chosen name only a lost status is searched for: after each restart another's VM of that name would hold up whoever
    waits.
    """
    older = not facts.chosen_name and evidence.may_be_anywhere(facts.tracked, facts.history)
    return facts.unrecorded or older


def _others(facts: VmFacts) -> frozenset[str]:
    """Return the clusters that the spec names beside the one in hand."""
    return frozenset(clusters(facts.spec)) - {facts.identity.cluster}


def _looked_from(facts: VmFacts) -> float:
    """Return the mono time from which listings of other clusters count.

    What this process ordered in one of them had made nothing when it was left. An earlier process may have ordered there a
    moment before the status was lost, or where the spec pointed before an edit (seed 92334555); in its own cluster the name
    guards it.
    """
    first_seen = facts.history.first_seen
    if not _may_be_anywhere(facts):
        return max(first_seen, facts.deletion_seen) if _awaits_planned_replacement(facts) else first_seen
    lost = facts.unrecorded and (_others(facts) or facts.meta.may_be_edited)
    return max(free_from(facts), evidence.status_lost_until(first_seen, facts.limits.grace)) if lost else free_from(facts)
