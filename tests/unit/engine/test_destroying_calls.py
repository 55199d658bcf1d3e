"""Destroying calls are announced in the record of the order: that must neither keep one from being sent nor hasten one."""

import asyncio
from itertools import pairwise

import pytest

from gpucloud.engine.kube.errors import KubeError
from gpucloud.kinds.common import MOST_DESTROYING_CALLS
from support.orderrig import ManyClusters, failed, history_over

pytestmark = pytest.mark.looptime


class Cloud(ManyClusters):
    """``lazy``: it accepts DestroyServer and does nothing; ``refuses``: with which status. ``destroys``: when it was asked."""

    lazy, refuses, destroys = False, None, ()

    async def handle_async_request(self, request):
        if request.url.path.endswith("/DestroyServer"):
            self.destroys += (asyncio.get_running_loop().time(),)
            if self.refuses:
                return failed(self.refuses, "no")
        kept = dict(self.vms)
        answer = await super().handle_async_request(request)
        if self.lazy:
            self.vms.update(kept)
        return answer


it = history_over(lambda: Cloud("Hou1"))


async def runs(it):
    await it.apply()
    await it.until(lambda: it.ready == "True/Running")


async def test_an_apiserver_that_is_slower_than_a_grace_keeps_no_vm_from_being_destroyed(it):
    """Each announcement used to be too old when it was written, and was made anew."""
    await it.start(create_grace_seconds=1)
    await runs(it)
    write, writes = it.kube.replace_status, []

    async def slow(*asked):
        writes.append(asked)
        await asyncio.sleep(3)
        return await write(*asked)

    it.kube.replace_status = slow
    it.delete()
    await it.until(lambda: it.gone, 60)
    assert len(writes) <= 2


async def test_the_greatest_number_that_the_schema_allows_keeps_no_vm_from_being_destroyed(it):
    """Somebody may edit a status; one number more would be refused for ever."""
    await runs(it)
    forged = {"number": MOST_DESTROYING_CALLS, "announcedAt": "2026-01-01T00:00:00Z"}
    it.kube.bodies["u-train"]["status"]["order"]["destroyingCall"] = forged
    await it.start()
    write = it.kube.replace_status

    async def valid(*asked):
        if asked[-1]["order"].get("destroyingCall", forged)["number"] > MOST_DESTROYING_CALLS:
            raise KubeError(422, "Invalid", "status.order.destroyingCall.number")
        return await write(*asked)

    it.kube.replace_status = valid
    await asyncio.sleep(60)
    it.delete()
    await it.until(lambda: it.gone, 600)


@pytest.mark.parametrize(("grace", "wanted"), [(30, [300, 600, 900, 900]), (120, [1200, 1200])])
async def test_a_destroying_call_without_effect_is_sent_ever_more_rarely(it, grace, wanted):
    await it.start(create_grace_seconds=grace)
    await runs(it)
    it.cloud.lazy = True
    it.delete()
    await it.until(lambda: len(it.cloud.destroys) > len(wanted), 3700)
    assert [after - before for before, after in pairwise(it.cloud.destroys)] == pytest.approx(wanted, abs=5)


async def test_refused_calls_lengthen_no_wait_of_the_next_process(it):
    """They used to count as accepted: once the credential was permitted, a restart cost up to 15 minutes of billing."""
    await runs(it)
    it.cloud.refuses = 403
    it.delete()
    await it.until(lambda: it.cloud.destroys)
    await asyncio.sleep(10)
    announced = it.status["order"]["destroyingCall"]
    await it.until(lambda: len(it.cloud.destroys) >= 8, 4000)
    assert it.status["order"]["destroyingCall"] == announced, "no call may have been carried out"
    it.cloud.refuses = None
    await it.start()
    await it.until(lambda: not it.cloud.vms, 60)
    await it.until(lambda: it.gone, 330)


@pytest.mark.parametrize("restarts", [True, False])
async def test_a_request_that_was_taken_away_hastens_no_destroying_call(it, restarts):
    await runs(it)
    asked = {"gpucloud.dev/reconcile-requested-at": "2026-01-01T00:00:00Z"}
    it.change(annotations=asked)
    await it.until(lambda: it.status.get("lastHandledReconcileAt"))
    it.cloud.lazy = True
    if restarts:
        it.change(annotations={})
        await asyncio.sleep(20)
    it.delete()
    await it.until(lambda: it.cloud.destroys)
    await asyncio.sleep(40)
    if restarts:
        await it.start()
    else:
        it.change(annotations={})
    await it.until(lambda: len(it.cloud.destroys) == 2, 400)
    before, after = it.cloud.destroys
    assert after - before == pytest.approx(300, abs=5)


@pytest.mark.parametrize("restarts", [True, False])
async def test_a_call_that_is_accepted_after_a_refusal_counts_from_its_announcement(it, restarts):
    """The one after it is announced anew: it is not sent in a row by each of the next processes."""
    await runs(it)
    it.cloud.refuses = 403
    it.delete()
    await it.until(lambda: it.cloud.destroys)
    it.cloud.refuses, it.cloud.lazy = None, True
    await it.until(lambda: len(it.cloud.destroys) == 2, 400)
    if restarts:
        await it.start()
        await it.until(lambda: len(it.cloud.destroys) == 3, 60)
        await it.start()
    await asyncio.sleep(290)
    assert len(it.cloud.destroys) == 2 + restarts
    assert it.status["order"]["destroyingCall"]["number"] == 1 + restarts
