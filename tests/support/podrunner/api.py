"""What a kubelet asks of an apiserver, and no more: pods, what they mount, their tokens, their statuses."""

from __future__ import annotations

import base64
import json
import ssl
from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    from pathlib import Path

NODE = "this-machine"
_TRIES = 4  # a kubelet asks again when the apiserver is too busy to answer
_MERGE = {"Content-Type": "application/merge-patch+json"}


class Api:
    """The administrator's connection. Threads may share it."""

    def __init__(self, kubeconfig: Path) -> None:
        config = json.loads(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        trust = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        self.server: str = cluster["server"]
        self._client = httpx.Client(
            base_url=f"{self.server}/api/v1",
            headers={"Authorization": f"Bearer {user['token']}"},
            verify=trust,
            trust_env=False,
            timeout=30,
        )

    def pods(self) -> list[dict[str, Any]]:
        return list(self._answer("GET", "/pods")["items"])

    def services(self) -> list[dict[str, Any]]:
        return list(self._answer("GET", "/services")["items"])

    def data(self, plural: str, namespace: str, name: str) -> dict[str, bytes] | None:
        """What a Secret or a ConfigMap holds, or None where there is none."""
        found = self._answer("GET", f"/namespaces/{namespace}/{plural}/{name}", missing=True)
        if found is None:
            return None
        if plural == "secrets":
            return {key: base64.b64decode(value) for key, value in found.get("data", {}).items()}
        return {key: value.encode() for key, value in found.get("data", {}).items()}

    def token(self, pod: dict[str, Any], seconds: int) -> str | None:
        """A token of the pod's service account, which ends with the pod; None where the namespace is going."""
        meta = pod["metadata"]
        bound = {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"]}
        body = {"spec": {"expirationSeconds": seconds, "boundObjectRef": bound}}
        path = f"/namespaces/{meta['namespace']}/serviceaccounts/{pod['spec']['serviceAccountName']}/token"
        made = self._answer("POST", path, json=body, missing=True)
        return None if made is None else str(made["status"]["token"])

    def be_a_node(self, port: int) -> None:
        """Make the Node that pods are scheduled to; at this port of loopback the apiserver asks for their logs."""
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}}
        self._answer("POST", "/nodes", json=node)
        status = {
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
        }
        self._answer("PATCH", f"/nodes/{NODE}/status", json={"status": status}, headers=_MERGE)

    def take(self, pod: dict[str, Any]) -> None:
        """Schedule the pod here; from now on its deletion waits for us."""
        body = {"metadata": {"name": pod["metadata"]["name"]}, "target": {"kind": "Node", "name": NODE}}
        self._answer("POST", f"{_path(pod)}/binding", json=body, missing=True)

    def write_status(self, pod: dict[str, Any], status: dict[str, Any]) -> None:
        """Replace these fields of the status, if it is still this pod."""
        body = {"metadata": {"uid": pod["metadata"]["uid"]}, "status": status}
        self._answer("PATCH", f"{_path(pod)}/status", json=body, headers=_MERGE, missing=True)

    def remove(self, pod: dict[str, Any]) -> None:
        """Say that nothing of the pod runs any more: the object goes."""
        body = {"gracePeriodSeconds": 0, "preconditions": {"uid": pod["metadata"]["uid"]}}
        self._answer("DELETE", _path(pod), json=body, missing=True)

    def close(self) -> None:
        self._client.close()

    def _answer(self, method: str, path: str, *, missing: bool = False, **more: Any) -> Any:
        """With ``missing``, that the object or its namespace goes, or is another by now, is an answer: None."""
        answer = self._tried(method, path, **more)
        if missing and (answer.status_code in {404, 409} or "NamespaceTerminating" in answer.text):
            return None
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json()

    def _tried(self, method: str, path: str, **more: Any) -> httpx.Response:
        for _ in range(_TRIES - 1):
            try:
                return self._client.request(method, path, **more)
            except httpx.TransportError:
                continue
        return self._client.request(method, path, **more)


def _path(pod: dict[str, Any]) -> str:
    return f"/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
