"""Manifests with defaults, so that a test says only what it is about."""

from __future__ import annotations

import base64
from typing import Any

PUBLIC_KEY = "ssh-ed25519 AAAAMADEUP nobody@example"


def gpuvm(name: str = "train", *, annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    """A VM in the VPC acme; for one in a GpuVpc say ``vpc=None, vpcRef={"name": ...}``."""
    fields = {"cluster": "Msc1", "configuration": "A100_40GB_PCIe_1x", "vpc": "acme", "sshKeys": [PUBLIC_KEY]}
    return _manifest("GpuVM", name, annotations, fields | spec)


def gpuvpc(name: str = "lab", /, *, annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    """The VPC acme-lab; ``name`` is the object's when it stands first, else the VPC's."""
    return _manifest("GpuVpc", name, annotations, {"cluster": "Msc1", "name": "acme-lab"} | spec)


def gpusnapshot(name: str = "before", /, *, annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    """A snapshot of the GpuVM train."""
    return _manifest("GpuSnapshot", name, annotations, {"vmRef": {"name": "train"}} | spec)


def gpuhost(name: str = "metal", /, *, annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    """The host bm-128 of the simulated cloud."""
    return _manifest("GpuHost", name, annotations, {"cluster": "Msc1", "hostId": "bm-128"} | spec)


def gpucloudaccount(name: str = "default", /, *, annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    """The account that the objects of its namespace use unless they say otherwise."""
    return _manifest("GpuCloudAccount", name, annotations, {"secretRef": {"name": "cloud-credential"}} | spec)


def secret(name: str = "cloud-credential", /, **data: str) -> dict[str, Any]:
    """A Secret with these keys."""
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": encoded}


def _manifest(kind: str, name: str, annotations: dict[str, str] | None, spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "gpucloud.dev/v1alpha1",
        "kind": kind,
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {key: value for key, value in spec.items() if value is not None},
    }
