"""``CloudWriter``: sends calls that change the cloud, each with a permit that is asked in the instant of sending.

The operator has one such writer per connection, behind ``engine/cloud/port.py``.
"""

from collections.abc import Callable
from typing import TypeVar

from gpucloud.cloud.calls import Call
from gpucloud.cloud.connection import Connection

T = TypeVar("T")


class CloudWriter:
    """Sends changing calls over a connection that it does not close."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def run(self, call: Call[T], permit: Callable[[], bool]) -> T:
        """Send a call when the request budget lets it through, if ``permit()`` is true then and when the connection stands.

        Raises:
            CloudError: WITHDRAWN if ``permit()`` was false, and nothing was sent; or any other failure.
        """
        return await self._connection.run(call, permit)
