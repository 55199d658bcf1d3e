"""Where the chart and what is printed from it stand."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
HELM = ROOT / "deploy" / "helm"
CHART = HELM / "gpucloud-operator"
CRD_CHART = HELM / "gpucloud-operator-crds"
MANIFESTS = ROOT / "deploy" / "manifests"
VALUES, SCHEMA, README = CHART / "values.yaml", CHART / "values.schema.json", CHART / "README.md"
RULES = CHART / "files" / "rules.yaml"
