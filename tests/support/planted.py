"""A plugin of pytest, ``-p support.planted --plant NAME``: all tests of this process meet a product with a known defect."""

from __future__ import annotations

from simulation.defects import IN_PRODUCTION


def pytest_addoption(parser):
    parser.addoption("--plant", choices=IN_PRODUCTION, metavar="NAME", help="plant this defect before any test is collected")


def pytest_configure(config):
    IN_PRODUCTION[config.getoption("plant")]()
