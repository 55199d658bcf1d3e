"""Clusters: service-api, "Clusters"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.sim.route import Call, Reply, Route

if TYPE_CHECKING:
    from gpucloud.sim.payloads import NoParameters


def _get_all(call: Call, _: NoParameters) -> Reply:
    return Reply(list(call.world.catalogue.clusters))


ROUTES = (
    Route(
        "GetAll",
        "GET",
        "/api/v1/clusters/GetAll",
        "List the allocated clusters.",
        _get_all,
        list[str],
        "Pages.Clusters",
    ),
)
