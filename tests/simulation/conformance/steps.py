"""What the scripts are made of: objects, conditions, patches and the paths of requests."""

from __future__ import annotations

from typing import Any

from simulation.conformance.playing import Ask

METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
A, STATUS = "gpuvpcs/a", "gpuvpcs/a/status"
MINE, THEIRS = "fieldManager=mine", "fieldManager=theirs"
HELD = ["example.org/held"]
AT = "2026-01-01T00:00:00Z"


def vpc(name: str = "a", *, spec: dict[str, Any] | None = None, status: Any = None, **meta: Any) -> dict[str, Any]:
    """A GpuVpc."""
    wanted = {"cluster": "c", "name": "acme"} if spec is None else spec
    body = {"apiVersion": "gpucloud.dev/v1alpha1", "kind": "GpuVpc", "metadata": {"name": name, **meta}, "spec": wanted}
    return body if status is None else body | {"status": status}


def status_of(status: Any, **meta: Any) -> dict[str, Any]:
    """What is applied to /status."""
    return {name: value for name, value in vpc(status=status, **meta).items() if name != "spec"}


def condition(kind: str = "Ready", **fields: Any) -> dict[str, Any]:
    """A condition."""
    return {"type": kind, "status": "True", "reason": "Done", "message": "m", "lastTransitionTime": AT, **fields}


def test(path: str, value: Any) -> dict[str, Any]:
    """The test of a JSON patch."""
    return {"op": "test", "path": path, "value": value}


def put(body: Any) -> dict[str, Any]:
    """The operation of a JSON patch that sets the finalizers."""
    return {"op": "add", "path": "/metadata/finalizers", "value": body}


def made(**meta: Any) -> Ask:
    """Create ``a`` and keep it."""
    return Ask(201, "POST", "gpuvpcs", vpc(**meta), save="a")


LEASE = {"holderIdentity": "me", "leaseDurationSeconds": 15, "renewTime": "2026-01-01T00:00:00.000000Z"}
EVENT = {
    "eventTime": "2026-01-01T00:00:00.000000Z",
    "reportingController": "gpucloud.dev/operator",
    "reportingInstance": "i",
    "action": "A",
    "reason": "R",
    "note": "n",
    "type": "Normal",
    "regarding": {"kind": "Namespace", "name": "x", "apiVersion": "v1", "namespace": "$ns.metadata.name"},
}
