"""The verdict of kstatus (what Flux and Helm 4 wait by) on an object, by its published rules for custom resources."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from support import argo

if TYPE_CHECKING:
    from support.kubectl import Kubectl


def verdict(item: dict[str, Any]) -> str:
    """``Terminating``, ``InProgress``, ``Failed`` or ``Current``."""
    meta, status = item["metadata"], item.get("status", {})
    if "deletionTimestamp" in meta:
        return "Terminating"
    if "observedGeneration" in status and status["observedGeneration"] != meta["generation"]:
        return "InProgress"
    conditions = status.get("conditions", [])
    for condition in conditions:  # whichever of the two stands first decides
        if condition["status"] == "True" and condition["type"] in {"Reconciling", "Stalled"}:
            return "InProgress" if condition["type"] == "Reconciling" else "Failed"
    ready = next((item for item in conditions if item["type"] == "Ready"), None)
    if ready is None:
        return "Current"
    return "Current" if ready["status"] == "True" else "InProgress"


def condition(item: dict[str, Any], kind: str) -> dict[str, Any] | None:
    """The condition of this type, if it stands."""
    return next((one for one in item.get("status", {}).get("conditions", []) if one["type"] == kind), None)


def ready(item: dict[str, Any]) -> str:
    """``status/reason`` of Ready."""
    found = condition(item, "Ready")
    return f"{found['status']}/{found['reason']}" if found else "-"


def progress(item: dict[str, Any]) -> str:
    """``Reconciling``, ``Stalled`` or ``-``; both at once is a broken contract."""
    standing = [kind for kind in ("Reconciling", "Stalled") if condition(item, kind)]
    assert len(standing) < 2, f"Reconciling and Stalled stand together: {item['status']}"
    return standing[0] if standing else "-"


ARGO = {"Current": "Healthy", "InProgress": "Progressing", "Failed": "Degraded"}  # and what kstatus says of the same


def assert_row(
    here: Kubectl, item: dict[str, Any], *, kstatus: str, standing: str, met: bool, observed: int | None = None
) -> None:
    """One row of the status table: what kstatus, Argo CD and ``kubectl wait`` conclude, and that nothing in it is stale."""
    meta, status = item["metadata"], item["status"]
    assert verdict(item) == kstatus
    assert argo.health(item)["status"] == ARGO.get(kstatus, ARGO["Failed" if standing == "Stalled" else "InProgress"])
    assert progress(item) == standing
    assert status["observedGeneration"] == (meta["generation"] if observed is None else observed)
    if folder := os.environ.get("ARGO_TESTDATA"):
        argo.keep(item, Path(folder))
    for one in status["conditions"]:
        assert one.get("observedGeneration", status["observedGeneration"]) == status["observedGeneration"]
        assert one["message"]
    waited = here.run("wait", f"{item['kind'].lower()}/{meta['name']}", "--for=condition=Ready", "--timeout=0s")
    assert (waited.returncode == 0) == met
