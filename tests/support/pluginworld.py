"""Objects as the apiserver shows them to the plugin, with defaults, so that a test says only what it is about."""

from __future__ import annotations

from typing import Any

from gpucloud.cli.plugin.model.objects import Thing, thing

CREATED = "2026-01-01T00:00:00Z"
PROGRESS = {"Stalled": "Stalled", "Working": "Reconciling"}


def a_body(kind: str, name: str, how: str = "Ready", reason: str = "", **more: Any) -> dict[str, Any]:
    """``how`` is a word of ``Standing``; ``spec``, ``status``, ``annotations``, ``labels`` and ``namespace`` add to it."""
    generation, unseen = 2, how == "Unseen"
    ready = {"Ready": "True", "Unknown": "Unknown", "Unseen": "Unknown"}.get(how, "False")
    why = reason or {"Ready": "Running", "Unseen": "Pending"}.get(how, "Creating")
    message = more.get("message", _waiting(more.get("spec", {})) if why == "DependencyNotReady" else f"{name} is {why}.")
    kinds = [("Ready", ready), *([(PROGRESS[how], "True")] if how in PROGRESS else [])]
    conditions = [
        {"type": kind, "status": status, "reason": why, "message": message, "lastTransitionTime": CREATED}
        for kind, status in kinds
    ]
    meta = {
        "name": name,
        "namespace": more.get("namespace", "team"),
        "uid": more.get("uid", f"uid-of-{kind}-{name}"),
        "resourceVersion": "1",
        "generation": generation,
        "creationTimestamp": CREATED,
        "annotations": more.get("annotations", {}),
        "labels": more.get("labels", {}),
        "finalizers": ["gpucloud.dev/finalizer"],
    }
    if how == "Deleting" or more.get("deleting"):
        meta["deletionTimestamp"] = more.get("deleting") or CREATED
    status = {"observedGeneration": -1 if unseen else generation, "conditions": conditions, **more.get("status", {})}
    return {
        "apiVersion": "gpucloud.dev/v1alpha1",
        "kind": kind,
        "metadata": meta,
        "spec": more.get("spec", {}),
        "status": status,
    }


def _waiting(spec: dict[str, Any]) -> str:
    """The operator's words on the objects that the spec names."""
    named = {"GpuVpc": spec.get("vpcRef"), "GpuVM": spec.get("vmRef"), "GpuSnapshot": spec.get("image", {}).get("snapshotRef")}
    words = [f"Waiting for {kind} {it['name']!r} to become Ready." for kind, it in named.items() if it is not None]
    return " ".join(words)


def a_thing(kind: str, name: str, how: str = "Ready", reason: str = "", **more: Any) -> Thing:
    """The same, as the plugin reads it."""
    return thing(kind, a_body(kind, name, how, reason, **more))


def a_vm(name: str = "train", how: str = "Ready", reason: str = "", **more: Any) -> Thing:
    """A GpuVM in the GpuVpc lab."""
    spec = {"cluster": "Msc1", "configuration": "A100_40GB_PCIe_1x", "vpcRef": {"name": "lab"}}
    return a_thing("GpuVM", name, how, reason, **{"spec": spec, **more})


def an_account(name: str = "default", how: str = "Ready", reason: str = "Connected", **more: Any) -> Thing:
    """A GpuCloudAccount."""
    return a_thing("GpuCloudAccount", name, how, reason, **{"spec": {"secretRef": {"name": "credential"}}, **more})


def a_vpc(name: str = "lab", how: str = "Ready", reason: str = "Available", **more: Any) -> Thing:
    """A GpuVpc."""
    own = {"spec": {"cluster": "Msc1", "name": f"acme-{name}"}, "status": {"vpcId": f"id-of-{name}"}}
    return a_thing("GpuVpc", name, how, reason, **{**own, **more})


def a_snapshot(name: str = "before", how: str = "Ready", reason: str = "Completed", of: str = "train", **more: Any) -> Thing:
    """A GpuSnapshot of a GpuVM."""
    return a_thing("GpuSnapshot", name, how, reason, **{"spec": {"vmRef": {"name": of}}, **more})
