"""The event loop's lag is what a blocked loop keeps others waiting."""

from __future__ import annotations

import asyncio
import time

import pytest

from gpucloud.engine.runtime import loop_lag


@pytest.mark.looptime
async def test_a_free_loop_has_no_lag():
    seen = []
    task = asyncio.create_task(loop_lag.measure(seen.append))
    await asyncio.sleep(10.1 * loop_lag.INTERVAL_SECONDS)
    task.cancel()
    assert seen == pytest.approx([0.0] * 10, abs=1e-6)


async def test_a_blocked_loop_lags_by_as_much(monkeypatch):
    monkeypatch.setattr(loop_lag, "INTERVAL_SECONDS", 0.01)
    seen = asyncio.Queue()
    task = asyncio.create_task(loop_lag.measure(seen.put_nowait))
    await asyncio.sleep(0)
    time.sleep(0.2)  # noqa: ASYNC251 - what a defect would do
    assert await seen.get() >= 0.18
    task.cancel()
