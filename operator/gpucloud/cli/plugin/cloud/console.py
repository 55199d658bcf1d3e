"""The operator's console as a source: read-only answers over HTTP, to whom the cluster would let see the objects themselves.

The way is a forwarded port, since the apiserver's services/proxy passes no Authorization header on. The user's own bearer
token goes to the console, which asks the apiserver whose it is and what they may do. It goes nowhere but through the forwarded
port, or to a loopback or https address that the user names.
"""

from __future__ import annotations

import http.client
import ipaddress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from pydantic import BaseModel, ValidationError

from gpucloud.cli.plugin.errors import ExitCode, PluginError, TransientError
from gpucloud.cli.plugin.kube.access import Answer, ConfigError, RefusedError, is_transient
from gpucloud.cli.plugin.kube.answers import document
from gpucloud.cli.plugin.model.objects import ACCOUNT, KINDS, VM
from gpucloud.cli.terminal.marks import paste
from gpucloud.cli.terminal.text import cause, clean
from gpucloud.engine.cloud import queries
from gpucloud.reconcile.naming import same_cluster

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping

    from gpucloud.cli.plugin.cluster import Cluster
    from gpucloud.cli.plugin.kube.client import KubeApi
    from gpucloud.cli.plugin.model.objects import Thing
    from gpucloud.cli.plugin.usage.options import CloudOptions

A = TypeVar("A", bound=BaseModel)
PORT = 8082  # the operator's own default, for a pod that names no port
PORT_NAME = "console"
SECONDS = 60.0
UNKNOWN_FORM = "the operator's console answers in a form that this plugin does not know."
UPDATE = "Update the older one."
LARGEST = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ConsoleSource:
    """Questions to the console, for one namespace and account."""

    connect: Callable[[], http.client.HTTPConnection]
    token: str
    namespace: str
    account: Thing | None

    def boot_log(self, vm: Thing, limit: int) -> str:
        """The boot log of a GpuVM."""
        found = self._get(f"{KINDS[VM].plural}/{quote(vm.key.name)}/boot-log", {"limit": str(limit)})
        return str(found.get("bootLog", ""))

    def offers(self, cluster: str) -> queries.Offers:
        """What can be bought with the account."""
        return self._read(queries.Offers, "offers", {"cluster": cluster} if cluster else {})

    def vpcs(self, cluster: str) -> frozenset[str] | None:
        """The names of the VPCs in one cluster; None where the list may lack some. The console lists all records or none."""
        found = self.records()
        vpcs = [item.name for one in found.clusters if same_cluster(one.cluster, cluster) for item in one.vpcs]
        return None if found.failures else frozenset(name for name in vpcs if name)

    def records(self, *, hosts: bool = False) -> queries.Records:
        """All that the account sees. Hosts are None by an operator that is older than the plugin, and lists none."""
        return self._read(queries.Records, "records", {queries.HOSTS: "true"} if hosts else {})

    def _read(self, model: type[A], what: str, query: dict[str, str]) -> A:
        place = f"{KINDS[ACCOUNT].plural}/{quote(self.account.key.name)}/{what}" if self.account is not None else what
        try:
            return model.model_validate(self._get(place, query))
        except ValidationError:
            raise PluginError(UNKNOWN_FORM, do=UPDATE) from None

    def _get(self, place: str, query: dict[str, str]) -> dict[str, Any]:
        path = f"/v1/namespaces/{quote(self.namespace)}/{place}" + (f"?{urlencode(query)}" if query else "")
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        try:
            connection = self.connect()
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            text = answer.read(LARGEST)
            connection.close()
        except (OSError, http.client.HTTPException) as error:
            raise TransientError(f"the operator's console does not answer ({cause(error)}).", do=HELP) from None
        found = document(text)
        if answer.status != 200:
            words = clean(str((found or {}).get("error") or f"HTTP {answer.status}"))
            refused = f"the operator's console refuses: {words}"
            if is_transient(answer.status):
                pause = Answer(answer.status, text, answer.getheader("Retry-After", "")).pause
                raise TransientError(refused, pause, do="Try again.")
            raise PluginError(refused, do=REFUSED)
        if found is None:
            raise PluginError(UNKNOWN_FORM, do=UPDATE)
        return found


REFUSED = "Do as it says, or ask the administrator of the operator."
HELP = "Check that the operator runs with --console, and, if you forward its port yourself, that it is still forwarded."
# What to do about a forward that the apiserver refuses, by status.
ADVICE = {
    401: "Log in to the cluster again.",
    403: "Ask an administrator for get and create on pods/portforward there, as deploy/console-rbac.yaml gives them.",
    404: "The pod is gone; try again.",
}


def console(here: Cluster, api: KubeApi, account: Thing | None, cloud: CloudOptions) -> ConsoleSource:
    """The way to the console.

    Raises:
        PluginError: there is none, or the kubeconfig has no token that could be shown there.
    """
    token = _token(api)
    connect = _named(cloud.console) if cloud.console else _forwarded(here, api, cloud.operator_namespace)
    return ConsoleSource(connect, token, here.namespace, account)


def _token(api: KubeApi) -> str:
    """The user's bearer token, if the kubeconfig works with one."""
    if api.impersonates:
        raise PluginError(
            "the kubeconfig or --as impersonates another user, which the operator's console refuses.", do="Use another context."
        )
    token = api.token
    if not token:
        raise PluginError(
            "your kubeconfig has no bearer token, which the operator's console needs.",
            do="Use a context with a token; or, if you may read the account's Secret, give --endpoint NAME=URL.",
        )
    return token


def _named(url: str) -> Callable[[], http.client.HTTPConnection]:
    """An address that the user gave. A token goes over no network in the clear."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    if (
        not host
        or parts.path not in {"", "/"}
        or not (parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host)))
    ):
        raise PluginError(
            f"--console: {clean(url)!r} is not the address of a console.",
            ExitCode.MISUSED,
            do="Use http://127.0.0.1:PORT or https://HOST[:PORT].",
        )
    if parts.scheme == "https":
        return lambda: http.client.HTTPSConnection(host, port, timeout=SECONDS)
    return lambda: http.client.HTTPConnection(host, port, timeout=SECONDS)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _forwarded(here: Cluster, api: KubeApi, namespace: str) -> Callable[[], http.client.HTTPConnection]:
    """A port forwarded to a running pod of the operator."""
    pods = here.operator_pods(namespace)
    if pods is None:
        raise PluginError(
            f"you may not list the pods of namespace {namespace!r}, where the operator's console is looked for.",
            do="Ask for that right (deploy/console-rbac.yaml gives it), or name another with --operator-namespace.",
        )
    running = {str(pod["metadata"]["name"]): pod for pod in pods if (pod.get("status") or {}).get("phase") == "Running"}
    if not running:
        raise PluginError(
            f"no running pod of the operator was found in namespace {namespace!r}.",
            do="Give its namespace with --operator-namespace, or forward its console's port yourself and give --console "
            "http://127.0.0.1:PORT.",
        )
    pod = _leader([*running], _holders(here, namespace))
    port = _port(running[pod])
    return lambda: _Forwarded(api, namespace, pod, port)


def _holders(here: Cluster, namespace: str) -> list[str]:
    listed = here.listed("Leases", f"/apis/coordination.k8s.io/v1/namespaces/{quote(namespace)}/leases") or ()
    return [str((item.get("spec") or {}).get("holderIdentity") or "") for item in listed]


def _leader(pods: list[str], holders: list[str]) -> str:
    """The pod that holds a Lease, since a standby knows no accounts; any, where that cannot be seen."""
    return next((pod for pod in pods if any(holder.startswith(pod) for holder in holders)), pods[0])


def _port(pod: Mapping[str, Any]) -> int:
    """The pod's own port of that name, since a value of the chart moves it."""
    containers = (pod.get("spec") or {}).get("containers") or ()
    ports = [port for container in containers for port in container.get("ports") or ()]
    return next((int(port["containerPort"]) for port in ports if port.get("name") == PORT_NAME), PORT)


class _Forwarded(http.client.HTTPConnection):
    """HTTP over the apiserver's pods/portforward."""

    def __init__(self, api: KubeApi, namespace: str, pod: str, port: int) -> None:
        super().__init__("localhost", port, timeout=SECONDS)
        self._open = partial(_forward, api, namespace, pod, port)

    def connect(self) -> None:
        """Forward the port."""
        self.sock = self._open()
        self.sock.setblocking(True)
        self.sock.settimeout(SECONDS)


def _forward(api: KubeApi, namespace: str, pod: str, port: int) -> socket.socket:
    from gpucloud.cli.plugin.kube import library  # noqa: PLC0415 - only now it is needed

    try:
        return library.forward(api.at, api.host, namespace, pod, port)
    except ConfigError as error:
        raise PluginError(f"the kubeconfig cannot be used ({error}).", do="Run the command again, with --context.") from None
    except RefusedError as error:
        look = f"Look at it: {paste(f'kubectl describe pod/{pod} --namespace={namespace}')}"
        what = f"the apiserver forwards no port of pod {pod!r} in namespace {namespace!r} ({str(error).rstrip('.')})."
        do = ADVICE.get(error.status, look)
        raise (TransientError(what, do=do) if error.is_transient else PluginError(what, do=do)) from None
