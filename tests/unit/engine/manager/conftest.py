"""Engines that are stopped after the test."""

import pytest

from support.enginerig import KEY, OWN, Rig


@pytest.fixture
async def rig(cloud):
    made = []
    cloud.world(OWN, GetVpcs=[{"id": "7", "name": "acme", "cluster": "Msc1", "tenancyName": "acme"}])
    cloud.world(KEY, GetVpcs=[{"id": "8", "name": "acme", "cluster": "Msc1", "tenancyName": "acme"}])

    async def make(known=(), **settings):
        made.append(Rig(cloud, **settings))
        made[-1].uids.update(known)
        await made[-1].engine.start()
        return made[-1]

    yield make
    for item in made:
        await item.engine.stop(1.0)
