"""An order that was recorded and not sent does not outlast the reason for which it is not sent.

Seed 20324 of the simulated world: the spec was moved between the record and the call, and the record held the Secret for ever.
"""

from dataclasses import replace

import pytest

from gpucloud.kinds.common import OrderState
from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.reconcile import gpusnapshot, gpuvm
from gpucloud.reconcile.facts import (
    Absent,
    Dependency,
    KeyTrouble,
    Readiness,
    ResourceOwner,
    SSHKeys,
    Unknown,
    UnknownReason,
    Verb,
)
from support.builders import NOW, a_status, an_object, an_order, facts, known, our_name, present
from support.snapshotfacts import NAME, SOURCE, a_snapshot_status, snapshot_facts

INTENDED = an_order(our_name(), OrderState.INTENDED)
CREATING = a_status("Creating", order=INTENDED)


def recorded(ago=1.0, **fields):
    """By this process, and not sent."""
    return known(INTENDED, ago=ago, recorded=ago, **fields)


def a_vm(**changes):
    return gpuvm.decide(facts(**{"status": CREATING, "known": recorded()} | changes))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"found": Unknown(NOW, UnknownReason.MOVED, "elsewhere")}, Reason.INVALID_SPEC),
        ({"found": Unknown(NOW - 10, UnknownReason.REJECTED)}, Reason.INVALID_SPEC),
        ({"found": Unknown(NOW, UnknownReason.ACCOUNT, "no Secret")}, Reason.ACCOUNT_NOT_READY),
        ({"found": Unknown(NOW, UnknownReason.TENANT, "another's")}, Reason.TENANT_MISMATCH),
        ({"found": Unknown(NOW - 100, UnknownReason.IMPLAUSIBLE)}, Reason.IMPLAUSIBLE_LISTING),
        ({"owner": ResourceOwner("GpuVM", "team", "first")}, Reason.CONFLICT),
        ({"needs": (Dependency("GpuVpc 'net'", Readiness.MISSING),)}, Reason.DEPENDENCY_NOT_READY),
        ({"namespace_terminating": True}, Reason.NAMESPACE_TERMINATING),
        ({"keys": SSHKeys((), KeyTrouble.MISSING, "None.")}, Reason.SSH_KEYS_NOT_FOUND),
        ({"meta": an_object(annotations={Annotation.PAUSED: "true"})}, None),
    ],
)
def test_it_is_withdrawn_with_whatever_is_reported_instead(changes, reason):
    plan = a_vm(**changes)
    assert plan.status.order == INTENDED.model_copy(update={"state": OrderState.REFUSED})
    assert plan.action is None
    if reason is not None:
        assert plan.status.conditions[0].reason == reason


def test_of_a_snapshot_too_whose_vm_has_gone():
    order = an_order(NAME, OrderState.INTENDED)
    plan = gpusnapshot.decide(
        snapshot_facts(
            status=a_snapshot_status("Creating", order=order),
            known=known(order, ago=1, recorded=1),
            source=replace(SOURCE, seen=Absent(NOW, NOW)),
        )
    )
    assert (plan.status.order.state, plan.status.conditions[0].reason) == (OrderState.REFUSED, Reason.SOURCE_NOT_FOUND)


def test_it_stands_while_it_is_about_to_be_sent():
    assert (a_vm().action, a_vm().status.order) == (Verb.CREATE, INTENDED)
    stale = a_vm(known=recorded(ago=100), found=Absent(NOW - 99, NOW - 99))
    assert (stale.status.order, stale.status.conditions[0].reason) == (INTENDED, Reason.CREATING), "it waits for a look alone"


def test_that_of_another_process_is_not_ours_to_withdraw():
    plan = a_vm(known=replace(recorded(), recorded=None, unresolved=True), namespace_terminating=True, found=present())
    assert plan.status.order.state is not OrderState.REFUSED


@pytest.mark.parametrize(
    ("order", "earlier_unclear", "released", "why"),
    [
        (OrderState.INTENDED, False, True, "it was not sent"),
        (OrderState.REFUSED, False, True, "it was withdrawn, or refused for certain"),
        (OrderState.INTENDED, True, False, "an order before it may have been carried out"),
        (OrderState.REFUSED, True, False, "an order before it may have been carried out"),
    ],
)
def test_what_was_not_made_is_let_go_without_sight(order, earlier_unclear, released, why):
    plan = a_vm(
        meta=an_object(deleting=True),
        status=a_status("Creating", order=an_order(our_name(), order), account="a"),
        known=known(an_order(our_name(), order), earlier_unclear=earlier_unclear),
        found=Unknown(NOW, UnknownReason.UNREACHABLE),
    )
    assert (plan.release is not None) is released, why
