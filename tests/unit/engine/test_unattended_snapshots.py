"""Histories of a final snapshot in a namespace that is being deleted: the operator takes it in the cloud, and dies."""

from __future__ import annotations

import asyncio
import json

import pytest

from support.orderrig import KEY, MakingCloud, history_over

pytestmark = pytest.mark.looptime
REQUIRED = {"deletion": {"finalSnapshot": "Required"}}
RESEND = 300


class SavingCloud(MakingCloud):
    """Takes snapshots once it ``takes_them``; before, it accepts each request and makes nothing."""

    def __init__(self):
        super().__init__()
        self.takes_them, self.snapshots = False, []

    async def handle_async_request(self, request):
        operation, here = request.url.path.rsplit("/", 1)[1], self.worlds[KEY]
        here["GetSnapshots"] = self.snapshots
        if operation == "CreateSnapshot":
            name = json.loads(await request.aread())["name"]
            here[operation] = {"id": name, "sourceName": next(iter(self.vms)), "namespace": "acme", "tenancyName": "acme"}
        answer = await super().handle_async_request(request)
        if operation == "CreateSnapshot" and self.takes_them:
            self.snapshots = [here[operation] | {"readyToUse": "true"}]
        return answer

    @property
    def asked_for(self):
        return len(self.asked("CreateSnapshot"))


it = history_over(SavingCloud)


async def restart(it):
    """The process is killed, and another one takes over in the same dying namespace."""
    await it.start()
    it.kube.dying.add("team")


async def killed_when_announced(it):
    """The status is written, and its answer never comes."""
    write = it.kube.replace_status

    async def hang(*given):
        await write(*given)
        if requests(it):
            await asyncio.sleep(3600)

    it.kube.replace_status = hang
    it.delete()
    await it.until(lambda: requests(it) == 1)
    assert it.cloud.asked_for == 0


async def killed_when_sent(it):
    it.cloud.takes["CreateSnapshot"] = 3600
    it.delete()
    await it.until(lambda: it.cloud.asked_for == 1)
    it.cloud.takes.clear()


async def killed_when_answered(it):
    it.delete()
    await it.until(lambda: it.cloud.asked_for == 1)
    await asyncio.sleep(20)


def requests(it):
    return it.status.get("finalSnapshot", {}).get("requests", 0)


@pytest.mark.parametrize("killed", [killed_when_announced, killed_when_sent, killed_when_answered])
async def test_a_restart_at_any_instant_shortens_no_wait(it, killed):
    """It was asked for again as soon as the new process had listed the snapshots."""
    await it.apply(**REQUIRED)
    await it.until(lambda: it.ready == "True/Running")
    it.kube.dying.add("team")
    await killed(it)
    asked_for = it.cloud.asked_for
    for _ in range(2):
        await restart(it)
        await asyncio.sleep(RESEND - 5)
        assert it.cloud.asked_for == asked_for
    it.cloud.takes_them = True
    await it.until(lambda: it.gone, 20)
    assert it.cloud.asked_for == asked_for + 1
    assert (it.cloud.vms, len(it.cloud.snapshots)) == ({}, 1)


async def test_requests_that_the_cloud_accepts_in_vain_are_each_announced_and_ever_rarer(it):
    await it.apply(**REQUIRED)
    await it.until(lambda: it.ready == "True/Running")
    it.kube.dying.add("team")
    it.delete()
    waits = [await it.until(lambda n=number: it.cloud.asked_for == n, 1000) for number in (1, 2, 3, 4, 5)]
    for wait, most in zip(waits[1:], (1, 2, 3, 3), strict=True):
        assert most * RESEND <= wait < most * RESEND + 10
    assert requests(it) == 5
    assert len(it.cloud.vms) == 1
