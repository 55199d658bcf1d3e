"""A CancelledError that nobody requested, out of what a reconcile awaits: neither the order nor the key is lost by it."""

from __future__ import annotations

import asyncio

import pytest

from gpucloud.engine.kinds import request
from gpucloud.engine.runtime.workqueue import Key
from support.orderrig import MakingCloud, history_over

pytestmark = pytest.mark.looptime


class CancellingCloud(MakingCloud):
    """Carries out the next ``breaks`` orders, and ends each by a CancelledError."""

    breaks = 0

    async def handle_async_request(self, request):
        answer = await super().handle_async_request(request)
        if request.url.path.endswith("CreateServer") and self.breaks:
            self.breaks -= 1
            raise asyncio.CancelledError
        return answer


it = history_over(CancellingCloud)


async def test_an_order_that_was_carried_out_is_destroyed_with_its_object(it):
    """The object went at once, with the words that no VM had been created for it."""
    it.cloud.breaks, it.cloud.lag = 1, 10.0
    await it.apply()
    await it.until(lambda: it.cloud.vms)
    it.delete()
    await it.until(lambda: it.gone, 300)
    assert (it.cloud.vms, len(it.cloud.asked("CreateServer"))) == ({}, 1)


async def test_what_was_ordered_under_a_chosen_name_is_not_let_go(it):
    """The VM that was ordered was called another's (Conflict), and stayed when the object went."""
    it.cloud.breaks = 1
    await it.apply(vmName="prod")
    await it.until(lambda: it.ready == "False/Ambiguous", 100)
    it.delete()
    await it.until(lambda: it.ready == "False/DeletionBlocked", 100)
    assert (list(it.cloud.vms), len(it.cloud.asked("CreateServer"))) == (["prod"], 1)


async def test_a_key_is_retried_after_a_status_write_is_cancelled(it):
    """The key was lost until the progress deadline: a deletion was not acted upon for half an hour."""
    await it.apply()
    await it.until(lambda: it.ready == "True/Running")
    await asyncio.sleep(60)
    real, times = it.kube.replace_status, []

    async def cancelled(*args):
        times.append(None)
        if len(times) == 1:
            raise asyncio.CancelledError
        return await real(*args)

    it.kube.replace_status = cancelled
    it.delete()
    await it.until(lambda: it.gone, 60)
    assert it.cloud.vms == {}


async def test_the_order_of_a_sender_that_is_cancelled_on_request_is_unclear(it, monkeypatch):
    """The answer is lost with the task; what was sent may have been carried out."""
    real = request.send

    async def slow(*args):
        await real(*args)
        asyncio.current_task().cancel()
        await asyncio.sleep(1)

    monkeypatch.setattr(request, "send", slow)
    it.cloud.lag = 60.0
    await it.apply()
    await it.until(lambda: it.cloud.vms)
    await asyncio.sleep(1)
    key = Key("GpuVM", "team", "train", "u-train")
    reconciler = it.engine.parts.kinds.reconcilers[key.kind]
    assert reconciler.order_of(reconciler.store.get(key.uid)).state == "Unclear"
