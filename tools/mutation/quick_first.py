"""A pytest plugin for mutmut: quick tests first, since the first that fails ends a mutant; and the same examples always."""

from __future__ import annotations

from typing import TYPE_CHECKING

import hypothesis
from mutmut.state import state

if TYPE_CHECKING:
    import pytest

hypothesis.settings.register_profile("mutants", derandomize=True, database=None)
hypothesis.settings.load_profile("mutants")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order by how long each took on the code as it is."""
    took = state().duration_by_test
    items.sort(key=lambda item: took.get(item.nodeid, 0.0))
