"""A pod of our chart as what a process is started with: its arguments and its environment. Pure.

What the runner does not do stands in two lists: fields that it may pass over, each with the reason, and all the others, which
it refuses. So a chart that asks for more is not run as if it had not asked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

IMAGE = "gpucloud-operator"
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
OBEYED = {
    "pod": {"containers", "volumes", "serviceAccountName", "restartPolicy", "terminationGracePeriodSeconds"},
    "container": {
        *("name", "image", "args", "env", "ports", "volumeMounts", "livenessProbe", "readinessProbe"),
        "terminationMessagePolicy",
    },
    "mount": {"name", "mountPath"},
}
PASSED_OVER = {
    "pod": {
        "automountServiceAccountToken": "admission has made a volume of it",
        "serviceAccount": "the old name of serviceAccountName",
        "enableServiceLinks": "no such variables are made",
        "nodeName": "there is one machine",
        "nodeSelector": "there is one machine",
        "tolerations": "there is one machine",
        "affinity": "there is one machine",
        "topologySpreadConstraints": "there is one machine",
        "schedulerName": "there is no scheduler",
        "priority": "nothing is ever evicted",
        "priorityClassName": "nothing is ever evicted",
        "preemptionPolicy": "nothing is ever evicted",
        "dnsPolicy": "names of Services are replaced by addresses",
        "securityContext": "the apiserver's admission judges it; the process runs as whoever runs the tests",
        "imagePullSecrets": "nothing is pulled",
    },
    "container": {
        "imagePullPolicy": "nothing is pulled",
        "resources": "no limits are set",
        "securityContext": "the apiserver's admission judges it; nothing is taken from the process",
        "terminationMessagePath": "the product writes no such file",
    },
    "mount": {"readOnly": "whoever runs the tests may write", "recursiveReadOnly": "the same"},
}
_EVERYWHERE = re.compile(r"(?<![\w.])0\.0\.0\.0(?![\w.])")
_SERVICE = re.compile(r"(?<![\w.-])([a-z0-9-]+)\.([a-z0-9-]+)\.svc(?:\.cluster\.local)?(?![\w.-])")


class NotRunnableError(Exception):
    """The pod asks for what the runner does not do."""


class NotYetError(Exception):
    """The pod waits for something that may come: a Secret, the pod behind a Service."""


@dataclass(frozen=True)
class Place:
    """Where a pod is: an address of its own on loopback, and a folder for its volumes."""

    address: str
    folder: Path

    def volume(self, name: str) -> Path:
        """The folder of a volume."""
        return self.folder / "volumes" / name


@dataclass(frozen=True)
class Start:
    """What a process is started with."""

    args: tuple[str, ...]
    env: dict[str, str]


def container_of(pod: dict[str, Any]) -> dict[str, Any]:
    """The pod's only container.

    Raises:
        NotRunnableError: there are more, or something is asked for that would not be done.
    """
    spec = pod["spec"]
    _check("pod", spec)
    if len(spec["containers"]) != 1:
        raise NotRunnableError("The pod has several containers.")
    (container,) = spec["containers"]
    _check("container", container)
    for mount in container.get("volumeMounts", []):
        _check("mount", mount)
    return dict(container)


def find_image(container: dict[str, Any]) -> None:
    """Look for the image: there is only the product's, and whatever its version, what is started is this checkout.

    Raises:
        NotYetError: it is another.
    """
    if container["image"].partition("@")[0].rpartition("/")[2].partition(":")[0] != IMAGE:
        raise NotYetError(f"There is no image {container['image']} here.")


def start_of(container: dict[str, Any], place: Place, env: Mapping[str, str], addresses: Mapping[str, str]) -> Start:
    """Arguments and environment, with paths, addresses and names of Services as they are on this machine.

    Args:
        container: the pod's container.
        place: where the pod is.
        env: what its variables say, see ``support.podrunner.volumes``.
        addresses: the address behind each Service that is named, by ``name.namespace``.
    """
    mounts = {item["mountPath"]: str(place.volume(item["name"])) for item in container.get("volumeMounts", [])}

    longest_first = "|".join(re.escape(path) for path in sorted(mounts, key=len, reverse=True))
    mounted = re.compile(rf"(?<![\w./-])(?:{longest_first or '(?!)'})(?![\w.-])")

    def here(text: str) -> str:
        text = _EVERYWHERE.sub(place.address, text)
        text = _SERVICE.sub(lambda found: addresses[f"{found[1]}.{found[2]}"], text)
        return mounted.sub(lambda found: mounts[found[0]], text)

    variables = {name: here(value) for name, value in env.items()}
    if "/tmp" in mounts:  # noqa: S108  # the mount, by its name
        variables["TMPDIR"] = mounts["/tmp"]  # noqa: S108
    if ACCOUNT in mounts:
        variables["KUBECONFIG"] = str(place.folder / "kubeconfig")
    return Start(tuple(here(word) for word in container["args"]), variables)


def named_services(words: Iterable[str]) -> set[str]:
    """The Services that these words name, as ``name.namespace``."""
    return {f"{found[1]}.{found[2]}" for word in words for found in _SERVICE.finditer(word)}


def behind(service: dict[str, Any], pods: Iterable[dict[str, Any]]) -> str | None:
    """The uid of the newest living pod that a Service selects. A Service that changes ports cannot be stood for.

    Raises:
        NotRunnableError: its port is not the pod's.
    """
    wanted, namespace = service["spec"]["selector"].items(), service["metadata"]["namespace"]
    found = [
        pod
        for pod in pods
        if pod["metadata"]["namespace"] == namespace
        and "deletionTimestamp" not in pod["metadata"]
        and wanted <= pod["metadata"].get("labels", {}).items()
    ]
    if not found:
        return None
    newest = max(found, key=lambda pod: str(pod["metadata"]["creationTimestamp"]))
    for port in service["spec"]["ports"]:
        if port_number(newest["spec"]["containers"][0], port["targetPort"]) != port["port"]:
            raise NotRunnableError(f"The Service {service['metadata']['name']} maps port {port['port']} to another.")
    return str(newest["metadata"]["uid"])


def port_number(container: dict[str, Any], port: int | str) -> int:
    """A port of a container, by number or by name."""
    if isinstance(port, int):
        return port
    (found,) = [item["containerPort"] for item in container["ports"] if item["name"] == port]
    return int(found)


def _check(what: str, fields: dict[str, Any]) -> None:
    unknown = set(fields) - OBEYED[what] - set(PASSED_OVER[what])
    if unknown:
        raise NotRunnableError(f"The runner does not know these fields of a {what}: {', '.join(sorted(unknown))}.")
