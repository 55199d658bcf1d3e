"""One controller over a reconciler that decides as a test says, with a fake apiserver."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from gpucloud.engine.cache.store import Store
from gpucloud.engine.controller.controller import Controller
from gpucloud.engine.controller.deps import ControllerDeps
from gpucloud.engine.controller.workers import stop, work
from gpucloud.engine.kube.event_recorder import EventRecorder
from gpucloud.engine.kube.events import Event
from gpucloud.engine.runtime.entropy import SystemEntropy
from gpucloud.engine.runtime.workqueue import Flow, Key, WorkQueue
from gpucloud.engine.telemetry.metrics import Metrics
from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus
from gpucloud.reconcile.facts import Now
from support.builders import a_status
from support.fakes import UID, FakeKube, LoopClock, a_body

KEY = Key("GpuVM", "team", "train", UID)
CREATING, RUNNING = a_status("Creating"), a_status("Running", "True", None)


@dataclass
class Gathered:
    now: Now
    status: GpuVMStatus


@dataclass
class FakeReconciler:
    """Decides by a function of the status that stands, and notes what it is told to do."""

    clock: LoopClock
    plan: object
    kind: str = "GpuVM"
    plural: str = "gpuvms"
    gather_takes: float = 0.0
    act_takes: float = 0.0
    unsent: int = 0
    slow: bool = False  # the effect of each call shows later
    deferred: bool = False  # a listing that an object needs is about to come
    outcome: Event | None = None  # of each call, where it is another than success
    acted: list = field(default_factory=list)
    left: list = field(default_factory=list)  # and whether it was still meant when its turn came
    recorded: list = field(default_factory=list)
    attended: list = field(default_factory=list)
    forgotten: list = field(default_factory=list)
    seen: list = field(default_factory=list)
    running: int = 0
    most: int = 0

    def __post_init__(self):
        self.store, self.gathered = Store(GpuVMSpec, GpuVMStatus), None

    def needs_finalizer(self, stored):
        return not (stored.meta.has_finalizer or stored.meta.deleting)

    def awaits_first_listing(self, _stored):
        return self.deferred

    def defer_to_listing(self, _stored):
        assert self.deferred

    async def gather(self, stored):
        self.gathered = stored
        gathered = Gathered(Now(self.clock.wall(), self.clock.mono()), stored.status)
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(self.gather_takes)
        self.running -= 1
        return gathered

    def decide(self, facts):
        return self.plan(facts)

    async def act(self, facts, plan):
        verb = plan.action
        self.acted.append((verb, facts.status))
        await asyncio.sleep(self.act_takes)
        self.left.append((verb, self.store.is_current(self.gathered)))
        if self.unsent:
            self.unsent -= 1
            return None
        return self.outcome or Event("Created", "Done.", verb, always=True)

    def has_delayed_effect(self, _stored, _verb):
        return self.slow

    def before_recording(self, uid, status):
        self.recorded.append((uid, status.order.name))

    def follow_up(self, _uid, plan):
        self.attended.append(plan)

    def on_update(self, stored):
        self.seen.append(stored.status)

    def on_delete(self, key):
        self.forgotten.append(key)


class Rig:
    key = KEY

    def __init__(self, plan, **more):
        self.clock, self.kube, self.metrics = LoopClock(), FakeKube(), Metrics()
        self.outdated = []  # when the controller said that its cache may be
        self.queue = WorkQueue(self.clock, self.metrics.queue, 50, lambda key: Flow(key.namespace))
        self.reconciler = FakeReconciler(self.clock, plan, **more)
        self.events = EventRecorder(self.kube, self.clock, self.reconciler.store.entries)
        deps = ControllerDeps(
            queue=self.queue,
            kube=self.kube,
            events=self.events,
            metrics=self.metrics,
            clock=self.clock,
            entropy=SystemEntropy(),
            is_leader=lambda: True,
            longest_spacing=60.0,
            outdated=lambda: self.outdated.append(self.clock.mono()),
        )
        self.loop = Controller(self.reconciler, deps)
        self.workers = []

    def put(self, status=None, **more):
        document = {} if status is None else {"status": status.model_dump(mode="json", by_alias=True, exclude_none=True)}
        self.reconciler.store.put(a_body(**document, **more))

    async def live(self, seconds, workers=2):
        self.queue.add(KEY)
        self.workers = [asyncio.create_task(work(self.queue, {"GpuVM": self.loop})) for _ in range(workers)]
        await asyncio.sleep(seconds)

    async def posted(self):
        """The Events, once all that are queued have been posted."""
        posting = asyncio.create_task(self.events.run())
        await self.events.drain()
        posting.cancel()
        return self.kube.events

    async def end(self):
        await stop(self.workers, self.queue, 1.0)

    def count(self, name, **labels):
        return self.metrics.registry.get_sample_value(name, labels) or 0.0
