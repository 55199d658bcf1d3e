"""Fakes of what the engine talks to: a clock on the event loop's time, an apiserver, listings. They remember what was asked."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from gpucloud.cloud.models import Listing
from gpucloud.engine.kube import KubeError

UID = "11111111-2222-3333-4444-555555555555"


class LoopClock:
    """The event loop's own time, so that looptime moves it; ``wall`` runs beside it."""

    def mono(self) -> float:
        return asyncio.get_running_loop().time()

    def wall(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=int(self.mono()))


class HandClock:
    """A clock that is set by hand."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def mono(self) -> float:
        return self.now

    def wall(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=int(self.now))


class NoMeter:
    """Takes what queue and inventory tell, and keeps it."""

    def __init__(self) -> None:
        self.listings = []
        self.failures = []

    def added(self, depth): ...
    def taken(self, depth, waited): ...
    def finished(self, worked): ...

    def listed(self, cluster, count, *, plausible):
        self.listings.append((cluster, count, plausible))

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
    """A GpuVM as the apiserver sends it. ``meta`` is merged into metadata."""
    meta = {
        "name": name,
        "namespace": namespace,
        "uid": uid,
        "resourceVersion": str(version),
        "generation": 1,
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "finalizers": ["gpucloud.dev/finalizer"],
    } | more.pop("meta", {})
    spec = {"cluster": "Msc1", "configuration": "A100_40GB_PCIe_1x", "vpc": "acme", "sshKeys": ["ssh-ed25519 AAAAMADEUP t"]}
    return {"metadata": meta, "spec": spec | more.pop("spec", {}), **more}


class FakeKube:
    """An apiserver with as much sense as a test needs: answers status writes, remembers, and fails when told."""

    def __init__(self):
        self.statuses = []
        self.released = []
        self.events = []
        self.objects = {}  # ("secrets", namespace, name) to data
        self.reads = []
        self.dying = set()
        self.fails = []  # raised in turn by writes; None lets one through
        self.version = 100
        self.answered_at = 0.0

    async def _may_fail(self):
        await asyncio.sleep(0.01)
        error = self.fails.pop(0) if self.fails else None
        if error is not None:
            raise error

    async def apply_status(self, _plural, _kind, owner, status):
        await self._may_fail()
        self.statuses.append(status)
        self.version += 1
        self.answered_at = asyncio.get_running_loop().time()
        return a_body(owner["name"], owner["namespace"], owner["uid"], self.version, status=status)

    async def release(self, _plural, owner):
        await self._may_fail()
        self.released.append(owner["uid"])

    async def record_event(self, _namespace, event):
        await self._may_fail()
        self.events.append(event)

    async def data_of(self, resource, namespace, name):
        self.reads.append((resource, namespace, name))
        return self.objects.get((resource, namespace, name))

    async def namespace_terminating(self, namespace):
        self.reads.append(("namespaces", namespace))
        return namespace in self.dying


CONFLICT = KubeError(409, "Conflict", "the object has been modified")
GONE = KubeError(404, "NotFound", "no such object")
DOWN = KubeError(0, "ClientConnectorError", "got no answer")
