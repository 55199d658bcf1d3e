"""The judge: sees every commit of both stores and every request, and says what must never be. It asks no product code.

What is excused stands beside each rule, with the reason.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from typing import TYPE_CHECKING, Any, NamedTuple

from prometheus_client import generate_latest

from gpucloud.sim.messages import Ending
from gpucloud.sim.world.snapshots import Snapshot
from gpucloud.sim.world.vms import Vm
from gpucloud.sim.world.vpcs import Vpc
from simulation import ending
from simulation.books import KINDS, OPERATOR, TABLES, Books, Life
from simulation.cloud import CREATES, KEYS, LIES, TENANTS, Order, key_of, name_of
from simulation.logs import SimulatedLog

if TYPE_CHECKING:
    from gpucloud.sim.messages import Request, Response
    from simulation.process import Process
    from simulation.world import World

WRITES_A_MINUTE = 90  # of one object, whatever happens: more is a loop
SENDS_A_MINUTE = 60
LISTINGS_A_MINUTE = 360
ACCEPTED_SECONDS = 300.0  # for so long what was accepted is waited for
RECORDED_SECONDS = 10.0  # until an answer is surely recorded
LISTS = {"GpuVM": "GetServers", "GpuVpc": "GetVpcs", "GpuSnapshot": "GetSnapshots"}
KINDS_OF = {table: kind for kind, table in TABLES.items()}


class Violation(NamedTuple):
    """What must never be, and was."""

    oracle: str
    at: float
    text: str

    def __str__(self) -> str:
        return f"{self.oracle} at {self.at:.3f} s: {self.text}"


class Listed(NamedTuple):
    """A listing that an operator was given and had no reason to doubt."""

    at: float
    operation: str
    reader: tuple[str, str]  # the process and its credential
    shown: float | None  # the time that it shows; None: it lied


class Judge:
    """Collects violations of one history."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.books = Books()
        self.violations: list[Violation] = []
        self.sometimes: Counter[str] = Counter()
        self._read = 0
        self._listings: dict[str, deque[float]] = {}
        self._listed: list[Listed] = []
        self._caller = ""
        self._takeovers: list[float] = []  # when another process than the last one asked the cloud
        self.last_disturbance = 0.0

    def found(self, oracle: str, text: str) -> None:
        """It must never be."""
        violation = Violation(oracle, self._world.loop.time(), text)
        self.violations.append(violation)
        self._world.tell("JUDGE", str(violation))

    # What the world reports.

    def begin(self) -> None:
        """The first processes are about to start."""

    def broke(self, process: Process, error: BaseException) -> None:
        """A process, or the world, ended by an error."""
        self.found(f"broken {type(error).__name__}", f"{process.name}: {error!r}")

    def died(self, process: Process) -> None:
        """A process was killed, or put to sleep. What it had just been answered, it had no time to record."""
        self.sometimes["process died or slept"] += 1
        now = self._world.loop.time()
        for order in self._world.cloud.orders:
            if order.sender == process.name and order.answer == "accepted" and now - order.known < RECORDED_SECONDS:
                order.answer = "unclear"
        self.disturbed()

    def show(self, text: str) -> None:
        """An operator has shown this to others: no key may stand in it."""
        for key in KEYS.values():
            if key in text:
                self.found("canary", f"a key stands in {text[:200]}")

    def disturbed(self) -> None:
        """Something outside has happened: what stands may be untrue for a while again."""
        self.last_disturbance = self._world.loop.time()

    def committed(self) -> None:
        """The apiserver has changed."""
        commits = self._world.api.commits
        for number in range(self._read, len(commits)):
            self._committed(commits[number])
        self._read = len(commits)

    def _committed(self, commit: Any) -> None:
        if commit.plural == "events" and commit.after is not None and commit.user == OPERATOR:
            note = str(commit.after.get("note", ""))
            if commit.after.get("reason") == "Orphan":
                self.books.reported[note] += 1
            return
        life = self.books.lives.get((commit.after or commit.before)["metadata"]["uid"])
        had = life is not None and life.guarded
        life = self.books.take(commit.plural, commit.before, commit.after, commit.user)
        if life is None:
            return
        if commit.user == OPERATOR:
            life.mutations += 1
            self._note_write(life)
        elif commit.user != "system:namespace-controller":
            self.disturbed()
        if had and life.released and not life.guarded and commit.user == OPERATOR:
            self._let_go(life)
        self.weigh(life)

    def restoring(self) -> None:
        """Etcd is about to go back in time."""
        self.committed()

    def restored(self) -> None:
        """It has gone back: what is not there any more has vanished, what has come back is there again."""
        self.disturbed()
        store, there = self._world.api.store, {}
        for resource in self._world.api.resources:
            if resource.plural in KINDS:
                for _, stored in store.listed(resource, "", store.version):
                    there[stored.seen["metadata"]["uid"]] = stored.seen
        for life in self.books.lives.values():
            was = life.now
            life.now = there.get(life.uid)
            if life.now is not None:
                life.last, life.released, life.retained, life.forced = life.now, False, False, False
                life.tampered = True  # its status is older than what was done since
            elif was is not None:
                life.forced = True

    def sent(self, process: Process, operation: str, request: Request) -> None:
        """An operator sends a call that changes the cloud."""
        self.sometimes[f"sent {operation}"] += 1
        name, now = asked_name(request), self._world.loop.time()
        if operation not in CREATES:
            for life in self.books.standing():
                life.mutations += life.mentions(name)
            return
        kind = CREATES[operation]
        place = asked_place(request)
        recording = [life for life in self.books.recording(kind, name) if life.records_place(*place)]
        uid = recording[-1].uid if recording else ""
        if not recording:
            everybody = [life for life in self.books.lives.values() if life.kind == kind and life.mentions(name)]
            uid = everybody[-1].uid if everybody else ""
            if not everybody or not everybody[-1].forced:
                self.found("record", f"{operation} {name!r} was sent, and no status records it")
        elif not any(life.guarded for life in recording):
            self.found("finalizer", f"{operation} {name!r} was sent before the finalizer of {recording[-1].name} was visible")
        elif all(life.deleting for life in recording) and not any(life.tampered for life in recording):
            self.sometimes["create sent while deleting"] += 1
        self._world.cloud.orders.append(Order(now, operation, name, uid, "", 0.0, process.name, *place))
        life = self.books.lives.get(uid)
        if life is not None:
            life.mutations += 1
            self._note_send(life, operation)

    def answered(self, process: Process, operation: str, request: Request, response: Response, fault: str) -> None:
        """The cloud has carried a request out, or not, and answers so."""
        now = self._world.loop.time()
        if process.name != self._caller:
            self._caller = process.name
            self._takeovers.append(now)
        if operation in CREATES:
            what = (process.name, asked_name(request), *asked_place(request))
            sent = [one for one in self._world.cloud.orders if not one.answer]
            order = next((one for one in sent if (one.sender, one.name, one.vpc, one.cluster, one.tenant) == what), None)
            if order is not None:
                clear = response.ending is Ending.COMPLETE and process.alive
                accepted, refused = clear and response.status < 300, clear and 400 <= response.status < 500
                order.answer = "accepted" if accepted else "refused" if refused else "unclear"
                order.known = now
                self.sometimes[f"order {order.answer}"] += 1
        if operation != "RefreshToken":
            self.show(f"{request.path} {request.query}")
        self._world.tell(
            process.name, f"{operation} {asked_name(request)}".strip(), f"{fault} {response.status or response.ending}".strip()
        )
        if operation.startswith("Get"):
            self._note_listing(operation, now)
            if response.status == 200 and response.ending is Ending.COMPLETE and (not fault or fault in LIES):
                reader = (process.name, request.header("authorization"))
                shown = None if fault else now - self._world.cloud.age(operation)
                self._listed.append(Listed(now, operation, reader, shown))

    def changed(self, table: str, change: Any, maker: str) -> None:
        """The cloud has changed."""
        world = self._world
        outsider = world.cloud.outsider
        life = self.books.lives.get(maker)
        if change.before is None:
            self._made(table, maker)
        elif self._is_act(change) and not outsider:
            self._acted(table, change, maker)
        if outsider:
            self.disturbed()
            if life is not None:
                life.touched = True
        if life is not None:
            self.weigh(life)

    # The oracles.

    def _made(self, table: str, maker: str) -> None:
        """At most one live thing for each object.

        Excused: the cloud gave one of them a name of its own, after an order that counts as never made since it showed too
        late. Then the same name is asked for again, of which a cloud that keeps to the names it is given makes one only.
        """
        life = self.books.lives.get(maker)
        if life is None:
            return
        there = [name_of(one) for where, one, whose in self._world.cloud.live() if where == table and whose == maker]
        renamed = any(name in self._world.cloud_names for name in there)
        if len(there) > 1 and not (renamed and self.beyond_telling(life)):
            self.found("twice", f"{life.name} has {len(there)} things at once: {', '.join(there)}")

    @staticmethod
    def _is_act(change: Any) -> bool:
        """Whether somebody ordered this change: what goes on by itself neither raises the epoch nor makes a thing leave."""
        before, after = change.before, change.after
        if after is None:
            return isinstance(before, Vpc)
        return (isinstance(after, Vm) and after.epoch > before.epoch) or (
            isinstance(after, Snapshot) and after.leaving and not before.leaving
        )

    def _acted(self, table: str, change: Any, maker: str) -> None:
        """Nothing is destroyed, stopped or started that is not ours, and nothing destroyed that was not to go."""
        row, kind = change.before, KINDS_OF[table]
        destroys = change.after is None or change.after.leaving if not isinstance(row, Vpc) else True
        life = self.books.lives.get(maker)
        what = f"{'destroyed' if destroys else 'powered'} {kind} {name_of(row)!r}, made by {life.name if life else maker!r}"
        self.sometimes["destroyed" if destroys else "powered"] += 1
        if life is None:
            if not (isinstance(row, Vpc) and self._adopted(row)) and not self.ambiguous(kind, row):
                self.found("foreign", what)
            return
        if life.released and life.now is None and not self.ambiguous(kind, row):
            self.found("foreign", f"{what}, which was let go before")
        elif destroys and not life.asked_to_go and not self._goes_along(life):
            self.found("unasked", what)

    def _adopted(self, row: Vpc) -> bool:
        """Whether somebody's spec adopted this VPC and wants it destroyed."""
        return any(
            life.kind == "GpuVpc"
            and life.spec.get("name") == row.name
            and life.spec.get("adoption") in {"IfExists", "Required"}
            and (life.spec.get("deletion") or {}).get("policy") == "Delete"
            for life in self.books.lives.values()
        )

    def _goes_along(self, life: Life) -> bool:
        """A snapshot may go with its VM where both specs allow it."""
        annotations = life.last["metadata"].get("annotations") or {}
        kept = life.keeps() or annotations.get("gpucloud.dev/paused") == "true"
        vms = [one for one in self.books.lives.values() if one.kind == "GpuVM" and one.asked_to_go]
        takes = any((one.spec.get("deletion") or {}).get("snapshots") == "Delete" for one in vms)
        return life.kind == "GpuSnapshot" and takes and not kept

    def ambiguous(self, kind: str, row: Any) -> bool:
        """Whether nobody could tell that this thing of a CHOSEN name is a stranger's.

        Excused: it was made before two good listings, begun after ours went, could have shown that ours is gone; or while
        an order of ours for that name was without a clear answer, up to two good listings after the grace that follows it;
        or while an accepted order that the cloud forgot was waited for; or so shortly before the order that no listing
        showed it.
        Excused, too: the owner wiped or restored the status, so that nothing tells any more what happened.
        """
        name, made = name_of(row), self._time_of(row)
        orders = [one for one in self._world.cloud.orders if one.name == name and CREATES[one.operation] == kind]
        for order in orders:
            life = self.books.lives.get(order.uid)
            if life is None or not life.chosen:
                continue
            if life.tampered:
                return True
            if order.at - self._world.cloud.lag <= made and order.answer != "refused":
                waits = ACCEPTED_SECONDS if order.answer == "accepted" else self._world.grace
                until = (order.known or made) + waits
                gone = self._gone_at(kind, name, made)
                if gone is not None and not self._in_a_row(kind, order.known, gone):
                    return True  # no listing had ever shown ours, so one that shows late cannot be told from another's
                if self._gone_at(kind, name, made) is None and self._listings_between(kind, until, made) < 2:
                    return True
        gone = self._gone_at(kind, name, made)
        return gone is not None and (self._in_a_row(kind, gone, made) < 2 or self._taken_over_since(gone))

    def _taken_over_since(self, gone: float) -> bool:
        """Whether another process went on before the absence was surely recorded: a known limit (docs/reliability.md)."""
        return any(gone <= at <= gone + self.patience() for at in self._takeovers)

    def _time_of(self, row: Any) -> float:
        return float(row.created) - self._world.cloud.epoch

    def _gone_at(self, kind: str, name: str, before: float) -> float | None:
        """When ours of that name had gone, if it had been there."""
        table = getattr(self._world.cloud.world, TABLES[kind]).table
        times = [
            change.at - self._world.cloud.epoch
            for change in table.changes
            if change.after is None
            and name_of(change.before) == name
            and self._world.cloud.makers.get((TABLES[kind], key_of(change.before))) in self.books.lives
        ]
        return max((at for at in times if at <= before), default=None)

    def _listings_between(self, kind: str, since: float, until: float) -> int:
        """How many true listings came between these two times, whatever time they showed."""
        return sum(
            since < listed.at <= until
            for listed in self._listed
            if listed.operation == LISTS[kind] and listed.shown is not None
        )

    def _in_a_row(self, kind: str, since: float, until: float) -> int:
        """How many listings in a row, at most, showed one reader the time between. One that lies begins the row anew."""
        rows: Counter[tuple[str, str]] = Counter()
        longest = 0
        for listed in self._listed:
            if listed.operation == LISTS[kind]:
                inside = listed.shown is not None and since < listed.shown <= until
                rows[listed.reader] = rows[listed.reader] + 1 if inside else 0
                longest = max(longest, rows[listed.reader])
        return longest

    def _let_go(self, life: Life) -> None:
        """The finalizer goes only when the thing is gone or was never made, is to be kept, or is not ours.

        Excused: a person accepted the absence; the status of an object with a chosen name was written by somebody else; an
        order without a clear answer whose thing shows only after the grace after which it counts as never made. (What bears
        a mark must still be reported.)
        """
        self.sometimes["released"] += 1
        if self.beyond_telling(life):
            self.sometimes["released while listings lagged beyond the grace"] += 1
            return
        if life.retained or life.accepted_absence or (life.tampered and (life.chosen or self._world.respelled)):
            return
        left = [row for table, row, maker in self._world.cloud.live() if maker == life.uid and table == TABLES[life.kind]]
        renamed = [row for row in left if name_of(row) in self._world.cloud_names]
        if left and not (life.tampered and renamed):
            self.found("released", f"{life.name} was let go, and {name_of(left[0])!r} is there still")

    def beyond_telling(self, life: Life) -> bool:
        """Whether an order had no clear answer, and what it made shows in listings only after the grace that follows it."""
        cloud, grace = self._world.cloud, self._world.grace
        unclear = [order for order in cloud.orders if order.uid == life.uid and order.answer != "accepted"]
        return any(order.made is not None and order.made + cloud.lag >= order.known + grace for order in unclear)

    def weigh(self, life: Life) -> None:
        """Ready=True only while it is true, or within the documented delay."""
        now = self._world.loop.time()
        lying = self._lies(life)
        if life.lie_since is not None and now - max(life.lie_since, self.last_disturbance) > self.patience():
            since = max(life.lie_since, self.last_disturbance)
            self.found("ready", f"{life.name} said {life.ready} for {now - since:.1f} s when it was not so")
            life.lie_since = None
        if not lying:
            life.lie_since = None
        elif life.lie_since is None:
            life.lie_since = now

    def patience(self) -> float:
        """For how long a status may be untrue: a poll when all is well; until blindness is owned when it is not."""
        settings, lag = self._world.scenario.settings, self._world.cloud.lag
        calm = settings.poll_steady_seconds + 5.0 + settings.poll_pending_seconds
        if self._world.weather.over:
            return calm + 60.0
        return calm + max(settings.blind_after_seconds, 3 * settings.poll_steady_seconds) + 120.0 + lag

    def _lies(self, life: Life) -> bool:
        if life.now is None or life.deleting or not life.ready.startswith("True/"):
            return False
        rows = [
            row
            for table, row, maker in self._world.cloud.live()
            if maker == life.uid or (life.chosen and table == TABLES[life.kind] and self._is_taken_for(life, row))
        ]
        if life.kind == "GpuVpc":
            there = {row.name for row in self._world.cloud.world.vpcs.table.rows()}
            return life.spec.get("name") not in there
        if life.kind == "GpuSnapshot":
            return not any(row.ready_at <= self._world.cloud.now() and not row.leaving for row in rows)
        wanted = {"True/Running": "ONLINE", "True/PoweredOff": "OFFLINE"}.get(life.ready)
        return wanted is not None and not any(row.status == wanted for row in rows)

    def _is_taken_for(self, life: Life, row: Any) -> bool:
        """Whether somebody made this under the life's chosen name when nobody could tell it from ours."""
        spec = life.spec.get("vmName") or life.spec.get("snapshotName")
        return spec == name_of(row) and self.ambiguous(life.kind, row)

    def _note_write(self, life: Life) -> None:
        """No object is written hot."""
        if _often(life.writes, self._world.loop.time(), WRITES_A_MINUTE):
            self.found("hot writes", f"{life.name} was written {WRITES_A_MINUTE} times within a minute")

    def _note_send(self, life: Life, operation: str) -> None:
        if _often(life.sends, self._world.loop.time(), SENDS_A_MINUTE):
            self.found("hot calls", f"{operation} was sent {SENDS_A_MINUTE} times within a minute for {life.name}")

    def _note_listing(self, operation: str, now: float) -> None:
        if _often(self._listings.setdefault(operation, deque()), now, LISTINGS_A_MINUTE):
            self.found("hot listings", f"{operation} was sent {LISTINGS_A_MINUTE} times within a minute")

    def secret_is_going(self, namespace: str) -> bool:
        """Whether the Secret of a namespace was deleted, and is held for what its objects have in the cloud."""
        found = self._world.actors.admin.call("GET", f"/api/v1/namespaces/{namespace}/secrets/key")
        if found is None or "deletionTimestamp" not in found["metadata"]:
            return False
        users = [life for life in self.books.standing() if life.last["metadata"]["namespace"] == namespace]
        owners = {maker for _, _, maker in self._world.cloud.live()}
        # One that is lost may be there still, as listings may be wrong; one that was accepted, or not answered, may yet come.
        held = {(life.status.get("order") or {}).get("state") for life in users} & {"Lost", "Accepted", "Unclear", "Overdue"}
        return bool(held) or any(life.uid in owners for life in users)

    def account_calls(self, namespace: str) -> bool:
        """Whether the account of a namespace says that its key is another tenant's, which only a person can put right."""
        found = self._world.actors.admin.call(
            "GET", f"/apis/gpucloud.dev/v1alpha1/namespaces/{namespace}/gpucloudaccounts/default"
        )
        said = ((found or {}).get("status") or {}).get("conditions") or ()
        return any((one["type"], one["status"], one["reason"]) == ("Stalled", "True", "TenantMismatch") for one in said)

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


def asked_name(request: Request) -> str:
    """The name that a changing request is about."""
    if request.body and request.method != "GET":
        said = json.loads(request.body)
        return str(said.get("name") or said.get("id") or "")
    return next((value for name, value in request.query if name.lower() == "id"), "")


def asked_place(request: Request) -> tuple[str, str, str]:
    """The VPC (empty of a VPC), the cluster and the tenant in which something is ordered."""
    said = json.loads(request.body) if request.body else {}
    headers = " ".join(value for _, value in request.headers)
    tenant = next((of for which, of in TENANTS.items() if KEYS[which] in headers), "")
    return str(said.get("vpc") or said.get("namespace") or ""), str(said.get("cluster") or ""), tenant


def _often(times: deque[float], now: float, many: int) -> bool:
    """Whether this is the one too many within a minute; then counting begins anew."""
    times.append(now)
    while times[0] < now - 60.0:
        times.popleft()
    if len(times) < many:
        return False
    times.clear()
    return True
