"""The end of an account, and namesakes that come before or after it."""

import asyncio

import pytest

from gpucloud.engine.kube.errors import KubeError
from gpucloud.kinds.meta import SECRET_FINALIZER
from gpucloud.reconcile.facts import Verb
from support.fakes import GOING, a_secret

pytestmark = pytest.mark.looptime


async def test_a_leaving_account_is_known_as_such(rig):
    rig.put(meta=GOING).holds("a")
    await rig.facts()
    assert rig.account().deleting


async def test_an_account_that_is_gone_takes_its_part_of_the_session_and_its_users_hear(rig):
    rig.put().put("twin").holds("a")
    await rig.facts()
    await rig.facts("twin")
    session = rig.account().session
    rig.reconcilers.put("GpuVM")
    rig.reconcilers.quiet()
    rig.drop()
    assert (rig.account(), rig.sessions.users(session)) == (None, {"team/twin"})
    assert [key.name for key in rig.reconcilers.queued] == ["train"]
    rig.drop()  # nobody minds


async def test_the_end_of_an_account_does_not_touch_its_namesake(rig):
    rig.put(uid="old").holds("a")
    await rig.facts(uid="old")
    rig.put(uid="new")
    await rig.facts(uid="new")
    rig.drop(uid="old")
    assert rig.account().session is not None
    assert rig.sessions.users(rig.account().session) == {"team/default"}


async def test_nothing_is_freed_before_all_that_may_use_it_is_known(rig):
    """After a restart the watch may show a deleted account before the VM that needs its credential to be destroyed."""
    rig.synced = False
    rig.put(meta=GOING).holds("a", meta={"finalizers": [SECRET_FINALIZER]})
    plan = rig.reconciler.decide(await rig.facts())
    assert (plan.action, plan.release) == (None, None)
    rig.synced = True
    assert rig.reconciler.decide(await rig.facts()).action is Verb.FREE_SECRET


async def test_a_namesake_inherits_neither_credential_nor_endpoint(rig):
    """It is shown before the end of the old one is, as after a broken watch, and its own Secret is not there yet."""
    rig.put(uid="old").holds("a")
    await rig.facts(uid="old")
    inherited = rig.account().session
    rig.put(uid="new", spec={"secretRef": {"name": "not-yet"}, "endpoint": "staging"})
    assert rig.account().session is None
    assert (await rig.facts(uid="new")).endpoint == "staging"
    assert rig.account().session is None
    assert rig.sessions.users(inherited) == set()
    with pytest.raises(KubeError) as caught:
        await rig.facts(uid="old")
    assert caught.value.gone
    rig.drop(uid="old")
    assert rig.account().uid == "new"


async def test_a_pass_that_outlives_its_account_puts_nothing_over_the_namesakes(rig):
    """The old account's Secret is still being read when the new one is there already."""
    rig.put(uid="old", meta=GOING).holds("a")
    rig.kube.takes["team", "key"] = 5.0
    late = asyncio.create_task(rig.facts(uid="old"))
    await asyncio.sleep(1)
    rig.kube.secrets["team", "new"] = a_secret(apikey="b")
    rig.drop(uid="old")
    rig.put(uid="new", spec={"secretRef": {"name": "new"}})
    await rig.facts(uid="new")
    wanted = rig.account()
    with pytest.raises(KubeError) as caught:
        await late
    assert caught.value.gone
    assert rig.account() == wanted
    assert not rig.account().deleting
