"""Manifests with defaults, so that a test says only what it is about."""

from __future__ import annotations

from typing import Any

PUBLIC_KEY = "ssh-ed25519 AAAAMADEUP nobody@example"


def gpuvm(name: str = "train", *, annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    fields = {"cluster": "Msc1", "configuration": "A100_40GB_PCIe_1x", "vpc": "acme", "sshKeys": [PUBLIC_KEY]}
    return {
        "apiVersion": "gpucloud.dev/v1alpha1",
        "kind": "GpuVM",
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {key: value for key, value in (fields | spec).items() if value is not None},
    }
