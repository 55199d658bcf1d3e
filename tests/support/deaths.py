"""Kill the tasks of one operator process by an exception or an unrequested CancelledError.

A ``sitecustomize`` does it, which its Python loads first.

It wraps every named task of the event loop. A task that is told to die gets an exception at the place where it waits, in the
innermost function, as if that place had a defect. Nothing in the product knows of it.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from support.waiting import eventually

if TYPE_CHECKING:
    from pathlib import Path

MESSAGE = "planted by a test"
_SITECUSTOMIZE = """
import asyncio, fnmatch, json, os, types, weakref

FOLDER = {folder!r}
SECONDS = 0.05  # between two looks at the folder
alive, doomed, true_create_task = weakref.WeakSet(), weakref.WeakKeyDictionary(), asyncio.create_task
looking = []


class PlantedError(Exception):
    pass


def claimed(name):
    '''The error by which this task is to die, if any: the file of its name, or of its pattern, is removed by the first.'''
    for file in os.listdir(os.path.join(FOLDER, "kill")):
        if fnmatch.fnmatchcase(name, file) or fnmatch.fnmatchcase(name, file + "-*"):
            path = os.path.join(FOLDER, "kill", file)
            with open(path) as order:
                error = asyncio.CancelledError if order.read() == "cancelled" else PlantedError
            os.unlink(path)
            return error
    return None


@types.coroutine
def mortal(coro, name):
    error, first = None, True
    while True:
        try:
            waiting = coro.send(None) if error is None else coro.throw(error)
        except StopIteration as ended:
            return ended.value
        error = None
        if first and (kind := claimed(name)):  # a short-lived one, which the looks may miss
            error = kind({message!r})
        else:
            try:
                yield waiting
            except BaseException as met:
                error, me = met, asyncio.current_task()
                if me in doomed:
                    kind = doomed.pop(me)
                    me.uncancel()
                    error = kind({message!r})
        first = False


async def live(coro, name):
    alive.add(asyncio.current_task())  # not before: a task that has not begun could only be cancelled
    return await mortal(coro, name)


def look():
    names = sorted(task.get_name() for task in alive if not task.done())
    with open(os.path.join(FOLDER, "names.new"), "w") as file:
        json.dump(names, file)
    os.replace(os.path.join(FOLDER, "names.new"), os.path.join(FOLDER, "names"))
    for task in list(alive):
        if not task.done() and (kind := claimed(task.get_name())):
            doomed[task] = kind
            task.cancel()
    asyncio.get_running_loop().call_later(SECONDS, look)


def create_task(coro, *, name=None, **more):
    if not looking:
        looking.append(True)
        asyncio.get_running_loop().call_soon(look)
    return true_create_task(live(coro, name) if name else coro, name=name, **more)


asyncio.create_task = asyncio.tasks.create_task = create_task
"""


class Deaths:
    """What kills tasks in the one operator that is started with ``env``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "kill").mkdir()
        (folder / "sitecustomize.py").write_text(_SITECUSTOMIZE.format(folder=str(folder), message=MESSAGE))
        inherited = os.environ.get("PYTHONPATH")
        self.env = {"PYTHONPATH": os.pathsep.join(filter(None, [str(folder), inherited]))}

    def order(self, task: str, *, cancelled: bool = False) -> None:
        """Let a task of this name or pattern die: one that runs, else the next one, in its first wait."""
        written = self._folder / f"ordered-{task}"
        written.write_text("cancelled" if cancelled else "")
        written.rename(self._file(task))

    def done(self, task: str, timeout: float = 60.0) -> None:
        """Wait until the task has been killed."""
        eventually(lambda: not self._file(task).exists(), timeout, f"the task {task} to be killed")

    def running(self) -> list[str]:
        """Return the names of the tasks that run."""
        file = self._folder / "names"
        return json.loads(file.read_text()) if file.exists() else []

    def _file(self, task: str) -> Path:
        return self._folder / "kill" / task
