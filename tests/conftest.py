"""For all tests: the main thread always has an event loop, and it is closed at the end.

On Python 3.11 the asyncio plugin otherwise makes one that nobody closes when a module's first tests are synchronous, and the
warning about it fails whichever test the garbage collector hits.
"""

from __future__ import annotations

import asyncio
import gc
import signal

import pytest
from hypothesis import HealthCheck, settings

from support.rights import PLUGIN, RightsOfARun
from support.shares import PLUGIN as SHARES
from support.shares import SharesOfARun

# How long an example takes says how busy the machine is, and how many are drawn in vain how lucky the seed is; no more.
CHANCE = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
settings.register_profile("suite", deadline=None, suppress_health_check=CHANCE)
settings.load_profile("suite")
FIGURE = "figure"  # a sentence of a test, printed at the end of the run


def pytest_configure(config):
    """Children must be stopped by an interrupt even where a shell started us in the background, which ignores it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.pluginmanager.register(RightsOfARun(), PLUGIN)
    config.pluginmanager.register(SharesOfARun(), SHARES)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is collected stays until the end: the garbage collector need not go through it, now or during the tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items):
    """Time jumps as soon as a loop rests, not after forty-two more looks at it: those took most of the time of these tests.

    Nothing is left out by that: a callback that is ready, work in the executor and a socket that can be read all come first.
    """
    for item in items:
        if item.get_closest_marker("looptime"):
            item.add_marker(pytest.mark.looptime(noop_cycles=0))


@pytest.fixture(scope="session", autouse=True)
def main_loop():
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


def pytest_terminal_summary(terminalreporter):
    """What the tests have counted, for whoever quotes it."""
    reports = terminalreporter.stats.get("passed", [])
    told = [
        (report.nodeid.rpartition("::")[2], text)
        for report in reports
        for name, text in report.user_properties
        if name == FIGURE
    ]
    if told:
        terminalreporter.section("figures")
        for test, text in told:
            terminalreporter.write_line(f"{test}: {text}")


@pytest.fixture
def figure(record_property):
    """A function that takes a sentence with a figure, to be printed at the end of the run."""
    return lambda text: record_property(FIGURE, text)
