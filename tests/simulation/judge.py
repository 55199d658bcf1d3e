"""The judge: sees every commit of both stores and every request. It asks no product code."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from prometheus_client import generate_latest

from gpucloud.sim.messages import Ending
from simulation import ending
from simulation.asked import asked_name
from simulation.books import KINDS, OPERATOR, TABLES
from simulation.calling import Calling
from simulation.cloud import CREATES
from simulation.collecting import Collecting
from simulation.forgiving import LISTINGS
from simulation.host_requests import HostRequests
from simulation.logs import SimulatedLog
from simulation.offering import Offering
from simulation.ordering import CHANGES, Ordering
from simulation.promises import POWER, Promises
from simulation.publishing import PUBLISHED, Publishing
from simulation.queueing import Queueing
from simulation.recreating import Recreating
from simulation.saving import Saving
from simulation.scenario import ENDPOINT
from simulation.sightings import GoodListing

if TYPE_CHECKING:
    from gpucloud.sim.messages import Request, Response
    from simulation.books import Life
    from simulation.process import Process
    from simulation.world import World

RECORDED_SECONDS = 12.0  # until an answer is surely recorded: after ten (docs/adr/0013) its write is sent
SLOW = "cloud-slow"
SHOWS = {"", "word", SLOW}  # faults of listings that show all the same who is there
MAY_BE_YOURS = "may be your"  # what an Event says where something is let go that may be the object's


class Judge(Ordering):
    """Collects violations of one history, as the world reports what happens."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._promises = Promises(world, self.found)
        self.collecting, self.calling = Collecting(world), Calling(world)
        self.publishing, self.saving, self.recreating = Publishing(world), Saving(world), Recreating(world)
        self.queueing = Queueing(world)
        self.hosts, self.offering = HostRequests(world), Offering(world)
        self._read = 0
        self._last_good: dict[str, float] = {}

    def begin(self) -> None:
        """The first processes are about to start."""

    def broke(self, process: Process, error: BaseException) -> None:
        """A process, or the world, ended by an error."""
        self.found(f"broken {type(error).__name__}", f"{process.name}: {error!r}")

    def ended(self) -> None:
        """A process came to its end by itself: what it has not sent by now it never sends."""
        self._kills.append(self._world.loop.time())

    def died(self, process: Process) -> None:
        """A process was killed, put to sleep, or has ended. What it had just been answered, it had no time to record.

        Nor had it while the apiserver was away or it slept, and right before that. One that sleeps alone knows it all the same.
        """
        self.sometimes["process died or slept"] += 1
        now = self._world.loop.time()
        sleeps_alone = process.asleep and process.alive and len(self._world.replicas) == 1
        if not process.alive or len(self._world.replicas) > 1:  # another takes over from one that sleeps
            self._kills.append(now)
        self.collecting.slept()
        self.waiting.died(process)
        if not sleeps_alone:
            awake = RECORDED_SECONDS + process.slept_within(now, RECORDED_SECONDS)
            recorded = min(now, self._world.kube_away_since(now - awake)) - awake
            self._sightings.forgotten(process.name, recorded)
            self._take_over(process, recorded)
        self.disturbed()

    def woke(self) -> None:
        """A process goes on that slept: it knows nothing of what was meanwhile."""
        self.last_disturbance = self._world.loop.time()

    def key_changed(self) -> None:
        """A Secret holds another key: what people accepted under the one of before says nothing about this one."""
        for life in self.books.lives.values():
            life.accepted_at = -math.inf

    def disturbed(self) -> None:
        """Something has happened to whoever writes statuses: all that stand may be untrue for a while again."""
        self.last_disturbance = self._world.loop.time()
        self._caused()

    def _caused(self, life: Life | None = None) -> None:
        """Something outside has happened, to one object or to none: there is a cause for calls and writes."""
        if life is not None:
            life.disturbed_at = self._world.loop.time()
        self._promises.disturbed()
        self.rates.disturbed()

    def committed(self) -> None:
        """The apiserver has changed."""
        commits = self._world.api.commits
        for number in range(self._read, len(commits)):
            self._committed(commits[number])
        self._read = len(commits)

    def _committed(self, commit: Any) -> None:
        if commit.plural == "events" and commit.after is not None and commit.user == OPERATOR:
            note = str(commit.after.get("note", ""))
            if commit.after.get("reason") == "Orphan" or MAY_BE_YOURS in note:
                self.books.reported[note] += 1
            self.collecting.told(commit.after)
            return
        beside = {**dict.fromkeys(PUBLISHED, self.publishing), "gpuhosts": self.hosts, "gpuoffers": self.offering}
        if commit.plural in beside:
            beside[commit.plural].committed(commit)
            return
        self._note_beside(commit)
        life = self.books.lives.get((commit.after or commit.before)["metadata"]["uid"])
        had = life is not None and life.has_finalizer
        life = self.books.take(commit.plural, commit.before, commit.after, commit.user, self._world.loop.time())
        if life is None:
            return
        self._appeared.setdefault(life.uid, self._world.loop.time())
        self.collecting.committed(life)
        self.publishing.noted(life)
        self.saving.committed(life)
        self.rates.committed(life)
        self.choosing.committed(life)
        self.recreating.committed(life, by_operator=commit.user == OPERATOR)
        self.queueing.committed(life)
        self.guarding.committed(life, by_operator=commit.user == OPERATOR)
        if commit.user == OPERATOR:
            life.mutations += 1
            self._note_write(life)
            self.written.committed(life, commit.before, commit.after)
            self.waiting.committed(life, self.written.writer(life.uid))
        elif commit.user != "system:namespace-controller":
            self._caused(life)
        if had and life.released and not life.has_finalizer and commit.user == OPERATOR:
            self._let_go(life)
            self.waiting.let_go(life)
        ready = life.condition("Ready").get("message", "")
        if commit.user == OPERATOR and ready.count("Waiting for") > 2:
            self.found("nested words", f"{life.name}: {ready[:300]}")
        self.weigh(life)

    def _note_beside(self, commit: Any) -> None:
        """What is no object of ours with a thing in the cloud: namespaces, Secrets, accounts."""
        if commit.plural == "secrets":
            self._note_secret(commit)
        if commit.plural == "namespaces" and commit.before is not None:
            self.guarding.takes_back(commit.before["metadata"])
        if commit.plural in {"secrets", "gpucloudaccounts"} and commit.user == OPERATOR:
            self.written.freed(commit.plural, commit.before, commit.after)

    def _note_secret(self, commit: Any) -> None:
        meta = (commit.after or commit.before)["metadata"]
        if meta["name"] != "key":
            return
        self._sightings.secret(meta["namespace"], (commit.after or {}).get("data") or {}, self._world.loop.time())
        if commit.after is None or "deletionTimestamp" not in meta:
            self._secrets.pop(meta["namespace"], None)
        else:
            self._secrets.setdefault(meta["namespace"], self._world.loop.time())

    def restoring(self) -> None:
        """Etcd is about to go back in time."""
        self.committed()
        self._promises.restoring()

    def restored(self) -> None:
        """It has gone back: what is not there any more has vanished, what has come back is there again."""
        self.sometimes["etcd restored"] += 1
        self.restored_at = self._world.loop.time()
        self.disturbed()
        self.written.restored()
        self.saving.restored()
        self.choosing.restored()
        self.recreating.restored()
        secrets = [item["metadata"] for item in self._world.api.objects("secrets")]
        dying = {meta["namespace"] for meta in secrets if meta["name"] == "key" and "deletionTimestamp" in meta}
        self._secrets = {namespace: self._secrets.get(namespace, self._world.loop.time()) for namespace in dying}
        there = {item["metadata"]["uid"]: item for plural in KINDS for item in self._world.api.objects(plural)}
        for life in self.books.lives.values():
            was = life.now
            life.now = there.get(life.uid)
            if life.now is not None:
                life.last, life.released, life.retained, life.forced = life.now, False, False, False
                life.asked_to_go, life.went_at = life.deleting, self.restored_at if life.deleting else math.inf
                life.goes_back(self.restored_at)  # its status is older than what was done since
                life.forgets(self.restored_at)
                self._appeared[life.uid] = self._world.loop.time()
            elif was is not None:
                life.forced, life.went_at = True, self.restored_at
            self.collecting.committed(life)
            self.publishing.noted(life)
            self.queueing.committed(life)
        self.guarding.restored()

    def sent(self, process: Process, operation: str, request: Request) -> None:
        """An operator sends a call that changes the cloud."""
        self.sometimes[f"sent {operation}"] += 1
        self._promises.sent(process, operation, request, asked_name(request))
        self.hosts.sent(process, operation)
        name, now = asked_name(request), self._world.loop.time()
        self.collecting.sent(process, operation, request)
        if operation == "DestroyServer":
            asked = {key.lower(): value for key, value in request.query}
            place = (asked.get("cluster", "").casefold(), asked.get("namespace", ""))
            self.guarding.destroys(process, name, place)
            self.saving.destroys(name, place, self.heard_within())
        self._called |= {name: now} if operation in {*POWER, "DestroyServer"} else {}
        if operation in {"DestroyServer", "DeleteSnapshot"}:
            self.waiting.destroys(name)
        if operation not in CREATES:
            self._changes(process, operation, name, request)
            return
        self._orders(process, operation, name, request)

    def is_leader(self, process: Process) -> bool:
        """Whether this process holds the Lease."""
        return self._promises.is_leader(process)

    def writes(self, process: Process, method: str, path: str, body: str | None = None) -> None:
        """An operator sends a write of one of our objects to the apiserver."""
        ours = "/apis/gpucloud.dev/" in path
        if method != "GET" and (ours or not set(PUBLISHED).isdisjoint(path.split("/")[-2:])):
            self._promises.led(process, f"{method} {path}")
        if method != "GET" and ours:
            self.written.sent(process, method, path, body)
            self.waiting.patches(process, method, body)
            self.offering.sends(method, path, body)

    def reaches(self, process: Process, address: str) -> None:
        """An operator sends a request, with a credential, to this address."""
        if address != ENDPOINT:
            self.found("endpoint", f"{process.name} sends a credential to {address}, which nobody has declared")

    def answered(self, process: Process, operation: str, request: Request, response: Response, fault: str) -> None:
        """The cloud has carried a request out, or not, and answers so."""
        now = self._world.loop.time()
        self._promises.answered(process, operation, request, response)
        self.hosts.answered(process, operation, response)
        self.queueing.answered(operation, request, response)
        if operation in CREATES:
            self._order_answered(process, request, response, fault)
        if operation in {*CREATES, *CHANGES}:
            self._change_answered(request, response)
        if operation != "RefreshToken":
            self.show(f"{request.path} {request.query}")
        self._world.tell(
            process.name, f"{operation} {asked_name(request)}".strip(), f"{fault} {response.status or response.ending}".strip()
        )
        if operation.startswith("Get"):
            asked = next((value for name, value in request.query if name.lower() == "cluster"), "")
            whose = (process.name, self._world.cloud.callers.of(request))
            self._note_listing(operation, now, *whose, asked.casefold())
            self._shown_to.answered(now, whose, operation, (request, response), fault)
            if response.status == 200 and response.ending is Ending.COMPLETE and fault in SHOWS:  # it shows who is there
                who = self._world.cloud.callers
                whose, slow = (who.tenant(request), who.of(request), process.name), fault == SLOW
                arrives = math.inf if slow else 0.0  # nobody is told by it what came meanwhile; that a name is free, they are
                heard = process.alive and not slow
                self._sightings.listings.append(GoodListing(now, operation, asked.casefold(), *whose, heard, arrives))
                if not slow:
                    self._last_good[operation] = now
            if fault == "list-stale":
                self._promises.misled(self._last_good.get(operation, 0.0))
            self._promises.listed(process, operation, self._last_good.get(operation, 0.0))

    def received(self, process: Process, operation: str, request: Request, response: Response, fault: str) -> None:
        """An answer of the cloud has come to who asked: a good listing of it may have taken its time."""
        if operation not in LISTINGS.values() or response.status != 200 or response.ending is not Ending.COMPLETE:
            return
        if fault == SLOW:
            self._last_good[operation] = self._world.loop.time()
        if fault in SHOWS:
            asked = next((value for name, value in request.query if name.lower() == "cluster"), "")
            self._sightings.arrived(process.name, operation, asked.casefold(), self._world.loop.time())

    def changed(self, table: str, change: Any, maker: str) -> None:
        """The cloud has changed."""
        world = self._world
        outsider = world.cloud.outsider
        life = self.books.lives.get(maker)
        self.publishing.changed(change.after or change.before, maker)
        if change.before is None:
            self._made(table, maker)
            self._promises.made(maker)
        elif self._is_act(change) and not outsider:
            self._acted(table, change, maker)
        if outsider:
            for other in self.books.standing() if change.before is None else ():
                if other.chosen and TABLES[other.kind] == table:
                    self.weigh(other)  # it may pass for theirs: then what they say is true from now on
            self._caused(life)
            if life is not None:
                life.touched = True
        if life is not None:
            if change.after is None and TABLES[life.kind] == table:
                self.vanished[maker] = world.loop.time()
            self.weigh(life)

    async def end(self) -> None:
        """All is over: what is wanted comes true, then it is quiet."""
        await ending.judge(self._world, self)
        if SimulatedLog.searched:
            for replica in self._world.replicas:
                if replica.process.alive and replica.engine is not None:
                    self.show(generate_latest(replica.engine.metrics.registry).decode())

    def rest(self) -> None:
        """After everything: what can only be said at the end."""
        for context in self._world.loop.failures:
            if "was destroyed but it is pending" not in str(context.get("message")):
                self.found("lost task", f"{context.get('message')}: {context.get('exception')!r}")
