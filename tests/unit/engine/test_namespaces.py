"""Reads of namespaces: remembered for a moment, and shared while they are under way."""

import asyncio
from datetime import UTC, datetime

import pytest

from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.kube.namespaces import REMEMBERED_SECONDS, Namespaces
from gpucloud.kinds.meta import Annotation
from support.fakes import HandClock


class SlowKube:
    """Answers when it is told to: with a live namespace, or with an error."""

    def __init__(self):
        self.reads, self.go, self.error, self.more = 0, asyncio.Event(), None, {}

    async def namespace(self, namespace):
        self.reads += 1
        await self.go.wait()
        if self.error is not None:
            raise self.error
        return {"name": namespace} | self.more


@pytest.fixture
def kube():
    return SlowKube()


@pytest.fixture
def clock():
    return HandClock()


@pytest.fixture
def namespaces(kube, clock):
    return Namespaces(kube, clock)


async def begun(*calls):
    """These calls, under way."""
    tasks = [asyncio.create_task(call) for call in calls]
    await asyncio.sleep(0)
    return tasks


async def test_those_who_ask_meanwhile_share_the_read_that_is_under_way(kube, namespaces):
    tasks = await begun(*(namespaces.terminating(name) for name in ("a", "a", "b", "a")))
    kube.go.set()
    assert (await asyncio.gather(*tasks), kube.reads) == ([False] * 4, 2)
    assert (await namespaces.terminating("a"), kube.reads) == (False, 2), "and it is remembered"


async def test_a_read_that_began_too_early_for_somebody_is_not_shared_with_them(kube, namespaces, clock):
    first = await begun(namespaces.get("a"))
    clock.now += 1
    second = await begun(namespaces.get("a", not_before=clock.now))
    kube.go.set()
    await asyncio.gather(*first, *second)
    assert kube.reads == 2
    await namespaces.get("a", not_before=clock.now)
    assert kube.reads == 2, "the later one is remembered"


async def test_a_read_that_is_under_way_for_long_is_shared_no_more(kube, namespaces, clock):
    first = await begun(namespaces.get("a"))
    clock.now += REMEMBERED_SECONDS + 1
    second = await begun(namespaces.get("a"))
    kube.go.set()
    await asyncio.gather(*first, *second)
    assert kube.reads == 2


async def test_all_who_share_a_read_learn_of_its_error_and_the_next_reads_anew(kube, namespaces):
    kube.error = KubeError(503, "Unavailable", "no")
    tasks = await begun(*(namespaces.get("a") for _ in range(3)))
    kube.go.set()
    answers = await asyncio.gather(*tasks, return_exceptions=True)
    assert ([error.status for error in answers], kube.reads) == ([503] * 3, 1)
    kube.error = None
    assert not (await namespaces.get("a")).terminating


async def test_nobody_waits_for_a_read_whose_task_has_ended(kube, namespaces):
    reader, waiter = await begun(namespaces.get("a"), namespaces.get("a"))
    reader.cancel()
    with pytest.raises(KubeError, match="Cancelled"):
        await waiter
    kube.go.set()
    assert not (await namespaces.get("a")).terminating


async def test_one_who_gives_up_takes_the_answer_from_nobody(kube, namespaces):
    reader, leaver, waiter = await begun(*(namespaces.get("a") for _ in range(3)))
    leaver.cancel()
    await asyncio.sleep(0)
    kube.go.set()
    assert [answer.terminating for answer in await asyncio.gather(reader, waiter)] == [False, False]


async def test_it_is_read_again_after_a_moment(kube, namespaces, clock):
    kube.go.set()
    await namespaces.get("a")
    clock.now += REMEMBERED_SECONDS
    await namespaces.get("a")
    assert kube.reads == 2


def owner(hour, annotation=Annotation.BRAKE_RELEASED_AT):
    """A field manager that last changed one of its fields then."""
    fields = {"f:metadata": {"f:annotations": {".": {}, f"f:{annotation}": {}}}}
    return {"manager": "kubectl-annotate", "time": f"2026-01-01T{hour:02}:00:00Z", "fieldsV1": fields}


@pytest.mark.parametrize(
    ("managed", "hour", "why"),
    [
        (None, None, "the apiserver tells nothing"),
        ([owner(3)], 3, "its only writer"),
        ([owner(5), owner(3), owner(4)], 3, "one of them wrote it first; the others changed something since, or agree with it"),
        ([owner(3, "example.com/other"), owner(5)], 5, "the other one wrote something else"),
        ([owner(3, "example.com/other")], None, "nobody owns it"),
        ([{"manager": "m", "time": "2026-01-01T03:00:00Z"}, {"manager": "m", "fieldsV1": {}}], None, "entries that say less"),
    ],
)
async def test_when_a_release_was_written_is_told_by_whoever_owns_it(kube, namespaces, managed, hour, why):
    kube.go.set()
    kube.more = {"annotations": {Annotation.BRAKE_RELEASED_AT: "2026-01-01T12:00:00Z"}, "managedFields": managed}
    found = await namespaces.get("a")
    assert found.brake_released_at == "2026-01-01T12:00:00Z"
    assert found.brake_written_at == (None if hour is None else datetime(2026, 1, 1, hour, tzinfo=UTC)), why
