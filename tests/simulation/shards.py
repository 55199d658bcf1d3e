"""Shards, tried out (docs/adr/0018): three processes, a Lease for each of two shards; each namespace belongs to one shard.

Nothing of this is in the product. The engine is the product's own; here it gets an election over several Leases, and a queue
that takes no key of another shard's namespace.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from gpucloud.engine.kube.client import KubeClient
from gpucloud.engine.kube.leader_election import LeaderElector, LeaseIdentity, NoElection
from gpucloud.engine.manager.manager import Engine
from gpucloud.engine.runtime.workqueue import Lane, WorkQueue
from gpucloud.reconcile.lease import LeaseDurations
from gpucloud.settings import Credentials
from simulation import scenario, single, telling
from simulation.books import Books
from simulation.choices import Choices
from simulation.feeder import Feeder
from simulation.fleet import SPEC
from simulation.judge import Judge
from simulation.links import KubeLink
from simulation.logs import SimulatedLog
from simulation.promises import Promises
from simulation.replica import Login, Replica
from simulation.world import NAMESPACES, World

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpucloud.engine.kube.leader_election import Leases
    from gpucloud.engine.manager.ports import Ports
    from gpucloud.engine.runtime.workqueue import Key
    from gpucloud.settings import Settings
    from gpucloud.sim.messages import Request
    from simulation.books import Life
    from simulation.choices import Key as Choice
    from simulation.process import Process, VirtualClock

SHARDS, REPLICAS = 2, 3
RIVALS_AT = 20.0  # seconds: when the first Leases are surely held


def shard_of(namespace: str, shards: int = SHARDS) -> int:
    """The shard with the highest hash of this namespace and its number: rendezvous hashing."""
    return max(range(shards), key=lambda number: hashlib.sha256(f"{namespace} {number}".encode()).digest())


def lease_name(settings: Settings, shard: int) -> str:
    """The name of a shard's Lease."""
    return f"{settings.lease_name}-{shard}"


class Candidate(LeaderElector):
    """A candidate for one shard's Lease, which does not ask for it while its process holds, or asks for, another's."""

    def __init__(self, election: ShardElection, shard: int, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self._election, self._shard = election, shard

    async def _acquire_or_renew(self) -> None:
        if self._election.asks_for not in {None, self._shard}:
            await asyncio.sleep(self._lasts.retry_period)
            return
        self._election.asks_for = self._shard
        await super()._acquire_or_renew()
        if not self._leading:  # refused, or unknown: then that Lease lapses, since this process never renews it as a leader
            self._election.asks_for = None


class ShardElection(NoElection):
    """A candidate for the Leases of all shards, and the holder of at most one. It is lost for good, as a single one is."""

    def __init__(self, engine: ShardedEngine, settings: Settings, leases: Callable[[], Leases], me: str) -> None:
        super().__init__(engine._lead)
        self.shard: int | None = None
        self.asks_for: int | None = None
        lasts = settings.lease_duration_seconds, settings.lease_renew_deadline_seconds, settings.lease_retry_period_seconds
        self._candidates = [
            Candidate(
                self,
                shard,
                leases(),
                engine._clock,
                LeaseIdentity(settings.lease_namespace, lease_name(settings, shard), me),
                LeaseDurations(*lasts),
                engine._ports.entropy,
                engine.tasks,
                on_lead=partial(self._won, shard),
                on_loss=engine._lose,
            )
            for shard in range(SHARDS)
        ]

    def start(self) -> None:
        """Become a candidate for all; the first Lease that is won counts."""
        for candidate in self._candidates:
            candidate.start()

    def is_leader(self) -> bool:
        """Whether this process holds the Lease of its shard now."""
        return self.shard is not None and self._candidates[self.shard].is_leader()

    async def stop(self) -> None:
        """Release the Lease, if one is held."""
        for candidate in self._candidates:
            await candidate.stop()

    def _won(self, shard: int) -> None:
        self.shard = shard
        for number, candidate in enumerate(self._candidates):
            if number != shard and candidate._task is not None:
                candidate._task.cancel()
        self._on_lead()


class ShardQueue(WorkQueue):
    """Takes no key of a namespace on which this process does not act, so that no worker ever sees it."""

    acts_on: Callable[[str], bool]

    def add(self, key: Key, lane: Lane = Lane.POLLS) -> None:
        """Queue a key."""
        if self.acts_on(key.namespace):
            super().add(key, lane)

    def requeue_at(self, key: Key, when: float | None) -> None:
        """Queue a key later."""
        if when is None or self.acts_on(key.namespace):
            super().requeue_at(key, when)


class ShardedEngine(Engine):
    """The engine of a process that acts for one shard, and watches every object."""

    def __init__(self, settings: Settings, clock: VirtualClock, ports: Ports) -> None:
        super().__init__(settings, Login, clock, ports)
        self.shards = ShardElection(self, settings, lambda: KubeClient(Login, transport=ports.kube()), ports.entropy.instance)
        self.election = self.shards
        queue = ShardQueue(clock, self.metrics.queue, settings.workers, self._flow_of)
        queue.acts_on = self.acts_on
        self.queue = queue

    def acts_on(self, namespace: str) -> bool:
        """Whether this process acts on the objects of a namespace."""
        return shard_of(namespace) == self.shards.shard


class ShardReplica(Replica):
    """A pod that is a candidate for every shard."""

    def __init__(self, world: World, number: int, settings: Settings, skew: float) -> None:
        super().__init__(world, number, settings)
        self._skew = skew

    def start(self) -> None:
        """Start the next process. All have one clock: people write one time for all shards into an annotation."""
        super().start()
        self.process.skew = self._skew

    def _made(self, clock: VirtualClock, ports: Ports) -> Engine:
        return ShardedEngine(self._settings, clock, ports)

    def _feeder(self, engine: Engine, *, acting: bool) -> Feeder:
        return Feeder(self._world, engine, KubeLink(self._world, self.process), acting=acting)


class ShardPromises(Promises):
    """The rules about calls; whoever sends one holds the Lease of the shard for whose namespace it is."""

    def __init__(self, world: World, found: Callable[[str, str], None]) -> None:
        super().__init__(world, found)
        self._held_before: tuple[dict[int, str], float] = ({}, 0.0)

    def led(self, process: Process, what: str) -> None:
        """Nobody writes an object, or changes the cloud for one, while another process holds its shard's Lease.

        A call for nobody's object is an orphan's: any shard's process may collect it. Excused as in the rule for one Lease.
        """
        shards = {shard_of(namespace) for namespace in self._namespaces(what)} or set(range(SHARDS))
        before, restored_at = self._held_before
        deadline = self._world.scenario.settings.lease_renew_deadline_seconds
        lately = self._world.loop.time() - restored_at < deadline
        if lately and any(before.get(shard) == process.name for shard in shards):
            return
        holders = {self._holder(shard) for shard in shards}
        if not holders & {process.name, ""}:
            self._found("lease", f"{process.name} sent {what} while {sorted(holders)} held the Lease of its shard")

    def _namespaces(self, what: str) -> set[str]:
        if "/namespaces/" in what:
            return {what.split("/namespaces/", 1)[1].split("/", 1)[0]}
        name = what.split("'")[1] if "'" in what else ""
        return {life.namespace for life in self._world.judge.books.texts.mentioning(name)}

    def restoring(self) -> None:
        """Etcd is about to go back in time, and the Leases with it."""
        self._held_before = ({shard: self._holder(shard) for shard in range(SHARDS)}, self._world.loop.time())

    def is_leader(self, process: Process) -> bool:
        """Whether this process holds any shard's Lease."""
        return bool(self.held_by(process))

    def held_by(self, process: Process) -> frozenset[int]:
        """The shards whose Lease this process holds; it may act for one of them only."""
        return frozenset(shard for shard in range(SHARDS) if self._holder(shard) == process.name)

    def _holder(self, shard: int) -> str:
        settings = self._world.scenario.settings
        path = f"/apis/coordination.k8s.io/v1/namespaces/{settings.lease_namespace}/leases/{lease_name(settings, shard)}"
        found = self._world.actors.admin.get(path) or {}
        return str((found.get("spec") or {}).get("holderIdentity") or "")


class ShardBooks(Books):
    """The books; where two objects record one name, a call is for that of the sender's shard."""

    senders: frozenset[int] = frozenset(range(SHARDS))  # whose Lease the sender of the call that is judged now holds

    def recording(self, kind: str, name: str) -> list[Life]:
        """Objects of a kind, and of these shards, whose status records this name."""
        return [life for life in super().recording(kind, name) if shard_of(life.namespace) in self.senders]


class ShardJudge(Judge):
    """The judge, for whom a Lease is a shard's."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._promises: ShardPromises = ShardPromises(world, self.found)
        self.books: ShardBooks = ShardBooks()

    def weigh(self, life: Life) -> None:
        """One thing stands for one object, also where two of different shards chose one name."""
        super().weigh(life)
        order = life.status.get("order") or {}
        if life.chosen and life.now is not None and life.ready.startswith("True/") and order.get("state") == "Seen":
            for other in self.books.recording(life.kind, str(order.get("name"))):
                same = other is not life and other.ready.startswith("True/")
                if same and other.records_place(order.get("vpc", ""), order.get("cluster", ""), life.status.get("tenancy", "")):
                    self.found("shared", f"{life.name} and {other.name} are both Ready by {order.get('name')!r}")

    def sent(self, process: Process, operation: str, request: Request) -> None:
        """An operator sends a call that changes the cloud."""
        held = self._promises.held_by(process)
        self.books.senders = held or ShardBooks.senders
        super().sent(process, operation, request)
        self.books.senders = ShardBooks.senders


class ShardedWorld(World):
    """A history with two shards and three processes, and an account in each namespace.

    ``rivals``: in the midst of it an object of each shard chooses one and the same name.
    """

    def __init__(
        self, seed: int, deviations: Mapping[Choice, object] | None = None, *, keep: bool = False, rivals: bool = False
    ) -> None:
        drawn = scenario.draw(Choices(seed, deviations))
        elects = {"leader_elect": True, "lease_namespace": "kube-system", "credentials": Credentials()}
        chosen = replace(drawn, settings=drawn.settings.replace(**elects), replicas=REPLICAS, own_account=False)
        super().__init__(seed, deviations, keep=keep, chosen=chosen)
        self.judge = ShardJudge(self)
        self._rivals = rivals
        skew = self.choices.choose("skew of all", (0.0, 90.0, -90.0, 3600.0))
        self.replicas = [ShardReplica(self, number, chosen.settings, skew) for number in range(REPLICAS)]

    def _start_again(self, replica: Replica) -> None:
        """A killed process is followed by another. While fewer lived than there are shards, nobody could hold some Lease."""
        if sum(one.process.alive for one in self.replicas) < SHARDS:
            self.judge.disturbed()
        super()._start_again(replica)

    async def _live(self) -> None:
        for namespace in NAMESPACES if self._rivals else ():
            rival = {**SPEC, "vmName": "rival"}
            self.act_later(RIVALS_AT, self.actors.owner.create, "GpuVM", namespace, "rival", rival)
        await super()._live()

    def kill(self, process: Process, why: str) -> None:
        """Kill -9. As many processes come back as there are shards."""
        super().kill(process, why)
        gone = sum(one.dead_for_good for one in self.replicas)
        for one in self.replicas:
            if one.process is process and gone > REPLICAS - SHARDS:
                one.dead_for_good = False  # before ``World`` comes to start it again


def run(histories: int, first: int, *, rivals: bool) -> int:
    """Let so many histories take place, and print what broke a rule; the exit code is 0 when none did."""
    single.quieten()
    oracles: Counter[str] = Counter()
    for seed in range(first, first + histories):
        world = ShardedWorld(seed, rivals=rivals)
        SimulatedLog.world, SimulatedLog.searched = world, False
        found = world.run().violations
        oracles.update(violation.oracle for violation in found[:1])
        for violation in found[:1]:
            print(f"seed {seed}: {violation}")
    by_rule = ", ".join(f"{rule} {count}" for rule, count in oracles.most_common()) or "none"
    print(f"{telling.histories(histories)} with {SHARDS} shards; violations: {by_rule}")
    return 1 if oracles else 0
