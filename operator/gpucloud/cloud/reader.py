"""``CloudReader``: the reading operations of the cloud's API. It cannot send a call that changes anything."""
# ruff: noqa: A002 - "id" is the API's own name for it

from types import TracebackType
from typing import Self, TypeVar

from gpucloud.cloud import calls, models
from gpucloud.cloud.calls import Call
from gpucloud.cloud.connection import Connection
from gpucloud.cloud.models import Listing
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

    async def get_all_clusters(self) -> tuple[str, ...]:
        """List the names of the clusters allocated to the caller."""
        return await self.run(calls.get_all_clusters())

    async def get_servers(self, *, cluster: str | None = None) -> Listing[models.VmRecord]:
        """List VMs, of one cluster or of all."""
        return await self.run(calls.get_servers(cluster=cluster))

    async def get_server(self, *, id: str, namespace: str, cluster: str) -> models.VmRecord:
        """Read one VM."""
        return await self.run(calls.get_server(id=id, namespace=namespace, cluster=cluster))

    async def get_configurations(self) -> Listing[models.ConfigurationRecord]:
        """List the VM configurations."""
        return await self.run(calls.get_configurations())

    async def get_availability(
        self,
        *,
        cluster: str,
        resource_pool: str | None = None,
        report_nodes: bool | None = None,
    ) -> Listing[models.AvailabilityRecord]:
        """List what can be had now; without ``report_nodes`` it is faster and counts nothing."""
        return await self.run(calls.get_availability(cluster=cluster, resource_pool=resource_pool, report_nodes=report_nodes))

    async def get_boot_logs(
        self,
        *,
        id: str,
        namespace: str,
        cluster: str,
        limit: int = 2000,
    ) -> models.BootLogRecord:
        """Read at most ``limit`` (1 to 10000) entries of a VM's boot log."""
        return await self.run(calls.get_boot_logs(id=id, namespace=namespace, cluster=cluster, limit=limit))

    async def get_host(self, *, id: str, cluster: str) -> models.HostRecord:
        """Read one bare metal host."""
        return await self.run(calls.get_host(id=id, cluster=cluster))

    async def get_hosts(self, *, cluster: str | None = None) -> Listing[models.HostRecord]:
        """List bare metal hosts, of one cluster or of all."""
        return await self.run(calls.get_hosts(cluster=cluster))

    async def get_snapshots(self, *, cluster: str | None = None) -> Listing[models.SnapshotRecord]:
        """List snapshots, of one cluster or of all."""
        return await self.run(calls.get_snapshots(cluster=cluster))

    async def get_snapshot(
        self,
        *,
        id: str,
        namespace: str,
        cluster: str,
    ) -> models.SnapshotRecord:
        """Read one snapshot."""
        return await self.run(calls.get_snapshot(id=id, namespace=namespace, cluster=cluster))

    async def get_vpcs(self, *, cluster: str | None = None) -> Listing[models.VpcRecord]:
        """List VPCs, of one cluster or of all."""
        return await self.run(calls.get_vpcs(cluster=cluster))

    async def get_vpc(self, *, id: str, cluster: str) -> models.VpcRecord:
        """Read one VPC by its id (not its name)."""
        return await self.run(calls.get_vpc(id=id, cluster=cluster))


def open_reader(base_url: str, credential: ApiKey | Login, *, options: ClientOptions) -> CloudReader:
    """Make a reader with a connection of its own; nothing is sent yet. Errors: ``CloudClient``."""
    return CloudReader(Connection(base_url, credential, options=options))
