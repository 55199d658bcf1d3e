"""The plots of final snapshots: a VM goes that must not go without one, while people, the cloud and the operator interfere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.saving import FINAL_OF
from simulation.stage import OTHER, UP_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.stage import Stage

REQUIRED = {"finalSnapshot": "Required"}


def _taken_and_let_go(on: Stage) -> None:
    """The VM goes; meanwhile somebody may change his mind, delete what takes the snapshot, or kill the operator."""
    on.vm("y", deletion=REQUIRED, powerState=on.choose("power of what is saved", None, "Stopped"))
    goes = UP_SECONDS + on.soon("saved goes")
    on.then(goes, on.delete, "GpuVM", "y")
    deeds: dict[str, Callable[[], None]] = {
        "nothing": lambda: None,
        "gives it up": lambda: on.edit("GpuVM", "y", deletion={"finalSnapshot": "None"}),
        "keeps the VM": lambda: on.edit("GpuVM", "y", deletion={"policy": "Retain"}),
        "deletes its GpuSnapshot": lambda: _delete_taker(on),
        "pauses it": lambda: on.annotate("GpuVM", "y", paused="true"),
        "kills": on.killed,
        "wipes the status": lambda: on.wipe("GpuVM", "y"),
        "destroys it outside": on.all_destroyed_outside,
    }
    deed = deeds[on.choose("meanwhile", *deeds)]
    on.then(goes + on.choose("meanwhile after", 3.0, 0.5, 8.0, 20.0), deed)


def _made_again_and_saved_again(on: Stage) -> None:
    """A VM of a chosen name is saved and goes; another object of that name asks for the same."""
    on.vm("y", vmName="twice", deletion=REQUIRED)
    goes = UP_SECONDS + on.soon("saved goes")
    on.then(goes, on.delete, "GpuVM", "y")
    again = goes + 60.0 + on.soon("saved again")
    on.then(again, on.vm, "y", vmName="twice", deletion=REQUIRED)
    on.then(again + UP_SECONDS + on.soon("second goes"), on.delete, "GpuVM", "y")


def _namespace_goes(on: Stage) -> None:
    """A namespace is deleted with the VM in it, and no GpuSnapshot can be made; the operator may be killed meanwhile."""
    on.vm("y", OTHER, deletion=REQUIRED)
    goes = UP_SECONDS + on.soon("deleted")
    if not on.world.scenario.own_account:
        on.then(goes, on.world.actors.delete_namespace)
    else:
        on.then(goes, on.delete, "GpuVM", "y", OTHER)
    where = on.choose("killed as it asks", "", "sent", "committed", "answered")
    if where:
        on.then(goes, on.arranged.death, "CreateSnapshot", where)


def _delete_taker(on: Stage) -> None:
    for item in on.owner.all("GpuSnapshot"):
        if FINAL_OF in (item["metadata"].get("annotations") or {}):
            on.owner.delete(item)


PLOTS: dict[str, Callable[[Stage], None]] = {
    "saved and let go": _taken_and_let_go,
    "saved, made again and saved again": _made_again_and_saved_again,
    "namespace goes with what must be saved": _namespace_goes,
}
