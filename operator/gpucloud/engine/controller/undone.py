"""Says who undoes the operator's status writes: the field managers of the status, as the apiserver records them.

A call to the cloud waits until the status announces it (docs/adr/0013), so whoever undoes each write holds up every call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.engine.kube.events import Event
from gpucloud.kinds.meta import APPLY_CRDS, FIELD_MANAGER, Reason
from gpucloud.reconcile.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gpucloud.engine.runtime.workqueue import Key

FIRST_TOLD, TOLD_EVERY = 3, 20  # undone writes in a row before the first Event, and between two: some twenty minutes


def is_told(undone: int) -> bool:
    """Whether an Event is due after so many undone writes in a row."""
    return undone >= FIRST_TOLD and (undone - FIRST_TOLD) % TOLD_EVERY == 0


def event(key: Key, managed_fields: Iterable[Mapping[str, Any]]) -> Event:
    """Return the Event that names who undoes the writes, and says what to do."""
    others = other_writers(managed_fields)
    if not others:
        words = (
            "Something overwrites each write of status, so calls that status announces first are not sent. Look for a webhook "
            f"that changes status, or apply the current CRDs: {APPLY_CRDS}"
        )
        return Event(Reason.STATUS_UNDONE, words, "WriteStatus", warning=True)
    see = f"kubectl get {key.kind.lower()} {key.name} -n {key.namespace} -o yaml --show-managed-fields"
    words = (
        f"{listed(others)} overwrites this object's status, so calls to the cloud that status announces first are not sent. "
        f"Keep other writers off status; to see who writes what: {see}"
    )
    return Event(Reason.STATUS_UNDONE, words, "WriteStatus", warning=True)


def other_writers(managed_fields: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the field managers, other than the operator's, that own fields of the status; who wrote last comes first."""
    latest: dict[str, str] = {}
    for entry in managed_fields:
        name, at = str(entry.get("manager") or ""), str(entry.get("time") or "")
        writes = entry.get("subresource") == "status" or "f:status" in (entry.get("fieldsV1") or {})
        if writes and name not in {"", FIELD_MANAGER}:
            latest[name] = max(at, latest.get(name, ""))
    return tuple(repr(name) for name in sorted(latest, key=lambda name: (latest[name], name), reverse=True))
