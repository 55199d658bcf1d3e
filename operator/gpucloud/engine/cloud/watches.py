"""Which inventories an object is watched in: its own thing's, and those of what its decision needs beside that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.cloud.inventory import Inventory
    from gpucloud.reconcile.naming import Identity

    Wanted = Mapping[tuple[AccountSession, str], Identity]  # by session and the inventory's name


class Watching:
    """By UID."""

    def __init__(self) -> None:
        self._watched: dict[str, Wanted] = {}

    def of(self, uid: str) -> Wanted:
        """What is watched for this object."""
        return self._watched.get(uid, {})

    def inventories(self, uid: str) -> list[Inventory[Any]]:
        """Those in which something is watched for this object."""
        return [session.inventories[name] for session, name in self.of(uid)]

    def users_of(self, session: AccountSession) -> list[str]:
        """UIDs of the objects that are watched through this session."""
        return [uid for uid, watched in self._watched.items() if any(where is session for where, _ in watched)]

    def put(self, uid: str, wanted: Wanted) -> None:
        """Watch these, and nothing else that was watched for this object before."""
        standing = self.of(uid)
        for (session, name), here in wanted.items():
            if standing.get((session, name)) != here:
                session.inventories[name].watch(uid, here)
        for session, name in standing:
            if (session, name) not in wanted:
                session.inventories[name].unwatch(uid)
        if wanted:
            self._watched[uid] = wanted
        else:
            self._watched.pop(uid, None)
