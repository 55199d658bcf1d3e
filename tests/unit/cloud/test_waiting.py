"""Waiting: what ends it and how, what is repeated, how the pauses grow."""

import asyncio
import math
import pickle

import pytest

from gpucloud.cloud import CloudError, ErrorKind, WaitError, WaitTimeoutError, calls
from unit.cloud.fakes import Rig, in_turn, plain, refusal

pytestmark = [pytest.mark.asyncio, pytest.mark.looptime]
VM = calls.get_server(id="trainer", namespace="acme", cluster="Msc1")


def with_status(status):
    return plain({"id": "trainer", "status": status})


PENDING, ONLINE = with_status("PENDING"), with_status("ONLINE")


async def test_it_reads_until_the_status_is_there():
    rig = Rig(in_turn(PENDING, PENDING, ONLINE))
    async with rig.client as client:
        assert (await client.wait_for(VM, "ONLINE")).status == "ONLINE"
    gaps = [later - earlier for earlier, later in zip(rig.cloud.times, rig.cloud.times[1:], strict=False)]
    assert gaps == [2.0, 3.0]


async def test_a_function_of_the_answer_decides():
    rig = Rig(in_turn(plain({"items": [{"id": "trainer"}]}), plain({"items": []})))
    async with rig.client as client:
        assert (await client.wait_for(calls.get_servers(), lambda vms: not vms.items)).items == ()


async def test_the_pauses_grow_to_the_longest():
    rig = Rig(in_turn(PENDING))
    async with rig.client as client:
        with pytest.raises(WaitTimeoutError):
            await client.wait_for(VM, "ONLINE", deadline_seconds=60, first_pause_seconds=4, longest_pause_seconds=10)
    gaps = [later - earlier for earlier, later in zip(rig.cloud.times, rig.cloud.times[1:], strict=False)]
    assert gaps == [4.0, 6.0, 9.0, 10.0, 10.0, 10.0, 10.0]


# answers, the words of the time-out, its last status, the kind of its error
LATE = [
    (
        [PENDING],
        "GetServer: 60 s passed without the status 'ONLINE'; the last status was 'PENDING'. To wait on,",
        "PENDING",
        None,
    ),
    (
        [refusal(503, "cluster down")],
        "without the status 'ONLINE'; the last reading failed: GetServer: Unavailable",
        None,
        "Unavailable",
    ),
    (
        [PENDING, refusal(500, "oops")],
        "last status was 'PENDING'; the last reading failed: GetServer: Server",
        "PENDING",
        "Server",
    ),
]


@pytest.mark.parametrize(("answers", "words", "last", "kind"), LATE)
async def test_a_time_out_says_what_was_seen_last(answers, words, last, kind):
    async with Rig(in_turn(*answers), max_retries=0).client as client:
        with pytest.raises(WaitTimeoutError) as caught:
            await client.wait_for(VM, "ONLINE", deadline_seconds=60)
    assert words in str(caught.value)
    assert isinstance(caught.value, TimeoutError)
    assert (caught.value.last and caught.value.last.status, caught.value.error and caught.value.error.kind) == (last, kind)


@pytest.mark.parametrize("status", [429, 503])  # a 429 holds back all calls of the connection, a 503 this one
async def test_retry_after_is_kept(status):
    rig = Rig(in_turn(refusal(status, "slow down", **{"Retry-After": "20"}), ONLINE), max_retries=0)
    async with rig.client as client:
        await client.wait_for(VM, "ONLINE")
    assert rig.cloud.times[1] - rig.cloud.times[0] >= 20


async def test_the_case_of_a_status_does_not_matter():
    async with Rig(in_turn(with_status("Online"))).client as client:
        assert (await client.wait_for(VM, "ONLINE")).status == "Online"
        assert (await client.wait_for(VM, "online")).status == "Online"


@pytest.mark.parametrize("status", ["CREATE_FAILED", "FAILED", "failed", "Create_Failed"])
async def test_a_failed_vm_is_not_waited_for(status):
    rig = Rig(in_turn(with_status(status)))
    async with rig.client as client:
        with pytest.raises(
            WaitError, match=f"the status of trainer is '{status}', and waiting does not make it 'ONLINE': .* order another"
        ) as caught:
            await client.wait_for(VM, "ONLINE")
        assert not isinstance(caught.value, TimeoutError)
        assert "ask the cloud's support to repair trainer" in str(caught.value)
        assert caught.value.last.status == status
        assert (await client.wait_for(VM, status)).status == status, "unless that is what was waited for"
    assert len(rig.cloud.requests) == 2


async def test_a_refusal_that_waiting_does_not_change_ends_it():
    async with Rig(in_turn(refusal(404, "not found"))).client as client:
        with pytest.raises(CloudError) as caught:
            await client.wait_for(VM, "ONLINE")
    assert caught.value.kind is ErrorKind.NOT_FOUND


async def test_a_time_out_within_the_condition_is_not_taken_for_the_end_of_the_wait():
    def broken(_):
        raise TimeoutError("of the caller's own")

    async with Rig(in_turn(PENDING)).client as client:
        with pytest.raises(TimeoutError, match="of the caller's own"):
            await client.wait_for(VM, broken)


# a call, what to wait for, the words of the refusal
MISUSED = [
    (calls.start_server(id="trainer", namespace="acme", cluster="Msc1"), "ONLINE", "StartServer changes something"),
    (calls.get_servers(), "ONLINE", "a Listing has no status"),
]


@pytest.mark.parametrize(("call", "until", "words"), MISUSED)
async def test_misuse_is_refused(call, until, words):
    async with Rig(in_turn(plain({"items": []}))).client as client:
        with pytest.raises(TypeError, match=words):
            await client.wait_for(call, until)


async def test_an_async_condition_is_refused():
    """A coroutine counts as true: the VM was returned as ready while it was PENDING."""

    async def ready(vm):
        return vm.status == "ONLINE"

    async with Rig(in_turn(PENDING)).client as client:
        with pytest.raises(TypeError, match="until is async"):
            await client.wait_for(VM, ready)


@pytest.mark.parametrize("seconds", [math.nan, None, -1, 0, "60"])
@pytest.mark.parametrize("name", ["deadline_seconds", "first_pause_seconds", "longest_pause_seconds"])
async def test_a_limit_that_bounds_nothing_is_refused(name, seconds):
    """A wait without an end, or readings as fast as the budget lets them through."""
    rig = Rig(in_turn(ONLINE))
    async with rig.client as client:
        with pytest.raises(ValueError, match=f"{name} must be a number greater than 0"):
            await client.wait_for(VM, "ONLINE", **{name: seconds})
    assert rig.cloud.requests == []


@pytest.mark.parametrize("answer", [PENDING, refusal(503, "cluster down")], ids=["between readings", "after a failure"])
async def test_closing_the_client_ends_a_wait_at_once(answer):
    """It went on until its deadline, half an hour as a rule, and read that the client is closed."""
    rig = Rig(in_turn(answer))
    waiting = asyncio.create_task(rig.client.wait_for(VM, "ONLINE"))
    await asyncio.sleep(1)
    await rig.client.aclose()
    began = asyncio.get_running_loop().time()
    with pytest.raises(CloudError, match="GetServer: NotSent: the client is closed"):
        await waiting
    assert asyncio.get_running_loop().time() < began + 1, "sooner than the next reading"


async def test_a_cancelled_wait_reads_no_more():
    rig = Rig(in_turn(PENDING))
    async with rig.client as client:
        waiting = asyncio.create_task(client.wait_for(VM, "ONLINE"))
        await asyncio.sleep(1)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await asyncio.sleep(100)
    assert len(rig.cloud.requests) == 1


@pytest.mark.parametrize("kind", [WaitError, WaitTimeoutError])
async def test_a_failed_wait_may_cross_to_another_process(kind):
    last = (ErrorKind.SERVER, "last")
    made = kind("too late", last) if kind is WaitError else kind("too late", last, CloudError(ErrorKind.SERVER, "down"))
    copy = pickle.loads(pickle.dumps(made))  # noqa: S301 - our own
    assert (type(copy), str(copy), copy.last) == (kind, "too late", last)
