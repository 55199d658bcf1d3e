"""Which deletions the guard counts, admits and holds."""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta
from decimal import Decimal

import pytest

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.models import VmRecord
from gpucloud.engine.kinds.deletion_guard import RELEASE_SECONDS
from gpucloud.kinds.meta import Annotation
from gpucloud.reconcile.deletion_guard import Rule
from gpucloud.reconcile.facts import Present, Unknown, UnknownReason, Verb
from gpucloud.reconcile.naming import Identity
from gpucloud.reconcile.plan import Plan
from support.guardrig import T0, bought, crowded, held, ours


async def test_without_a_rule_nothing_is_counted_and_nothing_read(make):
    it = make(Rule())
    for number in range(100):
        it.leave(f"vm-{number}")
        assert await it.destroy(f"vm-{number}")
    assert it.guard.counts() == {}
    assert it.reconcilers.kube.reads == []


async def test_the_first_may_go_and_the_rest_is_held(make):
    it = make()
    sent = []
    for number in range(8):
        it.leave(f"vm-{number}")
        sent.append(await it.destroy(f"vm-{number}"))
    assert sent == [True] * 3 + [False] * 5
    assert it.guard.counts() == {("team",): 5.0}
    assert len(it.destroyed) == 3


async def test_of_deletions_known_together_none_is_admitted(make):
    it = make()
    for number in range(8):
        it.leave(f"vm-{number}", namespace="ab"[number % 2])
    assert not any([await it.destroy(f"vm-{number}") for number in range(8)])
    assert it.destroyed == []
    assert it.guard.counts() == {("a",): 4.0, ("b",): 4.0}, "accidents cross namespaces"


@pytest.mark.looptime
@pytest.mark.parametrize("seed", range(20))
async def test_a_hundred_passes_at_once_let_pass_no_more_than_the_rule(make, seed):
    """However passes and events are interleaved: what was decided is judged again in the breath in which it is sent."""
    it, dice = make(), random.Random(seed)
    for number in range(100):
        it.reconcilers.put("GpuVM", f"vm-{number}", status=bought(f"vm-{number}"))

    async def one(number):
        await asyncio.sleep(dice.random())
        it.leave(f"vm-{number}", at=dice.randint(0, 500))
        facts = await it.facts(f"vm-{number}")
        plan = it.reconciler.decide(facts)
        await asyncio.sleep(dice.random() / 10)  # a slow worker
        if plan.action is Verb.DESTROY or dice.random() < 0.5:
            await it.reconciler.act(facts, Plan(action=Verb.DESTROY))

    await asyncio.gather(*[one(number) for number in range(100)])
    assert len(it.destroyed) <= 3
    assert len(it.held()) == 100 - len(it.destroyed)


async def test_a_call_that_was_taken_back_has_not_passed(make):
    """Its owner paused it while the call waited; alone it might have gone, in the crowd that came since it is held."""
    it = make()
    it.leave("vm-0")
    it.reconcilers.session.client.fails = [CloudError(ErrorKind.WITHDRAWN, "the caller took it back")]
    assert not await it.destroy("vm-0")
    for number in range(1, 8):
        it.leave(f"vm-{number}")
    assert not await it.destroy("vm-0")
    assert "vm-0" in it.held()


async def test_an_object_that_goes_while_its_call_waits_and_is_taken_back_counts_no_more(make):
    """Simulated world, seed 602002: the guard kept half of it, and two windows later every deletion failed."""
    it = make()
    it.leave("vm-0")
    assert it.guard.admit("u-vm-0")
    it.guard.drop("u-vm-0")
    it.guard.roll_back("u-vm-0")
    it.guard.drop("u-vm-0")
    it.reconcilers.clock.now += 10_000
    it.leave("vm-1")
    assert await it.destroy("vm-1")


async def test_what_has_passed_counts_for_as_long_as_the_window_may_matter(make):
    it = make()
    for number in range(3):
        it.leave(f"vm-{number}")
        await it.destroy(f"vm-{number}")
        it.reconcilers.drop("GpuVM", f"vm-{number}")
    it.leave("late", at=599)
    assert not await it.destroy("late"), "the fourth within ten minutes, though the others are gone"
    it.reconcilers.clock.now += 2 * 600 + 1
    it.leave("later", at=1199)
    assert await it.destroy("later")
    assert it.held() == {"late"}, "held until released"


@pytest.mark.parametrize(("at", "goes"), [(599, False), (601, True)])
async def test_what_has_passed_counts_for_what_could_not_be_seen_in_its_window(make, at, goes):
    """Simulated world, seed 2197: the cloud answered nothing for longer than two windows, and the fourth went after that."""
    it = make()
    for number in range(3):
        it.leave(f"vm-{number}")
        assert await it.destroy(f"vm-{number}")
        it.reconcilers.drop("GpuVM", f"vm-{number}")
    it.leave("vm-3", at=at)
    it.reconcilers.clock.now += 3 * 600
    it.leave("vm-3", at=at)
    assert await it.destroy("vm-3") == goes
    it.reconcilers.drop("GpuVM", "vm-3")
    it.reconcilers.clock.now += 3 * 600
    it.leave("later", at=10_000)
    assert it.guard.counts() == {}
    assert set(it.guard._deletions) == {"u-later"}, "nothing is counted for ever"


async def test_a_vm_whose_object_is_gone_counts_no_more(make):
    it = make()
    it.leave_many(4)
    it.reconcilers.drop("GpuVM", "vm-0")  # by force, or as one that is retained
    assert len(it.held()) == 0


@pytest.mark.parametrize(
    ("why", "more"),
    [
        ("it is retained", {"policy": "Retain"}),
        ("nothing was bought for it", {"status": {"order": {"state": "NotOrdered"}}}),
        ("our finalizer is off: nothing of it is ours to do", {"meta": {"finalizers": []}}),
        ("its spec cannot be read", {"powerState": "Sleeping"}),
    ],
)
async def test_who_does_not_count(make, why, more):
    it = make()
    it.leave_many(8, **more)
    it.leave("one")
    assert await it.destroy("one"), why
    assert it.held() == set()


async def test_a_second_claimant_does_not_count(make):
    it = make()
    for number in range(8):
        shared, later = f"shared-{number}", {"creationTimestamp": "2026-02-01T00:00:00Z"}
        it.reconcilers.put("GpuVM", f"first-{number}", spec={"vmName": shared}, status=bought(shared))
        it.leave(f"second-{number}", vmName=shared, meta=later, status=bought(shared))
    assert it.held() == set()


async def test_a_vm_whose_status_was_lost_counts_when_it_is_seen(make):
    it = make()
    for number in range(4):
        name = f"vm-{number}"
        it.reconcilers.session.vms.seen[Identity("Msc1", "acme", ours(name))] = Present(VmRecord(id=ours(name)), 1000.0)
        it.leave(name, status={})
    for number in range(4):
        it.reconciler.decide(await it.facts(f"vm-{number}"))
    assert len(it.held()) == 4


@pytest.mark.parametrize("reason", ["DeletionHeld", "DeletionBlocked", "ObserveOnly", "InvalidSpec"])
async def test_that_it_was_held_outlives_a_restart_whatever_its_condition_says(make, reason):
    it = make()
    it.leave("one", status=held("one", reason))
    assert not await it.destroy("one")
    assert "too many deletions at once" in (await it.message("one"))
    off = make(Rule())
    off.leave("one", status=held("one", reason))
    assert await off.destroy("one"), "without a rule nothing is held"


async def test_what_is_held_stays_so_over_an_outage_and_a_restart_in_it(make):
    """The cloud cannot be seen for a while, and the status says so; the process that comes next must still know."""
    here, seen = Identity("Msc1", "acme", ours("vm-3")), Present(VmRecord(id=ours("vm-3"), status="ONLINE"), 1000.0)
    before, after = make(), make()
    for number in range(3):
        before.leave(f"vm-{number}")
        assert await before.destroy(f"vm-{number}")
    before.leave("vm-3")
    for found, reason in ((seen, "DeletionHeld"), (Unknown(900.0, UnknownReason.UNREACHABLE, "down"), "DeletionBlocked")):
        before.reconcilers.session.vms.seen[here] = found
        status = before.reconciler.decide(await before.facts("vm-3")).status
        assert status.conditions[0].reason == reason
        document = status.model_dump(mode="json", by_alias=True, exclude_none=True)
        before.leave("vm-3", status=document)
    after.reconcilers.session.vms.seen[here] = seen
    after.leave("vm-3", status=document)
    assert not await after.destroy("vm-3")


@pytest.mark.parametrize("before", ["Running", "Deleting"])
async def test_the_message_promises_no_more_than_this_process_knows(make, before):
    """A process before this one, or another replica, may have sent the call: only what is done now can be told."""
    it = make()
    it.leave("vm-0", status=bought("vm-0", reason=before))
    for number in range(1, 4):
        it.leave(f"vm-{number}")
    assert (await it.message("vm-0")).startswith("Held: 4 VMs (")


async def test_once_held_it_stays_so_while_other_waits_come_and_go(make):
    it = await crowded(make)
    for number in range(1, 4):
        it.leave(f"vm-{number}", policy="Retain")
    it.leave("vm-0", status=held("vm-0", reason="DeletionBlocked"))
    assert it.held() == {"vm-0"}


async def test_what_no_status_has_called_held_goes_when_its_crowd_is_gone(make):
    """Simulated world, seed 1202978: held in memory alone, so that nobody could see it, and a restart would forget it."""
    it = make()
    it.leave_many(4)
    assert len(it.held()) == 4
    it.leave("vm-1", annotations={Annotation.BRAKE_RELEASED_AT: "2026-01-01T00:00:00Z"})
    assert it.held() == set()


@pytest.mark.looptime
async def test_that_the_guard_holds_is_logged_once_and_that_it_holds_no_more(make, logs):
    it = await crowded(make)
    watch = asyncio.create_task(it.guard.watch())
    await asyncio.sleep(3 * RELEASE_SECONDS)
    it.leave_many(4, policy="Retain")
    await asyncio.sleep(3 * RELEASE_SECONDS)
    watch.cancel()
    assert [line["event"] for line in logs if "held" in line["event"]] == [
        "deletions are held",
        "no deletion is held any more",
    ]
    told = [line for line in logs if line["event"] == "deletions are held"]
    assert [(line["exceeded"], line["vms"], line["price"]) for line in told] == [("--brake-vms 3", 4, "8.20")]


async def test_what_is_held_and_already_released_is_not_logged_as_held(make, logs):
    it = make()
    it.leave("one", status=held("one"), annotations={Annotation.BRAKE_RELEASED_AT: "2026-01-01T00:00:00Z"})
    assert [line["event"] for line in logs if "held" in line["event"]] == []


async def test_that_it_is_asked_why_a_deletion_is_held_changes_nothing(make):
    it = make()
    it.leave("gone")
    assert await it.destroy("gone")
    it.reconcilers.drop("GpuVM", "gone")
    before = dict(it.guard._deletions), dict(it.guard._gone)
    it.reconcilers.clock.now += 10_000
    assert it.guard.hold("u-gone") is None
    assert (it.guard._deletions, it.guard._gone) == before


async def test_a_price_comes_from_the_status_else_from_the_catalogue(make):
    it = make(Rule(price=Decimal(5)))
    it.leave("dear", status=bought("dear", price="3"))
    it.leave("listed", status=bought("listed", price=None))  # 2.05
    assert it.held() == {"dear", "listed"}
    other = make(Rule(price=Decimal(5)))
    for number in range(9):
        other.leave(f"vm-{number}", status=bought(f"vm-{number}", price=None), configuration="unheard-of")
    assert other.held() == set()


RECORDED = {"configuration": "A100_40GB_PCIe_1x"}  # 2.05


@pytest.mark.parametrize(
    ("recorded", "listed", "counted"),
    [
        ({}, None, False),  # the spec's, which has no price
        (RECORDED, None, True),
        ({}, "A100_40GB_PCIe_1x", True),
        (RECORDED, "unheard-of", False),
    ],
)
async def test_a_price_is_that_of_what_was_ordered_or_stands_whatever_the_spec_names_now(make, recorded, listed, counted):
    """Seed 91002144: the spec was edited under a definition without rules, before a listing could show the VM."""
    it = make(Rule(price=Decimal(2)))
    status = bought("edited", price=None)
    it.leave("edited", status=status | {"order": status["order"] | recorded}, configuration="unheard-of")
    if listed is not None:
        it.reconcilers.session.vms.seen[Identity("Msc1", "acme", ours("edited"))] = Present(
            VmRecord(id=ours("edited"), configuration=listed), it.reconcilers.clock.now
        )
        await it.facts("edited")
    assert it.held() == ({"edited"} if counted else set())


LOST = {"order": {"state": "Lost", "name": "train", "cluster": "Msc1", "vpc": "acme"}}


@pytest.mark.parametrize(("why", "status"), [("no record tells", {}), ("it may be there still", LOST)])
async def test_what_is_destroyed_by_its_name_counts_though_no_listing_shows_it(make, why, status):
    """After a restore without statuses a whole fleet would go in one moment, past the limit."""
    it = make()
    for number in range(4):
        it.leave(f"vm-{number}", status=status)
    assert len(it.held()) > 0, why


FAILS = {"onLoss": "Recreate"}


def fails(it, name, at=0, spec=FAILS, **more):
    """A listing has shown it as failed, as its status records."""
    since = (T0 + timedelta(seconds=at)).isoformat()
    it.reconcilers.put("GpuVM", name, spec=spec, status=bought(name) | {"state": "FAILED", "failedSince": since} | more)
    here = Identity("Msc1", "acme", ours(name))
    it.reconcilers.session.vms.seen[here] = Present(VmRecord(id=ours(name), status="FAILED"), it.reconcilers.clock.now)


async def replaced(it, name):
    return await it.reconciler.act(await it.facts(name), Plan(action=Verb.DESTROY)) is not None


async def test_failed_vms_that_are_replaced_count_together_with_deletions(make):
    it = make()
    for number in range(2):
        it.leave(f"vm-{number}")
        fails(it, f"failed-{number}")
    assert it.held() == {"vm-0", "vm-1", "failed-0", "failed-1"}
    assert not await replaced(it, "failed-0")


@pytest.mark.parametrize(
    ("spec", "status"),
    [
        ({"onLoss": "Fail"}, {}),
        (FAILS | {"powerState": "Stopped"}, {}),
        (FAILS | {"deletion": {"policy": "Retain"}}, {}),
        (FAILS | {"deletion": {"finalSnapshot": "Required"}}, {}),
        (FAILS, {"failedSince": None}),
        (FAILS, {"order": None}),
    ],
    ids=["not asked for", "is to be stopped", "retained", "needs a final snapshot", "is up again", "of no record"],
)
async def test_a_failed_vm_that_is_not_replaced_does_not_count(make, spec, status):
    it = make(Rule(vms=1))
    for number in range(3):
        fails(it, f"vm-{number}", spec=spec, **status)
    assert it.held() == set()


@pytest.mark.parametrize(("policy", "counted"), [("Delete", True), ("Retain", False)])
async def test_a_vm_that_an_edit_replaces_counts_from_its_plan_on(make, policy, counted):
    it = make(Rule(vms=1))
    plan = {"changes": [{"name": "configuration"}], "plannedAt": T0.isoformat(), "notBefore": T0.isoformat()}
    for number in range(2):
        spec = {"replacePolicy": "Recreate", "deletion": {"policy": policy}}
        it.reconcilers.put("GpuVM", f"vm-{number}", spec=spec, status=bought(f"vm-{number}") | {"replacement": plan})
    assert bool(it.held()) is counted


async def test_a_replaced_vm_counts_on_when_its_object_is_deleted_and_frees_no_later_destruction(make):
    it = make()
    for number in range(3):
        fails(it, f"vm-{number}", at=100 * number)
        assert await replaced(it, f"vm-{number}")
        it.reconcilers.put("GpuVM", f"vm-{number}", spec=FAILS, status=bought(f"vm-{number}"))  # another one is up
    it.leave("vm-0", at=300)
    assert it.held() == {"vm-0"}, "the fourth within ten minutes"
    assert not await it.destroy("vm-0")
    assert len(it.destroyed) == 3


@pytest.mark.parametrize(("released", "held"), [("2026-01-01T00:00:05Z", set()), ("2025-12-31T23:59:00Z", {"vm-0", "vm-1"})])
async def test_a_failed_vm_is_released_by_a_time_that_is_not_before_its_failure(make, released, held):
    it = make(Rule(vms=1))
    for number in range(2):
        fails(it, f"vm-{number}")
        stored = it.reconcilers.vms.store.get(f"u-vm-{number}")
        meta = {"annotations": {Annotation.BRAKE_RELEASED_AT: released}}
        it.reconcilers.put("GpuVM", f"vm-{number}", meta=meta, spec=FAILS, status=as_document(stored.status))
    assert it.held() == held


def as_document(status):
    return status.model_dump(mode="json", by_alias=True, exclude_none=True)
