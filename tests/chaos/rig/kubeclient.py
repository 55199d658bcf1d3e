"""A light client of the apiserver for tests that look often: one connection a thread, no process a call.

It has the part of ``support.kubectl.Kubectl`` that waiting needs (``get``, ``list``), so ``support.waiting`` takes either.
"""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from pathlib import Path

OURS = "/apis/gpucloud.dev/v1alpha1"
PLURALS = {"GpuVM": "gpuvms", "GpuVpc": "gpuvpcs", "GpuSnapshot": "gpusnapshots", "GpuCloudAccount": "gpucloudaccounts"}
_CORE = {"Secret": "secrets", "ConfigMap": "configmaps", "Namespace": "namespaces"}
_APPLY = "application/apply-patch+yaml"
_MERGE = "application/merge-patch+json"


@dataclass(frozen=True)
class Cluster:
    """Where the apiserver is, whom it trusts, and by which token one is the administrator."""

    server: str
    ca: str
    token: str = field(repr=False)

    @classmethod
    def of(cls, kubeconfig: Path) -> Cluster:
        """Read a kubeconfig of the control planes of the tests."""
        config = json.loads(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        return cls(cluster["server"], base64.b64decode(cluster["certificate-authority-data"]).decode(), user["token"])


class KubeClient:
    """The administrator's hands in one namespace. ``acted``: when they last changed something, by the monotonic clock."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self.namespace = namespace
        self._cluster = cluster
        self._trust = ssl.create_default_context(cadata=cluster.ca)
        self._local = threading.local()
        self._opened: list[http.client.HTTPSConnection] = []
        self.acted = time.monotonic()

    def create_namespace(self) -> None:
        """Make the namespace itself."""
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}
        self.call("POST", "/api/v1/namespaces", body)

    def apply(self, manifests: dict[str, Any] | list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Apply on the server's side, in order, and return what stands now."""
        items = manifests if isinstance(manifests, list) else [manifests]
        return [self._apply(item) for item in items]

    def get(self, kind: str, name: str) -> dict[str, Any] | None:
        """Return an object, or None."""
        status, found = self.answer("GET", self._path(kind, name))
        return None if status == 404 else _checked(status, found)

    def list(self, kind: str) -> list[dict[str, Any]]:
        """All objects of a kind (or of several, with commas) in the namespace, each with its kind."""
        kinds = [self.call("GET", self._path(one)) for one in kind.split(",")]
        return [{**item, "kind": found["kind"].removesuffix("List")} for found in kinds for item in found["items"]]

    def events(self) -> list[dict[str, Any]]:
        """All Events of the namespace."""
        return list(self.call("GET", f"/apis/events.k8s.io/v1/namespaces/{self.namespace}/events")["items"])

    def patch(self, kind: str, name: str, body: dict[str, Any], *, subresource: str = "") -> dict[str, Any]:
        """Send a merge patch."""
        path = self._path(kind, name) + (f"/{subresource}" if subresource else "")
        return self.call("PATCH", path, body, _MERGE)

    def annotate(self, kind: str, name: str, **annotations: str | None) -> None:
        """Set annotations, or remove those given as None."""
        self.patch(kind, name, {"metadata": {"annotations": annotations}})

    def delete(self, kind: str, *names: str) -> None:
        """Ask for deletion and do not wait; what is not there is fine."""
        for name in names:
            status, found = self.answer("DELETE", self._path(kind, name))
            if status != 404:
                _checked(status, found)

    def call(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Any:
        """Any request that must succeed."""
        return _checked(*self.answer(method, path, body, content_type))

    def answer(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> tuple[int, Any]:
        """Any request: its status and document. A connection that has gone stale is opened anew, once."""
        if method != "GET":
            self.acted = time.monotonic()
        try:
            return self._ask(method, path, body, content_type)
        except (http.client.HTTPException, OSError):
            self._connection().close()  # the next request opens it anew
            return self._ask(method, path, body, content_type)

    def close(self) -> None:
        """Close the connections of all threads."""
        for connection in self._opened:
            connection.close()

    def _apply(self, item: dict[str, Any]) -> dict[str, Any]:
        path = self._path(item["kind"], item["metadata"]["name"])
        return dict(self.call("PATCH", f"{path}?fieldManager=tests&force=true", item, _APPLY))

    def _path(self, kind: str, name: str = "") -> str:
        plural = (PLURALS | _CORE).get(kind, kind.lower() if kind.lower().endswith("s") else f"{kind.lower()}s")
        if plural == "namespaces":
            return f"/api/v1/namespaces/{name}"
        root = OURS if plural in PLURALS.values() else "/api/v1"
        return f"{root}/namespaces/{self.namespace}/{plural}" + (f"/{name}" if name else "")

    def _ask(self, method: str, path: str, body: Any, content_type: str) -> tuple[int, Any]:
        connection = self._connection()
        headers = {"Authorization": f"Bearer {self._cluster.token}", "Content-Type": content_type}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else None

    def _connection(self) -> http.client.HTTPSConnection:
        connection: http.client.HTTPSConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            where = urlsplit(self._cluster.server)
            connection = http.client.HTTPSConnection(where.hostname or "", where.port, timeout=30, context=self._trust)
            self._local.connection = connection
            self._opened.append(connection)
        return connection


def _checked(status: int, found: Any) -> Any:
    assert status < 400, f"the apiserver answered {status}: {found and found.get('message')}"
    return found
