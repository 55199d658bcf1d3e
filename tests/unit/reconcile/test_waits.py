"""What is announced while a VM is restarted, and when it is looked again at what keeps a deletion waiting."""

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from gpucloud.kinds.common import OrderState
from gpucloud.kinds.gpuvm import Operation, PowerVerb
from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.reconcile import gpuvm, gpuvpc
from gpucloud.reconcile.core.destruction import deleting, send
from gpucloud.reconcile.facts import (
    Asked,
    Attempt,
    Dependency,
    KeyTrouble,
    Limits,
    Now,
    Readiness,
    SSHKeys,
    Unknown,
    UnknownReason,
    Verb,
)
from gpucloud.reconcile.order import TrackedOrder
from gpucloud.reconcile.unseen import RECHECK_SECONDS
from support.builders import NOW, START, a_spec, a_status, an_object, an_order, facts, known, our_name, present
from support.rows import OLD
from support.vpcfacts import MADE, NAME, a_vpc, a_vpc_status, vpc_facts

ASKED = "2026-01-01T00:00:00Z"
RESTART = Operation(verb=PowerVerb.RESTART, generation=1, id=ASKED, at=START)
LIMITS = Limits(pending_interval=5.0)  # no number that another rule gives too
GOING = an_object(deleting=True)


def bought(reason="Restarting", **fields):
    return a_status(reason, order=an_order(our_name()), vm_id=our_name(), **fields)


@pytest.mark.parametrize(
    ("reason", "restarting", "asked"),
    [
        ("Restarting", RESTART, ASKED),  # we stopped it for this
        ("Restarting", RESTART, None),  # the annotation was taken away meanwhile: what was begun is ended
        ("PoweredOff", None, ASKED),  # it was off when the restart was asked for: no drift
        ("APIUnavailable", RESTART, ASKED),  # the cloud was away in between
    ],
)
def test_a_restart_ends_with_a_start_that_says_so(reason, restarting, asked):
    annotations = {} if asked is None else {Annotation.RESTART_REQUESTED_AT: asked}
    plan = gpuvm.decide(
        facts(meta=an_object(annotations=annotations), status=bought(reason, operation=restarting), found=present("OFFLINE"))
    )
    assert plan.action is Verb.START
    ready = plan.status.conditions[0]
    assert (ready.reason, ready.message) == (Reason.RESTARTING, "The VM is being restarted: it is being started.")
    assert (plan.status.operation.id, plan.status.last_handled_restart_at) == (ASKED, ASKED)


def test_a_restart_says_no_leg_before_a_fresh_look_has_shown_whether_the_vm_is_on():
    """Between two steady polls the VM may have been stopped: "it is stopped first" would be untrue."""
    meta = an_object(annotations={Annotation.RESTART_REQUESTED_AT: ASKED})
    plan = gpuvm.decide(facts(meta=meta, status=bought("Running"), found=present(as_of=NOW - 50)))
    assert (plan.status, plan.action, plan.pending) == (None, None, True)
    assert plan.refresh_after == NOW - 10


def test_a_stop_without_effect_is_sent_ever_more_rarely_and_says_so():
    """The cloud accepts it again and again, and the VM stays on."""
    status, history, sent, messages = bought("Running", settled_generation=1), OLD, [], set()
    for second in range(1800):
        mono, wall = NOW + second, START + timedelta(seconds=NOW + second)
        plan = gpuvm.decide(
            facts(
                now=Now(wall, mono),
                meta=an_object(generation=2),
                spec=a_spec(powerState="Stopped", progressDeadlineSeconds=86400),
                status=status,
                found=present(as_of=mono),
                history=history,
            )
        )
        if plan.status == status and plan.action is not None:
            sent.append(second)
            attempt = Attempt(Verb.STOP, mono, Asked(2))
            history = replace(history, attempts={Verb.STOP: attempt})
        status = plan.status or status
        messages.add(status.conditions[0].message)
    assert sent[0] == 1
    waits = [later - earlier for earlier, later in pairwise(sent)]
    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (30, 300)
    assert len([second for second in sent if second <= 600]) == 6
    plain, with_advice = sorted(messages, key=len)
    assert plain == "The VM is being stopped."
    assert "accepts StopServer and still reports ONLINE" in with_advice
    assert "support" in with_advice


@pytest.mark.parametrize(
    ("price", "says"),
    [
        ("2.05", "CREATE_FAILED. The VM may still cost 2.05 dollars an hour. Ask"),
        (None, "The VM may still be billed. Ask"),
    ],
)
def test_a_failed_vm_may_still_cost(price, says):
    plan = gpuvm.decide(facts(status=bought("Creating"), found=present("CREATE_FAILED"), price_per_hour=price))
    assert says in plan.status.conditions[0].message


@pytest.mark.parametrize(
    ("detail", "says"),
    [
        ("", "permission to list. Ask the administrator to grant it. To keep"),
        ("403", 'permission to list ("403"). Ask the administrator to grant it. To keep'),
    ],
)
def test_snapshots_that_cannot_be_listed_are_looked_for_again_soon(detail, says):
    plan = gpuvm.decide(
        facts(
            meta=GOING,
            spec=a_spec(deletion={"snapshots": "Delete"}),
            status=bought(),
            found=present(),
            snapshots=Unknown(NOW, UnknownReason.FORBIDDEN, detail),
            limits=LIMITS,
        )
    )
    assert plan.requeue_at == NOW + 15
    assert says in plan.status.conditions[0].message


@pytest.mark.parametrize(
    ("detail", "says"),
    [("", "permission to list. Ask the administrator"), ("403", 'permission to list ("403"). Ask the administrator')],
)
def test_what_is_in_a_vpc_is_looked_for_again(detail, says):
    occupants = Unknown(NOW, UnknownReason.FORBIDDEN, detail)
    status = a_vpc_status("Deleting", **MADE)
    plan = gpuvpc.decide(vpc_facts(meta=GOING, status=status, found=a_vpc(), occupants=occupants, limits=LIMITS))
    assert plan.requeue_at == NOW + RECHECK_SECONDS
    assert says in plan.status.conditions[0].message


@pytest.mark.parametrize(("age", "doubted"), [(1.0, True), (0.0, False)])
def test_a_listing_from_before_our_order_shows_another_vpc(age, doubted):
    order = an_order(NAME, OrderState.ACCEPTED, vpc=NAME)
    found, before = a_vpc(as_of=NOW - age), known(order, ago=0, recorded=0)
    plan = gpuvpc.decide(vpc_facts(status=a_vpc_status("Creating", order=order), found=found, known=before))
    assert (plan.status is None) is doubted
    assert plan.pending is doubted
    assert plan.refresh_after == (NOW if doubted else None)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"needs": (Dependency("GpuVpc 'net'", Readiness.PENDING),)}, Reason.DEPENDENCY_NOT_READY),
        ({"needs": (Dependency("GpuCloudAccount 'default'", Readiness.PENDING, account=True),)}, Reason.ACCOUNT_NOT_READY),
        ({"keys": SSHKeys(trouble=KeyTrouble.MISSING, detail="There is no Secret.")}, Reason.SSH_KEYS_NOT_FOUND),
    ],
)
def test_the_cloud_is_not_polled_for_what_only_kubernetes_can_tell(given, reason):
    plan = gpuvm.decide(facts(**given))
    assert plan.status.conditions[0].reason == reason
    assert not plan.pending
    assert plan.requeue_at is not None


@pytest.mark.parametrize(
    ("grace", "waits"), [(30.0, (300, 600, 900, 900)), (60.0, (600, 900, 900)), (120.0, (1200, 1200, 1200))]
)
def test_a_destroying_call_without_effect_is_repeated_ever_more_rarely(grace, waits):
    """First after ten graces, and then no longer than 900 s after the call before, unless ten graces are longer."""
    going = bought("Deleting").model_copy(update={"order": an_order(our_name(), OrderState.DESTROYING)})
    for calls, wait in enumerate(waits, 1):
        attempt = Attempt(Verb.DESTROY, NOW - wait + 1, Asked(1), unrefused=calls)
        history = replace(OLD, attempts={Verb.DESTROY: attempt})
        here = {"meta": GOING, "status": going, "found": present(), "history": history, "limits": Limits(grace=grace)}
        plan = gpuvm.decide(facts(**here))
        assert (plan.action, plan.refresh_after) == (None, NOW + 1)
        said = "The VM is being destroyed." if calls == 1 else "the call is repeated"
        assert said in plan.status.conditions[0].message
        later = replace(history, attempts={Verb.DESTROY: replace(attempt, at=NOW - wait)})
        assert gpuvm.decide(facts(**here | {"history": later})).action is Verb.DESTROY


def test_a_destroying_call_without_a_record_announces_every_change_of_the_status():
    """The account that is noted with it took the place of the other changes."""
    f = facts(meta=GOING, status=a_status("Deleting"), found=present(), tracked=TrackedOrder(None, NOW))
    plan = send(f, deleting(f), vm_id="vm-1")
    assert (plan.status.order.state, plan.status.account, plan.status.vm_id) == (OrderState.DESTROYING, f.account.name, "vm-1")
