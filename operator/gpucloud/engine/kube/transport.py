"""Transport of requests to the apiserver: the port ``KubeTransport``, and its implementation over HTTP.

A transport sends one request and returns its answer, without retries. Login, pauses, the limit on concurrent requests and
the Lease check are in ``KubeSender``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import aiohttp

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

LONGEST_PAUSE = 60.0


class Connection(Protocol):
    """How to reach the apiserver; kopf's ConnectionInfo is one."""

    @property
    def server(self) -> str:
        """Base URL."""

    @property
    def proxy_url(self) -> str | None:
        """Proxy to use, if any."""

    def as_http_headers(self) -> dict[str, str]:
        """The Authorization header."""

    def as_ssl_context(self) -> ssl.SSLContext:
        """The trusted CAs, and a client certificate if there is one."""


class KubeAnswer(NamedTuple):
    """The apiserver's answer to one request."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def asked_pause(self) -> float:
        """Seconds to pause after a 429. The apiserver sends whole seconds; a proxy may send anything."""
        retry_after = self.headers.get("Retry-After", "")
        return min(float(retry_after), LONGEST_PAUSE) if retry_after.isdecimal() else 1.0


class NoAnswer(OSError):  # noqa: N818 - a statement, as in asyncio's names
    """No whole answer came. The request may have been carried out. ``reason`` is one CamelCase word."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class KubeTransport(Protocol):
    """Carries requests to the apiserver."""

    def connect(self, connection: Connection) -> None:
        """Use this server for all further requests. Called at every login."""

    async def request(self, method: str, path: str, *, body: str | None, headers: Mapping[str, str]) -> KubeAnswer:
        """Send one request; ``path`` begins with a slash and may hold a query.

        Raises:
            NoAnswer: no whole answer came.
        """

    async def aclose(self) -> None:
        """Close all connections."""


class HttpKubeTransport:
    """Sends requests over one aiohttp session, with the CAs and the client certificate of the first connection."""

    def __init__(self) -> None:
        self._connection: Connection | None = None
        self._session: aiohttp.ClientSession | None = None

    def connect(self, connection: Connection) -> None:
        """Use this server for all further requests."""
        self._connection = connection
        if self._session is None:
            connector = aiohttp.TCPConnector(ssl=connection.as_ssl_context(), limit=0)
            self._session = aiohttp.ClientSession(connector=connector, trust_env=False)

    async def request(self, method: str, path: str, *, body: str | None, headers: Mapping[str, str]) -> KubeAnswer:
        """Send one request. Redirects are not followed.

        Raises:
            NoAnswer: no whole answer came.
        """
        if self._session is None or self._connection is None:
            raise NoAnswer("NotConnected")
        url, proxy = self._connection.server.rstrip("/") + path, self._connection.proxy_url
        data = None if body is None else body.encode()
        try:
            async with self._session.request(
                method, url, data=data, headers=headers, proxy=proxy, allow_redirects=False
            ) as answer:
                return KubeAnswer(answer.status, answer.headers, (await answer.read()).decode(errors="replace"))
        except aiohttp.ClientError as error:
            raise NoAnswer(type(error).__name__) from error

    async def aclose(self) -> None:
        """Close the session."""
        if self._session is not None:
            await self._session.close()
            self._session = None
