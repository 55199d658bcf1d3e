"""What the catalogue shows of the prices of alternatives: for GpuVMs that try them by price, and for the limits on prices."""

from decimal import Decimal
from types import SimpleNamespace

import pytest

from gpucloud.engine.kinds.gpuvm.prices import with_prices
from gpucloud.reconcile.quota import Quota, Usage
from support.builders import a_spec, facts

ONE, TWO = "A100_40GB_PCIe_1x", "A100_40GB_PCIe_2x"


@pytest.mark.parametrize(
    ("placement", "prices"),
    [
        ({"alternatives": [{"configuration": TWO}], "order": "Price"}, {ONE: "2.05"}),
        ({"alternatives": [{"configuration": TWO}], "order": "AsListed"}, {}),
        ({"alternatives": [{"configuration": TWO}]}, {}),
    ],
)
async def test_prices_are_facts_where_the_order_depends_on_them(rig, placement, prices):
    """The catalogue knows no price of the other configuration."""
    rig.put(spec={"placement": placement})
    assert (await rig.facts()).prices == prices


@pytest.mark.parametrize(
    ("price", "limit", "dear", "why"),
    [
        ("4.10", "3", {TWO}, "it costs more than the namespace may"),
        ("4.10", "5", set(), "it fits"),
        (None, "3", set(), "without a known price nobody can tell"),
        ("4.10", "0", set(), "there is no limit"),
    ],
)
def test_which_alternatives_are_too_dear(price, limit, dear, why):
    spec = a_spec(placement={"alternatives": [{"configuration": TWO}]})
    prices = {ONE: "2.05", TWO: price}
    catalogue = SimpleNamespace(price_per_hour=prices.get)
    usage = (Usage(Quota("namespace", vms=1, price=Decimal(limit)), "The namespace 'team'", 1, Decimal(0)),)
    assert with_prices(facts(spec=spec), catalogue, lambda: usage).too_dear == dear, why


def test_who_has_no_alternative_asks_for_no_usage():
    assert with_prices(facts(spec=a_spec()), None, None).too_dear == frozenset()
