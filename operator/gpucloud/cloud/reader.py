"""``CloudReader``: the reading operations of the cloud's API. It cannot send a call that changes anything."""

from types import TracebackType
from typing import Self, TypeVar

from gpucloud.cloud import calls
from gpucloud.cloud.calls import Call
from gpucloud.cloud.connection import Connection
from gpucloud.cloud.operations import awaited
from gpucloud.cloud.options import ApiKey, ClientOptions, Login

T = TypeVar("T")


class CloudReader:
    """Reads from the cloud over one connection, which it closes.

    Every method takes keyword arguments only and raises ``CloudError`` for every failure, and nothing else.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Stop a login under way and close all connections. Calls made later fail with NOT_SENT."""
        await self._connection.aclose()

    @property
    def is_closed(self) -> bool:
        """Whether ``aclose`` was called."""
        return self._connection.is_closed

    @property
    def budget_left(self) -> float:
        """Return how many requests could be sent at once now, out of ``burst``."""
        return self._connection.budget_left

    def token_expires_in(self) -> float | None:
        """Return the seconds for which the login token in use is still valid; None with an API key, or before a login."""
        return self._connection.token_expires_in()

    async def run(self, call: Call[T]) -> T:
        """Send a reading call made by a function of ``gpucloud.cloud.calls``.

        Raises:
            TypeError: the call changes something.
        """
        if not call.safe:
            raise TypeError(f"{call.operation} changes something, and this client only reads")
        return await self._connection.run(call)

    get_all_clusters = awaited(calls.get_all_clusters)
    get_servers = awaited(calls.get_servers)
    get_server = awaited(calls.get_server)
    get_configurations = awaited(calls.get_configurations)
    get_availability = awaited(calls.get_availability)
    get_boot_logs = awaited(calls.get_boot_logs)
    get_host = awaited(calls.get_host)
    get_hosts = awaited(calls.get_hosts)
    get_snapshots = awaited(calls.get_snapshots)
    get_snapshot = awaited(calls.get_snapshot)
    get_vpcs = awaited(calls.get_vpcs)
    get_vpc = awaited(calls.get_vpc)


def open_reader(base_url: str, credential: ApiKey | Login, *, options: ClientOptions) -> CloudReader:
    """Make a reader with a connection of its own; nothing is sent yet. Errors: ``CloudClient``."""
    return CloudReader(Connection(base_url, credential, options=options))
