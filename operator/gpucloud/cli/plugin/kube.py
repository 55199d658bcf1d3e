"""The way to the apiserver: the user's own kubeconfig and rights, JSON in and out. The only importer of ``kubernetes``."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import urllib3
from kubernetes import client, config
from kubernetes.client.exceptions import ApiException
from kubernetes.config.config_exception import ConfigException
from kubernetes.config.kube_config import KubeConfigLoader, KubeConfigMerger

from gpucloud.cli.plugin.errors import ExitCode, PluginError, UnansweredError
from gpucloud.cli.plugin.objects import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

CONNECT_SECONDS, READ_SECONDS = 5.0, 30.0
FIELD_MANAGER = "kubectl-gpucloud"
SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


class RefusedError(Exception):
    """The apiserver answered with an error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Api(Protocol):
    """What the verbs need of a way to the apiserver; the tests have one without a server."""

    namespace: str

    def call(self, method: str, path: str, query: Mapping[str, str] | None = None, body: Any = None) -> dict[str, Any]:
        """One request.

        Raises:
            RefusedError: it was answered with an error.
            UnansweredError: it was not answered.
        """


@dataclass(frozen=True, slots=True)
class At:
    """Which cluster, and as whom: what the options say."""

    kubeconfig: Path | None = None
    context: str | None = None
    namespace: str | None = None


class KubeApi:
    """Calls over one connection."""

    def __init__(self, at: At, seconds: float = READ_SECONDS) -> None:
        self._timeouts = (CONNECT_SECONDS, seconds)
        self.client, self.namespace = _connect(at)

    def call(self, method: str, path: str, query: Mapping[str, str] | None = None, body: Any = None) -> dict[str, Any]:
        """One request, as ``Api`` says."""
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        try:
            request = self.client.param_serialize(
                method=method,
                resource_path=path,
                query_params=list((query or {}).items()),
                header_params={"Accept": "application/json", "Content-Type": kind},
                body=body,
                auth_settings=["BearerToken"],
            )
            answer = self.client.call_api(*request, _request_timeout=self._timeouts)
            text = answer.read()
        except (ApiException, urllib3.exceptions.HTTPError, OSError, ConfigException) as error:
            host = self.client.configuration.host
            raise UnansweredError(f"the cluster at {host} does not answer ({_first_cause(error)}): {CHECK}") from None
        document = _parsed(text)
        if not 200 <= answer.status < 300:
            raise RefusedError(answer.status, clean(str(document.get("message") or f"HTTP {answer.status}")))
        return document


CHECK = "check --context, --kubeconfig and your network, then try again."


def contexts(kubeconfig: Path | None) -> list[str]:
    """The names of the contexts, for completion."""
    return [item["name"] for item in _loader(At(kubeconfig))[0].list_contexts()]


def _connect(at: At) -> tuple[client.ApiClient, str]:
    if at.kubeconfig is not None and not at.kubeconfig.is_file():
        raise PluginError(f"--kubeconfig: there is no file {at.kubeconfig}.", ExitCode.MISUSED)
    settings = client.Configuration()
    settings.retries = False  # a cluster that is not there is told at once
    try:
        loader, users = _loader(at)
        loader.load_and_set(settings)
    except ConfigException as error:
        if at.kubeconfig is None and at.context is None and SERVICE_ACCOUNT.is_file():
            return _in_pod(at)
        if nowhere := _missing(at):
            raise PluginError(nowhere, ExitCode.MISUSED) from None
        words = clean(str(error)).rstrip(".")
        raise PluginError(f"the kubeconfig cannot be used ({words}): name another with --kubeconfig or --context.") from None
    api = client.ApiClient(configuration=settings)
    context = loader.current_context["context"]
    _impersonate(api, users.get_with_name(context["user"], safe=True) if context.get("user") else None)
    return api, at.namespace or context.get("namespace") or "default"


def _missing(at: At) -> str:
    """Why there is no kubeconfig, and what to do; empty if there is one."""
    named = at.kubeconfig is None and os.environ.get("KUBECONFIG")
    files = [Path(path) for path in named.split(os.pathsep) if path] if named else [at.kubeconfig or _home()]
    if any(path.is_file() for path in files):
        return ""
    said = f"KUBECONFIG names {clean(named)}, which does not exist" if named else f"there is no kubeconfig {files[0]}"
    return f"{said}: set KUBECONFIG to your kubeconfig, or name it with --kubeconfig."


def _loader(at: At) -> tuple[KubeConfigLoader, Any]:
    """The kubeconfig, and the users in it."""
    merged = KubeConfigMerger(str(at.kubeconfig or os.environ.get("KUBECONFIG") or _home()))
    if merged.config is None:
        raise ConfigException("there is none")
    loader = KubeConfigLoader(config_dict=merged.config, config_base_path=None, active_context=at.context)
    return loader, merged.config.safe_get("users") and merged.config["users"]


def _home() -> Path:
    return Path.home() / ".kube" / "config"


def _impersonate(api: client.ApiClient, entry: Any) -> None:
    """Act as whom the kubeconfig says. The library ignores it, and would act as somebody who may do more."""
    user = {} if entry is None else dict(entry.value.get("user") or {})
    if not user.get("as"):
        return
    groups = user.get("as-groups") or []
    if len(groups) > 1 or user.get("as-user-extra") or user.get("as-uid"):
        raise PluginError("the kubeconfig acts as another user with more than a name and one group: use another context.")
    api.set_default_header("Impersonate-User", user["as"])
    for group in groups:
        api.set_default_header("Impersonate-Group", group)


def _in_pod(at: At) -> tuple[client.ApiClient, str]:
    settings = client.Configuration()
    config.load_incluster_config(client_configuration=settings)
    return client.ApiClient(configuration=settings), at.namespace or SERVICE_ACCOUNT.read_text(encoding="utf-8").strip()


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _first_cause(error: BaseException) -> str:
    reason = getattr(error, "reason", None)
    return clean(str(reason or error)).rpartition(": ")[2]
