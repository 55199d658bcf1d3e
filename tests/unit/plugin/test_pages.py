"""The pages about the plugin keep up with it."""

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from gpucloud.cli.plugin.usage.commands import VERBS
from pages.plugin import page

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs" / "how-to" / "kubectl-plugin.md").read_text()


def test_the_reference_is_what_the_verbs_print():
    found = (ROOT / "docs" / "reference" / "cli.md").read_text()
    assert found == page(), "run: make crds"


@pytest.mark.parametrize("verb", VERBS)
def test_the_guide_shows_every_verb(verb):
    assert f"kubectl gpucloud {verb}" in GUIDE


def test_the_krew_manifest_names_what_the_package_installs():
    manifest = yaml.safe_load((ROOT / "deploy" / "krew" / "gpucloud.yaml").read_text())
    assert (manifest["kind"], manifest["metadata"]["name"]) == ("Plugin", "gpucloud")
    for platform in manifest["spec"]["platforms"]:
        assert platform["bin"] == "kubectl-gpucloud"


def test_the_archive_is_made_of_the_checkout_as_it_is():
    """uv takes a package that is not editable for up to date until pyproject.toml changes, whatever the code says by then."""
    make = shutil.which("make")
    said = subprocess.run([make, "--dry-run", "plugin"], cwd=ROOT, capture_output=True, text=True, check=True).stdout  # noqa: S603
    (sync,) = (line for line in said.replace("\\\n", "").splitlines() if "UV_PROJECT_ENVIRONMENT=.venv/plugin" in line)
    assert "--reinstall-package gpucloud-operator" in sync
