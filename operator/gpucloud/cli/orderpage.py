"""docs/reference/orders.md, printed from the table of transitions: what a person reads is what the core does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.kinds.common import OrderState
from gpucloud.kinds.gpuvm import Operation, Outcome
from gpucloud.reconcile.order import MAY_EXIST, URGENT
from gpucloud.reconcile.transitions import ACCEPTED_GRACES, MOST_REORDERS, TRANSITIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

NAME = "orders.md"

_STATES: Mapping[OrderState, str] = {
    OrderState.NOT_ORDERED: "The object was seen before our finalizer stood on it, so nothing was ever sent for it.",
    OrderState.INTENDED: (
        "The record of an order is written; the order is about to be sent, by the process that wrote it and only while the "
        "record is young. For any other process it may have been sent, and accepted, until the moment it reads this."
    ),
    OrderState.ACCEPTED: "The cloud answered that it makes it. What it named (an id, a cluster, a VPC) is recorded beside.",
    OrderState.UNCLEAR: "No answer tells whether it was carried out. It is looked for before anything is ordered again.",
    OrderState.REFUSED: "Proven: this order made nothing. The next one waits as the refusal says.",
    OrderState.OVERDUE: (
        f"The cloud accepted it, and for {ACCEPTED_GRACES} graces no listing shows it. It is ordered again at most "
        f"{MOST_REORDERS} times, and never where the acceptance named another place or id; then `OrderOverdue` calls a person."
    ),
    OrderState.SEEN: "A listing shows it as this object's.",
    OrderState.LOST: "It was seen, and is gone without our doing, or another has its name. It is not made again unasked.",
    OrderState.DESTROYING: "The destroying call is announced, and may have been sent.",
    OrderState.GONE: "Proven: what was destroyed is not there any more. The finalizer may go.",
}
_OUTCOMES: Mapping[Outcome, str] = {
    Outcome.ANNOUNCED: "Sent, or about to be. A new process waits out one grace before it says that the VM is as asked.",
    Outcome.UNCLEAR: "The call failed in a way that may hide a success. A listing tells.",
    Outcome.REFUSED: "The call failed for certain.",
    Outcome.DONE: "The VM was seen as asked, at the generation in `status.settledGeneration`.",
}
_ABOUT = (
    "`status.order` of a GpuVM, GpuVpc and GpuSnapshot records what became of the one thing that was ordered for it in the "
    "cloud. It is written before the order is sent, and kept until the object is gone. A state changes only as this table "
    "says, each time by the proof that is named; whatever else happens changes nothing. A *grace* is "
    "`--create-grace-seconds` (30 by default), counted by a process from what it saw itself: a restart shortens no wait."
)
_MARKED = (
    "While something *may stand* for an order, the object keeps its finalizer and its place, and counts towards limits. A "
    "state that is *written at once* has a status write of its own; any other comes with the next write, at the latest when "
    "it has lasted for 5 seconds, since a new process takes an Intended record for one that may have been accepted."
)


def order_page() -> str:
    """The whole page."""
    parts = [
        "<!-- printed from gpucloud.reconcile.transitions by `make crds` -->",
        "# Orders",
        _ABOUT,
        "## Transitions",
        _table(("From", "Event", "To", "Proof"), _transitions()),
        f"```mermaid\n{_diagram()}\n```",
        "## States",
        *(f"**{state}**: {_STATES[state]}{_marks(state)}" for state in OrderState),
        _MARKED,
        "## Power calls and restarts",
        "`status.operation` of a GpuVM records the last start, stop or restart in the same way: before it is sent.",
        _table(("Field", "Meaning"), _fields()),
        _table(("Outcome", "Meaning"), ((f"`{outcome}`", _OUTCOMES[outcome]) for outcome in Outcome)),
    ]
    return "\n\n".join(parts) + "\n"


def _marks(state: OrderState) -> str:
    marks = [text for states, text in ((MAY_EXIST, "may stand"), (URGENT, "written at once")) if state in states]
    return f" *({', '.join(marks)})*" if marks else ""


def _transitions() -> Iterable[tuple[str, ...]]:
    for (before, event), (after, proof) in TRANSITIONS.items():
        yield f"`{before}`", event, f"`{after}`", proof


def _diagram() -> str:
    lines = ["stateDiagram-v2", f"    [*] --> {OrderState.NOT_ORDERED}"]
    lines += [
        f"    {before} --> {after}: {event}" for (before, event), (after, _) in TRANSITIONS.items() if before is not after
    ]
    return "\n".join([*lines, f"    {OrderState.GONE} --> [*]"])


def _fields() -> Iterable[tuple[str, str]]:
    for name, field in Operation.model_fields.items():
        yield f"`{field.alias or name}`", field.description or ""


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = (head, tuple("---" for _ in head), *rows)
    return "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |" for line in lines)
