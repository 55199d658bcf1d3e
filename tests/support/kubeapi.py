"""The apiserver as tests ask it themselves, over a connection that is kept. Objects are as ``kubectl get --output=json`` shows.

Tests look at their objects several times a second, try hundreds of manifests, and tidy up after themselves. A kubectl that
starts for each of these costs 50 to 100 ms of CPU, most of it its own start; a request costs a hundredth of that.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import urllib3.exceptions
from kubernetes import config

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DEFAULT_NAMESPACE = "default"
SECONDS = 120  # for one answer
JSON, MERGE_PATCH = "application/json", "application/merge-patch+json"
DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
DRY_RUN = {"dryRun": "All"}
STRICT = {"fieldValidation": "Strict"}  # as kubectl asks by default


@dataclass(frozen=True)
class Resource:
    """What an apiserver serves: all ``words`` name it."""

    api_version: str
    kind: str
    plural: str
    namespaced: bool
    words: frozenset[str]

    def path(self, namespace: str | None, name: str = "") -> str:
        root = "/apis" if "/" in self.api_version else "/api"
        where = f"/namespaces/{namespace or DEFAULT_NAMESPACE}" if self.namespaced else ""
        return f"{root}/{self.api_version}{where}/{self.plural}" + (f"/{name}" if name else "")


@dataclass(frozen=True)
class Answer:
    """What the apiserver answered: an object or a Status, and its warnings."""

    status: int
    document: dict[str, Any]
    warnings: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return self.status < 300

    @property
    def complaints(self) -> list[str]:
        """What it refuses, as kubectl prints it: a line for each field that it blames, else its message."""
        if self.ok:
            return []
        causes = (self.document.get("details") or {}).get("causes") or ()
        return [f"{cause['field']}: {cause['message']}" for cause in causes if cause.get("field")] or [self.document["message"]]


class KubeApi:
    """An apiserver, asked as the user of a kubeconfig."""

    def __init__(self, kubeconfig: Path) -> None:
        user = json.loads(kubeconfig.read_text())["users"][0]["user"]
        assert "as" not in user, f"{kubeconfig.name} impersonates somebody, which only kubectl obeys: use Kubectl.run"
        self._api = config.new_client_from_config(str(kubeconfig))
        self._resources: tuple[Resource, ...] = ()

    def get(self, word: str, name: str, namespace: str | None) -> dict[str, Any] | None:
        """Return an object, or None when there is no such object."""
        found = self._read(self._resource(word).path(namespace, name))
        return None if found is None else _shown(found)

    def list(self, words: str, namespace: str | None, *, managers: bool = False) -> list[dict[str, Any]]:
        """Return all objects of one kind, or of several with commas between; with ``managers`` also who wrote which field."""
        found = [item for word in words.split(",") for item in self._list(self._resource(word), namespace)]
        return found if managers else list(map(_shown, found))

    def create(self, manifest: dict[str, Any], namespace: str | None, **query: str) -> Answer:
        """Ask for an object to be created."""
        resource = self._resource(manifest["kind"].lower())
        return self._ask("POST", resource.path(namespace), body=manifest, query=query)

    def patch(self, word: str, name: str, change: dict[str, Any], namespace: str | None, **query: str) -> Answer:
        """Ask for a change to be merged into an object."""
        return self._ask("PATCH", self._resource(word).path(namespace, name), body=change, query=query, sent=MERGE_PATCH)

    def delete(self, word: str, name: str, namespace: str | None) -> Answer:
        """Ask for an object to be deleted, and do not wait until it is gone."""
        return self._ask("DELETE", self._resource(word).path(namespace, name))

    def _list(self, resource: Resource, namespace: str | None) -> Iterator[dict[str, Any]]:
        path = resource.path(namespace)
        found = self._read(path)
        assert found is not None, f"GET {path}: not found"
        # The items of a list do not say what they are, but for those of a definition.
        return ({"apiVersion": resource.api_version, "kind": resource.kind, **item} for item in found["items"])

    def _resource(self, word: str) -> Resource:
        """What a word of kubectl's names. The apiserver is asked what it serves when it is not known: definitions come."""
        found = self._named(word)
        if found is None:
            self._resources = tuple(
                resource for root in ("/api", "/apis") for resource in _served(self._read(root, DISCOVERY) or {})
            )
            found = self._named(word)
        assert found is not None, f"the server doesn't have a resource type {word!r}"
        return found

    def _named(self, word: str) -> Resource | None:
        return next((resource for resource in self._resources if word in resource.words), None)

    def _read(self, path: str, accept: str = JSON) -> dict[str, Any] | None:
        """Return what stands at a path; None when nothing does."""
        answer = self._ask("GET", path, accept=accept)
        if answer.status == 404:
            return None
        assert answer.ok, f"GET {path}: {answer.status} {answer.document}"
        return answer.document

    def _ask(
        self,
        method: str,
        path: str,
        *,
        body: dict[str, Any] | None = None,
        query: dict[str, str] | None = None,
        sent: str = JSON,
        accept: str = JSON,
    ) -> Answer:
        headers = {"Accept": accept, "Content-Type": sent}
        parameters = list((query or {}).items())
        request = self._api.param_serialize(
            method, path, query_params=parameters, header_params=headers, body=body, auth_settings=["BearerToken"]
        )
        try:
            answer = self._api.call_api(*request, _request_timeout=SECONDS)
            text = answer.read()
        except urllib3.exceptions.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error!r}") from error
        return Answer(answer.status, json.loads(text), tuple(answer.headers.getlist("Warning")))


@functools.lru_cache(maxsize=8)
def _api(kubeconfig: Path, _written: int) -> KubeApi:
    return KubeApi(kubeconfig)


def kube_api(kubeconfig: Path) -> KubeApi:
    """The apiserver of a kubeconfig as it is written now."""
    return _api(kubeconfig, kubeconfig.stat().st_mtime_ns)


def _shown(item: dict[str, Any]) -> dict[str, Any]:
    """An object without its field managers, which kubectl shows only when asked."""
    item["metadata"].pop("managedFields", None)
    return item


def _served(discovery: dict[str, Any]) -> Iterator[Resource]:
    """The resources of the preferred version of each group, in the order in which the apiserver prefers the groups."""
    for group in discovery.get("items", ()):
        name, newest = group["metadata"].get("name", ""), group["versions"][0]
        for served in newest["resources"]:
            plural, kind = served["resource"], served["responseKind"]["kind"]
            bare = {plural, kind.lower(), served.get("singularResource") or plural, *served.get("shortNames", ())}
            words = bare | {f"{word}.{name}" for word in bare}
            version = f"{name}/{newest['version']}" if name else newest["version"]
            yield Resource(version, kind, plural, served["scope"] == "Namespaced", frozenset(words))
