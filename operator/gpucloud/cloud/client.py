"""``CloudClient``: every operation of the cloud's API as an async method.

The facade only: requests are described in ``calls``, carried by ``sender``. It may be used without any other part of
this project.
"""
# ruff: noqa: A002 - "id" is the API's own name for it

from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeVar

import httpx

from gpucloud.cloud import calls, models
from gpucloud.cloud.auth import ApiKeyAuth, LoginAuth
from gpucloud.cloud.calls import Call
from gpucloud.cloud.limits import TokenBucket
from gpucloud.cloud.models import Listing
from gpucloud.cloud.options import ApiKey, ClientOptions, Login, OnCall
from gpucloud.cloud.sender import Sender, wall_clock
from gpucloud.cloud.transport import GuardedTransport, real_transport

T = TypeVar("T")


class CloudClient:
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
        may_change: Callable[[], bool] = lambda: True,
    ) -> None:
        """Make a client; nothing is sent yet.

        Args:
            base_url: where the cloud is, ``http`` or ``https``, perhaps with a path prefix.
            credential: an API key, or an account's name and password.
            options: limits, deadlines, trust.
            transport: what carries requests instead of the network; for tests and simulators.
            on_call: called after every attempt of every call, for metrics.
            may_change: asked right before a request other than GET leaves; False takes it back (WITHDRAWN).

        Raises:
            ValueError: when the base URL or the CA file cannot be used.
        """
        self._bucket = TokenBucket(options.qps, options.burst)
        _check(base_url)
        self._transport = GuardedTransport(transport or real_transport(options), self._bucket, options, wall_clock, may_change)
        self._sender = Sender(base_url, self._transport, options, secrets=self._secrets, on_call=on_call)
        self._auth = self._flow_for(credential)
        self._proxy_password = httpx.URL(options.proxy).password if options.proxy else ""

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
        await self._auth.aclose()
        await self._transport.aclose()

    @property
    def is_closed(self) -> bool:
        """Whether ``aclose`` was called."""
        return self._transport.is_closed

    @property
    def budget_left(self) -> float:
        """Return how many requests could be sent at once now, out of ``burst``."""
        return self._bucket.left

    def token_expires_in(self) -> float | None:
        """Return the seconds for which the login token in use is still valid; None with an API key, or before a login."""
        return self._auth.expires_in()

    async def run(self, call: Call[T]) -> T:
        """Send a call made by a function of ``gpucloud.cloud.calls``."""
        return await self._sender.run(call, self._auth if call.authenticated else None)

    async def get_all_clusters(self) -> tuple[str, ...]:
        """List the names of the clusters allocated to the caller."""
        return await self.run(calls.get_all_clusters())

    async def get_servers(self, *, cluster: str | None = None) -> Listing[models.VmRecord]:
        """List VMs, of one cluster or of all."""
        return await self.run(calls.get_servers(cluster=cluster))

    async def get_server(self, *, id: str, namespace: str, cluster: str) -> models.VmRecord:
        """Read one VM."""
        return await self.run(calls.get_server(id=id, namespace=namespace, cluster=cluster))

    async def create_server(self, server: models.CreateServer) -> models.VmRecord:
        """Create a VM."""
        return await self.run(calls.create_server(server))

    async def start_server(
        self,
        *,
        id: str,
        namespace: str,
        cluster: str,
    ) -> models.OperationResult:
        """Start a VM that is OFFLINE."""
        return await self.run(calls.start_server(id=id, namespace=namespace, cluster=cluster))

    async def stop_server(
        self,
        *,
        id: str,
        namespace: str,
        cluster: str,
    ) -> models.OperationResult:
        """Shut a VM down in order."""
        return await self.run(calls.stop_server(id=id, namespace=namespace, cluster=cluster))

    async def destroy_server(
        self,
        *,
        id: str,
        namespace: str,
        cluster: str,
        delete_snapshots: bool | None = None,
    ) -> models.OperationResult:
        """Destroy a VM for good, with its snapshots when asked."""
        return await self.run(
            calls.destroy_server(id=id, namespace=namespace, cluster=cluster, delete_snapshots=delete_snapshots)
        )

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

    async def reboot_host(self, *, id: str, cluster: str) -> models.HostRecord:
        """Reboot a bare metal host."""
        return await self.run(calls.reboot_host(id=id, cluster=cluster))

    async def reprovision_host(
        self,
        *,
        id: str,
        cluster: str,
        image_url: str | None = None,
        image_checksum: str | None = None,
        cloud_init_base64: str | None = None,
    ) -> models.HostRecord:
        """Write a bare metal host anew from an image."""
        return await self.run(
            calls.reprovision_host(
                id=id,
                cluster=cluster,
                image_url=image_url,
                image_checksum=image_checksum,
                cloud_init_base64=cloud_init_base64,
            )
        )

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

    async def create_snapshot(
        self,
        *,
        namespace: str,
        cluster: str,
        name: str | None = None,
        source_vm_name: str | None = None,
    ) -> models.SnapshotRecord:
        """Take a snapshot of a VM."""
        return await self.run(
            calls.create_snapshot(namespace=namespace, cluster=cluster, name=name, source_vm_name=source_vm_name)
        )

    async def delete_snapshot(
        self,
        *,
        id: str,
        namespace: str,
        cluster: str,
    ) -> models.DeletedSnapshot:
        """Delete a snapshot."""
        return await self.run(calls.delete_snapshot(id=id, namespace=namespace, cluster=cluster))

    async def get_vpcs(self, *, cluster: str | None = None) -> Listing[models.VpcRecord]:
        """List VPCs, of one cluster or of all."""
        return await self.run(calls.get_vpcs(cluster=cluster))

    async def get_vpc(self, *, id: str, cluster: str) -> models.VpcRecord:
        """Read one VPC by its id (not its name)."""
        return await self.run(calls.get_vpc(id=id, cluster=cluster))

    async def create_vpc(
        self,
        *,
        name: str,
        cluster: str,
        block_intra_vpc_comms: bool | None = None,
        is_default: bool | None = None,
    ) -> models.VpcRecord:
        """Create a VPC; its name begins with the tenant's."""
        return await self.run(
            calls.create_vpc(name=name, cluster=cluster, block_intra_vpc_comms=block_intra_vpc_comms, is_default=is_default)
        )

    async def destroy_vpc(self, *, id: str, cluster: str) -> models.VpcRecord:
        """Destroy a VPC by its id (not its name)."""
        return await self.run(calls.destroy_vpc(id=id, cluster=cluster))

    async def authenticate(
        self,
        *,
        username: str,
        password: str,
        remember_client: bool | None = None,
        two_factor_verification_code: str | None = None,
    ) -> models.LoginResult:
        """Ask for a login token of any account; the client's own credential is neither used nor changed."""
        return await self.run(
            calls.authenticate(
                username=username,
                password=password,
                remember_client=remember_client,
                two_factor_verification_code=two_factor_verification_code,
            )
        )

    async def refresh_token(self, *, refresh_token: str) -> models.LoginResult:
        """Ask for a new login token by a refresh token."""
        return await self.run(calls.refresh_token(refresh_token=refresh_token))

    def _flow_for(self, credential: ApiKey | Login) -> ApiKeyAuth | LoginAuth:
        if isinstance(credential, ApiKey):
            return ApiKeyAuth(credential)

        async def authenticate() -> models.LoginResult:
            return await self.authenticate(username=credential.username, password=credential.password)

        return LoginAuth(credential.password, authenticate)

    def _secrets(self) -> tuple[str, ...]:
        return (*self._auth.secrets(), self._proxy_password)


def _check(base_url: str) -> None:
    """Check a base URL without repeating it, for it might hold a password."""
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL:
        raise ValueError("the base URL cannot be understood; expected https://host[:port][/prefix]") from None
    if url.scheme not in {"http", "https"} or not url.host:
        raise ValueError("the base URL must look like https://host[:port][/prefix]")
    if url.userinfo or url.query or url.fragment:
        raise ValueError("the base URL must hold no user name, password, query or fragment")
