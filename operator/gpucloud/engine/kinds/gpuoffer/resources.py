"""GpuOffers at the apiserver: list, create, update and delete them. No watch: they are listed once an interval."""

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
    """The part of the Kubernetes client that is used here."""

    def resources(self, plural: str, namespaces: tuple[str, ...]) -> AsyncIterator[dict[str, Any]]:
        """Yield all objects of a kind."""

    async def call(self, method: str, path: str, body: Any = None, **kinds: str) -> Any:
        """Send one request."""


class OfferResources:
    """The GpuOffers of one account at a time. Every method raises KubeError if the apiserver refuses or does not answer."""

    def __init__(self, kube: Apiserver) -> None:
        self._kube = kube

    async def listed(self, namespace: str) -> dict[str, ListedOffer]:
        """Return the GpuOffers of a namespace by name."""
        return {offer.name: offer async for offer in self._list(namespace)}

    async def create(self, owner: Owner, name: str, offer: GpuOffer) -> None:
        """Create an offer, owned by its account: Kubernetes' garbage collector deletes it after the account."""
        meta = {"name": name, "namespace": owner.namespace, "labels": MANAGED_BY, "ownerReferences": _references(owner)}
        body = {"apiVersion": API_VERSION, "kind": KIND, "metadata": meta, **content(offer)}
        await self._kube.call("POST", f"{_path(owner)}?fieldManager={FIELD_MANAGER}", body)

    async def update(self, owner: Owner, listed: ListedOffer, offer: GpuOffer) -> None:
        """Write all fields and the owner of an offer, if nobody has written it since it was listed. Labels stay."""
        fields: Mapping[str, Any] = dict.fromkeys(FIELDS) | content(offer)  # null removes
        meta = {"uid": listed.uid, "resourceVersion": listed.version, "ownerReferences": _references(owner)}
        path = f"{_path(owner)}/{quote(listed.name, safe='')}?fieldManager={FIELD_MANAGER}"
        await self._kube.call("PATCH", path, {"metadata": meta, **fields}, content_type="application/merge-patch+json")

    async def delete(self, owner: Owner, listed: ListedOffer) -> None:
        """Delete this very object, if nobody has written it since it was listed."""
        conditions = {"uid": listed.uid, "resourceVersion": listed.version}
        body = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": conditions}
        await self._kube.call("DELETE", f"{_path(owner)}/{quote(listed.name, safe='')}", body)

    async def _list(self, namespace: str) -> AsyncIterator[ListedOffer]:
        async for body in self._kube.resources(PLURAL, (namespace,)):
            meta = body["metadata"]
            owners = frozenset(str(item.get("uid")) for item in meta.get("ownerReferences") or ())
            fields = {name: body[name] for name in FIELDS if name in body}
            yield ListedOffer(str(meta["name"]), str(meta["uid"]), str(meta["resourceVersion"]), owners, fields)


def _references(owner: Owner) -> list[dict[str, Any]]:
    return [{"apiVersion": API_VERSION, "kind": ACCOUNT, "name": owner.name, "uid": owner.uid, "controller": True}]


def _path(owner: Owner) -> str:
    return f"/apis/{API_VERSION}/namespaces/{quote(owner.namespace, safe='')}/{PLURAL}"
