"""Paths of the Kubernetes API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from gpucloud.kinds.meta import GROUP, VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

EVENTS = "/apis/events.k8s.io/v1/namespaces"
LEASES = "/apis/coordination.k8s.io/v1/namespaces"


def list_paths(plural: str, namespaces: tuple[str, ...]) -> list[str]:
    """Return the paths of the lists of a kind: one for each namespace, or one for all."""
    scopes = [f"/namespaces/{namespace}" for namespace in namespaces] or [""]
    return [f"/apis/{GROUP}/{VERSION}{scope}/{plural}" for scope in scopes]


def object_path(plural: str, owner: Mapping[str, Any]) -> str:
    """Return the path of an object of ours."""
    return f"/apis/{GROUP}/{VERSION}/namespaces/{owner['namespace']}/{plural}/{owner['name']}"


def core_path(namespace: str, resource: str, name: str) -> str:
    """Return the path. A name may come from a spec, so it is quoted: a slash in it must not lead to another resource."""
    return f"/api/v1/namespaces/{quote(namespace, safe='')}/{resource}/{quote(name, safe='')}"
