"""Read a control plane's audit log: who asked the apiserver for what, and how often."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

READS = frozenset({"get", "list", "watch"})


@dataclass(frozen=True, order=True)
class Request:
    """One answered request, as much of it as tells requests apart."""

    user: str
    verb: str
    resource: str
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    code: int = 200
    group: str = ""
    forbidden: bool = False  # by RBAC; a 403 may be an admission's as well: nothing new is taken in a namespace that ends
    at: float = field(default=0.0, compare=False)  # when it was answered, in seconds since 1970

    @property
    def object(self) -> str:
        """``namespace/name``, either of which may be empty."""
        return f"{self.namespace}/{self.name}"

    @property
    def is_read(self) -> bool:
        return self.verb in READS

    @property
    def is_event(self) -> bool:
        return self.resource == "events"


class AuditLog:
    """A window on the log: ``since_now()`` opens one at its present end, so tests do not see each other's requests."""

    def __init__(self, path: Path, offset: int = 0) -> None:
        self._path = path
        self._offset = offset

    def since_now(self) -> AuditLog:
        return AuditLog(self._path, self._path.stat().st_size if self._path.exists() else 0)

    def requests(
        self, *, user: str | None = None, namespace: str | None = None, reads: bool = True, events: bool = True
    ) -> list[Request]:
        """All requests in the order of their answers, by user and namespace, without reads or events on request."""
        return [
            request
            for request in self._all()
            if (user is None or request.user == user)
            and (namespace is None or request.namespace == namespace)
            and (reads or not request.is_read)
            and (events or not request.is_event)
        ]

    def counts(
        self, *, user: str | None = None, namespace: str | None = None, reads: bool = True, events: bool = True
    ) -> Counter[tuple[str, str, str, str, str]]:
        """Count requests by (user, verb, resource, subresource, namespace/name)."""
        found = self.requests(user=user, namespace=namespace, reads=reads, events=events)
        return Counter((one.user, one.verb, one.resource, one.subresource, one.object) for one in found)

    def _all(self) -> list[Request]:
        if not self._path.exists():
            return []
        with self._path.open("rb") as file:
            file.seek(self._offset)
            lines = file.read().split(b"\n")
        return [_parse(line) for line in lines[:-1]]  # what follows the last line break is not finished yet


def _parse(line: bytes) -> Request:
    entry = json.loads(line)
    target = entry.get("objectRef", {})
    user = entry.get("impersonatedUser") or entry["user"]
    return Request(
        user=user["username"],
        verb=entry["verb"],
        resource=target.get("resource", entry["requestURI"]),
        subresource=target.get("subresource", ""),
        namespace=target.get("namespace", ""),
        name=target.get("name", ""),
        group=target.get("apiGroup", ""),
        code=entry.get("responseStatus", {}).get("code", 0),
        forbidden=entry.get("annotations", {}).get("authorization.k8s.io/decision") == "forbid",
        at=datetime.fromisoformat(entry["stageTimestamp"]).timestamp(),
    )
