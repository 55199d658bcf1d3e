"""The plots of scarcity: GpuVMs want what the cloud has no capacity for, and it comes free while the operator is killed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.stage import UP_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.stage import Stage

PLENTY = 10_000
TWICE = {"configuration": "A100_40GB_PCIe_2x"}
ON_DEMAND = {"resourcePool": "on-demand"}
REFUSES = {"create_without_capacity": "refuse_503", "start_without_capacity": "refuse_503"}


def _no_capacity_to_start(on: Stage) -> None:
    """A VM is stopped, another one takes its place, and both want to run."""
    on.vm("x")
    on.vm("z", placement={"priority": 7})
    off = UP_SECONDS + on.soon("off")
    on.then(off, on.edit, "GpuVM", "x", powerState="Stopped")
    on.then(off, on.edit, "GpuVM", "z", powerState="Stopped")
    full = off + UP_SECONDS
    on.then(full, _full, on)
    on.then(full + 1.0, on.edit, "GpuVM", "x", powerState="Running")
    on.then(full + 1.0 + on.soon("the other wants to run"), on.edit, "GpuVM", "z", powerState="Running")
    _then_comes_free(on, full)


def _alternatives_are_full_too(on: Stage) -> None:
    """A GpuVM with alternatives finds one after the other full, while others want the same."""
    on.then(0.0, _full, on)
    first = on.soon("wanted")
    on.then(first, on.vm, "x", placement={"alternatives": [TWICE, ON_DEMAND]})
    on.then(first + on.soon("wanted too"), on.vm, "z", placement={"alternatives": [ON_DEMAND]})
    on.then(first + on.soon("and wanted"), on.vm, "w")
    free = _then_comes_free(on, first)
    on.then(free + on.choose("a newcomer", 0.5, 9.0, 100.0), on.vm, "y")


def _full(on: Stage) -> None:
    """From now on the cloud has no capacity, and says so."""
    on.cloud.turn(**REFUSES)
    on.cloud.set_capacity(0)
    on.world.tell("cloud", "has no capacity")


def _then_comes_free(on: Stage, full: float) -> float:
    """Capacity comes back, one place first; the operator may be killed meanwhile. Return when the first place comes."""
    killed = on.choose("killed while it waits", 0.0, 5.0, 50.0, 70.0)
    if killed:
        on.then(full + killed, on.killed)
    free = full + on.choose("full for", 60.0, 20.0, 150.0)
    on.then(free, on.cloud.set_capacity, 1)
    on.then(free + on.choose("more comes free after", 30.0, 2.0, 90.0), on.cloud.set_capacity, PLENTY)
    return free


PLOTS: dict[str, Callable[[Stage], None]] = {
    "no capacity to start": _no_capacity_to_start,
    "alternatives are full, too": _alternatives_are_full_too,
}
