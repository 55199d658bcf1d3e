"""Calls of the apiserver: JSON in and out, and every failure as a sentence."""

from __future__ import annotations

import copy
import http.client
import json
import math
import os
import socket
import ssl
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlencode

from gpucloud.cli.plugin.errors import CHECK, ExitCode, PluginError, UnansweredError
from gpucloud.cli.plugin.kube import answers, kubeconfig
from gpucloud.cli.plugin.kube.access import Access, Answer, At, ConfigError, Material, Tls, UnservedError
from gpucloud.cli.plugin.kube.proxies import proxy_for
from gpucloud.cli.plugin.kube.transport import Transport
from gpucloud.cli.terminal.text import cause, clean, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

READ_SECONDS = 30.0
POD = Path("/var/run/secrets/kubernetes.io/serviceaccount")
ANOTHER = "Name another with --kubeconfig or --context."
RELOGIN = "Correct the kubeconfig, or log in again."
METADATA_ONLY = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
UNSENT = (ConnectionRefusedError, socket.gaierror, ssl.SSLCertVerificationError)  # no connection was made


class Way(Protocol):
    """How requests get there: by the small transport, or by the library."""

    @property
    def authorization(self) -> str:
        """The header by which the apiserver knows the user."""

    def request(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str], seconds: float) -> Answer:
        """The answer, if it is there within so many seconds; OSError, HTTPException or ConfigError when there is none."""


class KubeApi:
    """Calls over one connection."""

    def __init__(self, at: At, seconds: float = READ_SECONDS) -> None:
        self.at, self._seconds, self.until = at, seconds, math.inf
        self.host, self.namespace, self.impersonates, self._way = _connect(at)

    def within(self, seconds: float) -> KubeApi:
        """As ``Api`` says."""
        bounded = copy.copy(self)
        bounded.until = min(self.until, time.monotonic() + seconds)
        return bounded

    @property
    def token(self) -> str:
        """The user's bearer token; empty for a user who is known by something else."""
        try:
            scheme, _, token = self._way.authorization.partition(" ")
        except ConfigError as error:
            raise PluginError(f"{_no_login(self.host, error)}.", do=RELOGIN) from None
        return token if scheme.lower() == "bearer" else ""

    def call(self, method: str, path: str, query: Mapping[str, str] | None = None, body: Any = None) -> dict[str, Any]:
        """One request, as ``Api`` says."""
        found = answers.document(self._answer(method, path, query, body))
        if found is None:
            raise answers.unreadable("a JSON object")
        return found

    def metadata(self, path: str) -> dict[str, Any]:
        """One read of an object's metadata alone, as ``Api`` says."""
        found = answers.document(self._answer("GET", path, None, None, METADATA_ONLY))
        if found is None:
            raise answers.unreadable("a JSON object")
        return found

    def text(self, path: str, query: Mapping[str, str] | None = None) -> str:
        """One read that is answered with plain text, as ``Api`` says."""
        return self._answer("GET", path, query, None).decode(errors="replace")

    def _answer(
        self, method: str, path: str, query: Mapping[str, str] | None, body: Any, accept: str = "application/json"
    ) -> bytes:
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        target = f"{path}?{urlencode(query)}" if query else path
        sent = None if body is None else json.dumps(body).encode()
        headers = {"Accept": accept, "User-Agent": "kubectl-gpucloud"} | ({"Content-Type": kind} if sent else {})
        try:
            answer = self._way.request(method, target, sent, headers, min(self._seconds, self.until - time.monotonic()))
        except ConfigError as error:
            raise UnansweredError(_no_login(self.host, error), do=RELOGIN, sent=False) from None
        except (OSError, http.client.HTTPException) as error:
            why = f"the cluster at {self.host} does not answer ({cause(error)})"
            raise UnansweredError(why, do=CHECK, sent=not isinstance(error, UNSENT)) from None
        if not 200 <= answer.status < 300:
            raise answers.refused(answer)
        return answer.text


def contexts(path: Path | None) -> list[str]:
    """The names of the contexts, for completion."""
    return sorted(kubeconfig.load(kubeconfig.paths(path)).contexts)


def _connect(at: At) -> tuple[str, str, bool, Way]:
    """The server, the namespace, whether another user is acted as, and the way there."""
    if at.as_groups and not at.as_user:
        raise PluginError("--as-group needs --as.", ExitCode.MISUSED, do="Name the user to act as, too.")
    for option, word in (("--as", at.as_user or ""), *(("--as-group", group) for group in at.as_groups)):
        if kubeconfig.is_no_header(word):
            what = f"{option}: {printable(word)!r} has a control character."
            raise PluginError(what, ExitCode.MISUSED, do="Name one without.")
    try:
        access = _access(at)
    except ConfigError as error:
        words = clean(str(error)).rstrip(".")
        raise PluginError(f"the kubeconfig cannot be used ({words}).", do=ANOTHER) from None
    except UnservedError:
        from gpucloud.cli.plugin.kube import library  # noqa: PLC0415 - half a second to load, for few kubeconfigs

        way = library.LibraryWay(at)
        return way.host, way.namespace, way.impersonates, way
    return access.server, access.namespace, bool(access.impersonate), Transport(access)


def _access(at: At) -> Access:
    files = kubeconfig.paths(at.kubeconfig)
    if at.kubeconfig is not None and not at.kubeconfig.is_file():
        raise PluginError(
            f"--kubeconfig: there is no file {at.kubeconfig}.",
            ExitCode.MISUSED,
            do="Name one that exists, or leave the option out.",
        )
    if any(path.is_file() for path in files):
        access = kubeconfig.access(kubeconfig.load(files), at.context, at.namespace)
    elif at.kubeconfig is None and at.context is None and (POD / "token").is_file():
        access = _of_pod(at)
    else:
        raise _missing(files)
    return replace(access, impersonate=kubeconfig.impersonation(at)) if at.as_user else access


def _of_pod(at: At) -> Access:
    """The service account's own way, inside a pod."""
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST", ""), os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    if not host:
        raise ConfigError("KUBERNETES_SERVICE_HOST is not set in this pod")
    server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    return Access(
        server=server,
        namespace=at.namespace or (POD / "namespace").read_text(encoding="utf-8").strip(),
        tls=Tls(authority=Material(path=str(POD / "ca.crt"))),
        token_file=str(POD / "token"),
        proxy=proxy_for(server),
    )


def _missing(files: tuple[Path, ...]) -> PluginError:
    named = os.environ.get("KUBECONFIG")
    said = f"KUBECONFIG names {clean(named)}, which does not exist" if named else f"there is no kubeconfig {files[0]}"
    set_it = "Set KUBECONFIG to your kubeconfig, or name it with --kubeconfig."
    return PluginError(f"{said}.", ExitCode.MISUSED, do=set_it)


def _no_login(host: str, error: Exception) -> str:
    return f"cannot log in to the cluster at {host}: {clean(str(error)).rstrip('.')}"
