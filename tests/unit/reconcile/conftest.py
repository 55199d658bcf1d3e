"""Decisions about orders meet no event in a state in which it is not expected."""

import pytest

from simulation import ignored_pairs


@pytest.fixture
def unexpected_pairs():
    """What changed nothing, and was not expected to come; a test that brings it on takes it out."""
    found = []
    with ignored_pairs.watched(found.append):
        yield found
    assert found == []


@pytest.fixture(autouse=True)
def _no_unexpected_pairs(unexpected_pairs):
    """For every test."""
