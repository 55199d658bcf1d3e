"""Our finalizer: on each live object before anything is decided, and in the same reconcile."""

import asyncio

import pytest

from gpucloud.reconcile.plan import Plan
from support.controllerrig import CREATING
from support.fakes import CONFLICT, DOWN, GOING, GONE, UID, a_body

pytestmark = pytest.mark.looptime
BARE = {"finalizers": []}


@pytest.fixture
def decided():
    return []


@pytest.fixture
def it(rig, decided):
    def plan(_facts):
        decided.append(list(made.kube.guarded))
        return Plan(status=CREATING)

    made = rig(plan)
    return made


@pytest.mark.parametrize("others", [[], ["other.example/finalizer"]])
async def test_it_is_added_before_the_first_decision_which_follows_at_once(it, decided, others):
    it.put(meta={"finalizers": others})
    it.kube.bodies[UID] = a_body(meta={"finalizers": others})
    await it.live(5)
    assert it.kube.guarded == [UID]
    assert decided[0] == [UID]
    assert it.kube.statuses != []
    assert it.reconciler.store.get(UID).raw_meta["finalizers"] == [*others, "gpucloud.dev/finalizer"]
    assert it.count("controller_runtime_reconcile_total", controller="gpuvm", result="success") == 1


@pytest.mark.parametrize("meta", [{}, BARE | GOING, {"finalizers": ["other.example/finalizer"]} | GOING])
async def test_no_object_that_has_it_or_is_being_deleted_is_given_it(it, meta):
    it.put(meta=meta)
    await it.live(5)
    assert it.kube.guarded == []


@pytest.mark.parametrize("error", [CONFLICT, DOWN])
async def test_what_the_apiserver_refuses_is_tried_again_and_nothing_is_decided_before(it, decided, error):
    it.put(meta=BARE)
    it.kube.fails = [error] * 3
    await it.live(30)
    assert it.kube.guarded == [UID]
    assert decided[0] == [UID]


async def test_an_object_that_is_gone_is_left_alone(it, decided):
    it.put(meta=BARE)
    it.kube.fails = [GONE]
    await it.live(5)
    assert (it.kube.guarded, decided) == ([], [])


async def test_an_object_that_goes_meanwhile_stays_dropped(it, decided):
    it.put(meta=BARE)
    add = it.kube.add_finalizer

    async def late(plural, owner):
        answer = await add(plural, owner)
        it.loop.on_delete(it.key)
        return answer

    it.kube.add_finalizer = late
    await it.live(5)
    assert (it.reconciler.store.get(UID), decided) == (None, [])


async def test_a_listing_that_is_about_to_come_is_waited_for(it, decided):
    it.reconciler.deferred = True
    it.put(meta=BARE)
    await it.live(4)
    assert (it.kube.guarded, decided) == ([UID], [])
    await asyncio.sleep(2)
    assert decided[0] == [UID], "but not for long"
