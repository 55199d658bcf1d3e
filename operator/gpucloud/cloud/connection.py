"""One credential's connection to the cloud: request budget, transport and login. It carries every call."""

import asyncio
import contextlib
import re
from collections.abc import Callable
from typing import TypeVar

import httpx

from gpucloud.base_url import NEEDS_TLS, may_carry_a_credential
from gpucloud.cloud import calls, models
from gpucloud.cloud.auth import ApiKeyAuth, LoginAuth
from gpucloud.cloud.calls import Call
from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.limits import TokenBucket
from gpucloud.cloud.options import ApiKey, ClientOptions, Login, OnCall
from gpucloud.cloud.sender import Sender, wall_clock
from gpucloud.cloud.transport import CLOSED, GuardedTransport, always, real_transport

T = TypeVar("T")
_OTHER_LOOP = "the client belongs to the event loop of its first call: make another client in each asyncio.run"


class Connection:
    """Sends the calls of one credential, under one request budget; shared by any number of tasks of one event loop."""

    def __init__(
        self,
        base_url: str,
        credential: ApiKey | Login,
        *,
        options: ClientOptions = ClientOptions(),  # noqa: B008 - frozen
        transport: httpx.AsyncBaseTransport | None = None,
        on_call: OnCall | None = None,
    ) -> None:
        """Make a connection; nothing is sent yet. Arguments and errors: ``CloudClient``."""
        self._bucket = TokenBucket(options.qps, options.burst)
        self._closed = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        _check(base_url)
        _check_proxy(options.proxy)
        self._transport = GuardedTransport(transport or real_transport(options), self._bucket, options, wall_clock)
        self._sender = Sender(base_url, self._transport, options, secrets=self._secrets, on_call=on_call)
        self._auth = self._flow_for(credential)
        self._proxy_password = httpx.URL(options.proxy).password if options.proxy else ""

    async def run(self, call: Call[T], permit: Callable[[], bool] = always) -> T:
        """Send a call. ``permit`` is asked right before each of its requests leaves; False takes the call back (WITHDRAWN).

        Raises:
            CloudError: every failure, and nothing else. INVALID in another event loop than the first call's.
        """
        loop = asyncio.get_running_loop()
        self._loop = self._loop or loop
        if self._loop is not loop:
            raise CloudError(ErrorKind.INVALID, _OTHER_LOOP, operation=call.operation)
        return await self._sender.run(call, self._auth if call.authenticated else None, permit)

    async def aclose(self, *, abandon: bool = False) -> None:
        """Stop a login under way and close all connections. Calls that wait, and calls made later, fail with NOT_SENT.

        Calls whose requests are on their way may end; with ``abandon`` they fail at once, with OUTCOME_UNKNOWN.
        """
        self._closed.set()
        self._transport.refuse()
        if self._loop not in {None, asyncio.get_running_loop()}:
            return  # of a loop that has ended nothing can be awaited; Python closes its connections
        self._sender.cut_off(abandon=abandon)
        await self._auth.aclose()
        await self._transport.aclose()

    async def pause(self, seconds: float, operation: str) -> None:
        """Wait before the next call of this operation, no longer than the connection is open.

        Raises:
            CloudError: NOT_SENT, as soon as it is closed.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closed.wait()
                raise CloudError(ErrorKind.NOT_SENT, CLOSED, operation=operation)

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

    def _flow_for(self, credential: ApiKey | Login) -> ApiKeyAuth | LoginAuth:
        if isinstance(credential, ApiKey):
            return ApiKeyAuth(credential)

        async def authenticate() -> models.LoginResult:
            return await self.run(calls.authenticate(username=credential.username, password=credential.password))

        return LoginAuth(credential.password, authenticate)

    def _secrets(self) -> tuple[str, ...]:
        return (*self._auth.secrets(), self._proxy_password)


def _check(base_url: str) -> None:
    """Check a base URL without repeating it, for it might hold a password."""
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL:
        raise ValueError("the base URL cannot be understood; expected https://host[:port][/prefix]") from None
    if re.match(r"[\w.-]+=https?://", base_url):
        raise ValueError("the base URL stands behind NAME=, as the operator takes it: give the URL alone")
    if url.scheme not in {"http", "https"} or not url.host:
        raise ValueError("the base URL must look like https://host[:port][/prefix]")
    if url.userinfo or url.query or url.fragment:
        raise ValueError("the base URL must hold no user name, password, query or fragment")
    if not may_carry_a_credential(url.scheme, url.host):
        raise ValueError(f"the base URL {NEEDS_TLS}")


def _check_proxy(proxy: str | None) -> None:
    """Check the URL of a proxy without repeating it, for it may hold a password: httpx prints one that has no scheme."""
    if proxy is None:
        return
    try:
        url = httpx.URL(proxy)
    except httpx.InvalidURL:
        raise ValueError("the proxy's URL cannot be understood; expected http://[user:password@]host[:port]") from None
    if url.scheme not in {"http", "https"} or not url.host:
        raise ValueError("the proxy's URL must look like http://[user:password@]host[:port]")
