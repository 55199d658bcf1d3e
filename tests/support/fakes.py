"""Fakes of what the engine talks to: a clock on the event loop's time, an apiserver, listings. They remember what was asked."""

from __future__ import annotations

import asyncio
import base64
import json
from datetime import UTC, datetime, timedelta

import httpx

from gpucloud.cloud.models import Listing
from gpucloud.engine.cache.entries import Entries
from gpucloud.engine.kube.client import ListedVersions
from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.manager.ports import Ports
from gpucloud.kinds.meta import FINALIZER, SECRET_FINALIZER
from gpucloud.reconcile.ownership import record_id
from support.builders import UID


class LoopClock:
    """The event loop's own time, so that looptime moves it; ``wall`` runs beside it."""

    def mono(self) -> float:
        return asyncio.get_running_loop().time()

    def wall(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=int(self.mono()))

    def instant(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.mono())


class HandClock:
    """A clock that is set by hand."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def mono(self) -> float:
        return self.now

    def wall(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=int(self.now))

    def instant(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.now)


class NoMeter:
    """Takes what queue and inventory tell, and keeps it."""

    def __init__(self) -> None:
        self.listings = []
        self.failures = []

    def added(self, depth): ...
    def taken(self, depth, waited): ...
    def finished(self, worked): ...

    def listed(self, cluster, *, plausible):
        self.listings.append((cluster, plausible))

    def failed(self, cluster, kind):
        self.failures.append((cluster, str(kind)))


class Fetch:
    """Listings by script: each answer in turn, the last for ever; an exception is raised. Remembers when each began."""

    def __init__(self, *answers, takes=0.0):
        self.answers = list(answers)
        self.takes = takes
        self.began = []

    async def __call__(self, _cluster):
        self.began.append(asyncio.get_running_loop().time())
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if self.takes:
            await asyncio.sleep(self.takes)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Listing) else Listing(tuple(answer))


def a_body(name="train", namespace="team", uid=UID, version=1, **more):
    """A GpuVM as the apiserver sends it. ``meta`` is merged into metadata, ``spec`` into a spec that will do."""
    return a_resource("GpuVM", name, namespace, uid, version, **more)


SPECS = {
    "GpuVM": {"cluster": "Msc1", "configuration": "A100_40GB_PCIe_1x", "vpc": "acme", "sshKeys": ["ssh-ed25519 AAAAMADEUP t"]},
    "GpuVpc": {"cluster": "Msc1", "name": "acme-train"},
    "GpuSnapshot": {"vmRef": {"name": "train"}},
    "GpuHost": {"cluster": "Msc1", "hostId": "bm-128"},
    "GpuCloudAccount": {"secretRef": {"name": "key"}},
}


def a_resource(kind, name="train", namespace="team", uid=UID, version=1, **more):
    """An object of any kind as the apiserver sends it; a field of ``spec`` that is None is left out.

    The record of an order that bears the builders' id, or none, is this object's own.
    """
    meta = {
        "name": name,
        "namespace": namespace,
        "uid": uid,
        "resourceVersion": str(version),
        "generation": 1,
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "finalizers": ["gpucloud.dev/finalizer"],
    } | more.pop("meta", {})
    spec = SPECS[kind] | more.pop("spec", {})
    order = (more.get("status") or {}).get("order")
    if order is not None and (order.get("id") or "ours").startswith("ours"):
        more["status"] = more["status"] | {"order": order | {"id": record_id("ours", meta["uid"], order.get("name", ""))}}
    return {"metadata": meta, "spec": {key: value for key, value in spec.items() if value is not None}, **more}


GOING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def a_secret(uid="s-1", version="1", meta=None, **texts):
    """A Secret whose keys hold these texts."""
    data = {name: base64.b64encode(text.encode()).decode() for name, text in texts.items()}
    return {"metadata": {"uid": uid, "resourceVersion": version} | (meta or {}), "data": data}


class FakeKube:
    """An apiserver with as much sense as a test needs: answers status writes, remembers, and fails when told."""

    busy = False  # no call is ever under way for long

    def __init__(self):
        self.statuses = []
        self.guarded = []  # UIDs of the objects that were given our finalizer
        self.released = []
        self.created = []  # plural, namespace and body of objects that the operator makes
        self.events = []
        self.objects = {}  # ("secrets", namespace, name) to data
        self.secrets = {}  # (namespace, name) to the whole Secret, or to the error of reading it
        self.held = []  # (namespace, name, held)
        self.takes = {}  # (namespace, name) of a Secret to the seconds that reading it takes
        self.reads = []
        self.dying = set()
        self.namespaces = {}  # name to annotations, or to the error of reading it
        self.annotated_at = {}  # name to when its annotations were written, as the apiserver says
        self.fails = []  # raised in turn by writes; None lets one through
        self.version = 100
        self.answered_at = 0.0
        self.bodies = {}  # uid to the object as it stands, for kinds and specs other than the usual GpuVM
        self.looked_for = []  # plural, namespace and name of each search
        self.unseen = {}  # plural, namespace and name to an object that the watch has not shown
        self.gone = set()  # UIDs of objects that a reading does not find
        self.keeps = lambda status: status  # what becomes of a status that is written
        self.known = {}  # plural to the UIDs that a list of it names

    async def _may_fail(self):
        await asyncio.sleep(0.01)
        error = self.fails.pop(0) if self.fails else None
        if error is not None:
            raise error

    async def create_resource(self, plural, namespace, body):
        await self._may_fail()
        self.created.append((plural, namespace, body))

    async def replace_status(self, _plural, kind, owner, status):
        await self._may_fail()
        self.statuses.append(status)
        self.version += 1
        self.answered_at = asyncio.get_running_loop().time()
        known = self.bodies.get(owner["uid"])
        if known is None:
            return a_resource(kind, owner["name"], owner["namespace"], owner["uid"], self.version, status=self.keeps(status))
        meta = known["metadata"] | {"resourceVersion": str(self.version)}
        self.bodies[owner["uid"]] = {**known, "metadata": meta, "status": self.keeps(status)}
        return self.bodies[owner["uid"]]

    async def add_finalizer(self, _plural, owner):
        await self._may_fail()
        self.guarded.append(owner["uid"])
        known = self.bodies.get(owner["uid"])
        body = {"metadata": dict(owner), "spec": SPECS["GpuVM"]} if known is None else known
        self.version += 1
        finalizers = [*body["metadata"].get("finalizers", ()), FINALIZER]
        body = {**body, "metadata": body["metadata"] | {"resourceVersion": str(self.version), "finalizers": finalizers}}
        if known is not None:
            self.bodies[owner["uid"]] = body
        return body

    async def read(self, _plural, owner):
        self.reads.append(("object", owner["namespace"], owner["name"]))
        if owner["uid"] in self.gone:
            raise KubeError(404, "NotFound", "the object is gone")
        return self.bodies.get(owner["uid"]) or {"metadata": dict(owner)}

    async def find(self, plural, namespace, name):
        await asyncio.sleep(0.01)
        self.looked_for.append((plural, namespace, name))
        found = self.unseen.get((plural, namespace, name))
        if isinstance(found, KubeError):
            raise found
        return found

    async def release(self, _plural, owner):
        await self._may_fail()
        self.released.append(owner["uid"])

    async def record_event(self, _namespace, event):
        await self._may_fail()
        self.events.append(event)

    async def repeat_event(self, event, series):
        await self._may_fail()
        standing = [one for one in self.events if one["metadata"] == event["metadata"]]
        if not standing:
            raise KubeError(404, "NotFound", "the event has expired")
        standing[0]["series"] = dict(series)

    async def data_of(self, resource, namespace, name):
        self.reads.append((resource, namespace, name))
        return self.objects.get((resource, namespace, name))

    async def secret(self, namespace, name):
        self.reads.append(("secret", namespace, name))
        found = self.secrets.get((namespace, name))
        await asyncio.sleep(self.takes.get((namespace, name), 0))
        if isinstance(found, Exception):
            raise found
        return found

    async def set_secret_finalizer(self, namespace, name, *, held):
        await self._may_fail()
        self.held.append((namespace, name, held))
        found = self.secrets.get((namespace, name))
        if found is not None:
            self.version += 1
            meta = {"resourceVersion": str(self.version), "finalizers": [SECRET_FINALIZER] if held else []}
            self.secrets[namespace, name] = {**found, "metadata": found["metadata"] | meta}

    async def namespace(self, namespace):
        self.reads.append(("namespaces", namespace))
        if isinstance(self.namespaces.get(namespace), Exception):
            raise self.namespaces[namespace]
        going = {"deletionTimestamp": "2026-01-01T00:00:00Z"} if namespace in self.dying else {}
        annotations = self.namespaces.get(namespace, {})
        owned = {"f:metadata": {"f:annotations": {".": {}} | {f"f:{name}": {} for name in annotations}}}
        entry = {"manager": "kubectl-annotate", "time": self.annotated_at.get(namespace), "fieldsV1": owned}
        managed = [entry] if namespace in self.annotated_at else []
        return {"name": namespace, "annotations": annotations, "managedFields": managed} | going

    async def check_listing(self, plural, _namespaces): ...

    async def uids(self, plural, _namespaces):
        return self.known.get(plural, set())

    async def list_versions(self, plural, _namespaces):
        return ListedVersions(dict.fromkeys(self.known.get(plural, set()), self.version))

    async def cluster_uid(self):
        return "a-cluster"

    async def aclose(self): ...


CONFLICT = KubeError(409, "Conflict", "the object has been modified")
GONE = KubeError(404, "NotFound", "no such object")
NO_DEFINITION = KubeError(404, "NoDefinition", "the apiserver does not know this resource")
DOWN = KubeError(0, "ClientConnectorError", "got no answer")
SECRET_WORDS = "made-up-p4ssphrase"


class FakeCloud(httpx.AsyncBaseTransport):
    """A cloud behind httpx's transport seam: what each API key may see, by operation; it remembers every request.

    ``refuse`` answers an operation of one key, or of all, with a status or an exception; ``takes`` makes one slow.
    """

    def __init__(self):
        self.worlds = {}  # key to {operation: records}
        self.refused = {}
        self.takes = {}
        self.calls = []
        self.times = []

    def world(self, key, **records):
        """What this key sees: ``GetServers=[...]`` and so on; what is not named is an empty list."""
        self.worlds[key] = {"GetAll": ["Msc1"]} | records

    def refuse(self, operation, answer, key=None):
        self.refused[key, operation] = answer

    def heal(self):
        self.refused.clear()

    def asked(self, operation, key=None):
        return [call for call in self.calls if call[1] == operation and key in (None, call[0])]

    async def handle_async_request(self, request):
        operation, scheme = request.url.path.rsplit("/", 1)[1], request.headers.get("Authorization", "")
        key = scheme.removeprefix("ApiKey ").removeprefix("Bearer ")
        self.calls.append((key, operation, dict(request.url.params) | json.loads(await request.aread() or b"{}")))
        self.times.append(asyncio.get_running_loop().time())
        await asyncio.sleep(self.takes.get(operation, 0.01))
        answer = self.refused.get((key, operation), self.refused.get((None, operation)))
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, int):
            return _answered({"error": {"message": f"no {operation} for {key}", "code": 0}}, answer)
        if key not in self.worlds and operation != "Authenticate":
            return _answered({"error": {"message": "who are you"}}, 401)
        found = answer if answer is not None else self.worlds.get(key, {}).get(operation, [])
        listed = isinstance(found, list) and operation != "GetAll"
        return _answered({"items": found} if listed else found)


def _answered(value, status=200):
    return httpx.Response(status, content=json.dumps(value).encode())


class EveryEntry(Entries):
    """Entries of whatever is asked for, without a store that opens and drops them."""

    def part(self, uid, kind):
        self.open(uid)
        return super().part(uid, kind)


def at(kube, tracer=None):
    """Ports of an engine whose apiserver is this fake."""
    return Ports(client=lambda *_: kube, tracer=tracer)
