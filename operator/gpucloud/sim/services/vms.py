"""Virtual machines: service-api, "Virtual machines"."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from gpucloud.sim import payloads, records
from gpucloud.sim.answers import date_time
from gpucloud.sim.route import Call, Reply, Route
from gpucloud.sim.services.bootlog import boot_log
from gpucloud.sim.world.catalogue import ON_DEMAND, Place
from gpucloud.sim.world.refusals import Reason, Refused, not_found
from gpucloud.sim.world.vms import VmOrder
from gpucloud.sim.world.world import ImageChoice

if TYPE_CHECKING:
    from gpucloud.sim.world.vms import Vm

_PATH = "/api/v1/servers/virtual"


def private_ip(vm: Vm) -> str:
    """The address that a machine keeps from its creation on."""
    return f"172.16.{vm.uid // 254 % 256}.{vm.uid % 254 + 1}"


def vm_record(vm: Vm, call: Call) -> records.VmRecord:
    """Return a machine as the API shows it."""
    order = vm.order
    sizes = call.world.catalogue.configurations[order.configuration]
    by_number = call.knobs.configuration_echo == "number"
    return {
        "id": order.name,
        "namespace": order.vpc,
        "configuration": str(sizes.id) if by_number else order.configuration,
        "storage": sizes.storage,
        "gpu_type": sizes.gpu_type,
        "gpus": sizes.gpus,
        "vcpus": sizes.vcpus,
        "memory": sizes.memory,
        "ip": vm.ip,
        "privateIp": private_ip(vm),
        "image": order.image if call.knobs.image_echo == "verbatim" else order.image.replace(" ", "_"),
        "cluster": order.cluster,
        "username": order.username,
        "tenancy_name": order.tenant,
        "rpool": order.pool,
        "nodeSelector": order.node or None,
        "directAttachedStoragePersisted": order.persist,
        "storageType": "local",
        "rootDiskSize": f"{order.root_disk or 100}Gi",
        "status": vm.status,
        "lastUpdated": date_time(vm.updated, call.knobs),
    }


def listed_cluster(call: Call, cluster: str) -> str:
    """Return the cluster that a listing is about, "" for all; an unknown one is refused."""
    if cluster:
        call.world.catalogue.require_cluster(cluster, "Cluster")
        return "" if call.knobs.cluster_filter == "ignored" else cluster
    if call.knobs.unfiltered_listing == "refuse_400":
        raise Refused(Reason.INVALID, "The Cluster field is required.", "Cluster")
    return call.world.catalogue.clusters[0] if call.knobs.unfiltered_listing == "default_cluster" else ""


def _get_servers(call: Call, query: payloads.ClusterFilter) -> Reply:
    rows = call.world.vms.listed(call.tenant, listed_cluster(call, query.cluster), call.as_of)
    return Reply({"items": [vm_record(vm, call) for vm in rows]})


def _get_server(call: Call, query: payloads.NamedInVpc) -> Reply:
    return Reply(vm_record(_require(call, query), call))


def _boot_logs(call: Call, query: payloads.BootLogQuery) -> Reply:
    if not query.limit and call.knobs.boot_log_limit_required:
        raise Refused(Reason.INVALID, "The Limit field is required.", "Limit")
    vm = _require(call, query)
    data: records.BootLogRecord = {
        "id": vm.order.name,
        "namespace": vm.order.vpc,
        "cluster": vm.order.cluster,
        "bootLogs": "\n".join(boot_log(vm, call.now, call.knobs.boot_log_lines)[-(query.limit or 2000) :]),
    }
    return Reply(data)


def _require(call: Call, query: payloads.NamedInVpc) -> Vm:
    call.world.catalogue.require_cluster(query.cluster, "Cluster")
    key = (query.cluster, query.namespace, query.id)
    if call.as_of is None:
        return call.world.vms.require(key, call.tenant)
    found = next((vm for vm in call.world.vms.listed(call.tenant, query.cluster, call.as_of) if vm.key == key), None)
    if found is None:
        raise not_found(query.id, Reason.MISSING_VM)
    return found


def _create_server(call: Call, body: payloads.CreateServerBody) -> Reply:
    order = VmOrder(
        cluster=body.cluster,
        vpc=body.vpc,
        name=_own_id(body.name, call.now) if call.knobs.own_ids else body.name,
        configuration=body.configuration,
        pool=body.rpool or call.world.catalogue.default_pool(call.tenant),
        image="",
        tenant=call.tenant,
        username=call.caller.user.name,
        node=body.selected_node,
        root_disk=body.root_disk_size,
        persist=body.persist_storage,
        ssh_keys=tuple(sha256(key.encode()).hexdigest() for key in body.ssh_keys),
    )
    image = ImageChoice(body.snapshot_name, body.custom_image, body.operating_system)
    vm, changed = call.world.create_vm(order, image, call.now)
    record = vm_record(vm, call)
    return Reply(record | {"status": call.knobs.created_word} if changed else record, changed)


def _own_id(name: str, now: float) -> str:
    return f"i-{sha256(f'{name} {now}'.encode()).hexdigest()[:12]}"


def _start_server(call: Call, body: payloads.ServerBody) -> Reply:
    vm = call.world.vms.require((body.cluster, body.namespace, body.id), call.tenant)
    return _operation(*call.world.vms.start(vm, call.now))


def _stop_server(call: Call, body: payloads.ServerBody) -> Reply:
    vm = call.world.vms.require((body.cluster, body.namespace, body.id), call.tenant)
    return _operation(*call.world.vms.stop(vm, call.now))


def _destroy_server(call: Call, query: payloads.DestroyServerQuery) -> Reply:
    key = (query.cluster, query.namespace, query.id)
    vm = call.world.vms.require(key, call.tenant)
    return _operation(*call.world.destroy_vm(vm, call.now, delete_snapshots=query.delete_snapshots))


def _operation(vm: Vm, changed: bool) -> Reply:
    data: records.OperationRecord = {"id": vm.order.name, "cluster": vm.order.cluster, "status": vm.status}
    return Reply(data, changed)


def _get_configurations(call: Call, _: payloads.NoParameters) -> Reply:
    items: list[records.ConfigurationRecord] = [
        {
            "id": item.id,
            "user_friendly_name": item.name.replace("_", " "),
            "name": item.name,
            "description": f"{item.gpus} x {item.brand}, {item.vcpus} vCPU, {item.memory} GB",
            "storage": item.storage,
            "type": "gpu",
            "brand_family": item.brand.partition(" ")[0],
            "brand": item.brand,
            "text_name": item.name,
            "gpus": item.gpus,
            "vcpus": item.vcpus,
            "memory": item.memory,
            "price": item.price,
            "compute_network": item.network,
            "is_gpu_platform": True,
            "clusters": list(item.clusters),
        }
        for item in call.world.catalogue.configurations.values()
    ]
    return Reply({"items": items})


def _get_availability(call: Call, query: payloads.AvailabilityQuery) -> Reply:
    catalogue = call.world.catalogue
    catalogue.require_cluster(query.cluster)
    pools = [pool for pool in catalogue.pools_of(call.tenant) if query.resource_pool in {"", pool}]
    offers = [item for item in catalogue.configurations.values() if query.cluster in item.clusters]
    places = [(Place(item.name, query.cluster, pool), item.price) for item in offers for pool in pools]
    return Reply({"items": [_availability(call, place, price, query.report_nodes) for place, price in places]})


def _availability(call: Call, place: Place, price: float, counted: bool) -> records.AvailabilityRecord:
    catalogue = call.world.catalogue
    free = catalogue.free(place)
    record: records.AvailabilityRecord = {
        "configuration": place.configuration,
        "cluster": place.cluster,
        "rpool": place.pool,
        "price": price,
        "available": free > 0,
    }
    if counted:
        record |= {"count": free, "maxCount": 0 if place.pool == ON_DEMAND else catalogue.total(place)}
        if place.pool != ON_DEMAND:
            record["availableNodeNames"] = list(catalogue.nodes(place.cluster, place.pool)) if free else []
    elif call.knobs.uncounted != "absent":
        nothing = 0 if call.knobs.uncounted == "zero" else None
        record |= {"count": nothing, "maxCount": nothing}
    return record


ROUTES = (
    Route(
        "GetServers",
        "GET",
        f"{_PATH}/GetServers",
        "List virtual machines.",
        _get_servers,
        records.VmItems,
        "Pages.VirtualMachines",
        query=payloads.ClusterFilter,
    ),
    Route(
        "GetServer",
        "GET",
        f"{_PATH}/GetServer",
        "Inspect a virtual machine.",
        _get_server,
        records.VmRecord,
        "Pages.VirtualMachines",
        query=payloads.NamedInVpc,
    ),
    Route(
        "CreateServer",
        "POST",
        f"{_PATH}/CreateServer",
        "Create a virtual machine from a configuration.",
        _create_server,
        records.VmRecord,
        "Pages.VirtualMachines.Create",
        body=payloads.CreateServerBody,
        success=202,
        mutates=True,
    ),
    Route(
        "StartServer",
        "POST",
        f"{_PATH}/StartServer",
        "Start a virtual machine that is OFFLINE.",
        _start_server,
        records.OperationRecord,
        "Pages.VirtualMachines.Power",
        body=payloads.ServerBody,
        success=202,
        mutates=True,
    ),
    Route(
        "StopServer",
        "POST",
        f"{_PATH}/StopServer",
        "Shut a virtual machine down in order.",
        _stop_server,
        records.OperationRecord,
        "Pages.VirtualMachines.Power",
        body=payloads.ServerBody,
        success=202,
        mutates=True,
    ),
    Route(
        "DestroyServer",
        "DELETE",
        f"{_PATH}/DestroyServer",
        "Delete a virtual machine for good.",
        _destroy_server,
        records.OperationRecord,
        "Pages.VirtualMachines.Destroy",
        query=payloads.DestroyServerQuery,
        success=202,
        mutates=True,
    ),
    Route(
        "GetConfigurations",
        "GET",
        f"{_PATH}/GetConfigurations",
        "List virtual machine configurations.",
        _get_configurations,
        records.ConfigurationItems,
        "Pages.VirtualMachines",
    ),
    Route(
        "GetAvailability",
        "GET",
        f"{_PATH}/GetAvailability",
        "List what can be had now in a cluster.",
        _get_availability,
        records.AvailabilityItems,
        "Pages.VirtualMachines",
        query=payloads.AvailabilityQuery,
    ),
    Route(
        "GetVirtualMachineBootLogs",
        "GET",
        f"{_PATH}/GetVirtualMachineBootLogs",
        "Read the last lines of a virtual machine's boot log.",
        _boot_logs,
        records.BootLogRecord,
        "Pages.VirtualMachines",
        query=payloads.BootLogQuery,
    ),
)
