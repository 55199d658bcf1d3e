"""What the tests of Events share: an Event, and what became of all that were recorded."""

import asyncio

from gpucloud.engine.kube.events import Event

NOTE = Event("Created", "Requested creation of VM 'x'.", "CreateServer")


async def posted(recorder, kube):
    """Post all recorded Events; return what the apiserver has then."""
    task = asyncio.create_task(recorder.run())
    await asyncio.wait_for(recorder.drain(), 300)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return kube.events
