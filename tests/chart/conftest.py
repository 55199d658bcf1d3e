"""Fixtures of the chart's tests: a real Helm, and the chart under it. A Helm that cannot be had fails them with its reason."""

from __future__ import annotations

import os

import pytest

from helmcli import Helm, obtain_helm
from support.chart import Chart


@pytest.fixture(scope="session")
def helm(tmp_path_factory):
    return Helm(obtain_helm(os.environ), tmp_path_factory.mktemp("helm"))


@pytest.fixture(scope="session")
def chart(helm):
    return Chart(helm)
