"""``CloudReader``: the reading operations of the cloud's API. It cannot send a call that changes anything."""

from typing import TypeVar, final

from gpucloud.cloud.calls import Call
from gpucloud.cloud.connection import Connection
from gpucloud.cloud.options import ApiKey, ClientOptions, Login
from gpucloud.cloud.reading import Reading

T = TypeVar("T")


@final
class CloudReader(Reading):
    """Reads from the cloud over one connection, which it closes. Nothing derives from it, so none can change anything.

    Every method takes keyword arguments only and raises ``CloudError`` for every failure, and nothing else.
    """

    async def run(self, call: Call[T]) -> T:
        """Send a reading call made by a function of ``gpucloud.cloud.calls``.

        Raises:
            TypeError: the call changes something.
        """
        if not call.safe:
            raise TypeError(f"{call.operation} changes something, and this client only reads")
        return await self._connection.run(call)


def open_reader(base_url: str, credential: ApiKey | Login, *, options: ClientOptions) -> CloudReader:
    """Make a reader with a connection of its own; nothing is sent yet. Errors: ``CloudClient``."""
    return CloudReader(Connection(base_url, credential, options=options))
