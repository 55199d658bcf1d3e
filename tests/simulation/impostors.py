"""Plots of names, records, endpoints and credentials that are not what they seem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.kinds.meta import API_VERSION
from simulation.credentials import KEY, secret_data
from simulation.people import path_of
from simulation.stage import MAIN, OTHER, TEAM, UP_SECONDS, VPC

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.stage import Stage


def _made_again_when_missed(on: Stage) -> None:
    """A VM of a chosen name is destroyed outside; as soon as its object says that it is missing, somebody makes another."""

    def make() -> None:
        on.cloud.make_vm(MAIN, VPC, "Msc1", "stranger")
        on.then(on.graces("delete after", 1.0, 0.2, 6.0), on.delete, "GpuVM", "x")

    on.vm("x", vmName=MAIN)
    gone = UP_SECONDS + on.soon("gone")
    on.then(gone, on.destroyed_outside, MAIN)
    on.once("GpuVM", lambda: on.order("x").get("missingSince"), make, gone + 120.0 + on.world.grace)


def _made_again_in_doubt(on: Stage) -> None:
    """All VMs are destroyed outside in one moment, which is doubted; meanwhile somebody makes one of a chosen name again."""
    others, within = ("y", "z", "w"), 120.0 + on.world.grace

    def begin() -> None:
        on.all_destroyed_outside()
        again = on.choose("made again after", 3.0, 12.0, 30.0)
        on.then(again, on.cloud.make_vm, MAIN, VPC, "Msc1", "stranger")
        on.then(again + on.graces("delete after", 6.0, 3.0), on.delete, "GpuVM", "x")

    def several() -> bool:
        return on.stands("x", "Seen") and sum(on.stands(name, "Seen") for name in others) > 1

    on.vm("x", vmName=MAIN)
    for name in others:
        on.vm(name)
    on.once("GpuVM", several, lambda: on.then(8.0, begin), within)


def _name_taken_before(on: Stage) -> None:
    """A stranger makes a VM while listings are slow, and an object of that name is applied.

    This cloud answers the order with what is there. A listing under way hides for seconds that the name is taken.
    """
    on.cloud.turn(duplicate_vm="existing")
    on.vm("y")
    taken = UP_SECONDS + on.choose("taken after", 30.0, 20.0, 50.0)
    on.then(taken, on.cloud.make_vm, MAIN, VPC, "Msc1", "stranger")
    on.arranged.fault("GetServers", "cloud-slow", begin=taken - 7.0, end=taken + 13.0)
    on.then(taken + on.choose("applied after", 0.5, 3.0, 12.0), on.vm, "x", vmName=MAIN)
    on.then(taken + on.graces("delete after", 3.0, 1.0), on.delete, "GpuVM", "x")


def _record_of_anothers(on: Stage) -> None:
    """Somebody who may write statuses lets the record of an order name another's VM; then the object is deleted."""
    on.cloud.make_vm("bystander", VPC, "Msc1", "stranger")
    _lied_to(on, {"name": "bystander"})


def _record_of_gone(on: Stage) -> None:
    """Somebody who may write statuses lets a record say that the VM is gone; the object is deleted, and a listing lies."""
    on.arranged.fault("GetServers", "list-empty", times=1, begin=_lied_to(on, {"state": "Gone"}))


def _lied_to(on: Stage, lie: dict[str, Any]) -> float:
    """A record is changed while nobody runs, mostly; answers when."""

    def write() -> None:
        item = on.find("GpuVM", "x")
        if item is not None and (item.get("status") or {}).get("order"):
            told = item["status"] | {"order": item["status"]["order"] | lie}
            on.owner.call("PUT", f"{path_of(item)}/status", {"apiVersion": API_VERSION, **item, "status": told})

    on.vm("x")
    lied = UP_SECONDS + on.soon("lied")
    if on.choose("while nobody runs", True, True, False):
        on.then(lied, on.killed)
    on.then(lied + 0.05, write)
    on.then(lied + on.choose("deleted after", 0.06, 1.0, 30.0), on.delete, "GpuVM", "x")
    return lied


def _endpoint_of_ones_own(on: Stage) -> None:
    """A tenant's account names an endpoint that the administrator has not declared."""
    on.admin.put_secret(TEAM, "mine", secret_data("good", KEY))
    on.create("GpuCloudAccount", "mine", secretRef={"name": "mine"}, endpoint="elsewhere")
    on.vm("x", accountRef={"name": "mine"})
    on.then(UP_SECONDS, on.delete, "GpuVM", "x")
    on.then(2 * UP_SECONDS, on.delete, "GpuCloudAccount", "mine")


def _may_not_destroy(on: Stage) -> None:
    """A credential may list and order, and not destroy, for a while."""
    on.vm("x")
    on.arranged.fault("DestroyServer", "cloud-403")
    on.then(UP_SECONDS + on.soon("deleted"), on.delete, "GpuVM", "x")


def _namespace_goes(on: Stage) -> None:
    """A namespace is deleted with all that is in it: the VM, the account, and the Secret."""
    on.vm("x", OTHER)
    if not on.world.scenario.own_account:
        on.then(UP_SECONDS + on.soon("deleted"), on.world.actors.delete_namespace)


def _left_alone_for_long(on: Stage) -> None:
    """A VM is paused, or to be retained, for long before its object is deleted."""
    on.vm("x")
    if on.choose("kept by", "pause", "retain") == "pause":
        on.then(UP_SECONDS, on.annotate, "GpuVM", "x", paused="true")
    else:
        on.then(UP_SECONDS, on.edit, "GpuVM", "x", deletion={"policy": "Retain"})
    on.then(UP_SECONDS + on.choose("deleted after", 60.0, 400.0), on.delete, "GpuVM", "x")


PLOTS: dict[str, Callable[[Stage], None]] = {
    "made again when missed": _made_again_when_missed,
    "made again in doubt": _made_again_in_doubt,
    "name taken before": _name_taken_before,
    "record of another's": _record_of_anothers,
    "record of gone": _record_of_gone,
    "endpoint of one's own": _endpoint_of_ones_own,
    "may not destroy": _may_not_destroy,
    "namespace goes": _namespace_goes,
    "left alone for long": _left_alone_for_long,
}
