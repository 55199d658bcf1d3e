"""The oracles of haste: the request budget of each credential, and reconciles, writes and calls that nothing outside causes."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import CollectorRegistry

    from gpucloud.sim.messages import Request, Response
    from gpucloud.sim.world.vms import Vm
    from simulation.books import Life
    from simulation.process import Process
    from simulation.world import World

PASSES = "controller_runtime_reconcile_total"
LONGEST_PAUSE = {429: 300.0, 503: 10.0}  # for which Retry-After is honoured
NO_CAPACITY = 503
DUST = 1e-6
ROUNDING_SECONDS = 2.0  # times in status are whole seconds
QUERY_INTERVALS = 5  # of the fast poll, between two queries of what is free
PASSES_A_MINUTE = 20.0  # of each object, where nothing outside causes any
PASSES_A_CAUSE = 6.0
PASSES_A_LOOK = 2.0  # of each object that waits for capacity: when it is looked for, and when the answer has come
# Of each object, since the last cause outside: writes, orders, and calls that change what is there. What the cloud refuses for
# good is tried every five minutes, as the message says (reconcile/retry.py): an order five times at first, then twelve an hour.
# Each such order is announced in status, and its answer is recorded.
AN_HOUR = {"writes": 20, "orders": 8, "calls": 12, "refused orders": 17}
REFUSED_COSTS = {"writes": 2, "orders": 1}
FAILED_COSTS = {"writes": 6}  # of a VM that failed and is recreated: that it failed, its end twice, the new order, its steps
HOUR, SAMPLE_SECONDS = 3600.0, 60.0


@dataclass(slots=True)
class _Budget:
    """What a credential may still send."""

    tokens: float
    filled_at: float
    paused_until: float = 0.0


@dataclass(slots=True)
class _Sample:
    """What a process had counted by then."""

    at: float
    passes: float
    causes: int
    looks: int = 0  # answers to what is free
    lives: int = 0  # objects that there have ever been
    objects: int = 0  # objects and accounts that there are


class Rates:
    """Counts what every process sends, and how often it reconciles."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._budgets: dict[tuple[str, str], _Budget] = {}
        self._samples: dict[str, _Sample] = {}
        self._causes, self._looks = 0, 0
        self._met = 0  # faults
        self._calm_since = 0.0
        self._boot_logs: dict[tuple[str, str], float] = {}  # by process and VM: when its boot log was last read
        self._availability: dict[tuple[str, str, str], float] = {}  # by process, credential and cluster: when it was last told
        self._starts_refused: dict[tuple[str, bytes], float] = {}  # by process and body: when there was no capacity
        self._has_refused_a_start = False
        self._mutations: Counter[tuple[str, str]] = Counter()  # by UID and what it was, since the last cause outside
        self._failed: dict[str, set[float]] = {}  # by UID, since then: when each VM was made that failed and is recreated
        self._waiting: set[str] = set()  # UIDs of those that wait for capacity, as their status says
        self._waited: dict[str, float] = {}  # by UID: until when a status last said so

    def mutated(self, life: Life, what: str) -> None:
        """An operator has written this object's status, or sent a changing call for it."""
        met, now = self._world.weather.met.total(), self._world.loop.time()
        if met != self._met or now - self._calm_since > HOUR:
            self.disturbed()
            self._met = met
        self._mutations[life.uid, what] += 1
        refused = REFUSED_COSTS.get(what, 0) * self._mutations[life.uid, "refused orders"]
        failed = FAILED_COSTS.get(what, 0) * len(self._failed.get(life.uid, ()))
        if self._mutations[life.uid, what] - refused - failed > AN_HOUR[what]:
            words = f"{life.name}: more than {AN_HOUR[what]} within an hour, though nothing outside has happened"
            self._world.judge.found(f"causeless {what}", words)
            self.disturbed()

    def refused(self, life: Life) -> None:
        """The cloud has answered an order of this object with an error: a cause for passes, but not for all that follows."""
        self._causes += 1
        self.mutated(life, "refused orders")

    def committed(self, life: Life) -> None:
        """An object has changed: note until when it waited for capacity."""
        if (life.status.get("placement") or {}).get("waitingSince"):
            self._waiting.add(life.uid)
        elif life.uid in self._waiting:
            self._waiting.discard(life.uid)
            self._waited[life.uid] = self._world.loop.time()

    def failed(self, life: Life, row: Vm) -> None:
        """A VM that the cloud let fail is destroyed for another one: a cause for what that takes, once, and for no more."""
        failed = self._failed.setdefault(life.uid, set())
        self._causes += row.created not in failed
        failed.add(row.created)

    def disturbed(self) -> None:
        """Somebody or something outside has done something: what follows has a cause."""
        self._causes += 1
        self._calm_since = self._world.loop.time()
        self._mutations.clear()
        self._failed.clear()
        self._starts_refused.clear()

    # The request budget (design.md, invariant 9).

    def requests(self, process: Process, request: Request) -> None:
        """A request leaves."""
        settings, now = self._world.scenario.settings, self._world.loop.time()
        who = self._world.cloud.callers.of(request)
        budget = self._budgets.setdefault((process.name, who), _Budget(float(settings.cloud_burst), now))
        gained = (now - budget.filled_at) * settings.cloud_qps
        budget.tokens, budget.filled_at = min(float(settings.cloud_burst), budget.tokens + gained) - 1.0, now
        if budget.tokens < -DUST:
            self._world.judge.found("budget", f"{process.name} sends more than the request budget of {who} allows")
            budget.tokens = 0.0
        if now < budget.paused_until - DUST:
            left = budget.paused_until - now
            self._world.judge.found("budget", f"{process.name} sends with {who} {left:.1f} s before the cloud's Retry-After")
            budget.paused_until = 0.0

    def starts(self, process: Process, request: Request) -> None:
        """A process starts a VM: after an answer without capacity not before a listing could show whether it is on.

        Who waits for capacity repeats no call to see whether there is some. Excused: somebody has done something since.
        """
        before = self._starts_refused.get((process.name, request.body), -math.inf)
        since = self._world.loop.time() - before
        if since < self._world.grace - DUST:
            self._world.judge.found(
                "hasty start", f"{process.name} starts a VM again {since:.1f} s after there was no capacity"
            )

    def reads_boot_log(self, process: Process, vm: str) -> None:
        """A process has been answered the boot log of a VM: it asks late, and seldom.

        Excused: clocks that differ, and a status of another time, since the wait is counted from a time in status; and a VM
        that was made by hand, whose age no answer tells.
        """
        world, first = self._world, self._world.scenario.settings.boot_log_seconds
        now, before = world.loop.time(), self._boot_logs.get((process.name, vm), -math.inf)
        self._boot_logs[process.name, vm] = now
        world.judge.sometimes["boot log read"] += 1
        if now - before < first - ROUNDING_SECONDS:
            world.judge.found("boot log", f"{process.name} reads the boot log of {vm!r} again after {now - before:.1f} s")
        called = world.cloud.called(vm)
        lives = [world.judge.books.lives[maker] for _, _, maker in called if maker in world.judge.books.lives]
        rewritten = any(math.isfinite(max(one.tampered_at, one.restored_at)) for one in lives)
        excused = rewritten or any(one.skew for one in world.processes) or math.isfinite(world.judge.restored_at)
        born = [row.created - world.cloud.epoch for _, row, _ in called]
        if lives and now - min(born) < first - ROUNDING_SECONDS and not excused:
            world.judge.found("boot log", f"{process.name} reads the boot log of {vm!r}, which is {now - min(born):.1f} s old")

    def asks_what_is_free(self, process: Process, request: Request) -> None:
        """A process has been told what is free, with counts: seldom, and only while somebody waits for capacity.

        Another query, without counts, is for the catalogue.
        """
        asked = dict(request.query)
        if asked.get("reportNodes") == "false":
            return
        who, cluster, now = self._world.cloud.callers.of(request), asked["cluster"].casefold(), self._world.loop.time()
        before = self._availability.get((process.name, who, cluster), -math.inf)
        self._availability[process.name, who, cluster] = now
        self._world.judge.sometimes["waited for capacity"] += 1
        if now - before < QUERY_INTERVALS * self._world.scenario.settings.poll_pending_seconds - DUST:
            self._world.judge.found("availability", f"{process.name} asks {cluster!r} again after {now - before:.1f} s")
        if not self._has_refused_a_start and not any(map(self._has_waited, self._beside(cluster))):
            self._world.judge.found("availability", f"{process.name} asks {cluster!r}, where nobody ever waited for capacity")

    def _beside(self, cluster: str) -> Iterator[Life]:
        """Who may wait in this cluster, and who in their other ones: one that queues there stands in each of its lines.

        Who was refused there, too, whatever its spec says since: others may wait behind it whose status cannot be written.
        """
        judge, orders = self._world.judge, self._world.cloud.orders
        named = {life.uid: judge.choosing.clusters(life, judge.heard_within()) for life in judge.books.lives.values()}
        near = {cluster}.union(*(one for one in named.values() if cluster in one))
        refused = {one.uid for one in orders if one.cluster.casefold() == cluster and one.told != "accepted"}
        return (life for uid, life in judge.books.lives.items() if uid in refused or not named[uid] or named[uid] & near)

    def _has_waited(self, life: Life) -> bool:
        """Whether an order for it was refused, or had no clear answer; or its status says that it waits, also to be started.

        Or its VM is to be replaced: before it goes there must be room for the new one, whether or not a status says so yet.
        Excused: a query that was on its way when the wait ended.
        """
        lately = self._world.loop.time() - self._waited.get(life.uid, -math.inf) < self._world.judge.heard_within()
        return (
            life.uid in self._waiting
            or lately
            or bool(life.status.get("replacement"))
            or any(order.told != "accepted" for order in self._world.cloud.orders.of(life.uid))
        )

    def answered(self, process: Process, request: Request, response: Response) -> None:
        """Its answer has arrived; a pause that it asks for begins now."""
        self.sample()
        operation = self._world.cloud.operation(request)
        self._looks += operation == "GetAvailability"
        if response.status == NO_CAPACITY and operation == "StartServer":
            self._starts_refused[process.name, request.body] = self._world.loop.time()
            self._has_refused_a_start = True
        longest = LONGEST_PAUSE.get(response.status)
        said = dict(response.headers).get("retry-after", "")
        budget = self._budgets.get((process.name, self._world.cloud.callers.of(request)))
        if longest is not None and budget is not None and said.isdecimal():
            budget.paused_until = max(budget.paused_until, self._world.loop.time() + min(float(said), longest))

    # Hot loops (design.md, invariant 13).

    def sample(self) -> None:
        """Compare what each process counts with what there was cause for, about once a minute."""
        world = self._world
        now = world.loop.time()
        for replica in world.replicas:
            process, engine = replica.process, replica.engine
            before = self._samples.get(process.name)
            if engine is None or not process.alive or (before is not None and now - before.at < SAMPLE_SECONDS):
                continue
            causes = self._causes + sum(world.weather.met.values())
            passes = passes_of(engine.metrics.registry)
            lives = self._world.judge.books.lives
            objects = sum(1 for _ in self._world.judge.books.standing()) + len(self._world.actors.forms)
            self._samples[process.name] = _Sample(now, passes, causes, self._looks, len(lives), objects)
            if before is not None:
                came = before.objects + len(lives) - before.lives
                since = (now - before.at, passes - before.passes, causes - before.causes, self._looks - before.looks)
                done = _Sample(*since, objects=max(1, came))
                self._compare(process, done)

    def _compare(self, process: Process, done: _Sample) -> None:
        waiting = sum(map(self._has_waited, self._world.judge.books.standing()))
        allowed = done.objects * (PASSES_A_MINUTE * done.at / 60.0 + PASSES_A_CAUSE * done.causes)
        allowed += waiting * PASSES_A_LOOK * done.looks
        if done.passes > allowed:
            words = f"{done.passes:g} reconciles of {done.objects} objects in {done.at:.0f} s, with {done.causes} causes"
            self._world.judge.found("hot passes", f"{process.name}: {words}")


def passes_of(registry: CollectorRegistry) -> float:
    """How many reconciles a process has counted since it began."""
    found = registry.restricted_registry([PASSES]).collect()
    return sum(sample.value for family in found for sample in family.samples if sample.name == PASSES)
