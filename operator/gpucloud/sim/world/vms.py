"""The life of virtual machines: create, wait for capacity, boot, stop, start, destroy.

It knows capacity and time. Whether a VPC or a snapshot exists is checked by ``world.World``, which sees all services.
"""

from __future__ import annotations

import itertools
from collections import defaultdict, deque
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from gpucloud.sim.world.catalogue import Catalogue, Place
from gpucloud.sim.world.refusals import Reason, Refused, not_found
from gpucloud.sim.world.rules import Rules, digits_of
from gpucloud.sim.world.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

PENDING, PENDING_RESOURCES, PENDING_READINESS = "PENDING", "PENDING_RESOURCES", "PENDING_READINESS"
ONLINE, OFFLINE = "ONLINE", "OFFLINE"
PENDING_SHARE = 0.3  # of the time to ONLINE is spent in PENDING, the rest in PENDING_READINESS

Name = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class VmOrder:
    """What was asked for, every reference resolved and proven; sizes in GiB, 0 for the configuration's own."""

    cluster: str
    vpc: str
    name: str
    configuration: str
    pool: str
    image: str
    tenant: str
    username: str
    node: str = ""
    root_disk: int = 0
    persist: bool = False
    ssh_keys: tuple[str, ...] = ()  # a digest of each: enough to tell which ones were sent

    @property
    def place(self) -> Place:
        """Where its capacity is counted."""
        return Place(self.configuration, self.cluster, self.pool)


@dataclass(frozen=True, slots=True)
class Vm:
    """A machine at one moment. ``epoch`` rises with every order from outside, which voids what was planned before."""

    uid: int
    order: VmOrder
    status: str
    created: float
    updated: float
    ip: str = ""
    holds_capacity: bool = False
    leaving: bool = False
    epoch: int = 0

    @property
    def key(self) -> Name:
        """The name under which callers know it."""
        return (self.order.cluster, self.order.vpc, self.order.name)


class Vms:
    """All machines. Methods take ``now`` in seconds since 1970 and raise ``Refused``."""

    def __init__(self, rules: Rules, catalogue: Catalogue) -> None:
        self._rules = rules
        self._catalogue = catalogue
        self._uids = itertools.count(1)
        self._named: defaultdict[Name, list[int]] = defaultdict(list)
        self._waiting: defaultdict[Place, deque[tuple[int, int, float]]] = defaultdict(deque)
        self.table: Table[Vm] = Table()

    def listed(self, tenant: str, cluster: str = "", as_of: float | None = None) -> list[Vm]:
        """Return a tenant's machines, in one cluster or in all, now or as they were."""
        return [
            vm for vm in self.table.rows(as_of) if vm.order.tenant == tenant and (not cluster or vm.order.cluster == cluster)
        ]

    def named(self, key: Name) -> list[Vm]:
        """Return every machine of that name, twins included."""
        return [vm for uid in self._named.get(key, ()) if (vm := self.table.get(uid)) is not None]

    def require(self, key: Name, tenant: str) -> Vm:
        """Return the oldest machine of that name; raise Refused with the text that clients know."""
        found = next((vm for vm in self.named(key) if vm.order.tenant == tenant), None)
        if found is None:
            raise not_found(key[2], Reason.MISSING_VM)
        return found

    def create(self, order: VmOrder, now: float) -> tuple[Vm, bool]:
        """Create a machine; the flag is False when an existing one is answered instead (knob duplicate_vm)."""
        knobs = self._rules.knobs
        uid = next(self._uids)
        order = order if order.name else replace(order, name=f"vm-{digits_of(now, uid)}")
        vm = Vm(uid, order, PENDING, created=now, updated=now)
        duplicate_records = self.named(vm.key)
        if duplicate_records and knobs.duplicate_vm == "existing":
            return duplicate_records[0], False
        if duplicate_records and knobs.duplicate_vm != "twin":
            raise Refused(Reason.DUPLICATE_VM, f'A virtual machine named "{order.name}" already exists.', "name")
        holds = self._catalogue.take(order.place)
        if not holds and knobs.create_without_capacity == "refuse_503":
            raise Refused(Reason.NO_CAPACITY, f'No capacity for "{order.configuration}" in "{order.cluster}".')
        vm = self._put(replace(vm, holds_capacity=holds), now)
        self._named[vm.key].append(uid)
        self._begin(vm, knobs.provision_seconds, now)
        return vm, True

    def start(self, vm: Vm, now: float) -> tuple[Vm, bool]:
        """Start an OFFLINE machine, winning capacity anew; the flag tells whether anything changed."""
        if vm.status != OFFLINE or vm.leaving:
            return self._wrong_state(vm, "OFFLINE")
        knobs = self._rules.knobs
        holds = vm.holds_capacity or self._catalogue.take(vm.order.place)
        if not holds and knobs.start_without_capacity == "refuse_503":
            raise Refused(Reason.NO_CAPACITY, f'No capacity to start "{vm.order.name}" in "{vm.order.cluster}".')
        vm = self._put(replace(vm, status=PENDING, holds_capacity=holds, epoch=vm.epoch + 1), now)
        self._begin(vm, knobs.start_seconds, now)
        return vm, True

    def stop(self, vm: Vm, now: float) -> tuple[Vm, bool]:
        """Shut an ONLINE machine down; its capacity is free once it is OFFLINE. The flag tells of a change."""
        if vm.status != ONLINE or vm.leaving:
            return self._wrong_state(vm, "ONLINE")
        knobs = self._rules.knobs
        vm = self._put(replace(vm, status=knobs.stopping_word, epoch=vm.epoch + 1), now)
        self._after(vm, knobs.stop_seconds, now, self._offline)
        return vm, True

    def destroy(self, vm: Vm, now: float) -> tuple[Vm, bool]:
        """Destroy a machine, legal in every state; the flag is False if that was already under way."""
        if vm.leaving:
            return vm, False
        knobs = self._rules.knobs
        vm = self._put(replace(vm, status=knobs.destroying_word, ip="", leaving=True, epoch=vm.epoch + 1), now)
        self._after(vm, knobs.destroy_seconds, now, self.vanish)
        return vm, True

    def force(self, vm: Vm, status: str, now: float) -> Vm:
        """Put a machine into any state, known or not, where it stays until the next order."""
        ip = _address(vm.uid) if status == ONLINE else vm.ip
        return self._put(replace(vm, status=status, ip=ip, leaving=False, epoch=vm.epoch + 1), now)

    def vanish(self, vm: Vm, now: float) -> None:
        """Remove a machine at once and free what it held."""
        self.table.remove(vm.uid, now)
        self._named[vm.key].remove(vm.uid)
        if not self._named[vm.key]:
            del self._named[vm.key]
        self._release(vm, now)

    def serve_waiting(self, place: Place, now: float) -> None:
        """Give free capacity to those who wait for it, first come first served."""
        queue = self._waiting[place]
        while queue and self._catalogue.free(place):
            uid, epoch, seconds = queue.popleft()
            vm = self.table.get(uid)
            if vm is not None and vm.epoch == epoch and self._catalogue.take(place):
                self._ready_soon(seconds, replace(vm, holds_capacity=True), now)

    def _wrong_state(self, vm: Vm, wanted: str) -> tuple[Vm, bool]:
        if self._rules.knobs.wrong_power_state == "accept_202":
            return vm, False
        raise Refused(Reason.POWER_STATE, f'"{vm.order.name}" is {vm.status}; it must be {wanted}.')

    def _begin(self, vm: Vm, seconds: float, now: float) -> None:
        if self._rules.knobs.provision_stuck_at != PENDING:
            self._after(vm, seconds * PENDING_SHARE, now, partial(self._scheduled, seconds))

    def _scheduled(self, seconds: float, vm: Vm, now: float) -> None:
        stuck = self._rules.knobs.provision_stuck_at == PENDING_RESOURCES
        if vm.holds_capacity and not stuck:
            self._ready_soon(seconds, vm, now)
            return
        vm = self._put(replace(vm, status=PENDING_RESOURCES), now)
        if not stuck:
            self._waiting[vm.order.place].append((vm.uid, vm.epoch, seconds))
            self.serve_waiting(vm.order.place, now)  # a place may have come free while it was PENDING

    def _ready_soon(self, seconds: float, vm: Vm, now: float) -> None:
        vm = self._put(replace(vm, status=PENDING_READINESS), now)
        if self._rules.knobs.provision_stuck_at != PENDING_READINESS:
            self._after(vm, seconds * (1 - PENDING_SHARE), now, self._arrived)

    def _arrived(self, vm: Vm, now: float) -> None:
        outcome = self._rules.knobs.provision_outcome
        self._put(replace(vm, status=outcome, ip=_address(vm.uid) if outcome == ONLINE else ""), now)

    def _offline(self, vm: Vm, now: float) -> None:
        self._put(replace(vm, status=OFFLINE, ip="", holds_capacity=False), now)
        self._release(vm, now)

    def _release(self, vm: Vm, now: float) -> None:
        if vm.holds_capacity:
            self._catalogue.give_back(vm.order.place)
            self.serve_waiting(vm.order.place, now)

    def _put(self, vm: Vm, now: float) -> Vm:
        return self.table.put(vm.uid, replace(vm, updated=now), now)

    def _after(self, vm: Vm, seconds: float, now: float, step: Callable[[Vm, float], None]) -> None:
        def happen(at: float) -> None:
            current = self.table.get(vm.uid)
            if current is not None and current.epoch == vm.epoch:
                step(current, at)

        self._rules.timeline.at(now + seconds, happen)


def _address(uid: int) -> str:
    return f"198.51.100.{uid % 254 + 1}"  # the documentation range of RFC 5737
