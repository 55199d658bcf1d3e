"""Nothing is ordered for an object of a tenant with a credential that has not shown this tenant, whatever a person accepts.

Simulated world, seeds 110613 and 110959: the Secret held another tenant's key, which had shown nothing; its owner accepted the
absence, as the key was about to be put right; the order was sent with the wrong one.
"""

from dataclasses import replace

import pytest

from gpucloud.kinds.common import OrderState
from gpucloud.kinds.gpusnapshot import GpuSnapshotStatus
from gpucloud.kinds.gpuvm import GpuVMStatus
from gpucloud.kinds.gpuvpc import GpuVpcStatus
from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.reconcile import gpusnapshot, gpuvm, gpuvpc
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.facts import Absent, AccountFacts
from support.builders import NOW, a_status, an_order, facts, known, our_name
from support.snapshotfacts import snapshot_facts
from support.vpcfacts import vpc_facts

FREE = {"found": Absent(NOW, NOW - 2, NOW - 2)}
KINDS = {
    "GpuVM": lambda **changes: gpuvm.decide(facts(**FREE | {"status": GpuVMStatus(tenancy="acme")} | changes)),
    "GpuVpc": lambda **changes: gpuvpc.decide(vpc_facts(**FREE | {"status": GpuVpcStatus(tenancy="acme")} | changes)),
    "GpuSnapshot": lambda **changes: gpusnapshot.decide(
        snapshot_facts(**FREE | {"status": GpuSnapshotStatus(tenancy="acme")} | changes)
    ),
}


def credential(*tenants):
    return {"account": AccountFacts("default", frozenset(tenants))}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tenants", [(), ("globex",)])
def test_nothing_is_recorded_with_a_credential_of_no_known_tenant_or_another(kind, tenants):
    plan = KINDS[kind](**credential(*tenants))
    assert (plan.records_order, plan.action) == (False, None)
    stalled = find(plan.status.conditions, ConditionType.STALLED)
    assert stalled.reason == Reason.TENANT_MISMATCH
    assert "nothing of tenant 'acme'" in stalled.message
    assert "Put a key of that tenant into its Secret" in stalled.message


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_ordered_with_one_that_has_shown_the_tenant(kind):
    assert KINDS[kind](**credential("acme", "globex")).records_order


def test_what_is_recorded_is_not_sent():
    order = an_order(our_name(), OrderState.INTENDED)
    recorded = {"status": a_status("Creating", order=order, tenancy="acme"), "known": known(order, ago=1, recorded=1)}
    assert KINDS["GpuVM"](**recorded, **credential("acme")).action is not None
    plan = KINDS["GpuVM"](**recorded, **credential())
    assert (plan.action, plan.status.order.state) == (None, OrderState.REFUSED)


REFUSED = an_order(our_name(), OrderState.REFUSED)


def test_an_order_that_made_nothing_for_certain_binds_no_tenant():
    """A wrong key was put right: the object stayed TenantMismatch for good."""
    given = {"status": a_status("Rejected", order=REFUSED, tenancy="acme"), "known": known(REFUSED)}
    plan = KINDS["GpuVM"](**given, **credential("globex"))
    assert (plan.records_order, plan.status.tenancy) == (True, "globex")


def test_nor_is_its_tenant_recorded_any_longer_whatever_is_reported():
    given = {
        "status": a_status("Rejected", order=REFUSED, tenancy="acme"),
        "known": known(REFUSED),
        "namespace_terminating": True,
    }
    assert KINDS["GpuVM"](**given, **credential("globex")).status.tenancy is None


@pytest.mark.parametrize("doubt", [{"earlier_unclear": True}, {"recorded": None}], ids=["an unclear order before", "another's"])
def test_one_that_may_have_made_something_binds_its_tenant(doubt):
    given = {"status": a_status("Rejected", order=REFUSED, tenancy="acme"), "known": replace(known(REFUSED), **doubt)}
    assert facts(**FREE, **given, **credential("globex")).tenancy == "acme"


def test_the_tenant_that_only_this_process_knows_counts_and_is_recorded():
    plan = KINDS["GpuVM"](status=GpuVMStatus(), seen_tenancy="acme", **credential())
    assert (plan.records_order, plan.status.tenancy) == (False, "acme")
