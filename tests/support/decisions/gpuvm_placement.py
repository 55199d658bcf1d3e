"""Rows of a GpuVM with alternatives: which offer is ordered next, and what the status says of those that were refused."""

from __future__ import annotations

from datetime import timedelta

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.kinds.placement import PlacementStatus, RefusedOffer
from gpucloud.reconcile.facts import Absent, Verb
from gpucloud.reconcile.waiting_line import Line, Offer
from support.builders import NOW, START, a_spec, a_status, an_order, known, present
from support.gpuvmfacts import NAME, RUNNING
from support.rows import WORDS, Row, noted, tried

ONE, TWO, POOLED = "A100_40GB_PCIe_1x", "A100_40GB_PCIe_2x", "on-demand"
SPEC = a_spec(placement={"alternatives": [{"configuration": TWO}, {"resourcePool": POOLED}]})
PATIENT = SPEC.model_copy(update={"placement": SPEC.placement.model_copy(update={"wait_seconds": 300})})
JUST_NOW = START + timedelta(seconds=NOW - 40)
PAST = START + timedelta(seconds=NOW - 100)


def refused(configuration=ONE, pool=None, reason="NoCapacity", at=PAST, generation=1, **more):
    return RefusedOffer(
        configuration=configuration, resource_pool=pool, reason=reason, message=WORDS, at=at, generation=generation, **more
    )


def in_hand(configuration=ONE, pool=None, *items, since=None, **more):
    return PlacementStatus(configuration=configuration, resource_pool=pool, refused=items, waiting_since=since, **more)


def ordered(state, configuration=ONE, pool=None):
    return an_order(NAME, state, configuration=configuration, resource_pool=pool)


def after(kind, *, ambiguous=False, ago=1.0, state=OrderState.REFUSED, configuration=ONE, placement=None, **more):
    """A process that sent its own order for an offer, and what became of it."""
    order = ordered(state, configuration)
    return {
        "spec": SPEC,
        "status": a_status("Creating", order=order, placement=placement),
        "history": tried(Verb.CREATE, ago=ago, kind=kind, ambiguous=ambiguous),
        "known": known(order, ago=ago, recorded=ago + 1, earlier_unclear=ambiguous),
        "found": Absent(NOW, NOW - 80, NOW - 0.5),
    } | more


ALL_BUSY = in_hand(TWO, None, refused(), refused(TWO), refused(ONE, POOLED, at=PAST - timedelta(seconds=5)))
QUEUED = ALL_BUSY.model_copy(update={"waiting_since": PAST})
FULL = frozenset({Offer(ONE), Offer(TWO), Offer(ONE, POOLED)})  # the cloud lists the room of each: none
TAKEN = {Offer(ONE): START + timedelta(seconds=NOW + 20)}  # others were refused it a short time ago
LONG_REFUSED = {"ago": 100.0, "configuration": TWO, "placement": ALL_BUSY, "ambiguous": True}


def waiting(line, **more):
    """A GpuVM that waits since its first refusal, whose backoff is long over, and what the line says of it."""
    return after(ErrorKind.UNAVAILABLE, line=line, **LONG_REFUSED | more)


ROWS = {
    "the spec's own offer is ordered first": Row(
        "an alternative is second best",
        {"spec": SPEC},
        Reason.CREATING,
        records=True,
        status={"placement": in_hand(ONE)},
    ),
    "no capacity is answered by the first alternative": Row(
        "the refusal is certain, so nothing was made",
        after(ErrorKind.UNAVAILABLE, ambiguous=True, ago=40.0),
        Reason.CREATING,
        records=True,
        says=f"The VM is being created as '{TWO}': the cloud refused '{ONE}' (\"{WORDS}\").",
        status={"placement": in_hand(TWO, None, refused(at=JUST_NOW), since=JUST_NOW)},
    ),
    "an answer that may hide a success moves nothing": Row(
        "a second order elsewhere would buy a second VM",
        after(ErrorKind.UNAVAILABLE, ambiguous=True, state=OrderState.UNCLEAR),
        Reason.WAITING_FOR_CAPACITY,
        looks=False,
        records=False,
        status={"order": OrderState.UNCLEAR},
    ),
    "a wrong word of one offer does not stop the others": Row(
        "an alternative may be of another pool, or may be allowed",
        after(ErrorKind.INVALID),
        Reason.CREATING,
        records=True,
        status={"placement": in_hand(TWO, None, refused(reason="Rejected", at=START + timedelta(seconds=NOW - 1)))},
    ),
    "an answer of no certain meaning rejects nothing, whatever its words": Row(
        "seed 1551: a 500 said 'not found', the cloud rejected the alternative, and neither was ordered any more",
        after(ErrorKind.NOT_FOUND, ambiguous=True, ago=40.0),
        Reason.CREATING,
        records=True,
        status={"placement": in_hand(TWO, None, refused(reason="Failed", at=JUST_NOW))},
    ),
    "too many requests blame no offer": Row(
        "the same offer is ordered after the pause",
        after(ErrorKind.THROTTLED),
        Reason.RATE_LIMITED,
        records=False,
        wakes=10,
        status={"placement": in_hand(ONE)},
    ),
    "when all were tried the operator waits before it goes round again": Row(
        "no hot loop over the alternatives",
        after(ErrorKind.UNAVAILABLE, configuration=TWO, placement=ALL_BUSY),
        Reason.WAITING_FOR_CAPACITY,
        records=False,
        wakes=20,
    ),
    "the offer whose refusal is the oldest comes next": Row(
        "each gets its turn",
        after(ErrorKind.UNAVAILABLE, configuration=TWO, placement=ALL_BUSY, ago=30.0),
        Reason.WAITING_FOR_CAPACITY,
        records=True,
        says=WORDS,
    ),
    "what was rejected is left out when the others come round again": Row(
        "the same words get the same answer",
        after(
            ErrorKind.UNAVAILABLE,
            configuration=TWO,
            ago=30.0,
            placement=in_hand(TWO, None, refused(ONE, POOLED, "Rejected", at=PAST - timedelta(seconds=9)), refused()),
        ),
        Reason.WAITING_FOR_CAPACITY,
        records=True,
        says="correct spec.placement.alternatives",
    ),
    "an edit begins with the spec's own offer again": Row(
        "a person has corrected something",
        after(ErrorKind.UNAVAILABLE, configuration=TWO, placement=ALL_BUSY) | {"meta": noted(generation=2)},
        Reason.WAITING_FOR_CAPACITY,
        records=True,
        status={"placement": in_hand(ONE)},
    ),
    "a new process goes on where the last one stood": Row(
        "the refusals stand in status",
        {
            "spec": SPEC,
            "status": a_status(
                "WaitingForCapacity", order=ordered(OrderState.REFUSED), placement=in_hand(TWO, None, refused())
            ),
            "found": Absent(NOW, NOW - 80, NOW - 0.5),
        },
        Reason.CREATING,
        records=True,
        status={"placement": in_hand(TWO, None, refused(), since=PAST)},
    ),
    "a recorded order is sent for the offer that it names": Row(
        "whatever was refused before",
        {
            "spec": SPEC,
            "status": a_status("Creating", order=ordered(OrderState.INTENDED, TWO), placement=in_hand(TWO, None, refused())),
            "known": known(ordered(OrderState.INTENDED, TWO), ago=1, recorded=1),
        },
        Reason.CREATING,
        action=Verb.CREATE,
        status={"placement": in_hand(TWO, None, refused(), since=PAST)},
    ),
    "the refusal of one offer does not delay the order for the next": Row(
        "the record stands, and only its call is missing",
        {
            "spec": SPEC,
            "status": a_status(
                "Creating", order=ordered(OrderState.INTENDED, TWO), placement=in_hand(TWO, None, refused(reason="Rejected"))
            ),
            "history": tried(Verb.CREATE, ago=2.0, kind=ErrorKind.INVALID),
            "known": known(ordered(OrderState.INTENDED, TWO), ago=1, recorded=1),
        },
        Reason.CREATING,
        action=Verb.CREATE,
    ),
    "an order whose alternative was removed is recorded anew": Row(
        "the call follows the spec of the moment",
        {
            "status": a_status("Creating", order=ordered(OrderState.INTENDED, TWO), placement=in_hand(TWO)),
            "known": known(ordered(OrderState.INTENDED, TWO), ago=1, recorded=1),
        },
        Reason.CREATING,
        records=True,
        status={"placement": None},
    ),
    "a VM that is there keeps its alternative, and the refusals go": Row(
        "they say nothing about it",
        {
            "spec": SPEC,
            "status": RUNNING.model_copy(
                update={"order": ordered(OrderState.SEEN, TWO), "placement": in_hand(TWO, None, refused())}
            ),
            "found": present(),
        },
        Reason.RUNNING,
        "True",
        None,
        status={"placement": in_hand(TWO)},
    ),
    "who waits in line orders nothing while all its offers are taken": Row(
        "the query that all share tells as much as an order",
        waiting(Line(listed=FULL)),
        Reason.WAITING_FOR_CAPACITY,
        records=False,
        says=(
            f"for '{ONE}', '{TWO}' or '{ONE}' in pool '{POOLED}' since 2026-01-01T00:14:55Z",
            "every 10 s",
            f"'{ONE}' (\"{WORDS}\")",
        ),
        status={"placement": in_hand(ONE, POOLED, *ALL_BUSY.refused, since=ALL_BUSY.refused[2].at, look_seconds=10)},
    ),
    "who has a turn orders at once what is free": Row(
        "the place would be idle",
        waiting(Line(listed=FULL, turn=Offer(ONE, POOLED))),
        Reason.WAITING_FOR_CAPACITY,
        records=True,
        says=f"The order for '{ONE}' in pool '{POOLED}' is being sent.",
        status={"placement": in_hand(ONE, POOLED, *ALL_BUSY.refused, since=ALL_BUSY.refused[2].at, look_seconds=10)},
    ),
    "the order of a turn is sent though the turn is over": Row(
        "the record stands, and names the offer",
        {
            "spec": SPEC,
            "status": a_status(
                "WaitingForCapacity",
                order=ordered(OrderState.INTENDED, TWO),
                placement=in_hand(TWO, None, refused(), since=PAST),
            ),
            "history": tried(Verb.CREATE, ago=40.0, kind=ErrorKind.UNAVAILABLE, ambiguous=True, failures=4),
            "known": known(ordered(OrderState.INTENDED, TWO), ago=1, recorded=1),
            "line": Line(listed=FULL),
        },
        Reason.CREATING,
        action=Verb.CREATE,
    ),
    "a turn does not hasten what was refused for another reason": Row(
        "too many requests stay too many",
        waiting(Line(listed=FULL, turn=Offer(TWO))) | {"history": tried(Verb.CREATE, kind=ErrorKind.THROTTLED)},
        Reason.RATE_LIMITED,
        records=False,
        wakes=10,
    ),
    "a turn does not hasten what the cloud asks to wait for": Row(
        "Retry-After is the cloud's word",
        waiting(Line(listed=FULL, turn=Offer(TWO)))
        | {"history": tried(Verb.CREATE, ago=40.0, kind=ErrorKind.UNAVAILABLE, ambiguous=True, retry_after=50.0)},
        Reason.WAITING_FOR_CAPACITY,
        records=False,
        wakes=10,
    ),
    "what a person requests gives no turn": Row(
        "those that wait longer go first",
        waiting(Line(listed=FULL), placement=QUEUED) | {"meta": noted(RECONCILE_REQUESTED_AT="2026-11-24T12:00:00Z")},
        Reason.WAITING_FOR_CAPACITY,
        records=False,
    ),
    "nothing is ordered before the first query": Row(
        "it is due in seconds, and those that waited before a restart come first",
        waiting(Line(looking=True)),
        Reason.WAITING_FOR_CAPACITY,
        records=False,
    ),
    "an offer whose room is not listed is ordered by the backoff": Row(
        "its word may be wrong, or the cloud does not count it",
        waiting(Line(listed=FULL - {Offer(TWO)})),
        Reason.WAITING_FOR_CAPACITY,
        records=True,
        status={"placement": in_hand(TWO, None, *ALL_BUSY.refused, since=ALL_BUSY.refused[2].at)},
    ),
    "a first order waits behind those that wait": Row(
        "the longest wait is served first",
        {"spec": SPEC, "line": Line(behind=True, listed=FULL)},
        Reason.WAITING_FOR_CAPACITY,
        records=False,
        status={"placement": in_hand(ONE, since=START + timedelta(seconds=NOW), look_seconds=10), "order": None},
    ),
    "a first order is sent behind those that wait if there is room for both": Row(
        "nobody is kept waiting for nothing",
        {"spec": SPEC, "line": Line(behind=True, listed=FULL, turn=Offer(ONE))},
        Reason.CREATING,
        records=True,
    ),
    "what the cloud has rejected waits for its backoff, not behind those that wait": Row(
        "seed 92031341: it waited for none of its offers, and for good",
        after(ErrorKind.NOT_FOUND, spec=a_spec(), line=Line(behind=True, listed=FULL), ago=400.0),
        Reason.NOT_FOUND,
        progress="Stalled",
        records=True,
        says="Create what is missing",
    ),
    "a first order is sent if the cloud does not say what is free": Row(
        "then the order is the only question",
        {"spec": SPEC, "line": Line(behind=True)},
        Reason.CREATING,
        records=True,
    ),
    "what others were refused a moment ago is not ordered": Row(
        "the answer would be the same",
        {"spec": a_spec(), "line": Line(behind=True, taken=TAKEN)},
        Reason.WAITING_FOR_CAPACITY,
        records=False,
        wakes=30,
        says="Other GpuVMs were refused; next try after 2026-01-01T00:17:00Z.",
        status={"placement": in_hand(ONE, since=START + timedelta(seconds=NOW)), "order": None},
    ),
    "an order that is recorded is withdrawn when others are refused the same": Row(
        "they were faster",
        {
            "spec": a_spec(),
            "status": a_status("Creating", order=ordered(OrderState.INTENDED)),
            "known": known(ordered(OrderState.INTENDED), ago=1, recorded=1),
            "line": Line(behind=True, listed=frozenset({Offer(ONE)}), taken=TAKEN),
        },
        Reason.WAITING_FOR_CAPACITY,
        records=False,
        status={"order": OrderState.REFUSED},
    ),
    "of what is not listed the alternative that nobody was refused is ordered": Row(
        "it may be free",
        {"spec": SPEC, "line": Line(behind=True, taken=TAKEN)},
        Reason.CREATING,
        records=True,
        status={"placement": in_hand(TWO)},
    ),
    "an order is recorded anew for the turn that came meanwhile": Row(
        "others were refused the offer of the first record",
        {
            "spec": SPEC,
            "status": a_status("WaitingForCapacity", order=ordered(OrderState.INTENDED), placement=in_hand(ONE, since=PAST)),
            "known": known(ordered(OrderState.INTENDED), ago=1, recorded=1),
            "line": Line(listed=FULL, turn=Offer(TWO), taken=TAKEN),
        },
        Reason.WAITING_FOR_CAPACITY,
        records=True,
        status={"placement": in_hand(TWO, since=PAST, look_seconds=10)},
    ),
    "one wrong word does not end the wait for the other offers": Row(
        "the last order was rejected, and the others may come free",
        after(ErrorKind.INVALID, configuration=TWO, placement=ALL_BUSY, ago=30.0, line=Line(listed=FULL)),
        Reason.WAITING_FOR_CAPACITY,
        records=False,
        says=f"Waiting for capacity for '{ONE}' or '{ONE}' in pool '{POOLED}' since",
    ),
    "after one wrong word the others come round again, too, where nothing is listed": Row(
        "what is rejected is not what is taken",
        after(ErrorKind.INVALID, configuration=TWO, placement=ALL_BUSY, ago=301.0),
        Reason.WAITING_FOR_CAPACITY,
        records=True,
    ),
    "without alternatives the wait stands in status, too": Row(
        "its place in the line survives a restart",
        after(ErrorKind.UNAVAILABLE, ago=40.0, ambiguous=True, spec=a_spec(), line=Line(listed=frozenset({Offer(ONE)}))),
        Reason.WAITING_FOR_CAPACITY,
        records=False,
        status={"placement": in_hand(ONE, None, refused(at=JUST_NOW), since=JUST_NOW, look_seconds=10)},
    ),
    "alternatives do not count before waitSeconds are over": Row(
        "the spec's own is worth a wait",
        waiting(Line(listed=frozenset({Offer(ONE)})), spec=PATIENT, placement=in_hand(ONE, None, refused(), since=PAST)),
        Reason.WAITING_FOR_CAPACITY,
        records=False,
        wakes=200,
        says=f"for '{ONE}' since 2026-01-01T00:15:00Z; alternatives are ordered from 2026-01-01T00:20:00Z on.",
    ),
    "alternatives count when waitSeconds are over": Row(
        "anything is better than none by then",
        after(
            ErrorKind.UNAVAILABLE,
            ambiguous=True,
            ago=100.0,
            line=Line(listed=FULL, turn=Offer(TWO)),
            spec=PATIENT,
            placement=in_hand(ONE, None, refused(), since=PAST - timedelta(seconds=200)),
        ),
        Reason.CREATING,
        records=True,
        status={"placement": in_hand(TWO, None, refused(), since=PAST - timedelta(seconds=200), look_seconds=10)},
    ),
    "alternatives are ordered at once when the spec's own fails for an unknown cause": Row(
        "a wait is for capacity",
        after(ErrorKind.SERVER, ambiguous=True, ago=40.0, spec=PATIENT),
        Reason.CREATING,
        records=True,
    ),
    "alternatives are ordered at once when the spec's own words are wrong": Row(
        "no wait makes them right",
        after(ErrorKind.INVALID, spec=PATIENT),
        Reason.CREATING,
        records=True,
    ),
}
