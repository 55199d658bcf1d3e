"""What plots are made of: who does what when, or as soon as something is so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.cloud import name_of
from simulation.people import PLURALS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.world import World

UP_SECONDS = 15.0  # until a VM is usually Ready
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMadeUpKey owner@example"
TEAM, OTHER, VPC = "team", "other", "acme"
SET_APART = frozenset({"w", "x", "xs", "y", "z"})  # names of objects with which others rarely meddle
MAIN = "main"  # a name that an owner chooses, and that no random act uses


class Stage:
    """The people, the cloud, and the means of a plot."""

    def __init__(self, world: World, cluster: str) -> None:
        self.world = world
        self.cluster = cluster
        self.owner, self.admin, self.cloud, self.arranged = world.actors.owner, world.actors.admin, world.cloud, world.arranged

    # When.

    def then(self, seconds: float, deed: Callable[..., Any], *args: Any, **more: Any) -> None:
        """Do something after so many seconds."""
        self.world.act_later(seconds, lambda: deed(*args, **more))

    def once(self, kind: str, is_so: Callable[[], Any], deed: Callable[[], Any], within: float) -> None:
        """Do something as soon as a change of some object of this kind makes something so; never, when that takes longer."""
        world, waiting = self.world, [True]
        world.acts_to_come += 1

        def finish() -> None:
            if waiting:
                waiting.clear()
                unsubscribe()
                world.acts_to_come -= 1

        def look() -> None:
            if waiting and is_so():
                world.later(0.0, deed)
                finish()

        unsubscribe = world.on_commit(PLURALS[kind], look)
        world.later(within, finish)
        look()

    def until(self, kind: str, is_so: Callable[[], Any], within: float) -> None:
        """Let the storm last until a change of some object of this kind makes something so."""
        self.once(kind, is_so, lambda: None, within)

    def choose(self, domain: str, *options: Any) -> Any:
        """One of several; the first is the default."""
        return self.world.choices.choose(f"situation: {domain}", options)

    def soon(self, domain: str) -> float:
        """A few seconds."""
        return self.world.choices.choose(f"situation: {domain} after", (2.0, 0.5, 6.0, 20.0))

    def graces(self, domain: str, *options: float) -> float:
        """Some graces, in seconds."""
        return self.world.grace * self.world.choices.choose(f"situation: {domain}", options)

    # What the owner does.

    def create(self, kind: str, called: str, namespace: str = TEAM, **spec: Any) -> None:
        """Apply an object."""
        self.world.actors.staged |= SET_APART & {called}
        self.owner.create(kind, namespace, called, {field: value for field, value in spec.items() if value is not None})

    def vm(self, called: str, namespace: str = TEAM, **more: Any) -> None:
        """Apply a GpuVM."""
        spec = {"cluster": self.cluster, "configuration": "A100_40GB_PCIe_1x", "sshKeys": [KEY], "vpc": VPC, **more}
        self.create("GpuVM", called, namespace, **spec)

    def snapshot(self, called: str, **spec: Any) -> None:
        """Apply a GpuSnapshot."""
        self.create("GpuSnapshot", called, **spec)

    def find(self, kind: str, name: str, namespace: str = TEAM) -> dict[str, Any] | None:
        """An object as it is now."""
        wanted = (namespace, name)
        found = (item for item in self.owner.all(kind) if (item["metadata"]["namespace"], item["metadata"]["name"]) == wanted)
        return next(found, None)

    def order(self, name: str) -> dict[str, Any]:
        """What the status of a GpuVM records of its order; empty when it records none."""
        found: dict[str, Any] = ((self.find("GpuVM", name) or {}).get("status") or {}).get("order") or {}
        return found

    def stands(self, name: str, state: str) -> bool:
        """Whether the order of a GpuVM is recorded in this state."""
        return bool(self.order(name).get("state") == state)

    def is_ready(self, kind: str, name: str) -> bool:
        """Whether an object says that it is Ready."""
        conditions = ((self.find(kind, name) or {}).get("status") or {}).get("conditions") or ()
        return any((one["type"], one["status"]) == ("Ready", "True") for one in conditions)

    def delete(self, kind: str, name: str, namespace: str = TEAM) -> None:
        """Delete an object."""
        item = self.find(kind, name, namespace)
        if item is not None:
            self.owner.delete(item)

    def annotate(self, kind: str, name: str, **values: str) -> None:
        """Annotate an object."""
        item = self.find(kind, name)
        if item is not None:
            self.owner.annotate(item, **values)

    def edit(self, kind: str, name: str, **spec: Any) -> None:
        """Change the spec of an object."""
        item = self.find(kind, name)
        if item is not None:
            self.owner.patch(item, {"spec": spec})

    def accept(self, name: str) -> None:
        """Accept that the VM of an object is gone."""
        self.annotate("GpuVM", name, accept_absence=self.world.stamp())

    def wipe(self, kind: str, name: str) -> None:
        """Lose the status of an object."""
        item = self.find(kind, name)
        if item is not None:
            self.world.actors.wipe(item)

    # What others do.

    def key(self, which: str) -> None:
        """Put another key into the Secret."""
        if not self.world.scenario.own_account:
            self.world.actors.put_key(which)

    def delete_secret(self) -> None:
        """Delete the Secret."""
        if not self.world.scenario.own_account:
            self.world.actors.delete_secret()

    def destroyed_outside(self, name: str) -> None:
        """Somebody destroys a VM."""
        for vm in self.world.actors.vms():
            if name_of(vm) == name:
                self.cloud.end_vm(name, vm.order.vpc, vm.order.cluster)
                return

    def all_destroyed_outside(self) -> None:
        """Somebody destroys all VMs."""
        for vm in self.world.actors.vms():
            self.cloud.end_vm(name_of(vm), vm.order.vpc, vm.order.cluster)

    def sleeps(self, seconds: float) -> None:
        """Whoever leads is put to sleep; not where the cloud names things itself, as in ``Weather``."""
        if self.world.weather.has("own-id"):
            return
        self.world.weather.plotted.add("pause")
        self.then(seconds + UP_SECONDS, lambda: None)  # the storm lasts until they have gone on
        for replica in self.world.replicas:
            if len(self.world.replicas) == 1 or self.world.judge.is_leader(replica.process):
                self.world.pause(replica.process, seconds)

    def killed(self) -> None:
        """All processes are killed; not where the cloud names things itself, as in ``Weather``."""
        if self.world.weather.has("own-id"):
            return
        for replica in self.world.replicas:
            self.world.kill(replica.process, "by a plot")
