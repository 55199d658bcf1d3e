"""The garbage collector: deletes objects all of whose owners are gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.apiserver.server import ApiServer

USER = "system:serviceaccount:kube-system:generic-garbage-collector"
OWNED = ("configmaps", "services", "endpointslices", "gpuoffers")  # kinds that are owned here


class GarbageCollector:
    """Acts only when ``step`` is called."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server

    def step(self) -> None:
        """Delete what no owner is left of."""
        for path, owners in list(self._owned()):
            if not owners & self._uids():
                self._server.request(USER, "DELETE", path)

    def _owned(self) -> Iterator[tuple[str, set[str]]]:
        for resource in self._server.resources:
            for item in self._server.objects(resource.plural) if resource.plural in OWNED else ():
                meta = item["metadata"]
                path = f"{resource.root}/namespaces/{meta['namespace']}/{resource.plural}/{meta['name']}"
                owners = {one["uid"] for one in meta.get("ownerReferences") or ()}
                if owners:
                    yield path, owners

    def _uids(self) -> set[str]:
        return {
            item["metadata"]["uid"]
            for resource in self._server.resources
            if resource.custom
            for item in self._server.objects(resource.plural)
        }
