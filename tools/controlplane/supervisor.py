"""A small process that owns a control plane's processes and folder, so that nothing outlives whoever asked for them.

It is started as a script, with the standard library alone. It reads requests (one JSON object a line) from standard
input and answers each with one line. When its input ends, because the asker closed it or died in whatever way,
SIGKILL included, it kills every process it started, by pid, and removes the folder.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
_PR_SET_PDEATHSIG = 1


def dying_with_parent() -> Callable[[], None]:
    """Return what a child runs before exec so that the kernel kills it with its parent (Linux; elsewhere nothing)."""
    parent = os.getpid()

    def arm() -> None:
        if _LIBC is not None:
            _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:  # it died before we were armed
                os._exit(1)

    return arm


def end_with_parent() -> None:
    """Have the kernel send this process SIGTERM when its parent ends, however that ends (Linux; elsewhere nothing)."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


class Children:
    """The processes by name; killing is by the handle of a child not yet waited for, so never another process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._farewells: list[list[str]] = []

    def start(self, name: str, command: list[str]) -> dict[str, Any]:
        """Start a process whose output is appended to ``<name>.log`` in the folder."""
        with (self._folder / f"{name}.log").open("ab") as log:
            # The hook calls only prctl and getppid, and this process has one thread: safe between fork and exec.
            self._running[name] = subprocess.Popen(  # noqa: S603  # commands come from our own parent
                command,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=dying_with_parent(),  # noqa: PLW1509  # one thread, see above
            )
        return {"pid": self._running[name].pid}

    def poll(self, name: str) -> dict[str, Any]:
        """Tell whether a process still runs: its exit code, or null."""
        return {"returncode": self._running[name].poll()}

    def kill(self, name: str) -> dict[str, Any]:
        """Kill a process at once and wait for its end."""
        process = self._running[name]
        process.kill()
        return {"returncode": process.wait()}

    def farewell(self, command: list[str]) -> dict[str, Any]:
        """Remember a command to run at the end, for what is not a child (a cluster in containers)."""
        self._farewells.append(command)
        return {}

    def end(self) -> None:
        """Kill all, in the reverse order of their start, and say the farewells."""
        for name in reversed(self._running):
            self.kill(name)
        for command in self._farewells:
            subprocess.run(  # noqa: S603  # commands come from our own parent
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
            )


def main(parent: str) -> None:
    """Serve until the input ends."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # the finally below still runs
    folder = Path(tempfile.mkdtemp(prefix="gpucloud-control-plane-", dir=parent))
    children = Children(folder)
    operations: dict[str, Callable[..., dict[str, Any]]] = {
        "start": children.start,
        "poll": children.poll,
        "kill": children.kill,
        "farewell": children.farewell,
    }
    try:
        _answer({"folder": str(folder)})
        for line in sys.stdin:
            request = json.loads(line)
            try:
                _answer(operations[request.pop("do")](**request))
            except OSError as error:
                _answer({"error": str(error)})
    except BrokenPipeError:
        pass  # the asker died before reading its answer
    finally:
        children.end()
        shutil.rmtree(folder, ignore_errors=True)


def _answer(content: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(content) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
