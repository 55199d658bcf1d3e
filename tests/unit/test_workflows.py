"""The workflows: what others wrote is pinned, rights are least, and all that they call upon exists."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
HERE = "$/.github/workflows/"
# The jobs that may write anywhere, and what.
WRITES = {
    ("scorecard.yml", "scorecard"): {"id-token"},
    ("release.yml", "image"): {"packages", "id-token", "attestations"},
    ("release.yml", "chart"): {"packages", "id-token"},
    ("release.yml", "pypi"): {"id-token"},
    ("release.yml", "publish"): {"contents", "id-token", "attestations"},
    ("release.yml", "site"): {"contents"},
}


def parsed(file):
    return yaml.safe_load(file.read_text())


def jobs():
    return [(file.name, name, job) for file in FILES for name, job in parsed(file)["jobs"].items()]


def commands(job):
    return "\n".join(step.get("run", "") for step in job.get("steps", []))


def test_there_are_workflows():
    assert {file.name for file in FILES} == {"ci.yml", "release.yml", "scorecard.yml"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_whatever_others_wrote_is_pinned_by_its_commit_with_its_version(file):
    used = re.findall(r"uses: (.+)$", file.read_text(), re.MULTILINE)
    assert used
    assert [words for words in used if not PINNED.fullmatch(words) and not words.startswith(HERE)] == []
    images = re.findall(r"(?:image|generator)=(\S+:\S+)", file.read_text())
    assert [image for image in images if not re.search(r"@sha256:[0-9a-f]{64}$", image)] == []


def test_one_pin_for_each_action():
    pins = {words.partition("@")[::2] for file in FILES for words in re.findall(r"uses: (.+)$", file.read_text(), re.MULTILINE)}
    names = [name for name, _ in pins]
    assert sorted(names) == sorted(set(names))


def test_rights_are_none_and_then_least():
    assert all(parsed(file)["permissions"] == {} for file in FILES)
    granted = {
        (file, name): {right for right, level in job["permissions"].items() if level == "write"} for file, name, job in jobs()
    }
    assert {where: rights for where, rights in granted.items() if rights} == WRITES


def test_nothing_is_published_before_the_suite_has_passed():
    release = parsed(ROOT / ".github" / "workflows" / "release.yml")["jobs"]

    def before(name):
        needed = release[name].get("needs", [])
        direct = {needed} if isinstance(needed, str) else set(needed)
        return direct.union(*(before(other) for other in direct))

    assert release["tests"]["uses"].startswith(HERE)
    assert [name for name in release if name not in {"version", "tests"} and not {"version", "tests"} <= before(name)] == []


def test_what_they_call_upon_exists():
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for _, name, job in jobs():
        text = commands(job)
        assert set(re.findall(r"^\s*make (\S+)$", text, re.MULTILINE)) <= targets, name
        modules = re.findall(r"python -m (\w+)", text)
        assert [module for module in modules if not (ROOT / "tools" / module / "__main__.py").is_file()] == [], name
        scripts = re.findall(r"^(\.ci/\S+|deploy/\S+\.sh)", text, re.MULTILINE)
        assert [script for script in scripts if not (ROOT / script).stat().st_mode & 0o100] == [], name


def test_krew_gets_an_archive_from_each_machine_that_makes_one():
    release = parsed(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    made = {entry["platform"] for entry in release["plugin"]["strategy"]["matrix"]["include"]}
    platforms = yaml.safe_load((ROOT / "deploy" / "krew" / "gpucloud.yaml").read_text())["spec"]["platforms"]
    assert {re.search(r"_(\w+)\.tar\.gz$", entry["uri"])[1] for entry in platforms} == made


def test_zizmor_finds_nothing():
    command = [str(Path(sys.executable).with_name("zizmor")), "--offline", "--no-progress", str(ROOT / ".github" / "workflows")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - a linter of the lock file
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("script", sorted((ROOT / "deploy").rglob("*.sh")), ids=lambda path: path.name)
def test_scripts_are_bash(script):
    done = subprocess.run(["bash", "-n", str(script)], capture_output=True, text=True, check=False)  # noqa: S603, S607
    assert (done.returncode, done.stderr) == (0, "")
    assert "set -euo pipefail" in script.read_text()
