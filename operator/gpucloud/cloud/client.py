"""``CloudClient``: every operation of the cloud's API as an async method.

The facade only: requests are described in ``calls``, carried by ``connection`` and ``sender``. It may be used without any
other part of this project. The operator itself does not use it: it reads by ``reader``, and changes by ``writer``.
"""

from collections.abc import Callable
from typing import TypeVar

import httpx

from gpucloud.cloud import calls
from gpucloud.cloud.calls import Call
from gpucloud.cloud.connection import Connection
from gpucloud.cloud.operations import awaited
from gpucloud.cloud.options import ApiKey, ClientOptions, Login, OnCall
from gpucloud.cloud.reader import CloudReader
from gpucloud.cloud.transport import always
from gpucloud.cloud.waiting import Until, Wait
from gpucloud.cloud.writer import CloudWriter

T = TypeVar("T")


class CloudClient(CloudReader):
    """An async client of the GPU cloud; one per credential, shared by any number of tasks of one event loop.

    Every method takes keyword arguments only and raises ``CloudError`` for every failure, and nothing else.
    """

    def __init__(
        self,
        base_url: str,
        credential: ApiKey | Login,
        *,
        options: ClientOptions = ClientOptions(),  # noqa: B008 - frozen
        transport: httpx.AsyncBaseTransport | None = None,
        on_call: OnCall | None = None,
        may_change: Callable[[], bool] = always,
    ) -> None:
        """Make a client; nothing is sent yet.

        Args:
            base_url: where the cloud is, ``http`` or ``https``, perhaps with a path prefix.
            credential: an API key, or an account's name and password.
            options: limits, deadlines, trust.
            transport: what carries requests instead of the network; for tests and simulators.
            on_call: called after every attempt of every call, for metrics.
            may_change: asked right before a call that is no GET leaves; False takes it back (WITHDRAWN).

        Raises:
            ValueError: when the base URL, the proxy or the CA file cannot be used.
        """
        connection = Connection(base_url, credential, options=options, transport=transport, on_call=on_call)
        super().__init__(connection)
        self._writer, self._may_change = CloudWriter(connection), may_change

    async def run(self, call: Call[T]) -> T:
        """Send any call made by a function of ``gpucloud.cloud.calls``."""
        return await (super().run(call) if call.safe else self._writer.run(call, self._may_change))

    async def wait_for(
        self,
        call: Call[T],
        until: Until[T],
        *,
        deadline_seconds: float = 1800.0,
        first_pause_seconds: float = 2.0,
        longest_pause_seconds: float = 30.0,
    ) -> T:
        """Read until the answer is as wanted, and return it.

        Readings that fail for a reason that may pass are repeated, too, and never before the cloud's Retry-After. The pauses
        grow by half each time.

        Args:
            call: a reading call made by a function of ``gpucloud.cloud.calls``.
            until: the status to wait for, such as ``"ONLINE"``, in any case of letters; or a function of the answer, not async,
                that returns whether it is so.
            deadline_seconds: how long to wait at most, all readings and pauses included.
            first_pause_seconds: between the first two readings.
            longest_pause_seconds: between any two readings.

        Raises:
            WaitTimeoutError: it was not as wanted in time.
            WaitError: the status is one that no waiting changes: CREATE_FAILED or FAILED.
            CloudError: a reading failed for a reason that waiting does not change, such as NOT_FOUND; or the client was closed.
            TypeError: the call changes something, its answer has no status, or ``until`` is async.
            ValueError: the deadline or a pause is no number above 0.
        """
        connection, pauses = self._connection, (first_pause_seconds, longest_pause_seconds)
        wait = Wait(connection.run, connection.pause, call, until, deadline_seconds=deadline_seconds, pauses=pauses)
        while not wait.is_reached(answer := await wait.read()):
            pass
        return answer

    create_server = awaited(calls.create_server)
    start_server = awaited(calls.start_server)
    stop_server = awaited(calls.stop_server)
    destroy_server = awaited(calls.destroy_server)
    reboot_host = awaited(calls.reboot_host)
    reprovision_host = awaited(calls.reprovision_host)
    create_snapshot = awaited(calls.create_snapshot)
    delete_snapshot = awaited(calls.delete_snapshot)
    create_vpc = awaited(calls.create_vpc)
    destroy_vpc = awaited(calls.destroy_vpc)
    authenticate = awaited(calls.authenticate)
    refresh_token = awaited(calls.refresh_token)
