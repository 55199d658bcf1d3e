"""The asking side of ``supervisor``: start, watch and kill processes that cannot outlive this one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Self

from controlplane import supervisor
from controlplane.errors import ControlPlaneError

_MEMORY = Path("/dev/shm")  # noqa: S108  # a private folder is made inside by mkdtemp
_ENOUGH_BYTES = 1 << 30
_SHOWN_LINES = 20


def fast_folder() -> Path:
    """Return where throw-away data goes: memory when more than 1 GiB is free there, else the temporary folder."""
    if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ENOUGH_BYTES:
        return _MEMORY
    return Path(tempfile.gettempdir())


class Supervised:
    """A supervisor, its private folder (mode 0700) and the processes it runs; closing it ends and removes all."""

    def __init__(self) -> None:
        # A session of its own: neither Ctrl-C nor a signal to our process group may keep it from cleaning up.
        self._process = subprocess.Popen(  # noqa: S603  # our own script
            [sys.executable, "-I", supervisor.__file__, str(fast_folder())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.folder = Path(self._read()["folder"])

    def start(self, name: str, command: list[str]) -> int:
        """Start a process in the folder and return its pid."""
        return int(self._ask(do="start", name=name, command=command)["pid"])

    def exit_code(self, name: str) -> int | None:
        """Return the exit code of a process that ended, negative for a signal, or None while it runs."""
        code: int | None = self._ask(do="poll", name=name)["returncode"]
        return code

    def kill(self, name: str) -> None:
        """Kill a process with SIGKILL and wait until it is gone."""
        self._ask(do="kill", name=name)

    def at_the_end(self, command: list[str]) -> None:
        """Have a command run at the end, even when this process is killed."""
        self._ask(do="farewell", command=command)

    def log_tail(self, name: str) -> str:
        """Return the last lines a process wrote."""
        log = self.folder / f"{name}.log"
        return "\n".join(log.read_text(errors="replace").splitlines()[-_SHOWN_LINES:]) if log.exists() else ""

    @property
    def pid(self) -> int:
        """The supervisor's own pid."""
        return self._process.pid

    def close(self) -> None:
        """End everything and wait for it; closing twice is harmless."""
        if self._process.stdin and not self._process.stdin.closed:
            self._process.stdin.close()
        self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, **request: object) -> dict[str, Any]:
        if self._process.stdin is None or self._process.stdin.closed:
            raise ControlPlaneError("The control plane has been stopped.")
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> dict[str, Any]:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise ControlPlaneError(
                f"The control plane's supervisor (pid {self._process.pid}) has died; start a new control plane."
            )
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise ControlPlaneError(f"A process of the control plane cannot be started: {answer['error']}")
        return answer
