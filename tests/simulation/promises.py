"""Rules of the judge about calls: who may send one, when, and how soon again. Like the judge it asks no product code.

What is excused stands beside each rule, with the reason.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from gpucloud.sim.world.vms import Vm
from simulation.books import RECONCILE, annotated
from simulation.cloud import CREATES, name_of, place_of
from simulation.saving import FINAL_OF, is_final_of
from simulation.writes import RETRIED_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.sim.messages import Request, Response
    from simulation.books import Life
    from simulation.process import Process
    from simulation.world import World

SECRET_SECONDS = 100.0  # a Secret in use is read every 30 s; an apiserver that fails is asked again within a minute
IN_USE_SECONDS = 90.0  # what has been in a VPC for so long was shown by more than one listing
RESTARTED_SECONDS = 60.0  # beside graces: a restart's last call may be repeated for so long
MOMENT_SECONDS = 0.5
MOST_REORDERS = 3  # docs/adr/0013
BLIND_SECONDS = 100.0  # retries of a listing back off to 30 s, those of a write to a minute
LISTED = {"GetServers": "GpuVM", "GetVpcs": "GpuVpc", "GetSnapshots": "GpuSnapshot"}
POWER = frozenset({"StartServer", "StopServer"})


@dataclass(slots=True)
class Accepted:
    """A power call that the cloud accepted."""

    operation: str
    at: float
    sender: str


class _Asked(NamedTuple):
    """What an owner last asked for, by an annotation, and since when what is ordered counts as their wish."""

    request: str | None
    since: float


class Promises:
    """Looks at each call as it is sent. ``found`` takes what must never be."""

    def __init__(self, world: World, found: Callable[[str, str], None]) -> None:
        self._world = world
        self._found = found
        self._powered: dict[bytes, Accepted] = {}  # by the body of the call: names are unique in one VPC of one cluster only
        self._asked: dict[str, _Asked] = {}  # by UID: since when orders that made nothing are counted
        self._looking: dict[str, float] = {}  # when a process first listed anything, by its name
        self._made_from: dict[str, str] = {}  # UID of a GpuVM, to the snapshot that its disk is made from
        self._before_restore: tuple[str, float] = ("", 0.0)  # who held the Lease when etcd went back in time, and when that was

    def sent(self, process: Process, operation: str, request: Request, name: str) -> None:
        """An operator sends a call that changes the cloud."""
        self.led(process, f"{operation} {name!r}")
        if operation in CREATES:
            self._with_a_living_secret(operation, name)
            self._not_without_end(operation, name)
        if operation == "CreateSnapshot":
            self._within_one_namespace(request, name)
        if operation == "DestroyVpc":
            self._empty(name)
        if operation == "StopServer":
            said = json.loads(request.body)
            self._ends_service(process, operation, name, (str(said.get("namespace")), str(said.get("cluster"))))
        if operation == "DestroyServer":
            asked = {key.lower(): value for key, value in request.query}
            self._ends_service(process, operation, name, (asked.get("namespace", ""), asked.get("cluster", "")))
        if operation in POWER:
            self._not_again(process, operation, request, name)
            self._wanted(operation, name, json.loads(request.body))
        if operation == "CreateServer":
            image = json.loads(request.body).get("snapshotName") or ""
            self._made_from |= {life.uid: image for life in self._world.judge.books.recording("GpuVM", name)}
        if operation in {"DestroyServer", "DeleteSnapshot"}:
            self._nobody_needs_it(operation, request, name)

    def answered(self, process: Process, operation: str, request: Request, response: Response) -> None:
        """The cloud has answered."""
        if operation in POWER and response.status < 300:
            self._powered[request.body] = Accepted(operation, self._world.loop.time(), process.name)

    def made(self, uid: str) -> None:
        """The cloud has made something for an object."""
        if uid in self._asked:
            self._asked[uid] = _Asked(self._asked[uid].request, self._world.loop.time())

    def _not_without_end(self, operation: str, name: str) -> None:
        """What the cloud has accepted again and again, and never made, is not ordered without end: a person is called.

        What was accepted before somebody else wrote the status, or put an older one back, does not count: nothing tells of it.
        Nor does an acceptance that a process had no time to record before it died.
        """
        for life in self._world.judge.books.recording(CREATES[operation], name):
            request = annotated(life.last, RECONCILE) or None  # an empty one asks for nothing
            asked = self._asked.get(life.uid)
            if asked is None or asked.request != request:
                asked = self._asked[life.uid] = _Asked(request, 0.0 if asked is None else self._world.loop.time())
            since = max(asked.since, life.tampered_at, life.restored_at)
            orders = (one for one in self._world.cloud.orders.of(life.uid) if one.at >= since)
            accepted = sum(one.answer == "accepted" for one in orders)
            if accepted > MOST_REORDERS:
                self._found("reordered", f"{operation} {name!r} was accepted {accepted} times, and is sent again")

    def misled(self, last_good: float) -> None:
        """A listing shows what was so before: who has seen the effect of a power call takes it for undone by somebody."""
        self._powered = {body: one for body, one in self._powered.items() if one.at >= last_good}

    def disturbed(self) -> None:
        """Somebody else changed something: the next power call has a reason of its own."""
        self._powered.clear()

    def _wanted(self, operation: str, name: str, said: dict[str, Any]) -> None:
        """A VM is stopped when its owner wants it off, or restarted, and each restart is done once; it is started if wanted on.

        Its owner is the object that it was made for. Of a VM that is a stranger's, or gone, it is whoever records the name.

        Excused: the owner changed the spec, or asked for the restart, so lately that a call may have been on its way; a status
        that somebody has just put back, of which nothing tells what was done since.
        """
        place = (str(said.get("namespace")), str(said.get("cluster")).casefold())
        for life in self._made_for(name, place) or self._world.judge.books.recording("GpuVM", name):
            late = self._world.loop.time() - life.asked_at > RESTARTED_SECONDS + 2 * self._world.grace
            off = life.spec.get("powerState") == "Stopped"
            wanted = not off if operation == "StartServer" else off or life.restart_open
            if late and not wanted and not self._world.judge.has_just_gone_back(life):
                what = "stopped, and nobody has asked for that, or for a restart that is not done"
                done = what if operation == "StopServer" else "started, and its owner wants it off"
                self._found("unasked", f"{life.name} is {done}")

    def _ends_service(self, process: Process, operation: str, name: str, place: tuple[str, str]) -> None:
        vpc, cluster = place
        self._world.judge.publishing.ends(process, operation, self._made_for(name, (vpc, cluster.casefold())))

    def _made_for(self, name: str, place: tuple[str, str]) -> list[Life]:
        """The objects that VMs of this name, in this VPC and cluster, were made for."""
        rows = [(row, maker) for _, row, maker in self._world.cloud.called(name) if isinstance(row, Vm)]
        makers = [maker for row, maker in rows if (row.order.vpc, row.order.cluster.casefold()) == place]
        lives = self._world.judge.books.lives
        return [lives[maker] for maker in makers if maker in lives]

    def led(self, process: Process, what: str) -> None:
        """With a Lease, whoever sends a changing call, or a write of an object, holds it at that moment.

        Excused: until its next renewal nobody can tell a holder that etcd has gone back to a time when another held it.
        """
        lease, (holder, restored_at) = self._lease(), self._before_restore
        deadline = self._world.scenario.settings.lease_renew_deadline_seconds
        if holder == process.name and self._world.loop.time() - restored_at < deadline:
            return
        if lease is not None and lease.get("holderIdentity") not in {process.name, "", None}:
            self._found("lease", f"{process.name} sent {what} while {lease['holderIdentity']} held the Lease")

    def restoring(self) -> None:
        """Etcd is about to go back in time, and the Lease with it."""
        self._before_restore = (str((self._lease() or {}).get("holderIdentity") or ""), self._world.loop.time())

    def is_leader(self, process: Process) -> bool:
        """Whether this process holds the Lease."""
        lease = self._lease()
        return lease is not None and lease.get("holderIdentity") == process.name

    def _lease(self) -> dict[str, Any] | None:
        settings = self._world.scenario.settings
        if not settings.leader_elect:
            return None
        path = f"/apis/coordination.k8s.io/v1/namespaces/{settings.lease_namespace}/leases/{settings.lease_name}"
        found = self._world.actors.admin.get(path)
        return None if found is None else found.get("spec") or {}

    def _with_a_living_secret(self, operation: str, name: str) -> None:
        """Nothing is bought with a credential whose Secret is being deleted, once that can have been seen.

        Excused: the apiserver could not be reached, or a process was paused, so that nobody could read the Secret. The final
        snapshot of a VM in deletion, which waits for it, as the Secret does for the VM.
        """
        world = self._world
        if world.scenario.own_account:
            return
        recording = world.judge.books.recording(CREATES[operation], name)
        going = [one for one in world.judge.books.standing() if one.kind == "GpuVM" and one.deleting]
        for life in (one for one in recording if not any(is_final_of(one, vm) for vm in going)):
            namespace = life.last["metadata"]["namespace"]
            since = world.judge.secret_going_since(namespace)
            if since is not None and world.loop.time() - max(since, world.judge.hindered_until()) > SECRET_SECONDS:
                self._found("dying secret", f"{operation} {name!r} was sent with a Secret that was deleted long before")

    def _within_one_namespace(self, request: Request, name: str) -> None:
        """With the operator's own account a namespace copies its own VMs only."""
        world, said = self._world, json.loads(request.body)
        if not world.scenario.own_account:
            return
        asked = (said.get("sourceVMName"), (str(said.get("cluster")).casefold(), said.get("namespace")))
        for life in world.judge.books.recording("GpuSnapshot", name):
            for table, row, maker in world.cloud.live():
                source = world.judge.books.lives.get(maker)
                if table != "vms" or source is None or (name_of(row), place_of(row)) != asked:
                    continue  # a name is one VM's within a cluster and VPC only
                if source.last["metadata"]["namespace"] != life.last["metadata"]["namespace"]:
                    self._found("another's disk", f"{life.name} takes a snapshot of the VM of {source.name}")

    def _empty(self, name: str) -> None:
        """A VPC is destroyed only when it has been seen empty."""
        world = self._world
        vpc = next((row for row in world.cloud.world.vpcs.table.rows() if row.id == name), None)
        if vpc is None:
            return
        for table, row, _ in world.cloud.live():
            long = world.loop.time() - (row.created - world.cloud.epoch) > IN_USE_SECONDS + world.cloud.lag
            if table != "vpcs" and place_of(row) == (vpc.cluster.casefold(), vpc.name) and long and not row.leaving:
                self._found("in use", f"DestroyVpc was sent for {vpc.name!r}, and {name_of(row)!r} is in it")
                return

    def _nobody_needs_it(self, operation: str, request: Request, name: str) -> None:
        """No VM goes while a snapshot of it is being taken, and no snapshot while a VM is being made from it.

        Excused: what was ordered a moment ago, as the call may have been under way.
        """
        world, along = self._world, operation == "DestroyServer" and dict(request.query).get("DeleteSnapshots") == "true"
        of_it = [row for row in world.cloud.world.snapshots.table.rows() if row.source == name]
        gone = {row.name for row in of_it if along} | ({name} if operation == "DeleteSnapshot" else set())
        for row in of_it if operation == "DestroyServer" else ():
            life = self._wanted_since_long(row, world.cloud.maker_of("snapshots", row))
            if life is not None and row.ready_at > world.cloud.now() and not row.leaving:
                self._found("needed", f"{operation} {name!r} was sent while {life.name} is being taken of it")
        users = [uid for uid, image in self._made_from.items() if image in gone] if gone else []
        for maker, (table, row) in ((uid, found) for uid in users for found in world.cloud.made_for(uid)):
            life = self._wanted_since_long(row, maker)
            if life is not None and table == "vms" and row.status.startswith("PENDING"):
                self._found("needed", f"{operation} {name!r} was sent while {life.name} is being made from its snapshot")

    def _wanted_since_long(self, row: Any, maker: str) -> Life | None:
        """The object that a thing was made for, if nobody has asked it to go, and the thing was not made a moment ago.

        Nor is it a final snapshot: those are judged by ``saving``, and their wish may be given up.
        """
        life = self._world.judge.books.lives.get(maker)
        lately = self._world.loop.time() - (row.created - self._world.cloud.epoch) < MOMENT_SECONDS
        unwanted = (
            life is None or life.now is None or life.asked_to_go or FINAL_OF in (life.last["metadata"].get("annotations") or {})
        )
        return None if unwanted or lately else life

    def listed(self, process: Process, operation: str, last_good: float) -> None:
        """After each listing: what nobody has seen for long is not called Ready.

        Excused: an apiserver that could not be reached, a process that was paused, and an object that is, or that a restored
        backup brought back unnoticed. What an old listing has shown since. A write that the apiserver refused, until the next
        one. And a process that has taken over meanwhile: nothing
        records when another's last listing came, so it counts from its own first look.
        """
        world, kind = self._world, LISTED.get(operation)
        now, settings = world.loop.time(), world.scenario.settings
        looking = self._looking.setdefault(process.name, now)
        longest = settings.blind_after_seconds + settings.poll_steady_seconds + BLIND_SECONDS
        seen = max(last_good, looking, world.judge.hindered_until())
        if kind is None or now - seen < longest:
            return
        for life in world.judge.books.standing():
            paused = (life.last["metadata"].get("annotations") or {}).get("gpucloud.dev/paused") == "true"
            in_vain = world.judge.written.refused_at(process, life.uid) > now - RETRIED_SECONDS
            unnoticed = in_vain or world.judge.may_be_unnoticed(life)
            excused = paused or unnoticed or now - world.judge.untruly_shown(life) < longest
            if life.kind == kind and not excused and not life.deleting and life.ready.startswith("True/"):
                self._found("blind", f"{life.name} says {life.ready}, and no {operation} was answered for {now - seen:.0f} s")

    def _not_again(self, process: Process, operation: str, request: Request, name: str) -> None:
        """A power call that was accepted is not sent again before its effect can show."""
        before = self._powered.get(request.body)
        if before is None or (before.operation, before.sender) != (operation, process.name):
            return
        if self._world.loop.time() - before.at < self._world.grace / 2:
            self._found("repeated", f"{operation} {name!r} was sent again {self._world.loop.time() - before.at:.1f} s later")
