"""The simulated world's judge, with a world in which nothing runs: a test says what happens, and what the judge finds."""

import json

from gpucloud.settings import Settings
from gpucloud.sim.messages import Request, Response
from simulation.books import FINALIZER
from simulation.credentials import KEYS
from simulation.people import MERGE, People, path_of
from simulation.process import Process
from simulation.scenario import ENDPOINT, Scenario
from simulation.world import World

SPEC = {"cluster": "Msc1", "configuration": "A100_40GB_PCIe_1x", "vpc": "acme", "sshKeys": ["ssh-ed25519 AAAA a@b"]}
SIGNED = (("authorization", f"ApiKey {KEYS['good']}"), ("content-type", "application/json"))


class Court:
    """A world in which nothing runs: the test says what happens."""

    def __init__(self, own=False, replicas=1, **settings):
        given = {"endpoint": (f"default={ENDPOINT}",), "workers": 8} | settings
        self.world = World(3, {}, chosen=Scenario(Settings(**given), replicas, own, 100.0, 0))
        self.judge = self.world.judge
        self.operator = Process("operator-0.1")
        self.world.actors.prepare()
        self.hands = People(self.world, "operator")

    @property
    def oracles(self):
        return [found.oracle for found in self.judge.violations]

    def applied(self, name="a", *, has_finalizer=True, **spec):
        item = self.world.actors.owner.create("GpuVM", "team", name, SPEC | spec)
        item["kind"] = "GpuVM"
        if has_finalizer:
            self.hands.patch(item, {"metadata": {"finalizers": [FINALIZER]}})
        return item

    def writes(self, item, **status):
        now = self.hands.call("GET", path_of(item))
        judged = {"observedGeneration": now["metadata"]["generation"]}
        assert self.hands.call(
            "PUT", f"{path_of(item)}/status", {**now, "status": {**now.get("status", {}), **judged, **status}}
        )

    def records(self, item, name, at="2026-01-01T00:00:00Z", **more):
        when = {"recordedAt": at, **more}
        self.writes(item, order={"state": "Intended", "name": name, "cluster": "Msc1", "vpc": "acme", "id": "x", **when})

    def sends(self, operation, fault="", **said):
        verb, path = ("DELETE", "DestroyServer") if operation == "DestroyServer" else ("POST", operation)
        body = b"" if verb == "DELETE" else json.dumps(said).encode()
        query = tuple(said.items()) if verb == "DELETE" else ()
        request = Request(verb, f"/api/v1/servers/virtual/{path}", query, SIGNED, body)
        self.judge.sent(self.operator, operation, request)
        return self.world.cloud.carry_out(self.operator, operation, request, fault).status

    def snapshots(self, operation, **said):
        """A call that takes a snapshot, or deletes one."""
        creates = operation == "CreateSnapshot"
        body, query = (json.dumps(said).encode(), ()) if creates else (b"", tuple(said.items()))
        verb, path = ("POST" if creates else "DELETE"), f"/api/v1/servers/snapshots/{operation}"
        request = Request(verb, path, query, SIGNED, body)
        self.judge.sent(self.operator, operation, request)
        return self.world.cloud.carry_out(self.operator, operation, request, "").status

    def orders(self, name, fault="", **spec):
        return self.sends("CreateServer", fault, name=name, ssh_keys=SPEC["sshKeys"], **SPEC | spec)

    def answers(self, name, status, fault="", body=b"", *, heard=True, late=False):
        """The operator orders, and the cloud answers so whatever it did; ``late``: the operator gave up before that."""
        asked = json.dumps({"name": name, **SPEC}).encode()
        order = Request("POST", "/api/v1/servers/virtual/CreateServer", (), SIGNED, asked)
        self.judge.sent(self.operator, "CreateServer", order)
        if not heard and late:
            self.judge.unheard(self.operator, "CreateServer", order)
        self.judge.answered(self.operator, "CreateServer", order, Response(status, body), fault)
        if not heard and not late:
            self.judge.unheard(self.operator, "CreateServer", order)

    def announces(self, name):
        """The status of each VM that goes says that it is being destroyed, as an operator writes it before the call."""
        for life in self.judge.books.texts.mentioning(name):
            if life.deleting and life.kind == "GpuVM" and life.status.get("order"):
                self.writes(life.now, order=life.status["order"] | {"state": "Destroying"})

    def destroys(self, name):
        self.announces(name)
        return self.sends("DestroyServer", Id=name, Namespace="acme", Cluster="Msc1")

    def looks(self, cluster="Msc1", *, told=True):
        """The operator asks what is free; ``told``: and the cloud answers."""
        request = Request("GET", "/api/v1/offers/GetAvailability", (("Cluster", cluster),), (), b"")
        for heard in (False, True)[: 1 + told]:
            self.judge.recreating.rooms.asks(request, told=heard)

    def passes(self, seconds):
        self.world.loop._now += seconds

    def deletes_secret(self):
        """Somebody deletes the Secret, on which a finalizer stands."""
        path = "/api/v1/namespaces/team/secrets/key"
        self.hands.call("PATCH", path, {"metadata": {"finalizers": ["gpucloud.dev/x"]}}, headers=MERGE)
        self.hands.call("DELETE", path)

    def says(self, item, status, reason):
        condition = {"type": "Ready", "status": status, "reason": reason, "message": "-"}
        when = {"lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1}
        self.writes(item, conditions=[condition | when])

    def bought(self, name="a", thing="a-x", **spec):
        item = self.applied(name, **spec)
        self.records(item, thing)
        assert self.orders(thing, **spec) == 202
        return item
