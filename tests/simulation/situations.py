"""Short plots that random acts alone meet too seldom. A quarter of all histories has one, with times drawn as ever.

Each is a history that somebody has met (or fears), told by who does what when; what the operator makes of it is left open, and
everything else in the history goes on around it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.cloud import name_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.choices import Choices
    from simulation.world import World

UP_SECONDS = 15.0  # until a VM is usually Ready
SHARE = 0.25  # of the histories
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMadeUpKey owner@example"
TEAM, OTHER, VPC = "team", "other", "acme"


PLOTS = (
    *("made again", "copied while it goes", "all gone at once", "shared account", "accepted, then another key"),
    *("Secret that goes", "restart and wipe", "deleted at once", "each waits for the other", "VPC with somebody in it"),
    *("snapshot of a VM that goes", "long outage"),
)


def drawn(choices: Choices) -> str:
    """The plot of a history; mostly none."""
    none = len(PLOTS) * (1 - SHARE) / SHARE
    return choices.choose("situation", ("", *PLOTS), (none, *(1.0 for _ in PLOTS)))


class Situations:
    """Lets one plot take place, or none."""

    def __init__(self, world: World, cluster: str) -> None:
        self._world = world
        self._cluster = cluster
        self._owner, self._admin, self._cloud = world.actors.owner, world.actors.admin, world.cloud
        plots = (
            *(self._made_again, self._copied_while_it_goes, self._all_gone_at_once, self._shared_account),
            *(self._accepted_then_another_key, self._secret_that_goes, self._restart_and_wipe, self._deleted_at_once),
            *(self._each_waits_for_the_other, self._vpc_with_somebody_in_it, self._snapshot_of_a_vm_that_goes),
            self._long_outage,
        )
        self._plots: dict[str, Callable[[], None]] = dict(zip(PLOTS, plots, strict=True))

    def begin(self) -> None:
        """Draw a plot; what it does comes later, beside everything else."""
        plot = drawn(self._world.choices)
        if plot and plot not in self._world.weather.without:
            self._world.tell("world", f"situation: {plot}")
            self._plots[plot]()

    # Who does what.

    def _made_again(self) -> None:
        """A VM of a chosen name is destroyed outside, and somebody makes another of that name."""
        self._vm("p", vmName="prod")
        gone = UP_SECONDS + self._soon("gone")
        self._then(gone, self._destroyed_outside, "prod")
        again = gone + self._graces("made again", 0.8, 0.3, 3.0, 10.0)
        self._then(again, self._cloud.make_vm, "prod", VPC, "Msc1", "stranger")
        self._then(again + self._graces("delete after", 1.0, 0.2, 6.0), self._delete, "GpuVM", "p")

    def _copied_while_it_goes(self) -> None:
        """A VM that takes its snapshots along is deleted while another is being made from one of them."""
        self._vm("p", deletion={"snapshots": "Delete"})
        self._then(UP_SECONDS, self._snapshot, "ps", vmRef={"name": "p"})
        copied = 2 * UP_SECONDS
        self._then(copied, self._vm, "q", image={"snapshotRef": {"name": "ps"}})
        self._then(copied + self._soon("source goes"), self._delete, "GpuVM", "p")

    def _snapshot_of_a_vm_that_goes(self) -> None:
        """A VM is deleted while a snapshot of it is being taken, perhaps paused meanwhile."""
        self._vm("p")
        self._then(UP_SECONDS, self._snapshot, "ps", vmRef={"name": "p"})
        goes = UP_SECONDS + self._soon("source goes")
        if self._world.choices.choose("paused snapshot", (True, False)):
            self._then(goes - 0.1, self._annotate, "GpuSnapshot", "ps", paused="true")
        self._then(goes, self._delete, "GpuVM", "p")

    def _all_gone_at_once(self) -> None:
        """All VMs vanish in one moment, while snapshots of them wait."""
        names = ("p", "q", "r", "u")
        for name in names:
            self._vm(name)
        gone = UP_SECONDS + self._soon("all gone")
        for name in names:
            self._then(gone - 3.0, self._snapshot, f"{name}s", vmRef={"name": name})
        self._then(gone, self._all_destroyed_outside)

    def _shared_account(self) -> None:
        """Another namespace names the VM and the VPC of this one; both may use the operator's own account."""
        self._vm("p", vmName="prod")
        self._create("GpuVpc", "pn", TEAM, cluster=self._cluster, name="acme-pn")
        later = UP_SECONDS + self._soon("other comes")
        place = {"cluster": self._cluster, "vpc": VPC, "name": "prod"}
        self._then(later, self._create, "GpuSnapshot", "ps", OTHER, vm=place)
        adopts = {"adoption": "IfExists", "deletion": {"policy": "Delete"}}
        name = self._world.choices.choose("situation: whose VPC", (VPC, "acme-pn"))
        self._then(later, self._create, "GpuVpc", "qn", OTHER, cluster=self._cluster, name=name, **adopts)
        self._then(later + UP_SECONDS, self._delete, "GpuVpc", "qn", OTHER)
        self._then(later + UP_SECONDS + 3.0, self._vm, "q")

    def _accepted_then_another_key(self) -> None:
        """A person accepts an absence; later the Secret holds another tenant's key, and the object is deleted."""
        self._vm("p")
        self._then(UP_SECONDS, self._accept, "p")
        changed = UP_SECONDS + self._soon("other key")
        self._then(changed, self._key, "other")
        self._then(changed + 40.0 + self._soon("delete then"), self._delete, "GpuVM", "p")

    def _secret_that_goes(self) -> None:
        """The Secret is deleted and held for a VM; somebody changes it meanwhile, and makes another VM."""
        self._vm("p")
        goes = UP_SECONDS + self._soon("secret goes")
        if self._world.choices.choose("wrong key first", (False, True)):
            self._then(goes - 1.0, self._key, "wrong")
        self._then(goes, self._delete_secret)
        later = goes + self._world.choices.choose("situation: another VM after", (120.0, 40.0))
        self._then(later, self._vm, "q")
        self._then(later + self._soon("good key"), self._key, "good")

    def _restart_and_wipe(self) -> None:
        """A VM is restarted; long after, its status is lost."""
        self._vm("p")
        self._then(UP_SECONDS, self._annotate, "GpuVM", "p", restart_requested_at="2026-03-03T00:00:00Z")
        wiped = UP_SECONDS + 90.0 + 2 * self._world.grace
        self._then(wiped, self._wipe, "GpuVM", "p")

    def _deleted_at_once(self) -> None:
        """An object is deleted before its VM shows."""
        self._vm("p")
        self._then(self._soon("delete"), self._delete, "GpuVM", "p")

    def _each_waits_for_the_other(self) -> None:
        """A VM is to be made from a snapshot that is to be taken of it."""
        self._vm("p", image={"snapshotRef": {"name": "ps"}})
        self._snapshot("ps", vmRef={"name": "q"})
        self._vm("q", image={"snapshotRef": {"name": "qs"}})
        self._snapshot("qs", vmRef={"name": "p"})

    def _vpc_with_somebody_in_it(self) -> None:
        """A VPC is deleted while VMs are, or come to be, in it: ours, or a stranger's."""
        self._create("GpuVpc", "pn", TEAM, cluster=self._cluster, name="acme-pn")
        self._then(5.0, self._vm, "p", vpc=None, vpcRef={"name": "pn"})
        if self._world.choices.choose("stranger in it", (True, False)):
            self._then(5.0, self._cloud.make_vm, "web", "acme-pn", "Msc1", "stranger")
        goes = UP_SECONDS + self._soon("vpc goes")
        self._then(goes, self._delete, "GpuVpc", "pn")
        self._then(goes + self._soon("vm goes"), self._delete, "GpuVM", "p")

    def _long_outage(self) -> None:
        """The cloud is away for longer than Ready may stand."""
        self._vm("p")
        begins = UP_SECONDS + self._soon("outage")
        ends = begins + 2 * self._world.scenario.settings.blind_after_seconds + 180.0
        self._world.cloud_is_out(begins, ends)
        self._then(ends, self._annotate, "GpuVM", "p", reconcile_requested_at="2026-03-03T00:00:00Z")

    # How they do it.

    def _then(self, seconds: float, deed: Callable[..., Any], *args: Any, **more: Any) -> None:
        self._world.act_later(seconds, lambda: deed(*args, **more))

    def _soon(self, domain: str) -> float:
        return self._world.choices.choose(f"situation: {domain} after", (2.0, 0.5, 6.0, 20.0))

    def _graces(self, domain: str, *options: float) -> float:
        return self._world.grace * self._world.choices.choose(f"situation: {domain}", options)

    def _create(self, kind: str, called: str, namespace: str = TEAM, **spec: Any) -> None:
        self._owner.create(kind, namespace, called, {field: value for field, value in spec.items() if value is not None})

    def _vm(self, called: str, **more: Any) -> None:
        spec = {"cluster": self._cluster, "configuration": "A100_40GB_PCIe_1x", "sshKeys": [KEY], "vpc": VPC, **more}
        self._create("GpuVM", called, **spec)

    def _snapshot(self, called: str, **spec: Any) -> None:
        self._create("GpuSnapshot", called, **spec)

    def _find(self, kind: str, name: str, namespace: str = TEAM) -> dict[str, Any] | None:
        wanted = (namespace, name)
        found = (item for item in self._owner.all(kind) if (item["metadata"]["namespace"], item["metadata"]["name"]) == wanted)
        return next(found, None)

    def _delete(self, kind: str, name: str, namespace: str = TEAM) -> None:
        item = self._find(kind, name, namespace)
        if item is not None:
            self._owner.delete(item)

    def _annotate(self, kind: str, name: str, **values: str) -> None:
        item = self._find(kind, name)
        if item is not None:
            self._owner.annotate(item, **values)

    def _accept(self, name: str) -> None:
        self._annotate("GpuVM", name, accept_absence=self._world.stamp())

    def _wipe(self, kind: str, name: str) -> None:
        item = self._find(kind, name)
        if item is not None:
            self._world.actors.wipe(item)

    def _key(self, which: str) -> None:
        if not self._world.scenario.own_account:
            self._world.actors.put_key(which)

    def _delete_secret(self) -> None:
        if not self._world.scenario.own_account:
            self._world.actors.delete_secret()

    def _destroyed_outside(self, name: str) -> None:
        for vm in self._world.actors.vms():
            if name_of(vm) == name:
                self._cloud.end_vm(name, vm.order.vpc, vm.order.cluster)
                return

    def _all_destroyed_outside(self) -> None:
        for vm in self._world.actors.vms():
            self._cloud.end_vm(name_of(vm), vm.order.vpc, vm.order.cluster)
