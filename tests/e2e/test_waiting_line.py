"""GpuVMs that wait for capacity: one query serves all, who waits longest goes first, and a restart keeps each one's place."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from support.kstatus import condition
from support.manifests import gpuvm
from support.waiting import eventually, reach

FLAGS = {"poll_pending_seconds": 0.2, "poll_steady_seconds": 0.5, "create_grace_seconds": 1}
PLACE = {"configuration": "A100_40GB_PCIe_1x", "cluster": "Msc1", "pool": "reserved-acme"}


def waiting(name, **placement):
    return gpuvm(name, resourcePool=PLACE["pool"], **({"placement": placement} if placement else {}))


@pytest.fixture
def full(sim):
    """A cloud without room that refuses what it has no room for."""
    sim.turn(create_without_capacity="refuse_503")
    sim.control("capacity", PLACE | {"total": 0})
    return sim


def since(here, name):
    return here.get("gpuvm", name)["status"].get("placement", {}).get("waitingSince")


def apply_and_wait(here, name, **placement):
    """Apply it; the second of its place in the line is over when it returns."""
    here.apply(waiting(name, **placement))
    return eventually(lambda: since(here, name), what=f"{name} to wait")


def orders(sim, status=202):
    return [call["parameters"]["name"].rsplit("-", 2)[0] for call in sim.calls("CreateServer") if call["status"] == status]


def test_what_comes_free_goes_to_who_waits_longest_also_after_a_restart(here, full, operator):
    process = operator(**FLAGS)
    first = apply_and_wait(here, "first")
    eventually(lambda: f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}" > first, what="the next second")
    apply_and_wait(here, "second", priority=9)
    item = reach(here, "gpuvm", "first", "False/WaitingForCapacity")
    words = f"since {first}; the longest wait is served first. The operator asks the cloud every 1 s what is free."
    eventually(lambda: words in condition(here.get("gpuvm", "first"), "Ready")["message"], what="the message")
    assert here.get("gpuvm", "first")["status"]["placement"]["lookSeconds"] == 1
    assert [one["reason"] for one in item["status"]["placement"]["refused"]] == ["NoCapacity"]
    process.kill9()
    operator(**FLAGS)
    here.apply(waiting("newcomer", priority=1000))
    eventually(lambda: since(here, "newcomer"), what="the newcomer to queue")
    for total, name in enumerate(("first", "second", "newcomer"), start=1):
        full.control("capacity", PLACE | {"total": total})
        reach(here, "gpuvm", name, "True/Running", timeout=60)
        assert len(orders(full)) == total
    assert since(here, "first") is None
    assert orders(full) == ["first", "second", "newcomer"]
    assert len(orders(full, status=503)) == 1, "nobody orders only to see whether there is room"
    assert len(full.vms()) == 3


def test_a_start_waits_in_the_same_line_and_keeps_its_place_over_a_restart(here, full, operator):
    full.control("capacity", PLACE | {"total": 1})
    process = operator(**FLAGS)
    here.apply(waiting("first"))
    reach(here, "gpuvm", "first", "True/Running")
    here.patch("gpuvm", "first", {"spec": {"powerState": "Stopped"}})
    reach(here, "gpuvm", "first", "True/PoweredOff")
    full.control("capacity", PLACE | {"total": 0})
    here.patch("gpuvm", "first", {"spec": {"powerState": "Running"}})
    began = eventually(lambda: since(here, "first"), what="the start to wait")
    words = f"Waiting for capacity for '{PLACE['configuration']}' in pool '{PLACE['pool']}' since {began}"
    eventually(lambda: words in condition(here.get("gpuvm", "first"), "Ready")["message"], what="the message")
    process.kill9()
    operator(**FLAGS)
    here.apply(waiting("newcomer", priority=1000))
    eventually(lambda: since(here, "newcomer"), what="the newcomer to queue behind the start")
    assert since(here, "first") == began
    full.control("capacity", PLACE | {"total": 1})
    reach(here, "gpuvm", "first", "True/Running", timeout=60)
    assert since(here, "first") is None
    assert [call["status"] for call in full.calls("StartServer")] == [503, 202]
    assert orders(full) == ["first"], "the newcomer waits"


def test_nobody_asks_what_is_free_while_nobody_waits(here, sim, operator):
    operator(**FLAGS)
    here.apply(gpuvm())
    reach(here, "gpuvm", "train", "True/Running")
    assert sim.calls("GetAvailability") == []


def test_without_the_permission_to_ask_the_operator_orders_again(here, full, operator):
    full.fault(kind="status", operation="GetAvailability", status=403)
    operator(**FLAGS)
    apply_and_wait(here, "train")
    full.control("capacity", PLACE | {"total": 1})
    reach(here, "gpuvm", "train", "True/Running", timeout=90)
    assert len(full.vms()) == 1


def test_who_is_deleted_while_it_waits_leaves_nothing(here, full, operator):
    operator(**FLAGS)
    apply_and_wait(here, "train")
    here.delete("gpuvm", "train")
    assert full.vms() == []
