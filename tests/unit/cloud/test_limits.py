"""The request budget, Retry-After, and when a reading call is sent again."""

import asyncio
from datetime import UTC, datetime

import pytest

from gpucloud.cloud import CloudError, CreateServer, ErrorKind, LoginError
from gpucloud.cloud.limits import TokenBucket, next_delay, parse_retry_after, pause_for
from unit.cloud.fakes import LOGIN, Rig, in_turn, plain, refusal, token

NOW = datetime(2024, 9, 30, 9, 35, tzinfo=UTC)
NEW_VM = CreateServer(vpc="acme", configuration="c", cluster="Msc1", ssh_keys=("ssh-ed25519 AAAA a",))
NAMES = plain(["Msc1"])


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("", None),
        ("7", 7.0),
        ("1.5", 1.5),
        ("0", 0.0),
        ("-3", 0.0),
        ("1000000000", 300.0),
        ("inf", 300.0),
        ("nan", None),
        ("soon", None),
        ("Mon, 30 Sep 2024 09:35:20 GMT", 20.0),
        ("Mon, 30 Sep 2024 09:34:00 GMT", 0.0),
        ("Tue, 30 Sep 2025 09:34:00 GMT", 300.0),
        ("Mon, 99 Sep 2024 09:35:20 GMT", None),
    ],
)
def test_retry_after_is_read(value, seconds):
    assert parse_retry_after(value, NOW) == seconds


@pytest.mark.parametrize(
    ("status", "asked", "seconds", "_why"),
    [
        (429, 7.0, 7.0, "everybody slows down"),
        (429, 300.0, 300.0, "as long as asked"),
        (503, 300.0, 10.0, "one VM without capacity must not blind the account"),
        (429, None, 0.0, "nothing was asked"),
        (500, 7.0, 0.0, "no statement about load"),
    ],
)
def test_an_answer_pauses_the_budget(status, asked, seconds, _why):
    assert pause_for(status, asked) == seconds


@pytest.mark.parametrize(
    ("error", "attempt", "delay", "_why"),
    [
        (CloudError(ErrorKind.SERVER, "x"), 1, 0.25, "half of the first backoff at no jitter"),
        (CloudError(ErrorKind.SERVER, "x"), 2, 0.5, "doubled"),
        (CloudError(ErrorKind.SERVER, "x"), 3, None, "capped"),
        (CloudError(ErrorKind.THROTTLED, "x", retry_after=5.0), 1, 5.0, "never sooner than asked"),
        (CloudError(ErrorKind.THROTTLED, "x", retry_after=0.0), 1, 0.25, "zero is no hot loop"),
        (CloudError(ErrorKind.THROTTLED, "x", retry_after=20.0), 1, None, "beyond the deadline"),
        (CloudError(ErrorKind.NOT_FOUND, "x"), 1, None, "would be the same again"),
        (CloudError(ErrorKind.MALFORMED, "x"), 1, None, "would be the same again"),
        (CloudError(ErrorKind.FORBIDDEN, "x"), 1, None, "would be the same again"),
        (LoginError(ErrorKind.UNAVAILABLE, "x"), 1, None, "the login has its own pace"),
    ],
)
def test_a_reading_call_is_repeated_when_that_may_help(error, attempt, delay, _why):
    assert next_delay(error, attempt, max_retries=2, remaining=20.0, jitter=0.0) == delay


def test_the_backoff_is_capped_and_jittered():
    error = CloudError(ErrorKind.SERVER, "x")
    delays = [next_delay(error, 30, max_retries=99, remaining=99.0, jitter=jitter) for jitter in (0.0, 0.5, 1.0)]
    assert delays == [4.0, 6.0, 8.0]


@pytest.mark.asyncio
@pytest.mark.looptime
async def test_the_bucket_gives_a_burst_then_a_steady_rate_in_order():
    bucket, served = TokenBucket(10, 5), []
    loop = asyncio.get_running_loop()

    async def take(number):
        await bucket.acquire(loop.time() + 100)
        served.append((number, round(loop.time() - started, 6)))

    started = loop.time()
    await asyncio.gather(*(take(number) for number in range(15)))
    assert [number for number, _ in served] == list(range(15))
    assert [at for _, at in served] == [0.0] * 5 + [round(0.1 * n, 6) for n in range(1, 11)]


@pytest.mark.asyncio
@pytest.mark.looptime
async def test_a_caller_who_gives_up_spends_nothing_and_blocks_nobody():
    bucket = TokenBucket(1, 1)
    loop = asyncio.get_running_loop()
    await bucket.acquire(loop.time() + 100)
    started = loop.time()
    impatient = asyncio.create_task(bucket.acquire(started + 100))
    patient = asyncio.create_task(bucket.acquire(started + 100))
    await asyncio.sleep(0.5)
    impatient.cancel()
    await patient
    assert loop.time() - started == pytest.approx(1.0)


@pytest.mark.asyncio
@pytest.mark.looptime
async def test_every_http_request_pays_logins_and_repetitions_included():
    answers = in_turn(token("t1"), refusal(401, "no"), token("t2"), NAMES)
    rig = Rig(answers, credential=LOGIN, qps=1, burst=1)
    async with rig.client as client:
        await client.get_all_clusters()
    gaps = [later - earlier for earlier, later in zip(rig.cloud.times, rig.cloud.times[1:], strict=False)]
    assert len(rig.cloud.times) == 4
    assert gaps == pytest.approx([1.0, 1.0, 1.0])


@pytest.mark.proves("open:rate-limit")
@pytest.mark.asyncio
@pytest.mark.looptime
async def test_a_429_slows_every_caller_of_the_credential_down():
    rig = Rig(in_turn(refusal(429, "slow down", **{"Retry-After": "12"}), plain({"id": "vm-1"}), NAMES))
    async with rig.client as client:
        with pytest.raises(CloudError) as caught:
            await client.create_server(NEW_VM)
        started = asyncio.get_running_loop().time()
        await client.create_server(NEW_VM)
        assert asyncio.get_running_loop().time() - started == pytest.approx(12)
    assert (caught.value.kind, caught.value.retry_after, caught.value.ambiguous) == (ErrorKind.THROTTLED, 12.0, False)


@pytest.mark.asyncio
@pytest.mark.looptime
async def test_a_pause_beyond_the_deadline_is_told_at_once():
    rig = Rig(in_turn(refusal(429, "slow down", **{"Retry-After": "1000000000"}), NAMES))
    async with rig.client as client:
        with pytest.raises(CloudError) as first:
            await client.get_all_clusters()
        started = asyncio.get_running_loop().time()
        with pytest.raises(CloudError) as second:
            await client.create_server(NEW_VM)
        assert asyncio.get_running_loop().time() == started
    assert (first.value.kind, first.value.retry_after) == (ErrorKind.THROTTLED, 300.0)
    assert (second.value.kind, second.value.ambiguous) == (ErrorKind.NOT_SENT, False)
    assert second.value.retry_after == pytest.approx(300)
    assert len(rig.cloud.requests) == 1


@pytest.mark.asyncio
@pytest.mark.looptime
async def test_a_retry_after_date_is_measured_against_the_answers_own_clock():
    dated = {"Retry-After": "Mon, 30 Sep 2024 09:35:20 GMT", "Date": "Mon, 30 Sep 2024 09:35:00 GMT"}
    rig = Rig(in_turn(refusal(429, "slow down", **dated), NAMES))
    async with rig.client as client:
        assert await client.get_all_clusters() == ("Msc1",)
    assert rig.cloud.times[1] - rig.cloud.times[0] == pytest.approx(20)


@pytest.mark.asyncio
@pytest.mark.looptime
async def test_a_budget_that_cannot_be_had_in_time_leaves_the_call_unsent():
    rig = Rig(lambda _: plain({"id": "vm-1"}), qps=0.001, burst=1)
    async with rig.client as client:
        await client.create_server(NEW_VM)
        with pytest.raises(CloudError) as caught:
            await client.create_server(NEW_VM)
    assert (caught.value.kind, caught.value.ambiguous, len(rig.cloud.requests)) == (ErrorKind.NOT_SENT, False, 1)
