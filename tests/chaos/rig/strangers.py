"""What belongs to somebody else and looks like ours: planted before a run, and to be found as it was at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chaos.rig.trial import Trial
    from support.simcloud import SimCloud

BASES = ("train", "p0", "builder", "golden", "before")  # the names of the workloads' objects


def plant(trial: Trial) -> None:
    """A VPC, VMs and a snapshot by another installation of this operator, whose objects bear the same names."""
    sim, key = trial.sim, trial.bystander["value"]
    sim.create_vpc(f"acme-{trial.tag}-lab2", key)
    for number, base in enumerate(BASES):
        sim.create_vm(f"{base}-zzzzz-{number}234567abc")
        sim.force(f"{base}-zzzzz-{number}234567abc", "ONLINE")
    sim.create_snapshot("golden-zzzzz-9234567abc", "train-zzzzz-0234567abc", key=key)
    trial.strangers = things(sim)


def things(sim: SimCloud) -> dict[str, Any]:
    """What the cloud truly holds, by kind and name: whose it is, and its state."""
    world = sim.control("world")
    vms = {f"VM {vm['order']['vpc']}/{vm['order']['name']}": (vm["uid"], vm["status"]) for vm in world["vms"]}
    snapshots = {f"snapshot {one['namespace']}/{one['name']}": one["created"] for one in world["snapshots"]}
    vpcs = {f"VPC {vpc['name']}": vpc["id"] for vpc in world["vpcs"] if not vpc["is_default"]}
    return vms | snapshots | vpcs
