"""A cloud, its objects and an apiserver for the look for orphans, which it sees badly: what is true, and what it is shown.

Objects come with their VMs late or at once, end in order, with their VMs kept, or by force, and come back with an old etcd.
Lists of objects and listings of the cloud fail, lack, repeat and lag; the watch is late, or misses an end. The truth judges.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.models import VmRecord
from gpucloud.engine.dependencies import Objects
from gpucloud.engine.inventory import Listed
from gpucloud.engine.objects import ObjectStore
from gpucloud.engine.orphans import Orphans, OrphanTools
from gpucloud.engine.session import Learned
from gpucloud.kinds.common import DeletionPolicy
from gpucloud.kinds.gpucloudaccount import GpuCloudAccountSpec, GpuCloudAccountStatus
from gpucloud.kinds.gpusnapshot import GpuSnapshotSpec, GpuSnapshotStatus
from gpucloud.kinds.gpuvm import Deletion, GpuVMSpec, GpuVMStatus
from gpucloud.kinds.gpuvpc import GpuVpcSpec, GpuVpcStatus
from gpucloud.reconcile.facts import Absent, Asked, Attempt, Blindness, Memory, Present, Unknown, Verb
from gpucloud.reconcile.naming import Identity, external_name
from gpucloud.reconcile.orphans import Rules
from support.builders import TAG, a_spec, an_intent, an_object, facts
from support.fakes import DOWN, HandClock, a_resource

AGE = 3600.0
CLEARED = 0.4  # of what was left behind otherwise, a turn: many orphans hold the collection back
STEPS = (1.0, 60.0, 600.0, 2000.0)  # between two scans
IN_ORDER, FORCED, UNSEEN = "in order", "by force", "by force, unseen"
ENDS = {IN_ORDER: 3, FORCED: 4, UNSEEN: 1, "kept": 1, "paused": 1, "let go by us": 1}
OBJECTS = {"whole": 10, "failed": 3, "empty": 2, "partial": 3, "lagging": 3}
LISTINGS = {"whole": 14, "failed": 1, "empty": 1, "partial": 2, "lagging": 2, "repeated": 2, "twins": 1, "an error of ours": 1}


def drawn(dice, table):
    """One of a table of weights."""
    return dice.choices(list(table), list(table.values()))[0]


@dataclass
class Item:
    """One object and its VM, as they truly are."""

    name: str
    uid: str
    there: bool = True  # the object, at the apiserver
    shown: bool = False  # the watch has brought it
    coming: bool = True  # the VM is ordered, and not in the cloud yet
    made: bool = False  # the VM is in the cloud
    abandoned: float | None = None  # when this process saw the object go by force

    @cached_property
    def thing(self):
        return external_name(self.name, self.uid, TAG)

    @cached_property
    def record(self):
        return VmRecord.model_validate({"id": self.thing, "namespace": "acme", "status": "ONLINE", "tenancy_name": "acme"})


class OrphanWorld:
    """What is true; it plays apiserver, watch and cloud for one ``Orphans`` after another, which it restarts at times."""

    def __init__(self, dice, size):
        self.dice, self.size, self.clock = dice, size, HandClock(10_000.0)
        self.items, self.wrong, self.faults, self.collected = [], [], Counter(), 0
        self.lists, self.listed, self.version = [set()], [({}, 0.0)], 0
        self.restart()

    # --- what happens

    async def turn(self):
        """Time passes, things happen, and the operator looks."""
        self.clock.now += self.dice.choice(STEPS)
        self.people()
        self.arrivals()
        self.lists = [*self.lists[-5:], {item.uid for item in self.items if item.there}]
        self.listed = [*self.listed[-5:], (self.cloud(), self.clock.now)]
        if self.dice.random() < 0.01:
            self.restart()
        self.objects_are, self.blind = drawn(self.dice, OBJECTS), False
        self.faults[f"objects {self.objects_are}"] += 1
        await self.orphans.scan()

    def people(self):
        """Objects are made, end, come back with an old etcd, are made anew under their names; leftovers are cleared by hand."""
        alive = [item for item in self.items if item.there]
        if len(alive) < self.size:
            self.add(f"vm-{len(self.items)}")
        elif self.dice.random() < 0.3:
            self.end(self.dice.choice(alive[-3:]))  # the newest, whose VMs may not be there yet
        for item in self.items:
            if item.made and not item.there and item.abandoned is None and self.dice.random() < CLEARED:
                item.made = False
        gone = [item for item in self.items if item.abandoned is not None and item.made and not item.there]
        if gone and self.dice.random() < 0.05:
            back = self.dice.choice(gone)
            if self.dice.random() < 0.5:
                self.add(back.name)
                self.faults["a namesake"] += 1
            else:
                back.there, back.shown = True, False
                self.faults["came back"] += 1

    def add(self, name):
        self.items.append(Item(name, f"uid-{len(self.items)}"))

    def arrivals(self):
        """Orders are carried out, some late; the watch brings what is new, some of it late."""
        for item in self.items:
            if item.coming and self.dice.random() < 0.5:
                item.coming, item.made = False, True
            if item.there and not item.shown and self.dice.random() < 0.4:
                self.show(item)

    def show(self, item):
        self.version += 1
        intent = an_intent(item.thing).model_dump(mode="json", by_alias=True)
        self.objects.vms.put(a_resource("GpuVM", item.name, uid=item.uid, version=self.version, status={"intent": intent}))
        item.shown = True

    def end(self, item):
        """An object goes, and the watch says so, unless it missed that."""
        how = drawn(self.dice, ENDS)
        if item.abandoned is not None and how == UNSEEN:  # of what came back an operator that saw nothing knows the first end
            how = IN_ORDER
        self.faults[how] += 1
        self.faults["gone before its VM came"] += item.coming and how == FORCED
        item.there, item.shown = False, False
        self.objects.vms.drop(item.uid)
        if how != UNSEEN:
            room = SimpleNamespace(holds="vms", parting=lambda _body: self.last_view(item, how), lets_pass=lambda _facts: True)
            self.orphans.parted(room, {})
        item.abandoned = self.clock.now if how == FORCED else None
        if how == IN_ORDER:
            item.coming, item.made = False, False

    def last_view(self, item, how):
        """The facts by which the operator judges an end."""
        now, paused = self.clock.now, {"gpucloud.dev/paused": "true"} if how == "paused" else {}
        policy = DeletionPolicy.RETAIN if how == "kept" else DeletionPolicy.DELETE
        ordered = {Verb.CREATE: Attempt(Verb.CREATE, now - 1, Asked(1), None)}
        return facts(
            now=SimpleNamespace(mono=now, wall=self.clock.wall()),
            meta=an_object(name=item.name, uid=item.uid, deleting=True, annotations=paused),
            spec=a_spec(deletion=Deletion(policy=policy)),
            status=GpuVMStatus(intent=an_intent(item.thing), tenancy="acme"),
            found=Present(item.record, now) if item.made else Absent(now, now),
            memory=Memory(first_seen=0.0, attempts=ordered, freed=how in {IN_ORDER, "let go by us"}),
        )

    def restart(self):
        """A new process knows nothing of what the last one saw, and its watch begins anew."""
        kinds = ((GpuVMSpec, GpuVMStatus), (GpuVpcSpec, GpuVpcStatus), (GpuSnapshotSpec, GpuSnapshotStatus))
        accounts = ObjectStore(GpuCloudAccountSpec, GpuCloudAccountStatus)
        self.objects = Objects(*(ObjectStore(*kind) for kind in kinds), accounts, TAG)
        for item in self.items:
            item.shown, item.abandoned = False, None
        tools = OrphanTools(
            sessions=[("(operator)", Session(self))],
            objects=self.objects,
            kube=self,
            clock=self.clock,
            synced=lambda: True,
            tell=lambda *_: None,
            namespaces=(),
            rules=Rules(collect=True, age=AGE),
            interval=600.0,
        )
        self.orphans = Orphans(tools)

    # --- what it is shown

    async def uids(self, plural, _namespaces):
        """The apiserver's list. What came lately is in the list, or the watch has shown it: both never lack it together,
        unless the list says that it failed."""
        if self.objects_are == "failed":
            raise DOWN
        if plural != "gpuvms":
            return set()
        truth = self.lists[-1]
        lacking = {
            "whole": set(),
            "empty": truth,
            "partial": {uid for uid in sorted(truth) if self.dice.random() < 0.15},
            "lagging": truth - self.lists[0],
        }[self.objects_are]
        for item in self.items:
            if item.uid in lacking and item.there and not item.shown:
                self.show(item)
        return truth - lacking

    def cloud(self):
        """All VMs there are, by identity."""
        return {Identity("Msc1", "acme", item.thing): (item.record,) for item in self.items if item.made}

    def listing(self, not_before):
        """A believed listing of the VMs, or why there is none."""
        how, now = drawn(self.dice, LISTINGS), self.clock.now
        self.faults[f"listing {how}"] += 1
        records, as_of = self.cloud(), now
        self.blind = self.blind or how in {"failed", "an error of ours"}
        if how == "an error of ours":
            raise RuntimeError("a defect of the look")
        if how == "failed":
            return Unknown(now, Blindness.UNREACHABLE, "503")
        if how == "repeated" and self.listed[-2][1] >= not_before:
            records, as_of = self.listed[-2]
        lost = {"empty": 1.0, "partial": 0.3}.get(how, 0.0)
        if how == "lagging":
            records = self.listed[0][0]
        copies = 2 if how == "twins" else 1
        return Listed({where: found * copies for where, found in records.items() if self.dice.random() >= lost}, as_of)

    # --- what is true

    def destroy(self, name):
        """The one call of the look that changes anything: never upon what somebody has, or nobody saw abandoned."""
        (item,) = [item for item in self.items if item.thing == name]
        if not item.made:
            return  # a listing that lags showed it; nobody is harmed
        named = [other.uid for other in self.items if other.there and other.name == item.name]
        if named:
            self.wrong.append(f"{name} has an owner, or a namesake that waits for it: {named}")
        elif item.abandoned is None:
            self.wrong.append(f"{name} was destroyed, and nobody saw it being abandoned")
        elif self.objects_are == "failed" or self.blind:
            self.wrong.append(f"{name} was destroyed while not everything could be seen")
        elif self.clock.now - item.abandoned < AGE:
            self.wrong.append(f"{name} was destroyed {self.clock.now - item.abandoned} s after it was abandoned")
        self.collected += 1
        item.made = False


class Session:
    """One credential, as the look uses it."""

    def __init__(self, world):
        self.world, self.url, self.began, self.client = world, "https://cloud.example", 0.0, self
        self.learned, self.catalogue = Learned(tenants=frozenset({"acme"}), clusters=("Msc1",)), Prices()
        self.inventories = {"vms": Listings(world.listing), "snapshots": Listings(lambda _: Listed({}, world.clock.mono()))}

    async def get_all_clusters(self):
        if self.world.dice.random() < 0.03:
            self.world.blind = True
            raise CloudError(ErrorKind.SERVER, "no clusters today")
        return ["Msc1"]

    async def destroy_server(self, *, id, namespace, cluster):  # noqa: A002 - the client's own words
        assert (namespace, cluster) == ("acme", "Msc1")
        self.world.destroy(id)
        if self.world.dice.random() < 0.1:
            raise CloudError(ErrorKind.OUTCOME_UNKNOWN, "no answer", ambiguous=True)


class Prices:
    """No price is known."""

    async def learned(self): ...

    def price_per_hour(self, _configuration): ...


class Listings:
    """The listings of one kind, as the look asks an inventory for them."""

    def __init__(self, answer):
        self.answer, self.clusters = answer, frozenset({"Msc1"})

    async def listing(self, _cluster, not_before):
        return self.answer(not_before)
