"""Plots of what crosses: calls and writes on their way, news that come late, and a process that sleeps or dies in between."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.people import path_of
from simulation.stage import MAIN, UP_SECONDS, VPC

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.stage import Stage

LONG = 100.0  # for so long at least an operator may act on what it knew before


def _asleep_with_a_call(on: Stage) -> None:
    """The operator is put to sleep when it has announced that it destroys a VM; meanwhile its owner wants to keep it."""

    def sleep() -> None:
        on.sleeps(on.choose("sleeps for", LONG, 70.0, 160.0))
        on.then(on.choose("kept after", 1.0, 10.0), _keep, on)

    on.vm("x")
    on.then(UP_SECONDS + on.soon("deleted"), on.delete, "GpuVM", "x")
    on.once("GpuVM", lambda: on.stands("x", "Destroying"), sleep, UP_SECONDS + 20 * on.world.grace)


def _keep(on: Stage) -> None:
    if on.choose("kept by", "pause", "retain") == "pause":
        on.annotate("GpuVM", "x", paused="true")
    else:
        on.edit("GpuVM", "x", deletion={"policy": "Retain"})


def _asleep_with_an_order(on: Stage) -> None:
    """The operator is put to sleep when it has recorded an order for a chosen name; meanwhile a stranger takes the name."""

    def sleep() -> None:
        on.sleeps(on.choose("sleeps for", 20.0, 4.0, 60.0))
        on.then(1.0, on.cloud.make_vm, MAIN, VPC, "Msc1", "stranger")

    on.vm("x", vmName=MAIN)
    on.once("GpuVM", lambda: on.stands("x", "Intended"), sleep, 5 * on.world.grace)
    on.then(LONG + on.graces("deleted after", 1.0, 3.0), on.delete, "GpuVM", "x")


def _named_while_the_budget_is_spent(on: Stage) -> None:
    """The cloud asks everybody to wait when an order for a chosen name is recorded; meanwhile a stranger takes the name."""
    on.vm("x", vmName=MAIN)
    make = (MAIN, VPC, "Msc1", "stranger")
    on.once("GpuVM", lambda: on.stands("x", "Intended"), lambda: on.cloud.make_vm(*make), 5 * on.world.grace)
    on.then(on.graces("deleted after", 1.0, 3.0), on.delete, "GpuVM", "x")


def _killed_with_an_order(on: Stage) -> None:
    """The operator is killed right after its order was carried out; listings lag, and the object is deleted at once."""
    on.world.weather.plotted.add("lag")
    on.cloud.lag = on.graces("lags by", 0.8, 0.6)
    on.arranged.death("CreateServer", on.choose("killed when", "committed", "answered"))
    on.vm("x")
    on.once("GpuVM", lambda: on.stands("x", "Intended"), lambda: on.delete("GpuVM", "x"), 5 * on.world.grace)


def _paused_as_it_is_let_go(on: Stage) -> None:
    """An object is paused right before the patch that takes its finalizer away arrives."""
    on.vm("x")
    item = on.find("GpuVM", "x")
    if item is not None:
        on.then(UP_SECONDS, on.delete, "GpuVM", "x")
        goes = UP_SECONDS + 1.0
        path = path_of(item)
        on.then(goes, on.arranged.overtake, "PATCH", path, lambda: on.annotate("GpuVM", "x", paused="true"))
        on.then(goes, on.until, "GpuVM", lambda: not on.find("GpuVM", "x"), LONG + 10 * on.world.grace)


def _edited_as_its_status_is_written(on: Stage) -> None:
    """The spec changes right before a status that says what was wanted before arrives."""
    on.vm("x")
    item = on.find("GpuVM", "x")
    if item is not None:
        change = {"deletion": {"policy": on.choose("changed to", "Retain", "Delete"), "snapshots": "Delete"}}
        path = f"{path_of(item)}/status"
        on.then(
            on.choose("changed after", 0.0, 1.0, UP_SECONDS),
            on.arranged.overtake,
            "PUT",
            path,
            lambda: on.edit("GpuVM", "x", **change),
        )
        on.then(UP_SECONDS + on.soon("deleted"), on.delete, "GpuVM", "x")


def _copied_as_it_goes(on: Stage) -> None:
    """A VM that takes its snapshots along is deleted as soon as another is being made from one of them."""
    within = 2 * LONG + 10 * on.world.grace

    def copy() -> None:
        on.vm("y", image={"snapshotRef": {"name": "xs"}})
        goes = on.soon("source goes")
        on.once("GpuVM", lambda: on.stands("y", "Intended"), lambda: on.then(goes, on.delete, "GpuVM", "x"), within)

    def take() -> None:
        on.snapshot("xs", vmRef={"name": "x"})
        on.once("GpuSnapshot", lambda: on.is_ready("GpuSnapshot", "xs"), copy, within)

    on.cloud.turn(provision_seconds=40.0)
    on.vm("x", deletion={"snapshots": "Delete"})
    on.once("GpuVM", lambda: on.is_ready("GpuVM", "x"), take, within)


def _late_news(on: Stage) -> None:
    """All news of VMs come late, while one of them is ordered, changed and deleted."""
    on.arranged.late_news("gpuvms", on.choose("news come after", 90.0, 60.0), begin=0.0, end=300.0)
    on.vm("x")
    on.then(UP_SECONDS + on.soon("deleted"), on.delete, "GpuVM", "x")
    on.then(LONG + UP_SECONDS, on.vm, "y")
    on.then(400.0, on.delete, "GpuVM", "y")


def _nobody_lists_objects(on: Stage) -> None:
    """The apiserver answers no list of VMs, while two looks for orphans fall due."""
    on.vm("x")
    begin, lasts = LONG + UP_SECONDS + on.soon("lists fail"), 2.5 * on.world.scenario.settings.orphan_scan_seconds
    on.arranged.fault("kube GET gpuvms", on.choose("lists fail with", "kube-500", "kube-503"), begin=begin, end=begin + lasts)
    on.then(begin + lasts, lambda: None)  # the storm lasts as long


def _etcd_goes_back(on: Stage) -> None:
    """Etcd is restored under a running operator; afterwards a VM is stopped, whose object has an older version again."""
    on.vm("x")
    on.then(UP_SECONDS, on.world.actors.back_up_etcd)
    for number in range(on.choose("edits before", 6, 20)):
        on.then(UP_SECONDS + 1.0 + number, on.annotate, "GpuVM", "x", reconcile_requested_at=str(number))
    restored = UP_SECONDS + 30.0
    on.then(restored, on.world.actors.restore_etcd)
    on.then(restored + on.soon("stopped"), on.edit, "GpuVM", "x", powerState="Stopped")


PLOTS: dict[str, Callable[[Stage], None]] = {
    "asleep with a call in hand": _asleep_with_a_call,
    "asleep with an order in hand": _asleep_with_an_order,
    "name taken once recorded": _named_while_the_budget_is_spent,
    "killed with an order in hand": _killed_with_an_order,
    "paused as it is let go": _paused_as_it_is_let_go,
    "edited as its status is written": _edited_as_its_status_is_written,
    "copied as it goes": _copied_as_it_goes,
    "etcd goes back": _etcd_goes_back,
    "late news": _late_news,
    "nobody lists objects": _nobody_lists_objects,
}
