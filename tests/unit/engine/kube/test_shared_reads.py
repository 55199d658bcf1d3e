"""How long answers of shared reads are kept."""

from gpucloud.engine.kube.shared_reads import SharedReads
from support.fakes import HandClock

REMEMBERED = 5.0


async def test_answers_that_nobody_may_use_any_more_are_forgotten():
    """Each namespace is asked for once, as by a job that makes one for every run, and deletes it."""
    clock, most = HandClock(), 0

    async def read(namespace):
        return namespace

    reads = SharedReads(read, clock, REMEMBERED)
    for number in range(200):
        clock.now += 1.0
        assert await reads.get(f"run-{number}") == f"run-{number}"
        most = max(most, len(reads))
    assert most <= 2 * REMEMBERED


async def test_an_answer_is_kept_as_long_as_it_may_be_used():
    clock, asked = HandClock(), []

    async def read(namespace):
        asked.append(namespace)
        return len(asked)

    reads = SharedReads(read, clock, REMEMBERED)
    for seconds, namespace in ((0.0, "a"), (3.0, "b"), (1.9, "c"), (0.0, "a"), (3.0, "b")):
        clock.now += seconds
        await reads.get(namespace)
    assert asked == ["a", "b", "c"]
