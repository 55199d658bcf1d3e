"""What the small transport does not serve, by the ``kubernetes`` library, of which this is the only importer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import urllib3
from kubernetes import client
from kubernetes.client.exceptions import ApiException
from kubernetes.config.config_exception import ConfigException
from kubernetes.config.kube_config import ConfigNode, KubeConfigLoader
from kubernetes.stream import portforward

from gpucloud.cli.plugin.errors import PluginError
from gpucloud.cli.plugin.kube import kubeconfig
from gpucloud.cli.plugin.kube.access import CONNECT_SECONDS, Answer, ConfigError, RefusedError
from gpucloud.cli.terminal.text import cause, clean

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping

    from gpucloud.cli.plugin.kube.access import At


class LibraryWay:
    """Requests by the library's own client."""

    def __init__(self, at: At) -> None:
        settings = client.Configuration()
        settings.retries = False  # a cluster that does not answer is reported at once
        try:
            loader = _loader(at)
            loader.load_and_set(settings)
        except ConfigException as error:
            raise PluginError(
                f"the kubeconfig cannot be used ({clean(str(error)).rstrip('.')}).",
                do="Name another with --kubeconfig or --context.",
            ) from None
        self.client, context = client.ApiClient(configuration=settings), loader.current_context["context"]
        self.namespace, self.host = at.namespace or context.get("namespace") or "default", str(settings.host)
        self.impersonates = _impersonate(self.client, at)

    @property
    def authorization(self) -> str:
        """The header by which the apiserver knows the user."""
        return str((self.client.configuration.auth_settings().get("BearerToken") or {}).get("value") or "")

    def request(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str], seconds: float) -> Answer:
        """As ``Way`` says, but that the library bounds each wait for a part of the answer, not all of them together."""
        if seconds <= 0:
            raise TimeoutError("timed out")
        try:
            sent = self.client.param_serialize(
                method=method,
                resource_path=target,
                header_params=dict(headers),
                body=None if body is None else json.loads(body),
                auth_settings=["BearerToken"],
            )
            answer = self.client.call_api(*sent, _request_timeout=(min(CONNECT_SECONDS, seconds), seconds))
            return Answer(int(answer.status), bytes(answer.read()), str(answer.headers.get("Retry-After", "")))
        except (ConfigException, ApiException) as error:
            raise ConfigError(clean(str(error))) from None
        except urllib3.exceptions.HTTPError as error:
            raise ConnectionError(clean(str(getattr(error, "reason", None) or error)).rpartition(": ")[2]) from None


def forward(at: At, host: str, namespace: str, pod: str, port: int) -> socket.socket:
    """A port of a pod, forwarded by the apiserver at ``host``.

    Raises:
        ConfigError: the kubeconfig leads to another apiserver by now: its current context may change at any time.
        RefusedError: it refuses.
        ConnectionError: it does not answer.
    """
    way = LibraryWay(at)
    if way.host.rstrip("/") != host.rstrip("/"):
        raise ConfigError("it led to another cluster when this command began")
    core: Any = client.CoreV1Api(way.client)  # it bears no types
    open_port: Callable[..., Any] = portforward
    try:
        forwarded = open_port(core.connect_get_namespaced_pod_portforward, pod, namespace, ports=str(port))
        found: socket.socket = forwarded.socket(port)
    except ApiException as error:
        raise _not_forwarded(error.__context__ or error) from None
    return found


def _not_forwarded(error: BaseException) -> RefusedError | ConnectionError:
    """What the websocket's handshake failed with; the library's own text of it holds all headers of the answer."""
    status, body = getattr(error, "status_code", 0), getattr(error, "resp_body", None)
    if not status:
        return ConnectionError(cause(error))
    try:
        document = json.loads(body or b"")
    except ValueError:
        document = None
    words = document.get("message") if isinstance(document, dict) else None
    return RefusedError(int(status), clean(str(words or f"HTTP {status}")))


def _loader(at: At) -> KubeConfigLoader:
    """Of what the small reader has read, so that there is one reading.

    Of several files the library's own merging takes the last one's current-context, where kubectl takes the first one's: a
    verb would change another cluster.
    """
    merged = kubeconfig.load(kubeconfig.paths(at.kubeconfig))
    config = {section: _entries(section, getattr(merged, section)) for section in kubeconfig.SECTIONS}
    return KubeConfigLoader(config_dict=config, config_base_path=None, active_context=at.context or merged.current)


def _entries(section: str, found: Mapping[str, kubeconfig.Entry]) -> list[ConfigNode]:
    """As the library's merging makes them: each with a path in the folder that its relative paths are meant from."""
    inner = kubeconfig.INNER[section]
    return [
        ConfigNode(f"{section}[name={name}]", {"name": name, inner: dict(entry.value)}, str(entry.folder / "config"))
        for name, entry in found.items()
    ]


def _impersonate(api: client.ApiClient, at: At) -> bool:
    """Act as whom the options or the kubeconfig name. The library ignores it, and would act as somebody who may do more."""
    headers = kubeconfig.impersonation(at)
    if len(dict(headers)) < len(headers):
        raise PluginError(
            "this kubeconfig's login cannot act as a user with several groups.", do="Give one, or use another context."
        )
    for name, value in headers:
        api.set_default_header(name, value)
    return bool(headers)
