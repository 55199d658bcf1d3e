"""A cloud with something in it."""

import pytest

from simulator.test_sim_client import Cloud


@pytest.fixture
async def cloud():
    """A cloud with one ONLINE machine named vm and its ready snapshot named snap."""
    cloud = Cloud()
    await cloud.online()
    await cloud.ready_snapshot()
    return cloud
