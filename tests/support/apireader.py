"""Read objects from an apiserver over a connection that is kept: what ``kubectl get --output=json`` shows.

Tests look at their objects several times a second. A kubectl that starts for each look costs 50 ms of CPU, most of it its own
start; a request costs a hundredth of that. What kubectl prints, and all that changes something, is kubectl's.
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
DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


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


class ApiReader:
    """Reads as the user of a kubeconfig."""

    def __init__(self, kubeconfig: Path) -> None:
        user = json.loads(kubeconfig.read_text())["users"][0]["user"]
        assert "as" not in user, f"{kubeconfig.name} impersonates somebody, which only kubectl obeys: use Kubectl.run"
        self._api = config.new_client_from_config(str(kubeconfig))
        self._resources: tuple[Resource, ...] = ()

    def get(self, word: str, name: str, namespace: str | None) -> dict[str, Any] | None:
        """Return an object, or None when there is no such object."""
        found = self._read(self._resource(word).path(namespace, name))
        return None if found is None else _shown(found)

    def list(self, words: str, namespace: str | None) -> list[dict[str, Any]]:
        """Return all objects of one kind, or of several with commas between."""
        return [item for word in words.split(",") for item in self._list(self._resource(word), namespace)]

    def _list(self, resource: Resource, namespace: str | None) -> Iterator[dict[str, Any]]:
        path = resource.path(namespace)
        found = self._read(path)
        assert found is not None, f"GET {path}: not found"
        # The items of a list do not say what they are, but for those of a definition.
        return (_shown({"apiVersion": resource.api_version, "kind": resource.kind, **item}) for item in found["items"])

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

    def _read(self, path: str, accept: str = "application/json") -> dict[str, Any] | None:
        """Return what stands at a path; None when nothing does."""
        request = self._api.param_serialize("GET", path, header_params={"Accept": accept}, auth_settings=["BearerToken"])
        try:
            answer = self._api.call_api(*request, _request_timeout=SECONDS)
            body = answer.read()
        except urllib3.exceptions.HTTPError as error:
            raise AssertionError(f"GET {path}: {error!r}") from error
        if answer.status == 404:
            return None
        assert answer.status == 200, f"GET {path}: {answer.status} {body.decode(errors='replace')}"
        found: dict[str, Any] = json.loads(body)
        return found


@functools.lru_cache(maxsize=8)
def _reader(kubeconfig: Path, _written: int) -> ApiReader:
    return ApiReader(kubeconfig)


def reader(kubeconfig: Path) -> ApiReader:
    """The reader of a kubeconfig as it is written now."""
    return _reader(kubeconfig, kubeconfig.stat().st_mtime_ns)


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
