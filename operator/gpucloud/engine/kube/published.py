"""ConfigMaps, Services and EndpointSlices that publish a VM's address: read by name, and never touched unless the VM owns them.

A write whose answer was lost may reach the apiserver late, after the object was withdrawn. So an object is created without any
address, and filled by an update that names its uid and resourceVersion: after a deletion such an update changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import quote

from gpucloud.engine.kube.client import versioned
from gpucloud.engine.kube.errors import KubeError
from gpucloud.kinds.gpuvm import KIND
from gpucloud.kinds.meta import API_VERSION, FIELD_MANAGER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpucloud.reconcile.facts import ObjectFacts

MANAGED_BY = {"app.kubernetes.io/managed-by": FIELD_MANAGER}


class ResourceType(NamedTuple):
    """How a resource is served."""

    root: str
    api_version: str
    kind: str


TYPES = {
    "configmaps": ResourceType("/api/v1", "v1", "ConfigMap"),
    "services": ResourceType("/api/v1", "v1", "Service"),
    "endpointslices": ResourceType("/apis/discovery.k8s.io/v1", "discovery.k8s.io/v1", "EndpointSlice"),
}


@dataclass(frozen=True, slots=True)
class Publication:
    """An object to publish: ``fields`` in full, and ``empty`` as it is created, without an address.

    ``fixed`` fields cannot be changed in place.
    """

    resource: str
    name: str
    fields: Mapping[str, Any]
    empty: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    fixed: tuple[str, ...] = ()


class NotOwnedError(Exception):
    """An object of this name exists, and the VM does not own it."""

    def __init__(self, resource: str, name: str) -> None:
        super().__init__(f"{TYPES[resource].kind} {name!r}")


class NotCurrentError(Exception):
    """What was decided upon has changed meanwhile: nothing more is written."""


class Apiserver(Protocol):
    """What is used of the Kubernetes client."""

    async def call(self, method: str, path: str, body: Any = None, **kinds: str) -> Any:
        """Send one request."""


class Publications:
    """The published objects of one VM. ``is_current`` is asked right before each write.

    Every method raises KubeError if the apiserver refuses or does not answer, and NotCurrentError.
    """

    def __init__(self, kube: Apiserver, owner: ObjectFacts, is_current: Callable[[], bool]) -> None:
        self._kube, self._owner, self._is_current = kube, owner, is_current

    async def put(self, wanted: Publication) -> bool:
        """Create or update an object; return whether anything was written.

        Raises:
            NotOwnedError: an object of this name exists, and is not the VM's.
        """
        found = await self._find(wanted.resource, wanted.name)
        if found is not None and not self._owns(found):
            raise NotOwnedError(wanted.resource, wanted.name)
        if found is not None and any(found.get(name) != wanted.fields[name] for name in wanted.fixed):
            await self._delete(wanted.resource, found)
            found = None
        created = found is None
        if found is None:
            found = await self._write("POST", wanted.resource, "", self._new(wanted))
        fields = {**wanted.fields, "metadata": {"labels": {**MANAGED_BY, **wanted.labels}}}
        merged = _merged(found, fields)
        if merged != found:
            await self._write("PUT", wanted.resource, wanted.name, merged)
        return created or merged != found

    async def remove(self, resource: str, name: str) -> bool:
        """Delete an object of the VM; return whether there was one. An object that the VM does not own is left as it is."""
        found = await self._find(resource, name)
        if found is None or not self._owns(found):
            return False
        await self._delete(resource, found)
        return True

    async def _find(self, resource: str, name: str) -> dict[str, Any] | None:
        try:
            return versioned(await self._kube.call("GET", self._path(resource, name)))
        except KubeError as error:
            if error.status == 404:
                return None
            raise

    async def _write(self, method: str, resource: str, name: str, body: Any) -> dict[str, Any]:
        if not self._is_current():
            raise NotCurrentError
        return versioned(await self._kube.call(method, f"{self._path(resource, name)}?fieldManager={FIELD_MANAGER}", body))

    async def _delete(self, resource: str, found: Mapping[str, Any]) -> None:
        """Delete this very version of an object. An answer that is the object says that finalizers of others keep it."""
        meta = found["metadata"]
        conditions = {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}
        body = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": conditions, "propagationPolicy": "Background"}
        if not self._is_current():
            raise NotCurrentError
        answer = await self._kube.call("DELETE", self._path(resource, meta["name"]), body)
        if (answer.get("metadata") or {}).get("finalizers"):
            raise KubeError(409, "Finalizers", f"finalizers keep {TYPES[resource].kind} {meta['name']!r}: remove them")

    def _owns(self, found: Mapping[str, Any]) -> bool:
        return any(item.get("uid") == self._owner.uid for item in found["metadata"].get("ownerReferences") or ())

    def _new(self, wanted: Publication) -> dict[str, Any]:
        """Return the object as it is created; Kubernetes' garbage collector deletes it after the VM's object."""
        owner, kind = self._owner, TYPES[wanted.resource]
        reference = {"apiVersion": API_VERSION, "kind": KIND, "name": owner.name, "uid": owner.uid, "controller": True}
        meta = {"name": wanted.name, "namespace": owner.namespace, "labels": {**MANAGED_BY, **wanted.labels}}
        return {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": {**meta, "ownerReferences": [reference]},
            **wanted.empty,
        }

    def _path(self, resource: str, name: str) -> str:
        root = f"{TYPES[resource].root}/namespaces/{quote(self._owner.namespace, safe='')}/{resource}"
        return f"{root}/{quote(name, safe='')}" if name else root


def _merged(found: Any, wanted: Any) -> Any:
    """Return what was found with the wanted fields in it; None removes one. Lists of equal length are merged by position."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        rest = {name: value for name, value in found.items() if not (name in wanted and wanted[name] is None)}
        return rest | {name: _merged(found.get(name), value) for name, value in wanted.items() if value is not None}
    if isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        return [_merged(one, other) for one, other in zip(found, wanted, strict=True)]
    return wanted
