"""kill -9 of the operator at chosen points of a life: after a restart exactly one thing in the cloud, or none, as desired.

Each point is reached for certain, by a fault that holds the cloud's answer there, and seen in the ledger or the object. One
kill serves many: at each point stand one GpuVM, one GpuVpc and one GpuSnapshot, told apart by what their calls say.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from support.kstatus import condition, ready
from support.manifests import gpusnapshot, gpuvm, gpuvpc
from support.simcloud import SimCloud
from support.waiting import eventually, gone, reach

if TYPE_CHECKING:
    from collections.abc import Callable

FLAGS = {"poll_pending_seconds": 0.2, "poll_steady_seconds": 0.5, "create_grace_seconds": 2, "cloud_timeout_seconds": 60}
MANY = {**FLAGS, "cloud_qps": 500, "cloud_burst": 100}
HELD = 120.0  # seconds that a fault holds an answer: longer than the test needs


@dataclass(frozen=True)
class Kind:
    """One kind: its operations, how its things are counted, and what in an order tells one object's from another's."""

    name: str
    make: Callable[[int], dict[str, Any]]
    create: str
    listing: str
    destroy: str
    done: str
    living: Callable[[SimCloud], list[str]]
    id: str  # in status
    mark: Callable[[int], dict[str, str]]


def vm(number):
    return gpuvm(f"p{number}", rootDiskGiB=100 + number)


def vpc(number):
    return gpuvpc(f"p{number}", name=f"acme-p{number}")


def snapshot(number):
    return gpusnapshot(f"p{number}", vmRef=None, vm={"cluster": "Msc1", "vpc": "acme", "name": f"source-{number}"})


KINDS = (
    Kind(
        "gpuvm",
        vm,
        "CreateServer",
        "GetServers",
        "DestroyServer",
        "True/Running",
        lambda sim: [name for name in sim.vms() if not name.startswith("source-")],
        "vmId",
        lambda number: {"rootDiskSize": str(100 + number)},
    ),
    Kind(
        "gpuvpc",
        vpc,
        "CreateVpc",
        "GetVpcs",
        "DestroyVpc",
        "True/Available",
        SimCloud.vpcs,
        "vpcId",
        lambda number: {"name": f"acme-p{number}"},
    ),
    Kind(
        "gpusnapshot",
        snapshot,
        "CreateSnapshot",
        "GetSnapshots",
        "DeleteSnapshot",
        "True/Completed",
        SimCloud.snapshots,
        "snapshotId",
        lambda number: {"sourceVMName": f"source-{number}"},
    ),
)


@dataclass(frozen=True)
class Point:
    """Where to kill: what the one call meets that holds the operator there, and the phase in which that call must be."""

    why: str
    phase: str
    fault: dict[str, Any] = field(default_factory=dict)
    deleting: bool = False
    last: bool = False  # it passes by itself, so it is reached right before the kill


POINTS = (
    Point("create received, never committed", "received", {"kind": "silence", "seconds": HELD}),
    Point("create committed, not answered", "committed", {"kind": "delay_answer", "seconds": HELD}),
    Point("done and saved", "done"),
    Point("destroy received, never committed", "received", {"kind": "silence", "seconds": HELD}, deleting=True),
    Point("destroy committed, not answered", "committed", {"kind": "delay_answer", "seconds": HELD}, deleting=True),
    Point("create committed, the connection reset", "committed", {"kind": "lost_answer"}, last=True),
    Point(
        "create refused by a hang-up, committed a second later",
        "received",
        {"kind": "late_commit", "status": 0, "seconds": 1.0},
        last=True,
    ),
    Point("destroy answered, still listed", "answered", deleting=True, last=True),
)


def test_killed_at_many_points_at_once(here, sim, operator, figure):
    sim.turn(destroy_seconds=1, snapshot_delete_seconds=1, snapshot_seconds=0.3)
    sources(sim, len(POINTS))
    process = operator(**MANY)
    deleting = [number for number, point in enumerate(POINTS) if point.deleting]
    here.apply([kind.make(number) for kind in KINDS for number in deleting])
    ids = {(kind, number): done(here, kind, number)["status"][kind.id] for kind in KINDS for number in deleting}
    for last in (False, True):
        now = [number for number, point in enumerate(POINTS) if point.last == last]
        for kind in KINDS:
            for number in now:
                hold(sim, kind, number, ids)
        here.apply([kind.make(number) for kind in KINDS for number in now if number not in deleting])
        delete(here, [number for number in now if number in deleting])
        for kind in KINDS:
            for number in now:
                there(here, sim, kind, number, ids)
    process.kill9()
    sim.clear_faults()
    operator(**MANY)
    whole_life(here, sim, {number: point.deleting for number, point in enumerate(POINTS)})
    figure(f"killed at {len(POINTS)} points of the lives of {len(KINDS)} kinds")


def test_killed_before_the_first_listing(here, sim, operator):
    killed_while_listings(here, sim, operator, {"kind": "delay", "seconds": HELD})


def test_killed_before_a_listing_shows_what_was_ordered(here, sim, operator):
    killed_while_listings(here, sim, operator, {"kind": "stale", "seconds": HELD}, ordered=True)


def test_killed_before_a_listing_proves_it_gone(here, sim, operator):
    """The calls that destroy have been carried out; no listing has come since."""
    sources(sim, 1)
    process = operator(**FLAGS)
    here.apply([kind.make(0) for kind in KINDS])
    for kind in KINDS:
        done(here, kind, 0)
    sim.turn(destroy_seconds=0.2, snapshot_delete_seconds=0.2)
    delete(here, [0])
    eventually(lambda: all(sim.committed(kind.destroy) for kind in KINDS), 60, "all to be destroyed")
    sim.fault(kind="delay_answer", operation="Get*", seconds=HELD)
    process.kill9()
    sim.clear_faults()
    operator(**FLAGS)
    whole_life(here, sim, {0: True})


def test_killed_with_an_order_on_its_way(here, sim, operator):
    """The cloud carries it out only after the next process has looked, and would make two of one name if asked twice."""
    sim.turn(duplicate_vm="twin")
    sim.fault(kind="late_commit", operation="CreateServer", status=0, seconds=6.0)
    flags = {**FLAGS, "create_grace_seconds": 8}
    process = operator(**flags)
    here.apply(vm(0))
    eventually(lambda: sim.calls("CreateServer"), 60, "the order to be sent")
    process.kill9()
    sim.clear_faults()
    operator(**flags)
    done(here, KINDS[0], 0)
    assert len(sim.vms()) == 1
    here.delete("gpuvm", "p0")
    assert sim.vms() == []
    assert len(sim.committed("CreateServer")) == 1, "one create in the whole life"


def killed_while_listings(here, sim, operator, fault, *, ordered=False):
    """Killed while no listing comes that shows anything; with ``ordered`` after the orders were answered."""
    sim.turn(destroy_seconds=0.2, snapshot_delete_seconds=0.2, snapshot_seconds=0.3)
    sources(sim, 1)
    process = operator(**FLAGS)
    for kind in reversed(KINDS):  # the snapshot first, which must see the VM that it is of
        sim.fault(operation=kind.listing, **fault)
        here.apply(kind.make(0))
        eventually(lambda kind=kind: reached(here, sim, kind, ordered=ordered), 60, f"{kind.name}, ordered: {ordered}")
    process.kill9()
    sim.clear_faults()
    operator(**FLAGS)
    whole_life(here, sim, {0: False})


def reached(here, sim, kind, *, ordered):
    if ordered:
        return any(call["answered"] is not None for call in sim.calls(kind.create))
    return here.get(kind.name, "p0")["metadata"].get("finalizers") and sim.calls(kind.listing)


def sources(sim, count):
    """VMs of somebody else's that the snapshots are of."""
    for number in range(count):
        sim.create_vm(f"source-{number}")
        sim.force(f"source-{number}", "ONLINE")


def done(here, kind, number):
    return reach(here, kind.name, f"p{number}", kind.done, 90)


def delete(here, numbers):
    for kind in KINDS:
        here.ok("delete", kind.name, *(f"p{number}" for number in numbers), "--wait=false")


def aim(kind, number, ids):
    """The call that a point is about, and what it says."""
    if POINTS[number].deleting:
        return kind.destroy, {"Id": ids[kind, number]}
    return kind.create, kind.mark(number)


def hold(sim, kind, number, ids):
    if POINTS[number].fault:
        operation, says = aim(kind, number, ids)
        sim.fault(operation=operation, parameters=says, **POINTS[number].fault)


def there(here, sim, kind, number, ids):
    """Wait until this object's call is in the phase that the point is about."""
    point = POINTS[number]
    if point.phase == "done":
        done(here, kind, number)
        return
    operation, says = aim(kind, number, ids)

    def look():
        calls = [
            call for call in sim.calls(operation) if says.items() <= {k: str(v) for k, v in call["parameters"].items()}.items()
        ]
        return any(call[point.phase] is not None for call in calls)

    eventually(look, 90, f"{kind.name}: {point.why}")


def whole_life(here, sim, lives):
    """Each reaches what is desired, those not yet deleted are then, and in its whole life each was created once."""
    alive = [number for number, deleting in lives.items() if not deleting]
    for kind in KINDS:
        for number in alive:
            done(here, kind, number)
        gone(here, kind.name, *(f"p{number}" for number, deleting in lives.items() if deleting))
        assert len(kind.living(sim)) == len(alive)
    if alive:
        delete(here, alive)
    for kind in KINDS:
        gone(here, kind.name, *(f"p{number}" for number in lives))
        assert kind.living(sim) == []
        created = [call["parameters"] for call in sim.committed(kind.create)]
        for number in lives:
            mine = [said for said in created if kind.mark(number).items() <= {k: str(v) for k, v in said.items()}.items()]
            assert len(mine) == 1, f"{kind.name}, {POINTS[number].why}: one create in the whole life"


def test_order_recorded_and_not_sent(kubectl, namespace, sim, operator):
    """The budget of calls is used up by the listing, so the order waits inside the operator when it is killed."""
    vms = kubectl.in_namespace(namespace)
    process = operator(**{**FLAGS, "cloud_qps": 0.2, "cloud_burst": 2})
    vms.apply(gpuvm())
    eventually(lambda: (item := vms.get("gpuvm", "train")) and ready(item) == "False/Creating", 60, "the record")
    sent = len(sim.calls("CreateServer"))
    process.kill9()
    operator(**FLAGS)
    vms.wait("gpuvm", "train", "condition=Ready")
    assert len(sim.vms()) == 1
    assert len(sim.calls("CreateServer")) == 1 or sent == 1


def test_a_pause_takes_effect_while_deleting(kubectl, namespace, sim, operator):
    vms = kubectl.in_namespace(namespace)
    operator(**{**FLAGS, "create_grace_seconds": 1})
    vms.apply(gpuvm())
    vms.wait("gpuvm", "train", "condition=Ready")
    sim.fault(kind="status", operation="DestroyServer", status=500)
    vms.delete("gpuvm", "train", wait=False)
    eventually(lambda: sim.calls("DestroyServer"), what="the first destroy")
    vms.annotate("gpuvm", "train", **{"gpucloud.dev/paused": "true"})
    eventually(
        lambda: "Paused by" in condition(vms.get("gpuvm", "train"), "Ready")["message"], what="the pause to be acknowledged"
    )
    sim.clear_faults()
    asked, looks = len(sim.calls("DestroyServer")), len(sim.calls("GetServers"))
    eventually(lambda: len(sim.calls("GetServers")) > looks + 15, what="some more polls")
    assert len(sim.calls("DestroyServer")) == asked
    assert len(sim.vms()) == 1
    vms.annotate("gpuvm", "train", **{"gpucloud.dev/paused": None})
    eventually(lambda: vms.get("gpuvm", "train") is None, 60, "deletion to go on")
    assert sim.vms() == []


def test_a_change_to_retain_takes_effect_while_deleting(kubectl, namespace, sim, operator):
    vms = kubectl.in_namespace(namespace)
    operator(**FLAGS)
    vms.apply(gpuvm())
    vms.wait("gpuvm", "train", "condition=Ready")
    sim.fault(kind="status", operation="DestroyServer", status=500)
    vms.delete("gpuvm", "train", wait=False)
    eventually(lambda: sim.calls("DestroyServer"), what="the first destroy")
    vms.patch("gpuvm", "train", {"spec": {"deletion": {"policy": "Retain"}}})
    eventually(lambda: vms.get("gpuvm", "train") is None, 30, "the object to go")
    assert len(sim.vms()) == 1, "the VM is retained"
