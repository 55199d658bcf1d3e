"""A reconciler of accounts whose sessions are closed after the test."""

import pytest

from support.accountrig import Rig


@pytest.fixture
async def rig(reconcilers, around, cloud):
    for key in ("a", "b"):
        cloud.world(key, GetVpcs=[{"id": "7", "name": key, "tenancyName": f"tenant-{key}"}])
    made = Rig(reconcilers, around)
    yield made
    await made.sessions.aclose()
