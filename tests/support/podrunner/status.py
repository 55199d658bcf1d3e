"""The status of a pod with one container, as a kubelet writes it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

_REASONS = {0: "Completed"}


@dataclass(frozen=True)
class Facts:
    """What is known of a pod's container.

    Attributes:
        waiting: why it does not run, as (reason, message), while it does not.
        started: when it was started, while it runs.
        ready: whether its readiness probe has passed.
        restarts: how often it was started again.
        ended: its exit code and the end of its log, once it will not be started again.
    """

    address: str
    since: str
    waiting: tuple[str, str] | None = ("ContainerCreating", "")
    started: str | None = None
    ready: bool = False
    restarts: int = 0
    ended: tuple[int, str] | None = None
    died: dict[str, Any] = field(default_factory=dict)

    def running(self, now: str) -> Facts:
        """It was started."""
        return replace(self, waiting=None, started=now, ready=False)

    def restarting(self, code: int, now: str) -> Facts:
        """It ended and will be started again."""
        last = {"terminated": _terminated(code, "", self.started, now)}
        waiting = ("CrashLoopBackOff", "")
        return replace(self, waiting=waiting, started=None, ready=False, restarts=self.restarts + 1, died=last)


def status(container: dict[str, Any], facts: Facts, now: str) -> dict[str, Any]:
    """The status, whole, but for what the apiserver itself writes."""
    ready = "True" if facts.ready and facts.ended is None else "False"
    conditions = {"PodScheduled": "True", "Initialized": "True", "ContainersReady": ready, "Ready": ready}
    return {
        "phase": phase(facts),
        "hostIP": "127.0.0.1",
        "podIP": facts.address,
        "podIPs": [{"ip": facts.address}],
        "startTime": facts.since,
        "conditions": [{"type": name, "status": value, "lastTransitionTime": now} for name, value in conditions.items()],
        "containerStatuses": [
            {
                "name": container["name"],
                "image": container["image"],
                "imageID": "",
                "ready": ready == "True",
                "started": facts.started is not None,
                "restartCount": facts.restarts,
                "state": _state(facts, now),
                "lastState": facts.died,
            }
        ],
    }


def phase(facts: Facts) -> str:
    """In one word."""
    if facts.ended is not None:
        return "Succeeded" if facts.ended[0] == 0 else "Failed"
    return "Pending" if facts.waiting and not facts.restarts else "Running"


def _state(facts: Facts, now: str) -> dict[str, Any]:
    # A merge patch keeps what it does not name.
    nothing: dict[str, Any] = {"waiting": None, "running": None, "terminated": None}
    if facts.ended is not None:
        code, message = facts.ended
        return {**nothing, "terminated": _terminated(code, message, facts.started, now)}
    if facts.waiting:
        return {**nothing, "waiting": dict(zip(("reason", "message"), facts.waiting, strict=True))}
    return {**nothing, "running": {"startedAt": facts.started}}


def _terminated(code: int, message: str, started: str | None, now: str) -> dict[str, Any]:
    """A kubelet tells a death by signal as 128 and its number."""
    shown = 128 - code if code < 0 else code
    reason = _REASONS.get(shown, "Error")
    return {"exitCode": shown, "reason": reason, "message": message, "startedAt": started, "finishedAt": now}
