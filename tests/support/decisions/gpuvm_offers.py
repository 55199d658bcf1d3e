"""Rows of a GpuVM with alternatives: those that are too dear, and answers that are about another offer."""

from __future__ import annotations

from decimal import Decimal

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.quota import Quota, Usage
from gpucloud.reconcile.waiting_line import Line
from support.builders import a_spec, known
from support.decisions.gpuvm_placement import FULL, JUST_NOW, ONE, POOLED, TWO, after, in_hand, ordered, refused, waiting
from support.rows import Row

WRONG = refused(reason="Rejected")
ONLY_TWO = a_spec(placement={"alternatives": [{"configuration": TWO}]})
TRIED = in_hand(TWO, None, refused(), refused(TWO), refused(ONE, POOLED))
NEXT = ordered(OrderState.REFUSED, TWO)

ROWS = {
    "an answer that came before the record was written is not about that record": Row(
        "seed 92157479: in one instant the first offer was rejected and the second recorded, which stood as Rejected for good",
        after(ErrorKind.INVALID, configuration=TWO, placement=in_hand(TWO, None, WRONG))
        | {"known": known(NEXT, ago=1.0, recorded=1.0)},
        Reason.CREATING,
        records=True,
        says=f"The VM is being created as '{TWO}'",
    ),
    "an alternative that is too dear for the limits on prices is left out": Row(
        "the GpuVM stood at LimitReached for good, though its own offer came free again",
        after(ErrorKind.UNAVAILABLE, ambiguous=True, ago=40.0, too_dear=frozenset({TWO})),
        Reason.CREATING,
        records=True,
        status={"placement": in_hand(ONE, POOLED, refused(at=JUST_NOW), since=JUST_NOW)},
    ),
    "a rejected alternative may be edited, and the others come round again": Row(
        "the spec's own offer cannot be edited, and an alternative can",
        after(ErrorKind.INVALID, configuration=TWO, placement=TRIED),
        Reason.WAITING_FOR_CAPACITY,
        records=False,
        says="What is free is not listed: the next try is in a few minutes.",
    ),
    "the only alternative is rejected like the spec's own": Row(
        "a person can edit it",
        after(
            ErrorKind.INVALID,
            configuration=TWO,
            spec=ONLY_TWO,
            placement=in_hand(TWO, None, WRONG, refused(TWO, reason="Rejected")),
        ),
        Reason.REJECTED,
        progress="Stalled",
        records=False,
        says="Correct spec.placement.alternatives.",
    ),
    "what is too dear is not waited for, and the message says so": Row(
        "whoever reads it would ask why nothing else is ordered",
        waiting(Line(listed=FULL), too_dear=frozenset({TWO})),
        Reason.WAITING_FOR_CAPACITY,
        records=False,
        says=f"the price limits exclude '{TWO}'.",
    ),
    "what is too dear stands in the way only when nothing else is left": Row(
        "its price is above the limit, and that is what a person can change",
        after(
            ErrorKind.INVALID,
            ago=40.0,
            spec=a_spec(placement={"alternatives": [{"configuration": TWO}]}),
            too_dear=frozenset({TWO}),
            price_per_hour="4.10",
            usage=(Usage(Quota("namespace", price=Decimal(3)), "The namespace 'team'"),),
        ),
        Reason.LIMIT_REACHED,
        progress="Stalled",
        records=False,
        wakes=60,
        says=(
            "This VM costs 4.10 dollars an hour; --max-price-per-hour-per-namespace allows 3. Delete this object and create it "
            "again with a cheaper configuration"
        ),
    ),
}
