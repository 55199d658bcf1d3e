"""Which status is written, and how soon."""

import asyncio

import pytest

from gpucloud.engine.cache.store import Store
from gpucloud.engine.controller.status_writer import LASTING_SECONDS, PENDING_LASTING_SECONDS
from gpucloud.engine.controller.urgency import RECORDS
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.definitions import DEFINITIONS
from gpucloud.kinds.gpucloudaccount import GpuCloudAccountSpec, GpuCloudAccountStatus
from gpucloud.kinds.placement import PlacementStatus
from gpucloud.reconcile.facts import Verb
from gpucloud.reconcile.plan import Plan
from support.builders import a_status, an_order
from support.controllerrig import CREATING, KEY, RUNNING
from support.fakes import CONFLICT, DOWN, GONE, UID, a_resource

pytestmark = pytest.mark.looptime


async def test_what_only_informs_is_written_once_it_has_lasted(rig):
    words = iter(f"WORD{number}" for number in range(1000))
    it = rig(lambda _facts: Plan(status=RUNNING.model_copy(update={"state": next(words)})))
    it.put(RUNNING)
    await it.live(LASTING_SECONDS - 1)
    for _ in range(20):
        it.queue.add(KEY)
        await asyncio.sleep(0.01)
    assert it.kube.statuses == []
    await asyncio.sleep(2)
    assert len(it.kube.statuses) == 1


async def test_a_call_that_destroys_is_recorded_before_it_leaves_though_ready_says_deleting_already(rig):
    """Else a process that dies after the answer leaves no trace, and the next one destroys what a stranger makes meanwhile."""
    before = a_status("Deleting").model_copy(update={"order": an_order("prod", OrderState.SEEN)})
    after = before.model_copy(update={"order": an_order("prod", OrderState.DESTROYING)})
    it = rig(lambda _facts: Plan(status=after, action=Verb.DESTROY))
    it.put(before)
    it.kube.fails = [DOWN] * 1000
    await it.live(LASTING_SECONDS + 1)
    assert it.reconciler.acted == []
    it.kube.fails = []
    await asyncio.sleep(60)
    assert [status["order"]["state"] for status in it.kube.statuses] == ["Destroying"]
    assert it.reconciler.acted


async def test_what_came_and_went_is_not_written(rig):
    status = [RUNNING.model_copy(update={"state": "ODD"})]
    it = rig(lambda _facts: Plan(status=status[0]))
    it.put(RUNNING)
    await it.live(2)
    status[0] = RUNNING
    it.queue.add(KEY)
    await asyncio.sleep(60)
    assert it.kube.statuses == []


@pytest.mark.parametrize(
    "after",
    [
        a_status("Drifted"),  # Ready flips
        RUNNING.model_copy(update={"observed_generation": 2}),  # a person waits for it
        RUNNING.model_copy(update={"last_handled_restart_at": "t"}),
        RUNNING.model_copy(update={"order": an_order("x")}),  # a new process must know of it
        RUNNING.model_copy(update={"placement": PlacementStatus(configuration="c", cluster="Hou1")}),  # it goes on there
    ],
)
async def test_a_verdict_is_written_at_once(rig, after):
    it = rig(lambda _facts: Plan(status=after))
    it.put(RUNNING)
    await it.live(0.1)
    assert len(it.kube.statuses) == 1


async def test_the_tenant_of_a_credential_is_written_at_once(rig):
    """A new process knows it by nothing else."""
    said = GpuCloudAccountStatus(observed_generation=1)
    it = rig(lambda _facts: Plan(status=said.model_copy(update={"tenant": "acme"})))
    it.reconciler.store = Store(GpuCloudAccountSpec, GpuCloudAccountStatus)
    it.reconciler.store.put(
        a_resource("GpuCloudAccount", status=said.model_dump(mode="json", by_alias=True, exclude_none=True))
    )
    await it.live(0.1)
    assert [status["tenant"] for status in it.kube.statuses] == ["acme"]


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_a_record_that_is_written_at_once_is_a_field_of_a_status(name):
    assert any(name in kind.status.model_fields for kind in DEFINITIONS)


async def test_a_status_that_stands_is_not_written_again(rig):
    it = rig(lambda _facts: Plan(status=RUNNING))
    it.put(RUNNING)
    await it.live(1)
    for _ in range(50):
        it.queue.add(KEY)
        await asyncio.sleep(1)
    assert it.kube.statuses == []


async def test_what_only_informs_waits_longer_for_a_verdict_that_is_expected(rig):
    """Its write carries the rest, too: most objects are Ready within ten seconds of their first record."""
    it = rig(lambda _facts: Plan(status=CREATING.model_copy(update={"state": "PENDING"}), pending=True))
    it.put(CREATING)
    await it.live(PENDING_LASTING_SECONDS - 1)
    assert it.kube.statuses == []
    await asyncio.sleep(2)
    assert [status["state"] for status in it.kube.statuses] == ["PENDING"]


async def test_the_answer_to_a_call_is_recorded_as_soon_as_whatever_only_informs(rig):
    """Simulated world, seed 904817: counted from the next look, it took 15 seconds, and was lost with the process."""
    answered = CREATING.model_copy(update={"state": "answered"})
    it = rig(
        lambda _facts: (
            Plan(status=answered, pending=True)
            if it.reconciler.acted
            else Plan(status=CREATING, action=Verb.CREATE, pending=True)
        ),
        slow=True,
    )
    it.put(CREATING)
    await it.live(PENDING_LASTING_SECONDS - 1)
    assert it.kube.statuses == []
    await asyncio.sleep(2)
    assert [status["state"] for status in it.kube.statuses] == ["answered"]


async def test_a_status_edited_by_somebody_is_put_right(rig):
    it = rig(lambda _facts: Plan(status=RUNNING.model_copy(update={"vm_id": "x"})))
    it.put(RUNNING.model_copy(update={"vm_id": "edited"}))
    await it.live(LASTING_SECONDS + 1)
    assert [status["vmId"] for status in it.kube.statuses] == ["x"]


@pytest.mark.parametrize("error", [CONFLICT, GONE])
async def test_a_cached_version_that_is_refused_again_and_again_is_reported_as_outdated(rig, error):
    """Simulated world, seed 400265: after a restore of etcd a snapshot that was gone was written for five minutes."""
    it = rig(lambda facts: Plan(status=CREATING, requeue_at=facts.now.mono + 10))
    it.put(RUNNING)
    it.kube.fails = [error] * 9
    await it.live(15)
    assert it.outdated == [] or error is CONFLICT
    await asyncio.sleep(60)
    assert it.outdated


async def test_refused_versions_that_the_watch_replaces_are_not_reported_as_outdated(rig):
    it = rig(lambda facts: Plan(status=CREATING, requeue_at=facts.now.mono + 10))
    it.kube.fails = [CONFLICT] * 9
    it.put(RUNNING)
    await it.live(0.1)
    for version in range(2, 9):
        it.put(RUNNING, version=version)
        it.queue.add(KEY)
        await asyncio.sleep(0.4)
    assert it.outdated == []


async def test_the_answer_to_a_write_does_not_bring_a_gone_object_back(rig):
    it = rig(lambda _facts: Plan(status=CREATING))
    it.put()
    answer = it.kube.replace_status

    async def overtaken(*arguments):
        document = await answer(*arguments)
        it.loop.on_delete(KEY)  # DELETED arrives on the other connection before our answer is read
        return document

    it.kube.replace_status = overtaken
    await it.live(5)
    assert it.reconciler.store.get(UID) is None


@pytest.mark.parametrize(("fails", "seen"), [([], [CREATING]), ([CONFLICT, DOWN] * 1000, [])])
async def test_the_reconciler_sees_a_status_once_it_is_written_and_not_before(rig, fails, seen):
    """The watch shows it later, and as nothing new: those who wait for this object are woken by our own write."""
    it = rig(lambda _facts: Plan(status=CREATING))
    it.put()
    it.kube.fails = [*fails]
    await it.live(5)
    assert it.reconciler.seen == seen
