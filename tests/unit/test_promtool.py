"""Which promtool the tests get: named, on PATH, cached, or out of Debian's package; and what is said when there is none."""

from __future__ import annotations

import io
import tarfile

import pytest

from promtool import FOLDER, PACKAGE, PromtoolError, cached, obtain_promtool

MEMBER = f"{FOLDER}/promtool"
APT = f"#!/bin/sh\necho package > {PACKAGE}_1_all.deb\n"


def program(path, text="#!/bin/sh\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def package(path, member):
    """What dpkg-deb prints of a package that holds this file alone."""
    with tarfile.open(path, "w") as tar:
        info = tarfile.TarInfo(member)
        info.size = len(b"promtool itself")
        tar.addfile(info, io.BytesIO(b"promtool itself"))
    return path


@pytest.fixture
def environ(tmp_path):
    (tmp_path / "path").mkdir()
    return {"PATH": str(tmp_path / "path"), "XDG_CACHE_HOME": str(tmp_path / "cache")}


def debian(tmp_path, member):
    """A machine with apt, whose package holds this file."""
    archive = package(tmp_path / "files.tar", member)
    program(tmp_path / "path" / "apt-get", APT)
    program(tmp_path / "path" / "dpkg-deb", f"#!/bin/sh\nexec /bin/cat {archive}\n")


def test_out_of_debians_package_once(tmp_path, environ):
    debian(tmp_path, MEMBER)
    found = obtain_promtool(environ)
    assert (found, found.read_text()) == (cached(environ) / "promtool", "promtool itself")
    program(tmp_path / "path" / "apt-get", "#!/bin/sh\nexit 1\n")
    assert obtain_promtool(environ) == found


def test_prometheus_comes_out_of_the_same_package(tmp_path, environ):
    debian(tmp_path, f"{FOLDER}/prometheus")
    assert obtain_promtool(environ, "prometheus") == cached(environ) / "prometheus"
    assert obtain_promtool(environ | {"TEST_ASSET_PROMETHEUS": "/opt/p"}, "prometheus").name == "p"


@pytest.mark.parametrize(
    ("apt", "member", "says"),
    [
        (None, MEMBER, "apt-get cannot be run"),
        ("#!/bin/sh\necho 'E: no such package' >&2\nexit 100\n", MEMBER, "apt-get failed: E: no such package"),
        ("#!/bin/sh\n", MEMBER, "brought 0 packages"),
        (APT, "./usr/bin/prometheus", f"holds no {MEMBER}"),
    ],
    ids=["no apt", "it refuses", "it brings nothing", "the package is another"],
)
def test_without_any_it_says_why_and_what_to_do(tmp_path, environ, apt, member, says):
    debian(tmp_path, member)
    program(tmp_path / "path" / "apt-get", apt or "")
    if apt is None:
        (tmp_path / "path" / "apt-get").unlink()
    with pytest.raises(PromtoolError, match=says) as told:
        obtain_promtool(environ)
    assert "TEST_ASSET_PROMTOOL" in str(told.value)
    assert not (cached(environ) / "promtool").exists()
