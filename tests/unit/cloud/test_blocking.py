"""The sync client: the same answers and errors, from any thread, and nothing of it left behind."""

import asyncio
import contextlib
import gc
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from gpucloud.cloud import ApiKey, CloudError, CreateServer, ErrorKind, SyncCloudClient, WaitTimeoutError, calls
from gpucloud.cloud.loop_thread import LoopEndedError, LoopThread
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


def test_what_it_waits_for_may_ask_the_client():
    """It ran in the client's own thread, where a question is refused, and where other threads' calls wait for it."""
    with over(plain({"id": "vm", "bootLogs": "booting"}), plain({"id": "vm", "bootLogs": "ready"})) as cloud:
        place = {"id": "vm", "namespace": "acme", "cluster": "Msc1"}
        ready = cloud.wait_for(
            calls.get_server(**place), lambda _vm: cloud.get_boot_logs(**place).boot_logs == "ready", first_pause_seconds=0.01
        )
    assert ready.id == "vm"


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


@pytest.mark.parametrize(
    ("operation", "kind", "ambiguous", "words"),
    [
        ("CreateServer", ErrorKind.OUTCOME_UNKNOWN, True, "look whether the call was carried out"),
        ("Authenticate", ErrorKind.NOT_SENT, False, "open another one"),
    ],
)
def test_an_order_of_another_thread_is_told_what_became_of_it_when_an_exception_closes_the_client(
    operation, kind, ambiguous, words
):
    """It got a CancelledError, which says nothing of an order that may have been carried out."""
    sent = threading.Event()

    async def answer(request):
        if request.url.path.endswith(f"/{operation}"):
            sent.set()
            await asyncio.Event().wait()
        return token()

    with ThreadPoolExecutor(1) as pool:
        with contextlib.suppress(KeyError), SyncCloudClient(BASE, LOGIN, transport=FakeCloud(answer)) as cloud:
            order = pool.submit(cloud.create_server, NEW_VM)
            sent.wait()
            raise KeyError
        error = order.exception()
    assert isinstance(error, CloudError)
    assert (error.kind, error.operation, error.ambiguous) == (kind, "CreateServer", ambiguous)
    assert words in error.message


def test_what_is_asked_while_another_thread_closes_the_client_is_not_sent():
    """It was a RuntimeError of the event loop once in many closes."""
    thread = LoopThread(THREAD)
    thread.stop()
    thread.join()
    with pytest.raises(LoopEndedError):
        thread.run(lambda: asyncio.sleep(0))


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


def test_on_call_that_closes_the_client_is_refused_and_closes_nothing():
    """The thread ended and the transport did not: ``is_closed`` stayed False, even after another ``close``."""
    errors = []

    def on_call(_report):
        with pytest.raises(CloudError) as caught:
            cloud.close()
        errors.append(caught.value.kind)

    fake = Closable(in_turn(plain(["Msc1"])))
    cloud = SyncCloudClient(BASE, ApiKey(KEY), transport=fake, on_call=on_call)
    assert [cloud.get_all_clusters(), cloud.get_all_clusters()] == [("Msc1",)] * 2
    assert (errors, cloud.is_closed, fake.is_closed) == ([ErrorKind.INVALID] * 2, False, False)
    cloud.close()
    assert (cloud.is_closed, fake.is_closed) == (True, True)


class Closable(FakeCloud):
    """A transport that knows whether it was closed."""

    is_closed = False

    async def aclose(self):
        self.is_closed = True


def test_on_call_that_exits_ends_its_own_call_and_no_other():
    """The client's thread ended: other threads waited for ever, and ``close`` was a RuntimeError."""
    before = threads()
    asked, may_answer, exits = threading.Event(), threading.Event(), iter([SystemExit(3)])

    def on_call(_report):
        for error in exits:
            raise error

    async def answer(request):
        if request.url.path.endswith("/GetServers"):
            asked.set()
            await asyncio.to_thread(may_answer.wait)
            return plain({"items": []})
        return plain(["Msc1"])

    cloud = SyncCloudClient(BASE, ApiKey(KEY), transport=FakeCloud(answer), on_call=on_call)
    with cloud, ThreadPoolExecutor(1) as pool:
        listing = pool.submit(cloud.get_servers)
        asked.wait()
        with pytest.raises(SystemExit):
            cloud.get_all_clusters()
        may_answer.set()
        assert listing.result(timeout=30).items == ()
        assert cloud.get_all_clusters() == ("Msc1",)
    assert threads() == before


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


def test_a_client_that_is_collected_in_its_own_thread_ends_quietly():
    """ "Exception ignored in: cannot join current thread": pytest fails on it."""
    before = threads()

    class App:
        def __init__(self):
            self.cloud = over(plain(["Msc1"]), on_call=self.on_call)

        def on_call(self, _report):
            """Keep the client in a cycle of references."""

    async def collect():
        gc.collect()

    gc.disable()
    try:
        app = App()
        thread = app.cloud._thread
        del app
        thread.run(collect)
    finally:
        gc.enable()
    thread.join()
    assert threads() == before


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
