"""In what order things were done: an order leaves when its record is saved, an object is let go when its thing has gone.

Invariants 3 and 5 of the design. What stands at the end shows neither: the cloud would be just as empty a moment later.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from chaos.rig.kubeclient import PLURALS
from chaos.rig.ledger import CREATES, DESTROYS, name_of
from gpucloud.kinds.meta import FINALIZER
from gpucloud.reconcile.naming import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chaos.rig.calls import Call
    from chaos.rig.ledger import Books
    from chaos.rig.trial import Trial

_STATUSES = {f"{plural}/status" for plural in PLURALS.values()}
_LEAST = 0.05  # seconds: the links' clock and the cloud's are compared
_HEARD = 0.4  # seconds until the operator has heard by its watch what a person said, on a busy machine


class Life(NamedTuple):
    """From when to when a thing was there, by the cloud's clock."""

    name: str
    born: float
    ended: float


def disorder(trial: Trial, books: Books) -> list[str]:
    """Sentences about orders that no saved status had announced, and about finalizers that went before the thing did."""
    return [*_unannounced(trial), *_let_go_early(trial, books)]


def _unannounced(trial: Trial) -> Iterator[str]:
    saved: list[tuple[float, str]] = []
    for seen in trial.kube.seen:
        if seen.call.resource in _STATUSES and seen.call.verb == "update" and seen.status == 200 and seen.answered is not None:
            order = json.loads(seen.call.body)["status"].get("order") or {}
            saved += [(seen.answered, order["name"])] if "name" in order else []
    for seen in trial.cloud.seen:
        if seen.call.word in CREATES and seen.forwarded is not None:
            text = f"{seen.call.query} {seen.call.body.decode(errors='replace')}"
            if not any(at <= seen.received and name in text for at, name in saved):
                yield f"invariant 5: {seen.call} was sent, and no saved status had announced it: {text[:200]}"


def _let_go_early(trial: Trial, books: Books) -> Iterator[str]:
    """Only what the operator itself had told to go: what is retained, or somebody else's to end, stays."""
    told = [(books.called(one), one["committed"]) for one in books.committed() if one["operation"] in DESTROYS]
    for seen in trial.kube.seen:
        uid = _lets_go(seen.call) if seen.status == 200 else None
        if uid is None:
            continue
        at = seen.at - trial.skew
        for life in _lives(books, uid):
            if _retained_too_late(trial, uid, life.name, seen.at):
                continue
            ordered = any(name == life.name and life.born <= when <= at for name, when in told)
            if ordered and life.born <= at < life.ended - _LEAST:
                yield f"invariant 3: {books.uids[uid]} was let go {life.ended - at:.2f} s before {life.name} had gone"


def _retained_too_late(trial: Trial, uid: str, name: str, at: float) -> bool:
    """Whether its owner said Retain before it was let go (``at``), and after all of its destroying calls had been sent.

    Retain lets an object go at once: invariant 3 asks for a proof that its thing is gone, *or* Retain. A call that has left
    cannot be taken back, and its effect is not waited for, since the owner may say Retain just because none comes. A call that
    left after the operator had heard of Retain excuses nothing.
    """
    said = trial.retained.get(uid)
    sent = [
        seen.at
        for seen in trial.cloud.seen
        if seen.call.word in DESTROYS and name in f"{seen.call.query} {seen.call.body.decode(errors='replace')}"
    ]
    return said is not None and said <= at and bool(sent) and max(sent) <= said + _HEARD


def _lets_go(call: Call) -> str | None:
    """The UID of the object that a JSON patch takes our finalizer from."""
    if call.resource not in PLURALS.values() or call.verb != "patch" or not call.body.startswith(b"["):
        return None
    said = {one["path"]: one.get("value") for one in json.loads(call.body)}
    left, uid = said.get("/metadata/finalizers"), said.get("/metadata/uid")
    return str(uid) if isinstance(left, list) and FINALIZER not in left and uid else None


def _lives(books: Books, uid: str) -> Iterator[Life]:
    """Of the things that are this object's, by their names."""
    begun: dict[str, Life] = {}
    for change in (*books.vms, *books.snapshots, *books.vpcs):
        row: dict[str, Any] = change["after"] or change["before"]
        name = name_of(row)
        if not (name.endswith(f"-{fingerprint(uid)}") or books.vpc_names.get(name) == books.uids[uid]):
            continue
        which = f"{name} {row.get('uid', row['created'])}"
        begun.setdefault(which, Life(name, change["at"], float("inf")))
        if change["after"] is None:
            yield begun.pop(which)._replace(ended=change["at"])
    yield from begun.values()
