"""The simulated cloud in the simulated world: the product's own simulator, on virtual time, with faults chosen call by call.

It also keeps the one truth that the operator cannot know: for which object each thing was made, by whom.
"""

from __future__ import annotations

import json
import math
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import SecretStr

from gpucloud.sim.config import SimConfig
from gpucloud.sim.knobs import Knobs
from gpucloud.sim.messages import Ending, Request, Response
from gpucloud.sim.routes import find
from gpucloud.sim.simulator import Simulator
from gpucloud.sim.world.catalogue import Place
from gpucloud.sim.world.identity import LIFETIMES, ApiKey
from gpucloud.sim.world.refusals import Refused
from gpucloud.sim.world.snapshots import Snapshot
from gpucloud.sim.world.vms import Vm, VmOrder
from gpucloud.sim.world.vpcs import Vpc
from gpucloud.sim.world.world import ImageChoice
from simulation.cloud_faults import fault_of, possible
from simulation.credentials import ACCOUNTS, KEYS, USERS, Callers
from simulation.indexes import Orders, Rows
from simulation.process import EPOCH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.process import Process
    from simulation.world import World

BEGINNING = EPOCH.timestamp()
DESTROYS = {"DestroyServer", "DeleteSnapshot", "DestroyVpc"}
CREATES = {"CreateServer": "GpuVM", "CreateSnapshot": "GpuSnapshot", "CreateVpc": "GpuVpc"}
SHORT = frozenset({"list-foreign", "list-more"})  # listings that lack records, and show that they do
Row = Vm | Snapshot | Vpc


@dataclass(slots=True)
class Order:
    """One CreateX that an operator sent. ``answer``: accepted, refused or unclear, once there is one."""

    at: float
    operation: str
    name: str
    uid: str
    answer: str = ""
    known: float = 0.0
    sender: str = ""
    vpc: str = ""  # of a VM or snapshot
    cluster: str = ""
    tenant: str = ""  # of the key
    configuration: str = ""  # of a VM
    tenancy: str = ""  # the tenant in the object's status when it was sent
    perhaps: bool = False  # it may have been accepted: its 2xx answer could not be read, or any was lost with its process
    told: str = ""  # the answer as its sender had it, whether or not it had time to record it
    unread: bool = False  # its 2xx answer could not be read
    unheard: float = math.inf  # when who sent it waited no longer for its answer


class Lag(NamedTuple):
    """How far behind listings are from a time on."""

    since: float
    seconds: float


class Clock:
    """The cloud's clock: virtual time."""

    def __init__(self, world: World) -> None:
        self._world = world

    def now(self) -> float:
        """Seconds since 1970."""
        return BEGINNING + self._world.loop.time()

    async def sleep(self, seconds: float) -> None:
        """Nothing in the cloud waits: delays are the links'."""
        raise RuntimeError(f"the cloud is not to wait for {seconds} s")


class Cloud:
    """Carries out requests, with at most one fault each."""

    def __init__(self, world: World) -> None:
        self._world = world
        knobs = self._knobs()
        config = SimConfig(knobs=knobs, api_key=SecretStr(KEYS["good"]), accounts=ACCOUNTS)
        self.callers = Callers()
        self.sim = Simulator(config, Clock(world))
        self.makers: dict[tuple[str, int], str] = {}  # (table, key) to UID of the object, or the name of a stranger
        self.orders = Orders()
        self.rows = Rows()
        self.epoch = BEGINNING
        self._seen = {"vms": 0, "snapshots": 0, "vpcs": 0}
        self._renamed = 0
        self._requests: dict[str, deque[float]] = {}  # of the last second, by credential
        self._most = 0  # of them
        self.lags: list[Lag] = [Lag(0.0, 0.0)]
        self._has_listed = False
        self.outsider = ""
        self.only_pretends = False  # what is to be destroyed: that is accepted, and nothing comes of it
        self._sender = ""  # of the request that is carried out now
        self._add_key("other", USERS["other"])

    def _knobs(self) -> Knobs:
        choose = self._world.choices.choose
        knobs = Knobs(
            provision_seconds=choose("provision", (5.0, 1.0, 40.0)),
            destroy_seconds=choose("destroying", (2.0, 0.5, 20.0)),
            snapshot_seconds=choose("taking a snapshot", (3.0, 30.0), (3, 1)),
            login_token_seconds=choose("token seconds", (86_400.0, 4 * self._world.grace, self._world.grace), (2, 1, 1)),
            cluster_spelling=choose("spelling", ("any_case", "upper")) if self._world.respelled else "exact",
        )
        if not self._world.weather.has("odd-knobs"):
            return knobs
        return knobs.model_copy(
            update={
                "answers": choose("knob answers", ("plain", "wrapped")),
                "error_form": choose("knob errors", ("abp", "empty", "html", "text_error", "null_error")),
                "refusals": choose("knob refusals", ("as_listed", "all_500", "success_false_at_200")),
                "duplicate_vm": choose("knob twice", ("refuse_409", "refuse_400", "refuse_500", "existing")),
                "missing_vm_status": choose("knob missing", (404, 400, 500)),
                "wrong_power_state": choose("knob power", ("accept_202", "refuse_400", "refuse_422", "refuse_500")),
                "provision_outcome": choose("knob outcome", ("ONLINE", "CREATE_FAILED"), (9, 1)),
                "total_count": choose("knob total", ("absent", "present")),
                "create_without_capacity": choose("knob no room", ("wait", "refuse_503")),
                "start_without_capacity": choose("knob no room to start", ("refuse_503", "wait")),
                "created_word": choose("knob word", ("na", "PENDING", "\U0001f4a5 NEW")),
            }
        )

    def _add_key(self, which: str, owner: str) -> None:
        now = self.now()
        key = ApiKey("", owner, "", which, None, now, now + LIFETIMES["one_year"])
        self.sim.state.world.identity.add_key(KEYS[which], key)

    @property
    def lag(self) -> float:
        """How far behind listings are now, while faults last."""
        return self.lags[-1].seconds

    @lag.setter
    def lag(self, seconds: float) -> None:
        if not self._has_listed:
            self.lags = [Lag(0.0, seconds)]
        elif seconds != self.lag:
            self.lags.append(Lag(self._world.loop.time(), seconds))

    def behind(self, at: float) -> float:
        """How far behind a listing of this time is. A lag that begins later shows nothing older than was shown before."""
        age, ends = math.inf, (*(one.since for one in self.lags[1:]), math.inf)
        for one, end in zip(self.lags, ends, strict=True):
            if one.since <= at:
                age = min(one.seconds, age + min(at, end) - one.since)
        return age

    def now(self) -> float:
        """The cloud's time."""
        return self.sim.state.now()

    @property
    def world(self) -> Any:
        """The cloud as it truly is, with all that was due."""
        return self.sim.state.world

    def operation(self, request: Request) -> str:
        """What a request asks for."""
        route = find(request.method, request.path, self.sim.state.knobs)
        return "unknown" if isinstance(route, int) else route.operation

    def carry_out(self, process: Process, operation: str, request: Request, fault: str) -> Response | None:
        """Do what a request asks for, and answer, both as the fault has it."""
        fault = possible(self._world, operation, request, fault or self._over_budget(request))
        if operation in DESTROYS and self.only_pretends and not self._world.weather.over:
            self._world.judge.sometimes["destruction pretended"] += 1
            fault = fault or "write-ghost"  # no cause for calls, as a fault that is drawn is: it may last for hours
        request = self._named_by_cloud(operation, request, fault)
        armed = fault_of(self._world, operation, fault, request, self._age(operation))
        if armed is not None:
            self.sim.state.faults.add(armed)
        self.notice()
        self._sender = process.name
        response = _now(self.sim.handle(request))
        self.sim.state.faults.clear()
        self.notice()
        self._sender = ""
        if operation == "Authenticate":
            self.callers.issued(request, response)
        response = self._rewritten(operation, response, fault)
        self._world.judge.answered(process, operation, request, response, fault)
        return response

    def _over_budget(self, request: Request) -> str:
        """This cloud counts the requests of each credential within a second, and refuses those that are too many."""
        if not self._world.weather.has("cloud-budget"):
            return ""
        now, times = self.now(), self._requests.setdefault(self.callers.of(request), deque())
        times.append(now)
        while times[0] <= now - 1.0:
            times.popleft()
        self._most = self._most or self._world.choices.choose("cloud's budget", (4, 2, 8))
        return "cloud-429" if len(times) > self._most else ""

    def _age(self, operation: str) -> float:
        """How far behind listings are, in this history."""
        if not operation.startswith("Get"):
            return 0.0
        lags = self._world.weather.has("lag")
        if lags:
            self.lag = self.lag or self._world.choices.choose("lag", (0.3, 0.8, 3.0, 7.0)) * self._world.grace
        self._has_listed = True
        return self.behind(self._world.loop.time()) if lags else 0.0

    def _named_by_cloud(self, operation: str, request: Request, fault: str) -> Request:
        """This cloud gives some VMs names of its own, and says so in its answer; one that is lost would leave no trace.

        A name that is taken is refused all the same: names are unique, and the second order of an object relies on that.
        """
        if operation != "CreateServer" or fault or not self._world.weather.has("own-id"):
            return request
        said = json.loads(request.body)
        taken = any(table == "vms" and name_of(row) == said["name"] for table, row, _ in self.live())
        if taken or not self._world.choices.chance("cloud's own name", 0.5):
            return request
        self._renamed += 1
        self._world.cloud_names[f"srv-{self._renamed}"] = said["name"]
        return replace(request, body=json.dumps({**said, "name": f"srv-{self._renamed}"}).encode())

    def _rewritten(self, operation: str, response: Response, fault: str) -> Response:
        if fault not in SHORT or response.status != 200 or response.ending is not Ending.COMPLETE:
            return response
        document = json.loads(response.body)
        inner = document.get("result") if isinstance(document.get("result"), dict) else document
        items = inner.get("items")
        if not isinstance(items, list):
            return response
        if fault == "list-more":
            inner |= {"items": items[: len(items) // 2], "totalCount": len(items) + 1}
        elif operation != "GetSnapshots":
            inner["items"] = [
                *items[: len(items) // 2],
                {"id": "elsewhere", "name": "elsewhere", "namespace": "acme", "cluster": "Xyz9"},
            ]
        return replace(response, body=json.dumps(document).encode())

    def notice(self) -> None:
        """See what has been made since, and for whom."""
        for table in self._seen:
            changes = getattr(self.world, table).table.changes
            for number in range(self._seen[table], len(changes)):
                self._changed(table, changes[number])
            self._seen[table] = len(changes)

    def _changed(self, table: str, change: Any) -> None:
        row: Row = change.after or change.before
        key = (table, key_of(row))
        if change.before is None:
            self.makers[key] = self.orderer(row)
            self.rows.made(table, change.key, name_of(row), self.makers[key])
            self._world.tell("cloud", f"made {table[:-1]} {name_of(row)}", f"for {self.makers[key]}")
        elif change.after is None:
            self._world.tell("cloud", f"gone is {table[:-1]} {name_of(row)}")
        self._world.judge.changed(table, change, self.makers.get(key, "nobody"))

    def orderer(self, row: Row) -> str:
        if self.outsider or (isinstance(row, Vpc) and row.is_default):
            return self.outsider or "the tenant"
        name = self._world.cloud_names.get(name_of(row), name_of(row))
        what = row.order if isinstance(row, Vm) else row
        there = what.vpc if isinstance(row, Vm) else getattr(row, "namespace", "")
        found = [
            order
            for order in self.orders.named(name)
            if order.tenant == what.tenant
            and order.vpc in {there, ""}
            and order.cluster.casefold() == what.cluster.casefold()
            and order.answer != "refused"
        ]
        sent = [order for order in found if order.sender == self._sender]  # two processes may order one name at once
        return (sent or found)[-1].uid if found else "nobody"

    def live(self) -> Iterator[tuple[str, Row, str]]:
        """Everything that exists: its table, its record, its maker."""
        for table in self._seen:
            for row in getattr(self.world, table).table.rows():
                yield table, row, self.maker_of(table, row)

    def maker_of(self, table: str, row: Row) -> str:
        """For whom a record was made; ``orderer`` finds out by the orders that were not refused."""
        return self.makers.get((table, key_of(row)), "nobody")

    def made_for(self, uid: str) -> list[tuple[str, Row]]:
        """Table and record of what exists and was made for an object."""
        there = self.rows.of(uid, self.world)
        return [(table, row) for table, row in there if self.maker_of(table, row) == uid]

    def called(self, name: str) -> list[tuple[str, Row, str]]:
        """Table, record and maker of what exists, has been noticed and has this name."""
        there = self.rows.named(name, self.world)
        return [(table, row, self.maker_of(table, row)) for table, row in there if name_of(row) == name]

    # What others do.

    def make_vm(self, name: str, vpc: str, cluster: str, who: str) -> bool:
        """Somebody else makes a VM of that name, in our tenant."""
        order = VmOrder(cluster, vpc, name, "A100_40GB_PCIe_1x", "on-demand", "", "acme", who)
        return self._outside(lambda: self.world.create_vm(order, ImageChoice(), self.now()), who)

    def turn(self, **knobs: Any) -> None:
        """Let this cloud behave otherwise from now on."""
        self.world.rules.knobs = self.world.rules.knobs.model_copy(update=knobs)

    def set_capacity(self, total: int, cluster: str = "Msc1", configuration: str = "A100_40GB_PCIe_1x") -> None:
        """How many VMs of a configuration fit in a cluster from now on."""
        for pool in ("on-demand", "reserved-acme"):
            place = Place(configuration, cluster, pool)
            self.world.catalogue.set_total(place, total)
            self.world.vms.serve_waiting(place, self.now())

    def end_logins(self) -> None:
        """No token is good any more."""
        self.world.identity.end_logins()

    def make_vpc(self, name: str, cluster: str, who: str) -> bool:
        """Somebody else makes a VPC."""
        return self._outside(lambda: self.world.vpcs.create(Vpc("", name, cluster, "acme", "", self.now()), self.now()), who)

    def end_vpc(self, name: str) -> bool:
        """Somebody else destroys the VPC of that name, as the cloud lets them while nothing is in it."""
        vpc = next((row for table, row, _ in self.live() if table == "vpcs" and name_of(row) == name), None)
        inside = (place_of(row)[1] or getattr(row, "namespace", "") for table, row, _ in self.live() if table != "vpcs")
        return vpc is not None and name not in inside and self._outside(lambda: self.world.vpcs.destroy(vpc, self.now()))

    def make_snapshot(self, name: str, source: tuple[str, str, str], who: str) -> bool:
        """Somebody else takes a snapshot of a VM."""
        wanted = Snapshot(*source[:2], name, source[2], "", 0, "acme", who)
        return self._outside(lambda: self.world.create_snapshot(wanted, self.now()), who)

    def end_vm(self, name: str, vpc: str, cluster: str) -> bool:
        """Somebody else destroys the VM of that name."""
        return self._outside(lambda: self.world.destroy_vm(self._vm(name, vpc, cluster), self.now(), delete_snapshots=False))

    def fail_vm(self, name: str, vpc: str, cluster: str) -> bool:
        return self._outside(lambda: self.world.vms.force(self._vm(name, vpc, cluster), "FAILED", self.now()))

    def power_vm(self, name: str, vpc: str, cluster: str, *, on: bool) -> bool:
        """Somebody else starts or stops it."""
        switch = self.world.vms.start if on else self.world.vms.stop
        return self._outside(lambda: switch(self._vm(name, vpc, cluster), self.now()))

    def _vm(self, name: str, vpc: str, cluster: str) -> Any:
        return self.world.vms.require((cluster, vpc, name), "acme")

    def _outside(self, deed: Any, who: str = "somebody") -> bool:
        self.notice()
        self.outsider = who
        try:
            deed()
        except Refused:
            return False
        finally:
            self.notice()
            self.outsider = ""
        return True


def name_of(row: Row) -> str:
    """What a thing is called."""
    return row.order.name if isinstance(row, Vm) else row.name


def key_of(row: Row) -> Any:
    """What tells it from another of its name."""
    return row.uid if isinstance(row, Vm) else (row.name, row.created)


def place_of(row: Row) -> tuple[str, str]:
    """The cluster, and the VPC of a VM or snapshot, within which its name is its own."""
    if isinstance(row, Vm):
        return row.order.cluster.casefold(), row.order.vpc
    return row.cluster.casefold(), row.namespace if isinstance(row, Snapshot) else ""


def _now(coroutine: Any) -> Response:
    """The result of a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        found: Response = stop.value
        return found
    raise RuntimeError("the cloud waited")
