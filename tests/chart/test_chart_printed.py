"""What is printed from the chart and the models is as it would be printed today; kustomize makes of it what Helm does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from chartfiles import manifests
from chartfiles.__main__ import chart_files, left_over
from chartfiles.places import CRD_CHART, MANIFESTS, ROOT, VALUES
from chartfiles.values import read_values
from controlplane.obtain import obtain_kubectl
from printed import stale
from support.kubectl import Kubectl

OVERLAYS = {"base": manifests.BASE, **{f"overlays/{name}": values for name, values in manifests.OVERLAYS.items()}}


@pytest.fixture(scope="module")
def printed(helm):
    return manifests.files(helm)


@pytest.fixture(scope="module")
def kubectl(tmp_path_factory):
    """kubectl without a cluster."""
    return Kubectl(obtain_kubectl({}), tmp_path_factory.mktemp("kubectl") / "no-cluster")


def by_identity(items):
    return {manifests.identity(item): item for item in items if item}


def test_the_charts_printed_files_are_fresh():
    assert stale(chart_files()) == [], "run `make chart`"


def test_the_manifests_are_fresh(printed):
    assert stale(printed) == [], "run `make manifests`"
    assert left_over(printed) == [], "nothing prints these"


def test_the_charts_definitions_are_fresh():
    originals = {path.name: path.read_text() for path in (ROOT / "crds").glob("*.yaml")}
    copies = {path.name: path.read_text() for path in (CRD_CHART / "files" / "crds").glob("*.yaml")}
    assert copies == originals, "run `make crds`"


@pytest.mark.parametrize(("folder", "values"), OVERLAYS.items(), ids=OVERLAYS)
def test_kustomize_makes_what_helm_makes(helm, kubectl, folder, values):
    built = by_identity(yaml.safe_load_all(kubectl.ok("kustomize", str(MANIFESTS / folder))))
    namespace = manifests.identity(manifests.NAMESPACE)
    assert built.pop(namespace) == manifests.NAMESPACE
    assert built == by_identity(manifests.rendered(helm, values))


def test_one_file_installs_what_the_base_does(kubectl):
    whole = by_identity(yaml.safe_load_all((MANIFESTS / "install.yaml").read_text()))
    assert whole == by_identity(yaml.safe_load_all(kubectl.ok("kustomize", str(MANIFESTS / "base"))))
    assert next(iter(whole)).kind == "Namespace", "the namespace comes first, so that one apply does"


def test_nothing_of_helm_is_left_in_the_manifests(printed):
    for path, text in printed.items():
        assert not re.findall(r"helm\.sh|managed-by", text), path.name


def test_every_value_is_described():
    text = VALUES.read_text()
    described = read_values(text)
    top = yaml.safe_load(text)
    assert set(top) <= set(described)
    assert all(value.description.endswith((".", ":", "]")) or "(" in value.description for value in described.values())


def test_comments_are_read_as_people_read_them():
    text = "# ---- Part ----\n\n# Outer.\nouter:\n  # Inner, in\n  # two lines.\n  inner: 1\n  plain: 2\n\n# Last.\nlast: []\n"
    found = read_values(text)
    assert {path: (value.default, value.description) for path, value in found.items()} == {
        "outer": ({"inner": 1, "plain": 2}, "Outer."),
        "outer.inner": (1, "Inner, in two lines."),
        "last": ([], "Last."),
    }


def test_the_readme_installs_what_is_here():
    """The paths that the documents name exist."""
    for page in (ROOT / "docs" / "how-to" / "install-with-helm.md", VALUES.parent / "README.md"):
        for path in re.findall(r"\bdeploy/(?:helm|manifests)/[\w./-]*\w", page.read_text()):
            assert Path(ROOT / path).exists(), f"{page.name}: {path}"
