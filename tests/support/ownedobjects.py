"""The part of an apiserver that keeps ConfigMaps, Services and EndpointSlices: versions, and preconditions of writes."""

from __future__ import annotations

import copy
from itertools import count

from gpucloud.engine.kube.errors import KubeError

ROOTS = {
    "configmaps": "/api/v1/namespaces/team/configmaps",
    "services": "/api/v1/namespaces/team/services",
    "endpointslices": "/apis/discovery.k8s.io/v1/namespaces/team/endpointslices",
}


class OwnedObjects:
    """Objects by path. ``before`` is called before each request; ``refused`` maps a path and method to a status."""

    def __init__(self):
        self.objects, self.requests, self.refused = {}, [], {}
        self.before = lambda _method, _path: None
        self.words, self.causes = "made up", frozenset()
        self._numbers = count(1)

    @property
    def writes(self):
        """Method and resource of each request that changes something."""
        found = [(method, path.split("/")) for method, path in self.requests if method != "GET"]
        return [f"{method} {next(part for part in parts if part in ROOTS)}" for method, parts in found]

    def find(self, resource, name):
        return self.objects.get(f"{ROOTS[resource]}/{name}")

    def put(self, resource, name, owner=None, **fields):
        """An object that somebody else has made; ``owner`` is a UID."""
        owners = [] if owner is None else [{"uid": owner}]
        self._store(f"{ROOTS[resource]}/{name}", {"metadata": {"name": name, "ownerReferences": owners}, **fields})

    def edit(self, resource, name, **fields):
        found = self.find(resource, name)
        self._store(f"{ROOTS[resource]}/{name}", {**found, **fields})

    def remove(self, resource, name):
        del self.objects[f"{ROOTS[resource]}/{name}"]

    async def call(self, method, path, body=None, **_kinds):
        path = path.partition("?")[0]
        self.before(method, path)
        self.requests.append((method, path))
        for (refused, part), status in self.refused.items():
            if method == refused and part in path:
                raise KubeError(status, "Refused", self.words, self.causes)
        body = copy.deepcopy(body)
        if method == "POST":
            path = f"{path}/{body['metadata']['name']}"
            if path in self.objects:
                raise KubeError(409, "AlreadyExists", "made up")
            return self._store(path, body)
        found = self.objects.get(path)
        if found is None:
            raise KubeError(404, "NotFound", "made up")
        if method == "PUT":
            self._check(found, body["metadata"])
            return self._store(path, body)
        if method == "DELETE":
            self._check(found, body["preconditions"])
            del self.objects[path]
        return copy.deepcopy(found)

    def _check(self, found, asked):
        if any(found["metadata"][name] != asked[name] for name in ("uid", "resourceVersion")):
            raise KubeError(409, "Conflict", "made up")

    def _store(self, path, item):
        meta = dict(item["metadata"])
        meta["resourceVersion"] = str(next(self._numbers))
        meta.setdefault("uid", f"uid-{meta['resourceVersion']}")
        self.objects[path] = {**item, "metadata": meta}
        return copy.deepcopy(self.objects[path])
