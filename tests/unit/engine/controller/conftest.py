"""Controllers that are stopped after the test."""

import pytest

from support.controllerrig import Rig


@pytest.fixture
async def rig():
    made = []

    def make(plan, **more):
        made.append(Rig(plan, **more))
        return made[-1]

    yield make
    for item in made:
        await item.end()
