"""What make builds for others, tried outside this checkout: the wheel without extras."""

from __future__ import annotations

import json
import re
import tomllib

import pytest
from packaging.requirements import Requirement

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
            out = clone.run(python, "-I", "-W", "error", "-c", program, GPUCLOUD_ENDPOINT=cloud.url, GPUCLOUD_API_KEY=API_KEY)
            assert re.fullmatch(said, out), out
            cloud.assert_empty()
        finally:
            cloud.process.close()
