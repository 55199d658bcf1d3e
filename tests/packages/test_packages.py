"""What make builds for others, tried outside this checkout: the wheel without extras, and the plugin with its interpreter."""

from __future__ import annotations

import json
import os
import re
import shutil
import tarfile
import time
import tomllib

import pytest
import yaml
from packaging.requirements import Requirement

from controlplane import ControlPlane
from gpucloud.cli.plugin.usage.commands import VERBS
from support.clientpage import PROGRAMS, SAID
from support.freshclone import Clone
from support.simcloud import API_KEY, SimCloud
from support.snippets import ROOT

pytestmark = pytest.mark.timeout(1200)  # it installs and builds everything
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    return Clone(tmp_path_factory.mktemp("clone"))


def of_the_programs():
    """The distributions that only the extras name, but for one that pydantic brings."""
    own = {Requirement(line).name for line in PROJECT["dependencies"]} | {"typing-extensions"}
    return {Requirement(line).name for lines in PROJECT["optional-dependencies"].values() for line in lines} - own


def test_the_python_client_alone_from_its_wheel(clone, tmp_path, figure):
    """Installed without extras, it lacks what the operator needs, and runs the programs of its page."""
    clone.run("make", "dist")
    (wheel,) = clone.folder.glob("dist/*.whl")
    locked = tmp_path / "locked.txt"
    locked.write_text(clone.run(clone.uv, "export", "--quiet", "--frozen", "--no-dev", "--no-emit-project", "--no-hashes"))
    python = tmp_path / "client" / "bin" / "python"
    clone.run(clone.uv, "venv", "--quiet", "--python", clone.folder / ".venv" / "bin" / "python", tmp_path / "client")
    clone.run(clone.uv, "pip", "install", "--quiet", "--python", python, "--constraints", locked, wheel)
    listed = json.loads(clone.run(clone.uv, "pip", "list", "--python", python, "--format", "json"))
    installed = {item["name"] for item in listed}
    figure(f"{len(installed)} distributions: {', '.join(sorted(installed))}")
    assert {"kopf", "aiohttp", "kubernetes"} <= of_the_programs()
    assert installed & of_the_programs() == set()
    for program, (_, said) in zip(PROGRAMS, SAID, strict=True):
        cloud = SimCloud(tmp_path, provision_seconds=0.2)
        try:
            out = clone.run(python, "-I", "-W", "error", "-c", program, GPUCLOUD_URL=cloud.url, GPUCLOUD_API_KEY=API_KEY)
            assert re.fullmatch(said, out), out
            cloud.assert_empty()
        finally:
            cloud.process.close()


def seconds(clone, *command, **env):
    """The shortest of three runs, and what the last one prints."""
    took = []
    for _ in range(3):
        began = time.monotonic()
        out = clone.run(*command, **env)
        took.append(time.monotonic() - began)
    return min(took), out


def test_the_plugin_with_its_interpreter(clone, tmp_path, figure):
    """From its archive, by the link that krew makes: it starts, explains, completes, and shows what there is."""
    clone.run("make", "plugin")
    folder, plugin = unpacked(clone, tmp_path), tmp_path / "bin" / "kubectl-gpucloud"
    figure(f"{sum(path.stat().st_size for path in folder.rglob('*')) / 2**20:.0f} MiB")
    assert (folder / "LICENSE").is_file()
    plugin.parent.mkdir()
    plugin.symlink_to(folder / "kubectl-gpucloud")
    shutil.copy(folder / "kubectl_complete-gpucloud", plugin.parent)  # as its page says; krew links one program
    for verb in VERBS:  # each is imported when it is asked for
        assert f"kubectl gpucloud {verb}" in clone.run(plugin, verb, "--help")
    with ControlPlane.start() as plane:
        env = {"KUBECONFIG": str(plane.kubeconfig), "PATH": f"{plugin.parent}{os.pathsep}{os.environ['PATH']}"}
        clone.run(plane.kubectl, "apply", "--server-side", "-f", "crds/", **env)
        assert clone.run(plane.kubectl, "__complete", "gpucloud", "sta", **env).startswith("start\nstatus\n:4\n")
        took, said = seconds(clone, plugin, "--version")
        assert PROJECT["version"] in said
        figure(f"{took:.2f} s  --version")
        assert "The cloud refuses the request" in clone.run(plugin, "explain", "rejected")
        took, said = seconds(clone, plane.kubectl, "gpucloud", "status", "-n", "default", **env)
        assert "There are no GPU cloud objects" in said
        figure(f"{took:.2f} s  kubectl gpucloud status (bar 0.3 s: {'met' if took <= 0.3 else 'missed'})")
        took, _ = seconds(clone, plane.kubectl, "get", "gpuvms", "-n", "default", **env)
        figure(f"{took:.2f} s  kubectl get gpuvms")
        assert "Kubernetes: v1." in clone.run(plugin, "version", **env)
        by_the_library = clone.run(plugin, "status", "-n", "default", "--kubeconfig", with_a_provider(plane, tmp_path))
        assert "There are no GPU cloud objects" in by_the_library


def unpacked(clone, folder):
    """What a user gets of the archive that a release makes of the folder."""
    archive, to = folder / "kubectl-gpucloud.tar.gz", folder / "unpacked"
    clone.run("tar", "--create", "--gzip", "--file", archive, "--directory", "out/plugin/kubectl-gpucloud", ".")
    with tarfile.open(archive) as tar:
        tar.extractall(to, filter="data")
    return to


def with_a_provider(plane, folder):
    """A kubeconfig that only the kubernetes library serves."""
    config = yaml.safe_load(plane.kubeconfig.read_text())
    config["users"][0]["user"]["auth-provider"] = {"name": "made-up"}
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return path
