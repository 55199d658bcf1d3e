"""The route table: every operation of the specification, found by method and path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.sim.services import clusters, hosts, snapshots, tokens, vms, vpcs

if TYPE_CHECKING:
    from gpucloud.sim.knobs import Knobs
    from gpucloud.sim.route import Route

ROUTES: tuple[Route, ...] = (
    *clusters.ROUTES,
    *vms.ROUTES,
    *hosts.ROUTES,
    *snapshots.ROUTES,
    *vpcs.ROUTES,
    *tokens.ROUTES,
)
_BY_PATH = {route.path: route for route in ROUTES}


def find(method: str, path: str, knobs: Knobs) -> Route | int:
    """Return the operation, or the status that says there is none: 404 for the path, 405 for the method."""
    route = _BY_PATH.get(path)
    if route is None:
        return 404
    methods = {route.method}
    if route.operation == "RefreshToken":
        methods = {"GET", "POST"} if knobs.refresh_method == "both" else {knobs.refresh_method}
    return route if method in methods else 405
