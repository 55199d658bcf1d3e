"""How an object stands, in one word, by the rules that kstatus has: the generation first, then the conditions. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from gpucloud.cli.terminal import marks
from gpucloud.kinds.meta import ConditionType
from gpucloud.reconcile import pause

if TYPE_CHECKING:
    from gpucloud.cli.plugin.model.objects import Thing


class Standing(StrEnum):
    """From what a person must look at first to what is well."""

    STALLED = "Stalled"
    UNKNOWN = "Unknown"
    UNSEEN = "Unseen"
    DELETING = "Deleting"
    WORKING = "Working"
    READY = "Ready"


MEANINGS = {
    Standing.STALLED: "A person must act; the message says how.",
    Standing.UNKNOWN: "Its state in the cloud cannot be read at the moment; the message says why.",
    Standing.UNSEEN: "The operator has not read this generation of the spec yet.",
    Standing.DELETING: "It is being deleted.",
    Standing.WORKING: "The operator is at work on it, or waits for something that needs no person.",
    Standing.READY: "It is as the spec asks.",
}
STYLES = {
    Standing.STALLED: "bold red",
    Standing.UNKNOWN: "yellow",
    Standing.UNSEEN: "yellow",
    Standing.DELETING: "magenta",
    Standing.WORKING: "cyan",
    Standing.READY: "green",
}
URGENCY = {standing: place for place, standing in enumerate(Standing)}


def standing(item: Thing) -> Standing:
    """How it stands. A status of an older generation counts for nothing."""
    stalled, ready = _true(item, ConditionType.STALLED), item.condition(ConditionType.READY)
    if item.deleting is not None:
        return Standing.STALLED if stalled else Standing.DELETING
    if item.observed != item.generation or ready is None:
        return Standing.UNSEEN
    if stalled:
        return Standing.STALLED
    if _true(item, ConditionType.RECONCILING):
        return Standing.UNKNOWN if ready.status == "Unknown" else Standing.WORKING
    return {"True": Standing.READY, "Unknown": Standing.UNKNOWN}.get(ready.status, Standing.WORKING)


def reason(item: Thing) -> str:
    """The word of its Ready condition."""
    ready = item.condition(ConditionType.READY)
    return "" if ready is None else ready.reason


def is_unread(item: Thing) -> bool:
    """Whether the operator has yet to see the spec as it is now, or that the object is to be deleted."""
    how = standing(item)
    return how is Standing.UNSEEN or (how is Standing.DELETING and item.observed != item.generation)


def unseen(item: Thing) -> str:
    """What stands in place of a message until the operator has read the spec: as a rule for less than a second."""
    if item.deleting is None and item.observed < 0:
        return "Waiting for the operator's first look at it."
    what = "the deletion" if item.deleting is not None else f"generation {item.generation} of the spec"
    return f"The operator has not seen {what} yet."


def message(item: Thing) -> str:
    """What its status says, whole: of Stalled if that stands, of Reconciling, else of Ready."""
    if is_unread(item):
        return (
            f"{unseen(item)} If this lasts for a minute, no operator runs, or none watches namespace {item.key.namespace!r}: "
            f"{marks.paste(f'kubectl gpucloud doctor --namespace={item.key.namespace}')}"
        )
    for kind in (ConditionType.STALLED, ConditionType.RECONCILING, ConditionType.READY):
        found = item.condition(kind)
        if found is not None and (kind is ConditionType.READY or found.status == "True"):
            return found.message
    return ""


def pause_message(item: Thing) -> str:
    """Why a paused object is paused, and the command that ends the pause."""
    return marks.read(pause.message(item.annotations, item.key.kind, item.key.namespace, item.key.name))


def _true(item: Thing, kind: ConditionType) -> bool:
    found = item.condition(kind)
    return found is not None and found.status == "True"
