"""A pod template as the Pod that a controller would make of it, to be judged by an apiserver."""

from __future__ import annotations

from typing import Any

RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}


def as_pod(name: str, template: dict[str, Any], namespace: str) -> dict[str, Any]:
    """The Pod; it never restarts where its template leaves that open, which changes nothing about its rights."""
    meta = {"name": name, "namespace": namespace, "labels": template["metadata"].get("labels", {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": template["spec"]}


def restricted_namespace(name: str) -> dict[str, Any]:
    """A namespace in which the apiserver enforces the restricted profile."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": RESTRICTED}}
