"""VMs that no object claims and that may have been bought for one: under an earlier UID's name, or in another place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.engine.cache.claims import Claim
from gpucloud.engine.kinds.indexes import Marked
from gpucloud.kinds.meta import Annotation
from gpucloud.reconcile import evidence, naming
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.core.create import free_from

if TYPE_CHECKING:
    from gpucloud.engine.cache.store import Store
    from gpucloud.engine.cloud.accounts import ResolvedAccount
    from gpucloud.engine.kinds.ownership import Ownership
    from gpucloud.engine.kinds.searches import Searches
    from gpucloud.reconcile.facts import Unknown
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

    def lookalikes(self, facts: VmFacts, account: ResolvedAccount) -> tuple[str, ...]:
        """Return names of VMs that this installation created for an object of this name, and for which no other one stands."""
        if orders.may_exist(facts.order) or account.session is None:
            return ()
        base, here, url = naming.base_name(facts.meta.name, self._tag), facts.identity, account.session.url
        names = account.session.vms.names(here.cluster, here.vpc, base)
        return tuple(name for name in names if not self.has_owner(facts.meta.uid, Claim(url, here._replace(name=name))))

    def strays(self, facts: VmFacts, account: ResolvedAccount) -> tuple[Identity, ...] | Unknown:
        """Return where else VMs of this name are, for which no other object stands, if the status was lost or may be older.

        Any of them may be its own: the last record may have named another place than the spec does now. The object is woken
        when more becomes known.
        """
        if not _must_search(facts) or account.session is None:
            return ()
        url, here, uid = account.session.url, facts.identity, facts.meta.uid
        found, unknown = self._searches.places_of(uid, account.session, here, free_from(facts))
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


def _must_search(facts: VmFacts) -> bool:
    """Whether the VM of an object may be anywhere, and nobody has said to buy another one.

    A record that may be older than its last order is as good as none. Under a chosen name only a lost status is searched for:
    after each restart another's VM of that name would hold up whoever waits.
    """
    if facts.meta.deleting or facts.annotated(Annotation.BUY_ANYWAY):
        return False
    older = not facts.chosen_name and evidence.may_be_anywhere(facts.tracked, facts.history)
    return facts.unrecorded or older
