"""``CloudClient``: every operation of the cloud's API as an async method.

The facade only: requests are described in ``calls``, carried by ``connection`` and ``sender``. It may be used without any
other part of this project. The operator itself does not use it: it reads by ``reader``, and changes by ``writer``.
"""
# ruff: noqa: A002 - "id" is the API's own name for it

from collections.abc import Callable
from typing import TypeVar

import httpx

from gpucloud.cloud import calls, models
from gpucloud.cloud.calls import Call
from gpucloud.cloud.connection import Connection
from gpucloud.cloud.options import ApiKey, ClientOptions, Login, OnCall
from gpucloud.cloud.reader import CloudReader
from gpucloud.cloud.transport import always
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
            ValueError: when the base URL or the CA file cannot be used.
        """
        connection = Connection(base_url, credential, options=options, transport=transport, on_call=on_call)
        super().__init__(connection)
        self._writer, self._may_change = CloudWriter(connection), may_change

    async def run(self, call: Call[T]) -> T:
        """Send any call made by a function of ``gpucloud.cloud.calls``."""
        return await (super().run(call) if call.safe else self._writer.run(call, self._may_change))

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
