"""One session a credential and endpoint, for as long as an account uses it. Time is the loop's."""

import asyncio

import pytest

from gpucloud.cloud.options import ApiKey, Login
from gpucloud.engine.cloud.accounts import CLOSE_AFTER_SECONDS, AccountSessions
from gpucloud.reconcile.naming import Identity
from support.fakes import SECRET_WORDS

pytestmark = pytest.mark.looptime
ONE, TWO = "https://one.example", "https://two.example"
HERE = Identity("Msc1", "acme", "x")


@pytest.fixture
async def sessions(cloud, around):
    for key in ("a", "b"):
        cloud.world(key)
    made = AccountSessions(around)
    yield made
    await made.aclose()


@pytest.mark.parametrize(
    ("url", "credential", "shared"),
    [
        (ONE, ApiKey("a"), True),
        (ONE, ApiKey(" a\n"), True),  # blanks around a key are none of it
        (ONE, ApiKey("b"), False),
        (TWO, ApiKey("a"), False),
        (ONE, Login("a", "a"), False),
    ],
)
async def test_accounts_share_a_session_when_credential_and_endpoint_are_the_same(sessions, url, credential, shared):
    first = sessions.open(ONE, ApiKey("a"), "team/x")
    second = sessions.open(url, credential, "others/y")
    assert (first is second) is shared
    assert (first.learned.identity == second.learned.identity) is shared
    assert len(sessions._sessions) == (1 if shared else 2)
    assert sessions.users(second) == ({"team/x", "others/y"} if shared else {"others/y"})


async def test_another_password_is_another_session(sessions):
    first = sessions.open(ONE, Login("ann", SECRET_WORDS), "team/x")
    assert sessions.open(ONE, Login("ann", SECRET_WORDS + "2"), "team/y") is not first


async def test_two_accounts_of_one_credential_cost_one_listing(sessions, cloud):
    for user in ("team/x", "others/y"):
        sessions.open(ONE, ApiKey("a"), user).vms.watch(user, HERE)
    await asyncio.sleep(30)
    assert len(cloud.asked("GetServers")) == 1


def closed(session):
    return session.client.is_closed


async def test_the_last_who_leaves_closes_it_after_what_is_under_way(sessions):
    session = sessions.open(ONE, ApiKey("a"), "team/x")
    sessions.open(ONE, ApiKey("a"), "team/y")
    sessions.leave(session, "team/x")
    await asyncio.sleep(2 * CLOSE_AFTER_SECONDS)
    assert not closed(session)
    sessions.leave(session, "team/y")
    await asyncio.sleep(CLOSE_AFTER_SECONDS - 1)
    assert not closed(session)
    await asyncio.sleep(2)
    assert closed(session)
    assert sessions.users(session) == set()


async def test_who_leaves_twice_leaves_once(sessions):
    session = sessions.open(ONE, ApiKey("a"), "team/x")
    sessions.open(ONE, ApiKey("a"), "team/y")
    sessions.leave(session, "team/x")
    sessions.leave(session, "team/x")
    await asyncio.sleep(2 * CLOSE_AFTER_SECONDS)
    assert not closed(session)


@pytest.mark.parametrize("pause", [0, 1, CLOSE_AFTER_SECONDS - 1])
async def test_who_comes_back_in_time_finds_the_same_session_and_its_budget(sessions, pause):
    first = sessions.open(ONE, ApiKey("a"), "team/x")
    sessions.leave(first, "team/x")
    await asyncio.sleep(pause)
    assert sessions.open(ONE, ApiKey("a"), "team/x") is first
    await asyncio.sleep(3 * CLOSE_AFTER_SECONDS)
    assert not closed(first)


async def test_who_comes_back_later_gets_a_new_one_that_stays(sessions):
    first = sessions.open(ONE, ApiKey("a"), "team/x")
    sessions.leave(first, "team/x")
    await asyncio.sleep(CLOSE_AFTER_SECONDS + 1)
    second = sessions.open(ONE, ApiKey("a"), "team/x")
    assert second is not first
    assert second.learned.identity == first.learned.identity, "what it ordered then is known to be its own"
    await asyncio.sleep(3 * CLOSE_AFTER_SECONDS)
    assert (closed(first), closed(second)) == (True, False)


async def test_a_pause_that_the_cloud_asked_for_is_waited_for_before_a_session_is_forgotten(sessions):
    """Seed 3027 of the histories with shards: the same credential came back, and was used before its Retry-After was over."""
    first = sessions.open(ONE, ApiKey("a"), "team/x")
    sessions.leave(first, "team/x")
    await asyncio.sleep(CLOSE_AFTER_SECONDS - 1)
    first.client._connection._bucket.pause(100)
    await asyncio.sleep(99)
    assert not closed(first)
    assert sessions.open(ONE, ApiKey("a"), "team/x") is first
    sessions.leave(first, "team/x")
    await asyncio.sleep(CLOSE_AFTER_SECONDS + 3)
    assert closed(first)


async def test_leaving_again_and_again_closes_it_once_the_last_time_is_over(sessions):
    session = sessions.open(ONE, ApiKey("a"), "team/x")
    for _ in range(5):
        sessions.leave(session, "team/x")
        await asyncio.sleep(CLOSE_AFTER_SECONDS / 2)
        sessions.open(ONE, ApiKey("a"), "team/x")
    sessions.leave(session, "team/x")
    await asyncio.sleep(CLOSE_AFTER_SECONDS - 1)
    assert not closed(session)
    await asyncio.sleep(2)
    assert closed(session)


async def test_metrics_name_one_account_a_session_and_none_that_nobody_uses(sessions):
    session = sessions.open(ONE, ApiKey("a"), "team/y")
    sessions.open(ONE, ApiKey("a"), "team/x")
    other = sessions.open(ONE, ApiKey("b"), "team/z")
    assert sorted(label for label, _ in sessions) == ["team/x", "team/z"]
    sessions.leave(other, "team/z")
    assert list(sessions) == [("team/x", session)]


@pytest.mark.parametrize("pause", [0, 0.1, 1, CLOSE_AFTER_SECONDS])
async def test_the_end_leaves_no_task_and_no_listing(cloud, around, pause):
    """One that has just been left, too: a task that is cancelled before its first step never comes to its end."""
    cloud.world("a")
    cloud.world("b")
    sessions = AccountSessions(around)
    stays, left = sessions.open(ONE, ApiKey("a"), "team/x"), sessions.open(ONE, ApiKey("b"), "team/y")
    for session in (stays, left):
        session.vms.watch("u", HERE)
    sessions.leave(left, "team/y")
    await asyncio.sleep(pause)
    await sessions.aclose()
    await asyncio.sleep(0)
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []
    assert closed(stays)
    assert closed(left)


async def test_no_credential_is_told_by_a_session_or_its_keeper(sessions):
    session = sessions.open(ONE, Login("ann", SECRET_WORDS), "team/x")
    sessions.open(ONE, ApiKey(SECRET_WORDS), "team/y")
    assert SECRET_WORDS not in repr(session) + repr(vars(sessions)) + str(list(sessions)) + repr(vars(session))
