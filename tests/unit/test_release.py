"""What a release fills in, and what it refuses."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest
import yaml

from helmcli import Helm, obtain_helm
from release import chart, krew, versions
from release.errors import ReleaseError

ROOT = Path(__file__).parents[2]
DIGEST = "sha256:" + "ab" * 32
REPOSITORY = "ghcr.io/somebody/gpucloud-operator"
TEMPLATE = (ROOT / krew.MANIFEST).read_text()
ARCHIVES = ("linux_amd64", "linux_arm64", "darwin_arm64")


def test_all_that_tells_a_version_tells_the_same():
    told = versions.told(ROOT)
    assert len(told) == 7
    assert len(set(told.values())) == 1, told
    (version,) = set(told.values())
    assert versions.check(ROOT, f"v{version}") == version


@pytest.mark.parametrize(
    ("tag", "said", "reason"),
    [
        ("0.1.0", "not of the form", "without its v a tag starts no release"),
        ("v1", "not of the form", "a tag of a whole line of versions"),
        ("v0.1.0 && ls", "not of the form", "not a tag at all"),
        ("v9.9.9", "pyproject.toml says", "a version that nothing tells"),
    ],
)
def test_a_tag_that_does_not_fit_is_refused(tag, said, reason):  # noqa: ARG001  # for the reader
    with pytest.raises(ReleaseError, match=said):
        versions.check(ROOT, tag)


def test_the_published_chart_runs_the_image_of_the_release(tmp_path):
    charts = chart.pin(ROOT, tmp_path, REPOSITORY, DIGEST)
    assert [path.name for path in charts] == ["gpucloud-operator", "gpucloud-operator-crds"]
    helm = Helm(obtain_helm(os.environ), tmp_path / "home")
    done = helm.template(charts[0], {"simulator": {"enabled": True}}, ("gpucloud", "gpucloud-system"))
    assert done.returncode == 0, done.stderr
    objects = [document for document in yaml.safe_load_all(done.stdout) if document]
    specs = [item["spec"] if item["kind"] == "Pod" else item["spec"]["template"]["spec"] for item in objects if runs(item)]
    images = {container["image"] for spec in specs for container in spec["containers"]}
    assert len(specs) >= 4, "operator, simulator, test and guard"
    assert images == {f"{REPOSITORY}@{DIGEST}"}
    assert "registry.example" not in (charts[0] / "Chart.yaml").read_text()


def runs(item):
    return item["kind"] in {"Deployment", "Job", "Pod"}


def test_a_chart_of_another_form_is_refused(tmp_path):
    with pytest.raises(ReleaseError, match="not a digest"):
        chart.pin(ROOT, tmp_path / "a", REPOSITORY, "sha256:short")
    other = tmp_path / "other"
    for name in (versions.CHART, versions.CRD_CHART):
        shutil.copytree(ROOT / name, other / name)
    values = other / versions.CHART / "values.yaml"
    values.write_text(values.read_text().replace('  digest: ""', "  digest:"))
    with pytest.raises(ReleaseError, match="0 times"):
        chart.pin(other, tmp_path / "b", REPOSITORY, DIGEST)


@pytest.fixture
def archives(tmp_path):
    for platform in ARCHIVES:
        (tmp_path / f"kubectl-gpucloud_{platform}.tar.gz").write_text(platform)
    return tmp_path


def test_krews_manifest_is_filled_in(archives):
    made = yaml.safe_load(krew.manifest(TEMPLATE, "1.2.3", "https://releases.example/v1.2.3", archives))
    assert made["spec"]["version"] == "v1.2.3"
    assert {entry["uri"]: entry["sha256"] for entry in made["spec"]["platforms"]} == {
        f"https://releases.example/v1.2.3/kubectl-gpucloud_{name}.tar.gz": hashlib.sha256(name.encode()).hexdigest()
        for name in ARCHIVES
    }
    template = yaml.safe_load(TEMPLATE)
    assert made["apiVersion"] == template["apiVersion"], "only those are changed"
    assert made["spec"]["description"] == template["spec"]["description"]
    assert [entry["bin"] for entry in made["spec"]["platforms"]] == [entry["bin"] for entry in template["spec"]["platforms"]]


def test_an_archive_too_few_or_too_many_is_refused(archives):
    extra = archives / "kubectl-gpucloud_plan9_amd64.tar.gz"
    extra.write_text("")
    with pytest.raises(ReleaseError, match="plan9"):
        krew.manifest(TEMPLATE, "1.2.3", "https://releases.example", archives)
    extra.unlink()
    (archives / "kubectl-gpucloud_linux_arm64.tar.gz").unlink()
    with pytest.raises(ReleaseError, match="linux_arm64"):
        krew.manifest(TEMPLATE, "1.2.3", "https://releases.example", archives)
