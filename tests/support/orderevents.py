"""Tracked orders in every state, and what happens to them: answers, listings, records and restarts."""

from __future__ import annotations

from dataclasses import replace

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OrderState
from gpucloud.reconcile import evidence, takeover
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.evidence import Proofs
from gpucloud.reconcile.facts import Absent, Presence, Present, Refusal
from gpucloud.reconcile.naming import Identity
from gpucloud.reconcile.order import TrackedOrder
from gpucloud.reconcile.placement import Placement
from gpucloud.reconcile.transitions import OrderEvent
from support.builders import a_reading, a_record, an_order

S, E = OrderState, OrderEvent
GRACE, SINCE = 30.0, 1000.0
HERE = Identity("Msc1", "acme", "train")
MARKED = Proofs(marked=True, adoptable=False, here=HERE, grace=GRACE)
CHOSEN = replace(MARKED, marked=False)
ADOPTS = replace(CHOSEN, adoptable=True)
UNIQUE = replace(CHOSEN, unique_id=True)
SPARED = replace(MARKED, spared=True)
LOST_ANSWER = Refusal(ErrorKind.OUTCOME_UNKNOWN, "no answer", ambiguous=True)
INVALID = Refusal(ErrorKind.INVALID, "no", ambiguous=False)
EXISTS = Refusal(ErrorKind.CONFLICT, "it exists", ambiguous=False)
NEW = an_order("train", S.INTENDED, id="new")


def at(state, *, own=True, **fields):
    """In this state since 1000 s, by a record of this process unless told otherwise."""
    order = an_order("train", state, cloud_id="train")
    return TrackedOrder(order, SINCE, recorded=SINCE - 1 if own else None, **fields)


def shown(as_of=SINCE, own_id="train", **presence):
    return Present(a_record(name=own_id), as_of, presence=Presence(**presence))


def back(at):
    """Shown again from then on, after two listings in a row had lacked it."""
    return shown(SINCE + 50, lacked_until=at, away_until=at)


def missing(confirmed, since=SINCE):
    """Two listings that lack it: the earlier one began then."""
    return Absent(confirmed + 1, since, confirmed)


def look(found, proofs):
    return lambda tracked: evidence.observed(tracked, found, proofs, a_reading(SINCE + 500), SINCE - 100)


def renumber(tracked):
    """Two listings show another unique id, the second when an absence would count."""
    return look(ELSE, UNIQUE)(look(shown(SINCE + 1, "other"), UNIQUE)(tracked))


def answer(refusal, chosen_name=False):
    return lambda tracked: orders.answered(tracked, refusal, Placement(), SINCE, chosen_name=chosen_name)


def record(tracked):
    return orders.record(tracked, NEW, SINCE)


def destroy(tracked):
    return orders.destroying(tracked, SINCE)


def ask(request):
    """``t1`` has been answered before."""
    return lambda tracked: orders.asked_again(tracked, request, "t1", SINCE)


def restart(tracked):
    return takeover.merged(None, tracked.order, frozenset(), SINCE)


def pass_by(tracked):
    """The next pass of the process that wrote the record."""
    return takeover.merged(tracked, tracked.order, frozenset({takeover.version_of(tracked.order)}), SINCE)


ELSE, ONE = shown(as_of=SINCE + 10 * GRACE, own_id="other"), Absent(SINCE + 400, SINCE)
