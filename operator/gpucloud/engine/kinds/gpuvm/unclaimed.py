"""VMs that no object claims and that may have been bought for one: under an earlier UID's name, or in another place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.engine.cache.claims import Claim
from gpucloud.engine.kinds.indexes import Marked
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.meta import Annotation
from gpucloud.reconcile import naming
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.core.create import free_from
from gpucloud.reconcile.evidence import status_lost_until
from gpucloud.reconcile.facts import Unknown, UnknownReason
from gpucloud.reconcile.gpuvm.clusters import clusters
from gpucloud.reconcile.gpuvm.elsewhere import is_searched

if TYPE_CHECKING:
    from gpucloud.engine.cache.store import Store
    from gpucloud.engine.cloud.accounts import ResolvedAccount
    from gpucloud.engine.cloud.anywhere import Anywhere
    from gpucloud.engine.kinds.ownership import Ownership
    from gpucloud.reconcile.gpuvm import VmFacts
    from gpucloud.reconcile.naming import Identity


class Unclaimed:
    """Looks for VMs among those that a session lists."""

    def __init__(self, store: Store[Any, Any], ownership: Ownership, tag: str) -> None:
        self._store, self._ownership, self._tag = store, ownership, tag
        self._searches: dict[str, Anywhere] = {}  # by UID of the objects that look in every cluster

    def has_owner(self, uid: str, claim: Claim) -> bool:
        """Whether an object claims this VM, or the name has the fingerprint of another object's UID.

        That object may claim another place by now: its spec was edited, or its status lost.
        """
        mark = naming.read_mark(claim.identity.name, self._tag)
        owners = [] if mark is None else self._store.indexed(Marked(mark.fingerprint))
        return self._ownership.is_claimed(claim) or any(one.meta.uid != uid for one in owners)

    def lookalikes(self, facts: VmFacts, account: ResolvedAccount) -> tuple[str, ...]:
        """Return names of VMs that this installation created for an object of this name, and for which no other one stands."""
        if orders.may_exist(facts.order) or account.session is None:
            return ()
        base, here, url = naming.base_name(facts.meta.name, self._tag), facts.identity, account.session.url
        places = [here._replace(cluster=cluster) for cluster in {here.cluster: None, **dict.fromkeys(_others(facts))}]
        named = [place._replace(name=name) for place in places for name in account.session.vms.names(*place[:2], base)]
        others = (one for one in named if one.name != here.name)  # its own one is no lookalike
        return tuple(one.name for one in others if not self.has_owner(facts.meta.uid, Claim(url, one)))

    def strays(self, facts: VmFacts, account: ResolvedAccount) -> tuple[Identity, ...] | Unknown:
        """Return where else VMs of this name are, for which no other object stands: in any cluster if the status was lost.

        Any of them may be its own: the lost record may have named another place than the spec does now. Otherwise the clusters
        that the spec names beside the one in hand are looked into. The object is woken when more becomes known.
        """
        if not _must_search(facts) or account.session is None:
            return ()
        url, here, uid, search = account.session.url, facts.identity, facts.meta.uid, account.session.vms_anywhere
        self._searches[uid], since = search, _looked_from(facts)
        if since > facts.now.mono:  # no listing that began until now counts
            return Unknown(since, UnknownReason.NOT_LISTED, min(_others(facts), default=""))
        if _may_be_anywhere(facts):
            found, unknown = search.places_of(uid, here.name, since, _others(facts))
        else:
            found, unknown = search.places_in(uid, here.name, since, _others(facts))
        if unknown is not None and unknown.cause is UnknownReason.REJECTED:
            account.session.learn_clusters()  # the message lists the known clusters
        others = (there for there in found if there.vpc != here.vpc or not naming.same_cluster(there.cluster, here.cluster))
        return tuple(there for there in others if not self.has_owner(uid, Claim(url, there))) or unknown or ()

    def end_search(self, uid: str) -> None:
        """Look in no other cluster for this object's VM."""
        search = self._searches.pop(uid, None)
        if search is not None:
            search.end_search(uid)

    def end_old_search(self, facts: VmFacts, account: ResolvedAccount) -> None:
        """The same, if the object does not need it any more, or looks with another credential now."""
        search = None if account.session is None else account.session.vms_anywhere
        if not _must_search(facts) or self._searches.get(facts.meta.uid) is not search:
            self.end_search(facts.meta.uid)


def _must_search(facts: VmFacts) -> bool:
    """Whether the VM of an object may be in another cluster, and nobody has said to buy another one."""
    if facts.meta.deleting:
        return is_searched(facts)
    if facts.annotated(Annotation.BUY_ANYWAY):
        return False
    unsent = facts.state is OrderState.INTENDED or not orders.may_be_recorded(facts.state)
    return _may_be_anywhere(facts) or not (unsent or not _others(facts))


def _may_be_anywhere(facts: VmFacts) -> bool:
    """Whether the record is lost of an object that buys a VM: it may have named a place that the spec does not name now."""
    return facts.unrecorded and not facts.meta.deleting


def _others(facts: VmFacts) -> frozenset[str]:
    """Return the clusters that the spec names beside the one in hand."""
    return frozenset(clusters(facts.spec)) - {facts.identity.cluster}


def _looked_from(facts: VmFacts) -> float:
    """Return the mono time from which listings of other clusters count.

    An earlier process may have ordered there a moment before the status was lost. In its own cluster the name guards it.
    """
    since = max(free_from(facts), facts.deletion_seen if facts.meta.deleting else 0.0)
    lost = facts.unrecorded and _others(facts)
    return max(since, status_lost_until(facts.history.first_seen, facts.limits.grace)) if lost else since
