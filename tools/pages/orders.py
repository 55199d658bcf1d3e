"""docs/reference/orders.md, printed from the tables of the core: what a person reads is what the core does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.kinds.common import OrderState
from gpucloud.kinds.gpuvm import Operation, Outcome
from gpucloud.reconcile.continuity import MATCHES, Gap, Likeness
from gpucloud.reconcile.order import URGENT
from gpucloud.reconcile.transitions import ACCEPTED_GRACES, IGNORED, MAY_EXIST, MOST_REORDERS, TRANSITIONS
from pages.markdown import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_STATES: Mapping[OrderState, str] = {
    OrderState.NOT_ORDERED: "Nothing was ever ordered for this object: the operator knew it before it put its finalizer on it.",
    OrderState.INTENDED: (
        "The order is recorded and about to be sent. Only the process that wrote the record sends it, and only while the "
        "record is young. Any other process must assume that it was sent and accepted."
    ),
    OrderState.ACCEPTED: "The cloud accepted the order. The id, cluster and VPC that its answer named are in the record.",
    OrderState.UNCLEAR: "The order may have been carried out. The operator looks for the result before it orders again.",
    OrderState.REFUSED: "Proven: this order created nothing. The reason of Ready tells when the next one is sent.",
    OrderState.OVERDUE: (
        f"The cloud accepted the order, and for {ACCEPTED_GRACES} graces no listing has shown the result. The operator orders "
        f"again at most {MOST_REORDERS} times, and never where the acceptance named another place or id; then the object is "
        "Stalled with the reason `OrderOverdue`."
    ),
    OrderState.SEEN: "A listing shows the VM, VPC or snapshot of this object.",
    OrderState.LOST: (
        "It was accepted or seen. Now it is gone without a call of the operator, or another has its name. It is not recreated."
    ),
    OrderState.DESTROYING: "The destroying call is recorded, and may have been sent.",
    OrderState.GONE: "Proven: the VM, VPC or snapshot no longer exists. The finalizer is removed.",
}
_OUTCOMES: Mapping[Outcome, str] = {
    Outcome.ANNOUNCED: "Sent, or about to be sent. A new process waits one grace before it reports that the VM is as asked.",
    Outcome.UNCLEAR: "The call failed, and may have been carried out all the same. The next listing decides.",
    Outcome.REFUSED: "The call failed and had no effect.",
    Outcome.DONE: "The VM was seen as asked, at the generation in `status.settledGeneration`.",
}
_ABOUT = (
    "`status.order` of a GpuVM, GpuVpc or GpuSnapshot records the one order that the operator sends to the cloud for this "
    "object, and its result. The record is written before the order is sent, and kept until the object is gone. Its state "
    "changes only as this table says, and only with the proof that the row names. In the table *it* is the VM, VPC or "
    "snapshot. A *grace* is `--create-grace-seconds` (30 seconds by default). The wait between "
    "two destroying calls is counted from `destroyingCall.announcedAt`, which is written before each of them; what was refused "
    "for certain is sent again under the same announcement. "
    "Each process counts every other wait from what it saw itself, so a restart shortens no wait of this table. After a "
    "creating call that was refused, a process waits before it sends the call again, up to 5 minutes where the cloud calls a "
    "name taken. A new process does not know of that wait: it may send the call again at once, when its own listings lack the "
    "name."
)
_IGNORED = (
    "These events happen in these states, and the state stays as it is. No other pair of a state and an event happens: the "
    "operator would change nothing, and its tests fail."
)
_OWN = (
    "The record's id ends with a fingerprint of the object's UID and of the name that was ordered. A record whose id does not "
    "fit was made for another object (a backup was restored under a new UID) or was edited: it is kept in the status and never "
    "used, unless the name itself bears the fingerprint of the UID. What then has a chosen name counts as another's "
    "(`Conflict`); the message says that it may be yours."
)
_CHOSEN = (
    "A name that the spec chooses (`vmName`, `snapshotName`) has no fingerprint: somebody may destroy the VM or snapshot of "
    "this object and make another one under its name. What a listing shows in the states Seen and Destroying follows from two "
    "facts: what happened since the last listing that showed it as this object's (the lowest row that holds), and how the "
    "listed record compares with the status (the column)."
)
_UNPROVEN = (
    "An order for a chosen name may have no clear answer: a time-out, a 5xx, or a process that ended before it recorded the "
    "answer. Whoever makes a VM of that name meanwhile takes it, and nothing tells theirs from the one that was ordered. So "
    "the order stays `Unclear`, whatever a listing then shows under the name: the object is Stalled with the reason "
    "`Ambiguous`, and nothing is powered or destroyed. When it is destroyed by hand, and listings have lacked it for a grace, "
    "the object orders again. A deletion of the object waits (`DeletionBlocked`) until it is gone, or until "
    "`spec.deletion.policy: Retain` lets the object go. A VPC's name can have no fingerprint at all: what bears it after such "
    "an order is taken for this object's."
)
_GAPS: Mapping[Gap, str] = {
    Gap.WATCHED: "Every listing since has shown it.",
    Gap.UNWATCHED: "Another process or another credential saw it last, or listings failed since.",
    Gap.DESTROYING: "`status.order` is Destroying: the destroying call may have been sent.",
    Gap.LACKED: "One believed listing lacked it, or several that lacked too much at once to be believed.",
    Gap.AWAY: "Two believed listings lacked it and none between them showed it, or the record has `missingSince`.",
}
_LIKENESSES: Mapping[Likeness, str] = {
    Likeness.SAME: "The private address of a VM, else its public one, is as recorded; or the creation time of a snapshot.",
    Likeness.UNKNOWN: "No address is both recorded and listed: addresses may be blank while a VM is off, or is being made.",
    Likeness.CHANGED: "No private address is known, and the public one differs: it may change whenever a VM is switched on.",
    Likeness.OTHER: "Neither changes while a VM or snapshot exists.",
}
_MATCHES = (
    "*This object's, if a second listing agrees*: nothing is done before that, because one listing may be an old one. *This "
    "object's, until a listing shows more*: the record is compared again in each listing. *Another's, if a second listing "
    "agrees*: nothing is done before that, for the same reason. *Another's*: the order becomes Lost, "
    "or Gone after Destroying, and the operator leaves that VM or snapshot alone, unless the spec adopts it."
)
_MISSING = (
    "`missingSince` says that two listings lacked what bears a chosen name. It is written with the report that the "
    "operator looks again, so a new process knows it, and removed when two listings have shown the same again."
)
_LET_GO = (
    "When an object is deleted, what is `Lost` or `Overdue`, or `Refused` after an order without a clear answer, is released "
    "only when two listings that began after the deletion lack it: the listings that proved it lost before may have been "
    "partial. A VPC that was lost may show again by its id, so a listing that shows another id lets it go a grace after the "
    "deletion. (`spec.deletion.policy: Retain` lets everything go at once.) While it cannot be listed, the object stays, and "
    "Ready says why and what to do."
)
_MARKED = (
    "*May exist*: in this state the VM, VPC or snapshot may exist in the cloud, so the object keeps its finalizer and its name "
    "in the cloud, and counts towards limits. *Written at once*: a change to this state is written to the apiserver on its "
    "own, and so is Seen after Accepted, Unclear or Overdue under a chosen name. Any other change comes with the next write, "
    "at the latest after 10 seconds."
)


def page() -> str:
    """The whole page."""
    parts = [
        "<!-- printed from gpucloud.reconcile.transitions by `make crds` -->",
        "# Orders",
        _ABOUT,
        "## Transitions",
        table(("From", "Event", "To", "Proof"), _transitions()),
        f"```mermaid\n{_diagram()}\n```",
        "## Events that change nothing",
        _IGNORED,
        table(("In", "Event", "Why the state stays"), _ignored()),
        "## States",
        *(f"**{state}**: {_STATES[state]}{_marks(state)}" for state in OrderState),
        _MARKED,
        _OWN,
        "## Chosen names",
        _CHOSEN,
        table(("Since it was seen last", *(likeness.capitalize() for likeness in Likeness)), _gaps()),
        *(f"**{gap.capitalize()}**: {_GAPS[gap]}" for gap in Gap),
        *(f"*{likeness.capitalize()}*: {_LIKENESSES[likeness]}" for likeness in Likeness),
        _MATCHES,
        _MISSING,
        _UNPROVEN,
        _LET_GO,
        "## Power calls and restarts",
        "`status.operation` of a GpuVM records the last start, stop or restart, before the call is sent.",
        table(("Field", "Meaning"), _fields()),
        table(("Outcome", "Meaning"), ((f"`{outcome}`", _OUTCOMES[outcome]) for outcome in Outcome)),
    ]
    return "\n\n".join(parts) + "\n"


def _marks(state: OrderState) -> str:
    marks = [text for states, text in ((MAY_EXIST, "may exist"), (URGENT, "written at once")) if state in states]
    return f" *({', '.join(marks)})*" if marks else ""


def _transitions() -> Iterable[tuple[str, ...]]:
    for (before, event), (after, proof) in TRANSITIONS.items():
        yield f"`{before}`", event, f"`{after}`", proof


def _ignored() -> Iterable[tuple[str, ...]]:
    for (state, event), why in IGNORED.items():
        yield f"`{state}`", event, why


def _gaps() -> Iterable[tuple[str, ...]]:
    for gap, matches in MATCHES.items():
        yield gap, *(matches[likeness] for likeness in Likeness)


def _diagram() -> str:
    lines = ["stateDiagram-v2", f"    [*] --> {OrderState.NOT_ORDERED}"]
    lines += [
        f"    {before} --> {after}: {event}" for (before, event), (after, _) in TRANSITIONS.items() if before is not after
    ]
    return "\n".join([*lines, f"    {OrderState.GONE} --> [*]"])


def _fields() -> Iterable[tuple[str, str]]:
    for name, field in Operation.model_fields.items():
        yield f"`{field.alias or name}`", field.description or ""
