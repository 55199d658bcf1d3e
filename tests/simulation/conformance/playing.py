"""Plays scripts to an apiserver, and writes down what it answered in a form that two servers can be compared by."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from simulation.apiserver.patches import merged

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from simulation.apiserver.server import ApiServer

ROOTS = {
    **dict.fromkeys(("gpuvms", "gpuvpcs", "gpusnapshots", "gpucloudaccounts"), "/apis/gpucloud.dev/v1alpha1"),
    **dict.fromkeys(("secrets", "configmaps"), "/api/v1"),
    "leases": "/apis/coordination.k8s.io/v1",
    "events": "/apis/events.k8s.io/v1",
}
TYPES = {
    "apply": "application/apply-patch+yaml",
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "": "application/json",
}
LAST = "zz-the-last"


class Ask(NamedTuple):
    """One request, and the status that it is answered with. ``save``: under which name the answer is kept.

    A path is one of the resources of the script's namespace, or absolute with ``{ns}``. In a body ``"$a.metadata.uid"``
    is a part of the kept answer ``a``, and ``{"$from": "a", ...}`` that answer with a merge patch; null removes.
    """

    status: int
    method: str
    path: str
    body: Any = None
    type: str = ""
    save: str = ""
    accept: str = "application/json"


class Watch(NamedTuple):
    """A watch from a version on, to be read for a moment."""

    path: str
    version: str


Step = Ask | Watch


class Server(Protocol):
    """An apiserver to play to."""

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: str | None) -> tuple[int, str]:
        """Status and text."""

    def events(self, path: str, version: str, last: str) -> list[dict[str, Any]]:
        """The events of a watch until the object of the name ``last`` appears; without a name, those of a moment."""


@dataclass(frozen=True)
class InMemory:
    """The apiserver in memory."""

    api: ApiServer

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: str | None) -> tuple[int, str]:
        found = self.api.request("conformance", method, path, headers=headers, body=body)
        return found.status, found.text

    def events(self, path: str, version: str, last: str) -> list[dict[str, Any]]:  # noqa: ARG002
        return self.api.watch(path, resource_version=version).poll()


@dataclass
class Player:
    """Plays one script in a namespace of its own."""

    server: Server
    namespace: str
    kept: dict[str, Any] = field(default_factory=dict)
    told: list[Any] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    _list_version: str = ""

    def play(self, steps: Iterable[Step], watched: Sequence[str] = ("gpuvpcs", "secrets")) -> list[Any]:
        """The answers to a script, then the events of ``watched`` since its beginning."""
        self._create("/api/v1/namespaces", {"metadata": {"name": self.namespace}})
        before = {kind: self._send("GET", self.path(kind))[1]["metadata"]["resourceVersion"] for kind in watched}
        for step in steps:
            self.told.append(self._watch(step) if isinstance(step, Watch) else self._ask(step))
        for kind in watched if self._alive() else ():
            self._create(self.path(kind), LAST_OBJECTS[kind])
            found = self.server.events(self.path(kind), before[kind], LAST)
            self.told.append([{"type": event["type"], "object": event["object"]} for event in found])
        return Comparable(self.namespace).of(self.told)

    def path(self, path: str) -> str:
        """The whole path of a step."""
        if path.startswith("/"):
            return path.format(ns=self.namespace)
        return f"{ROOTS[path.partition('/')[0].partition('?')[0]]}/namespaces/{self.namespace}/{self._filled_text(path)}"

    def _filled_text(self, text: str) -> str:
        head, mark, reference = text.partition("$")
        return head + str(self._looked_up(reference)) if mark else text

    def _ask(self, step: Ask) -> Any:
        body = step.body if isinstance(step.body, str) or step.body is None else json.dumps(self._filled(step.body))
        status, document = self._send(step.method, self.path(step.path), body, step.type, step.accept)
        self.statuses.append(status)
        if step.save and status < 300:
            self.kept[step.save] = document
        if str(document.get("kind", "")).endswith("List"):
            version, document["metadata"]["resourceVersion"] = document["metadata"]["resourceVersion"], ""
            document["metadata"]["same"] = "continue=" in step.path and version == self._list_version
            self._list_version = version
        return {"status": status, "document": document}

    def _watch(self, step: Watch) -> Any:
        return self.server.events(self.path(step.path), step.version, "")

    def _send(self, method: str, path: str, body: str | None = None, kind: str = "", accept: str = "application/json") -> Any:
        headers = {"Content-Type": TYPES[kind], "Accept": accept, "User-Agent": "conformance/1"}
        status, text = self.server.answer(method, path, headers, body)
        return status, json.loads(text)

    def _create(self, path: str, body: Any) -> None:
        status, document = self._send("POST", path, json.dumps(body))
        assert status == 201, document

    def _alive(self) -> bool:
        return bool(self._send("GET", f"/api/v1/namespaces/{self.namespace}")[1].get("status", {}).get("phase") == "Active")

    def _filled(self, body: Any) -> Any:
        if isinstance(body, str) and body.startswith("$"):
            return self._looked_up(body[1:])
        if isinstance(body, list):
            return [self._filled(item) for item in body]
        if not isinstance(body, dict):
            return body
        filled = {name: self._filled(value) for name, value in body.items() if name != "$from"}
        return merged(self._looked_up(body["$from"]), filled) if "$from" in body else filled

    def _looked_up(self, reference: str) -> Any:
        value: Any = self.kept
        for step in reference.split("."):
            value = value.get(step, {}) if isinstance(value, dict) else {}
        return value or "7"


LAST_OBJECTS = {
    "gpuvpcs": {
        "apiVersion": "gpucloud.dev/v1alpha1",
        "kind": "GpuVpc",
        "metadata": {"name": LAST},
        "spec": {"cluster": "c", "name": "n"},
    },
    "secrets": {"metadata": {"name": LAST}},
}


class Comparable:
    """Documents without what differs from server to server: versions as ranks, UIDs as numbers, times as present."""

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace
        self._uids: dict[str, str] = {}

    def of(self, told: list[Any]) -> list[Any]:
        """All that a script was answered."""
        versions = sorted({int(version) for version in _versions(told)})
        self._ranks = {str(version): f"v{rank}" for rank, version in enumerate(versions, 1)}
        return [self._value(item) for item in told]

    def _value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._value(item) for item in value]
        if isinstance(value, str):
            return value.replace(self._namespace, "NS")
        if not isinstance(value, dict):
            return value
        if value.get("kind") == "Status":
            return self._status(value)
        return {name: self._field(name, item) for name, item in value.items() if name != "managedFields"}

    def _field(self, name: str, value: Any) -> Any:
        match name, value:
            case "metadata", {}:
                return {key: self._meta(key, item) for key, item in value.items() if key != "managedFields"}
        return self._value(value)

    def _meta(self, name: str, value: Any) -> Any:
        match name:
            case "resourceVersion":
                return self._ranks.get(value, value)
            case "uid":
                return self._uids.setdefault(value, f"uid{len(self._uids) + 1}")
            case "creationTimestamp" | "deletionTimestamp":
                return "a time"
            case "continue":
                return "a token" if value else ""
        return self._value(value)

    @staticmethod
    def _status(value: dict[str, Any]) -> dict[str, Any]:
        """Reason and causes, and what was not found; the words of a message are no part of the contract."""
        causes = (value.get("details") or {}).get("causes") or ()
        found = sorted({(cause.get("reason", ""), cause.get("field", "")) for cause in causes})
        told = {name: value.get(name) for name in ("status", "reason", "code")} | {"causes": [list(cause) for cause in found]}
        # by the name a client tells an object that is not there from a kind that is not served
        return told | ({"name": (value.get("details") or {}).get("name")} if value.get("code") == 404 else {})


def _versions(value: Any) -> Iterable[str]:
    if isinstance(value, list):
        for item in value:
            yield from _versions(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name == "resourceVersion" and isinstance(item, str) and item.isdecimal():
                yield item
            else:
                yield from _versions(item)
