"""Plain words for a failed connection or request. They name no class of a library, and quote no header and no URL."""

from __future__ import annotations

import os
import socket
import ssl
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from collections.abc import Iterator

_BY_CLASS: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], str], ...] = (
    (httpx.PoolTimeout, "no connection became free in time; send fewer calls at once"),
    ((httpx.UnsupportedProtocol, httpx.InvalidURL), "the URL of the endpoint cannot be used"),
    (socket.gaierror, "no such host, or the name server does not answer"),
    (
        (httpx.TimeoutException, TimeoutError),  # before TLS, which a deadline interrupts
        "no answer in time; check the address, and the firewalls on the way",
    ),
    (ssl.SSLError, "the TLS handshake failed; check that the endpoint speaks https"),
)


def connection_words(error: BaseException) -> str:
    """Return why there is no connection: refused, no such host, no answer, the certificate, or what a proxy says."""
    causes = tuple(_causes(error))
    certificate = next((one for one in causes if isinstance(one, ssl.SSLCertVerificationError)), None)
    if certificate is not None:
        return f"the certificate is refused ({certificate.verify_message or 'not valid'})"
    if isinstance(error, httpx.ProxyError):
        return f"the proxy refuses it ({error})"
    for classes, words in _BY_CLASS:
        if any(isinstance(one, classes) for one in causes):
            return words
    return next(filter(None, map(_system_words, causes)), "the connection failed")


def _system_words(error: BaseException) -> str:
    """Return the operating system's words for a failed connection; empty if it said nothing."""
    number = error.errno if isinstance(error, OSError) else None
    return os.strerror(number).lower() if number else ""


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and what led to it, the outermost first; the library hides the cause a few levels down."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__
