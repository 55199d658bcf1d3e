"""How people reach the apiserver in a history: kubectl's calls, at once and whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gpucloud.kinds import names
from gpucloud.kinds.meta import API_VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulation.world import World

PLURALS = {item.kind: item.plural for item in names.KINDS}
MERGE = {"Content-Type": "application/merge-patch+json"}
APPLY = {"Content-Type": "application/apply-patch+yaml"}
OBJECTS = ("GpuVM", "GpuVpc", "GpuSnapshot")
KEY_LINE = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMadeUpKey owner@example"


class People:
    """One person's kubectl."""

    def __init__(self, world: World, who: str) -> None:
        self._world = world
        self._who = who

    def call(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> dict[str, Any] | None:
        """Change something; None when the apiserver refuses."""
        text = None if body is None else json.dumps(body)
        answer = self._world.api.request(self._who, method, path, body=text, headers=headers or {})
        said = "" if body is None else " " + json.dumps(body, ensure_ascii=False)[:160]
        self._world.tell(self._who, f"{method} {path}{said}", str(answer.status))
        document: dict[str, Any] = json.loads(answer.text)
        return document if answer.status < 300 else None

    def get(self, path: str) -> Mapping[str, Any] | None:
        """What stands at a path; None for nothing."""
        return self._world.api.object(path)

    def all(self, *kinds: str) -> list[dict[str, Any]]:
        """Objects of these kinds, each with its kind."""
        return [{**body, "kind": kind} for kind in kinds for body in self._world.api.objects(PLURALS[kind])]

    def create(self, kind: str, namespace: str, name: str, spec: dict[str, Any], **meta: Any) -> dict[str, Any] | None:
        """Create an object."""
        body = {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name, **meta}, "spec": spec}
        return self.call("POST", f"/apis/{API_VERSION}/namespaces/{namespace}/{PLURALS[kind]}", body)

    def patch(self, item: dict[str, Any], change: dict[str, Any], subresource: str = "") -> dict[str, Any] | None:
        """Merge into an object."""
        return self.call("PATCH", f"{path_of(item)}{subresource}", change, MERGE)

    def annotate(self, item: dict[str, Any], **values: str | None) -> None:
        """Set or remove annotations under our domain."""
        said = {f"gpucloud.dev/{name.replace('_', '-')}": value for name, value in values.items()}
        self.patch(item, {"metadata": {"annotations": said}})

    def merge(self, path: str, change: dict[str, Any]) -> None:
        """Merge into whatever stands at this path."""
        self.call("PATCH", path, change, MERGE)

    def delete(self, item: dict[str, Any]) -> None:
        """Delete an object."""
        self.call("DELETE", path_of(item))

    def put_secret(self, namespace: str, name: str, data: dict[str, str | None]) -> None:
        """Write a Secret; what is None is taken out of it."""
        path = f"/api/v1/namespaces/{namespace}/secrets"
        if self.call("PATCH", f"{path}/{name}", {"data": data}, MERGE) is None:
            whole = {key: value for key, value in data.items() if value is not None}
            self.call("POST", path, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": whole})


def path_of(item: dict[str, Any]) -> str:
    """An object's path."""
    meta = item["metadata"]
    return f"/apis/{API_VERSION}/namespaces/{meta['namespace']}/{PLURALS[item['kind']]}/{meta['name']}"


def plain(item: dict[str, Any]) -> dict[str, Any]:
    """An object as it is sent: without its status."""
    return {"apiVersion": API_VERSION, "kind": item["kind"], "metadata": item["metadata"], "spec": item.get("spec", {})}
