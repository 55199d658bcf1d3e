"""``Reading``: the reading operations of the cloud's API, and the life of the connection that they go over.

What ``CloudReader`` and ``CloudClient`` share. Neither is one of the other: a reader can change nothing, and a client can.
"""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self, TypeVar

from gpucloud.cloud import calls
from gpucloud.cloud.calls import Call
from gpucloud.cloud.connection import Connection
from gpucloud.cloud.operations import awaited

T = TypeVar("T")


class Reading(ABC):
    """Reads from the cloud over one connection, which it closes. What else it may send, ``run`` decides."""

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

    @abstractmethod
    async def run(self, call: Call[T]) -> T:
        """Send a call made by a function of ``gpucloud.cloud.calls``."""

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
