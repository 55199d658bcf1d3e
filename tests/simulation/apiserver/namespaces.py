"""The namespace controller: empties Terminating namespaces, and removes those that are empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulation.apiserver.server import ApiServer

USER = "system:namespace-controller"


class NamespaceController:
    """Acts only when ``step`` is called."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server

    def step(self) -> bool:
        """Delete what lives in Terminating namespaces, and the empty ones; whether anything changed."""
        store, before = self._server.store, self._server.store.version
        kinds = {resource.plural: resource for resource in self._server.resources}
        for name, found in store.listed(kinds["namespaces"], "", store.version):
            if found.seen["status"]["phase"] == "Terminating" and not self._emptied(name):
                store.put((USER, "DELETE"), kinds["namespaces"], name, None)
        return store.version != before

    def _emptied(self, namespace: str) -> int:
        """Ask for the deletion of everything in a namespace; how much is left."""
        store, left = self._server.store, 0
        for resource in self._server.resources:
            if not resource.namespaced:
                continue
            for key, _ in store.listed(resource, f"{namespace}/", store.version):
                path = f"{resource.root}/namespaces/{namespace}/{resource.plural}/{key.partition('/')[2]}"
                self._server.request(USER, "DELETE", path)
                left += store.get(resource, key) is not None
        return left
