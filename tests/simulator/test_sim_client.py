"""How the simulator's tests talk to it: by hand-written operations of the specification, never by its own route table."""

import json
from dataclasses import dataclass

from gpucloud.sim import Fault, Knobs, ManualClock, Request, SimConfig, Simulator

KEY = "made-up-key-of-the-tests"
VM_TYPE = "A100_40GB_PCIe_1x"

# The specification, written out by hand: operation -> (method, path).
OPERATIONS = {
    "GetAll": ("GET", "/api/v1/clusters/GetAll"),
    "GetServers": ("GET", "/api/v1/servers/virtual/GetServers"),
    "GetServer": ("GET", "/api/v1/servers/virtual/GetServer"),
    "CreateServer": ("POST", "/api/v1/servers/virtual/CreateServer"),
    "StartServer": ("POST", "/api/v1/servers/virtual/StartServer"),
    "StopServer": ("POST", "/api/v1/servers/virtual/StopServer"),
    "DestroyServer": ("DELETE", "/api/v1/servers/virtual/DestroyServer"),
    "GetConfigurations": ("GET", "/api/v1/servers/virtual/GetConfigurations"),
    "GetAvailability": ("GET", "/api/v1/servers/virtual/GetAvailability"),
    "GetVirtualMachineBootLogs": ("GET", "/api/v1/servers/virtual/GetVirtualMachineBootLogs"),
    "GetHost": ("GET", "/api/v1/servers/metal/GetHost"),
    "GetHosts": ("GET", "/api/v1/servers/metal/GetHosts"),
    "RebootHost": ("POST", "/api/v1/servers/metal/RebootHost"),
    "ReprovisionHost": ("POST", "/api/v1/servers/metal/ReprovisionHost"),
    "GetSnapshots": ("GET", "/api/v1/servers/snapshots/GetSnapshots"),
    "GetSnapshot": ("GET", "/api/v1/servers/snapshots/GetSnapshot"),
    "CreateSnapshot": ("POST", "/api/v1/servers/snapshots/CreateSnapshot"),
    "DeleteSnapshot": ("DELETE", "/api/v1/servers/snapshots/DeleteSnapshot"),
    "GetVpcs": ("GET", "/api/v1/vpcs/GetVpcs"),
    "GetVpc": ("GET", "/api/v1/vpcs/GetVpc"),
    "CreateVpc": ("POST", "/api/v1/vpcs/CreateVpc"),
    "DestroyVpc": ("DELETE", "/api/v1/vpcs/DestroyVpc"),
    "Authenticate": ("POST", "/api/TokenAuth/Authenticate"),
    "RefreshToken": ("POST", "/api/TokenAuth/RefreshToken"),
}
IN_QUERY = {name for name, (method, _) in OPERATIONS.items() if method != "POST"} | {"RefreshToken"}


@dataclass(frozen=True)
class Answer:
    status: int
    text: str
    response: object

    @property
    def data(self):
        return json.loads(self.text)

    @property
    def items(self):
        return self.data["items"]

    @property
    def message(self):
        return self.data["error"]["message"]

    @property
    def members(self):
        """The members that a validation error complains about."""
        return sorted(member for item in self.data["error"]["validationErrors"] for member in item["members"])


class Cloud:
    """A simulator with a manual clock, and short words for what tests do with it."""

    def __init__(self, capacity=100, seed=0, **knobs):
        self.clock = ManualClock()
        config = SimConfig(api_key=KEY, capacity=capacity, seed=seed, knobs=Knobs(**knobs))
        self.sim = Simulator(config, self.clock)

    async def call(self, operation, _authorization=f"ApiKey {KEY}", /, **parameters):
        method, path = OPERATIONS[operation]
        headers = [] if _authorization is None else [("authorization", _authorization)]
        if operation in IN_QUERY:
            return await self.send(method, path, query=parameters, headers=headers)
        headers.append(("content-type", "application/json"))
        return await self.send(method, path, body=json.dumps(parameters).encode(), headers=headers)

    async def send(self, method, path, *, query=(), body=b"", headers=(), peer="127.0.0.1"):
        pairs = tuple(dict(query).items())
        response = await self.sim.handle(Request(method, path, pairs, tuple(headers), body, peer))
        return Answer(response.status, response.body.decode(errors="replace"), response)

    async def control(self, path, body=None, method=None, **query):
        headers = [("content-type", "application/json")]
        method = method or ("GET" if body is None else "POST")
        data = b"" if body is None else json.dumps(body).encode()
        return await self.send(method, f"/_sim/{path}", query=query, body=data, headers=headers)

    async def create(self, name="vm", **more):
        wanted = {"name": name, "vpc": "acme", "configuration": VM_TYPE, "cluster": "Msc1", "ssh_keys": ["ssh-ed25519 A"]}
        return await self.call("CreateServer", **(wanted | more))

    async def status(self, name="vm"):
        """The status of a VM as its record tells it, None when there is no record."""
        answer = await self.call("GetServer", **at(name))
        return answer.data["status"] if answer.status == 200 else None

    async def words(self, name="vm", seconds=10.0, step=0.25):
        """The different statuses of a VM in their order while time passes."""
        seen = []
        for _ in range(int(seconds / step)):
            status = await self.status(name)
            if not seen or seen[-1] != status:
                seen.append(status)
            self.clock.advance(step)
        return seen

    async def online(self, name="vm", **more):
        """Make a VM and wait until it is ONLINE."""
        assert (await self.create(name, **more)).status == 202
        self.clock.advance(self.sim.state.knobs.provision_seconds)
        assert await self.status(name) == "ONLINE"

    async def ready_snapshot(self, name="snap", source="vm"):
        """Take a snapshot and wait until it is ready."""
        body = {"name": name, "namespace": "acme", "cluster": "Msc1", "sourceVMName": source}
        assert (await self.call("CreateSnapshot", **body)).status == 202
        self.clock.advance(self.sim.state.knobs.snapshot_seconds)

    def fault(self, kind, operation="*", **more):
        return self.sim.state.faults.add(Fault(kind=kind, operation=operation, **more))

    async def ledger(self, **query):
        return (await self.control("ledger", **query)).data["entries"]


def at(name="vm", namespace="acme", cluster="Msc1"):
    """The query parameters that name a VM or snapshot."""
    return {"Id": name, "Namespace": namespace, "Cluster": cluster}


def of(name="vm", namespace="acme", cluster="Msc1"):
    """The body members that name a VM."""
    return {"id": name, "namespace": namespace, "cluster": cluster}


async def test_sim_every_operation_of_the_specification_is_answered():
    cloud = Cloud()
    for operation, (method, path) in OPERATIONS.items():
        answer = await cloud.send(method, path)
        assert answer.status in {400, 401, 415}, operation


async def test_sim_an_unknown_path_is_404_and_in_the_ledger():
    cloud = Cloud()
    assert (await cloud.send("GET", "/api/v1/nothing", query={"apiKey": KEY})).status == 404
    (entry,) = await cloud.ledger()
    assert (entry["operation"], entry["parameters"]) == ("unknown", {"apiKey": "[redacted]"})


async def test_sim_a_wrong_method_is_405():
    assert (await Cloud().send("GET", OPERATIONS["CreateServer"][1])).status == 405
