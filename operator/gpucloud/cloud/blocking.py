"""``SyncCloudClient``: the same client for programs without an event loop.

A ``Connection`` does the work, in an event loop in a thread of its own, so that both clients send, repeat and fail alike.
"""

import contextlib
import weakref
from collections.abc import Callable, Coroutine
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from gpucloud.cloud import calls, waiting
from gpucloud.cloud.calls import Call
from gpucloud.cloud.connection import Connection
from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.loop_thread import LoopEndedError, LoopForkedError, LoopThread
from gpucloud.cloud.operations import blocking, blocking_wait
from gpucloud.cloud.options import ApiKey, ClientOptions, Login, OnCall
from gpucloud.cloud.transport import CLOSED
from gpucloud.cloud.waiting import Wait, Waiting

T = TypeVar("T")
_END_SECONDS = 1.0
_FORKED = "the client belongs to the process that forked this one: make a new client after fork"
_OWN_THREAD = (
    "on_call runs in the thread that sends the calls, so it cannot use the client: call or close the client in another thread"
)


class SyncCloudClient:
    """A client of the GPU cloud whose methods return when the answer is there; one per credential, for any number of threads.

    Every operation takes keyword arguments only and raises ``CloudError`` for every failure. A call that is interrupted, as by
    Ctrl-C, is over: nothing of it is sent later. Within a running event loop use ``CloudClient``: these methods would stop the
    loop. In a forked process every call fails with NOT_SENT: make a new client there.
    """

    def __init__(
        self,
        base_url: str,
        credential: ApiKey | Login,
        *,
        options: ClientOptions = ClientOptions(),  # noqa: B008 - frozen
        transport: httpx.AsyncBaseTransport | None = None,
        on_call: OnCall | None = None,
    ) -> None:
        """Make a client; nothing is sent yet. Arguments and errors: ``CloudClient``. ``on_call`` runs in another thread."""
        self._connection = Connection(base_url, credential, options=options, transport=transport, on_call=on_call)
        self._thread = LoopThread("gpucloud-client")
        weakref.finalize(self, _end, self._thread)  # a client that nobody closes leaves no thread behind

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the client; after an exception without waiting for calls of other threads, which fail at once."""
        self._close(abandon=kind is not None)

    def close(self) -> None:
        """Close all connections and end the thread. Calls that wait, and calls made later, fail with NOT_SENT.

        In a forked process it does nothing: connections and thread are the other process's.

        Raises:
            CloudError: INVALID when ``on_call`` closes the client; nothing is closed.
        """
        self._close(abandon=False)

    def _close(self, *, abandon: bool) -> None:
        self._refuse_own_thread("close")
        try:
            with contextlib.suppress(LoopEndedError, LoopForkedError):  # closed already, or not ours to close
                self._thread.run(partial(self._connection.aclose, abandon=abandon))
        finally:
            self._thread.stop()
            self._thread.join()

    @property
    def is_closed(self) -> bool:
        """Whether ``close`` was called."""
        return self._connection.is_closed

    @property
    def budget_left(self) -> float:
        """Return how many requests could be sent at once now, out of ``burst``."""

        async def ask() -> float:
            return self._connection.budget_left

        return self._run("budget_left", ask)

    def token_expires_in(self) -> float | None:
        """Return the seconds for which the login token in use is still valid; None with an API key, or before a login."""

        async def ask() -> float | None:
            return self._connection.token_expires_in()

        return self._run("token_expires_in", ask)

    def run(self, call: Call[T]) -> T:
        """Send any call made by a function of ``gpucloud.cloud.calls``."""
        return self._run(call.operation, partial(self._connection.run, call))

    def _wait(self, wait: Wait[T]) -> T:
        """Wait in the caller's thread, where ``until`` may ask this client; only the readings go to the client's own."""
        under_way = Waiting(wait, self._connection.run, self._connection.pause)

        async def read() -> T:
            return self._run(wait.call.operation, under_way.read)

        return _at_once(under_way.answer(read))

    wait_for = blocking_wait(waiting.wait_for)

    def _run(self, operation: str, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine in the event loop of the client.

        Raises:
            CloudError: NOT_SENT when the client is closed or of another process, INVALID when ``on_call`` asks it; or as
                ``work`` raises it.
        """
        self._refuse_own_thread(operation)
        try:
            return self._thread.run(work)
        except LoopEndedError:
            why = CLOSED
        except LoopForkedError:
            why = _FORKED
        raise CloudError(ErrorKind.NOT_SENT, why, operation=operation)

    def _refuse_own_thread(self, operation: str) -> None:
        if self._thread.is_current:
            raise CloudError(ErrorKind.INVALID, _OWN_THREAD, operation=operation)

    get_all_clusters = blocking(calls.get_all_clusters)
    get_servers = blocking(calls.get_servers)
    get_server = blocking(calls.get_server)
    create_server = blocking(calls.create_server)
    start_server = blocking(calls.start_server)
    stop_server = blocking(calls.stop_server)
    destroy_server = blocking(calls.destroy_server)
    get_configurations = blocking(calls.get_configurations)
    get_availability = blocking(calls.get_availability)
    get_boot_logs = blocking(calls.get_boot_logs)
    get_host = blocking(calls.get_host)
    get_hosts = blocking(calls.get_hosts)
    reboot_host = blocking(calls.reboot_host)
    reprovision_host = blocking(calls.reprovision_host)
    get_snapshots = blocking(calls.get_snapshots)
    get_snapshot = blocking(calls.get_snapshot)
    create_snapshot = blocking(calls.create_snapshot)
    delete_snapshot = blocking(calls.delete_snapshot)
    get_vpcs = blocking(calls.get_vpcs)
    get_vpc = blocking(calls.get_vpc)
    create_vpc = blocking(calls.create_vpc)
    destroy_vpc = blocking(calls.destroy_vpc)
    authenticate = blocking(calls.authenticate)
    refresh_token = blocking(calls.refresh_token)


def _at_once(work: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine returns that never lets another one run, and so needs no event loop."""
    try:
        work.send(None)
    except StopIteration as end:
        answer: T = end.value
        return answer
    work.close()
    raise TypeError("this work needs an event loop")


def _end(thread: LoopThread) -> None:
    """End the thread of a client that is gone. Python may collect the client in that very thread."""
    thread.stop()
    thread.join(_END_SECONDS)
