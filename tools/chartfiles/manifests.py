"""deploy/manifests: what the chart renders, for those who use kustomize or plain kubectl.

The base is the chart with its defaults; an overlay is what a few values change in it: objects that come in addition, and
patches of those that are in the base already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from chartfiles.places import CHART, MANIFESTS
from gpucloud.kinds.crd import to_yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from helmcli import Helm

RELEASE = ("gpucloud-operator", "gpucloud-system")
HOOK = "helm.sh/hook"
OF_HELM = ("helm.sh/chart", "app.kubernetes.io/managed-by")
_CRDS = {"crds": {"keep": False}}  # only Helm reads the annotation that keeps them
BASE: dict[str, Any] = {**_CRDS, "endpoints": {"default": "https://cloud.example"}}
OVERLAYS: dict[str, dict[str, Any]] = {
    "own-account": {**BASE, "credentials": {"existingSecret": "gpucloud-account"}},
    "simulator": {**_CRDS, "simulator": {"enabled": True}},
    "monitoring": {
        **BASE,
        "metrics": {
            "serviceMonitor": {"enabled": True},
            "prometheusRule": {"enabled": True},
            "dashboard": {"enabled": True},
        },
    },
}
NAMESPACE = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": RELEASE[1], "labels": {"pod-security.kubernetes.io/enforce": "restricted"}},
}
_HEADER = "# printed from the chart by `make manifests`\n"
_CRD = "CustomResourceDefinition"

Object = dict[str, Any]


class RenderError(RuntimeError):
    """Helm does not render the chart; its own words are the text."""


@dataclass(frozen=True)
class Identity:
    """What makes an object that object."""

    kind: str
    namespace: str
    name: str


def identity(item: Mapping[str, Any]) -> Identity:
    """Return whose manifest this is."""
    return Identity(item["kind"], item["metadata"].get("namespace", ""), item["metadata"]["name"])


def files(helm: Helm) -> dict[Path, str]:
    """Return every file of deploy/manifests with its text."""
    base = rendered(helm, BASE)
    crds = [item for item in base if item["kind"] == _CRD]
    operator = [item for item in base if item["kind"] != _CRD]
    printed = {
        "install.yaml": _documents([NAMESPACE, *crds, *operator]),
        "base/namespace.yaml": _documents([NAMESPACE]),
        "base/crds.yaml": _documents(crds),
        "base/operator.yaml": _documents(operator),
        "base/kustomization.yaml": _kustomization(resources=["namespace.yaml", "crds.yaml", "operator.yaml"]),
    }
    for name, values in OVERLAYS.items():
        printed |= {f"overlays/{name}/{file}": text for file, text in _overlay(base, rendered(helm, values)).items()}
    return {MANIFESTS / name: text for name, text in printed.items()}


def rendered(helm: Helm, values: Mapping[str, Any]) -> list[Object]:
    """Return what the chart renders, without its hooks and the labels that speak of Helm.

    Raises:
        RenderError: Helm refuses.
    """
    done = helm.template(CHART, values, RELEASE)
    if done.returncode != 0:
        raise RenderError(done.stderr.strip())
    items = [item for item in yaml.safe_load_all(done.stdout) if item]
    return [_without_helm(item) for item in items if HOOK not in item["metadata"].get("annotations", {})]


def _without_helm(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_helm(item) for key, item in value.items() if key not in OF_HELM}
    return [_without_helm(item) for item in value] if isinstance(value, list) else value


def _overlay(base: list[Object], wanted: list[Object]) -> dict[str, str]:
    standing = {identity(item): item for item in base}
    added = [item for item in wanted if identity(item) not in standing]
    changed = [item for item in wanted if standing.get(identity(item), item) != item]
    printed = {"added.yaml": _documents(added)} if added else {}
    patches = {f"{item['kind'].lower()}-{item['metadata']['name']}.yaml": _documents([item]) for item in changed}
    resources = ["../../base", *printed]
    return {**printed, **patches, "kustomization.yaml": _kustomization(resources, [{"path": name} for name in patches])}


def _kustomization(resources: list[str], patches: Iterable[Mapping[str, str]] = ()) -> str:
    document: Object = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": resources}
    if patches:
        document["patches"] = list(patches)
    return _documents([document])


def _documents(items: Iterable[Mapping[str, Any]]) -> str:
    return _HEADER + "".join(to_yaml(dict(item)).partition("\n")[2] for item in items)
