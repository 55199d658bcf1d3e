"""What the catalogue shows of the prices of alternatives, for GpuVMs that try them by price."""

import pytest

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
