"""The one version of package, image, charts and plugin, wherever it stands."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

import yaml

from release.errors import ReleaseError

if TYPE_CHECKING:
    from pathlib import Path

CHART = "deploy/helm/gpucloud-operator"
CRD_CHART = "deploy/helm/gpucloud-operator-crds"


def told(root: Path) -> dict[str, str]:
    """Return the version by the place that tells it."""
    versions = {"pyproject.toml": tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]}
    for chart in (CHART, CRD_CHART):
        document = yaml.safe_load((root / chart / "Chart.yaml").read_text())
        versions[f"{chart}/Chart.yaml: version"] = document["version"]
        versions[f"{chart}/Chart.yaml: appVersion"] = document["appVersion"]
        for needed in document.get("dependencies", []):
            versions[f"{chart}/Chart.yaml: dependency {needed['name']}"] = needed["version"]
    stands = re.search(r"^ARG VERSION=(.+)$", (root / "Dockerfile").read_text(), re.MULTILINE)
    versions["Dockerfile: ARG VERSION"] = stands[1] if stands else "none"
    return versions


def check(root: Path, tag: str) -> str:
    """Return the version of a tag like v1.2.3.

    Raises:
        ReleaseError: it is no such tag, or something tells another version.
    """
    if not re.fullmatch(r"v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?", tag):
        raise ReleaseError(f"the tag {tag!r} is not of the form v1.2.3 or v1.2.3-rc.1")
    version = tag.removeprefix("v")
    if others := {place: found for place, found in told(root).items() if found != version}:
        raise ReleaseError(
            f"the tag {tag} does not fit: " + "; ".join(f"{place} says {found}" for place, found in others.items())
        )
    return version
