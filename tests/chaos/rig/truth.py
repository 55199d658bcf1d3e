"""I5: whether a status said something for longer than a poll and five seconds that the cloud's books deny."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

from chaos.rig.kubeclient import PLURALS
from support.kstatus import ready

if TYPE_CHECKING:
    from chaos.rig.ledger import Books
    from chaos.rig.trial import Trial

PATIENCE = 5.0
ABSENT, THERE, TAKEN = "absent", "there", "taken"
TRUE_WHEN = {  # the words of Ready that claim something about the cloud, and the state in which each is so
    "True/Running": "ONLINE",
    "True/PoweredOff": "OFFLINE",
    "True/Available": THERE,
    "True/Adopted": THERE,
    "True/Completed": TAKEN,
}
_KINDS = {f"{plural}/status": kind for kind, plural in PLURALS.items()}
Change = tuple[float, str]


def contradictions(trial: Trial, books: Books) -> list[str]:
    """Sentences about each object that was called what its thing was not, and about a generation that is not exact."""
    allowed = PATIENCE + float(str(trial.flags["poll_steady_seconds"])) + trial.blind_seconds
    found = []
    for who, said in _said(trial).items():
        is_so = _states(books, who)
        seconds, word = _longest_lie(said, is_so)
        if seconds > allowed:
            found.append(f"I5: the status of {who} said {word} for {seconds:.1f} s when it was not; then: {is_so[-4:]}")
    for item in trial.here.list("gpuvms,gpuvpcs,gpusnapshots"):
        observed, meta = item.get("status", {}).get("observedGeneration"), item["metadata"]
        if "deletionTimestamp" not in meta and observed != meta["generation"]:
            found.append(f"I5: {item['kind']}/{meta['name']} has observed generation {observed}, not {meta['generation']}")
    return found


def _said(trial: Trial) -> dict[str, list[Change]]:
    """For each object, what its written statuses said and when, by the cloud's clock."""
    found: dict[str, list[Change]] = {}
    for seen in trial.kube.seen:
        kind = _KINDS.get(seen.call.resource)
        if kind in {"GpuVM", "GpuVpc", "GpuSnapshot"} and seen.call.verb == "update" and seen.status == 200 and seen.answered:
            at = seen.at + seen.answered - seen.received - trial.skew
            written: dict[str, Any] = json.loads(seen.call.body)
            found.setdefault(f"{kind}/{seen.call.kind.name}", []).append((at, ready(written)))
    end = trial.now()
    return {who: [*changes, (end, "-")] for who, changes in found.items()}


def _states(books: Books, who: str) -> list[Change]:
    """The true states of the thing of an object."""
    kind = who.partition("/")[0]
    changes = {"GpuVM": books.vms, "GpuVpc": books.vpcs, "GpuSnapshot": books.snapshots}[kind]
    found: list[Change] = [(0.0, ABSENT)]
    for change in changes:
        if _owner(books, kind, change["after"] or change["before"]) == who:
            at = change["at"]
            found += _became(kind, change["after"], at) if change["after"] else [(at, ABSENT)]
    return found


def _owner(books: Books, kind: str, row: dict[str, Any]) -> str | None:
    if kind == "GpuVpc":
        return books.vpc_names.get(row["name"])
    return books.named(row["order"]["name"] if kind == "GpuVM" else row["name"])


def _became(kind: str, row: dict[str, Any], at: float) -> list[Change]:
    if kind == "GpuVM":
        return [(at, row["status"])]
    if kind == "GpuVpc":
        return [(at, THERE)]
    return [(at, "leaving")] if row["leaving"] else [(at, "being taken"), (row["ready_at"], TAKEN)]


def _longest_lie(said: list[Change], is_so: list[Change]) -> tuple[float, str]:
    """The longest stretch in which what stood was not so, however often either changed in it; and the last reason."""
    longest, last, since = 0.0, "", None
    for moment, following in itertools.pairwise(sorted({at for at, _ in (*said, *is_so)})):
        word = _at(said, moment)
        if word not in TRUE_WHEN or _at(is_so, moment) == TRUE_WHEN[word]:
            since = None
            continue
        since = moment if since is None else since
        if following - since > longest:
            longest, last = following - since, word
    return longest, last.partition("/")[2]


def _at(changes: list[Change], moment: float) -> str:
    """What the last of the changes has brought of those that had come by then; a snapshot may go before it is taken."""
    return next((word for at, word in reversed(changes) if at <= moment), "-")
