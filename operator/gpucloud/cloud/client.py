"""``CloudClient``: every operation of the cloud's API as an async method.

The facade only: requests are described in ``calls``, carried by ``connection`` and ``sender``. It may be used without any
other part of this project. The operator itself does not use it: it reads by ``reader``, and changes by ``writer``.
"""

from collections.abc import Callable
from typing import TypeVar

import httpx

from gpucloud.cloud import calls, waiting
from gpucloud.cloud.calls import Call
from gpucloud.cloud.connection import Connection
from gpucloud.cloud.operations import awaited, awaited_wait
from gpucloud.cloud.options import ApiKey, ClientOptions, Login, OnCall
from gpucloud.cloud.reading import Reading
from gpucloud.cloud.transport import always
from gpucloud.cloud.waiting import Wait, Waiting
from gpucloud.cloud.writer import CloudWriter

T = TypeVar("T")


class CloudClient(Reading):
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
        return await (self._connection.run(call) if call.safe else self._writer.run(call, self._may_change))

    async def _wait(self, wait: Wait[T]) -> T:
        connection = self._connection
        return await Waiting(wait, connection.run, connection.pause).answer()

    wait_for = awaited_wait(waiting.wait_for)
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
