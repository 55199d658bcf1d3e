"""Which deletion policy applies where the spec leaves it open, and that the status says which."""

from __future__ import annotations

import pytest

from gpucloud.kinds.common import DeletionPolicy, OrderState, Origin
from gpucloud.reconcile import gpusnapshot, gpuvm, gpuvpc
from gpucloud.reconcile.retention import deletion_policy
from support import snapshotfacts, vpcfacts
from support.builders import a_spec, a_status, an_order, facts, our_name, present

DELETE, RETAIN = DeletionPolicy.DELETE, DeletionPolicy.RETAIN


@pytest.mark.parametrize(
    ("declared", "adopted", "applies"),
    [
        pytest.param(None, False, DELETE, id="what the operator created goes with its object"),
        pytest.param(None, True, RETAIN, id="what was adopted was there before"),
        pytest.param(DELETE, True, DELETE, id="the owner says that it goes, too"),
        pytest.param(RETAIN, False, RETAIN, id="the owner keeps it"),
    ],
)
def test_the_spec_decides_and_where_it_is_silent_the_origin(declared, adopted, applies):
    assert deletion_policy(declared, adopted=adopted) is applies


@pytest.mark.parametrize(
    ("spec", "said"), [pytest.param({}, DELETE, id="open"), pytest.param({"deletion": {"policy": "Retain"}}, RETAIN, id="said")]
)
def test_the_status_says_which_applies_from_the_order_on(spec, said):
    """The write that records the order says so already: another one would come before the call."""
    recorded = gpuvm.decide(facts(spec=a_spec(**spec)))
    assert (recorded.records_order, recorded.status.deletion_policy) == (True, said)
    running = gpuvm.decide(facts(spec=a_spec(**spec), found=present(), status=a_status("Creating", order=an_order(our_name()))))
    assert running.status.deletion_policy is said
    snapshot = gpusnapshot.decide(
        snapshotfacts.snapshot_facts(
            spec=snapshotfacts.a_snapshot_spec(**spec), status=snapshotfacts.COMPLETED, found=snapshotfacts.a_snapshot()
        )
    )
    assert snapshot.status.deletion_policy is said


def test_nothing_is_said_where_nothing_of_the_object_is_there():
    """Somebody else's VM has the name: deleting this object does nothing to it."""
    conflict = gpuvm.decide(facts(spec=a_spec(vmName="theirs"), found=present(name="theirs")))
    assert conflict.status.deletion_policy is None
    refused = an_order(our_name(), OrderState.REFUSED, refused_generation=1)
    assert gpuvm.decide(facts(status=a_status("Rejected", progress="Stalled", order=refused))).status.deletion_policy is None


def test_an_adopted_vpc_is_said_to_stay():
    plan = gpuvpc.decide(vpcfacts.vpc_facts(spec=vpcfacts.ADOPTS, found=vpcfacts.a_vpc()))
    assert (plan.status.order.origin, plan.status.deletion_policy) == (Origin.ADOPTED, RETAIN)
