"""The table of an order's states: each change with the proof that it needs, and what changes nothing.

``order.py`` and ``evidence.py`` obey it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from gpucloud.kinds.common import OrderState

if TYPE_CHECKING:
    from collections.abc import Mapping

ACCEPTED_GRACES = 10  # what was accepted may take this many graces to show in a listing
LONGEST_RESEND_SECONDS = 900.0  # between two destroying calls without effect, unless ten graces are longer: a VM is billed
DESTROYED_WITHIN_SECONDS = 300.0  # from a destroying call to its effect, at the latest, unless it has none
MOST_REORDERS = 3  # of one accepted order that never shows; then a person is asked


class OrderEvent(StrEnum):
    """What can happen to an order."""

    TAKEN_OVER = "another process wrote the record"
    RECORDED = "the record is written"
    ANSWERED = "the cloud accepts the order"
    UNANSWERED = "the answer may hide a success"
    REFUSED = "the cloud refuses the order"
    SHOWN = "a listing shows it"
    NAME_TAKEN = "a listing shows the chosen name"
    MISSING = "two listings lack it"
    REPLACED = "a listing shows another under its name"
    DESTROYED = "its destruction is announced"
    ASKED_AGAIN = "a person asks to order again"
    RECOVERED = "it stands, and is to be destroyed no more"


class Transition(NamedTuple):
    """The next state, and the proof without which the event does not count."""

    to: OrderState
    proof: str


S, E = OrderState, OrderEvent
_NAME_FREE = (
    "a fresh listing lacks the name (two in a row for a chosen name, or after an unclear order); our finalizer is visible"
)
MAY_EXIST = frozenset(
    {
        OrderState.INTENDED,
        OrderState.ACCEPTED,
        OrderState.UNCLEAR,
        OrderState.OVERDUE,
        OrderState.SEEN,
        OrderState.DESTROYING,
    }
)
_LISTED = "a complete listing that began after the record was written shows it, under the id that an acceptance named"
_ADOPTS = "spec.adoption allows it and the object is not being deleted"
_NOT_ADOPTED = "it was adopted, and the spec no longer allows that"
_RENUMBERED = "as soon as listings without it would count, two show another unique id than the recorded one"
_REPLACED = f"{_RENUMBERED}; or the table of chosen names says that the name is another's"
_KNOWN = "the process that ordered it knows its unique id"
_MARKED = "its name bears the fingerprint of this object's UID"
_ANOTHERS = "no order of this object is open that could have made it, so it is another's"

TRANSITIONS: dict[tuple[OrderState, OrderEvent], Transition] = {
    (S.NOT_ORDERED, E.RECORDED): Transition(S.INTENDED, _NAME_FREE),
    (S.NOT_ORDERED, E.SHOWN): Transition(S.SEEN, f"{_MARKED}, or {_ADOPTS}"),
    (S.NOT_ORDERED, E.DESTROYED): Transition(S.DESTROYING, f"no record tells what was ordered, and {_MARKED}"),
    (S.INTENDED, E.TAKEN_OVER): Transition(S.UNCLEAR, "none needed: whoever wrote it may have sent it until this moment"),
    (S.INTENDED, E.RECORDED): Transition(S.INTENDED, "the first record was not used, or is too old to be used"),
    (S.INTENDED, E.ANSWERED): Transition(S.ACCEPTED, "a 2xx answer; the id and place that it names are recorded"),
    (S.INTENDED, E.UNANSWERED): Transition(S.UNCLEAR, "time-out, reset, any 5xx, an answer that cannot be read"),
    (S.INTENDED, E.REFUSED): Transition(S.REFUSED, "a 4xx answer, or the request did not leave"),
    (S.INTENDED, E.SHOWN): Transition(S.SEEN, _MARKED),
    (S.INTENDED, E.NAME_TAKEN): Transition(S.REFUSED, "the order was not sent, so the listed one is another's"),
    (S.ACCEPTED, E.SHOWN): Transition(S.SEEN, _LISTED),
    (S.ACCEPTED, E.REPLACED): Transition(S.LOST, _RENUMBERED),
    (S.ACCEPTED, E.MISSING): Transition(S.OVERDUE, f"both listings began {ACCEPTED_GRACES} graces after the answer"),
    (S.UNCLEAR, E.SHOWN): Transition(
        S.SEEN, f"{_LISTED}; a chosen name of a VM or snapshot counts only if an acceptance named it"
    ),
    (S.UNCLEAR, E.MISSING): Transition(
        S.REFUSED,
        f"never made: both listings began a grace after the call; {ACCEPTED_GRACES} after a 2xx answer that cannot be read, or "
        "after a record was taken over; once a listing has shown the chosen name, every listing lacks it for a grace, too. "
        "What listings showed under the name before the order, told by its unique id, is not it",
    ),
    (S.UNCLEAR, E.REPLACED): Transition(S.LOST, _RENUMBERED),
    (S.REFUSED, E.RECORDED): Transition(S.INTENDED, _NAME_FREE),
    (S.REFUSED, E.SHOWN): Transition(S.SEEN, f"{_MARKED}, or {_ADOPTS}"),
    (S.OVERDUE, E.RECORDED): Transition(S.INTENDED, f"{_NAME_FREE}; at most {MOST_REORDERS} times"),
    (S.OVERDUE, E.SHOWN): Transition(S.SEEN, _LISTED),
    (S.OVERDUE, E.ASKED_AGAIN): Transition(S.UNCLEAR, "reconcile-requested-at is new: it is looked for once more before that"),
    (S.OVERDUE, E.DESTROYED): Transition(S.DESTROYING, f"{_MARKED}, or this process had the acceptance that names it"),
    (S.OVERDUE, E.REPLACED): Transition(S.LOST, _RENUMBERED),
    (S.SEEN, E.MISSING): Transition(S.LOST, "every listing lacks it for a grace, two at least"),
    (S.SEEN, E.REPLACED): Transition(S.LOST, _REPLACED),
    (S.SEEN, E.DESTROYED): Transition(
        S.DESTROYING,
        f"the owner deleted the object, or it is destroyed for another one, and a listing shows it as ours; or "
        f"{_MARKED}, or {_KNOWN}",
    ),
    (S.LOST, E.RECORDED): Transition(
        S.INTENDED,
        f"{_NOT_ADOPTED}; {_NAME_FREE}. Or spec.onLoss is Recreate, it was created for this object, and two listings that "
        "began a grace after the loss lack it",
    ),
    (S.LOST, E.SHOWN): Transition(S.SEEN, f"{_MARKED}, or its unique id is the recorded one, or {_ADOPTS}"),
    (S.LOST, E.DESTROYED): Transition(S.DESTROYING, f"{_MARKED}, or {_KNOWN}"),
    (S.DESTROYING, E.DESTROYED): Transition(
        S.DESTROYING,
        f"the earlier call had no effect: a listing shows it that began {ACCEPTED_GRACES} graces after its announcement. Each "
        f"further wait is twice as long, up to {LONGEST_RESEND_SECONDS:g} s, or {ACCEPTED_GRACES} graces if those are longer. "
        "Sooner if a person asks, or if this process sent that call and it was refused or not answered. Or no listing shows "
        "it, and another process had announced that call",
    ),
    (S.DESTROYING, E.MISSING): Transition(
        S.GONE, "two listings that began after the destroying call's answer lack it; without an answer, a grace later"
    ),
    (S.DESTROYING, E.REPLACED): Transition(S.GONE, _REPLACED),
    (S.DESTROYING, E.RECOVERED): Transition(
        S.SEEN,
        f"the object is not being deleted, and a listing that began {DESTROYED_WITHIN_SECONDS:g} s after the last destroying "
        "call's answer, or after the record was taken over, shows it without a failure that spec.onLoss answers",
    ),
    (S.GONE, E.TAKEN_OVER): Transition(S.DESTROYING, "none needed: people can edit a status, so the operator looks once more"),
    (S.GONE, E.SHOWN): Transition(S.DESTROYING, f"{_MARKED}, or {_ADOPTS}"),
    (S.GONE, E.RECORDED): Transition(S.INTENDED, f"{_NOT_ADOPTED}, or it was destroyed for another one; {_NAME_FREE}"),
}

# The pairs without a transition that happen all the same, and why nothing changes. Tests fail on any other pair that happens.
IGNORED: Mapping[tuple[OrderState, OrderEvent], str] = {
    (S.NOT_ORDERED, E.TAKEN_OVER): "nothing was ordered",
    (S.ACCEPTED, E.TAKEN_OVER): "the record says what was answered; its waits begin again",
    (S.UNCLEAR, E.TAKEN_OVER): "the record says that the answer is open; its waits begin again",
    (S.REFUSED, E.TAKEN_OVER): "the record says that nothing was made; two fresh listings must agree before the next order",
    (S.OVERDUE, E.TAKEN_OVER): "the record says what was answered; its waits begin again",
    (S.SEEN, E.TAKEN_OVER): "whether it is there still, the listings of this process say",
    (S.LOST, E.TAKEN_OVER): "whether it is back, the listings of this process say",
    (S.DESTROYING, E.TAKEN_OVER): "the record says that its destruction may be under way; its wait begins again",
    (S.SEEN, E.SHOWN): "a search before a deletion shows it in another place: the record says so from then on",
    (S.DESTROYING, E.SHOWN): "it is listed until its destruction is done",
    (S.NOT_ORDERED, E.NAME_TAKEN): _ANOTHERS,
    (S.UNCLEAR, E.NAME_TAKEN): "the order may have made it, or anybody: a person must look",
    (S.REFUSED, E.NAME_TAKEN): _ANOTHERS,
    (S.LOST, E.NAME_TAKEN): _ANOTHERS,
    (S.GONE, E.NAME_TAKEN): _ANOTHERS,
    **{
        (
            state,
            E.ASKED_AGAIN,
        ): "nothing waits for a person here; orders are counted from zero, and a final refusal is forgotten"
        for state in OrderState
        if state is not S.OVERDUE
    },
}
del S, E


def transition(state: OrderState, event: OrderEvent) -> Transition | None:
    """Where an event leads; None where it changes nothing."""
    return TRANSITIONS.get((state, event))
