"""Limits among the rooms: who is counted, and that many at once stop exactly at the limit."""

from __future__ import annotations

import asyncio
import random
from decimal import Decimal

import pytest

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.engine.kinds.quota_usage import QuotaItem, QuotaUsage, price_limits, vm_limits
from gpucloud.engine.manager.queries import Queries
from gpucloud.engine.telemetry.metrics import Metrics
from gpucloud.kinds.common import OWN_ACCOUNT, OrderState
from gpucloud.reconcile.facts import Verb
from gpucloud.reconcile.naming import external_name
from gpucloud.reconcile.plan import Plan
from gpucloud.reconcile.quota import Quota
from gpucloud.settings import Settings
from support.builders import TAG, an_order
from support.ordered import NOT_ORDERED

PER_ACCOUNT, PER_NAMESPACE = Quota("account"), Quota("namespace")
THREE = (Quota("account", vms=3), PER_NAMESPACE)
SIX_DOLLARS = (PER_ACCOUNT, Quota("namespace", price=Decimal("6.20")))


def intended(name, state=OrderState.UNCLEAR, **more):
    order = an_order(external_name(name, f"u-{name}", TAG), state).model_dump(mode="json", by_alias=True)
    return {"order": order, "account": OWN_ACCOUNT} | more


async def decided(reconcilers, name):
    return reconcilers.vms.decide(await reconcilers.facts("GpuVM", name))


async def refused(reconcilers, name):
    """Whether a limit holds this one back, and it is said."""
    plan = await decided(reconcilers, name)
    return plan.status.conditions[0].reason == "LimitReached"


async def intend(reconcilers, name):
    """A pass that gets as far as the write of the order's record."""
    plan = await decided(reconcilers, name)
    if plan.records_order:
        reconcilers.vms.before_recording(f"u-{name}", plan.status)
    return plan.records_order


async def test_no_limit_counts_nothing(make_reconcilers):
    reconcilers = make_reconcilers()
    for number in range(50):
        reconcilers.put("GpuVM", f"vm-{number}", status=intended(f"vm-{number}"))
    reconcilers.put("GpuVM", "one")
    assert await intend(reconcilers, "one")


@pytest.mark.looptime
@pytest.mark.parametrize(("quotas", "most"), [(THREE, 3), (SIX_DOLLARS, 3), ((THREE[0], SIX_DOLLARS[1]), 3)])
@pytest.mark.parametrize("seed", range(5))
async def test_a_hundred_at_once_stop_exactly_at_the_limit(make_reconcilers, quotas, most, seed):
    reconcilers, dice = make_reconcilers(quotas=quotas), random.Random(seed)
    names = [f"vm-{number}" for number in range(100)]
    for name in names:
        reconcilers.put("GpuVM", name)

    async def one(name):
        await asyncio.sleep(dice.random())
        went = await intend(reconcilers, name)
        await asyncio.sleep(dice.random())  # the write is under way
        if went and dice.random() < 0.5:  # else the watch is late, or the write failed
            reconcilers.put("GpuVM", name, status=intended(name, pricePerHour="2.05"))
        return went

    assert sum(await asyncio.gather(*[one(name) for name in names])) == most
    again = [name for name in names if reconcilers.objects.vms.get(f"u-{name}").status.order is None]
    went = sum(await asyncio.gather(*map(one, again)))
    assert went + len(names) - len(again) == most, "tried again, whoever had a place keeps it, and no other gets one"


async def test_whose_record_was_not_written_keeps_its_place(make_reconcilers):
    reconcilers = make_reconcilers(quotas=(Quota("account", vms=1), PER_NAMESPACE))
    reconcilers.put("GpuVM", "first")
    reconcilers.put("GpuVM", "second")
    assert await intend(reconcilers, "first")
    assert await refused(reconcilers, "second")
    assert await intend(reconcilers, "first"), "its own place is not counted against it"


async def test_room_is_made_by_one_that_goes(make_reconcilers):
    reconcilers = make_reconcilers(quotas=THREE)
    for name in "abc":
        reconcilers.put("GpuVM", name, status=intended(name))
    reconcilers.put("GpuVM", "d")
    assert await refused(reconcilers, "d")
    reconcilers.put("GpuVM", "a", status=intended("a"), meta={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    assert await refused(reconcilers, "d"), "it is still billed"
    reconcilers.drop("GpuVM", "a")
    assert await intend(reconcilers, "d")


@pytest.mark.parametrize(
    ("why", "status", "counts"),
    [
        ("intended", intended("a"), True),
        ("seen", intended("a", vmId="a"), True),
        ("missing from a listing, not believed yet", intended("a", OrderState.SEEN), True),
        ("refused", intended("a", OrderState.REFUSED), True),
        ("lost", intended("a", OrderState.LOST), False),
        ("new", {}, False),
    ],
)
async def test_who_counts(make_reconcilers, why, status, counts):
    reconcilers = make_reconcilers(quotas=(PER_ACCOUNT, Quota("namespace", vms=1)))
    reconcilers.put("GpuVM", "a", status=status)
    reconcilers.put("GpuVM", "b")
    assert await refused(reconcilers, "b") is counts, why


A_PRICE = {"vmId": "a", "gpus": 1, "pricePerHour": "2.05"}


@pytest.mark.parametrize(
    ("why", "status", "spent", "counted"),
    [
        ("on: both", intended("a", OrderState.SEEN, **A_PRICE) | {"state": "ONLINE"}, 2.05, 2.05),
        ("off: not billed, and no room for another", intended("a", OrderState.SEEN, **A_PRICE) | {"state": "OFFLINE"}, 0, 2.05),
        ("ordered, and not seen yet", intended("a", pricePerHour="2.05"), None, 2.05),
        ("refused: sent again", intended("a", OrderState.REFUSED, pricePerHour="2.05"), None, 2.05),
        ("of no recorded price: the catalogue's, as the limit counts it", intended("a"), None, 2.05),
        ("lost", intended("a", OrderState.LOST), None, None),
        ("new", {}, None, None),
    ],
)
async def test_what_counts_towards_a_limit_is_exported_beside_what_is_spent(make_reconcilers, why, status, spent, counted):
    reconcilers = make_reconcilers(quotas=SIX_DOLLARS)
    reconcilers.put("GpuVM", "a", status=status)
    for leading in (True, False):
        metrics, labels = Metrics(), {"namespace": "team", "account": OWN_ACCOUNT}
        queries = Queries(reconcilers.by_kind, {}, lambda on=leading: on, reconcilers.clock, reconcilers.tools.quota_usage)
        queries.export(metrics, [], reconcilers.accounts)
        usage = metrics.registry.get_sample_value("gpucloud_price_limit_usage_dollars_per_hour", labels)
        state = {"state": status.get("state", "")}
        price = metrics.registry.get_sample_value("gpucloud_price_dollars_per_hour", labels | state)
        assert (price, usage) == ((spent, counted) if leading else (None, None)), why


@pytest.mark.parametrize(
    ("why", "status", "counted"),
    [
        ("on", intended("a", OrderState.SEEN, vmId="a") | {"state": "ONLINE"}, 1),
        ("off: no room for another", intended("a", OrderState.SEEN, vmId="a") | {"state": "OFFLINE"}, 1),
        ("ordered, and not seen yet", intended("a"), 1),
        ("refused: sent again", intended("a", OrderState.REFUSED), 1),
        ("lost", intended("a", OrderState.LOST), None),
        ("new", {}, None),
    ],
)
async def test_how_many_vms_count_towards_a_limit_is_exported(make_reconcilers, why, status, counted):
    reconcilers = make_reconcilers(quotas=THREE)
    reconcilers.put("GpuVM", "a", status=status)
    for leading in (True, False):
        metrics, labels = Metrics(), {"namespace": "team", "account": OWN_ACCOUNT}
        queries = Queries(reconcilers.by_kind, {}, lambda on=leading: on, reconcilers.clock, reconcilers.tools.quota_usage)
        queries.export(metrics, [], reconcilers.accounts)
        usage = metrics.registry.get_sample_value("gpucloud_vm_limit_usage", labels)
        assert usage == (counted if leading else None), why


@pytest.mark.parametrize(
    ("quotas", "counted", "why"),
    [
        (THREE, {("team", OWN_ACCOUNT): 2}, "a limit on VMs of an account"),
        ((PER_ACCOUNT, Quota("namespace", vms=3)), {("team", OWN_ACCOUNT): 2}, "a limit on VMs of a namespace"),
        (SIX_DOLLARS, {}, "a limit on prices is none on VMs"),
        ((PER_ACCOUNT, PER_NAMESPACE), {}, "no limit"),
    ],
)
async def test_vms_are_counted_for_metrics_where_their_number_is_limited(make_reconcilers, quotas, counted, why):
    reconcilers = make_reconcilers(quotas=quotas)
    for name in "ab":
        reconcilers.put("GpuVM", name, status=intended(name, pricePerHour="2.05"))
    assert reconcilers.tools.quota_usage.vms() == counted, why


def test_no_vm_is_looked_at_for_the_number_of_them():
    """A scrape of 10,000 VMs costs what one of two costs: the sums are kept."""
    usage = QuotaUsage((Quota("account", vms=1), PER_NAMESPACE))
    for number in range(100):
        usage.put(str(number), QuotaItem("ab"[number % 2], "default", "x", None))
    usage._items = None
    assert usage.vms() == {("a", "a/default"): 50, ("b", "b/default"): 50}


def test_the_limits_that_are_set_are_exported_by_scope():
    settings = Settings(endpoint=("default=https://cloud.example",), max_vms_per_account=5)
    assert (vm_limits(settings), price_limits(settings)) == ({("account",): 5.0}, {})


async def test_nothing_is_exported_of_a_limit_that_is_not_set(make_reconcilers):
    for quotas in ((PER_ACCOUNT, PER_NAMESPACE), THREE):
        reconcilers = make_reconcilers(quotas=quotas)
        reconcilers.put("GpuVM", "a", status=intended("a", pricePerHour="2.05"))
        assert reconcilers.tools.quota_usage.prices(lambda _uid, _configuration: None) == {}


async def test_namespaces_and_accounts_are_counted_apart(make_reconcilers):
    reconcilers = make_reconcilers(quotas=(Quota("account", vms=2), Quota("namespace", vms=1)))
    reconcilers.put("GpuVM", "a", status=intended("a"))
    reconcilers.put("GpuVM", "b")
    reconcilers.put("GpuVM", "c", meta={"namespace": "other"})
    assert await refused(reconcilers, "b")
    assert await intend(reconcilers, "c")
    reconcilers.account("default", namespace="third")
    for name in "de":
        reconcilers.put("GpuVM", name, meta={"namespace": "third"}, status=NOT_ORDERED)
    assert await intend(reconcilers, "d"), "the operator's own account is full, and this one is another"
    assert await refused(reconcilers, "e")


@pytest.mark.parametrize("kind", [ErrorKind.INVALID, ErrorKind.UNAVAILABLE])
async def test_an_order_that_was_refused_keeps_its_place_since_it_is_sent_again(make_reconcilers, kind):
    """Found by the simulated world: another was bought in between, and then one more than the limit allows."""
    reconcilers = make_reconcilers(quotas=(Quota("account", vms=1), PER_NAMESPACE))
    reconcilers.put("GpuVM", "a")
    assert await intend(reconcilers, "a")
    reconcilers.session.client.fails = [CloudError(kind, "no")]
    await reconcilers.vms.act(await reconcilers.facts("GpuVM", "a"), Plan(action=Verb.CREATE))
    reconcilers.put("GpuVM", "b")
    assert await refused(reconcilers, "b")
    reconcilers.drop("GpuVM", "a")
    assert await intend(reconcilers, "b")


async def test_an_order_that_may_have_been_carried_out_counts_though_its_record_is_gone(make_reconcilers):
    reconcilers = make_reconcilers(quotas=(Quota("account", vms=1), PER_NAMESPACE))
    reconcilers.put("GpuVM", "a")
    assert await intend(reconcilers, "a")
    reconcilers.session.client.fails = [CloudError(ErrorKind.OUTCOME_UNKNOWN, "lost", ambiguous=True)]
    await reconcilers.vms.act(await reconcilers.facts("GpuVM", "a"), Plan(action=Verb.CREATE))
    reconcilers.put("GpuVM", "b")
    assert await refused(reconcilers, "b")


def test_sums_are_those_of_what_stands():
    """Whatever comes and goes, the running sums are what adding up anew would give."""
    dice, them, standing = random.Random(7), QuotaUsage((Quota("account", 1), Quota("namespace", 0, Decimal(1)))), {}
    for _ in range(3000):
        uid = str(dice.randrange(30))
        if dice.random() < 0.3:
            them.drop(uid)
            standing.pop(uid, None)
            continue
        price = dice.choice((None, Decimal("2.05"), Decimal(7)))
        standing[uid] = QuotaItem(dice.choice("ab"), dice.choice((OWN_ACCOUNT, "default")), dice.choice("xy"), price)
        them.put(uid, standing[uid])
    prices = {"x": "3.00"}
    for namespace in "ab":
        account, space = them.usage("nobody", namespace, "default", prices.get)
        inside = [item for item in standing.values() if item.namespace == namespace]
        assert account.vms == sum(item.account == "default" for item in inside)
        known = [item.price or Decimal(prices.get(item.configuration, 0)) for item in inside]
        assert (space.vms, space.price) == (len(inside), sum(known))
        assert space.unpriced == sum(item.price is None and item.configuration == "y" for item in inside)
        shown = them.prices(lambda _uid, configuration: prices.get(configuration))
        assert sum(price for (where, _), price in shown.items() if where == namespace) == space.price, "what is exported"
        assert sum(count for (where, _), count in them.vms().items() if where == namespace) == space.vms, "and of VMs"
    own = next(uid for uid, item in standing.items() if item.namespace == "a")
    others = them.usage(own, "a", "default", prices.get)[1]
    assert others.vms == sum(item.namespace == "a" for item in standing.values()) - 1
