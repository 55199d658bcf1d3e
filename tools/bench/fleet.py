"""The objects as the driver's watch shows them, and when each first came to what. Pure: events and times in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

RESTART = "gpucloud.dev/restart-requested-at"


@dataclass(frozen=True, slots=True)
class View:
    """One object as last seen. ``ready`` holds for the newest generation; ``reported``: an operator has written status."""

    reported: bool
    ready: bool
    reason: str
    vm_id: str
    restarted: str


class Fleet:
    """All objects by name. Times are seconds since 1970."""

    def __init__(self) -> None:
        self.views: dict[str, View] = {}
        self.first_status: dict[str, float] = {}
        self.first_ready: dict[str, float] = {}
        self.gone: dict[str, float] = {}

    def take(self, event: str, body: Mapping[str, Any], at: float) -> None:
        """One event of the watch."""
        name = body["metadata"]["name"]
        if event == "DELETED":
            self.views.pop(name, None)
            self.gone.setdefault(name, at)
            return
        view = self.views[name] = _view(body)
        if view.reported:
            self.first_status.setdefault(name, at)
        if view.ready:
            self.first_ready.setdefault(name, at)

    def count(self, met: Callable[[View], bool]) -> int:
        """How many objects are so."""
        return sum(map(met, self.views.values()))


def _view(body: Mapping[str, Any]) -> View:
    status = body.get("status", {})
    generation = status.get("observedGeneration", -1)
    ready: Mapping[str, Any] = next((one for one in status.get("conditions", ()) if one["type"] == "Ready"), {})
    return View(
        reported=generation > 0,  # -1 is the definition's default
        ready=ready.get("status") == "True" and generation == body["metadata"]["generation"],
        reason=ready.get("reason", ""),
        vm_id=status.get("vmId", ""),
        restarted=status.get("lastHandledRestartAt", ""),
    )
