"""GpuOffers at the apiserver: listed by account, created, changed and deleted. They are read here and watched by nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from gpucloud.kinds.gpucloudaccount import KIND as ACCOUNT
from gpucloud.kinds.gpuoffer import KIND, PLURAL, GpuOffer
from gpucloud.kinds.meta import API_VERSION, FIELD_MANAGER
from gpucloud.reconcile.gpuoffer import ListedOffer
from gpucloud.reconcile.gpuoffer.decide import content

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from gpucloud.reconcile.gpuoffer import Owner

MANAGED_BY = {"app.kubernetes.io/managed-by": FIELD_MANAGER}  # for people; whose an offer is, its ownerReference says
FIELDS = tuple(field.alias or name for name, field in GpuOffer.model_fields.items())


class Apiserver(Protocol):
    """What is used of the Kubernetes client."""

    def resources(self, plural: str, namespaces: tuple[str, ...]) -> AsyncIterator[dict[str, Any]]:
        """Yield all objects of a kind."""

    async def call(self, method: str, path: str, body: Any = None, **kinds: str) -> Any:
        """Send one request."""


class OfferResources:
    """The GpuOffers of one account at a time. Every method raises KubeError if the apiserver refuses or does not answer."""

    def __init__(self, kube: Apiserver) -> None:
        self._kube = kube

    async def owned(self, owner: Owner) -> dict[str, ListedOffer]:
        """Return the GpuOffers that this account owns, by name. One that a person made has no such owner."""
        return {
            str(body["metadata"]["name"]): _listed(body)
            async for body in self._kube.resources(PLURAL, (owner.namespace,))
            if any(item.get("uid") == owner.uid for item in body["metadata"].get("ownerReferences") or ())
        }

    async def create(self, owner: Owner, name: str, offer: GpuOffer) -> None:
        """Create an offer, owned by its account: Kubernetes' garbage collector deletes it after the account."""
        reference = {"apiVersion": API_VERSION, "kind": ACCOUNT, "name": owner.name, "uid": owner.uid, "controller": True}
        meta = {"name": name, "namespace": owner.namespace, "labels": MANAGED_BY, "ownerReferences": [reference]}
        body = {"apiVersion": API_VERSION, "kind": KIND, "metadata": meta, **content(offer)}
        await self._kube.call("POST", f"{_path(owner)}?fieldManager={FIELD_MANAGER}", body)

    async def update(self, owner: Owner, listed: ListedOffer, offer: GpuOffer) -> None:
        """Write all fields of an offer, if nobody has written it since it was listed. Labels of others stay."""
        fields: Mapping[str, Any] = dict.fromkeys(FIELDS) | content(offer)  # null removes
        patch = {"metadata": {"uid": listed.uid, "resourceVersion": listed.version}, **fields}
        path = f"{_path(owner)}/{quote(listed.name, safe='')}?fieldManager={FIELD_MANAGER}"
        await self._kube.call("PATCH", path, patch, content_type="application/merge-patch+json")

    async def delete(self, owner: Owner, listed: ListedOffer) -> None:
        """Delete this very object, if nobody has written it since it was listed."""
        conditions = {"uid": listed.uid, "resourceVersion": listed.version}
        body = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": conditions}
        await self._kube.call("DELETE", f"{_path(owner)}/{quote(listed.name, safe='')}", body)


def _path(owner: Owner) -> str:
    return f"/apis/{API_VERSION}/namespaces/{quote(owner.namespace, safe='')}/{PLURAL}"


def _listed(body: Mapping[str, Any]) -> ListedOffer:
    meta = body["metadata"]
    fields = {name: body[name] for name in FIELDS if name in body}
    return ListedOffer(str(meta["name"]), str(meta["uid"]), str(meta["resourceVersion"]), fields)
