"""What a fault proxy sees: one request, told apart well enough that the same one is found again in another run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum

from gpucloud.sim.routes import ROUTES

CLOUD, KUBE = "cloud", "kube"
_OPERATIONS = {route.path: route for route in ROUTES}
_KUBE_PATH = re.compile(
    r"^(?:/api/[^/]+|/apis/(?P<group>[^/]+)/[^/]+)"
    r"(?:/namespaces/(?P<namespace>[^/]+)(?=/[^/]))?/(?P<resource>[^/]+)(?:/(?P<name>[^/]+))?(?:/(?P<sub>[^/]+))?$"
)
_WRITES = frozenset({"create", "update", "patch", "delete"})


class Phase(StrEnum):
    """How far a call has come. ``delivered``: the answer is with the operator, and nothing further of either link passes."""

    RECEIVED = "received"
    ANSWERED = "answered"
    DELIVERED = "delivered"


@dataclass(frozen=True)
class Kind:
    """What a request is: ``word`` names its class (``CreateServer``, ``update gpuvms/status``)."""

    word: str
    verb: str = ""
    resource: str = ""
    namespace: str = ""
    name: str = ""
    writes: bool = False


@dataclass(frozen=True)
class Call:
    """One request on one link. Indexes begin at 1: ``index`` among all of the link, ``nth`` among those of its class."""

    link: str
    index: int
    nth: int
    kind: Kind
    method: str
    path: str
    query: str
    body: bytes = field(repr=False, default=b"")

    @property
    def word(self) -> str:
        """The class: the cloud's operation, or the apiserver's ``verb resource``."""
        return self.kind.word

    @property
    def verb(self) -> str:
        """The apiserver's verb; the cloud's HTTP method."""
        return self.kind.verb

    @property
    def resource(self) -> str:
        """The apiserver's resource with its subresource, ``gpuvms/status``; "" on the cloud's link."""
        return self.kind.resource

    @property
    def writes(self) -> bool:
        """Whether it changes anything: a mutating operation of the cloud, or a write to the apiserver."""
        return self.kind.writes

    @property
    def watches(self) -> bool:
        """Whether it is a watch of the apiserver."""
        return self.kind.verb == "watch"

    @property
    def target(self) -> str:
        """The request line's target."""
        return f"{self.path}?{self.query}" if self.query else self.path

    def __str__(self) -> str:
        """Short, for messages: ``CreateServer#1``."""
        return f"{self.kind.word}#{self.nth}"


@dataclass
class Seen:
    """A call and what became of it; times are of the monotonic clock, None where it did not get to."""

    call: Call
    received: float
    at: float  # when it was received, by the wall clock
    forwarded: float | None = None
    answered: float | None = None
    delivered: float | None = None
    status: int = 0
    note: str = ""


def classify(link: str, method: str, path: str, query: str) -> Kind:
    """Say what a request is, by the link that it came by."""
    return _of_cloud(method, path) if link == CLOUD else _of_kube(method, path, query)


def _of_cloud(method: str, path: str) -> Kind:
    route = _OPERATIONS.get(path)
    return Kind(route.operation, method, writes=route.mutates) if route else Kind("unknown", method)


def _of_kube(method: str, path: str, query: str) -> Kind:
    found = _KUBE_PATH.match(path)
    if found is None:
        return Kind("get discovery", "get")
    resource = found["resource"] + (f"/{found['sub']}" if found["sub"] else "")
    verb = _verb(method, query, named=bool(found["name"]))
    return Kind(f"{verb} {resource}", verb, resource, found["namespace"] or "", found["name"] or "", verb in _WRITES)


def _verb(method: str, query: str, *, named: bool) -> str:
    if method == "GET":
        return "watch" if "watch=" in query else ("get" if named else "list")
    return {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}.get(method, method.lower())
