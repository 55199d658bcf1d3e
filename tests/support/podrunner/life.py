"""The life of one pod: it waits for what it reads, runs, is probed, is started again, and ends."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import product
from support.podrunner import reading, volumes
from support.podrunner.probes import probe
from support.podrunner.reading import NotRunnableError, NotYetError
from support.podrunner.status import Facts, status
from support.warm import warm

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from support.podrunner.api import Api
    from support.podrunner.reading import Place, Start
    from support.warm import WarmProcess

_LOOK_SECONDS = 0.1
_BACKOFF_SECONDS = 1.0
_TOLD_LINES, _TOLD_CHARACTERS = 80, 2048  # of a log, as FallbackToLogsOnError has it
_NEVER_RAN = 128


class PodLife:
    """One pod. ``item`` is kept up to date by whoever watches; None when the object is gone."""

    def __init__(
        self, api: Api, item: dict[str, Any], place: Place, resolve: Callable[[Iterable[str]], dict[str, str]]
    ) -> None:
        self.item: dict[str, Any] | None = item
        self.pod, self.place = item, place
        self.log: Path = place.folder / "output.log"
        self._api, self._resolve = api, resolve
        self._container: dict[str, Any] = item["spec"]["containers"][0]
        self._facts = Facts(place.address, now())
        self._written: Facts | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._live, name=f"pod-{item['metadata']['name']}", daemon=True)

    def start(self) -> None:
        """Begin, in a thread of its own."""
        self._thread.start()

    def end(self) -> None:
        """Kill what runs, at once, and say nothing of it: the control plane goes, too."""
        self._over.set()

    def join(self) -> None:
        """Wait until nothing of it runs."""
        self._thread.join()

    def _live(self) -> None:
        """Live until the object goes, or until it is removed because it was deleted."""
        self._api.take(self.pod)
        try:
            self._work()
        except NotRunnableError as error:
            self._end_with(_NEVER_RAN, str(error))
        while not self._leaving:
            self._over.wait(_LOOK_SECONDS)
        if self.item is not None and not self._over.is_set():
            self._api.remove(self.pod)

    @property
    def _leaving(self) -> bool:
        return self._over.is_set() or self.item is None or "deletionTimestamp" in self.item["metadata"]

    def _work(self) -> None:
        """Start it as often as its policy says."""
        self._container = reading.container_of(self.pod)
        while not self._leaving:
            start = self._prepared()
            if start is None:
                return
            code = self._one_run(start)
            policy = self.pod["spec"]["restartPolicy"]
            if self._leaving or policy == "Never" or (policy == "OnFailure" and code == 0):
                self._end_with(code, self._last_words(code))
                return
            self._tell(self._facts.restarting(code, now()))
            self._over.wait(_BACKOFF_SECONDS)

    def _prepared(self) -> Start | None:
        """What to start, once all that it reads is there; None when the pod is to go before."""
        while not self._leaving:
            try:
                reading.find_image(self._container)
                env = volumes.variables(self._api, self.pod, self._container, self.place)
                addresses = self._resolve([*env.values(), *self._container["args"]])
                volumes.fill(self._api, self.pod, self._container, self.place)
                return reading.start_of(self._container, self.place, env, addresses)
            except NotYetError as error:
                self._tell(replace(self._facts, waiting=("ContainerCreating", str(error))))
            self._over.wait(_LOOK_SECONDS)
        return None

    def _one_run(self, start: Start) -> int:
        """Start it and stay until it ends, by itself or because it must; answers its exit code."""
        self.log.touch()
        python = {name: value for name, value in os.environ.items() if name.startswith("PYTHON")}
        surroundings = {"PATH": os.defpath, "HOME": str(self.place.folder), **python, **start.env}
        process = warm([*product.command(start.args[0]), *start.args[1:]], surroundings, self.log)
        try:
            self._tell(self._facts.running(now()))
            ready, alive = (probe(self.place.address, self._container, f"{kind}Probe") for kind in ("readiness", "liveness"))
            while (code := process.poll()) is None:
                for one in (ready, alive):
                    if one is not None:
                        one.ask()
                self._tell(replace(self._facts, ready=ready is None or bool(ready.passed)))
                if self._leaving or (alive is not None and alive.passed is False):
                    return self._stop(process)
                self._over.wait(_LOOK_SECONDS)
            return code
        finally:
            process.kill()

    def _stop(self, process: subprocess.Popen[bytes] | WarmProcess) -> int:
        """SIGTERM, the grace, SIGKILL; nobody waits once the tests are over."""
        seconds = self.pod["spec"]["terminationGracePeriodSeconds"]
        if self.item is not None:
            seconds = self.item["metadata"].get("deletionGracePeriodSeconds", seconds)
        process.terminate()
        end = time.monotonic() + seconds
        while (code := process.poll()) is None:
            if self._over.wait(_LOOK_SECONDS) or time.monotonic() > end:
                process.kill()
                return -signal.SIGKILL
        return code

    def _last_words(self, code: int) -> str:
        if code == 0 or self._container.get("terminationMessagePolicy") != "FallbackToLogsOnError":
            return ""
        lines = self.log.read_text(errors="replace").splitlines()[-_TOLD_LINES:]
        return "\n".join(lines)[-_TOLD_CHARACTERS:]

    def _end_with(self, code: int, message: str) -> None:
        self._tell(replace(self._facts, waiting=None, ended=(code, message)))

    def _tell(self, facts: Facts) -> None:
        """Write the status if it says something new, and if anybody may still read it."""
        self._facts = facts
        if facts != self._written and self.item is not None and not self._over.is_set():
            self._api.write_status(self.pod, status(self._container, facts, now()))
            self._written = facts


def now() -> str:
    """As Kubernetes writes times."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
