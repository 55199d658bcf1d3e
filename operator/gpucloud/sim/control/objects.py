"""Control of single things: machines and hosts changed from outside the API, and how much capacity there is."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pydantic import Field

from gpucloud.sim.control.action import Action, Args
from gpucloud.sim.world.catalogue import ON_DEMAND, Place
from gpucloud.sim.world.refusals import Reason, Refused
from gpucloud.sim.world.vms import VmOrder
from gpucloud.sim.world.world import ImageChoice

if TYPE_CHECKING:
    from gpucloud.sim.state import State
    from gpucloud.sim.world.vms import Vm


class VmName(Args):
    """One machine, of any tenant; the oldest of twins."""

    id: str
    namespace: str
    cluster: str


class ForcedVm(VmName):
    """A status to put it in, known or not."""

    status: str = Field(min_length=1)


class DestroyedVm(VmName):
    """How it goes: ``at_once`` leaves no record behind."""

    at_once: bool = False
    delete_snapshots: bool = False


class ForeignVm(Args):
    """A machine somebody else makes, in their name and tenant."""

    name: str = ""
    cluster: str
    vpc: str
    configuration: str = "A100_40GB_PCIe_1x"
    pool: str = ON_DEMAND
    tenant: str = "acme"
    username: str = "somebody-else"


class ForcedHost(Args):
    """A state to put a host in; empty words keep what is."""

    id: str
    cluster: str
    operational: str = ""
    provisioning: str = ""
    powered_on: bool = True


class Capacity(Args):
    """How many machines fit in one place."""

    configuration: str
    cluster: str
    pool: str = ON_DEMAND
    total: int = Field(ge=0)


def _in_world(_: State) -> str:
    return "GET /_sim/world lists what there is."


def _on_offer(state: State) -> str:
    catalogue = state.world.catalogue
    configurations = ", ".join(f"{one.name} (in {' and '.join(one.clusters)})" for one in catalogue.configurations.values())
    pools = ", ".join(dict.fromkeys(pool for tenant in catalogue.pools for pool in catalogue.pools_of(tenant)))
    return f"Clusters: {', '.join(catalogue.clusters)}. Configurations: {configurations}. Pools: {pools}."


def _on_offer_and_in_world(state: State) -> str:
    return f"{_on_offer(state)} {_in_world(state)}"


def _vm(state: State, name: VmName) -> Vm:
    vms = state.world.vms
    named = vms.named((name.cluster, name.namespace, name.id))
    return named[0] if named else vms.require((name.cluster, name.namespace, name.id), "")


def _force(state: State, args: ForcedVm) -> Any:
    return asdict(state.world.vms.force(_vm(state, args), args.status, state.now()))


def _create(state: State, args: ForeignVm) -> Any:
    order = VmOrder(
        cluster=args.cluster,
        vpc=args.vpc,
        name=args.name,
        configuration=args.configuration,
        pool=args.pool,
        image="",
        tenant=args.tenant,
        username=args.username,
    )
    return asdict(state.world.create_vm(order, ImageChoice(), state.now())[0])


def _stop(state: State, args: VmName) -> Any:
    return asdict(state.world.vms.stop(_vm(state, args), state.now())[0])


def _start(state: State, args: VmName) -> Any:
    return asdict(state.world.vms.start(_vm(state, args), state.now())[0])


def _destroy(state: State, args: DestroyedVm) -> Any:
    world, now = state.world, state.now()
    vm = _vm(state, args)
    if args.at_once:
        if args.delete_snapshots:
            world.snapshots.delete_of(*vm.key, now)
        world.vms.vanish(vm, now)
    else:
        vm = world.destroy_vm(vm, now, delete_snapshots=args.delete_snapshots)[0]
    return asdict(vm)


def _force_host(state: State, args: ForcedHost) -> Any:
    hosts = state.world.hosts
    host = hosts.table.get((args.cluster, args.id)) or hosts.require(args.cluster, args.id, "")
    return asdict(hosts.force(host, args.operational, args.provisioning, args.powered_on, state.now()))


def _set_capacity(state: State, args: Capacity) -> Any:
    world = state.world
    place = Place(args.configuration, args.cluster, args.pool)
    world.catalogue.require_configuration(args.configuration, args.cluster)
    if not any(args.pool in world.catalogue.pools_of(tenant) for tenant in world.catalogue.pools):
        raise Refused(Reason.UNKNOWN_REFERENCE, f'Resource pool "{args.pool}" is no tenant\'s.')
    world.catalogue.set_total(place, args.total)
    world.vms.serve_waiting(place, state.now())
    return {**place._asdict(), "total": args.total, "free": world.catalogue.free(place)}


ACTIONS = (
    Action("POST", "vms/create", "createVm", "create a VM as somebody else", ForeignVm, _create, _on_offer_and_in_world),
    Action("POST", "vms/start", "startVm", "start a VM as somebody else", VmName, _start, _in_world),
    Action("POST", "vms/stop", "stopVm", "stop a VM as somebody else", VmName, _stop, _in_world),
    Action("POST", "vms/destroy", "destroyVm", "destroy a VM as somebody else", DestroyedVm, _destroy, _in_world),
    Action("POST", "vms/force", "forceVm", "put a VM into any status", ForcedVm, _force, _in_world),
    Action("POST", "hosts/force", "forceHost", "put a host into any state", ForcedHost, _force_host, _in_world),
    Action("POST", "capacity", "setCapacity", "set how many VMs fit", Capacity, _set_capacity, _on_offer),
)
