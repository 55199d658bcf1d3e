"""A publisher over accounts whose sessions are closed after the test."""

import pytest

from support.offerrig import Rig


@pytest.fixture
async def rig(reconcilers, around, cloud):
    made = Rig(reconcilers, around, cloud)
    yield made
    await made.accounts.sessions.aclose()
