"""A reconciler of GpuVMs."""

import pytest

from support.gpuvmrig import Rig


@pytest.fixture
def rig(reconcilers):
    return Rig(reconcilers)
