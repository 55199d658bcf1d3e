"""Rows of a VM that is to be switched on, for which the cloud has no capacity: it waits in line as a new one does."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.gpuvm import Operation, Outcome, PowerState, PowerVerb
from gpucloud.kinds.meta import Reason
from gpucloud.kinds.placement import PlacementStatus
from gpucloud.reconcile.facts import Unknown, UnknownReason, Verb
from gpucloud.reconcile.waiting_line import Line, Offer
from support.builders import NOW, START, a_spec, a_status, an_order, present
from support.decisions.gpuvm_placement import refused
from support.gpuvmfacts import BOUGHT, NAME, RUNNING
from support.rows import OLD, WORDS, Row, noted, tried

MADE = Offer("A100_40GB_PCIe_1x", "on-demand")  # what the cloud says the VM is
IN_POOL = {"resource_pool": MADE.resource_pool}
SINCE = START + timedelta(seconds=NOW - 200)
JUST_NOW = START + timedelta(seconds=NOW - 1)
REFUSED = refused(*MADE[:2], at=JUST_NOW)
FULL = Line(listed=frozenset({MADE}))
ANNOUNCED = Operation(verb=PowerVerb.START, generation=1, id="x", at=SINCE)
UNCLEAR = ANNOUNCED.model_copy(update={"outcome": Outcome.UNCLEAR})


def waits(since=SINCE, *items, look=10):
    """``status.placement`` of a VM that waits to be switched on."""
    return PlacementStatus(configuration=MADE.configuration, waiting_since=since, look_seconds=look, refused=items)


QUEUED = waits(SINCE, refused(*MADE[:2], at=SINCE))
OFFLINE = present("OFFLINE", rpool=MADE.resource_pool)
OFF = {
    "status": a_status("WaitingForCapacity", operation=UNCLEAR, placement=QUEUED, **BOUGHT, **IN_POOL),
    "found": OFFLINE,
}
NO_ROOM = tried(Verb.START, ago=100.0, kind=ErrorKind.UNAVAILABLE, ambiguous=True, failures=4)

AWAY = Unknown(NOW - 20, UnknownReason.UNREACHABLE, "no route")
TOLD_TO_START = {
    "status": a_status("PoweredOff", operation=ANNOUNCED.model_copy(update={"at": JUST_NOW}), **BOUGHT, **IN_POOL),
    "history": OLD,
    "found": AWAY,
}
TO_COME = 'The VM is to be started: the cloud does not answer ("no route"). The operator keeps trying.'

ROWS = {
    "a start that was announced, and the cloud does not answer: it is still to come": Row(
        "the status said for minutes that the VM is being started, and no call had left",
        TOLD_TO_START,
        Reason.STARTING,
        says=TO_COME,
    ),
    "a start after an earlier one, and the cloud does not answer: it is still to come": Row(
        "the earlier call is no call of this wish",
        TOLD_TO_START | {"history": tried(Verb.START, ago=100.0)},
        Reason.STARTING,
        says=TO_COME,
    ),
    **{
        f"a start, and the cloud does not answer: {why}": Row(reason, TOLD_TO_START | given, looks=None, wakes=wakes)
        for why, reason, given, wakes in (
            ("it has left", "it may be under way", {"history": tried(Verb.START, ago=0.5)}, 161),
            ("another process announced it", "that one may have sent it", {"history": replace(OLD, first_seen=NOW - 0.5)}, 161),
        )
    },
    "a start without capacity waits": Row(
        "a stopped VM gave its GPUs back",
        {
            "status": RUNNING.model_copy(update={"operation": ANNOUNCED, **IN_POOL}),
            "found": OFFLINE,
            "history": tried(Verb.START, kind=ErrorKind.UNAVAILABLE, ambiguous=True),
        },
        Reason.WAITING_FOR_CAPACITY,
        looks=False,
        says=f'StartServer failed: "{WORDS}".',
        status={"placement": waits(JUST_NOW, REFUSED, look=None), "operation": UNCLEAR},
    ),
    "a start waits in line once a listing shows that the VM is off all the same": Row(
        "the query that all share tells as much as a call",
        OFF | {"history": NO_ROOM, "line": FULL},
        Reason.WAITING_FOR_CAPACITY,
        says=(
            "Waiting for capacity for 'A100_40GB_PCIe_1x' in pool 'on-demand' since 2026-01-01T00:13:20Z",
            "the longest wait is served first",
            f"Last refused: 'A100_40GB_PCIe_1x' in pool 'on-demand' (\"{WORDS}\").",
        ),
        status={"placement": waits(SINCE, refused(*MADE[:2], at=START + timedelta(seconds=NOW - 100))), "operation": UNCLEAR},
    ),
    "a start that has a turn is sent at once": Row(
        "the place would be idle",
        OFF | {"history": NO_ROOM, "line": replace(FULL, turn=MADE)},
        Reason.WAITING_FOR_CAPACITY,
        action=Verb.START,
        says="The start for 'A100_40GB_PCIe_1x' in pool 'on-demand' is being sent.",
        status={"operation": ANNOUNCED},
    ),
    "a start that the cloud accepts again and again is repeated, and said": Row(
        "the cloud's support can tell why",
        {
            "status": a_status("Drifted", operation=ANNOUNCED, **BOUGHT),
            "found": OFFLINE,
            "history": tried(Verb.START, ago=100.0),
        },
        Reason.STARTING,
        action=Verb.START,
        says="the operator repeats the call. If this goes on, ask the cloud's support.",
    ),
    "a start that was accepted without effect waits in line as it was announced": Row(
        "its effect may yet show, so that no record calls it refused",
        OFF
        | {
            "status": OFF["status"].model_copy(update={"operation": ANNOUNCED}),
            "history": tried(Verb.START, ago=400.0),
            "line": FULL,
        },
        Reason.WAITING_FOR_CAPACITY,
        status={"operation": ANNOUNCED},
    ),
    "a new process finds a start in its place": Row(
        "it stands in status, so a restart of the operator sends nothing",
        OFF | {"history": OLD, "line": FULL},
        Reason.WAITING_FOR_CAPACITY,
        says="since 2026-01-01T00:13:20Z",
        status={"placement": QUEUED},
    ),
    "what a person requests gives a start no turn": Row(
        "those that wait longer go first",
        OFF | {"history": NO_ROOM, "line": FULL, "meta": noted(RECONCILE_REQUESTED_AT="2026-11-24T12:00:00Z")},
        Reason.WAITING_FOR_CAPACITY,
        status={"operation": UNCLEAR},
    ),
    "a turn does not hasten a start that the cloud asks to wait with": Row(
        "Retry-After is the cloud's word",
        OFF
        | {
            "history": tried(Verb.START, ago=40.0, kind=ErrorKind.UNAVAILABLE, ambiguous=True, retry_after=50.0),
            "line": replace(FULL, turn=MADE),
        },
        Reason.WAITING_FOR_CAPACITY,
        wakes=10,
    ),
    "a start whose room is not listed is sent again by its backoff": Row(
        "only a call tells",
        OFF | {"history": NO_ROOM, "line": Line()},
        Reason.WAITING_FOR_CAPACITY,
        wakes=60,
        says=f'StartServer failed: "{WORDS}".',
    ),
    "a start whose room is not listed is sent when its backoff is over": Row(
        "only a call tells",
        OFF | {"history": tried(Verb.START, ago=400.0, kind=ErrorKind.UNAVAILABLE, ambiguous=True), "line": Line()},
        Reason.WAITING_FOR_CAPACITY,
        action=Verb.START,
    ),
    "a start is not sent while others were refused the same a moment ago": Row(
        "the answer would be the same",
        OFF | {"history": OLD, "line": Line(taken={MADE: START + timedelta(seconds=NOW + 20)})},
        Reason.WAITING_FOR_CAPACITY,
        wakes=30,
        says="Other GpuVMs were refused; next try after 2026-01-01T00:17:00Z.",
    ),
    "a first start waits behind those that wait": Row(
        "the longest wait is served first",
        {
            "status": RUNNING.model_copy(update=IN_POOL),
            "found": OFFLINE,
            "history": OLD,
            "line": replace(FULL, behind=True),
        },
        Reason.WAITING_FOR_CAPACITY,
        status={"placement": waits(START + timedelta(seconds=NOW)), "operation": RUNNING.operation},
    ),
    "a first start queues since its last call when another process sent that": Row(
        "it may have been refused, and the process died before it could say so",
        {
            "status": RUNNING.model_copy(update={"operation": ANNOUNCED, **IN_POOL}),
            "found": OFFLINE,
            "history": OLD,
            "line": replace(FULL, behind=True),
        },
        Reason.WAITING_FOR_CAPACITY,
        status={"placement": waits(), "operation": ANNOUNCED},
    ),
    "the wait of the creation gives a start no place": Row(
        "it ended when the VM was there",
        {
            "status": a_status("Creating", order=an_order(NAME, OrderState.ACCEPTED), placement=QUEUED, **IN_POOL),
            "found": OFFLINE,
            "history": OLD,
        },
        Reason.STARTING,
        action=Verb.START,
        status={"placement": None},
    ),
    "a start keeps its place while the cloud cannot be listed": Row(
        "an outage is no reason to lose it",
        OFF | {"history": OLD, "found": Unknown(NOW - 500, UnknownReason.UNREACHABLE)},
        Reason.API_UNAVAILABLE,
        "Unknown",
        status={"placement": waits(SINCE, *QUEUED.refused, look=None)},
    ),
    "a VM that is on again waits no more": Row(
        "somebody has switched it on",
        OFF | {"history": OLD, "found": present(rpool=MADE.resource_pool)},
        Reason.RUNNING,
        "True",
        None,
        status={"placement": None},
    ),
    "a VM that is to stay off waits no more": Row(
        "nothing is to be started",
        OFF | {"history": OLD, "spec": a_spec(powerState=PowerState.STOPPED), "meta": noted(generation=2)},
        Reason.POWERED_OFF,
        "True",
        None,
        status={"placement": None},
    ),
    "a VM that is being deleted waits no more": Row(
        "it is destroyed as it is",
        OFF | {"history": OLD, "meta": noted(deleting=True)},
        Reason.DELETING,
        action=Verb.DESTROY,
        status={"placement": None},
    ),
}
