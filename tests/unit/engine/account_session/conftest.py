"""Sessions that are closed after the test."""

import pytest

from gpucloud.cloud.options import ApiKey
from support.sessionrig import KEY, Rig


@pytest.fixture
async def rig(cloud, around):
    made = []

    def make(credential=None, **records):
        cloud.world(KEY, **records)
        made.append(Rig(cloud, around, credential or ApiKey(KEY)))
        return made[-1]

    yield make
    for item in made:
        await item.session.aclose()
