"""Limits of VMs and of price: what still fits, what does not, and whom a limit never touches."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpucloud.kinds.common import OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import Absent, CallHistory, Limits, Verb
from gpucloud.reconcile.gpuvm import decide
from gpucloud.reconcile.price import dollars
from gpucloud.reconcile.quota import Quota, Usage, exceeded, needs_price
from support.builders import NOW, a_status, an_order, facts, known, our_name, present
from support.rows import Row, converges, ends_as_a_sentence, judge

THREE, TEN_DOLLARS = Quota("account", vms=3), Quota("namespace", price=Decimal(10))


def of(quota, vms, price="0", unpriced=0):
    return Usage(quota, f"The {quota.scope} 'team'", vms, Decimal(price), unpriced)


@pytest.mark.parametrize(
    ("why", "usage", "price", "says"),
    [
        ("no limit", (), "100", None),
        ("room for one more", (of(THREE, 2),), "2", None),
        ("none left", (of(THREE, 3),), "2", "The account 'team' has 3 VMs, and --max-vms-per-account allows 3."),
        ("lowered since", (of(THREE, 9),), "2", "has 9 VMs"),
        ("a price that just fits", (of(TEN_DOLLARS, 1, "8"),), "2", None),
        (
            "a price that does not",
            (of(TEN_DOLLARS, 1, "8.01"),),
            "2",
            "1 VM of 8.01 dollars an hour; this one costs 2.00, and --max-price-per-hour-per-namespace allows 10.",
        ),
        ("too dear alone", (of(TEN_DOLLARS, 0),), "31", "has 0 VMs of 0.00 dollars an hour; this one costs 31.00"),
        ("what is not known is said", (of(TEN_DOLLARS, 2, "9", 1),), "2", "(1 of unknown price"),
        ("each limit counts", (of(THREE, 0), of(TEN_DOLLARS, 1, "9")), "2", "--max-price-per-hour-per-namespace"),
    ],
)
def test_what_fits(why, usage, price, says):
    found = exceeded(usage, Decimal(price))
    assert (found is None) == (says is None), why
    assert says is None or says in found, why


def test_only_a_limit_of_price_needs_one():
    assert needs_price((of(THREE, 0),)) is None
    assert needs_price((of(THREE, 0), of(TEN_DOLLARS, 0))) == "--max-price-per-hour-per-namespace"


@pytest.mark.parametrize(
    ("text", "price"),
    [
        ("2.05", "2.05"),
        ("0", "0"),
        (None, None),
        ("", None),
        ("-1", None),
        ("NaN", None),
        ("inf", None),
        ("x", None),
        ("9e999999", None),
    ],
)
def test_a_price_is_read_with_care(text, price):
    """A status may have been edited."""
    assert dollars(text) == (None if price is None else Decimal(price))


quotas = st.builds(Quota, st.sampled_from(("account", "namespace")), st.integers(0, 4), st.integers(0, 9).map(Decimal))
usages = st.lists(
    st.builds(Usage, quotas, st.just("It"), st.integers(0, 5), st.integers(0, 12).map(Decimal), st.integers(0, 2)), max_size=3
).map(tuple)


@given(usages, st.integers(0, 9).map(Decimal))
def test_more_in_use_never_makes_room(usage, price):
    if exceeded(usage, price) is not None:
        more = tuple(replace(item, vms=item.vms + 1, price=item.price + 1) for item in usage)
        assert exceeded(more, price) is not None


@given(usages, st.integers(0, 9).map(Decimal))
def test_what_is_let_in_stays_within_every_limit(usage, price):
    if exceeded(usage, price) is None:
        for item in usage:
            assert not item.quota.vms or item.vms + 1 <= item.quota.vms
            assert not item.quota.price or item.price + price <= item.quota.price


# --- the chain of a GpuVM

FULL, DEAR = {"usage": (of(THREE, 3),)}, {"usage": (of(TEN_DOLLARS, 4, "8.20"),)}
PRICED = {"price_per_hour": "2.05"}
ORDER = an_order(our_name(), OrderState.INTENDED)
MINE = known(ORDER, ago=1, recorded=1)
INTENDED = a_status("Creating", order=ORDER)


def at(price):
    return INTENDED.model_copy(update={"price_per_hour": price})


GONE = Absent(NOW, NOW - 1, NOW - 1)
VAIN = known(an_order(our_name(), OrderState.REFUSED), earlier_unclear=True)
ROWS = {
    "no room: nothing is recorded, a person is called": Row(
        "a loop that makes objects must not spend the company's money",
        FULL,
        Reason.LIMIT_REACHED,
        progress="Stalled",
        records=False,
        status={"order": None},
        says=("has 3 VMs", "--max-vms-per-account allows 3", "Delete a GpuVM"),
    ),
    "too dear": Row("the same in dollars", DEAR | PRICED, Reason.LIMIT_REACHED, progress="Stalled", says="8.20"),
    "room: the order is recorded": Row(
        "limits cost nothing below them", {"usage": (of(THREE, 2),)} | PRICED, Reason.CREATING, records=True
    ),
    "no price in the catalogue, where a limit needs one": Row(
        "what cannot be judged is not bought",
        DEAR | {"history": CallHistory(first_seen=NOW - 6)},
        Reason.LIMIT_REACHED,
        progress="Stalled",
        says=("no price for 'A100_40GB_PCIe_1x'", "--max-price-per-hour-per-namespace"),
    ),
    "the catalogue is still being read": Row("nobody is called for a second of waiting", DEAR),
    "no price needed for a limit of VMs": Row(
        "the catalogue may be forbidden", {"usage": (of(THREE, 0),)}, Reason.CREATING, records=True
    ),
    "what is intended already goes on": Row(
        "it counts itself: holding it now would waste its place",
        FULL | {"status": INTENDED, "known": MINE},
        Reason.CREATING,
        action=Verb.CREATE,
    ),
    "what is intended already, and costs more by now, must fit": Row(
        "its spec was edited between the record and the call",
        DEAR | PRICED | {"status": at("1.50"), "known": MINE},
        Reason.LIMIT_REACHED,
        progress="Stalled",
        status={"order": OrderState.REFUSED},
    ),
    "what was ordered in vain, and costs more by now, must fit": Row(
        "the first order, which may have been carried out, is proven never made",
        DEAR | PRICED | {"status": at("1.50"), "known": VAIN, "found": GONE},
        Reason.LIMIT_REACHED,
        progress="Stalled",
    ),
    "what was ordered in vain at this price keeps its place": Row(
        "others have filled up the rest",
        DEAR | PRICED | {"status": at("2.05"), "known": VAIN, "found": GONE},
        Reason.CREATING,
        records=True,
    ),
    "what exists is never held by a limit": Row(
        "it is bought already", FULL | {"status": INTENDED, "found": present()}, Reason.RUNNING, "True", None
    ),
    "found again after its status was lost": Row(
        "a restore buys nothing", FULL | {"found": present()}, Reason.RUNNING, "True", None
    ),
    "an order that may have been carried out is cleared up": Row(
        "it may be there",
        FULL | {"status": INTENDED, "known": known(an_order(our_name(), OrderState.UNCLEAR), ago=1)},
        Reason.CREATING,
        looks=False,
    ),
    "a possible duplicate is said first": Row(
        "it is what a person must decide", FULL | {"lookalikes": ("train-x",)}, Reason.POSSIBLE_DUPLICATE, progress="Stalled"
    ),
    "observe-only says so, too": Row(
        "it is what would happen", FULL | {"limits": Limits(observe_only=True)}, Reason.LIMIT_REACHED, progress="Stalled"
    ),
}


@pytest.mark.parametrize("sentence", ROWS)
def test_decision(sentence):
    judge(ROWS[sentence], decide(facts(**ROWS[sentence].given)))


@pytest.mark.parametrize("sentence", ROWS)
def test_it_settles_and_speaks_in_sentences(sentence):
    assert ends_as_a_sentence(decide(facts(**ROWS[sentence].given)))
    converges(ROWS[sentence].given, decide, facts)


@pytest.mark.parametrize(("waited", "wait"), [(0, 5), (20, 5), (100, 25), (9999, 60)])
def test_room_is_looked_for_again_and_again(waited, wait):
    plan = decide(facts(**FULL, history=CallHistory(first_seen=NOW - waited)))
    assert plan.requeue_at == NOW + wait
    assert not plan.pending, "a listing would not tell"
