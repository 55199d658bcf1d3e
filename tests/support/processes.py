"""Programs under test as child processes: their output in a file, always reaped, never outliving the test run."""

from __future__ import annotations

import subprocess
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Self

from controlplane.supervisor import dying_with_parent
from support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from support.warm import WarmProcess

_SHOWN_LINES = 40


def cold(command: Sequence[str], env: Mapping[str, str] | None, log: Path) -> subprocess.Popen[bytes]:
    """Start any program."""
    with log.open("ab") as output:
        return subprocess.Popen(  # noqa: S603  # a command of the tests
            command,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # Tests start programs from their main thread, and the hook calls only prctl and getppid.
            preexec_fn=dying_with_parent(),  # noqa: PLW1509
        )


class ChildProcess:
    """A running program. Leaving its context ends it; on Linux it also dies with us, by SIGKILL included.

    ``start`` is how: the product is started faster by ``support.warm``.
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        env: Mapping[str, str] | None = None,
        name: str = "",
        start: Callable[..., subprocess.Popen[bytes] | WarmProcess] = cold,
    ) -> None:
        self.name = name or Path(command[0]).name
        self._folder = tempfile.TemporaryDirectory(prefix=f"{self.name}-")
        self.log = Path(self._folder.name) / "output.log"
        self.log.touch()
        self._process = start([str(word) for word in command], env, self.log)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """The exit code, negative for a signal, or None while it runs."""
        return self._process.poll()

    def lines(self) -> list[str]:
        """All that it has printed so far, standard error included; an unfinished last line is left out."""
        return [
            line.rstrip("\n") for line in self.log.read_text(errors="replace").splitlines(keepends=True) if line[-1:] == "\n"
        ]

    def wait_for_line(self, text: str, timeout: float = 60.0) -> str:
        """Return the first line that contains the text; fail at once when the program ends without it."""
        return eventually(lambda: self._line_with(text), timeout, f"{self.name} prints {text!r}")

    def wait_for_http(self, url: str, timeout: float = 60.0) -> None:
        """Wait until the URL answers 200; fail at once when the program ends."""
        eventually(lambda: self._is_alive() and _answers_ok(url), timeout, f"{self.name} answers at {url}")

    def wait(self, timeout: float = 60.0) -> int:
        """Wait for the program to end by itself and return its exit code."""
        return self._process.wait(timeout)

    def kill9(self) -> None:
        """Kill it as a crash would, and reap it."""
        self._process.kill()
        self._process.wait()

    def terminate(self, grace: float = 10.0) -> int:
        """Ask it to end, kill it after the grace, and return its exit code."""
        self._process.terminate()
        try:
            return self._process.wait(grace)
        except subprocess.TimeoutExpired:
            self.kill9()
            return self._process.wait()

    def close(self) -> None:
        """End it if it runs and remove its log."""
        self.kill9()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _line_with(self, text: str) -> str | None:
        ended = self.exit_code is not None  # asked first: what it printed before its end is then all there
        found = next((line for line in self.lines() if text in line), None)
        if found is None and ended:
            self._is_alive()
        return found

    def _is_alive(self) -> bool:
        if self.exit_code is not None:
            tail = "\n".join(self.lines()[-_SHOWN_LINES:])
            raise RuntimeError(f"{self.name} ended with exit code {self.exit_code}; it printed:\n{tail}")
        return True


def _answers_ok(url: str) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False
