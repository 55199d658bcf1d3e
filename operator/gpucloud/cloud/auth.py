"""How a request gets its Authorization header: an API key, or a login whose token all calls share and renew together.

They know no operation but the login, which the client sends for them.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import Context
from dataclasses import dataclass, field
from typing import Protocol

import httpx

from gpucloud.cloud.answers import Answer
from gpucloud.cloud.errors import CloudError, ErrorKind, LoginError
from gpucloud.cloud.models import LoginResult
from gpucloud.cloud.options import ApiKey

USUAL_LIFETIME = 24 * 3600.0
_REFUSAL_HOLD = 60.0
_PASSING_HOLD = 5.0
_EARLIEST_RENEWAL = 300.0
_PASSING = frozenset(
    {
        ErrorKind.NOT_SENT,
        ErrorKind.WITHDRAWN,
        ErrorKind.OUTCOME_UNKNOWN,
        ErrorKind.UNAVAILABLE,
        ErrorKind.THROTTLED,
        ErrorKind.MALFORMED,
    }
)

Authenticate = Callable[[], Awaitable[LoginResult]]
Carry = Callable[[httpx.Request], Awaitable[Answer]]


class Credentials(Protocol):
    """What the client needs of a credential."""

    async def send(self, request: httpx.Request, carry: Carry) -> Answer:
        """Sign a request and let it be carried to the cloud."""
        ...

    def secrets(self) -> tuple[str, ...]:
        """Return every value that no text may repeat."""
        ...

    def expires_in(self) -> float | None:
        """Return the seconds for which the token in use is still valid; None when there is none that expires."""
        ...

    async def aclose(self) -> None:
        """Stop what runs in the background."""
        ...


class ApiKeyAuth:
    """Signs with ``ApiKey <key>``. Source: service-api, Authentication."""

    def __init__(self, key: ApiKey) -> None:
        self._key = key

    async def send(self, request: httpx.Request, carry: Carry) -> Answer:
        """Sign a request and send it."""
        request.headers["Authorization"] = f"ApiKey {self._key.value}"
        return await carry(request)

    def secrets(self) -> tuple[str, ...]:
        """Return the key."""
        return (self._key.value,)

    def expires_in(self) -> None:
        """Return None: the service does not say when a key expires."""

    async def aclose(self) -> None:
        """Do nothing: a key runs nothing in the background."""


class LoginAuth:
    """Signs with ``Bearer <token>``; a 401 renews the login and repeats the request once."""

    def __init__(self, password: str, authenticate: Authenticate) -> None:
        self._password = password
        self._session = Session(authenticate)

    async def send(self, request: httpx.Request, carry: Carry) -> Answer:
        """Sign a request and send it; after a 401 sign it anew and send it once more.

        Raises:
            LoginError: when no token could be had.
        """
        token = await self._session.token()
        request.headers["Authorization"] = f"Bearer {token}"
        answer = await carry(request)
        renewed = await self._session.renewed(token) if answer.status == 401 else None
        if renewed is None:
            return answer
        request.headers["Authorization"] = f"Bearer {renewed}"
        answer = await carry(request)
        if answer.status == 401:
            self._session.renewal_did_not_help()
        return answer

    def secrets(self) -> tuple[str, ...]:
        """Return the password and the tokens that have been in use lately."""
        return (self._password, *self._session.recent_tokens)

    def expires_in(self) -> float | None:
        """Return the seconds for which the token is still valid; None before the first login."""
        return self._session.expires_in()

    async def aclose(self) -> None:
        """Stop a login under way."""
        await self._session.aclose()


@dataclass(frozen=True)
class _Token:
    value: str = field(repr=False)
    renew_at: float
    expires_at: float


class Session:
    """One login for any number of callers: single flight, early renewal, and no hot loop after a refusal.

    The login runs in a task of its own, so that a caller who gives up does not take the others' login along. Times are
    the event loop's.
    """

    def __init__(self, authenticate: Authenticate) -> None:
        self._authenticate = authenticate
        self._token: _Token | None = None
        self._task: asyncio.Task[_Token | CloudError] | None = None
        self._failure: CloudError | None = None
        self._held_until = 0.0
        self._renewal_useless_until = 0.0
        self.recent_tokens: tuple[str, ...] = ()

    async def token(self) -> str:
        """Return a token that has not expired, logging in when there is none.

        In the last tenth of its life (at most 5 minutes) a token is still handed out while its successor is fetched.

        Raises:
            LoginError: when the login failed, now or within the last minute.
        """
        token, now = self._token, _now()
        if token is None or now >= token.expires_at:
            return await self._log_in()
        if now >= token.renew_at and now >= self._held_until:
            self._begin()
        return token.value

    async def renewed(self, refused: str) -> str | None:
        """Return another token than the refused one; None while renewal is known not to help.

        Raises:
            LoginError: when the login failed.
        """
        if self._token is not None and self._token.value != refused:
            return self._token.value
        if _now() < self._renewal_useless_until:
            return None
        self._token = None
        return await self._log_in()

    def expires_in(self) -> float | None:
        """Return the seconds for which the token is still valid; None when there is none."""
        return None if self._token is None else max(0.0, self._token.expires_at - _now())

    def renewal_did_not_help(self) -> None:
        """Remember that a brand-new token was refused too: for a minute a 401 causes no further login."""
        self._renewal_useless_until = _now() + _REFUSAL_HOLD

    async def aclose(self) -> None:
        """Cancel a login under way; those who wait for it get a LoginError."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _log_in(self) -> str:
        if self._failure is not None and _now() < self._held_until:
            raise self._explained(self._failure)
        outcome = await asyncio.shield(self._begin())
        if isinstance(outcome, CloudError):
            raise self._explained(outcome)
        return outcome.value

    def _begin(self) -> asyncio.Task[_Token | CloudError]:
        if self._task is None or self._task.done():
            # In a context of its own: it serves all, whatever the call carries along for which it is begun.
            task = asyncio.get_running_loop().create_task(self._attempt(), name="gpucloud login", context=Context())
            self._task = task
        return self._task

    async def _attempt(self) -> _Token | CloudError:
        started = _now()
        try:
            result = await self._authenticate()
        except CloudError as error:
            failure = error
        except asyncio.CancelledError:
            failure = CloudError(ErrorKind.NOT_SENT, "the client was closed meanwhile: open another one")
        else:
            self._failure = None
            self._token = _token_of(result, started)
            self.recent_tokens = (self._token.value, *self.recent_tokens[:1])
            return self._token
        hold = max(_PASSING_HOLD, failure.retry_after or 0.0) if failure.kind in _PASSING else _REFUSAL_HOLD
        self._failure, self._held_until = failure, _now() + hold
        return failure

    def _explained(self, failure: CloudError) -> LoginError:
        """Say to one caller why it has no token: the call itself never left, whatever became of the login."""
        unknown = failure.kind is ErrorKind.OUTCOME_UNKNOWN
        return LoginError(
            ErrorKind.NOT_SENT if unknown else failure.kind,
            f"the login failed: {failure.message}",
            status=failure.status,
            code=failure.code,
            retry_after=max(0.0, self._held_until - _now()),
        )


def _token_of(result: LoginResult, started: float) -> _Token:
    told = result.expire_in_seconds or 0  # of any size: no float need hold it
    # Where it makes no sense, the service's documented value; a 401 corrects it.
    lifetime = float(told) if 0 < told <= USUAL_LIFETIME * 366 else USUAL_LIFETIME
    early = min(lifetime / 10, _EARLIEST_RENEWAL)
    return _Token(result.access_token or "", renew_at=started + lifetime - early, expires_at=started + lifetime)


def _now() -> float:
    return asyncio.get_running_loop().time()
