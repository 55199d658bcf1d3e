"""The plots of people: what owners, strangers and administrators do one after the other.

Each is a history that somebody has met (or fears), told by who does what when; what the operator makes of it is left open, and
everything else in the history goes on around it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.stage import OTHER, TEAM, UP_SECONDS, VPC

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.stage import Stage


def _made_again(on: Stage) -> None:
    """A VM of a chosen name is destroyed outside, and somebody makes another of that name."""
    on.vm("p", vmName="prod")
    gone = UP_SECONDS + on.soon("gone")
    on.then(gone, on.destroyed_outside, "prod")
    again = gone + on.graces("made again", 0.8, 0.3, 3.0, 10.0)
    on.then(again, on.cloud.make_vm, "prod", VPC, "Msc1", "stranger")
    on.then(again + on.graces("delete after", 1.0, 0.2, 6.0), on.delete, "GpuVM", "p")


def _copied_while_it_goes(on: Stage) -> None:
    """A VM that takes its snapshots along is deleted while another is being made from one of them."""
    on.vm("p", deletion={"snapshots": "Delete"})
    on.then(UP_SECONDS, on.snapshot, "ps", vmRef={"name": "p"})
    copied = 2 * UP_SECONDS
    on.then(copied, on.vm, "q", image={"snapshotRef": {"name": "ps"}})
    on.then(copied + on.soon("source goes"), on.delete, "GpuVM", "p")


def _snapshot_of_a_vm_that_goes(on: Stage) -> None:
    """A VM is deleted while a snapshot of it is being taken, perhaps paused meanwhile."""
    on.vm("p")
    on.then(UP_SECONDS, on.snapshot, "ps", vmRef={"name": "p"})
    goes = UP_SECONDS + on.soon("source goes")
    if on.world.choices.choose("paused snapshot", (True, False)):
        on.then(goes - 0.1, on.annotate, "GpuSnapshot", "ps", paused="true")
    on.then(goes, on.delete, "GpuVM", "p")


def _all_gone_at_once(on: Stage) -> None:
    """All VMs vanish in one moment, while snapshots of them wait."""
    names = ("p", "q", "r", "u")
    for name in names:
        on.vm(name)
    gone = UP_SECONDS + on.soon("all gone")
    for name in names:
        on.then(gone - 3.0, on.snapshot, f"{name}s", vmRef={"name": name})
    on.then(gone, on.all_destroyed_outside)


def _shared_account(on: Stage) -> None:
    """Another namespace names the VM and the VPC of this one; both may use the operator's own account."""
    on.vm("p", vmName="prod")
    on.create("GpuVpc", "pn", TEAM, cluster=on.cluster, name="acme-pn")
    later = UP_SECONDS + on.soon("other comes")
    place = {"cluster": on.cluster, "vpc": VPC, "name": "prod"}
    on.then(later, on.create, "GpuSnapshot", "ps", OTHER, vm=place)
    adopts = {"adoption": "IfExists", "deletion": {"policy": "Delete"}}
    name = on.world.choices.choose("situation: whose VPC", (VPC, "acme-pn"))
    on.then(later, on.create, "GpuVpc", "qn", OTHER, cluster=on.cluster, name=name, **adopts)
    on.then(later + UP_SECONDS, on.delete, "GpuVpc", "qn", OTHER)
    on.then(later + UP_SECONDS + 3.0, on.vm, "q")


def _accepted_then_another_key(on: Stage) -> None:
    """A person accepts an absence; later the Secret holds another tenant's key, and the object is deleted."""
    on.vm("p")
    on.then(UP_SECONDS, on.accept, "p")
    changed = UP_SECONDS + on.soon("other key")
    on.then(changed, on.key, "other")
    on.then(changed + 40.0 + on.soon("delete then"), on.delete, "GpuVM", "p")


def _secret_that_goes(on: Stage) -> None:
    """The Secret is deleted and held for a VM; somebody changes it meanwhile, and makes another VM."""
    on.vm("p")
    goes = UP_SECONDS + on.soon("secret goes")
    if on.world.choices.choose("wrong key first", (False, True)):
        on.then(goes - 1.0, on.key, "wrong")
    on.then(goes, on.delete_secret)
    later = goes + on.world.choices.choose("situation: another VM after", (120.0, 40.0))
    on.then(later, on.vm, "q")
    on.then(later + on.soon("good key"), on.key, "good")


def _restart_and_wipe(on: Stage) -> None:
    """A VM is restarted; long after, its status is lost."""
    on.vm("p")
    on.then(UP_SECONDS, on.annotate, "GpuVM", "p", restart_requested_at="2026-03-03T00:00:00Z")
    wiped = UP_SECONDS + 90.0 + 2 * on.world.grace
    on.then(wiped, on.wipe, "GpuVM", "p")


def _deleted_at_once(on: Stage) -> None:
    """An object is deleted before its VM shows."""
    on.vm("p")
    on.then(on.soon("delete"), on.delete, "GpuVM", "p")


def _each_waits_for_the_other(on: Stage) -> None:
    """A VM is to be made from a snapshot that is to be taken of it."""
    on.vm("p", image={"snapshotRef": {"name": "ps"}})
    on.snapshot("ps", vmRef={"name": "q"})
    on.vm("q", image={"snapshotRef": {"name": "qs"}})
    on.snapshot("qs", vmRef={"name": "p"})


def _vpc_with_somebody_in_it(on: Stage) -> None:
    """A VPC is deleted while VMs are, or come to be, in it: ours, or a stranger's."""
    on.create("GpuVpc", "pn", TEAM, cluster=on.cluster, name="acme-pn")
    on.then(5.0, on.vm, "p", vpc=None, vpcRef={"name": "pn"})
    if on.world.choices.choose("stranger in it", (True, False)):
        on.then(5.0, on.cloud.make_vm, "web", "acme-pn", "Msc1", "stranger")
    goes = UP_SECONDS + on.soon("vpc goes")
    on.then(goes, on.delete, "GpuVpc", "pn")
    on.then(goes + on.soon("vm goes"), on.delete, "GpuVM", "p")


def _long_outage(on: Stage) -> None:
    """The cloud is away for longer than Ready may stand."""
    on.vm("p")
    begins = UP_SECONDS + on.soon("outage")
    ends = begins + 2 * on.world.scenario.settings.blind_after_seconds + 180.0
    on.world.cloud_is_out(begins, ends)
    on.then(ends, on.annotate, "GpuVM", "p", reconcile_requested_at="2026-03-03T00:00:00Z")


PLOTS: dict[str, Callable[[Stage], None]] = {
    "made again": _made_again,
    "copied while it goes": _copied_while_it_goes,
    "all gone at once": _all_gone_at_once,
    "shared account": _shared_account,
    "accepted, then another key": _accepted_then_another_key,
    "Secret that goes": _secret_that_goes,
    "restart and wipe": _restart_and_wipe,
    "deleted at once": _deleted_at_once,
    "each waits for the other": _each_waits_for_the_other,
    "VPC with somebody in it": _vpc_with_somebody_in_it,
    "snapshot of a VM that goes": _snapshot_of_a_vm_that_goes,
    "long outage": _long_outage,
}
