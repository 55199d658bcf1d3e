"""Virtual private clouds: service-api, "VPCs"."""

from __future__ import annotations

from gpucloud.sim import payloads, records
from gpucloud.sim.answers import date_time
from gpucloud.sim.route import Call, Reply, Route
from gpucloud.sim.world.refusals import Reason, not_found
from gpucloud.sim.world.vpcs import Vpc

_PATH = "/api/v1/vpcs"


def vpc_record(row: Vpc, call: Call) -> records.VpcRecord:
    """Return a VPC as the API shows it."""
    return {
        "id": row.id,
        "name": row.name,
        "cluster": row.cluster,
        "tenancyName": row.tenant,
        "ipRange": row.ip_range,
        "createdAt": date_time(row.created, call.knobs),
        "blockIntraVpcComms": row.blocks_inside,
        "isDefault": row.is_default,
    }


def _get_vpcs(call: Call, query: payloads.VpcFilter) -> Reply:
    if query.cluster:
        call.world.catalogue.require_cluster(query.cluster)
    cluster = "" if call.knobs.cluster_filter == "ignored" else query.cluster
    rows = call.world.vpcs.listed(call.tenant, cluster, call.as_of)
    return Reply({"items": [vpc_record(row, call) for row in rows]})


def _get_vpc(call: Call, query: payloads.NamedInCluster) -> Reply:
    rows = call.world.vpcs.listed(call.tenant, query.cluster, call.as_of)
    found = next((row for row in rows if row.id == query.id), None)
    if found is None:
        raise not_found(query.id, Reason.MISSING_OTHER)
    return Reply(vpc_record(found, call))


def _create_vpc(call: Call, body: payloads.CreateVpcBody) -> Reply:
    call.world.catalogue.require_cluster(body.cluster)
    wanted = Vpc(
        id="",
        name=body.name,
        cluster=body.cluster,
        tenant=call.tenant,
        ip_range="",
        created=call.now,
        blocks_inside=body.blocks_inside,
        is_default=body.is_default,
    )
    return Reply(vpc_record(call.world.vpcs.create(wanted, call.now), call))


def _destroy_vpc(call: Call, query: payloads.NamedInCluster) -> Reply:
    row = call.world.vpcs.require(query.cluster, query.id, call.tenant)
    call.world.destroy_vpc(row, call.now)
    return Reply(vpc_record(row, call))


ROUTES = (
    Route(
        "GetVpcs",
        "GET",
        f"{_PATH}/GetVpcs",
        "List VPCs.",
        _get_vpcs,
        records.VpcItems,
        "Pages.Vpcs",
        query=payloads.VpcFilter,
    ),
    Route(
        "GetVpc",
        "GET",
        f"{_PATH}/GetVpc",
        "Inspect a VPC.",
        _get_vpc,
        records.VpcRecord,
        "Pages.Vpcs",
        query=payloads.NamedInCluster,
    ),
    Route(
        "CreateVpc",
        "POST",
        f"{_PATH}/CreateVpc",
        "Create a VPC.",
        _create_vpc,
        records.VpcRecord,
        "Pages.Vpcs.Create",
        body=payloads.CreateVpcBody,
        mutates=True,
    ),
    Route(
        "DestroyVpc",
        "DELETE",
        f"{_PATH}/DestroyVpc",
        "Destroy a VPC.",
        _destroy_vpc,
        records.VpcRecord,
        "Pages.Vpcs.Destroy",
        query=payloads.NamedInCluster,
        mutates=True,
    ),
)
