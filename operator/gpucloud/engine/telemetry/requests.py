"""Metrics of requests to the apiserver, under client-go's names, and the transport that counts them.

Counted is what the engine itself sends: status, finalizers, Events, Secrets, the Lease. kopf's lists and watches, and its patch
that adds its own finalizer to an account, are not: kopf has a session of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import Counter, Histogram

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from prometheus_client import CollectorRegistry

    from gpucloud.engine.kube.transport import Connection, KubeAnswer, KubeTransport

NO_ANSWER = "<error>"  # client-go's code of a request that got no answer


class RequestMetrics:
    """Count and duration of requests to the apiserver. There is one apiserver, so there is no label ``host``."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Counter(
            "rest_client_requests", "Requests of the engine to the apiserver.", ["code", "method"], registry=registry
        )
        self._seconds = Histogram(
            "rest_client_request_duration_seconds", "Length of a request to the apiserver.", ["verb"], registry=registry
        )

    def observe(self, method: str, code: str, seconds: float) -> None:
        """Count one request; ``code`` is the HTTP status, or client-go's word where none came."""
        self._requests.labels(code, method).inc()
        self._seconds.labels(method).observe(seconds)


class MeteredTransport:
    """A ``KubeTransport`` that counts what goes through another one."""

    def __init__(self, transport: KubeTransport, metrics: RequestMetrics, mono: Callable[[], float]) -> None:
        self._transport, self._metrics, self._mono = transport, metrics, mono

    def connect(self, connection: Connection) -> None:
        """Use this server for all further requests."""
        self._transport.connect(connection)

    async def request(self, method: str, path: str, *, body: str | None, headers: Mapping[str, str]) -> KubeAnswer:
        """Send one request and count it, whatever becomes of it; one that is cancelled got no answer either.

        Raises:
            NoAnswer: no whole answer came.
        """
        began, code = self._mono(), NO_ANSWER
        try:
            answer = await self._transport.request(method, path, body=body, headers=headers)
            code = str(answer.status)
        finally:
            self._metrics.observe(method, code, self._mono() - began)
        return answer

    async def aclose(self) -> None:
        """Close the transport."""
        await self._transport.aclose()
