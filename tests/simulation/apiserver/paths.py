"""Paths of requests, and what their queries and Accept headers ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from simulation.apiserver.refusals import Refusal, unknown_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from simulation.apiserver.resources import Resource


class Target(NamedTuple):
    """What a path names. ``namespace`` is empty for all, ``name`` for a whole kind."""

    resource: Resource
    namespace: str
    name: str
    subresource: str

    @property
    def key(self) -> str:
        """Where the object lies in the store."""
        return f"{self.namespace}/{self.name}" if self.resource.namespaced else self.name

    @property
    def prefix(self) -> str:
        """Where all objects of a list lie."""
        return f"{self.namespace}/" if self.namespace else ""


class Paths:
    """Knows the paths of all resources."""

    def __init__(self, resources: Iterable[Resource]) -> None:
        self._served = {(resource.root, resource.plural): resource for resource in resources}
        self._known: dict[str, Target] = {}

    def target(self, path: str) -> Target:
        """What a path names."""
        return self._known.get(path) or self._known.setdefault(path, self._read(path))

    def _read(self, path: str) -> Target:
        parts = [unquote(part) for part in path.split("/")[1:]]
        depth = 2 if parts[:1] == ["api"] else 3
        root, rest = "/" + "/".join(parts[:depth]), parts[depth:]
        namespace = ""
        if len(rest) > 2 and rest[0] == "namespaces" and (root != "/api/v1" or (root, rest[2]) in self._served):
            namespace, rest = rest[1], rest[2:]
        resource = self._served.get((root, rest[0])) if rest else None
        name, subresource = [*rest[1:], "", ""][:2]
        if resource is None or len(rest) > 3 or subresource not in ({"", "status"} if resource.status else {""}):
            raise unknown_path()
        if resource.namespaced != bool(namespace) and (name or not resource.namespaced):
            raise unknown_path()
        return Target(resource, namespace, name, subresource)


def split(path: str, query: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
    """Path and query; a query may also stand in the path."""
    if "?" not in path:
        return path, query
    parts = urlsplit(path)
    return parts.path, {**dict(parse_qsl(parts.query, keep_blank_values=True)), **query}


def metadata_only(accept: str) -> bool:
    """Whether the first form that is asked for is metadata alone.

    Raises:
        Refusal: no form that is served is asked for.
    """
    first = accept.partition(",")[0].strip()
    if first and first.partition(";")[0] not in {"application/json", "*/*", "application/*"}:
        raise Refusal(406, "NotAcceptable", "only the following media types are accepted: application/json")
    return "as=PartialObjectMetadata" in first
