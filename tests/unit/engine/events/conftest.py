"""A recorder of Events with its apiserver and clock."""

import pytest

from gpucloud.engine.kube.event_recorder import EventRecorder
from support.fakes import EveryEntry, FakeKube, HandClock


@pytest.fixture
def kube():
    return FakeKube()


@pytest.fixture
def clock():
    return HandClock(1000.25)


@pytest.fixture
def recorder(kube, clock):
    return EventRecorder(kube, clock, EveryEntry())
