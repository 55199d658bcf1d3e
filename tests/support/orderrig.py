"""Histories of one object, most of them a GpuVM: the engine, one process after another, and a cloud that makes and destroys."""

from __future__ import annotations

import asyncio
import copy
import json

import httpx
import pytest

from gpucloud.cloud import connection as connection_module
from gpucloud.engine.manager.manager import Engine
from gpucloud.settings import Credentials, Settings
from support.builders import TAG
from support.fakes import GOING, FakeCloud, FakeKube, LoopClock, a_resource, at

KEY = "own-made-up-key"
VPC = {"id": "7", "name": "acme", "cluster": "Msc1", "tenancyName": "acme"}


class MakingCloud(FakeCloud):
    """What is ordered stands, until it is destroyed. ``odd`` changes the record of the next order, ``answer`` its answer."""

    def __init__(self):
        super().__init__()
        self.vms = {}  # by id, in the order in which they came
        self.odd, self.answer, self.makes = {}, None, True
        self.lag = 0.0  # seconds until a listing shows a new VM
        self.clusters = {None, "Msc1"}
        self.world(KEY, GetVpcs=[VPC])

    def add(self, name, **more):
        """A VM that comes to be now."""
        record = {"id": name, "namespace": "acme", "cluster": "Msc1", "tenancy_name": "acme", "status": "ONLINE"} | more
        self.vms[record["id"]] = (asyncio.get_running_loop().time() + self.lag, record)
        return record

    async def handle_async_request(self, request):
        operation, now = request.url.path.rsplit("/", 1)[1], asyncio.get_running_loop().time()
        here = self.worlds[KEY]
        here["GetServers"] = [record for shown, record in self.vms.values() if shown <= now]
        if operation == "DestroyServer":
            here[operation] = {"status": "accepted"}
            if self.refused.get((None, operation)) not in {400, 403, 409}:  # any other answer says nothing of what was done
                self.vms.pop(request.url.params["Id"], None)
        if operation == "GetServers" and request.url.params.get("Cluster") not in self.clusters:
            return failed(400, "unknown cluster")
        if operation != "CreateServer":
            return await super().handle_async_request(request)
        ordered = json.loads(await request.aread())
        record = {"id": ordered["name"], **self.odd}
        here[operation] = self.add(record.pop("id"), **record) if self.makes else record
        answer = await super().handle_async_request(request)
        return answer if self.answer is None else self.answer


class ManyClusters(MakingCloud):
    """Each listing shows one cluster, and each call concerns one; ``hidden`` ones cannot be listed."""

    def __init__(self, *clusters):
        super().__init__()
        self.clusters |= {*clusters}
        self.world(KEY, GetAll=["Msc1", *clusters], GetVpcs=[VPC, *(VPC | {"cluster": cluster} for cluster in clusters)])
        self.hidden = set()

    async def handle_async_request(self, request):
        operation, asked = request.url.path.rsplit("/", 1)[1], request.url.params
        if operation == "GetServers" and asked.get("Cluster") in self.hidden:
            return failed(503, "Try again later")
        if operation != "DestroyServer":
            answer = await super().handle_async_request(request)
            return answer if operation != "GetServers" or answer.status_code != 200 else self.listed(asked.get("Cluster"))
        self.calls.append((KEY, operation, dict(asked)))
        for key, (_, one) in self.vms.items():
            if (one["id"], one["cluster"]) == (asked["Id"], asked["Cluster"]):
                del self.vms[key]
                return httpx.Response(202, content=json.dumps({"status": "accepted"}).encode())
        return failed(404, "no such VM")

    def listed(self, cluster):
        now = asyncio.get_running_loop().time()
        items = [one for shown, one in self.vms.values() if shown <= now and cluster in {None, one["cluster"]}]
        return httpx.Response(200, content=json.dumps({"items": items}).encode())


class History:
    """One operator after another over the same objects."""

    def __init__(self, cloud, kind="GpuVM"):
        self.cloud, self.kind, self.plural, self.engine, self.bodies = cloud, kind, f"{kind.lower()}s", None, {}

    async def start(self, endpoint=("prod=https://prod.example",), **settings):
        """A new process: it knows what the statuses say."""
        if self.engine is not None:
            self.bodies = copy.deepcopy(self.kube.bodies)  # what a dying process still writes does not count
            await self.engine.stop(0.0)
        self.kube = FakeKube()
        self.kube.version, self.kube.release = 1000, self.release
        self.kube.known = {f"gpu{kind}": set() for kind in ("vms", "vpcs", "snapshots", "cloudaccounts")}
        self.kube.known[self.plural] = set(self.bodies)
        given = {"endpoint": endpoint, "install_tag": TAG, "workers": 4} | settings
        self.engine = Engine(Settings(**given, credentials=Credentials(api_key=KEY)), lambda: None, LoopClock(), at(self.kube))
        await self.engine.start()
        for body in self.bodies.values():
            self._show("ADDED", body)
        return self

    async def release(self, _plural, owner):
        self.kube.released.append(owner["uid"])
        self.engine.on_event(self.kind, "DELETED", self.kube.bodies.pop(owner["uid"]))

    def _show(self, event, body):
        self.kube.version += 1
        body["metadata"]["resourceVersion"] = str(self.kube.version)
        self.kube.bodies[body["metadata"]["uid"]] = body
        self.kube.known[self.plural].add(body["metadata"]["uid"])
        self.engine.on_event(self.kind, event, body)

    async def apply(self, status=(), **spec):
        """A new object, perhaps with a status from a backup: the watch shows it without its finalizer first."""
        self._show("ADDED", a_resource(self.kind, uid="u-train", meta={"finalizers": []}, spec=spec, status=dict(status)))
        await asyncio.sleep(0.01)
        self._show("MODIFIED", a_resource(self.kind, uid="u-train", spec=spec, status=dict(status)))

    def restore(self, status):
        """Somebody else writes an older status."""
        self._show("MODIFIED", self.kube.bodies["u-train"] | {"status": status})

    def change(self, spec=(), annotations=(), **meta):
        """Its owner says something else."""
        body = copy.deepcopy(self.kube.bodies["u-train"])
        body["metadata"] |= meta | {"annotations": dict(annotations), "generation": body["metadata"]["generation"] + bool(spec)}
        body["spec"] |= dict(spec)
        self._show("MODIFIED", body)

    def delete(self):
        body = copy.deepcopy(self.kube.bodies["u-train"])
        body["metadata"] |= GOING | {"generation": body["metadata"]["generation"] + 1}
        self._show("MODIFIED", body)

    @property
    def status(self):
        return self.kube.bodies["u-train"].get("status", {})

    @property
    def ready(self):
        return next((f"{it['status']}/{it['reason']}" for it in self.status.get("conditions", ()) if it["type"] == "Ready"), "")

    @property
    def words(self):
        return next(it["message"] for it in self.status["conditions"] if it["type"] == "Ready")

    @property
    def gone(self):
        return "u-train" not in self.kube.bodies

    async def until(self, holds, seconds=60):
        """Wait until it holds, and answer how many seconds that took."""
        for tenth in range(int(seconds * 10)):
            if holds():
                return tenth / 10
            await asyncio.sleep(0.1)
        raise AssertionError(f"not within {seconds} s: {None if self.gone else self.status}")


def history_over(make_cloud, kind="GpuVM"):
    """Return a fixture: a history whose first process runs, over a cloud that every client reaches in place of the network."""

    @pytest.fixture
    async def it(monkeypatch):
        cloud = make_cloud()
        monkeypatch.setattr(connection_module, "real_transport", lambda _options: cloud)
        made = await History(cloud, kind).start()
        yield made
        await made.engine.stop(1.0)

    return it


def failed(status, message):
    return httpx.Response(status, content=json.dumps({"error": {"message": message, "code": 0}}).encode())
