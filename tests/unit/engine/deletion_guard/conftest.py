"""A maker of guards with a rule."""

from __future__ import annotations

import pytest

from support.guardrig import THREE, Rig


@pytest.fixture
def make(make_reconcilers):
    return lambda rule=THREE, **more: Rig(make_reconcilers(rule=rule, **more))
