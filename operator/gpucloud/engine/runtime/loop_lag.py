"""Measure event loop lag: the delay between the due time of a sleep and its end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

INTERVAL_SECONDS = 0.25  # four wake-ups a second cost some 10 ms of CPU a minute


async def measure(observe: Callable[[float], None]) -> None:
    """Pass the lag in seconds to ``observe`` once per interval, until cancelled."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + INTERVAL_SECONDS
        await asyncio.sleep(INTERVAL_SECONDS)
        observe(max(0.0, loop.time() - due))
