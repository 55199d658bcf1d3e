"""Rows of a GpuVM with alternatives in another cluster: which cluster is in hand, and what the others show."""

from __future__ import annotations

from datetime import timedelta

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import Absent, AccountFacts, Present, Unknown, UnknownReason, Verb
from gpucloud.reconcile.naming import Identity
from gpucloud.reconcile.waiting_line import Line, Offer
from support.builders import NOW, START, a_spec, a_status, an_order, known, present
from support.decisions.gpuvm_placement import JUST_NOW, ONE, PAST, in_hand, refused
from support.gpuvmfacts import NAME
from support.rows import LONG_KNOWN, WORDS, Row, tried

HOME, AWAY = "Msc1", "Hou1"
SPEC = a_spec(placement={"alternatives": [{"cluster": AWAY}]})
THERE = Identity(AWAY, "acme", NAME)
FULL = refused(at=JUST_NOW)
GOES_ON = in_hand(ONE, None, FULL, since=JUST_NOW, cluster=AWAY)
ABSENT = Absent(NOW, NOW - 80, NOW - 0.5)
A_MOMENT_AGO = START + timedelta(seconds=NOW - 1)


def ordered(state, cluster=HOME, **fields):
    return an_order(NAME, state, cluster=cluster, configuration=ONE, **fields)


def after(kind, state=OrderState.REFUSED, cluster=HOME, *, ambiguous=True, ago=40.0, placement=None, order=None, **more):
    """A process that sent its order in a cluster, and what became of it."""
    record = ordered(state, cluster, **(order or {}))
    return {
        "spec": SPEC,
        "status": a_status("WaitingForCapacity", order=record, placement=placement),
        "history": tried(Verb.CREATE, ago=ago, kind=kind, ambiguous=ambiguous),
        "known": known(record, ago=ago, recorded=ago + 1, earlier_unclear=ambiguous),
        "found": ABSENT,
    } | more


def lost(**more):
    """A GpuVM whose status was lost, and was looked for where its spec begins."""
    return {"spec": SPEC, "history": LONG_KNOWN, "found": ABSENT} | more


def seen_there(**fields):
    return Present(present(cluster=AWAY, **fields).record, NOW)


ROWS = {
    "no capacity in one cluster is answered by another one": Row(
        "two listings show that the order made nothing; the name must be free in the next cluster before one is recorded",
        after(ErrorKind.UNAVAILABLE),
        Reason.CREATING,
        records=False,
        wakes=1,
        says=f"The VM is being created as '{ONE}' of cluster '{AWAY}': the cloud refused '{ONE}' (\"{WORDS}\").",
        status={"placement": GOES_ON},
    ),
    "the order is recorded in the cluster in hand": Row(
        "its listings show the name free there",
        after(ErrorKind.UNAVAILABLE, placement=GOES_ON),
        Reason.CREATING,
        records=True,
        status={"placement": GOES_ON, "order": OrderState.INTENDED},
    ),
    "an unclear order keeps its cluster": Row(
        "elsewhere the cloud has no name to refuse: that would be a second VM",
        after(ErrorKind.UNAVAILABLE, OrderState.UNCLEAR, ago=1.0),
        Reason.WAITING_FOR_CAPACITY,
        looks=False,
        records=False,
        status={"order": OrderState.UNCLEAR, "placement": in_hand(ONE, None, refused(at=A_MOMENT_AGO), since=A_MOMENT_AGO)},
    ),
    "what was ever accepted keeps its cluster": Row(
        "it may appear though listings have lacked it for long",
        after(ErrorKind.UNAVAILABLE, order={"cloud_id": NAME}),
        Reason.WAITING_FOR_CAPACITY,
        records=True,
    ),
    "so does what takes the place of a lost VM": Row(
        "only its own cluster shows whether the lost one is back",
        after(ErrorKind.UNAVAILABLE, order={"recreation": 1}),
        Reason.WAITING_FOR_CAPACITY,
        records=True,
    ),
    "a VM in another cluster is observed there": Row(
        "the record names its cluster, and the spec allows it",
        {"spec": SPEC, "status": a_status("Running", order=ordered(OrderState.SEEN, AWAY)), "found": seen_there()},
        Reason.RUNNING,
        ready="True",
        progress=None,
    ),
    "a turn in another cluster is taken there": Row(
        "it keeps its place in line until the order is recorded",
        after(
            ErrorKind.UNAVAILABLE,
            placement=in_hand(ONE, None, FULL, refused(at=PAST, cluster=AWAY), since=PAST),
            line=Line(listed=frozenset({Offer(ONE), Offer(ONE, None, AWAY)}), turn=Offer(ONE, None, AWAY)),
        ),
        Reason.WAITING_FOR_CAPACITY,
        records=False,
        wakes=1,
    ),
    "an alternative whose cluster does not exist is told before anything is ordered": Row(
        "a wrong word is a person's to correct",
        {
            "spec": a_spec(placement={"alternatives": [{"cluster": "Huo1"}]}),
            "strays": Unknown(NOW - 9, UnknownReason.REJECTED, "Huo1"),
            "account": AccountFacts("default", clusters=(AWAY, HOME)),
            "history": LONG_KNOWN,
        },
        Reason.INVALID_SPEC,
        progress="Stalled",
        wakes=5,
        says="Unknown cluster 'Huo1' in spec.placement.alternatives. Did you mean 'Hou1'? Known clusters: Hou1, Msc1.",
    ),
    "an alternative whose cluster the account may not list": Row(
        "nobody knows whether its VM is there",
        {"spec": SPEC, "strays": Unknown(NOW - 9, UnknownReason.FORBIDDEN, AWAY), "history": LONG_KNOWN},
        Reason.PERMISSION_DENIED,
        progress="Stalled",
        wakes=5,
        says=f"may not list VMs in cluster '{AWAY}', where the VM may be, so nothing is ordered",
    ),
    "the cluster in hand stays it while it cannot be listed": Row(
        "seed 92213545: only its next listing wakes the object, which was taken for one of the spec's own cluster",
        {
            "spec": SPEC,
            "status": a_status(
                "WaitingForCapacity", order=ordered(OrderState.NOT_ORDERED), placement=in_hand(ONE, None, cluster=AWAY)
            ),
            "found": Unknown(NOW - 9, UnknownReason.UNREACHABLE, "the listing holds 0 of 1 records"),
            "history": LONG_KNOWN,
        },
        Reason.API_UNAVAILABLE,
        ready="Unknown",
        status={"placement": in_hand(ONE, None, cluster=AWAY)},
    ),
    "another cluster that does not answer holds up the order": Row(
        "the same",
        {"spec": SPEC, "strays": Unknown(NOW - 9, UnknownReason.UNREACHABLE, AWAY), "history": LONG_KNOWN},
        Reason.API_UNAVAILABLE,
        ready="Unknown",
        wakes=5,
    ),
    "another cluster that is not listed yet": Row(
        "it comes in a moment",
        {"spec": SPEC, "strays": Unknown(NOW - 1, UnknownReason.NOT_LISTED, AWAY), "history": LONG_KNOWN},
        wakes=5,
    ),
    "a lost status waits for what an earlier process may have ordered elsewhere": Row(
        "in another cluster no name guards it",
        lost(strays=Unknown(NOW + 99, UnknownReason.NOT_LISTED, AWAY)),
        Reason.CREATING,
        wakes=99,
        says="The status of this object was lost",
    ),
    "a lost status waits for what was ordered before its spec was edited": Row(
        "seed 161: it was never looked at again where the spec names one cluster",
        {"history": LONG_KNOWN, "found": ABSENT, "strays": Unknown(NOW + 99, UnknownReason.NOT_LISTED)},
        Reason.CREATING,
        wakes=99,
        says="The status of this object was lost",
    ),
    "a lost VM that another cluster shows is taken over": Row(
        "its name proves whose it is",
        lost(strays=(THERE,)),
        Reason.CREATING,
        wakes=1,
        says=f"The VM '{NAME}' of this object was found in cluster",
        status={"placement": in_hand(ONE, None, cluster=AWAY)},
    ),
    "two VMs of a lost status are told": Row(
        "nobody knows which one to keep",
        lost(strays=(THERE, Identity("Xyz1", "acme", NAME))),
        Reason.POSSIBLE_DUPLICATE,
        progress="Stalled",
        says="Nothing is bought",
    ),
}
