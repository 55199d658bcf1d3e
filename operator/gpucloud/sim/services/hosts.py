"""Bare metal hosts: service-api, "Bare metal"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.sim import payloads, records
from gpucloud.sim.route import READ_CODES, Call, Reply, Route
from gpucloud.sim.world.refusals import Reason, Refused, not_found

if TYPE_CHECKING:
    from gpucloud.sim.world.hosts import Host

_PATH = "/api/v1/servers/metal"


def host_record(row: Host) -> records.HostRecord:
    """Return a host as the API shows it."""
    return {
        "id": row.id,
        "cluster": row.cluster,
        "tenancyName": row.tenant,
        "nodeType": row.node_type,
        "image": row.image,
        "privateIp": row.private_ip,
        "publicIp": row.public_ip,
        "provisionedHostname": row.hostname,
        "operationalStatus": row.operational,
        "poweredOn": row.powered_on,
        "provisioningState": row.provisioning,
    }


def _get_hosts(call: Call, query: payloads.ClusterFilter) -> Reply:
    if query.cluster:
        call.world.catalogue.require_cluster(query.cluster, "Cluster")
    rows = call.world.hosts.listed(call.tenant, query.cluster, call.as_of)
    return Reply({"items": [host_record(row) for row in rows]})


def _get_host(call: Call, query: payloads.NamedInCluster) -> Reply:
    rows = call.world.hosts.listed(call.tenant, query.cluster, call.as_of)
    found = next((row for row in rows if row.id == query.id), None)
    if found is None:
        raise not_found(query.id, Reason.MISSING_OTHER)
    return Reply(host_record(found))


def _reboot_host(call: Call, body: payloads.HostBody) -> Reply:
    host = call.world.hosts.require(body.cluster, body.id, call.tenant)
    return Reply(host_record(call.world.hosts.reboot(host, call.now)), status=call.knobs.metal_success_status)


def _reprovision_host(call: Call, body: payloads.ReprovisionHostBody) -> Reply:
    host = call.world.hosts.require(body.cluster, body.id, call.tenant)
    for member, value in (("imageUrl", body.image_url), ("imageChecksum", body.image_checksum)):
        if call.knobs.reprovision_image_required and not value:
            raise Refused(Reason.INVALID, f"The {member} field is required.", member)
    row = call.world.hosts.reprovision(host, body.image_url, call.now)
    return Reply(host_record(row), status=call.knobs.metal_success_status)


ROUTES = (
    Route(
        "GetHost",
        "GET",
        f"{_PATH}/GetHost",
        "Inspect a bare metal host.",
        _get_host,
        records.HostRecord,
        "Pages.BareMetal",
        query=payloads.NamedInCluster,
    ),
    Route(
        "GetHosts",
        "GET",
        f"{_PATH}/GetHosts",
        "List bare metal hosts.",
        _get_hosts,
        records.HostItems,
        "Pages.BareMetal",
        query=payloads.ClusterFilter,
    ),
    Route(
        "RebootHost",
        "POST",
        f"{_PATH}/RebootHost",
        "Reboot a bare metal host.",
        _reboot_host,
        records.HostRecord,
        "Pages.BareMetal.Manage",
        body=payloads.HostBody,
        error_codes=(*READ_CODES, 422),
        mutates=True,
    ),
    Route(
        "ReprovisionHost",
        "POST",
        f"{_PATH}/ReprovisionHost",
        "Wipe a bare metal host and install an image.",
        _reprovision_host,
        records.HostRecord,
        "Pages.BareMetal.Manage",
        body=payloads.ReprovisionHostBody,
        error_codes=(*READ_CODES, 422),
        mutates=True,
    ),
)
