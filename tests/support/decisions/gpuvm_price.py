"""Rows of a GpuVM whose alternatives are tried by price."""

from __future__ import annotations

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.kinds.placement import PricedOffer
from gpucloud.reconcile.facts import Absent
from gpucloud.reconcile.waiting_line import Line, Offer
from support.builders import NOW, a_spec, a_status, present
from support.decisions.gpuvm_placement import ONE, PAST, POOLED, TWO, after, in_hand, ordered, refused
from support.gpuvmfacts import RUNNING
from support.rows import Row

CHEAP = "H100_80GB_SXM_8x"
SPEC = a_spec(
    placement={
        "alternatives": [{"configuration": TWO}, {"configuration": CHEAP}, {"resourcePool": POOLED}],
        "order": "Price",
    }
)
PRICES = {ONE: "2.05", TWO: "4.10", CHEAP: "1.20"}
OWN, POOL = (ONE, None, PRICES[ONE]), (ONE, POOLED, PRICES[ONE])
CHEAPEST, DEAREST = (CHEAP, None, PRICES[CHEAP]), (TWO, None, PRICES[TWO])


def priced(*items):
    return tuple(PricedOffer(configuration=one, resource_pool=pool, price_per_hour=price) for one, pool, price in items)


BY_PRICE = priced(OWN, CHEAPEST, POOL, DEAREST)
UNKNOWN = priced((ONE, None, None), (TWO, None, None), (CHEAP, None, None), (ONE, POOLED, None))
FREE = Absent(NOW, NOW - 80, NOW - 0.5)
REFUSED = {"ago": 40.0, "ambiguous": True}

ROWS = {
    "by price the spec's own offer is ordered first, too": Row(
        "the others are alternatives",
        {"spec": SPEC, "prices": PRICES},
        Reason.CREATING,
        records=True,
        status={"placement": in_hand(ONE, offers=BY_PRICE)},
    ),
    "the cheapest alternative is ordered next": Row(
        "as the spec asks",
        after(ErrorKind.INVALID, spec=SPEC, prices=PRICES),
        Reason.CREATING,
        records=True,
        says=f"The VM is being created as '{CHEAP}'",
    ),
    "an alternative without a known price is ordered last": Row(
        "it may be dear",
        after(ErrorKind.INVALID, spec=SPEC, prices={ONE: "2.05", TWO: "4.10"}),
        Reason.CREATING,
        records=True,
        says=f"The VM is being created as '{ONE}' in pool '{POOLED}'",
    ),
    "without any price alternatives are ordered as listed": Row(
        "nobody waits for a price",
        after(ErrorKind.INVALID, spec=SPEC),
        Reason.CREATING,
        records=True,
        says=f"The VM is being created as '{TWO}'",
    ),
    "a price that changes meanwhile changes nothing before all were tried": Row(
        "the order of a round stands in status",
        {
            "spec": SPEC,
            "status": a_status(
                "Creating", order=ordered(OrderState.REFUSED), placement=in_hand(ONE, None, refused(), offers=BY_PRICE)
            ),
            "prices": PRICES | {TWO: "0.10"},
            "found": FREE,
        },
        Reason.CREATING,
        records=True,
        says=f"The VM is being created as '{CHEAP}'",
        status={"placement": in_hand(CHEAP, None, refused(), since=PAST, offers=BY_PRICE)},
    ),
    "a price that becomes known meanwhile counts at once": Row(
        "the first order went before the catalogue was read",
        {
            "spec": SPEC,
            "status": a_status(
                "Creating", order=ordered(OrderState.REFUSED), placement=in_hand(ONE, None, refused(), offers=UNKNOWN)
            ),
            "prices": PRICES,
            "found": FREE,
        },
        Reason.CREATING,
        records=True,
        says=f"The VM is being created as '{CHEAP}'",
        status={"placement": in_hand(CHEAP, None, refused(), since=PAST, offers=BY_PRICE)},
    ),
    "a new process orders by the recorded prices before it knows any": Row(
        "a restart changes no order",
        {
            "spec": SPEC,
            "status": a_status("Creating", order=ordered(OrderState.REFUSED), placement=in_hand(ONE, offers=BY_PRICE)),
            "found": FREE,
        },
        Reason.CREATING,
        records=True,
        status={"placement": in_hand(ONE, offers=BY_PRICE)},
    ),
    "when all were refused the order is decided anew": Row(
        "prices have changed",
        after(
            ErrorKind.UNAVAILABLE,
            **REFUSED,
            spec=SPEC,
            prices=PRICES | {TWO: "0.10"},
            line=Line(listed=frozenset({Offer(ONE), Offer(TWO), Offer(CHEAP), Offer(ONE, POOLED)})),
            placement=in_hand(ONE, None, *(refused(*one) for one in ((TWO,), (CHEAP,), (ONE, POOLED))), offers=BY_PRICE),
        ),
        Reason.WAITING_FOR_CAPACITY,
        records=False,
        says=f"for '{ONE}', '{TWO}', '{CHEAP}' or '{ONE}' in pool '{POOLED}' since",
    ),
    "an edit of the alternatives decides their order anew": Row(
        "the record is of other offers",
        {
            "spec": SPEC,
            "status": a_status("Creating", order=ordered(OrderState.REFUSED), placement=in_hand(
                ONE, None, refused(), offers=priced(OWN, DEAREST))),
            "prices": PRICES,
            "found": FREE,
        },
        Reason.CREATING,
        records=True,
        says=f"The VM is being created as '{CHEAP}'",
    ),
    "a VM that is there needs no order by price": Row(
        "nothing more is tried",
        {
            "spec": SPEC,
            "status": RUNNING.model_copy(
                update={"order": ordered(OrderState.SEEN, CHEAP), "placement": in_hand(CHEAP, offers=BY_PRICE)}
            ),
            "found": present(),
            "prices": PRICES,
        },
        Reason.RUNNING,
        "True",
        None,
        status={"placement": in_hand(CHEAP)},
    ),
}  # fmt: skip
