"""Orphan collectors and engines that are stopped after the test."""

import pytest

from support.fakes import FakeKube
from support.orphanrig import KEY, OTHER_KEY, PRICES, Rig, Whole, vm


@pytest.fixture
async def rig(cloud, around):
    made = []
    cloud.world(KEY, GetServers=[vm()], GetConfigurations=PRICES)
    cloud.world(OTHER_KEY, GetServers=[vm()], GetConfigurations=PRICES)

    def make(**rules):
        made.append(Rig(cloud, around, **rules))
        return made[-1]

    yield make
    for item in made:
        await item.sessions.aclose()


@pytest.fixture
async def whole(cloud):
    made = []

    async def make(*names, **settings):
        made.append(Whole(cloud, FakeKube(), *names, **settings))
        await made[-1].start()
        return made[-1]

    yield make
    for item in made:
        await item.engine.stop(1.0)
