"""The plots of alternatives in another cluster: nothing is free here; an order, a status or a process is lost on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.people import path_of, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.stage import Stage

AWAY = "Hou1"
THERE = {"cluster": AWAY}
SMALL, LARGE = "A100_40GB_PCIe_1x", "A100_40GB_PCIe_2x"
PLENTY = 10_000
REFUSES = {"create_without_capacity": "refuse_503"}


def _full_here(on: Stage) -> float:
    """Nothing is free here; a GpuVM takes what another cluster has. Return when it was applied."""
    on.cloud.turn(**REFUSES)
    on.cloud.set_capacity(0)
    wanted = on.soon("wanted")
    on.then(wanted, on.vm, "x", placement={"alternatives": [THERE]})
    return wanted


def _on_the_way(on: Stage) -> None:
    """The answer to an order is lost, or its sender dies, on the way to the other cluster; then something is free here."""
    wanted = _full_here(on)
    what = on.choose("trouble", "killed", "late", "died", "none")
    if what == "late":
        on.then(wanted, on.world.arranged.fault, "CreateServer", on.choose("fault", "write-late", "write-500", "write-unsaid"))
    elif what == "died":
        on.then(wanted + on.choose("mortal after", 0.0, 35.0), on.world.arranged.death, "CreateServer", "committed")
    elif what == "killed":
        on.then(wanted + on.choose("killed after", 33.0, 2.0, 36.0, 45.0, 70.0), on.killed)
    on.then(wanted + on.choose("free after", 90.0, 20.0, 40.0), on.cloud.set_capacity, PLENTY)
    if on.choose("then deleted", False, True):
        on.then(wanted + on.choose("deleted after", 40.0, 100.0), on.delete, "GpuVM", "x")


def _lost_elsewhere(on: Stage) -> None:
    """The status of a GpuVM whose VM is in the other cluster is lost, or an earlier one is put back; it may be deleted then."""
    wanted = _full_here(on)
    lost = wanted + on.choose("lost after", 100.0, 60.0, 35.0)
    if on.choose("lost by", "a wipe", "an earlier status") == "a wipe":
        on.then(lost, on.wipe, "GpuVM", "x")
    else:
        earlier: dict[str, Any] = {}
        on.then(wanted + on.choose("backed up after", 31.0, 3.0), _back_up, on, earlier)
        on.then(lost, _put_back, on, earlier)
    if on.choose("operator restarted", True, False):
        on.then(lost + on.choose("killed before or after", -1.0, 0.2), on.killed)
    on.then(lost + on.choose("free later", 5.0, 400.0), on.cloud.set_capacity, PLENTY)
    if on.choose("deleted", False, True):
        on.then(lost + on.choose("let go after", 1.0, 60.0), on.delete, "GpuVM", "x")


def _replaced_there(on: Stage) -> None:
    """The spec of a VM in the other cluster changes so that another one takes its place; something is lost on the way."""
    on.cloud.turn(**REFUSES)
    on.cloud.set_capacity(0)
    wanted = on.soon("wanted")
    others = on.choose("accepted there", (None,), (SMALL,), (SMALL, LARGE), (LARGE, SMALL))
    accepts = [THERE | ({"configuration": one} if one else {}) for one in others]
    policy = on.choose("policy there", {}, {"onLoss": "Recreate"})
    saves = {"finalSnapshot": on.choose("saved there", "None", "Required")}
    on.then(wanted, on.vm, "x", replacePolicy="Recreate", placement={"alternatives": accepts}, deletion=saves, **policy)
    edited = wanted + on.choose("edited there after", 100.0, 60.0, 45.0)
    changes = {"disk": {"rootDiskGiB": 300}, "configuration": {"configuration": LARGE}}
    changes["both"] = changes["disk"] | changes["configuration"]
    on.then(edited, lambda: on.edit("GpuVM", "x", **changes[on.choose("changed there", *changes)]))
    free = on.choose("free at home", edited + 300.0, edited - 5.0, edited + 40.0)
    on.then(free, on.cloud.set_capacity, PLENTY)
    if on.choose("full there", "no", "yes") == "yes":
        full = edited + on.graces("full there after", 0.5, 1.2, 2.0)
        for configuration in (SMALL, LARGE):
            on.then(full, on.cloud.set_capacity, 0, AWAY, configuration)
            on.then(full + 200.0, on.cloud.set_capacity, PLENTY, AWAY, configuration)
    _trouble_there(on, edited, accepts)


def _trouble_there(on: Stage, edited: float, accepts: list[dict[str, str]]) -> None:
    """While a VM in the other cluster is replaced, somebody changes his mind, or something breaks."""
    deeds: dict[str, Callable[[], None]] = {
        "nothing": lambda: None,
        "kills": on.killed,
        "deletes": lambda: on.delete("GpuVM", "x"),
        "puts it back": lambda: on.edit("GpuVM", "x", rootDiskGiB=None, configuration=SMALL),
        "gives it up": lambda: on.edit("GpuVM", "x", replacePolicy="Never"),
        "pauses it": lambda: on.annotate("GpuVM", "x", paused="true"),
        "wipes the status": lambda: on.wipe("GpuVM", "x"),
        "loses it": on.all_destroyed_outside,
        "names home only": lambda: on.edit("GpuVM", "x", placement={"alternatives": []}),
        "accepts others there": lambda: on.edit("GpuVM", "x", placement={"alternatives": [THERE | {"configuration": LARGE}]}),
        "home is unreachable": lambda: on.arranged.fault("GetServers Msc1", "cloud-503", end=400.0),
        "it is unreachable there": lambda: on.arranged.fault("GetServers Hou1", "cloud-503", end=400.0),
    }
    later = edited + on.graces("trouble there after", 1.0, 0.2, 1.5, 3.5)
    what = on.choose("trouble there", *deeds)
    on.then(later, deeds[what])
    if what == "names home only" and on.choose("named again", False, True):
        on.then(later + on.graces("named again after", 3.0, 0.3), on.edit, "GpuVM", "x", placement={"alternatives": accepts})
    dies = on.choose("dies as it", "", "DestroyServer", "CreateServer")
    if dies:
        on.then(edited, on.arranged.death, dies, on.choose("dies when", "sent", "committed", "answered"))


def _back_up(on: Stage, earlier: dict[str, Any]) -> None:
    """Somebody keeps the status as it is now."""
    earlier |= {"status": (on.find("GpuVM", "x") or {}).get("status") or {}}


def _put_back(on: Stage, earlier: dict[str, Any]) -> None:
    """Somebody writes the status that was kept."""
    item = on.find("GpuVM", "x")
    if item is not None:
        on.owner.call("PUT", f"{path_of(item)}/status", {**plain(item), **earlier})


PLOTS: dict[str, Callable[[Stage], None]] = {
    "full here, and free elsewhere": _on_the_way,
    "status lost of a VM elsewhere": _lost_elsewhere,
    "replaced elsewhere": _replaced_there,
}
