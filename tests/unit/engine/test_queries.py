"""Facts and decisions are queries: what they read, they leave as it was. Only the named commands of a reconcile change it."""

from copy import deepcopy
from decimal import Decimal

import pytest

from gpucloud.engine.kinds.observing import Observed
from gpucloud.engine.kinds.order_tracking import _Known
from gpucloud.reconcile.deletion_guard import Rule
from support.fakes import GOING, a_resource
from support.gpuvmrig import bought

KINDS = ("GpuVM", "GpuVpc", "GpuSnapshot")


@pytest.fixture
def made(make_reconcilers):
    return make_reconcilers(rule=Rule(vms=1, price=Decimal(5)))


def all_that_a_reconcile_may_change(made, reconciler):
    asked = [(it.looks, it.wanted, it.ending, it.pending, it.watched) for it in made.session.inventories.values()]
    guard = (made.guard._deletions, made.guard._troubles, made.guard._counted_at)
    credential = (made.session.catalogue.refreshed, made.session.proofs)
    return deepcopy((list(reconciler.store.entries.all(_Known)), asked, guard, credential, made.woken, made.queued))


@pytest.mark.parametrize("meta", [{}, GOING], ids=["kept", "deleted"])
@pytest.mark.parametrize("kind", KINDS)
async def test_facts_and_decisions_change_nothing(made, kind, meta):
    reconciler = made.by_kind[kind]
    stored = made.put(kind, meta=meta, status=bought("train"))
    facts, account = await reconciler.gather(stored), reconciler.account(stored, stored.spec)
    made.guard.drop(stored.meta.uid)  # a query that counted the deletion would count it anew
    before = all_that_a_reconcile_may_change(made, reconciler)
    made.clock.now += 5
    seen = Observed(facts.now, facts.identity, facts.found, facts.tracked, facts.nonce)
    again = reconciler.facts(stored, stored.spec, account, reconciler._common(stored, stored.spec, account, seen))
    assert reconciler.decide(again) == reconciler.decide(facts)
    reconciler.order_of(stored)
    assert all_that_a_reconcile_may_change(made, reconciler) == before


def test_a_question_about_an_object_begins_no_history(made):
    tracker, entries = made.vms._tracker, made.vms.store.entries
    made.vms.store.put(a_resource("GpuVM", uid="u1"))
    began = made.clock.now
    assert (tracker.tenancy("u1"), tracker.latest("u1"), tracker.history("u1").first_seen) == (None, None, began)
    assert entries.find("u1", _Known) is None
    made.clock.now += 5
    tracker.begin("u1")
    made.clock.now += 5
    tracker.begin("u1", deleting=True)
    history = tracker.history("u1")
    assert (history.first_seen, history.deletion_seen) == (began + 5, began + 10)
