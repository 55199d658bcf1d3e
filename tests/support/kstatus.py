"""The verdict of kstatus (what Flux and Helm 4 wait by) on an object, by its published rules for custom resources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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


def assert_row(
    here: Kubectl, item: dict[str, Any], *, kstatus: str, standing: str, met: bool, observed: int | None = None
) -> None:
    """One row of the status table: what kstatus and ``kubectl wait`` conclude, and that nothing in the status is stale."""
    meta, status = item["metadata"], item["status"]
    assert verdict(item) == kstatus
    assert progress(item) == standing
    assert status["observedGeneration"] == (meta["generation"] if observed is None else observed)
    for one in status["conditions"]:
        assert one.get("observedGeneration", status["observedGeneration"]) == status["observedGeneration"]
        assert one["message"]
    waited = here.run("wait", f"{item['kind'].lower()}/{meta['name']}", "--for=condition=Ready", "--timeout=0s")
    assert (waited.returncode == 0) == met
