"""The sync client in a forked process, which lacks the thread that sends: it refuses, and never waits for that thread."""

import os
import signal

import pytest

from gpucloud.cloud import ApiKey, CloudError, ErrorKind, SyncCloudClient, calls
from unit.cloud.fakes import BASE, KEY, FakeCloud, in_turn, plain

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # the client's thread is the point


@pytest.fixture
def cloud():
    with SyncCloudClient(BASE, ApiKey(KEY), transport=FakeCloud(in_turn(plain(["Msc1"])))) as client:
        client.get_all_clusters()
        yield client


def in_a_child(work):
    """Run a function in a forked process that ends after 10 s at the latest; return what it printed and how it ended."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:  # pragma: no cover - measured in the parent only
        signal.alarm(10)
        try:
            os.write(write, str(work()).encode())
        except BaseException as error:  # noqa: BLE001 - the parent judges
            os.write(write, repr(error).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as said:
        text = said.read()
    return text, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def refusal_of(asks):
    """Describe the CloudError that a function raises."""
    with pytest.raises(CloudError) as caught:
        asks()
    error = caught.value
    assert (error.kind, error.ambiguous) == (ErrorKind.NOT_SENT, False)
    return error.message


@pytest.mark.parametrize(
    "asks",
    [
        lambda cloud: cloud.get_all_clusters(),
        lambda cloud: cloud.wait_for(calls.get_all_clusters(), bool),
        lambda cloud: cloud.budget_left,
        lambda cloud: cloud.token_expires_in(),
    ],
    ids=["a call", "a wait", "the budget", "the token"],
)
def test_a_call_in_the_child_is_not_sent_and_says_what_to_do(cloud, asks):
    """It waited for ever."""
    said, code = in_a_child(lambda: refusal_of(lambda: asks(cloud)))
    assert (code, "make a new client after fork" in said) == (0, True), said


def test_closing_it_in_the_child_returns_and_leaves_the_parents_client_open(cloud):
    def close():
        with cloud:
            pass
        cloud.close()
        return refusal_of(cloud.get_all_clusters)

    said, code = in_a_child(close)
    assert (code, "make a new client after fork" in said) == (0, True), said
    assert cloud.get_all_clusters() == ("Msc1",)


def test_a_new_client_in_the_child_works(cloud):
    def ask():
        with SyncCloudClient(BASE, ApiKey(KEY), transport=FakeCloud(in_turn(plain(["Hou1"])))) as another:
            return another.get_all_clusters()

    assert in_a_child(ask) == ("('Hou1',)", 0)
    assert cloud.get_all_clusters() == ("Msc1",)


def test_a_client_that_is_forked_in_its_own_thread_is_refused_all_the_same():
    """``on_call`` runs in that thread; its child was told to use another thread."""
    told = []

    def on_call(_report):
        told.append(in_a_child(lambda: (refusal_of(client.get_all_clusters), client.close())[0]))

    with SyncCloudClient(BASE, ApiKey(KEY), transport=FakeCloud(in_turn(plain(["Msc1"]))), on_call=on_call) as client:
        client.get_all_clusters()
    ((said, code),) = told
    assert (code, "make a new client after fork" in said) == (0, True), said
