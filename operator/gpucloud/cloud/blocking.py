"""``SyncCloudClient``: the same client for programs without an event loop.

A ``CloudClient`` does the work, in an event loop in a thread of its own, so that both clients send, repeat and fail alike.
"""

import weakref
from contextlib import ExitStack
from functools import partial
from types import TracebackType
from typing import Self, TypeVar

import httpx
from anyio.from_thread import BlockingPortal, start_blocking_portal

from gpucloud.cloud import calls
from gpucloud.cloud.calls import Call
from gpucloud.cloud.client import CloudClient
from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.operations import blocking
from gpucloud.cloud.options import ApiKey, ClientOptions, Login, OnCall
from gpucloud.cloud.transport import CLOSED
from gpucloud.cloud.waiting import Until

T = TypeVar("T")


class SyncCloudClient:
    """A client of the GPU cloud whose methods return when the answer is there; one per credential, for any number of threads.

    Every operation takes keyword arguments only and raises ``CloudError`` for every failure. Within a running event loop use
    ``CloudClient``: these methods would stop the loop.
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
        self._client = CloudClient(base_url, credential, options=options, transport=transport, on_call=on_call)
        self._thread = ExitStack()
        self._portal = self._thread.enter_context(start_blocking_portal(name="gpucloud-client"))
        weakref.finalize(self, self._thread.close)  # else the end of a program that does not close it waits for ever

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if not self.is_closed:
                self._portal.call(self._client.aclose)
        finally:
            self._thread.__exit__(kind, error, traceback)

    def close(self) -> None:
        """Close all connections and end the thread. Calls made later fail with NOT_SENT."""
        self.__exit__(None, None, None)

    @property
    def is_closed(self) -> bool:
        """Whether ``close`` was called."""
        return self._client.is_closed

    @property
    def budget_left(self) -> float:
        """Return how many requests could be sent at once now, out of ``burst``."""
        return self._open("budget_left").call(lambda: self._client.budget_left)

    def token_expires_in(self) -> float | None:
        """Return the seconds for which the login token in use is still valid; None with an API key, or before a login."""
        return self._open("token_expires_in").call(self._client.token_expires_in)

    def run(self, call: Call[T]) -> T:
        """Send any call made by a function of ``gpucloud.cloud.calls``."""
        return self._open(call.operation).call(self._client.run, call)

    def wait_for(
        self,
        call: Call[T],
        until: Until[T],
        *,
        deadline_seconds: float = 1800.0,
        first_pause_seconds: float = 2.0,
        longest_pause_seconds: float = 30.0,
    ) -> T:
        """Read until the answer is as wanted, and return it. Arguments and errors: ``CloudClient.wait_for``."""
        pauses = {"first_pause_seconds": first_pause_seconds, "longest_pause_seconds": longest_pause_seconds}
        waiting = partial(self._client.wait_for, call, until, deadline_seconds=deadline_seconds, **pauses)
        return self._open(call.operation).call(waiting)

    def _open(self, operation: str) -> BlockingPortal:
        """Return the way into the event loop of the client."""
        if self.is_closed:
            raise CloudError(ErrorKind.NOT_SENT, CLOSED, operation=operation)
        return self._portal

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
