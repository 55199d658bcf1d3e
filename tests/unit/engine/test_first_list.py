"""The wait until the watch has delivered all objects: one list is enough while it delivers."""

import asyncio
from types import SimpleNamespace

import pytest
from structlog.testing import capture_logs

from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.kube.first_list import RELIST_SECONDS, wait_for_first_list
from support.fakes import LoopClock

pytestmark = pytest.mark.looptime


class Kube:
    """What each list answers; the last answer is repeated."""

    def __init__(self, *answers):
        self._answers, self.lists = answers, 0

    async def uids(self, _plural, _namespaces):
        answer = self._answers[min(self.lists, len(self._answers) - 1)]
        self.lists += 1
        if isinstance(answer, KubeError):
            raise answer
        return answer


class Deliveries:
    """A store into which the watch puts one object every few seconds."""

    def __init__(self, uids, every):
        self._uids, self._every, self._began = uids, every, asyncio.get_running_loop().time()

    def lacks(self, uids):
        count = int((asyncio.get_running_loop().time() - self._began) / self._every)
        return len(uids - set(self._uids[:count]))


@pytest.mark.parametrize(
    ("answers", "delivered", "lists", "missing", "why"),
    [
        ([set("abcdef")], "abcdef", 1, [], "the watch goes on: however long it takes, nothing is listed again"),
        (
            [set("abx"), set("ab")],
            "ab",
            2,
            [{"gpuvms": 1}],
            "x was deleted between the list and the watch: the next list does not have it",
        ),
        ([KubeError(503, "Unavailable", "no"), set("a")], "a", 2, [], "a list that failed is repeated"),
    ],
)
async def test_it_ends_when_the_watch_has_delivered_what_a_list_has(answers, delivered, lists, missing, why):
    kube = Kube(*answers)
    reconciler = SimpleNamespace(plural="gpuvms", store=Deliveries(delivered, RELIST_SECONDS - 1))
    with capture_logs() as logs:
        await wait_for_first_list(kube, [reconciler], (), LoopClock())
    assert kube.lists == lists, why
    assert [record["missing"] for record in logs if "missing" in record] == missing, "a wait is told, with what it is for"
    assert reconciler.store.lacks(set(delivered)) == 0
