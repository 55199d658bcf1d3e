"""Which inventories an object watches: that of its own resource, and those of other resources its decision needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.cloud.inventory import Inventory
    from gpucloud.reconcile.naming import Identity

    Wanted = Mapping[tuple[AccountSession, str], Identity]  # by session and name of the inventory


class Watches:
    """The watched identities of each object, by UID."""

    def __init__(self) -> None:
        self._watched: dict[str, Wanted] = {}

    def of(self, uid: str) -> Wanted:
        """Return what this object watches."""
        return self._watched.get(uid, {})

    def inventories(self, uid: str) -> list[Inventory[Any]]:
        """Return the inventories that this object watches."""
        return [session.inventories[name] for session, name in self.of(uid)]

    def refresh_after(self, uid: str, not_before: float) -> bool:
        """Let a listing that began at ``not_before`` (mono) or later wake this object; return whether one has yet to come.

        An inventory with such a listing is left out: it would wake the object at once, again and again.
        """
        behind = [inventory for inventory in self.inventories(uid) if not inventory.has_listed_since(uid, not_before)]
        for inventory in behind:
            inventory.refresh_after(uid, not_before)
        return bool(behind)

    def defers_to_listing(self, uid: str, not_before: float) -> bool:
        """Let such a listing wake this object if one is about to come; return whether it is."""
        coming = any(inventory.awaits_listing(uid, not_before) for inventory in self.inventories(uid))
        return coming and self.refresh_after(uid, not_before)

    def watchers_of(self, session: AccountSession) -> list[str]:
        """Return the UIDs of the objects that watch an inventory of this session."""
        return [uid for uid, watched in self._watched.items() if any(where is session for where, _ in watched)]

    def put(self, uid: str, wanted: Wanted) -> None:
        """Replace what this object watches."""
        current = self.of(uid)
        for (session, name), here in wanted.items():
            if current.get((session, name)) != here:
                session.inventories[name].watch(uid, here)
        for session, name in current:
            if (session, name) not in wanted:
                session.inventories[name].unwatch(uid)
        if wanted:
            self._watched[uid] = wanted
        else:
            self._watched.pop(uid, None)
