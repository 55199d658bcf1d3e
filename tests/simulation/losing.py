"""The plots of spec.onLoss: a VM is destroyed outside, or fails, once or again and again, and a new one is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.cloud import name_of
from simulation.stage import UP_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.stage import Stage

RECREATE = "Recreate"
NAME = "lasting"  # in the cloud; no random act uses it


def _our_vm(on: Stage) -> str:
    return str(on.order("y").get("name") or "")


def _is_lost(on: Stage) -> None:
    on.destroyed_outside(_our_vm(on))


def _fails(on: Stage) -> None:
    for vm in on.world.actors.vms():
        if name_of(vm) == _our_vm(on):
            on.cloud.fail_vm(name_of(vm), vm.order.vpc, vm.order.cluster)


def _lost_and_recreated(on: Stage) -> None:
    """A VM is destroyed outside, or fails; meanwhile somebody may change his mind, or kill the operator."""
    chosen = on.choose("name of what is recreated", None, NAME)
    on.vm("y", vmName=chosen, onLoss=RECREATE)
    lost = UP_SECONDS + on.soon("recreated lost")
    on.then(lost, {"lost": _is_lost, "failed": _fails}[on.choose("how lost", "lost", "failed")], on)
    deeds: dict[str, Callable[[], None]] = {
        "nothing": lambda: None,
        "kills": on.killed,
        "deletes": lambda: on.delete("GpuVM", "y"),
        "gives it up": lambda: on.edit("GpuVM", "y", onLoss="Fail"),
        "pauses it": lambda: on.annotate("GpuVM", "y", paused="true"),
        "wipes the status": lambda: on.wipe("GpuVM", "y"),
    }
    deed = deeds[on.choose("as it is recreated", *deeds)]
    on.then(lost + on.graces("as it is recreated after", 1.0, 0.2, 2.5), deed)


def _lost_again_and_again(on: Stage) -> None:
    """Each new VM is destroyed outside, too: the fourth is not recreated within the hour."""
    on.vm("y", onLoss=RECREATE)
    each = UP_SECONDS + 3.0 * on.world.grace
    for number in range(1, 6):
        on.then(number * each, _is_lost, on)


def _lost_unasked(on: Stage) -> None:
    """A VM is destroyed outside, or fails, and its spec asks for no other."""
    on.vm("y", onLoss="Fail")
    on.then(UP_SECONDS + on.soon("unasked lost"), {"lost": _is_lost, "failed": _fails}[on.choose("how", "lost", "failed")], on)


PLOTS: dict[str, Callable[[Stage], None]] = {
    "lost and recreated": _lost_and_recreated,
    "lost again and again": _lost_again_and_again,
    "lost unasked": _lost_unasked,
}
