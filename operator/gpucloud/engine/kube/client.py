"""Client of the Kubernetes API for status, finalizers, Secrets by name, Events and the Lease; kopf does the watching.

One request is sent as ``sending`` says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.kube.paths import EVENTS, LEASES, core_path, list_paths, object_path
from gpucloud.engine.kube.sending import KubeSender
from gpucloud.kinds.meta import API_VERSION, FIELD_MANAGER, FINALIZER, GROUP, SECRET_FINALIZER, VERSION

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from gpucloud.engine.kube.transport import Connection, KubeTransport

PAGE = 500
METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"


@dataclass(frozen=True, slots=True)
class ListedVersions:
    """The resourceVersion of each listed object by UID, from consistent lists; 0 if the apiserver sends none."""

    versions: Mapping[str, int]


class KubeClient:
    """Typed calls over one transport. ``may_write`` is asked right before each write is sent."""

    def __init__(
        self,
        login: Callable[[], Connection],
        may_write: Callable[[], bool] = lambda: True,
        transport: KubeTransport | None = None,
    ) -> None:
        self._sender = KubeSender(login, may_write, transport)
        self._under_way = 0  # calls but those of Events

    @property
    def busy(self) -> bool:
        """Whether any call but one of an Event waits or is under way."""
        return self._under_way > 0

    async def aclose(self) -> None:
        """Close the transport."""
        await self._sender.aclose()

    async def replace_status(
        self, plural: str, kind: str, owner: Mapping[str, Any], status: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Replace the whole status by PUT, guarded by UID and resourceVersion: what others wrote into it is removed.

        The apiserver takes only the status from the body, so the body holds no spec.

        Raises:
            KubeError: ``conflict`` when the object has changed, ``gone`` when it does not exist.
        """
        body = {
            "apiVersion": API_VERSION,
            "kind": kind,
            "metadata": {name: owner[name] for name in ("name", "namespace", "uid", "resourceVersion")},
            "status": status,
        }
        return versioned(await self.call("PUT", f"{object_path(plural, owner)}/status?fieldManager={FIELD_MANAGER}", body))

    async def read(self, plural: str, owner: Mapping[str, Any]) -> dict[str, Any]:
        """Return the current object.

        Raises:
            KubeError: the object was deleted, another has its name, or the apiserver did not answer.
        """
        found = await self.find(plural, owner["namespace"], owner["name"])
        if found is None or found["metadata"]["uid"] != owner["uid"]:
            raise KubeError(404, "NotFound", "the object is gone")
        return found

    async def find(self, plural: str, namespace: str, name: str) -> dict[str, Any] | None:
        """Return an object of ours, or None. It is read by a list with a field selector, which needs no further right.

        Raises:
            KubeError: the apiserver did not answer.
        """
        (path,) = list_paths(plural, (namespace,))
        answer = await self.call("GET", f"{path}?fieldSelector=metadata.name%3D{quote(name, safe='')}")
        return next((dict(item) for item in items_of(answer)), None)

    async def add_finalizer(self, plural: str, owner: Mapping[str, Any]) -> dict[str, Any]:
        """Add our finalizer, guarded by resourceVersion; return the object.

        Raises:
            KubeError: as ``replace_status``.
        """
        return await self._set_finalizers(plural, owner, "add", [*owner.get("finalizers", ()), FINALIZER])

    async def release(self, plural: str, owner: Mapping[str, Any]) -> None:
        """Remove our finalizer, guarded by resourceVersion; keep all other finalizers.

        Raises:
            KubeError: as ``replace_status``.
        """
        others = [item for item in owner.get("finalizers", ()) if item != FINALIZER]
        await self._set_finalizers(plural, owner, "replace", others)

    async def _set_finalizers(self, plural: str, owner: Mapping[str, Any], op: str, finalizers: list[str]) -> dict[str, Any]:
        patch = [
            {"op": "test", "path": "/metadata/uid", "value": owner["uid"]},
            {"op": "test", "path": "/metadata/resourceVersion", "value": owner["resourceVersion"]},
            {"op": op, "path": "/metadata/finalizers", "value": finalizers},
        ]
        try:
            path, content_type = object_path(plural, owner), "application/json-patch+json"
            return versioned(await self.call("PATCH", path, patch, content_type=content_type))
        except KubeError as error:
            if error.status == 422:  # a test in the patch failed
                raise KubeError(409, "Conflict", "the object has changed") from error
            raise

    async def create_resource(self, plural: str, namespace: str, body: Mapping[str, Any]) -> None:
        """Create an object of ours, as ``body`` says without apiVersion.

        Raises:
            KubeError: ``conflict`` if an object of this name exists.
        """
        path = f"/apis/{GROUP}/{VERSION}/namespaces/{quote(namespace, safe='')}/{plural}?fieldManager={FIELD_MANAGER}"
        await self.call("POST", path, {"apiVersion": API_VERSION, **body})

    async def data_of(self, resource: str, namespace: str, name: str) -> dict[str, str] | None:
        """Return ``data`` of a Secret (still base64) or ConfigMap, read by name; None if it does not exist."""
        found = await self._find(core_path(namespace, resource, name))
        return None if found is None else found.get("data") or {}

    async def secret(self, namespace: str, name: str) -> dict[str, Any] | None:
        """Return a Secret, read by name; None if it does not exist.

        Raises:
            KubeError: the apiserver did not answer, or refused.
        """
        return await self._find(core_path(namespace, "secrets", name))

    async def set_secret_finalizer(self, namespace: str, name: str, *, held: bool) -> None:
        """Add our finalizer to a Secret (``held``) or remove it, guarded by resourceVersion; nothing else changes.

        No finalizer is added to a Secret that is being deleted.

        Raises:
            KubeError: as ``replace_status``.
        """
        found = await self.secret(namespace, name)
        if found is None:
            return
        meta = found["metadata"]
        finalizers = [item for item in meta.get("finalizers", ()) if item != SECRET_FINALIZER]
        wanted = [*finalizers, SECRET_FINALIZER] if held else finalizers
        if wanted == meta.get("finalizers", []) or (held and "deletionTimestamp" in meta):
            return
        patch = {"metadata": {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"], "finalizers": wanted}}
        path = core_path(namespace, "secrets", name)
        await self.call("PATCH", path, patch, content_type="application/merge-patch+json")

    async def namespace(self, namespace: str) -> dict[str, Any] | None:
        """Return the namespace's metadata; None if it does not exist.

        Raises:
            KubeError: the apiserver did not answer, or refused.
        """
        found = await self._find(f"/api/v1/namespaces/{namespace}")
        return None if found is None else dict(found["metadata"])

    async def cluster_uid(self) -> str:
        """Return the identity of the Kubernetes cluster: the UID of its kube-system namespace."""
        found = await self.call("GET", "/api/v1/namespaces/kube-system")
        return str(found["metadata"]["uid"])

    async def check_listing(self, plural: str, namespaces: tuple[str, ...]) -> None:
        """List one object of a kind in each namespace.

        Raises:
            KubeError: the kind is not defined, it may not be listed, or the apiserver did not answer.
        """
        for path in list_paths(plural, namespaces):
            await self.call("GET", f"{path}?limit=1", accept=METADATA_ONLY)

    async def uids(self, plural: str, namespaces: tuple[str, ...]) -> set[str]:
        """Return the UIDs of all objects of a kind, as ``list_versions``."""
        return set((await self.list_versions(plural, namespaces)).versions)

    async def list_versions(self, plural: str, namespaces: tuple[str, ...]) -> ListedVersions:
        """List UIDs and versions of all objects of a kind, by paged metadata-only lists.

        Raises:
            KubeError: the apiserver did not answer, or refused.
        """
        versions: dict[str, int] = {}
        for path in list_paths(plural, namespaces):
            async for items in self._pages(path, accept=METADATA_ONLY):
                for item in items:
                    version = str(item["metadata"].get("resourceVersion", ""))
                    versions[str(item["metadata"]["uid"])] = int(version) if version.isdecimal() else 0
        return ListedVersions(versions)

    async def resources(self, plural: str, namespaces: tuple[str, ...]) -> AsyncIterator[dict[str, Any]]:
        """Yield all objects of a kind, whole, page by page.

        Raises:
            KubeError: as ``list_versions``.
        """
        for path in list_paths(plural, namespaces):
            async for items in self._pages(path, accept="application/json"):
                for item in items:
                    yield item

    async def review(self, group: str, resource: str, kind: str, spec: Mapping[str, Any]) -> dict[str, Any]:
        """Return the status of a TokenReview or SubjectAccessReview, which the apiserver does not store.

        Raises:
            KubeError: the apiserver did not answer, or refused.
        """
        body = {"apiVersion": f"{group}/v1", "kind": kind, "spec": spec}
        answer = await self.call("POST", f"/apis/{group}/v1/{resource}", body)
        status: dict[str, Any] = answer.get("status") or {}
        return status

    async def record_event(self, namespace: str, event: Mapping[str, Any]) -> None:
        """Create one events.k8s.io/v1 Event."""
        await self._sender.send("POST", f"{EVENTS}/{quote(namespace, safe='')}/events", event)

    async def repeat_event(self, event: Mapping[str, Any], series: Mapping[str, Any]) -> None:
        """Update the count and the last time of a repeated Event.

        Raises:
            KubeError: ``gone`` when it has expired.
        """
        meta = event["metadata"]
        path = f"{EVENTS}/{quote(meta['namespace'], safe='')}/events/{quote(meta['name'], safe='')}"
        await self._sender.send("PATCH", path, {"series": series}, content_type="application/merge-patch+json")

    async def lease(self, namespace: str, name: str) -> dict[str, Any] | None:
        """Return a Lease; None if it does not exist.

        Raises:
            KubeError: the apiserver did not answer, or refused.
        """
        found = await self._find(f"{LEASES}/{quote(namespace, safe='')}/leases/{quote(name, safe='')}")
        return None if found is None else versioned(found)

    async def create_lease(self, lease: Mapping[str, Any]) -> dict[str, Any]:
        """Create a Lease.

        Raises:
            KubeError: ``conflict`` if a Lease of this name exists.
        """
        return versioned(await self.call("POST", f"{LEASES}/{quote(lease['metadata']['namespace'], safe='')}/leases", lease))

    async def replace_lease(self, lease: Mapping[str, Any]) -> dict[str, Any]:
        """Replace a Lease, guarded by the resourceVersion that it was read with.

        Raises:
            KubeError: as ``replace_status``.
        """
        meta = lease["metadata"]
        path = f"{LEASES}/{quote(meta['namespace'], safe='')}/leases/{quote(meta['name'], safe='')}"
        return versioned(await self.call("PUT", path, lease))

    async def _find(self, path: str) -> dict[str, Any] | None:
        """Return an object; None if it does not exist."""
        try:
            return dict(await self.call("GET", path))
        except KubeError as error:
            if error.status == 404:
                return None
            raise

    async def _pages(self, path: str, *, accept: str) -> AsyncIterator[list[dict[str, Any]]]:
        token = ""
        while True:
            page = await self.call("GET", f"{path}?limit={PAGE}{token}", accept=accept)
            yield items_of(page)
            following = (page.get("metadata") or {}).get("continue")
            if not following:
                return
            token = f"&continue={following}"

    async def call(self, method: str, path: str, body: Any = None, **kinds: str) -> Any:
        """Send one request and return the document of its answer; ``kinds``: ``content_type`` and ``accept``.

        Raises:
            KubeError: the apiserver did not answer, or refused.
        """
        self._under_way += 1
        try:
            return await self._sender.send(method, path, body, **kinds)
        finally:
            self._under_way -= 1


def versioned(found: dict[str, Any]) -> dict[str, Any]:
    """Return the object if it has a resourceVersion, which the next write needs; else the answer is malformed."""
    if not (found.get("metadata") or {}).get("resourceVersion"):
        raise KubeError(0, "Malformed", "the answer is not an object")
    return found


def items_of(page: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the objects of a list; an answer that is none is malformed, and proves nothing of what it does not name."""
    items = page.get("items", page)  # null when it is empty
    if items is not None and not isinstance(items, list):
        raise KubeError(0, "Malformed", "the answer is not a list")
    return items or []
