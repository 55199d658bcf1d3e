"""The lives of objects that share a name, and what was made for each: whose thing was destroyed, and was it to be?"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from chaos.rig.ledger import DESTROYS, UNKNOWN, Books
from gpucloud.reconcile.naming import fingerprint

if TYPE_CHECKING:
    from chaos.rig.trial import Trial

ON_ITS_WAY = 1.0  # seconds by which the books may tell of a destroy before the deletion that it follows


@dataclass
class Lives:
    """When each object was applied and deleted, by its UID. ``chosen``: names that bear no fingerprint, and whose they are."""

    trial: Trial
    chosen: dict[str, str]
    applied: dict[str, float] = field(default_factory=dict)
    deleted: dict[str, float] = field(default_factory=dict)

    def begin(self, manifest: dict[str, Any]) -> None:
        """Apply it, as an object that is not there."""
        at = self.trial.now()
        (item,) = self.trial.apply(manifest)
        self.applied[item["metadata"]["uid"]] = at

    def end(self, kind: str, name: str) -> None:
        """Ask for its deletion."""
        item = self.trial.here.get(kind, name)
        assert item is not None, f"there is no {kind}/{name}"
        self.deleted[item["metadata"]["uid"]] = self.trial.now()
        self.trial.here.delete(kind, name)

    def standing(self, who: str, at: float) -> str:
        """The UID that bore a name at that time, or was the last to bear it."""
        begun = (uid for uid, since in reversed(self.applied.items()) if since <= at and self.trial.uids[uid] == who)
        return next(begun, UNKNOWN)

    def staying(self) -> set[str]:
        """Whom nobody has deleted."""
        return self.applied.keys() - self.deleted.keys()


@dataclass(frozen=True)
class Made:
    """A thing that came into being: a VPC by its id, the others by their name. ``uid``: of the object that it was made for."""

    destroy: str
    name: str
    at: float
    uid: str


def undeserved(trial: Trial, books: Books, lives: Lives) -> list[str]:
    """Sentences about what was destroyed, by the ledger, or is not there any more, though nobody had deleted its object."""
    things = _made(books, lives)
    found = []
    for entry in books.committed():
        if entry["operation"] in DESTROYS:
            uid = _whose(things, entry)
            if lives.deleted.get(uid, math.inf) > entry["committed"] + ON_ITS_WAY:
                who = trial.uids.get(uid, UNKNOWN)
                found.append(f"{entry['operation']} of {entry['subject']}, of {who} ({uid}), which nobody had deleted")
    left, staying = _left(trial), lives.staying()
    lost = [one for one in things if one.uid in staying and (one.destroy, one.name) not in left]
    return found + [f"{one.name} is gone, of {trial.uids[one.uid]} ({one.uid}), which nobody had deleted" for one in lost]


def _made(books: Books, lives: Lives) -> list[Made]:
    """All that ever came into being. A name that tells no UID is that of the object which stood at the time."""
    by_print = {fingerprint(uid): uid for uid in lives.applied}
    chosen = lives.chosen | books.vpc_names
    found = []
    for destroy, changes in (("DestroyServer", books.vms), ("DeleteSnapshot", books.snapshots), ("DestroyVpc", books.vpcs)):
        for change in changes:
            if change["before"] is None:
                row, at = change["after"], change["at"]
                name = row["order"]["name"] if destroy == "DestroyServer" else row["name"]
                uid = by_print.get(name.rpartition("-")[2]) or lives.standing(chosen.get(name, UNKNOWN), at)
                found.append(Made(destroy, row["id"] if destroy == "DestroyVpc" else name, at, uid))
    return found


def _whose(things: list[Made], entry: dict[str, Any]) -> str:
    """The UID that the thing of a destroying call had been made for."""
    name, until = str((entry["subject"] or {}).get("id", "")), entry["committed"]
    them = [one.uid for one in things if (one.destroy, one.name) == (entry["operation"], name) and one.at <= until]
    return them[-1] if them else UNKNOWN


def _left(trial: Trial) -> set[tuple[str, str]]:
    """What is there and not on its way out."""
    world = trial.sim.control("world")
    left = {("DestroyServer", vm["order"]["name"]) for vm in world["vms"] if not vm["leaving"]}
    left |= {("DeleteSnapshot", one["name"]) for one in world["snapshots"] if not one["leaving"]}
    return left | {("DestroyVpc", vpc["id"]) for vpc in world["vpcs"]}
