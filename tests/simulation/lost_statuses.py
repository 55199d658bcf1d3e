"""The plots of a status that is lost, as by a backup tool that knows no status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.stage import MAIN, UP_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.stage import Stage

ELSEWHERE = "Hou1"


def _lost_and_moved(on: Stage) -> None:
    """The status of a VM's object is lost, and its spec names another cluster for a while, under a definition without rules."""
    on.vm("x", vmName=on.choose("name", None, MAIN))
    lost = UP_SECONDS + on.soon("lost")
    on.then(lost, on.edit, "GpuVM", "x", cluster=ELSEWHERE)
    on.then(lost, on.wipe, "GpuVM", "x")
    if on.choose("operator restarted", True, False):
        on.then(lost + on.soon("killed"), on.killed)
    on.then(lost + 30.0 + on.graces("set back after", 3.0, 10.0), on.edit, "GpuVM", "x", cluster=on.cluster)


def _lost_and_deleted(on: Stage) -> None:
    """The same object is deleted while its spec names the other cluster: its VM is where only its name tells."""
    on.vm("x")
    lost = UP_SECONDS + on.soon("lost")
    on.then(lost, on.edit, "GpuVM", "x", cluster=ELSEWHERE)
    on.then(lost, on.wipe, "GpuVM", "x")
    if on.choose("operator restarted", True, False):
        on.then(lost + on.soon("killed"), on.killed)
    on.then(lost + on.soon("deleted"), on.delete, "GpuVM", "x")


PLOTS: dict[str, Callable[[Stage], None]] = {"status lost, and another cluster named": _lost_and_moved}
ENDING: dict[str, Callable[[Stage], None]] = {"status lost, another cluster named, and deleted": _lost_and_deleted}
