"""Snapshots: service-api, "Snapshots"."""

from __future__ import annotations

from gpucloud.sim import payloads, records
from gpucloud.sim.answers import date_time
from gpucloud.sim.route import READ_CODES, Call, Reply, Route
from gpucloud.sim.services.vms import listed_cluster
from gpucloud.sim.world.refusals import Reason, not_found
from gpucloud.sim.world.snapshots import Snapshot

_PATH = "/api/v1/servers/snapshots"


def snapshot_record(row: Snapshot, call: Call) -> records.SnapshotRecord:
    """Return a snapshot as the API shows it; its record names no cluster."""
    return {
        "id": row.name,
        "namespace": row.namespace,
        "sourceName": row.source or None,
        "osImage": row.image if call.knobs.image_echo == "verbatim" else row.image.replace(" ", "_"),
        "customPackage": None,
        "rootDiskSize": f"{row.root_disk or 100}Gi",
        "creationDate": date_time(row.created, call.knobs),
        "username": row.username,
        "tenancyName": row.tenant,
        "readyToUse": (call.now if call.as_of is None else call.as_of) >= row.ready_at,
    }


def _get_snapshots(call: Call, query: payloads.ClusterFilter) -> Reply:
    rows = call.world.snapshots.listed(call.tenant, listed_cluster(call, query.cluster), call.as_of)
    return Reply({"items": [snapshot_record(row, call) for row in rows]})


def _get_snapshot(call: Call, query: payloads.NamedInVpc) -> Reply:
    key = (query.cluster, query.namespace, query.id)
    rows = call.world.snapshots.listed(call.tenant, query.cluster, call.as_of)
    found = next((row for row in rows if row.key == key), None)
    if found is None:
        raise not_found(query.id, Reason.MISSING_OTHER)
    return Reply(snapshot_record(found, call))


def _create_snapshot(call: Call, body: payloads.CreateSnapshotBody) -> Reply:
    wanted = Snapshot(
        cluster=body.cluster,
        namespace=body.namespace,
        name=body.name,
        source=body.source,
        image="",
        root_disk=0,
        tenant=call.tenant,
        username=call.caller.user.name,
    )
    row, changed = call.world.create_snapshot(wanted, call.now)
    return Reply(snapshot_record(row, call), changed)


def _delete_snapshot(call: Call, query: payloads.NamedInVpc) -> Reply:
    row = call.world.snapshots.require((query.cluster, query.namespace, query.id), call.tenant)
    data: records.IdRecord = {"id": row.name}
    return Reply(data, call.world.snapshots.delete(row, call.now))


ROUTES = (
    Route(
        "GetSnapshots",
        "GET",
        f"{_PATH}/GetSnapshots",
        "List snapshots.",
        _get_snapshots,
        records.SnapshotItems,
        "Pages.Snapshots",
        query=payloads.ClusterFilter,
    ),
    Route(
        "GetSnapshot",
        "GET",
        f"{_PATH}/GetSnapshot",
        "Inspect a snapshot.",
        _get_snapshot,
        records.SnapshotRecord,
        "Pages.Snapshots",
        query=payloads.NamedInVpc,
    ),
    Route(
        "CreateSnapshot",
        "POST",
        f"{_PATH}/CreateSnapshot",
        "Take a snapshot of a virtual machine.",
        _create_snapshot,
        records.SnapshotRecord,
        "Pages.Snapshots.Create",
        body=payloads.CreateSnapshotBody,
        success=202,
        error_codes=(*READ_CODES, 503),
        mutates=True,
    ),
    Route(
        "DeleteSnapshot",
        "DELETE",
        f"{_PATH}/DeleteSnapshot",
        "Delete a snapshot.",
        _delete_snapshot,
        records.IdRecord,
        "Pages.Snapshots.Delete",
        query=payloads.NamedInVpc,
        success=202,
        mutates=True,
    ),
)
