"""Which inventories an object watches: that of its own resource, and those of other resources its decision needs."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from gpucloud.engine.cloud.listing_spacing import LEAST_SPACING_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.cloud.inventory import Inventory
    from gpucloud.reconcile.naming import Identity

    Wanted = Mapping[tuple[AccountSession, str], Identity]  # by session and name of the inventory


class Watches:
    """The watched identities of each object, by UID."""

    def __init__(self) -> None:
        self._watched: dict[str, Wanted] = {}
        self._users: defaultdict[tuple[AccountSession, str], dict[str, None]] = defaultdict(dict)  # UIDs by inventory

    def of(self, uid: str) -> Wanted:
        """Return what this object watches."""
        return self._watched.get(uid, {})

    def inventories(self, uid: str) -> list[Inventory[Any]]:
        """Return the inventories that this object watches."""
        return [session.inventories[name] for session, name in self.of(uid)]

    def follow(self, uid: str, *, pending: bool, listed_after: float | None, now: float) -> float | None:
        """Have the object's inventories listed as its plan asks; return when to reconcile (mono), None if a listing wakes it.

        ``pending``: a change is expected; ``listed_after``: a listing is waited for that began then (mono) or later.
        """
        for inventory in self.inventories(uid):
            inventory.expect_change(uid, pending)
        if listed_after is None or listed_after > now or self.refresh_after(uid, listed_after):
            return None
        return now + LEAST_SPACING_SECONDS  # the caches have that listing

    def refresh_after(self, uid: str, not_before: float) -> bool:
        """Let a listing that began at ``not_before`` (mono) or later wake this object; return whether one has yet to come.

        An inventory with such a listing is left out: it would wake the object at once, again and again.
        """
        behind = [inventory for inventory in self.inventories(uid) if not inventory.has_listed_since(uid, not_before)]
        for inventory in behind:
            inventory.refresh_after(uid, not_before)
        return bool(behind)

    def awaits_listing(self, uid: str, not_before: float) -> bool:
        """Whether such a listing is about to come. A query."""
        return any(inventory.awaits_listing(uid, not_before) for inventory in self.inventories(uid))

    def watchers_of(self, session: AccountSession) -> list[str]:
        """Return the UIDs of the objects that watch an inventory of this session."""
        return list(dict.fromkeys(uid for name in session.inventories for uid in self._users.get((session, name), ())))

    def within(self, session: AccountSession, inventory: str, cluster: str) -> Iterator[tuple[str, Identity]]:
        """Iterate over the objects that watch a cluster in this inventory: UID and watched identity."""
        found = ((uid, self.of(uid).get((session, inventory))) for uid in self._users.get((session, inventory), ()))
        return ((uid, here) for uid, here in found if here is not None and here.cluster == cluster)

    def put(self, uid: str, wanted: Wanted) -> None:
        """Replace what this object watches."""
        current = self.of(uid)
        for (session, name), here in wanted.items():
            if current.get((session, name)) != here:
                session.inventories[name].watch(uid, here)
                self._users[session, name][uid] = None
        for session, name in current:
            if (session, name) not in wanted:
                session.inventories[name].unwatch(uid)
                self._leave(uid, session, name)
        if wanted:
            self._watched[uid] = wanted
        else:
            self._watched.pop(uid, None)

    def drop(self, uid: str) -> None:
        """Remove a deleted object: it watches nothing any more."""
        self.put(uid, {})

    def _leave(self, uid: str, session: AccountSession, name: str) -> None:
        """Remove the object from the users of an inventory; a session without users is not remembered."""
        users = self._users[session, name]
        del users[uid]
        if not users:
            del self._users[session, name]
