"""Histories that take place in the process of the tests leave its logs as they were."""

import logging

import pytest
import structlog

from simulation.logs import SimulatedLog
from support.court import Court


@pytest.fixture(autouse=True)
def _quiet():
    configured, before, disabled = structlog.is_configured(), structlog.get_config(), logging.root.manager.disable
    structlog.configure(wrapper_class=SimulatedLog, cache_logger_on_first_use=False)
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(disabled)
    structlog.reset_defaults()
    if configured:
        structlog.configure(**before)


@pytest.fixture
def court():
    """The judge over a world in which nothing runs."""
    made = Court()
    yield made
    made.world._bury()


@pytest.fixture
def courts():
    """The judge over worlds with these settings in which nothing runs."""
    made = []

    def make(**settings):
        made.append(Court(**settings))
        made[-1].judge.collecting.began(made[-1].operator)
        return made[-1]

    yield make
    for item in made:
        item.world._bury()
