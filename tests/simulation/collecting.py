"""The oracle of the collector of orphans: what docs/how-to/orphans.md promises of ``--collect-orphans``.

Nothing in a request tells the collector's call from an object's own. It is the collector's when the object has been gone for
longer than any call can be under way, or when an Event says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpucloud.sim.world.vms import Vm
from simulation.books import TABLES
from simulation.cloud import name_of, place_of
from simulation.saving import requires

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpucloud.sim.messages import Request
    from simulation.books import Life
    from simulation.process import Process
    from simulation.world import World

DESTROYS = {"DestroyServer": "vms", "DeleteSnapshot": "snapshots"}
UNDER_WAY = 75.0  # facts that are young enough to act upon, waiting for the request budget, and the call itself
NOTICED = 10.0  # until a new object must have been noticed, where no fault delays its news
LATE_NEWS = 100.0  # and where faults do: every list of objects is younger, or nothing is collected
ASLEEP = 60.0  # for which a process may sleep between its decision and its call
LOOKING = 20.0  # seconds that one look for orphans takes
FEW, SHARE = 2, 0.1  # more orphans than both of these are left alone
SEEN = ("Seen", "Destroying")  # orders whose thing the process knows
SLACK = 65.0  # the first look of a process, and slow calls


@dataclass(frozen=True, slots=True)
class Destroyed:
    """A destroying call for something whose object was gone when it was sent; ``broken``: which promises it would break."""

    at: float
    sender: str
    name: str
    tenant: str
    broken: tuple[str, ...]


class Collecting:
    """Watches every destroying call whose object is gone."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._gone: dict[str, float] = {}  # UID to when its object went
        self._born: dict[str, float] = {}  # process to when it began
        self._slept = False
        self._calls: list[Destroyed] = []
        self._collected: list[Destroyed] = []

    def began(self, process: Process) -> None:
        """A process has been started."""
        self._born[process.name] = self._world.loop.time()

    def last_birth(self) -> float:
        """When the last process began, which has to look at everything first; infinite while one is yet to begin.

        The last of all processes is always followed by another.
        """
        if not any(replica.process.alive for replica in self._world.replicas):
            return math.inf
        return max(self._born.values(), default=0.0)

    def slept(self) -> None:
        """A process was put to sleep."""
        self._slept = True

    def committed(self, life: Life) -> None:
        """An object has changed."""
        if life.now is not None:
            self._gone.pop(life.uid, None)
        else:
            self._gone.setdefault(life.uid, self._world.loop.time())

    def told(self, event: dict[str, Any]) -> None:
        """An operator has written an Event: that it collected something, or that something belongs to nobody."""
        reason, note = str(event.get("reason")), str(event.get("note", ""))
        if reason in {"OrphanCollected", "OrphanCollectionFailed"}:
            calls = [one for one in self._calls if f"'{one.name}'" in note]
            for call in calls[-1:]:  # an earlier one was its object's own
                self._is_collection(call)
        elif reason == "Orphan":
            self._said_of_nobody(note)

    def sent(self, process: Process, operation: str, request: Request) -> None:
        """An operator sends a call that changes the cloud."""
        if operation not in DESTROYS:
            return
        asked = {name.lower(): value for name, value in request.query}
        tenant = self._world.cloud.callers.tenant(request)
        for table, row, maker in self._world.cloud.called(asked.get("id", "")):
            if table == DESTROYS[operation] and (row.order if isinstance(row, Vm) else row).tenant == tenant:
                self._destroys(process, row, self._world.judge.books.lives.get(maker))

    def _rows(self, table: str) -> Iterator[tuple[Any, str]]:
        return ((row, maker) for where, row, maker in self._world.cloud.live() if where == table)

    def _destroys(self, process: Process, row: Any, life: Life | None) -> None:
        if life is None or life.now is not None or row.leaving:
            return
        named = (one for one in self._world.judge.books.standing() if one.chooses(name_of(row)))
        if any(one.deleting for one in named):
            return  # the call of an object that has chosen the same name; whether it may is another rule's affair
        now, gone = self._world.loop.time(), self._gone.get(life.uid, 0.0)
        place = row.order if isinstance(row, Vm) else row
        broken = tuple(self._broken(process, life, now, gone, row))
        call = Destroyed(now, process.name, name_of(row), place.tenant, broken)
        self._calls.append(call)
        if now - gone > UNDER_WAY + self._sleep():
            self._is_collection(call)

    def _is_collection(self, call: Destroyed) -> None:
        if call in self._collected:
            return
        self._collected.append(call)
        self._world.judge.sometimes["orphan collected"] += 1
        for promise in call.broken:
            self._world.judge.found("collected", f"{call.name!r} was destroyed by {call.sender}: {promise}")

    def _sleep(self) -> float:
        return ASLEEP if self._slept else 0.0

    def _broken(self, process: Process, life: Life, now: float, gone: float, row: Any) -> Iterator[str]:
        """The promises that collecting this thing now would break."""
        settings = self._world.scenario.settings
        name, tenant = name_of(row), (row.order if isinstance(row, Vm) else row).tenant
        if not settings.collect_orphans:
            yield "collection is off"
        if now - gone < settings.orphan_age_seconds:
            yield f"its object had been gone for {now - gone:.1f} s, of {settings.orphan_age_seconds:g}"
        yield from _broken_to(life)
        if self._born.get(process.name, 0.0) > gone:
            yield "this process did not see the object go"
        if self._is_wanted(life, name, now):
            yield "an object stands that may be looking for it"
        if self._many(process.name, tenant, now):
            yield "too many look orphaned"
        last = [one for one in self._collected if (one.sender, one.tenant) == (process.name, tenant)]
        if last and last[-1].name != name and now - last[-1].at < 0.99 * settings.orphan_scan_seconds:
            yield f"the last one was collected {now - last[-1].at:.1f} s ago"

    def _is_wanted(self, life: Life, name: str, now: float) -> bool:
        """Whether an object that has stood long enough to be known is its namesake, or needs it to be made."""
        news = NOTICED if self._world.weather.tells_news else LATE_NEWS
        return any(
            _wants(one, life, name) and now - self._world.judge.appeared(one) > news + self._sleep()
            for one in self._world.judge.books.standing()
        )

    def _many(self, sender: str, tenant: str, now: float) -> bool:
        """Whether too many things look orphaned; those count whose name bears a mark of this installation, whoever made them.

        Excused: names that the owner chose, and names that the cloud gave, tell nobody whose they are (docs/how-to/orphans.md).
        And what a listing of this very look lacked, though it is there.
        """
        orphans, ours, judge = 0, 0, self._world.judge
        for kind, table in TABLES.items():
            for row, maker in self._rows(table) if kind != "GpuVpc" else ():
                life, name = judge.books.lives.get(maker), name_of(row)
                unmarked = f"-{self._world.actors.tag()}-" not in name or (life is not None and life.chooses(name))
                if (row.order if isinstance(row, Vm) else row).tenant != tenant or unmarked or name in self._world.cloud_names:
                    continue
                if judge.has_lately_lacked(sender, row, now - LOOKING):
                    continue
                ours += 1
                since = judge.time_of(row) if life is None else self._gone.get(life.uid, now) if life.now is None else now
                orphans += not row.leaving and now - since > UNDER_WAY
        return orphans > max(FEW, SHARE * ours)

    def _said_of_nobody(self, note: str) -> None:
        """An Event calls something an orphan: then it is, or was, or nobody knows its object yet, or not as its spec is now."""
        now = self._world.loop.time()
        for row, maker in (pair for table in DESTROYS.values() for pair in self._rows(table)):
            life = self._world.judge.books.lives.get(maker)
            if life is None or not _tells_of(note, row) or life.now is None:
                continue
            if life.chosen and name_of(row) not in life.records():
                continue  # nothing says any more that it was ordered for this object
            if not life.names_cluster(place_of(row)[0]) or self._is_beside_its_own(life, row):
                continue  # it was ordered elsewhere, and no record says so any more
            if now - max(self._world.judge.appeared(life), life.tampered_at, life.asked_at) > LATE_NEWS + self._sleep():
                self._world.judge.found("misreported", f"{name_of(row)!r} was called an orphan, and {life.name} stands for it")

    def _is_beside_its_own(self, life: Life, row: Any) -> bool:
        """Whether the status records the cluster of another one of this name that was made for the object, and is there.

        One of two orders was carried out so late that it had passed for never carried out.
        """
        name = name_of(row)
        recorded = {cluster for text, cluster in life.recorded_places() if text == name}
        there = {
            place_of(other)[0]
            for table in DESTROYS.values()
            for other, maker in self._rows(table)
            if maker == life.uid and name_of(other) == name and type(other) is type(row)
        }
        return place_of(row)[0] not in recorded and bool(recorded & there)

    # At the end.

    def patience(self) -> float:
        """For how long the end waits for what must be collected; 0 when there is nothing."""
        settings, now = self._world.scenario.settings, self._world.loop.time()
        due = list(self._due())
        if not due:
            return 0.0
        oldest = max(self._gone[uid] for uid, _ in due)
        ripe = max(oldest + settings.orphan_age_seconds, now + 2 * settings.orphan_scan_seconds)
        return ripe - now + len(due) * settings.orphan_scan_seconds + SLACK

    def left(self) -> Iterator[str]:
        """What should have been collected by now."""
        return (name for _, name in self._due())

    def _due(self) -> Iterator[tuple[str, str]]:
        """UID and name of each orphan that a living process must have seen being abandoned, where nothing speaks against it.

        Only where no fault keeps the news of objects from a process; it may have missed the end of one otherwise. And only
        while few look orphaned, and no guard holds it.
        """
        world = self._world
        settings, deaths = world.scenario.settings, world.judge.sometimes["process died or slept"]
        calm = (
            world.weather.tells_news
            and world.weather.shows_cloud
            and not deaths
            and not world.actors.changed_keys
            and len(world.replicas) == 1
        )
        if not settings.collect_orphans or settings.brake_vms or settings.brake_price_per_hour or not calm:
            return
        process, now = world.replicas[0].process, world.loop.time()
        for row, maker in (pair for table in DESTROYS.values() for pair in self._rows(table)):
            life = world.judge.books.lives.get(maker)
            if life is None or life.now is not None or row.leaving or not life.forced or life.tampered_at > 0.0:
                continue
            gone = self._gone[life.uid]
            if name_of(row) in world.cloud_names or (life.status.get("order") or {}).get("state") not in SEEN:
                continue
            later = max(now, gone + settings.orphan_age_seconds)
            if not any(self._broken(process, life, later, gone, row)):
                yield life.uid, name_of(row)


def _broken_to(life: Life) -> Iterator[str]:
    """The promises that collecting what was made for this object would break, whenever and by whom."""
    if not life.forced or life.retained or life.keeps() or "deletionTimestamp" not in life.last["metadata"]:
        yield "its object was not deleted with it, and stripped of its finalizer by somebody else"
    if (life.last["metadata"].get("annotations") or {}).get("gpucloud.dev/paused") == "true":
        yield "its object was paused"
    if life.chosen:
        yield "its name was chosen, and proves nothing"
    if requires(life):
        yield "its spec requires a final snapshot, which nobody can take any more"


def _wants(one: Life, gone: Life, name: str) -> bool:
    """Whether an object may be looking for the thing of this name: it is called as its object was, or is to be made from it."""
    here = (gone.kind, gone.namespace, gone.last["metadata"]["name"])
    if (one.kind, one.namespace, one.last["metadata"]["name"]) == here:
        return True
    if one.ready.startswith("True/"):
        return False
    image = one.spec.get("image") or {}
    named = {(one.spec.get("vm") or {}).get("name"), image.get("snapshot")}
    referred = (("GpuVM", one.spec.get("vmRef")), ("GpuSnapshot", image.get("snapshotRef")))
    return name in named or here in {(kind, one.namespace, ref["name"]) for kind, ref in referred if ref}


def _tells_of(note: str, row: Any) -> bool:
    """Whether an Event names this, and no other cluster than the one that it is in."""
    elsewhere = "of cluster '" in note and f"of cluster '{place_of(row)[0]}'" not in note.casefold()
    return f"'{name_of(row)}'" in note and not elsewhere
