"""``make argocd``: Argo CD's scripts for our kinds, from the folder in its own layout into the settings that it reads.

``deploy/argocd/resource_customizations`` is the source, and can be offered to Argo CD as it is. Beside it the scripts stand as
a kustomize patch of the ConfigMap argocd-cm, and as values of Argo CD's own Helm chart, which writes that ConfigMap. Our
chart does not: the ConfigMap is not ours, and Argo CD reads no other.
"""

from __future__ import annotations

from pathlib import Path

import yaml

FOLDER = Path(__file__).parents[1] / "deploy" / "argocd"
PATCH = FOLDER / "argocd-cm-patch.yaml"
VALUES = FOLDER / "argo-cd-values.yaml"


def settings() -> dict[str, str]:
    """The keys of argocd-cm, one a kind and purpose: Argo CD reads no wildcard there."""
    found: dict[str, str] = {}
    for health in sorted(FOLDER.glob("resource_customizations/*/*/health.lua")):
        kind = health.parent
        name = f"{kind.parent.name}_{kind.name}"
        found[f"resource.customizations.health.{name}"] = health.read_text()
        if (kind / "actions" / "discovery.lua").exists():
            found[f"resource.customizations.actions.{name}"] = _actions(kind / "actions")
    return found


def patch() -> str:
    """The kustomize patch."""
    meta = {"name": "argocd-cm", "labels": {"app.kubernetes.io/name": "argocd-cm", "app.kubernetes.io/part-of": "argocd"}}
    return _yaml({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": settings()})


def values() -> str:
    """The values of Argo CD's chart, to be given beside one's own: Helm merges them key by key."""
    return _yaml({"configs": {"cm": settings()}})


def _actions(folder: Path) -> str:
    definitions = [
        {"name": script.parent.name, "action.lua": script.read_text()} for script in sorted(folder.glob("*/action.lua"))
    ]
    return _yaml({"discovery.lua": (folder / "discovery.lua").read_text(), "definitions": definitions})


class _Dumper(yaml.SafeDumper):
    """Scripts as blocks, so that people can read them."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def _yaml(document: object) -> str:
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=1000)


if __name__ == "__main__":
    PATCH.write_text(patch())
    VALUES.write_text(values())
