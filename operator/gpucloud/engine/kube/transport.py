"""How a request reaches the apiserver: the port ``KubeTransport``, and the one that speaks HTTP.

A transport carries one request and its answer. It knows no rights, repeats nothing and asks nobody: login, pauses, the gate
and the fence are ``KubeClient``'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import aiohttp

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping


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
        """Trust, and a client certificate if there is one."""


class KubeAnswer(NamedTuple):
    """The apiserver's answer to one request."""

    status: int
    headers: Mapping[str, str]
    text: str


class NoAnswer(OSError):  # noqa: N818 - it says what is the case
    """No whole answer came. The request may have been carried out. ``reason`` is one CamelCase word."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class KubeTransport(Protocol):
    """Carries requests to the apiserver."""

    def connect(self, connection: Connection) -> None:
        """Send everything that follows to this server. Called at every login."""

    async def request(self, method: str, path: str, *, body: str | None, headers: Mapping[str, str]) -> KubeAnswer:
        """Send one request; ``path`` begins with a slash and may hold a query.

        Raises:
            NoAnswer: no whole answer came.
        """

    async def aclose(self) -> None:
        """Close all connections."""


class HttpKubeTransport:
    """Over one aiohttp session. Its trust and client certificate are the first connection's; they stay until it is closed."""

    def __init__(self) -> None:
        self._connection: Connection | None = None
        self._session: aiohttp.ClientSession | None = None

    def connect(self, connection: Connection) -> None:
        """Send everything that follows to this server."""
        self._connection = connection
        if self._session is None:
            connector = aiohttp.TCPConnector(ssl=connection.as_ssl_context(), limit=0)
            self._session = aiohttp.ClientSession(connector=connector, trust_env=False)

    async def request(self, method: str, path: str, *, body: str | None, headers: Mapping[str, str]) -> KubeAnswer:
        """Send one request. A redirect is followed nowhere.

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
