"""Sends one request to the apiserver: login, the limit on concurrent requests, the pause it asks for, and the Lease check.

``login`` returns the connection (server, TLS, token) that kopf's login found. It is called again after a 401, so that a rotated
token is picked up.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from gpucloud.engine.kube.documents import encoded, parsed
from gpucloud.engine.kube.errors import NO_DEFINITION, KubeError
from gpucloud.engine.kube.transport import Connection, HttpKubeTransport, KubeAnswer, KubeTransport, NoAnswer
from gpucloud.engine.runtime.supervisor import being_cancelled
from gpucloud.kinds.meta import APPLY_CRDS, GROUP

if TYPE_CHECKING:
    from collections.abc import Callable

CALL_SECONDS = 30.0
REQUESTS_IN_FLIGHT = 10  # more only queue up inside the apiserver, each over a TLS connection of its own, with its buffers


class KubeSender:
    """Requests over one transport. ``may_write`` is asked right before each write is sent."""

    def __init__(
        self,
        login: Callable[[], Connection],
        may_write: Callable[[], bool] = lambda: True,
        transport: KubeTransport | None = None,
    ) -> None:
        self._login = login
        self._may_write = may_write
        self._transport: KubeTransport = HttpKubeTransport() if transport is None else transport
        self._authorization: dict[str, str] | None = None
        self._gate = asyncio.Semaphore(REQUESTS_IN_FLIGHT)
        self._quiet_until = 0.0

    async def aclose(self) -> None:
        """Close the transport."""
        await self._transport.aclose()
        self._authorization = None

    async def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: str = "application/json",
        accept: str = "application/json",
    ) -> Any:
        """Send one request and return the document of its answer.

        Raises:
            KubeError: the apiserver did not answer, or refused.
        """
        sent = {"Content-Type": content_type, "Accept": accept}
        data = None if body is None else encoded(body)
        async with self._gate:
            authorization = self._authorization or self._log_in()
            answer = await self._attempt(method, path, data, sent | authorization)
            if answer.status == 401:  # the token was rotated: log in again once, for all calls that got a 401
                renewed = self._log_in() if self._authorization is authorization else self._authorization
                answer = await self._attempt(method, path, data, sent | (renewed or {}))
        document = parsed(answer.text)
        if not 200 <= answer.status < 300:  # redirects are not followed, and their empty answers are no objects
            raise _refusal(answer, document or {}, path)
        if document is None:  # a proxy's page, or an answer cut short: a write may have been carried out
            raise KubeError(0, "Malformed", f"{method} {path.split('?', maxsplit=1)[0]}: the answer is not an object")
        return document

    def _log_in(self) -> dict[str, str]:
        """Read the credentials again."""
        connection = self._login()
        self._authorization = connection.as_http_headers()
        self._transport.connect(connection)
        return self._authorization

    async def _attempt(self, method: str, path: str, data: str | None, headers: dict[str, str]) -> KubeAnswer:
        if (pause := self._quiet_until - _now()) > 0:
            await asyncio.sleep(pause)
        if method != "GET" and not self._may_write():
            raise KubeError(0, "NotLeading", "this operator does not hold the Lease; nothing was written")
        try:
            async with asyncio.timeout(CALL_SECONDS):
                answer = await self._transport.request(method, path, body=data, headers=headers)
        except (TimeoutError, OSError, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and being_cancelled():
                raise
            reason = error.reason if isinstance(error, NoAnswer) else type(error).__name__
            raise KubeError(0, reason, f"{method} {path.split('?', maxsplit=1)[0]} got no answer") from error
        if answer.status == 429:  # it applies to all calls of this client
            self._quiet_until = _now() + answer.asked_pause
        return answer


def _refusal(answer: KubeAnswer, document: dict[str, Any], path: str) -> KubeError:
    """Return the error of an answer. A 404 that is no document is of an apiserver without the resource."""
    if answer.status == HTTPStatus.NOT_FOUND and not document and path.startswith(f"/apis/{GROUP}/"):
        words = f"the apiserver does not know this resource; install the custom resource definitions: {APPLY_CRDS}"
        return KubeError(answer.status, NO_DEFINITION, words)
    words = str(document.get("message", answer.text[:200]))
    return KubeError(answer.status, str(document.get("reason", "")), words, _causes(document.get("details")))


def _causes(details: object) -> frozenset[str]:
    """Return the reasons of a Status's causes. Whatever stands between may answer: nothing about its form is sure."""
    causes = details.get("causes") if isinstance(details, dict) else None
    found = causes if isinstance(causes, list) else []
    return frozenset(str(cause.get("reason", "")) for cause in found if isinstance(cause, dict))


def _now() -> float:
    return asyncio.get_running_loop().time()
