"""What strangers do in a history: their own things in our tenant, our VMs, our conditions, and a second cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.reconcile.naming import base_name
from simulation.cloud import name_of
from simulation.owner_acts import CHOSEN, NAMES, VPC
from simulation.people import APPLY, path_of, plain
from simulation.stage import MAIN

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.sim.world.vms import Vm
    from simulation.actors import Actors
    from simulation.world import World


class StrangerActs:
    """Each act is drawn when its time comes."""

    def __init__(self, world: World, actors: Actors) -> None:
        self._world = world
        self._actors = actors
        self.acts: dict[str, Callable[[], object]] = {
            "stranger makes": self._makes,
            "stranger destroys": self._destroys,
            "stranger powers": self._powers,
            "stranger's condition": self._says,
            "second cluster": self._second_cluster,
        }

    def _makes(self) -> None:
        world, choose = self._world, self._world.choices.choose
        name = choose("stranger's name", CHOSEN)
        what = choose("stranger's thing", ("vm", "vpc", "snapshot"), (6, 1, 1))
        if what == "vm":
            world.cloud.make_vm(name, VPC, "Msc1", "stranger")
        elif what == "vpc":
            world.cloud.make_vpc(f"{VPC}-net", "Msc1", "stranger")
        elif self._actors.vms():
            world.cloud.make_snapshot("snap", self._actors.vms()[0].key, "stranger")

    def _a_vm(self) -> Vm | None:
        found = [vm for vm in self._actors.vms() if not self._is_staged(vm)]
        part = self._world.choices.pick("which vm", 0.0, lambda part: round(part, 3))
        return found[int(part * len(found)) % len(found)] if found else None

    def _is_staged(self, vm: Vm) -> bool:
        return bool(self._actors.staged) and name_of(vm).partition("-")[0] in {*self._actors.staged, MAIN}

    def _destroys(self) -> None:
        if self._world.choices.chance("stranger destroys a VPC", 0.2):
            self._destroys_vpc()
            return
        vm = self._a_vm()
        if vm is not None:
            self._world.tell("stranger", f"destroys {name_of(vm)}")
            self._world.judge.sometimes["stranger destroyed"] += 1
            self._world.cloud.end_vm(name_of(vm), vm.order.vpc, vm.order.cluster)
            # Never under a name that bears our mark: that would be a forgery, which nothing can tell.
            if name_of(vm) in CHOSEN and self._world.choices.choose("stranger makes it again", (False, True)):
                after = self._world.grace * self._world.choices.choose("made again after", (3.0, 0.3, 10.0))
                self._world.act_later(after, self._world.cloud.make_vm, name_of(vm), vm.order.vpc, vm.order.cluster, "stranger")

    def _destroys_vpc(self) -> None:
        world, choose = self._world, self._world.choices.choose
        name = f"{VPC}-net"
        if world.cloud.end_vpc(name):
            world.tell("stranger", f"destroys {name}")
            world.judge.sometimes["stranger destroyed"] += 1
            if choose("stranger makes the VPC again", (True, False)):
                after = world.grace * choose("VPC made again after", (0.1, 1.0, 10.0))
                world.act_later(after, world.cloud.make_vpc, name, "Msc1", "stranger")

    def _powers(self) -> None:
        vm = self._a_vm()
        if vm is not None:
            on = self._world.choices.choose("stranger's power", (False, True))
            self._world.tell("stranger", f"{'starts' if on else 'stops'} {name_of(vm)}")
            self._world.cloud.power_vm(name_of(vm), vm.order.vpc, vm.order.cluster, on=on)

    def _says(self) -> None:
        item = self._actors.some()
        if item is not None:
            kind = self._world.choices.choose("foreign condition", ("Backup", "Ready", "Stalled"))
            condition = {
                "type": kind,
                "status": "True",
                "reason": "Foreign",
                "message": "from somebody \U0001f984",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
                "observedGeneration": 1,
            }
            body = plain(item) | {"status": {"conditions": [condition]}}
            body["metadata"] = {name: item["metadata"][name] for name in ("name", "namespace")}
            self._actors.stranger.call("PATCH", f"{path_of(item)}/status?fieldManager=stranger&force=true", body, APPLY)

    def _second_cluster(self) -> None:
        """The operator of another cluster, in our tenant, makes a VM for an object of our name; its tag is ours or another."""
        tag = self._world.choices.choose("second tag", ("zzzzz", self._actors.tag()))
        name = base_name(self._world.choices.choose("name", NAMES), tag) + "abcdefghij"
        self._world.cloud.make_vm(name, VPC, "Msc1", "second")
