"""Workers: take keys from the queue, and hand them to the controller of their kind."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpucloud.engine.controller.controller import Controller
    from gpucloud.engine.runtime.workqueue import WorkQueue


async def work(queue: WorkQueue, controllers: dict[str, Controller[Any, Any, Any]]) -> None:
    """One worker: takes keys until the queue is closed."""
    while (key := await queue.take()) is not None:
        try:
            await controllers[key.kind].reconcile(key)
        except (Exception, asyncio.CancelledError):  # the worker fails and is restarted; the key is retried
            controllers[key.kind].retry_later(key)
            raise
        finally:
            queue.done(key)


async def stop(workers: list[asyncio.Task[None]], queue: WorkQueue, grace: float) -> None:
    """Let running reconciles finish, so that the answer to a sent create is saved; then cancel the workers."""
    queue.close()
    if workers:
        await asyncio.wait(workers, timeout=grace)
    for worker in workers:
        worker.cancel()
    await asyncio.gather(*workers, return_exceptions=True)
