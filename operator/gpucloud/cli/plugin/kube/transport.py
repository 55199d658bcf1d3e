"""Requests to the apiserver over one kept connection, by the standard library alone."""

from __future__ import annotations

import http.client
import io
import os
import ssl
import time
from base64 import b64encode
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from gpucloud.cli.plugin.kube.access import CONNECT_SECONDS, Answer, ConfigError
from gpucloud.cli.plugin.kube.credentials import obtain

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping

    from gpucloud.cli.plugin.kube.access import Access, Material, Tls
    from gpucloud.cli.plugin.kube.credentials import Credential

STALE = (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError)  # of a kept connection that was idle too long


@dataclass(frozen=True, slots=True)
class _Request:
    """A request, as whom it is sent, and the monotonic time by which its answer is there."""

    method: str
    target: str
    body: bytes | None
    headers: Mapping[str, str]
    credential: Credential
    deadline: float

    def left(self) -> float:
        """Seconds until then.

        Raises:
            TimeoutError: none.
        """
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        return left


class Transport:
    """Sends requests as the ``Access`` says."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._connection: http.client.HTTPConnection | None = None
        self._credential: Credential | None = None

    @property
    def authorization(self) -> str:
        """The header by which the apiserver knows the user; empty for one with a certificate."""
        return self._current().authorization

    def request(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str], seconds: float) -> Answer:
        """The answer, whole within so many seconds. A credential that was refused is obtained anew once.

        Raises:
            ConfigError: the credential cannot be had.
            OSError, http.client.HTTPException: there is no answer.
        """
        answer = self._sent(self._begun(method, target, body, headers, seconds))
        if answer.status == http.client.UNAUTHORIZED and (self._access.plugin is not None or self._access.token_file):
            self.close()
            self._credential = None
            answer = self._sent(self._begun(method, target, body, headers, seconds))
        return answer

    def _begun(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str], seconds: float) -> _Request:
        """A request whose time runs from now on, after a login, which may ask a person."""
        credential = self._current()
        return _Request(method, target, body, headers, credential, time.monotonic() + seconds)

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _sent(self, request: _Request) -> Answer:
        """One answer. A read over a kept connection that has ended meanwhile is sent once more; a change is not."""
        repeatable = request.method == "GET" and self._open_connection() is not None
        try:
            return self._exchange(request)
        except STALE:
            if not repeatable:
                raise
        return self._exchange(request)

    def _exchange(self, request: _Request) -> Answer:
        """Send and read over the kept connection, or a new one. One that fails on the way is not kept."""
        authorization = request.credential.authorization
        shown = [("Authorization", authorization)] if authorization else []
        length = [("Content-Length", str(len(request.body)))] if request.body is not None else []
        try:
            connection = self._connection = self._open_connection() or self._open(request)
            connection.response_class = _bounded(request)
            connection.sock.settimeout(request.left())
            connection.putrequest(request.method, f"{_prefix(self._access)}{request.target}", skip_accept_encoding=True)
            for name, value in (*request.headers.items(), *shown, *self._access.impersonate, *length):
                connection.putheader(name, value)
            connection.endheaders(request.body)
            answer = connection.getresponse()
            return Answer(answer.status, answer.read(), answer.getheader("Retry-After", ""))
        except BaseException:
            self.close()
            raise

    def _open_connection(self) -> http.client.HTTPConnection | None:
        """The connection, if the last answer has left it open."""
        return self._connection if self._connection is not None and self._connection.sock is not None else None

    def _current(self) -> Credential:
        if self._credential is None or self._credential.expired(datetime.now(UTC)):
            before, self._credential = self._credential, obtain(self._access)
            if before is not None and before.certificate != self._credential.certificate:
                self.close()
        return self._credential

    def _open(self, request: _Request) -> http.client.HTTPConnection:
        parts = urlsplit(self._access.server)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        host, proxy = parts.hostname or "", urlsplit(self._access.proxy)  # an HTTP proxy: the reader takes no other
        there = (proxy.hostname, proxy.port or 80) if proxy.hostname else (host, port)
        seconds = min(CONNECT_SECONDS, request.left())
        if parts.scheme == "https":
            name = self._access.tls.server_name or host
            connection: http.client.HTTPConnection = _Https(
                there, _context(self._access.tls, request.credential), name, seconds
            )
            if proxy.hostname:
                connection.set_tunnel(host, port, _proxy_headers(proxy.username, proxy.password))
        else:
            connection = http.client.HTTPConnection(*there, timeout=seconds)
        connection.response_class = _bounded(request)
        connection.connect()
        return connection


class _Response(http.client.HTTPResponse):
    """An answer, all of whose parts together come in the time that is left."""

    def __init__(self, sock: socket.socket, *rest: Any, left: Callable[[], float], **more: Any) -> None:
        super().__init__(sock, *rest, **more)
        self.fp = io.BufferedReader(_Bounded(self.fp.detach(), sock, left))


def _bounded(request: _Request) -> Any:
    """What makes the answers of this request."""
    return partial(_Response, left=request.left)


class _Bounded(io.RawIOBase):
    """Reads of a socket, each of which waits for no longer than is left."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket, left: Callable[[], float]) -> None:
        self._raw, self._sock, self._left = raw, sock, left

    def readable(self) -> bool:
        """Of a socket always."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """As of any raw stream."""
        self._sock.settimeout(self._left())
        return self._raw.readinto(buffer)

    def close(self) -> None:
        """Give the socket free."""
        self._raw.close()
        super().close()


class _Https(http.client.HTTPSConnection):
    """TLS with a name of its own to be checked (tls-server-name)."""

    def __init__(self, there: tuple[str, int], context: ssl.SSLContext, name: str, seconds: float) -> None:
        super().__init__(*there, timeout=seconds, context=context)
        self._tls, self._name = context, name

    def connect(self) -> None:
        """Connect, through the proxy if there is one, then speak TLS."""
        http.client.HTTPConnection.connect(self)
        self.sock: socket.socket = self._tls.wrap_socket(self.sock, server_hostname=self._name)


def _context(tls: Tls, credential: Credential) -> ssl.SSLContext:
    """Verification as the kubeconfig says; the system's authorities where it names none."""
    try:
        context = ssl.create_default_context(cafile=tls.authority.path or None, cadata=tls.authority.text or None)
    except (OSError, ValueError) as error:
        raise ConfigError(f"the certificate authority cannot be used: {error}") from None
    # As kubectl: authorities of older clusters lack an extension that Python's default demands from 3.13 on.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if tls.insecure:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    certificate, key = credential.certificate or tls.certificate, credential.key or tls.key
    if certificate:
        with ExitStack() as files:
            try:
                context.load_cert_chain(_file(certificate, files), _file(key, files) if key else None, password="")
            except (OSError, ValueError) as error:
                raise ConfigError(f"the client certificate cannot be used: {error}") from None
    return context


def _file(material: Material, until: ExitStack) -> str:
    """Its path; text is put into a file of the user's own, for as long as it takes to load, since ssl reads files only."""
    if not material.text:
        return material.path
    import tempfile  # noqa: PLC0415 - as slow to load as two requests, and few kubeconfigs hold a certificate of the user

    handle, path = tempfile.mkstemp()
    until.callback(os.unlink, path)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(material.text)
    return path


def _prefix(access: Access) -> str:
    """What stands before a path: the server's own, and for a proxy without a tunnel the server's address."""
    parts = urlsplit(access.server)
    return access.server if parts.scheme == "http" and access.proxy else parts.path


def _proxy_headers(name: str | None, password: str | None) -> dict[str, str]:
    if not name:
        return {}
    pair = f"{unquote(name)}:{unquote(password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(pair.encode()).decode()}"}
