"""The values for Argo CD's own chart, as a real Helm reads them. That chart is not here: it writes what is under ``configs.cm``
into the data of argocd-cm, and so does the chart of this test.
"""

from __future__ import annotations

import yaml

import argocd
from support.chart import RELEASE

TEMPLATE = "data: {{- toYaml .Values.configs.cm | nindent 2 }}"


def test_helm_makes_of_the_values_what_the_patch_holds_and_keeps_what_else_was_set(helm, tmp_path):
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "cm.yaml").write_text(TEMPLATE)
    (tmp_path / "Chart.yaml").write_text("apiVersion: v2\nname: like-argo-cd\nversion: 0.0.1\n")
    own = {"configs": {"cm": {"url": "https://argo.example"}}}
    rendered = helm.template(tmp_path, own, RELEASE, f"--values={argocd.VALUES}")
    assert rendered.returncode == 0, rendered.stderr
    patch = yaml.safe_load(argocd.PATCH.read_text())["data"]
    assert yaml.safe_load(rendered.stdout)["data"] == {"url": "https://argo.example", **patch}
