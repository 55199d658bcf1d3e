"""With which tests each worker of a run begins: end-to-end tests mostly wait, and all others keep a core busy.

xdist's ``worksteal`` gives each worker an equal share of the collected tests, one after the other, and whoever has none left
takes half of what the longest share still holds, from its end. In the order of collection one worker has all end-to-end tests,
and the others come to them when nothing else is left to be done while they wait. So they are dealt to the heads of all shares
but the last, whose worker keeps a core busy meanwhile; and what is stolen, and what the run ends with, are short tests.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

PLUGIN = "shares-of-a-run"


class SharesOfARun:
    """Orders what a worker has collected; all of them come to the same order."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Without workers, and for a few tests, the order stays."""
        workers = getattr(config, "workerinput", {}).get("workercount", 1)
        slow = {item.nodeid for item in items if item.get_closest_marker("e2e")}
        rank = {name: number for number, name in enumerate(dealt([item.nodeid for item in items], slow, workers))}
        items.sort(key=lambda item: rank[item.nodeid])


@dataclass
class _Head:
    """What a worker begins with. Its functions say how long it takes: cases of one function are short where they are many."""

    tests: list[str] = field(default_factory=list)
    functions: int = 0


def dealt(tests: Sequence[str], slow: set[str], workers: int) -> list[str]:
    """Order the tests: those of a file that are slow stay together, since they share what they set up, as in its module."""
    files: dict[str, list[str]] = {}
    for test in tests:
        if test in slow:
            files.setdefault(test.partition("::")[0], []).append(test)
    heads = [_Head() for _ in range(workers - 1)]
    for file in sorted(files.values(), key=_functions, reverse=True) if heads else ():
        shortest = min(heads, key=lambda head: head.functions)
        shortest.tests += file
        shortest.functions += _functions(file)
    sizes = _shares(len(tests), workers)
    if not heads or any(len(head.tests) > size for head, size in zip(heads, sizes, strict=False)):
        return list(tests)
    others = (test for test in tests if test not in slow)
    parts = [[*head.tests, *islice(others, size - len(head.tests))] for head, size in zip(heads, sizes, strict=False)]
    return [*chain.from_iterable(parts), *others]


def _functions(tests: Sequence[str]) -> int:
    return len({test.partition("[")[0] for test in tests})


def _shares(tests: int, workers: int) -> list[int]:
    """How many tests ``worksteal`` gives to each worker at first."""
    sizes: list[int] = []
    for left in range(workers, 0, -1):
        sizes.append((tests - sum(sizes)) // left)
    return sizes
