"""The Dockerfile and what stands beside it: clean, pinned, of one version with the rest, for both architectures."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from image import build, debian, programs
from image.errors import ImageError

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SERVED = re.search(r"^SERVED := (.+?) #", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
EXTRAS = SERVED.split()
PACKAGE = ROOT / "operator" / "gpucloud"
UV = shutil.which("uv") or str(ROOT / ".uv" / "bin" / "uv")


def argument(name):
    return re.search(rf"^ARG {name}=(.+)$", DOCKERFILE, re.MULTILINE)[1]


def test_hadolint_has_nothing_to_say():
    command = [str(Path(sys.executable).with_name("hadolint")), "--no-color", str(ROOT / "Dockerfile")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - a linter of the lock file
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.parametrize("base", ["BUILD_BASE", "BASE"])
def test_the_bases_are_pinned_by_digest(base):
    assert re.fullmatch(r"[a-z.]+/\S+:[^\s@]+@sha256:[0-9a-f]{64}", argument(base))


def test_no_other_image_is_used():
    assert set(re.findall(r"^FROM (?:--platform=\S+ )?(\S+)", DOCKERFILE, re.MULTILINE)) == {"${BUILD_BASE}", "${BASE}"}
    assert set(re.findall(r"--from=(\S+)", DOCKERFILE)) == {"build"}


def test_both_bases_have_one_python_and_ours_in_place_of_them_too():
    (of_build,) = re.findall(r"python:(3\.\d+)-", argument("BUILD_BASE"))
    assert f"python{of_build}" == debian.PYTHON
    assert f"slim-{debian.RELEASE}@" in argument("BUILD_BASE")
    assert "distroless/python3-debian13:" in argument("BASE"), "Debian 13 is trixie, and its Python is 3.13"


def test_one_version_of_what_builds():
    makefile = (ROOT / "Makefile").read_text()
    uv = re.search(r"^UV_VERSION := (.+)$", makefile, re.MULTILINE)[1]
    assert f"\nuv=={uv} \\\n" in (ROOT / "deploy" / "image" / "uv.txt").read_text()
    assert PROJECT["dependency-groups"]["build"] == PROJECT["build-system"]["requires"]
    assert argument("VERSION") == PROJECT["project"]["version"]


def test_the_image_and_its_bill_of_materials_are_of_the_same_extras():
    assert EXTRAS == ["--extra", "operator", "--extra", "sim", "--extra", "otel"]
    assert re.findall(r"uv export \S+ \S+ --no-dev (.+?) --no-emit-project", DOCKERFILE) == [SERVED]


def test_the_image_has_the_extras_that_settings_of_the_chart_need():
    """Nobody can install anything in a pod: there is no pip, and the root is read-only."""
    schema = json.loads((ROOT / "deploy" / "helm" / "gpucloud-operator" / "values.schema.json").read_text())
    settings = schema["properties"]["settings"]["properties"]
    said = re.compile(r"needs the extra `(\w+)`, which the image has")
    needed = {name: said.findall(one.get("description", "")) for name, one in settings.items()}
    assert needed["tracing"] == ["otel"]
    asked = {name: extra for name, extras in needed.items() for extra in extras if extra not in EXTRAS}
    assert asked == {}
    source = "".join(file.read_text() for file in [PACKAGE / "app.py", *(PACKAGE / "engine").rglob("*.py")])
    told = set(re.findall(r"Install the extra (\w+)", source))
    assert told == {extra for extras in needed.values() for extra in extras}, "the settings say what the messages ask for"


def test_the_context_is_a_list_of_what_is_needed():
    lines = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    assert lines[0] == "*"
    shown = {line.removeprefix("!") for line in lines if line.startswith("!")}
    copied = {word for line in re.findall(r"^COPY (?!--)(.+) \S+$", DOCKERFILE, re.MULTILINE) for word in line.split()}
    assert shown == copied


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_locked_package_has_a_wheel_for_each_architecture(machine):
    """The image is made for both without emulation and without a compiler, so a source distribution would not do."""
    command = [UV, "export", "--quiet", "--frozen", "--no-dev", *EXTRAS, "--no-emit-project", "--no-hashes", "--no-annotate"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout  # noqa: S603
    names = re.findall(r"^([a-z0-9-]+)==", said, re.MULTILINE)
    assert len(names) > 20
    wheels = {
        package["name"]: [wheel["url"].rpartition("/")[2] for wheel in package.get("wheels", [])]
        for package in tomllib.loads((ROOT / "uv.lock").read_text())["package"]
    }
    python = debian.PYTHON.removeprefix("python").replace(".", "")
    fits = re.compile(rf"-(py3|py2\.py3)-none-any\.whl$|-(cp{python}|cp3\d+-abi3)-?\S*manylinux\S*_{machine}(\.\S+)?\.whl$")
    assert [name for name in names if not any(fits.search(wheel) for wheel in wheels[name])] == []


def test_where_packages_come_from_is_given_to_the_first_stage_only():
    told = {"PIP_INDEX_URL": "https://index.example/simple", "SSL_CERT_FILE": "/authorities/all.pem"}
    flags = build.arguments(told, debian.Bases())
    assert "--build-arg=PIP_INDEX_URL=https://index.example/simple" in flags
    assert "--build-arg=UV_DEFAULT_INDEX=https://index.example/simple" in flags
    assert "--volume=/authorities:/authorities:ro" in flags
    assert not [flag for flag in build.arguments({}, debian.Bases()) if "INDEX" in flag or "volume" in flag]
    final = DOCKERFILE.rpartition("\nFROM ")[2]
    assert "INDEX" not in final
    assert "SSL_CERT" not in final
    assert "RUN" not in final, "the base has no shell"


def test_a_change_of_what_it_is_made_of_makes_another_image(tmp_path):
    for name in build._MADE_OF:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    source = tmp_path / "operator" / "gpucloud" / "main.py"
    source.parent.mkdir(parents=True)
    source.write_text("")
    first = build.fingerprint(tmp_path)
    assert build.fingerprint(tmp_path) == first
    (source.parent / "__pycache__").mkdir()
    (source.parent / "__pycache__" / "main.pyc").write_text("x")
    assert build.fingerprint(tmp_path) == first, "what Python leaves behind is not part of it"
    source.write_text("changed")
    assert build.fingerprint(tmp_path) != first


def test_only_the_files_of_the_named_packages_are_copied(tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    files = {
        "usr/lib/tiny.so.1.2": "code",
        "usr/bin/sh": "shell",
        "usr/share/doc/tiny/copyright": "law",
        "var/lib/dpkg/info/tiny:amd64.list": "/.\n/lib\n/lib/tiny.so.1.2\n/lib/tiny.so.1\n/usr/share/doc/tiny/copyright\n",
    }
    for name, text in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    (source / "lib").symlink_to("usr/lib")
    (source / "usr/lib/tiny.so.1").symlink_to("tiny.so.1.2")
    debian.copy_packages(source, target, ["tiny"])
    copied = sorted(str(path.relative_to(target)) for path in target.rglob("*") if not path.is_dir())
    assert copied == ["usr/lib/tiny.so.1", "usr/lib/tiny.so.1.2"]
    assert (target / "usr/lib/tiny.so.1").is_symlink()
    with pytest.raises(ImageError, match="no package huge"):
        debian.copy_packages(source, target, ["huge"])


ABLE = programs.Surroundings(platform="linux", user=0, may_mount=True, missing=(), apt=False)
WHERE = [
    (ABLE, None, "root with all that is needed"),
    (replace(ABLE, missing=programs.NEEDED, apt=True), None, "what is missing can be installed"),
    (replace(ABLE, missing=("buildah",)), "needs buildah, and there is no apt-get", "it cannot"),
    (replace(ABLE, user=1000), "needs Linux and root", "a user of their own machine: docker is theirs to use"),
    (replace(ABLE, platform="darwin"), "needs Linux and root", "there are no mount namespaces"),
    (replace(ABLE, may_mount=False), "needs the capability CAP_SYS_ADMIN", "root in a container without rights"),
]


@pytest.mark.parametrize(("around", "said", "reason"), WHERE, ids=[row[2] for row in WHERE])
def test_where_none_can_be_built_it_is_said_why(around, said, reason):  # noqa: ARG001  # the reason is the test's name
    why = programs.why_unavailable(around)
    assert (why or "").startswith(said or "")
    assert (why is None) == (said is None)


def test_a_failed_step_says_what_it_printed():
    with pytest.raises(ImageError, match=r"failed with exit code 3:\nsomething is amiss"):
        programs.run([sys.executable, "-c", "import sys; print('something is amiss', file=sys.stderr); sys.exit(3)"])
