"""The plots of recreation: a VM is destroyed outside, fails, or its spec changes, and a new one is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.cloud import name_of
from simulation.stage import UP_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.stage import Stage

RECREATE = "Recreate"
SMALL, LARGE = {"configuration": "A100_40GB_PCIe_1x"}, {"configuration": "A100_40GB_PCIe_2x"}
NAME = "lasting"  # in the cloud; no random act uses it


def _our_vm(on: Stage) -> str:
    return str(on.order("y").get("name") or "")


def _is_lost(on: Stage) -> None:
    on.destroyed_outside(_our_vm(on))


def _is_forgotten(on: Stage) -> None:
    on.wipe("GpuVM", "y")
    on.killed()


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


def _replaced(on: Stage) -> None:
    """The spec of a VM changes so that another one takes its place; meanwhile somebody may change his mind."""
    chosen = on.choose("name of what is replaced", None, NAME)
    saves = on.choose("what is replaced is saved", "None", "Required")
    on.vm("y", vmName=chosen, replacePolicy=RECREATE, deletion={"finalSnapshot": saves})
    edited = UP_SECONDS + on.soon("replaced edited")
    change = {"rootDiskGiB": 300} if on.choose("what is changed", "disk", "configuration") == "disk" else LARGE
    on.then(edited, lambda: on.edit("GpuVM", "y", **change))
    deeds: dict[str, Callable[[], None]] = {
        "nothing": lambda: None,
        "kills": on.killed,
        "deletes": lambda: on.delete("GpuVM", "y"),
        "gives it up": lambda: on.edit("GpuVM", "y", replacePolicy="Never"),
        "puts it back": lambda: on.edit("GpuVM", "y", **(SMALL | {"rootDiskGiB": None})),
        "pauses it": lambda: on.annotate("GpuVM", "y", paused="true"),
        "wipes the status": lambda: on.wipe("GpuVM", "y"),
        "wipes the status and kills": lambda: _is_forgotten(on),
        "loses it": lambda: _is_lost(on),
    }
    deed = deeds[on.choose("as it is replaced", *deeds)]
    on.then(edited + on.graces("as it is replaced after", 1.0, 0.2, 3.5), deed)


def _replaced_again(on: Stage) -> None:
    """A VM is saved to be replaced; that is given up, or paused, or edited again meanwhile, and later it is replaced."""
    on.vm("y", replacePolicy=RECREATE, deletion={"finalSnapshot": "Required"})
    edited = UP_SECONDS + on.soon("first edited")
    on.then(edited, lambda: on.edit("GpuVM", "y", rootDiskGiB=300))
    meanwhile = edited + on.graces("given up after", 1.1, 0.5, 1.3)
    later = meanwhile + on.graces("replaced after all", 4.0, 2.0)
    match on.choose("given up by", "the old value", "a pause", "another edit"):
        case "the old value":
            on.then(meanwhile, lambda: on.edit("GpuVM", "y", rootDiskGiB=None))
            on.then(later, lambda: on.edit("GpuVM", "y", rootDiskGiB=300))
        case "a pause":
            on.then(meanwhile, lambda: on.annotate("GpuVM", "y", paused="true"))
            on.then(later, lambda: on.annotate("GpuVM", "y", paused="false"))
        case _:
            on.then(meanwhile, lambda: on.edit("GpuVM", "y", rootDiskGiB=400))
    if on.choose("killed meanwhile", "no", "yes") == "yes":
        on.then(later, on.killed)


PLOTS: dict[str, Callable[[Stage], None]] = {
    "lost and recreated": _lost_and_recreated,
    "lost again and again": _lost_again_and_again,
    "lost unasked": _lost_unasked,
    "replaced": _replaced,
    "replaced, given up and replaced again": _replaced_again,
}
