"""Two objects that claim one name in one cloud, side by side in the model world: one operator, one clock, one inventory."""

from __future__ import annotations

from dataclasses import replace

from gpucloud.kinds.meta import Annotation, Reason
from support.builders import UID
from support.histories import QUIET_SECONDS, SETTLE_SECONDS, ViolationError

RIVAL = "99999999-2222-3333-4444-555555555555"


class Contest:
    """Two histories of one kind that share a cloud. The first object is the older one."""

    def __init__(self, history, **beginning):
        self.histories = [history(two=False, age=0.0, **beginning) for _ in range(2)]
        self.worlds = [item.world for item in self.histories]
        older, younger = self.worlds
        younger.cloud = older.cloud
        item = younger.kube.object
        younger.kube.object = replace(item, meta=replace(item.meta, uid=RIVAL, name="test"))
        self.crashes()
        for mine, other in ((older, younger), (younger, older)):
            mine.owner_of = lambda process, item, mine=mine, other=other: owner(mine, process, item, other)
            mine.on_gone = lambda _process, other=other: wake(other)

    def passes(self, which, fault, delay, how, times):
        """A listing, and a few passes over one of them."""
        history = self.histories[which]
        history.lists(0, how)
        for _ in range(times):
            history.thinks(0, 0)
            history.does(0, fault, delay, "ok")

    def crashes(self):
        """The one operator of both."""
        for world in self.worlds:
            world.crash(0)

    def time_passes(self, seconds):
        for world in self.worlds:
            world.tick(seconds)

    def run(self, seconds):
        """Both go their way without faults."""
        end = self.worlds[0].now + seconds
        for world in self.worlds:
            world._drain(world.processes[0])
        while self.worlds[0].now < end:
            due = min(end, *(world._due(world.processes[0]) for world in self.worlds))
            self.time_passes(max(due - self.worlds[0].now, 0.001))
            for world in self.worlds:
                world._turn(world.processes[0])

    def people(self, which, step, *arguments):
        """What somebody does to one of them."""
        getattr(self.histories[which], step)(*arguments)

    def step(self, name, arguments):
        getattr(self, name)(*arguments)
        self.check()

    def check(self):
        for history in self.histories:
            history.world.check()
            history.expect(not history.world.wrongs, *history.world.wrongs[:1])

    def end(self):
        """Faults stop: one of them has what they both want, the other a Conflict, and then nothing more is sent or written."""
        for history in self.histories:
            history.world.processes[0].thought = None
            history.guards()
        for _ in range(int(SETTLE_SECONDS / 50)):
            self.run(50)
            if self.settled():
                break
        for history in self.histories:
            if history.world.called_invalid and history.standing is not None:  # for the owner to correct; then it must go on
                spec = history.standing.spec.model_copy(update={"progress_deadline_seconds": 1801})
                history.world.kube.change(spec=spec)
        self.run(SETTLE_SECONDS)
        self.check()
        if not self.settled():
            raise ViolationError("no end of it", *(history.ready() for history in self.histories))
        before = self.told()
        self.run(QUIET_SECONDS)
        if self.told() != before:
            raise ViolationError("no end of calls or writes")
        self.check()

    def told(self):
        return len(self.worlds[0].cloud.sent), [world.kube.status_writes for world in self.worlds]

    def settled(self):
        """Whether whoever is neither gone nor paused has what it should have."""
        standing = [item for item in self.histories if item.standing is not None]
        paused = [item for item in standing if item.standing.meta.annotations.get(Annotation.PAUSED) == "true"]
        awake = [item for item in standing if item not in paused]
        makers = [thing.maker for thing in self.worlds[0].cloud.living(self.worlds[0].now)]
        if any(item.standing.meta.deleting for item in awake) or not all(item.ready() for item in awake):
            return False
        verdicts = {item.standing.meta.uid: item.ready() for item in awake}
        owners = [uid for uid, ready in verdicts.items() if ready.status == "True"]
        losers = [uid for uid, ready in verdicts.items() if ready.reason == Reason.CONFLICT]
        if len(owners) + len(losers) != len(verdicts) or any(uid not in makers for uid in owners):
            return False
        return bool(owners) or bool(paused) or bool(makers) or not verdicts


def owner(mine, process, item, other):
    """The other object, if it was first to claim what this one stands for, as this process knows both."""
    known, here = other.processes[mine.processes.index(process) if len(mine.processes) > 1 else 0].cache, identity(mine, item)
    if known is None or identity(other, known) != here:
        return None
    return repr(known.meta.name) if rank(known, here) < rank(item, here) else None


def identity(world, item):
    return world.kind.identity(world, item)


def rank(item, here):
    """An intent recorded for the name counts first, then age."""
    intent = item.status.intent
    intended = intent is not None and (intent.cluster, intent.vpc, intent.name) == (here.cluster, here.vpc, here.name)
    return not intended, item.meta.uid != UID


def wake(world):
    """A Conflict may be over."""
    for process in world.processes:
        process.wake_at = world.now
