"""The order of a run's tests on several workers, as the scheduler of xdist then shares them out."""

from __future__ import annotations

import pytest
from xdist.scheduler import WorkStealingScheduling

from support.shares import dealt

FILES = {"e2e/test_long.py": 6, "e2e/test_middle.py": 4, "e2e/test_more.py": 3, "e2e/test_short.py": 1}
CASES = [f"e2e/test_tables.py::test_row[{number}]" for number in range(9)]
SLOW = [*(f"{file}::test_{number}" for file, count in FILES.items() for number in range(count)), *CASES]
QUICK = [f"unit/test_all.py::test_{number}" for number in range(101)]
COLLECTED = [*QUICK[:20], *SLOW, *QUICK[20:]]


class Gateway:
    def __init__(self, name):
        self.id = name


class Worker:
    """A worker as the scheduler sees it."""

    shutting_down = False

    def __init__(self, name):
        self.gateway, self.given = Gateway(name), []

    def send_runtest_some(self, indices):
        self.given += indices


def shares(config, tests, count):
    """What xdist gives to each worker when the run begins."""
    config.option.tx = [f"{count}*popen"]
    scheduler, workers = WorkStealingScheduling(config), [Worker(f"gw{number}") for number in range(count)]
    for worker in workers:
        scheduler.add_node(worker)
        scheduler.add_node_collection(worker, tests)
    scheduler.schedule()
    return [[tests[index] for index in worker.given] for worker in workers]


def file_of(test):
    return test.partition("::")[0]


@pytest.fixture
def config(pytestconfig):
    """The options of this run, put back afterwards."""
    before = pytestconfig.option.tx
    yield pytestconfig
    pytestconfig.option.tx = before


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_all_workers_but_the_last_begin_with_slow_tests(config, count):
    tests = dealt(COLLECTED, set(SLOW), count)
    assert sorted(tests) == sorted(COLLECTED), "each once, and none left out"
    *heads, last = shares(config, tests, count)
    assert not set(last) & set(SLOW)
    for share in heads:
        slow = [test for test in share if test in SLOW]
        assert slow
        assert share[: len(slow)] == slow, "what others take from the end are quick ones"
    begins = [{file_of(test) for test in share if test in SLOW} for share in heads]
    assert sum(len(files) for files in begins) == len(set.union(*begins)), "each file with one worker"


def test_many_cases_of_one_function_weigh_as_one(config):
    """Nine rows of a table take less than six tests."""
    first, second, _ = shares(config, dealt(COLLECTED, set(SLOW), 3), 3)
    assert "e2e/test_long.py" in {file_of(test) for test in first}
    assert {file_of(test) for test in second} >= {"e2e/test_middle.py", "e2e/test_more.py"}


@pytest.mark.parametrize(
    ("tests", "slow", "count"),
    [
        pytest.param(COLLECTED, SLOW, 1, id="one worker, or none"),
        pytest.param(SLOW, SLOW, 4, id="slow ones only: no share could be filled up"),
        pytest.param(QUICK, [], 4, id="quick ones only"),
        pytest.param([], [], 4, id="none"),
    ],
)
def test_the_order_of_collection_stays(tests, slow, count):
    assert dealt(tests, set(slow), count) == list(tests)


def test_the_order_within_a_file_stays():
    tests = dealt(COLLECTED, set(SLOW), 4)
    for file in map(file_of, COLLECTED):
        assert [test for test in tests if file_of(test) == file] == [test for test in COLLECTED if file_of(test) == file]
