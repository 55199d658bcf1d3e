"""The oracle of spec.connection: what is published leads to the object's own VM while that is Ready, and is withdrawn first.

What is excused stands beside each rule, with the reason. Objects of an owner that is gone are the garbage collector's.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from gpucloud.sim.world.vms import Vm
from simulation.books import OPERATOR
from simulation.publication_acts import CONFIG_MAPS, SERVICES, SLICES
from simulation.weather import KUBE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.books import Life
    from simulation.process import Process
    from simulation.world import World

PUBLISHED = (SLICES, SERVICES, CONFIG_MAPS)
WITHDRAW_SECONDS = 60.0  # a call waits so long for a withdrawal that fails (docs/adr/0020)
LATE_SECONDS = 110.0  # a write may arrive a minute after it was sent, and rest on what its sender saw 45 s before
MOMENT_SECONDS = 1.0  # where no write is late
REWRITTEN_SECONDS = 120.0  # somebody else wrote the status: the record of what is published may be lost, or old


class Publishing:
    """Looks at each write of what is published, and at each call that ends the service of a VM."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._addresses: defaultdict[str, set[str]] = defaultdict(set)  # of VMs that were ever made for an object, by its UID
        self._unready_since: dict[str, float] = {}  # by UID
        self._withdrawn_since: dict[str, float] = {}  # by UID: since when its status says that the withdrawal is under way
        self._failed_at = -math.inf  # when a request about published objects last failed, or was lost

    # What happens.

    def changed(self, row: Any, maker: str) -> None:
        """The cloud has made or changed something for an object."""
        if isinstance(row, Vm):
            self._addresses[maker] |= addresses_of(row)

    def noted(self, life: Life) -> None:
        """An object has changed."""
        now = self._world.loop.time()
        ready = life.now is not None and life.ready.startswith("True/")
        since = {} if ready else {life.uid: self._unready_since.get(life.uid, now)}
        self._unready_since = {uid: at for uid, at in self._unready_since.items() if uid != life.uid} | since
        if (life.status.get("connection") or {}).get("withdrawingSince"):
            self._withdrawn_since.setdefault(life.uid, now)
        else:
            self._withdrawn_since.pop(life.uid, None)

    def answered(self, path: str, status: int) -> None:
        """The apiserver has answered a request of an operator; 0: the answer is lost."""
        if path.split("/")[-2] in PUBLISHED and not (200 <= status < 300 or status == 404):
            self._failed_at = self._world.loop.time()

    def committed(self, commit: Any) -> None:
        """A published object has changed. An operator writes an address of the owner's VM, which is recorded and Ready."""
        if commit.user != OPERATOR or commit.after is None:
            return
        life, leads_to = self._owner(commit.after), addresses_in(commit.after)
        if life is None or not leads_to or (commit.before is not None and addresses_in(commit.before) == leads_to):
            return
        self._world.judge.sometimes["connection published"] += 1
        name = f"{commit.plural} {commit.after['metadata']['name']!r} of {life.name}"
        if not leads_to <= self._addresses[life.uid] and not life.chosen:
            self._found(f"{name} leads to {', '.join(sorted(leads_to))}, which is no address of its VM")
        if not life.status.get("connection") and not self._was_rewritten(life):
            self._found(f"{name} was written, and its status does not record it")
        unready = self._world.loop.time() - self._unready_since.get(life.uid, math.inf)
        if unready > (LATE_SECONDS if self._may_be_late() else MOMENT_SECONDS) and not self._was_rewritten(life):
            self._found(f"{name} was written while the VM has not been Ready for {unready:.0f} s")

    def ends(self, process: Process, operation: str, lives: list[Life]) -> None:
        """A process sends a call that ends the service of a VM, made for these objects: nothing leads to it any more.

        Excused: a withdrawal that fails, for as long as documented; and a status that somebody else has just written, or etcd
        as it was before, of which nobody tells what is published.
        """
        for life in lives:
            standing = [item for item in self._standing(life) if addresses_in(item)]
            if not standing or self._was_rewritten(life):
                continue
            since = self._withdrawn_since.get(life.uid, math.inf)
            waited = self._world.loop.time() - since
            told = any(one.skew for one in self._world.processes)  # the time is kept by the clocks of processes, which differ
            if self._failed_at < since or (waited < WITHDRAW_SECONDS - MOMENT_SECONDS and not told):
                names = ", ".join(item["metadata"]["name"] for item in standing)
                self._found(f"{process.name} sends {operation} for {life.name}, and {names} still leads to its VM")
            self._world.judge.sometimes["ended while published"] += 1

    # The end.

    def unmet(self, life: Life) -> Iterator[str]:
        """What is not published as its spec asks, though nothing is in the way, or still is, though the VM does not run.

        Under a chosen name the VM may be another's that was made before the order of this name could be seen.
        """
        if life.kind != "GpuVM" or life.ready.startswith("Unknown/"):
            return
        asked = life.spec.get("connection") or {}
        serves = life.ready == "True/Running" and not life.deleting
        wanted = {CONFIG_MAPS: asked.get("configMapName"), SLICES: (asked.get("service") or {}).get("name")} if serves else {}
        for item in self._standing(life):
            if addresses_in(item) and item["metadata"]["name"] not in wanted.values():
                name = item["metadata"]["name"]
                yield f"{name!r} leads to the VM of {life.name}, which is {life.ready} and does not ask for it"
        conflict = life.condition("PublicationFailed").get("reason") == "Conflict"
        for plural, name in wanted.items():
            found = self._object(life.namespace, plural, name) if name else None
            leads_to = addresses_in(found) if found else set()
            its_own = bool(leads_to) and (life.chosen or leads_to <= self._addresses[life.uid])
            if name and not conflict and not its_own:
                yield f"{plural} {name!r} does not lead to the VM of {life.name}"

    # What is known.

    def _found(self, text: str) -> None:
        self._world.judge.found("published", text)

    def _standing(self, life: Life) -> list[dict[str, Any]]:
        """The published objects that this object owns, while it exists."""
        everything = (item for plural in PUBLISHED for item in self._world.api.objects(plural))
        return [item for item in everything if life.now is not None and life.uid in owners_of(item)]

    def _object(self, namespace: str, plural: str, name: str) -> dict[str, Any] | None:
        found = (item for item in self._world.api.objects(plural) if item["metadata"]["namespace"] == namespace)
        return next((item for item in found if item["metadata"]["name"] == name), None)

    def _owner(self, item: dict[str, Any]) -> Life | None:
        lives = self._world.judge.books.lives
        found = (lives[uid] for uid in owners_of(item) if uid in lives)
        return next((life for life in found if life.now is not None), None)

    def _was_rewritten(self, life: Life) -> bool:
        judge = self._world.judge
        return self._world.loop.time() - max(life.tampered_at, life.restored_at) < REWRITTEN_SECONDS or judge.may_be_unnoticed(
            life
        )

    def _may_be_late(self) -> bool:
        return bool((self._world.weather.rates.keys() | self._world.weather.plotted) & {*KUBE, "kube-outage", "pause"})


def owners_of(item: dict[str, Any]) -> set[str]:
    """The UIDs of an object's owners."""
    return {one["uid"] for one in item["metadata"].get("ownerReferences") or ()}


def addresses_in(item: dict[str, Any]) -> set[str]:
    """The addresses that a published object leads to."""
    data = item.get("data") or {}
    listed = {one for endpoint in item.get("endpoints") or () for one in endpoint.get("addresses") or ()}
    return listed | {data[name] for name in ("host", "privateAddress") if data.get(name)}


def addresses_of(vm: Vm) -> set[str]:
    """The addresses that the cloud reports of a VM."""
    private = f"172.16.{vm.uid // 254 % 256}.{vm.uid % 254 + 1}"
    return {private, vm.ip} - {""}
