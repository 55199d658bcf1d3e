"""The oracle of the deletion guard and of the limits on purchases: what docs/how-to/brakes-and-limits.md promises of them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from gpucloud.sim.world.vms import Vm
from simulation.cloud import name_of, place_of
from simulation.deeds import RELEASE
from simulation.recreating import asks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.books import Life
    from simulation.process import Process
    from simulation.world import World

PRICES = {"A100_40GB_PCIe_1x": 2.05, "A100_40GB_PCIe_2x": 4.10}  # dollars an hour, as the cloud's catalogue says
HOLDS_NO_ROOM = frozenset({"NotOrdered", "Lost", "Gone"})  # states of an order that no limit counts
AHEAD = timedelta(minutes=5)  # a release for later than that releases nothing
READ_SECONDS = 15.0  # for so long an operator may know an older release: it reads a namespace every 5 s, from a memory of 5 s
TAKEN_OVER_SECONDS = 60.0  # until a process that follows another knows what that one had ordered
SKEW = timedelta(hours=1)  # by which a process's clock may be ahead


@dataclass(frozen=True, slots=True)
class Departure:
    """A GpuVM that has entered deletion, or whose VM has failed and is replaced."""

    uid: str
    entered: datetime
    price: float


class Guarding:
    """Counts, for each process, the VMs that it destroys and orders."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._passed: defaultdict[str, dict[tuple[str, datetime], Departure]] = defaultdict(dict)  # by process; UID and time
        self._begun: set[tuple[str, str]] = set()  # process and UID of what was destroyed under a release
        self._released: defaultdict[str, list[tuple[float, datetime]]] = defaultdict(
            list
        )  # by namespace: until when, and up to
        self._released_since: dict[str, float] = {}  # by UID of a GpuVM that has entered deletion
        self._held: set[str] = set()  # UIDs of those that an operator's status calls held
        self._holds: set[tuple[str, str]] = set()  # UID and time of each hold that was looked at

    @property
    def _settings(self) -> Any:
        return self._world.scenario.settings

    @property
    def on(self) -> bool:
        """Whether there is a guard."""
        return self._settings.brake_vms > 0 or self._settings.brake_price_per_hour > 0

    def takes_back(self, meta: dict[str, Any]) -> None:
        """A namespace changes. Its release as it was may be what an operator has read, and acts on."""
        stamp = self._stamp((meta.get("annotations") or {}).get(RELEASE))
        if stamp is not None:
            self._released[meta["name"]].append((self._world.loop.time(), stamp))
        self._note_releases()

    def _note_releases(self) -> None:
        """Note since when each deletion has been released."""
        lives = [self._life(one.uid) for one in self._departures()] if self.on else []
        since = {
            life.uid: self._released_since.get(life.uid, self._world.loop.time())
            for life in lives
            if self._says_so(life, _entered(life))
        }
        self._released_since = since

    # What an operator does.

    def committed(self, life: Life, *, by_operator: bool) -> None:
        """An object has changed."""
        if not self.on or life.kind != "GpuVM":
            return
        self._note_releases()
        given_up = by_operator and _entered(life) is None  # a replacement that is asked for again enters deletion anew
        kept = given_up or life.keeps() or life.now is None or life.tampered_at == self._world.loop.time()
        if kept or self._is_released(life):
            self._held.discard(life.uid)
        elif by_operator and _entered(life) and life.status.get("deletionHeldAt") and life.uid not in self._held:
            self._held.add(life.uid)
            hold = (life.uid, life.status["deletionHeldAt"])
            if hold in self._holds:  # an operator need not know of a release that was taken back, and who is left may have gone
                return
            self._holds.add(hold)
            self._world.judge.sometimes["deletion held"] += 1
            among = [one for one in self._known_departures() if not self._is_known_as_released(one.uid)]
            if not any(self._is_crowd(one, among) for one in self._departures() if one.uid == life.uid):
                self._world.judge.found("guard", f"{life.name} is held, though no window holds more than is let pass")

    def restored(self) -> None:
        """Etcd has gone back in time: a hold counts only if what is there now tells of it."""
        lives = map(self._life, self._held)
        self._held = {one.uid for one in lives if one.now and _entered(one) and one.status.get("deletionHeldAt")}

    def destroys(self, process: Process, name: str, place: tuple[str, str]) -> None:
        """A process sends DestroyServer for the VM of this name in a cluster and VPC.

        Excused: a destruction that it has begun under a release is begun, and its call repeated, whatever is said since.
        """
        if not self.on:
            return
        for row, maker in self._vms():
            life = self._world.judge.books.lives.get(maker)
            if (name_of(row), place_of(row)) != (name, place) or life is None or row.leaving or _entered(life) is None:
                continue
            if self._is_released(life):
                self._begun.add((process.name, life.uid))
                continue
            if life.uid in self._held:
                self._world.judge.found("guard", f"{name!r} was destroyed by {process.name}, though {life.name} is held")
            if (process.name, life.uid) not in self._begun:
                self._lets_pass(process, life)

    def _lets_pass(self, process: Process, life: Life) -> None:
        passed, entered = self._passed[process.name], _entered(life)
        if entered is None or (life.uid, entered) in passed:
            return
        departure = passed[life.uid, entered] = Departure(life.uid, entered, self._known_price(life))
        among = [one for one in passed.values() if not self._is_released(self._life(one.uid), one.entered)]
        if self._is_crowd(departure, among):
            names = ", ".join(self._life(one.uid).name for one in among)
            self._world.judge.found("guard", f"{process.name} destroys more than one window lets pass: {names}")

    def orders(self, process: Process, life: Life, configuration: str) -> None:
        """A process sends CreateServer for this object, of this configuration: its spec's, or an alternative's.

        Two processes that are awake at once count apart.
        """
        settings, world = self._settings, self._world
        lately = (
            world.loop.time() - world.judge.last_disturbance < TAKEN_OVER_SECONDS
            and world.judge.sometimes["process died or slept"]
        )
        if sum(one.alive for one in world.processes) > 1 or lately or not self.has_limits:
            return
        namespace = life.last["metadata"]["namespace"]
        there = [one for one in self._bought(life) if one.last["metadata"]["namespace"] == namespace]
        everywhere = self._bought(life) if world.scenario.own_account else there
        price = sum(min(self._prices(one)) for one in there) + PRICES.get(configuration, 0.0)
        counts = (
            (settings.max_vms_per_namespace, len(there) + 1, "--max-vms-per-namespace"),
            (settings.max_vms_per_account, len(everywhere) + 1, "--max-vms-per-account"),
            (settings.max_price_per_hour_per_namespace, price, "--max-price-per-hour-per-namespace"),
        )
        for most, found, name in counts:
            if most and found > most:
                world.judge.found("limit", f"{process.name} orders for {life.name}: {found:g} with it, and {name} is {most:g}")

    @property
    def has_limits(self) -> bool:
        """Whether purchases are limited."""
        one = self._settings
        return bool(one.max_vms_per_namespace or one.max_vms_per_account or one.max_price_per_hour_per_namespace)

    def _bought(self, besides: Life) -> list[Life]:
        """The other objects whose VM is there, or is on order; what somebody has made unknown to operators does not count.

        Nor does what all plausible listings have lacked for a grace: that proves it lost; it takes no room until it is back.
        """
        world = self._world
        makers = {maker for row, maker in self._vms() if not world.judge.is_hidden(row)} | {
            one.uid for one in world.cloud.orders if not one.answer
        }
        return [
            one
            for one in world.judge.books.standing()
            if one.kind == "GpuVM" and one.uid in makers and one is not besides and one.tampered_at < self._last_order(one)
        ]

    def _last_order(self, life: Life) -> float:
        return max((one.at for one in self._world.cloud.orders.of(life.uid)), default=0.0)

    # The end.

    def release_all(self) -> None:
        """A person says that all deletions were meant."""
        if self.on:
            for namespace in ("team", "other"):
                self._world.deeds.release(namespace, self._world.now().strftime("%Y-%m-%dT%H:%M:%SZ"))

    def unmet(self, life: Life) -> Iterator[str]:
        """What a hold that is over, or a limit with room, still keeps from happening."""
        reason = life.ready.partition("/")[2]
        if reason == "DeletionHeld" and self._is_released(life):
            yield f"{life.name} is held, though it was released"
        if reason == "LimitReached" and self._has_room(life):
            yield f"{life.name} says that a limit is reached, and there is room"

    def may_hold(self, life: Life) -> bool:
        """Whether a guard may hold this deletion: there is one, and no person has said that the deletion was meant."""
        return self.on and life.kind == "GpuVM" and _entered(life) is not None and not self._is_released(life)

    def _has_room(self, life: Life) -> bool:
        """Whether no limit keeps it from being ordered, as one on prices does with what the catalogue does not know."""
        if self._settings.max_price_per_hour_per_namespace and not _price(life):
            return False
        settings, namespace = self._settings, life.last["metadata"]["namespace"]
        others = [one for one in self._world.judge.books.standing() if one.kind == "GpuVM" and one is not life]
        counting = [one for one in others if (one.status.get("order") or {}).get("state", "NotOrdered") not in HOLDS_NO_ROOM]
        there = [one for one in counting if one.last["metadata"]["namespace"] == namespace]
        everywhere = counting if self._world.scenario.own_account else there
        price = max(*_accepted(life), *self._prices(life))  # what it has ordered, or orders anew as its spec says now
        reconcilers = (
            (settings.max_vms_per_namespace, len(there) + 1),
            (settings.max_vms_per_account, len(everywhere) + 1),
            (settings.max_price_per_hour_per_namespace, sum(map(self._counted, there)) + price),
        )
        return all(not most or found <= most for most, found in reconcilers)

    # What is known.

    def _vms(self) -> Iterator[tuple[Vm, str]]:
        return ((row, maker) for _, row, maker in self._world.cloud.live() if isinstance(row, Vm))

    def _life(self, uid: str) -> Life:
        return self._world.judge.books.lives[uid]

    def _departures(self) -> list[Departure]:
        lives = self._world.judge.books.lives.values()
        found = ((one, _entered(one)) for one in lives if one.kind == "GpuVM")
        return [Departure(one.uid, entered, max(self._prices(one))) for one, entered in found if entered is not None]

    def _known_departures(self) -> list[Departure]:
        """All departures, and those of earlier VMs of an object that is there: one was recreated, and its new one goes, too."""
        passed = {key: one for each in self._passed.values() for key, one in each.items()}
        return list((passed | {(one.uid, one.entered): one for one in self._departures()}).values())

    def _known_price(self, life: Life) -> float:
        """What it costs, as far as its status shows that an operator knows; what is not known counts as nothing."""
        return min(self._prices(life)) if life.status.get("pricePerHour") else 0.0

    def _counted(self, life: Life) -> float:
        """What a limit counts for it at most: a refused order, which may be sent again, at the price of what it was for."""
        order = life.status.get("order") or {}
        again = order.get("configuration") if order.get("state") == "Refused" else None
        return max(*self._prices(life), PRICES.get(str(again), 0.0))

    def _prices(self, life: Life) -> list[float]:
        """What its VM may cost, as far as anybody can know: as it was ordered, whatever its spec says since.

        Excused: after an order without a clear answer any of its orders may have made the VM, as no listing names the
        configuration of one.
        """
        orders = [one for one in self._world.cloud.orders.of(life.uid) if one.operation == "CreateServer"]
        clear = [one for one in orders if one.answer in {"accepted", "refused"}]
        made = orders if len(clear) < len(orders) else [one for one in clear if one.answer == "accepted"][-1:]
        return [PRICES.get(one.configuration, 0.0) for one in made] or [_price(life)]

    def _is_crowd(self, departure: Departure, among: list[Departure]) -> bool:
        """Whether some window with this departure in it holds more than may pass."""
        settings, window = self._settings, timedelta(seconds=self._settings.brake_window_seconds)
        for first in among:
            if not first.entered <= departure.entered <= first.entered + window:
                continue
            inside = [one for one in among if first.entered <= one.entered <= first.entered + window]
            price = sum(one.price for one in inside)
            if settings.brake_vms and len(inside) > settings.brake_vms:
                return True
            if settings.brake_price_per_hour and price > settings.brake_price_per_hour:
                return True
        return False

    def _is_known_as_released(self, uid: str) -> bool:
        """Whether every operator must know that a deletion was released: it was released so long ago that all have read it.

        What the object itself says comes with the news of it.
        """
        since, late = self._released_since.get(uid), self._world.arranged.lateness("gpuvms")
        return since is not None and self._world.loop.time() - since > READ_SECONDS + late

    def _is_released(self, life: Life, entered: datetime | None = None) -> bool:
        """Whether an operator may know that a person has said that this deletion was meant: the last one, or of an earlier VM.

        What a namespace said lately counts: an operator reads it every few seconds.
        """
        lately = [was for until, was in self._released[life.namespace] if self._world.loop.time() - until < READ_SECONDS]
        entered = entered or _entered(life)
        return self._says_so(life, entered) or (entered is not None and any(entered <= was for was in lately))

    def _says_so(self, life: Life, entered: datetime | None) -> bool:
        """Whether the object, or its namespace, says now that this deletion was meant."""
        meta = life.last["metadata"]
        own = self._stamp((meta.get("annotations") or {}).get(RELEASE))
        if own is not None and ("deletionTimestamp" in meta or (entered is not None and entered <= own)):
            return True
        namespace = self._world.actors.admin.get(f"/api/v1/namespaces/{meta['namespace']}") or {}
        stamp = self._stamp((namespace.get("metadata", {}).get("annotations") or {}).get(RELEASE))
        return entered is not None and stamp is not None and entered <= stamp

    def _stamp(self, text: str | None) -> datetime | None:
        if not text:
            return None
        found = _time(text)
        return found if found <= self._world.now() + AHEAD + SKEW else None


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _entered(life: Life) -> datetime | None:
    """When it entered deletion, or when its VM failed or its replacement was planned, as its status says."""
    failed = life.status.get("failedSince") if asks(life) else None
    since = life.last["metadata"].get("deletionTimestamp") or failed or (life.status.get("replacement") or {}).get("plannedAt")
    return None if since is None else _time(str(since))


def _accepted(life: Life) -> list[float]:
    """What a VM costs as its spec asks for, and as each of its alternatives."""
    others = (life.spec.get("placement") or {}).get("alternatives") or ()
    return [_price(life), *(PRICES.get(str(one.get("configuration")), 0.0) for one in others)]


def _price(life: Life) -> float:
    """What a VM as its spec asks for costs."""
    return PRICES.get(str(life.spec.get("configuration")), 0.0)
