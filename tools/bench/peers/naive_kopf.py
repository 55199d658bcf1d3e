"""A peer of the benchmark: an operator for GpuVMs the way people usually write one with kopf. Run: ``kopf run -A``.

Creation in ``on.create``, a timer per object that asks the cloud about it, destruction in ``on.delete``, kopf's own settings.
A Ready object is asked about every STEADY_SECONDS only. It has none of the product's safeguards.
"""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import httpx
import kopf

if TYPE_CHECKING:
    from collections.abc import Mapping

PENDING_SECONDS = float(os.environ.get("PENDING_SECONDS", "10"))
STEADY_SECONDS = float(os.environ.get("STEADY_SECONDS", "60"))
SERVERS = "/api/v1/servers/virtual/"
KIND = ("gpucloud.dev", "v1alpha1", "gpuvms")


@kopf.on.startup()
async def start(memo: kopf.Memo, **_: Any) -> None:
    """Open one client for all objects."""
    key = {"Authorization": f"ApiKey {os.environ['CLOUD_KEY']}"}
    memo.cloud = httpx.AsyncClient(base_url=os.environ["CLOUD_URL"] + SERVERS, headers=key, timeout=30)


@kopf.on.cleanup()
async def stop(memo: kopf.Memo, **_: Any) -> None:
    """Close the client."""
    await memo.cloud.aclose()


@kopf.on.create(*KIND)
async def create(body: kopf.Body, patch: kopf.Patch, memo: kopf.Memo, **_: Any) -> None:
    """Create the VM, or take the one of that name."""
    spec = body.spec
    order = {"name": body.metadata.name, "cluster": spec["cluster"], "vpc": spec["vpc"]}
    order |= {"configuration": spec["configuration"], "ssh_keys": list(spec["sshKeys"])}
    try:
        answer = await memo.cloud.post("CreateServer", json=order)
        if answer.status_code == httpx.codes.CONFLICT:
            answer = await memo.cloud.get("GetServer", params=named(body))
        answer.raise_for_status()
    except httpx.HTTPError as error:
        raise kopf.TemporaryError(str(error) or repr(error), delay=PENDING_SECONDS) from error
    report(body, patch, answer.json())


@kopf.timer(*KIND, interval=PENDING_SECONDS)
async def look(body: kopf.Body, patch: kopf.Patch, memo: kopf.Memo, **_: Any) -> None:
    """Ask the cloud about this VM."""
    if "state" not in body.status:
        return
    if is_ready(body) and time.monotonic() - memo.get("looked", 0.0) < STEADY_SECONDS - 0.5:
        return
    answer = await memo.cloud.get("GetServer", params=named(body))
    if answer.status_code != httpx.codes.NOT_FOUND:
        answer.raise_for_status()
    memo.looked = time.monotonic()
    report(body, patch, {"status": "MISSING"} if answer.status_code == httpx.codes.NOT_FOUND else answer.json())


@kopf.on.delete(*KIND)
async def delete(body: kopf.Body, retry: int, memo: kopf.Memo, **_: Any) -> None:
    """Destroy the VM, and wait until it is gone."""
    try:
        if retry:
            answer = await memo.cloud.get("GetServer", params=named(body))
        else:
            answer = await memo.cloud.delete("DestroyServer", params=named(body))
    except httpx.HTTPError as error:
        raise kopf.TemporaryError(str(error) or repr(error), delay=PENDING_SECONDS) from error
    if answer.status_code != httpx.codes.NOT_FOUND:
        raise kopf.TemporaryError("the VM is still there", delay=PENDING_SECONDS)


def named(body: kopf.Body) -> dict[str, str]:
    """The parameters that name this VM."""
    return {"Id": body.metadata.name or "", "Namespace": body.spec["vpc"], "Cluster": body.spec["cluster"]}


def is_ready(body: kopf.Body) -> bool:
    """Whether the status says so."""
    return any(one["type"] == "Ready" and one["status"] == "True" for one in body.status.get("conditions", ()))


def report(body: kopf.Body, patch: kopf.Patch, record: Mapping[str, Any]) -> None:
    """Write the status if it differs; kopf sends the patch when the handler ends."""
    ready = record["status"] == "ONLINE"
    generation = body.metadata["generation"]
    found = {"state": record["status"], "vmId": record.get("id"), "ip": record.get("ip"), "privateIp": record.get("privateIp")}
    found["observedGeneration"] = generation
    if all(body.status.get(name) == value for name, value in found.items()):
        return
    condition = {
        "type": "Ready",
        "status": "True" if ready else "False",
        "reason": "Running" if ready else "Creating",
        "message": f"The cloud says {record['status']}",
        "observedGeneration": generation,
        "lastTransitionTime": transition(body, ready=ready),
    }
    patch.status.update({**found, "conditions": [condition]})


def transition(body: kopf.Body, *, ready: bool) -> str:
    """When Ready last flipped."""
    old = next((one for one in body.status.get("conditions", ()) if one["type"] == "Ready"), None)
    if old is not None and old["status"] == ("True" if ready else "False"):
        return str(old["lastTransitionTime"])
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
