"""Requests to the apiserver in memory: each is answered at once and whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simulation.apiserver import lists, reading, refusals
from simulation.apiserver.paths import Paths, Target, metadata_only, split
from simulation.apiserver.refusals import Refusal
from simulation.apiserver.store import Commit, Snapshot, Store, dumped
from simulation.apiserver.watching import Watch
from simulation.apiserver.writing import Request, Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from simulation.apiserver.resources import Resource

NONE: Mapping[str, str] = {}
JSON = {"Content-Type": "application/json"}
FIRST_NAMESPACES = ("default", "kube-system")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request is answered: the body is JSON."""

    status: int
    headers: Mapping[str, str]
    text: str


class ApiServer:
    """A kube-apiserver that serves the given resources.

    Everybody may do everything. CEL rules are not evaluated; see ``NamespaceController`` and ``GarbageCollector``.
    """

    def __init__(
        self,
        resources: Iterable[Resource],
        *,
        now: Callable[[], datetime],
        new_uid: Callable[[], str],
        history: int = 1000,
    ) -> None:
        self.resources = tuple(resources)
        self.store = Store(self.resources, history)
        self._paths = Paths(self.resources)
        self._writer = Writer(self.store, self.resources, now, new_uid)
        for name in FIRST_NAMESPACES:
            self.request("system:apiserver", "POST", "/api/v1/namespaces", body=dumped({"metadata": {"name": name}}))

    @property
    def commits(self) -> Sequence[Commit]:
        """Every change since the beginning, those that a restored backup has undone included."""
        return self.store.commits

    def request(
        self,
        user: str,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] = NONE,
        headers: Mapping[str, str] = NONE,
        body: str | bytes | None = None,
    ) -> Answer:
        """Answer a request. The query may also stand in the path."""
        try:
            where, asked = split(path, query)
            target = self._paths.target(where)
            sent = {name.lower(): value for name, value in headers.items()}
            partial = metadata_only(sent.get("accept", ""))
            if method == "GET":
                return Answer(200, JSON, self._read(target, asked, partial=partial))
            request = Request(user, method, target, asked, sent, body)
            status, document = self._write(request)
        except Refusal as refusal:
            wait = refusal.document.get("details", {}).get("retryAfterSeconds")
            return Answer(refusal.status, JSON | ({"Retry-After": str(wait)} if wait else {}), dumped(refusal.document))
        if not isinstance(document, str):
            partial = partial and document.get("kind") != "Status"
            document = dumped(lists.metadata_of(document) if partial else document)
        return Answer(status, JSON, document)

    def watch(self, path: str, *, resource_version: str) -> Watch:
        """Watch the objects of a list's path from a version on; from "0" or "" all that exist come first, as ADDED."""
        target = self._paths.target(split(path, NONE)[0])
        return Watch(self.store, target.resource, target.prefix, resource_version)

    def object(self, path: str) -> Mapping[str, Any] | None:
        """The object at a path, for whoever looks at it, and changes nothing in place."""
        target = self._paths.target(path)
        found = self.store.get(target.resource, target.key)
        return None if found is None else found.seen

    def objects(self, plural: str) -> list[dict[str, Any]]:
        """All objects of a kind by key, as a list would show them: for whoever looks at them, and changes nothing in place."""
        resource = next(one for one in self.resources if one.plural == plural)
        return [stored.seen for _, stored in self.store.listed(resource, "", self.store.version)]

    def subscribe(self, callback: Callable[[], None]) -> None:
        """Call this after every change."""
        self.store.on_commit.append(callback)

    def snapshot(self) -> Snapshot:
        """A backup of everything."""
        return self.store.snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """Put a backup back, versions included. Open watches are broken off."""
        self.store.restore(snapshot)

    def _read(self, target: Target, query: Mapping[str, str], *, partial: bool) -> str:
        if not target.name:
            return lists.listed(self.store, target, query, partial=partial)
        found = self.store.get(target.resource, target.key)
        if found is None:
            raise refusals.not_found(target.resource, target.name)
        return dumped(lists.metadata_of(found.seen)) if partial else found.text

    def _write(self, request: Request) -> tuple[int, Any]:
        target = request.target
        match request.method:
            case "POST" if not target.name:
                return self._writer.create(request, reading.json_of(request.body))
            case "PUT" if target.name:
                return self._writer.replace(request, reading.json_of(request.body))
            case "PATCH" if target.name:
                return self._writer.patch(request)
            case "DELETE" if target.name and not target.subresource:
                return self._writer.delete(request, reading.json_of(request.body) if request.body else {})
        details = {"group": target.resource.group, "kind": target.resource.plural}
        raise Refusal(405, "MethodNotAllowed", f"{request.method} is not supported on {target.resource.qualified}", details)
