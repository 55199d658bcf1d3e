"""Inventories that are closed after the test."""

import pytest

from support.inventoryrig import Rig


@pytest.fixture
async def rig():
    made = []

    def make(*answers, **more):
        made.append(Rig(*answers, **more))
        return made[-1]

    yield make
    for item in made:
        await item.inventory.aclose()
