"""A pod's probes, asked as a kubelet asks them."""

from __future__ import annotations

import socket
import time
import urllib.request
from dataclasses import dataclass, field
from typing import Any

from support.podrunner.reading import NotRunnableError, port_number

# Until the first success: a kubelet asks less often, and nothing but time would be shown by that. Its patience is kept.
EAGER_SECONDS = 0.25


@dataclass
class Probe:
    """One probe of one run of a container; ``passed`` is its verdict, None before the first."""

    address: str
    container: dict[str, Any]
    spec: dict[str, Any]
    passed: bool | None = None
    _failures: int = 0
    _next: float = 0.0
    _began: float = field(default_factory=time.monotonic)

    def ask(self) -> None:
        """Ask if it is time to, and count: a single failure is no verdict after a success."""
        if time.monotonic() < self._next:
            return
        if _succeeds(self.address, self.container, self.spec):
            self.passed, self._failures = True, 0
        else:
            self._failures += 1
            if self._failures >= self.spec["failureThreshold"] and (self.passed is not None or self._patience_is_over()):
                self.passed = False
        period = self.spec["periodSeconds"] if self.passed else min(EAGER_SECONDS, self.spec["periodSeconds"])
        self._next = time.monotonic() + period

    def _patience_is_over(self) -> bool:
        """Whether a kubelet would have asked so often by now that it gave the container up."""
        return time.monotonic() - self._began >= self.spec["failureThreshold"] * self.spec["periodSeconds"]


def probe(address: str, container: dict[str, Any], kind: str) -> Probe | None:
    """The probe of this kind, if the container has one."""
    return Probe(address, container, container[kind]) if kind in container else None


def _succeeds(address: str, container: dict[str, Any], spec: dict[str, Any]) -> bool:
    match spec:
        case {"httpGet": {"path": path, "port": port, "scheme": "HTTP"}}:
            return _answers_ok(f"http://{address}:{port_number(container, port)}{path}", spec["timeoutSeconds"])
        case {"tcpSocket": {"port": port}}:
            return _accepts(address, port_number(container, port), spec["timeoutSeconds"])
    raise NotRunnableError(f"The runner does not know this probe: {', '.join(spec)}.")


def _answers_ok(url: str, seconds: float) -> bool:
    try:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(url, timeout=seconds) as answer:
            return 200 <= answer.status < 400
    except OSError:
        return False


def _accepts(address: str, port: int, seconds: float) -> bool:
    try:
        with socket.create_connection((address, port), timeout=seconds):
            return True
    except OSError:
        return False
