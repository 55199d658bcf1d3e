"""A small world round the pure core: a cloud, one object in an apiserver, and processes that pass over it. No I/O, own time.

It stands in for engine and cloud in the histories, and knows their rules only, none of their code. What it must know of a kind
is in ``worldkinds``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.facts import (
    CREATES,
    Absent,
    Attempt,
    Blindness,
    Limits,
    Memory,
    Now,
    ObjectFacts,
    Present,
    Refusal,
    Unknown,
    Verb,
)
from support.builders import START, UID
from support.modelcloud import Refused
from support.snapshotfacts import NOWHERE
from support.worldkinds import VmKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.kinds.common import CloudSpec, CloudStatus

POWER = frozenset({Verb.START, Verb.STOP})
DESTROYS = frozenset({Verb.DESTROY, Verb.DESTROY_VPC, Verb.DELETE_SNAPSHOT})
SETTLED = {Reason.RUNNING: "ONLINE", Reason.POWERED_OFF: "OFFLINE"}
STALE_FACTS_SECONDS = 10.0
TAKES_SECONDS = 0.05  # from the beginning of a listing to its answer


@dataclass(frozen=True)
class Object:
    """The custom resource as one version of it stands in the apiserver."""

    spec: CloudSpec
    meta: ObjectFacts
    status: CloudStatus
    version: int = 1


@dataclass
class Apiserver:
    """One object, and its guarded writes."""

    object: Object | None
    history: list[Object | None] = field(default_factory=list)
    status_writes: int = 0

    def change(self, **changes: Any) -> None:
        """Any write; a new spec is a new generation, and a deleted object without our finalizer is gone."""
        if self.object is None:
            return
        if "spec" in changes:
            changes["meta"] = replace(changes.get("meta", self.object.meta), generation=self.object.meta.generation + 1)
        new = replace(self.object, version=self.object.version + 1, **changes)
        self.object = None if new.meta.deleting and not new.meta.guarded else new
        self.history.append(self.object)


@dataclass
class View:
    """One process's inventory: the last listing, and since when our thing is missing from it."""

    kind: Any
    records: tuple[Any, ...] = ()
    beside: Any = ()  # what else the listings showed
    as_of: float | None = None
    blind: Unknown | None = None
    missing_since: float | None = None
    was_partial: bool = False
    shown_before: frozenset[str | None] = frozenset()
    as_of_before: float | None = None

    def observe(self, name: str, now: float):
        if self.blind is not None:
            return self.blind
        if self.as_of is None:
            return Unknown(now, Blindness.NOT_LOOKED)
        found = [record for record in self.records if self.kind.name(record) == name]
        if found:
            return Present(found[0], self.as_of, twins=len(found) > 1)
        confirmed = None if name in self.shown_before else self.as_of_before
        return Absent(self.as_of, self.missing_since if self.missing_since is not None else self.as_of, confirmed)


@dataclass
class Process:
    """What one running operator knows; all of it is lost in a crash."""

    cache: Object | None
    read: int  # how much of the apiserver's history was delivered
    memory: Memory
    view: View
    thought: tuple[Any, Object, Any] | None = None
    wake_at: float | None = None
    waits_for: float | None = None  # a listing that began at or after this
    pending: bool = False
    next_listing: float = 0.0


def forbidden(facts: Any, verb: Verb, *, retained: bool) -> list[str]:
    """What is wrong with sending this call by these facts, whatever the cloud makes of it."""
    intent, here = facts.status.intent, facts.identity
    recorded = intent is not None and (intent.cluster, intent.vpc, intent.name) == (here.cluster, here.vpc, here.name)
    rules = {
        "sent while paused": facts.meta.annotations.get("gpucloud.dev/paused") == "true",
        "sent without our finalizer": not facts.meta.guarded,
        "sent while nothing can be seen": isinstance(facts.found, Unknown),
        "sent for what is another's": facts.owner is not None,
        "ordered without a record of it": verb in CREATES and not recorded,
        "ordered by a record of somebody else": verb in CREATES and recorded and intent.id not in facts.memory.intent_ids,
        "ordered for what is deleted": verb in CREATES and facts.meta.deleting,
        "ordered in a namespace that goes": verb in CREATES and facts.namespace_terminating,
        "destroyed though nobody deletes it": verb in DESTROYS and not facts.meta.deleting,
        "destroyed though it is to be kept": verb in DESTROYS and retained,
    }
    return [words for words, broken in rules.items() if broken]


class World:
    """All of it together, with a clock that only moves when told."""

    def __init__(
        self, *, kind=VmKind, twice="twin", illegal="tolerated", vm_name=None, foreign=False, processes=1, guarded=True
    ):
        self.now = 1000.0
        self.limits = Limits()
        self.kind = kind
        self.cloud = kind.cloud(twice, illegal)
        if foreign:
            self.cloud.bear(vm_name, -60.0, foreign=True)
        self.placed = True  # whether what its spec refers to is there
        self.own_name = vm_name is None  # it bears a fingerprint
        self.terminating = False  # its namespace is being deleted
        self.owner_of: Callable[[Process, Object], str | None] = lambda _process, _item: None  # who else was first to claim it
        self.on_gone: Callable[[Process], None] = lambda _process: None  # a process has seen that the object is gone
        meta = ObjectFacts("team", "train", UID, 1, deleting=False, guarded=guarded, annotations={})
        self.kube = Apiserver(Object(kind.spec(vm_name), meta, kind.status()))
        self.processes = [self._start() for _ in range(processes)]
        self.wrongs: list[str] = []
        self.outside_destroyed = False
        self.crashed = False
        self.beyond_knowing = False  # somebody else switched it, or a new process was shown the past
        self.called_invalid = False
        self.thoughts = 0

    def _start(self) -> Process:
        process = Process(
            self.kube.object, len(self.kube.history), Memory(first_seen=self.now), View(self.kind), next_listing=self.now
        )
        self._notice(process)
        return process

    def _notice(self, process: Process) -> None:
        """As the engine does with every view of the object: an intent that this process did not write is a stranger's."""
        item = process.cache
        if item is not None and not item.meta.guarded and not item.meta.deleting:
            process.memory = replace(process.memory, seen_new=True)
        intent = item.status.intent if item is not None else None
        if intent is not None and intent.id not in process.memory.intent_ids | {process.memory.stranger_id}:
            process.memory = replace(process.memory, stranger_id=intent.id, stranger_seen=self.now, unclear=True)

    def crash(self, number: int) -> None:
        self.crashed = True
        self.processes[number] = self._start()

    def tick(self, seconds: float) -> None:
        self.now += seconds
        self.cloud.settle(self.now)
        self.check()

    def check(self) -> None:
        if len(self.cloud.living(self.now)) > 1:
            self.wrongs.append("two of ours live for one object")
        if self.cloud.touched_foreign:
            self.wrongs.append("what is somebody else's was touched")

    def deliver(self, process: Process, but: int = 0) -> bool:
        """Hand over the events that wait, except the last ``but``; answers whether anything changed."""
        news = self.kube.history[process.read : len(self.kube.history) - but]
        process.read += len(news)
        before = process.cache
        for item in news:
            if item is None or (process.cache is not None and item.version > process.cache.version):
                process.cache = item
                self._notice(process)
        if process.cache is None and before is not None:
            self.on_gone(process)
        return process.cache is not before

    def list(self, process: Process, how: str = "good", lag: float = 0.0) -> bool:
        """One listing; answers whether what it says of our thing is new."""
        view, name = process.view, self._name(process)
        before = view.observe(name, self.now)
        if how in {"failed", "refused"}:
            cause = Blindness.UNREACHABLE if how == "failed" else Blindness.REFUSED
            view.blind = Unknown(view.blind.since if view.blind else view.as_of or self.now, cause)
            return not isinstance(before, Unknown)
        view.shown_before, view.as_of_before = frozenset(map(self.kind.name, view.records)), view.as_of
        partial = how == "partial" and not view.was_partial  # a service that leaves out the same one twice running is lost
        seen = [(thing, thing.word(self.now - lag)) for thing in self.cloud.things if not (partial and thing.name == name)]
        view.records = tuple(self.kind.record(thing, word) for thing, word in seen if word is not None)
        beside, view.beside = view.beside, self.kind.beside(self, self.now - lag)
        view.was_partial, view.blind, view.as_of = partial, None, self.now - TAKES_SECONDS
        missing = not any(self.kind.name(record) == name for record in view.records)
        view.missing_since = (view.as_of if view.missing_since is None else view.missing_since) if missing else None
        after = view.observe(name, self.now)
        news = (type(before), getattr(before, "record", None)) != (type(after), getattr(after, "record", None))
        return news or beside != view.beside

    def _name(self, process: Process) -> str:
        item = process.cache
        here = self.kind.identity(self, item) if item is not None else None
        return here.name if here is not None else ""

    def think(self, process: Process) -> None:
        """Gather and decide; what follows from it is done by ``do``, perhaps a while later."""
        process.thought = None
        item = process.cache
        if item is None:
            process.pending, process.wake_at, process.waits_for = False, None, None
            return
        self.thoughts += 1
        facts = self._facts(process, item)
        plan = self.kind.decide(facts)
        process.thought = (facts, item, plan)
        self._forget_power_calls(process, plan)
        process.pending, process.wake_at = plan.pending, plan.wake_at
        if plan.look_after is not None and plan.look_after > self.now:
            process.wake_at = min(plan.look_after, plan.wake_at or plan.look_after)
        process.waits_for = plan.look_after if plan.look_after is not None and plan.look_after <= self.now else None

    def _facts(self, process: Process, item: Object) -> Any:
        here = self.kind.identity(self, item)
        unplaced = Unknown(self.now, Blindness.UNPLACED)
        common = {
            "now": Now(START + timedelta(seconds=int(self.now)), self.now),
            "meta": item.meta,
            "spec": item.spec,
            "status": item.status,
            "identity": here or NOWHERE,
            "found": unplaced if here is None else process.view.observe(here.name, self.now),
            "memory": process.memory,
            "limits": self.limits,
            "owner": self.owner_of(process, item),
            "namespace_terminating": self.terminating,
            "nonce": f"{item.meta.uid} {self.thoughts}",
        }
        return self.kind.facts(self, process, common)

    def _forget_power_calls(self, process: Process, plan) -> None:
        ready = find(plan.status.conditions, ConditionType.READY) if plan.status is not None else None
        if ready is not None and ready.status == "True":
            kept = {verb: attempt for verb, attempt in process.memory.attempts.items() if verb not in POWER}
            process.memory = replace(process.memory, attempts=kept)

    def do(self, process: Process, fault: str = "ok", delay: float = 0.0, kube: str = "ok") -> bool:
        """Write, release or act as was thought, the first that applies; answers whether to think again at once."""
        if process.thought is None:
            return False
        facts, item, plan = process.thought
        process.thought = None
        if plan.status is not None and plan.status != item.status:
            return self._write(process, item, plan, kube)
        if plan.release is not None:
            return self._release(item, kube)
        if plan.action is not None:
            return self._act(process, facts, plan.action, fault, delay)
        return False

    def _taken(self, item: Object, kube: str) -> bool:
        standing = self.kube.object
        return kube != "refused" and standing is not None and standing.version == item.version

    def _write(self, process: Process, item: Object, plan, kube: str) -> bool:
        self._check_told(plan.status)
        if plan.record_intent:
            new = plan.status.intent.id
            process.memory = replace(
                process.memory, intent_id=new, intent_ids=process.memory.intent_ids | {new}, intent_recorded=self.now
            )
        if not self._taken(item, kube):
            return True
        self.kube.change(status=plan.status)
        self.kube.status_writes += 1
        if kube == "answer lost":
            return True
        process.cache = self.kube.object
        return True

    def _check_told(self, status: CloudStatus) -> None:
        """Ready is not told of a power state that a call on its way is about to change."""
        ready = find(status.conditions, ConditionType.READY)
        told = SETTLED.get(ready.reason) if ready is not None and ready.status == "True" else None
        if told is None or self.beyond_knowing or len(self.processes) > 1:  # of two, neither knows what the other sends
            return
        if any(thing.states[-1][1] != told for thing in self.cloud.living(self.now)):
            self.wrongs.append(f"Ready was told of a VM that is {told} and about to be something else")

    def _release(self, item: Object, kube: str) -> bool:
        if not self._taken(item, kube):
            return True
        ours = [thing for thing in self.cloud.living(self.now) if thing.maker == item.meta.uid]
        coming = [order for order in self.cloud.late if order[2] == item.meta.uid]
        if not self.kind.retains(item.spec) and (ours or coming):
            self.wrongs.append("released while one of ours lives or is on its way")
        self.kube.change(meta=replace(self.kube.object.meta, guarded=False))
        return False

    def _act(self, process: Process, facts: Any, verb: Verb, fault: str, delay: float) -> bool:
        if self.now - facts.now.mono > STALE_FACTS_SECONDS:
            return True
        self.wrongs += forbidden(facts, verb, retained=self.kind.retains(facts.spec))
        refusal = None
        self.cloud.caller = facts.meta.uid
        self.called_invalid |= fault == "invalid"
        try:
            self.cloud.call(verb, self.kind.target(facts), self.now, fault, delay)
        except Refused as no:
            self.called_invalid |= no.kind is ErrorKind.INVALID
            if not (verb in DESTROYS and no.kind is ErrorKind.NOT_FOUND):
                refusal = Refusal(no.kind, "the cloud's own words", no.ambiguous)
        before = process.memory.attempts.get(verb)
        failures = 0 if refusal is None else 1 + (before.failures if before else 0)
        attempt = Attempt(verb, self.now, facts.asked, refusal, failures)
        unclear = process.memory.unclear or (verb in CREATES and (refusal is None or refusal.ambiguous))
        process.memory = replace(process.memory, attempts={**process.memory.attempts, verb: attempt}, unclear=unclear)
        if self.kind.may_destroy_foreign(facts.spec):
            self.cloud.touched_foreign.clear()
        self.check()
        return True

    def stir(self) -> None:
        """Something that the object refers to has changed: it is looked at again, as the engine does at once."""
        for process in self.processes:
            process.wake_at = self.now

    def run(self, seconds: float) -> None:
        """Let everything go its way without faults: events, listings and wake-ups at their time, as the engine has them."""
        end = self.now + seconds
        for process in self.processes:
            self._drain(process)
        while self.now < end:
            self.tick(max(min(end, *(self._due(process) for process in self.processes)) - self.now, 0.001))
            for process in self.processes:
                self._turn(process)

    def _due(self, process: Process) -> float:
        return min(process.next_listing, process.wake_at if process.wake_at is not None else process.next_listing)

    def _turn(self, process: Process) -> None:
        stir = process.wake_at is not None and process.wake_at <= self.now
        if process.next_listing <= self.now:
            stir |= self.list(process) or process.waits_for is not None
        self._drain(process, stir=stir)

    def _drain(self, process: Process, *, stir: bool = True) -> None:
        for _ in range(30):
            if not (self.deliver(process) or stir):
                break
            self.think(process)
            stir = self.do(process)
            if process.waits_for is not None and process.view.blind is None and (process.view.as_of or 0) >= process.waits_for:
                stir = True
        else:
            self.wrongs.append("a pass follows a pass without end")
        as_of = process.view.as_of or 0.0
        fast = process.pending or process.waits_for is not None or process.view.blind is not None
        process.next_listing = max(self.now + 0.2, as_of + (self.limits.pending_interval if fast else 60.0))
        if process.waits_for is not None:
            process.next_listing = self.now + 0.2
        if process.wake_at is not None and process.wake_at <= self.now:
            process.wake_at = None
