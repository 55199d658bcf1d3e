"""The Helm chart as tests see it: rendered by a real Helm with some values, each set of values once a run."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from chartfiles.places import CHART

if TYPE_CHECKING:
    from helmcli import Helm

RELEASE = ("gpucloud", "gpucloud-system")
NAME = "gpucloud-gpucloud-operator"
MINIMAL = {"endpoints": {"default": "https://cloud.example"}, "crds": {"enabled": False}}
SIMULATED = {"endpoints": {}, "simulator": {"enabled": True}}
HOOK = "helm.sh/hook"
POD_TEMPLATES = ("Deployment", "Job")
# Everything that can be switched on, for tests that look at whatever there can be.
EVERYTHING = {
    "endpoints": {"default": "https://cloud.example", "second": "https://second.example:8443/api"},
    "defaultEndpoint": "second",
    "credentials": {"existingSecret": "cloud-account"},
    "cloudCA": {"configMap": "cloud-authority"},
    "settings": {"pollPendingSeconds": 5, "installTag": "prod1", "console": True},
    "image": {"digest": "sha256:" + "0" * 64},
    "metrics": {
        "serviceMonitor": {"enabled": True, "interval": "30s", "labels": {"release": "kps"}},
        "prometheusRule": {"enabled": True},
        "dashboard": {"enabled": True},
    },
    "networkPolicy": {"enabled": True, "apiServerCIDRs": ["192.0.2.1/32"], "cloudCIDRs": ["198.51.100.0/24"]},
    "priorityClassName": "system-cluster-critical",
    "commonLabels": {"team": "gpu"},
    "extraObjects": [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "more", "namespace": "{{ .Release.Namespace }}"}}
    ],
}


def merged(base: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """``base`` with ``more`` over it, as Helm merges; an empty map replaces."""
    result = copy.deepcopy(base)
    for key, value in more.items():
        both = isinstance(value, dict) and value and isinstance(result.get(key), dict)
        result[key] = merged(result[key], value) if both else value
    return result


@dataclass(frozen=True)
class Rendered:
    """The objects of a release, hooks among them."""

    objects: list[dict[str, Any]]

    def all(self, kind: str) -> list[dict[str, Any]]:
        return [item for item in self.objects if item["kind"] == kind]

    def one(self, kind: str, name: str = NAME) -> dict[str, Any]:
        """The object, which must exist."""
        (found,) = [item for item in self.all(kind) if item["metadata"]["name"] == name]
        return found

    def names(self) -> set[tuple[str, str]]:
        return {(item["kind"], item["metadata"]["name"]) for item in self.objects}

    @property
    def pods(self) -> dict[str, dict[str, Any]]:
        """Every pod's spec with its metadata, by the name of its component."""
        templates = [item["spec"]["template"] for item in self.objects if item["kind"] in POD_TEMPLATES]
        return {item["metadata"]["labels"]["app.kubernetes.io/component"]: item for item in [*templates, *self.all("Pod")]}

    @property
    def operator(self) -> dict[str, Any]:
        """The spec of the operator's pod."""
        return self.pods["operator"]["spec"]

    @property
    def container(self) -> dict[str, Any]:
        """The operator's container."""
        (found,) = self.operator["containers"]
        return found

    @property
    def env(self) -> dict[str, Any]:
        """The operator's environment: values, or where they come from."""
        return {item["name"]: item.get("value", item.get("valueFrom")) for item in self.container["env"]}


@dataclass
class Chart:
    """The chart of the operator, under one Helm."""

    helm: Helm
    _cache: dict[str, Rendered] = field(default_factory=dict)

    def render(self, values: dict[str, Any] | None = None, base: dict[str, Any] | None = None) -> Rendered:
        """Render with the fewest values that the chart takes, and these over them."""
        wanted = merged(MINIMAL if base is None else base, values or {})
        key = json.dumps(wanted, sort_keys=True)
        if key not in self._cache:
            done = self.helm.template(CHART, wanted, RELEASE)
            assert done.returncode == 0, done.stderr
            self._cache[key] = Rendered([item for item in yaml.safe_load_all(done.stdout) if item])
        return Rendered(copy.deepcopy(self._cache[key].objects))

    def refused(self, values: dict[str, Any], base: dict[str, Any] | None = None) -> str:
        """Render what must be refused, and return what Helm says."""
        done = self.helm.template(CHART, merged(MINIMAL if base is None else base, values), RELEASE)
        assert done.returncode != 0, f"{values} was expected to be refused"
        return done.stderr


def at(document: Any, path: str) -> Any:
    """What stands at a path (``spec.ports.0.name``; ``/`` for a dot within a key), or None."""
    for part in path.split("."):
        key = part.replace("/", ".")
        try:
            document = document[int(key)] if isinstance(document, list) else document[key]
        except (KeyError, IndexError):
            return None
    return document
