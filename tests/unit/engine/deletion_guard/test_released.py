"""What releases held deletions."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest

from gpucloud.engine.kinds.deletion_guard import RELEASE_SECONDS
from gpucloud.kinds.meta import Annotation
from gpucloud.reconcile import deletion_guard
from gpucloud.reconcile.deletion_guard import Rule
from gpucloud.reconcile.facts import Verb
from support.fakes import DOWN
from support.guardrig import bought, crowded, held


async def test_one_annotation_on_a_namespace_releases_what_entered_deletion_before(make):
    it = await crowded(make)
    it.leave("vm-4", at=30, namespace="a", status=held("vm-4"))
    it.reconcilers.kube.namespaces["a"] = {Annotation.BRAKE_RELEASED_AT: "2026-01-01T00:00:10Z"}
    assert [await it.destroy(f"vm-{number}") for number in range(5)] == [True, False, True, False, False]
    assert it.guard.counts() == {("a",): 1.0, ("b",): 2.0}
    assert deletion_guard.OLDER in await it.message("vm-4")


async def test_what_was_begun_under_a_release_goes_on_when_the_release_is_taken_back(make):
    it = await crowded(make)
    it.reconcilers.kube.namespaces["a"] = {Annotation.BRAKE_RELEASED_AT: "2026-01-01T00:00:10Z"}
    assert await it.destroy("vm-0")
    it.reconcilers.kube.namespaces["a"] = {Annotation.BRAKE_RELEASED_AT: "2025-12-31T23:00:00Z"}
    it.reconcilers.clock.now += 60
    for number in range(4, 8):
        it.leave(f"vm-{number}", at=30, namespace="a")
    assert not await it.destroy("vm-4")
    for number in (0, 2):
        it.leave(f"vm-{number}", namespace="a")
    assert [await it.destroy(f"vm-{number}") for number in (2, 0)] == [False, True]


async def test_a_release_that_was_taken_back_before_it_was_acted_upon_releases_nothing(make):
    """Simulated world, seed 70033900: the cloud could not be listed between the two, and the operator had read the first."""
    it = make()
    it.leave_many(4)
    it.reconcilers.kube.namespaces["team"] = {Annotation.BRAKE_RELEASED_AT: "2026-01-01T00:00:10Z"}
    for number in range(4):
        await it.guard.refresh_releases(f"u-vm-{number}")
        assert it.guard.hold(f"u-vm-{number}") is None
    it.reconcilers.kube.namespaces["team"] = {Annotation.BRAKE_RELEASED_AT: "2025-12-31T23:00:00Z"}
    it.reconcilers.clock.now += 10
    assert [await it.destroy(f"vm-{number}") for number in range(4)] == [False] * 4


@pytest.mark.parametrize(
    ("written", "released", "why"),
    [
        ("2026-01-01T00:00:10Z", True, "as it says"),
        ("2026-01-01T00:00:00Z", True, "clocks may differ a little"),
        ("2025-12-31T15:00:10Z", False, "local time written as UTC: it was refused then, and nobody meant what came since"),
        (None, True, "an apiserver that does not say it"),
    ],
)
async def test_a_release_that_lay_ahead_when_it_was_set_releases_nothing_after_a_restart(make, written, released, why):
    it = await crowded(make)
    it.reconcilers.kube.namespaces["a"] = {Annotation.BRAKE_RELEASED_AT: "2026-01-01T00:00:10Z"}
    it.reconcilers.kube.annotated_at |= {"a": written} if written else {}
    assert await it.destroy("vm-0") is released, why
    assert ("in the future" in await it.message("vm-2")) is not released


async def test_an_object_that_was_released_itself_stays_so_when_its_namespaces_release_is_taken_back(make):
    it = make()
    it.leave_many(4)
    it.leave("vm-0", annotations={Annotation.BRAKE_RELEASED_AT: "2026-01-01T00:00:10Z"})
    it.reconcilers.kube.namespaces["team"] = {Annotation.BRAKE_RELEASED_AT: "2026-01-01T00:00:10Z"}
    await it.guard.refresh_releases("u-vm-0")
    it.reconcilers.kube.namespaces["team"] = {}
    it.reconcilers.clock.now += 10
    assert [await it.destroy(f"vm-{number}") for number in range(4)] == [True, True, True, True]


async def test_after_a_restart_every_release_is_read_before_anything_is_held(make):
    it = make()
    for number in range(8):
        it.leave(f"vm-{number}", namespace="a", status=bought(f"vm-{number}", reason="Deleting"))
    it.leave("other", namespace="b")
    it.reconcilers.kube.namespaces["a"] = {Annotation.BRAKE_RELEASED_AT: "2026-01-01T00:00:10Z"}
    assert await it.destroy("other")


async def test_what_is_released_makes_way_for_others_that_were_not_yet_held(make):
    it = make()
    it.leave_many(4)
    it.reconcilers.kube.namespaces["team"] = {Annotation.BRAKE_RELEASED_AT: "2026-01-01T00:00:10Z"}
    for number in range(4):
        assert await it.destroy(f"vm-{number}")
    it.leave("new", at=20)
    assert await it.destroy("new"), "the four were meant"


async def test_what_is_recorded_as_held_after_its_release_was_read_is_woken_once(make):
    """Simulated world, seed 92010179: the pass of another one read the release while the status was being written."""
    it = make()
    it.leave("late")
    it.reconcilers.kube.namespaces["team"] = {Annotation.BRAKE_RELEASED_AT: "2026-01-01T00:00:10Z"}
    it.leave_many(8)
    await it.guard.refresh_releases("u-vm-7")
    it.reconcilers.woken.clear()
    for _ in range(2):
        it.leave("late", status=held("late"))
    assert it.guard.hold("u-late") is None
    assert it.reconcilers.woken == ["u-late"]


async def test_a_price_that_comes_late_holds_nothing_before_the_releases_are_read(make):
    """Simulated world, seed 1100056: after a restart the catalogue came between the look for releases and the check."""
    it = make(Rule(price=Decimal(3)))
    prices = it.reconcilers.session.catalogue
    prices.price_per_hour = {}.get
    it.leave("meant", status=bought("meant", price=None))
    it.leave("new", at=20, status=bought("new", price=None))
    it.reconcilers.kube.namespaces["team"] = {Annotation.BRAKE_RELEASED_AT: "2026-01-01T00:00:10Z"}
    await it.guard.refresh_releases("u-new")
    prices.price_per_hour = {"A100_40GB_PCIe_1x": "2.05"}.get
    it.leave("meant", status=bought("meant", price=None))
    it.leave("new", at=20, status=bought("new", price=None))
    assert it.guard.hold("u-new") is None


@pytest.mark.parametrize("namespace", ["team", "other"])
async def test_a_deletion_is_not_held_for_others_that_were_released_before_it(make, namespace):
    """Simulated world, seed 501330: the namespace had been read a moment before its release, and was not read again."""
    it = make()
    for number in range(4):
        it.leave(f"vm-{number}")
        assert not await it.destroy(f"vm-{number}") or number < 3
    it.reconcilers.kube.namespaces["team"] = {Annotation.BRAKE_RELEASED_AT: "2026-01-01T00:00:10Z"}
    it.reconcilers.clock.now += 1
    it.leave("new", at=20, namespace=namespace)
    assert await it.destroy("new")


async def test_a_held_deletion_reads_its_own_namespace_alone(make):
    """Before it is held, the namespaces of all deletions are read anew; afterwards the guard's own watch reads them."""
    it = make()
    it.leave_many(4)
    it.leave("other", namespace="b")
    it.reconcilers.kube.namespaces["b"] = {Annotation.BRAKE_RELEASED_AT: "2025-12-31T00:00:00Z"}
    reads = it.reconcilers.kube.reads
    assert not await it.destroy("vm-3")
    assert sorted(reads) == [("namespaces", "b"), ("namespaces", "team")]
    it.reconcilers.clock.now += 6  # what was read is not remembered any more
    reads.clear()
    await it.guard.refresh_releases("u-vm-3")
    assert reads == [("namespaces", "team")]


async def test_what_is_deleted_at_once_reads_its_namespace_once_before_it_is_held(make):
    it = make()
    it.leave_many(8)
    it.reconcilers.clock.now += 1
    for number in range(8):
        assert not await it.destroy(f"vm-{number}")
    assert len(it.reconcilers.kube.reads) == 1


@pytest.mark.parametrize(
    ("value", "released", "says"),
    [
        ("2026-01-01T00:00:00Z", True, ""),
        ("yes", False, "'yes', not a time"),
        ("2031-01-01T00:00:00Z", False, "in the future"),
    ],
)
async def test_one_vms_own_annotation_releases_it_alone(make, value, released, says):
    it = await crowded(make)
    it.leave("vm-0", namespace="a", annotations={Annotation.BRAKE_RELEASED_AT: value})
    plan = it.reconciler.decide(await it.facts("vm-0"))
    assert (plan.action is Verb.DESTROY) is released
    assert says in plan.status.conditions[0].message
    assert it.held() >= ({"vm-1", "vm-2", "vm-3"} | (set() if released else {"vm-0"}))


async def test_a_namespace_that_cannot_be_read_stays_held_and_costs_no_pass(make, logs):
    it = await crowded(make)
    it.reconcilers.kube.namespaces["a"] = DOWN
    assert not await it.destroy("vm-0")
    assert any(line["event"].startswith("the namespace cannot be read") for line in logs)


@pytest.mark.looptime
async def test_a_release_wakes_those_that_wait_for_it_and_nobody_else(make):
    it = await crowded(make)
    watch = asyncio.create_task(it.guard.watch())
    await asyncio.sleep(RELEASE_SECONDS + 1)
    assert len(it.reconcilers.woken) >= 4, "once, since more have come than the first of them was told"
    it.reconcilers.quiet()
    await asyncio.sleep(3 * RELEASE_SECONDS)
    it.reconcilers.clock.now += 100
    assert it.reconcilers.woken == []
    it.reconcilers.kube.namespaces["a"] = {Annotation.BRAKE_RELEASED_AT: "2026-01-01T00:00:10Z"}
    await asyncio.sleep(RELEASE_SECONDS)
    watch.cancel()
    assert sorted(it.reconcilers.woken) == ["u-vm-0", "u-vm-2"]
    assert await it.destroy("vm-0")


@pytest.mark.looptime
async def test_while_nothing_is_held_no_namespace_is_read(make):
    it = make()
    it.leave("one")
    watch = asyncio.create_task(it.guard.watch())
    assert await it.destroy("one")
    await asyncio.sleep(10 * RELEASE_SECONDS)
    watch.cancel()
    assert it.reconcilers.kube.reads == []
