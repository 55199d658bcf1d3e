"""Starting the product without importing it each time: a third of what a test run costs is Python's imports.

One warm interpreter a test process (see ``warm_interpreter.py``), made when first needed; it ends with us. What depends on how
an interpreter starts (``PYTHONPATH`` and the like) is started the ordinary way, and so is everything in the demo.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import product
from support.processes import cold

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SCRIPT = Path(__file__).with_name("warm_interpreter.py")
_LOOK_SECONDS = 0.01


class WarmProcess:
    """What was started: the part of ``subprocess.Popen`` that tests use."""

    def __init__(self, interpreter: WarmInterpreter, pid: int) -> None:
        self._interpreter, self.pid = interpreter, pid
        self._code: int | None = None

    def poll(self) -> int | None:
        """The exit code, negative for a signal, or None while it runs; once known, since the number may then be another's."""
        if self._code is None:
            self._code = self._interpreter.ask({"poll": self.pid})["code"]
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end.

        Raises:
            subprocess.TimeoutExpired: it still runs.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired("gpucloud", timeout or 0.0)
            time.sleep(_LOOK_SECONDS)
        return code

    def kill(self) -> None:
        """Kill it as a crash would."""
        self._signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self._signal(signal.SIGTERM)

    def _signal(self, number: int) -> None:
        if self.poll() is None:  # else its number may be another's by now
            os.kill(self.pid, number)


class WarmInterpreter:
    """The interpreter, asked by any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = subprocess.Popen(  # noqa: S603 - our own script
            [str(product.PYTHON), str(SCRIPT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def start(self, argv: Sequence[str], env: Mapping[str, str], log: Path) -> WarmProcess:
        """Run ``gpucloud`` with these arguments and this environment; what it prints is added to the log."""
        answer = self.ask({"argv": list(argv), "env": dict(env), "log": str(log)})
        return WarmProcess(self, answer["pid"])

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request and read its answer.

        Raises:
            RuntimeError: the interpreter has died.
        """
        with self._lock:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the warm interpreter has ended; what it printed is above")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End it, and all that it has started."""
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def warm(command: Sequence[str], env: Mapping[str, str] | None, log: Path) -> subprocess.Popen[bytes] | WarmProcess:
    """Start ``product.command(...)`` with its arguments, where an interpreter that runs already can take on ``env``."""
    env = os.environ if env is None else env
    words = list(command)[len(product.command("")) - 1 :]
    return _interpreter().start(words, env, log) if _of_python(env) == _of_python(os.environ) else cold(command, env, log)


@functools.cache
def _interpreter() -> WarmInterpreter:
    """The one of this process."""
    made = WarmInterpreter()
    atexit.register(made.close)
    return made


def _of_python(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith("PYTHON")}
