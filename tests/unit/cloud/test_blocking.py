"""The sync client: the same answers and errors, from any thread, and nothing of it left behind."""

import asyncio
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from gpucloud.cloud import ApiKey, CloudError, CreateServer, ErrorKind, SyncCloudClient, WaitTimeoutError, calls
from unit.cloud.fakes import BASE, KEY, LOGIN, FakeCloud, in_turn, plain, refusal, token

NEW_VM = CreateServer(vpc="acme", configuration="c", cluster="Msc1", ssh_keys=("ssh-ed25519 AAAA a",))
THREAD = "gpucloud-client"


def over(*answers, **settings):
    return SyncCloudClient(BASE, ApiKey(KEY), transport=FakeCloud(in_turn(*answers)), **settings)


def threads():
    return [thread for thread in threading.enumerate() if thread.name == THREAD]


def test_it_answers_as_the_async_client_does():
    with over(plain(["Msc1"])) as cloud:
        assert cloud.get_all_clusters() == ("Msc1",)
        assert cloud.run(calls.get_all_clusters()) == ("Msc1",)
        assert (cloud.is_closed, cloud.token_expires_in()) == (False, None)
        assert cloud.budget_left > 0
    assert cloud.is_closed


def test_it_fails_as_the_async_client_does():
    with over(refusal(503, "no capacity")) as cloud, pytest.raises(CloudError) as caught:
        cloud.create_server(NEW_VM)
    assert (caught.value.kind, caught.value.ambiguous) == (ErrorKind.UNAVAILABLE, True)


def test_it_waits():
    with over(plain({"id": "vm", "status": "PENDING"}), plain({"id": "vm", "status": "ONLINE"})) as cloud:
        vm = calls.get_server(id="vm", namespace="acme", cluster="Msc1")
        assert cloud.wait_for(vm, "ONLINE", first_pause_seconds=0.01).status == "ONLINE"
        with pytest.raises(WaitTimeoutError):
            cloud.wait_for(vm, "OFFLINE", first_pause_seconds=0.01, deadline_seconds=0.05)


def test_many_threads_share_it():
    with over(plain(["Msc1"])) as cloud, ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: cloud.get_all_clusters(), range(16))) == [("Msc1",)] * 16


def test_it_leaves_no_thread_and_sends_nothing_when_it_is_closed():
    before = threads()
    cloud = over(plain(["Msc1"]))
    assert len(threads()) == len(before) + 1
    cloud.close()
    cloud.close()
    assert threads() == before
    for asks in (
        cloud.get_all_clusters,
        lambda: cloud.wait_for(calls.get_all_clusters(), bool),
        lambda: cloud.budget_left,
        cloud.token_expires_in,
    ):
        with pytest.raises(CloudError) as caught:
            asks()
        assert (caught.value.kind, caught.value.ambiguous) == (ErrorKind.NOT_SENT, False)


def test_closing_it_ends_a_wait_in_another_thread():
    """Closing waited for it, half an hour as a rule."""
    read = threading.Event()

    def pending(_request):
        read.set()
        return plain({"id": "vm", "status": "PENDING"})

    cloud = SyncCloudClient(BASE, ApiKey(KEY), transport=httpx.MockTransport(pending))
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(cloud.wait_for, calls.get_server(id="vm", namespace="acme", cluster="Msc1"), "ONLINE")
        read.wait()
        cloud.close()
        assert isinstance(waiting.exception(), CloudError)


def test_on_call_that_asks_the_client_is_refused():
    """It would wait for itself."""
    errors = []

    def on_call(_report):
        try:
            cloud.get_all_clusters()
        except CloudError as error:
            errors.append(error.kind)

    with over(plain(["Msc1"]), on_call=on_call) as cloud:
        assert cloud.get_all_clusters() == ("Msc1",)
    assert errors == [ErrorKind.INVALID]


def interrupt():
    """Press Ctrl-C."""
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


def test_an_order_that_was_interrupted_is_not_sent_later():
    """The program went on, ordered again, and had two VMs."""
    may_go_on = threading.Event()

    async def answer(request):
        if request.url.path.endswith("/Authenticate"):
            interrupt()
            await asyncio.to_thread(may_go_on.wait)
            return token()
        return plain(["Msc1"])

    fake = FakeCloud(answer)
    with SyncCloudClient(BASE, LOGIN, transport=fake) as cloud:
        with pytest.raises(KeyboardInterrupt):
            cloud.create_server(NEW_VM)
        may_go_on.set()
        assert cloud.get_all_clusters() == ("Msc1",)
    assert fake.sent_to("CreateServer") == []


def test_a_program_that_is_interrupted_in_a_wait_ends():
    """It stayed alive until the deadline of the wait, half an hour as a rule."""
    program = [sys.executable, "-c", INTERRUPTED]
    done = subprocess.run(program, capture_output=True, text=True, timeout=30, check=False)  # noqa: S603 - our own
    assert (done.returncode, "KeyboardInterrupt" in done.stderr) == (-signal.SIGINT, True)


INTERRUPTED = """
import signal, threading, httpx
from gpucloud.cloud import ApiKey, SyncCloudClient, calls

interrupts = iter([signal.SIGINT])

def pending(request):
    for number in interrupts:
        signal.pthread_kill(threading.main_thread().ident, number)
    return httpx.Response(200, json={"id": "vm", "status": "PENDING"})

cloud = SyncCloudClient("http://127.0.0.1:9", ApiKey("key"), transport=httpx.MockTransport(pending))
cloud.wait_for(calls.get_server(id="vm", namespace="acme", cluster="Msc1"), "ONLINE")
"""


FORGETFUL = """
from gpucloud.cloud import ApiKey, CloudError, SyncCloudClient

cloud = SyncCloudClient("http://127.0.0.1:9", ApiKey("key"))
try:
    cloud.get_all_clusters()
except CloudError as error:
    print(error.kind)
"""


@pytest.mark.parametrize("also", ["", "raise SystemExit(0)", "del cloud", "cloud.close()"])
def test_a_program_that_does_not_close_it_ends_all_the_same(also):
    program = [sys.executable, "-c", FORGETFUL + also]
    done = subprocess.run(program, capture_output=True, text=True, timeout=30, check=False)  # noqa: S603 - our own
    assert (done.returncode, done.stdout, done.stderr) == (0, "NotSent\n", "")


def test_an_error_of_the_program_ends_it_too():
    before = threads()
    with pytest.raises(KeyError), over(plain(["Msc1"])):
        raise KeyError
    assert threads() == before


def test_a_url_that_cannot_be_used_starts_no_thread():
    before = threads()
    with pytest.raises(ValueError, match="the base URL"):
        SyncCloudClient("ftp://cloud", ApiKey(KEY), transport=httpx.MockTransport(lambda _: httpx.Response(200)))
    assert threads() == before
