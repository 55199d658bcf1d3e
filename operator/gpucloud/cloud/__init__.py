"""A complete, typed client of the GPU cloud's API, async and sync; usable alone as a Python SDK.

Example::

    async with CloudClient("https://cloud.example", ApiKey(os.environ["GPUCLOUD_API_KEY"])) as cloud:
        for vm in (await cloud.get_servers(cluster="Msc1")).items:
            print(vm.id, vm.status, vm.ip)
        try:
            await cloud.start_server(id="trainer", namespace="acme", cluster="Msc1")
        except CloudError as error:
            print(error.kind, error.message, "look before sending again" if error.ambiguous else "")

``docs/reference/python-client.md`` lists all operations and what each kind of error means to a caller.
"""

from gpucloud.cloud.blocking import SyncCloudClient
from gpucloud.cloud.calls import Call
from gpucloud.cloud.client import CloudClient
from gpucloud.cloud.errors import CloudError, ErrorKind, LoginError
from gpucloud.cloud.models import (
    AvailabilityRecord,
    BootLogRecord,
    ConfigurationRecord,
    CreateServer,
    DeletedSnapshot,
    HostRecord,
    Listing,
    LoginResult,
    OperationResult,
    SnapshotRecord,
    VmRecord,
    VmStatus,
    VpcRecord,
)
from gpucloud.cloud.options import ApiKey, CallReport, ClientOptions, Login
from gpucloud.cloud.waiting import WaitError, WaitTimeoutError

__all__ = [
    "ApiKey",
    "AvailabilityRecord",
    "BootLogRecord",
    "Call",
    "CallReport",
    "ClientOptions",
    "CloudClient",
    "CloudError",
    "ConfigurationRecord",
    "CreateServer",
    "DeletedSnapshot",
    "ErrorKind",
    "HostRecord",
    "Listing",
    "Login",
    "LoginError",
    "LoginResult",
    "OperationResult",
    "SnapshotRecord",
    "SyncCloudClient",
    "VmRecord",
    "VmStatus",
    "VpcRecord",
    "WaitError",
    "WaitTimeoutError",
]
