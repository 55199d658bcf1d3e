"""The image, built without a container engine: what it is, what it holds, and that it works in a locked-down root."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

import pytest
import yaml

from chartfiles.places import CHART
from image import build
from image.buildah import config_of
from image.debian import Bases
from image.errors import ImageUnavailableError
from support.contained import CREDENTIALS, Image
from support.kstatus import ready
from support.manifests import gpuvm
from support.operatorproc import USER
from support.waiting import eventually

pytestmark = pytest.mark.timeout(1800)  # the first one of a machine makes the base
ROOT = build.ROOT
HOME = "opt/gpucloud"
LABELS = {"title", "description", "licenses", "source", "version", "revision"}
# Run by the image's own Python: what a process in there is and may.
PROBE = """
import errno, json, os, pathlib, shutil

def writes(place):
    try:
        pathlib.Path(place, "probe").write_text("x")
    except OSError as error:
        return errno.errorcode[error.errno]
    return "written"

status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines())
print(json.dumps({
    "ids": [os.getuid(), os.geteuid(), os.getgid(), *os.getgroups()],
    "capabilities": {status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16},
    "no new privileges": status["NoNewPrivs"],
    "writes": {place: writes(place) for place in ("/", "/opt/gpucloud", "/home/nonroot", "/tmp")},
    "found": [name for name in ("sh", "bash", "env", "pip", "uv", "apt-get", "gcc", "cc", "curl") if shutil.which(name)],
}))
"""


@pytest.fixture(scope="module")
def store():
    try:
        return build.obtain(os.environ)
    except ImageUnavailableError as error:
        pytest.skip(f"no image can be built and run here: {error}")


@pytest.fixture(scope="module")
def image(store):
    buildah, name = store
    with tempfile.TemporaryDirectory(prefix="gpucloud-image-") as folder, buildah.container(name) as root:
        config, sizes = config_of(buildah.layout(name, Path(folder)))
        yield Image(config, sizes, root)


@pytest.fixture(scope="module")
def added(store, image):
    """The files that the image adds to its base, by their path in it."""
    with store[0].container(Bases().runtime) as base:
        theirs = {path.relative_to(base) for path in base.rglob("*")}
    return {
        str(name): image.root / name for path in image.root.rglob("*") if (name := path.relative_to(image.root)) not in theirs
    }


def test_what_kubernetes_and_people_read_of_it(image, figure):
    config = image.config["config"]
    pod = yaml.safe_load((CHART / "values.yaml").read_text())["podSecurityContext"]
    assert config["User"] == f"{pod['runAsUser']}:{pod['runAsGroup']}"
    assert (config["Entrypoint"], config.get("Cmd")) == (["gpucloud"], None)
    labels = {name.rpartition(".")[2]: text for name, text in config["Labels"].items() if name.startswith("org.opencontainers")}
    assert set(labels) == LABELS
    assert all(labels.values())
    assert labels["version"] == build.version()
    assert image.sizes[-1] < 22e6, "our layer, compressed: something has come in that is not needed to run"
    figure(f"the image: {image.sizes[-1] / 1e6:.1f} MB of ours on {sum(image.sizes[:-1]) / 1e6:.1f} MB, compressed")


def test_it_says_its_version_and_can_do_no_more_than_it_must(image):
    said = image.run("gpucloud", "--version")
    assert (said.returncode, said.stderr) == (0, "")
    assert build.version() in said.stdout
    probed = image.run("/opt/gpucloud/bin/python", "-c", PROBE)
    assert (probed.returncode, probed.stderr) == (0, "")
    assert json.loads(probed.stdout) == {
        "ids": [65532, 65532, 65532],
        "capabilities": True,
        "no new privileges": "1",
        "writes": {"/": "EROFS", "/opt/gpucloud": "EROFS", "/home/nonroot": "EROFS", "/tmp": "written"},  # noqa: S108  # its own
        "found": [],
    }


def test_it_holds_what_the_lock_file_says_and_nothing_else(image):
    """The bill of materials that a release signs is that of the lock file, so the two must be the same."""
    uv = shutil.which("uv") or str(ROOT / ".uv" / "bin" / "uv")
    command = [
        uv,
        "export",
        "--quiet",
        "--frozen",
        "--no-dev",
        "--extra",
        "operator",
        "--extra",
        "sim",
        "--extra",
        "otel",
        "--format",
        "cyclonedx1.5",
    ]
    bill = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout)  # noqa: S603
    listed = {f"{part['name']} {part['version']}" for part in [bill["metadata"]["component"], *bill["components"]]}
    infos = list(image.root.glob(f"{HOME}/lib/python3.*/site-packages/*.dist-info"))
    held = {" ".join(info.name.removesuffix(".dist-info").replace("_", "-").rsplit("-", 1)) for info in infos}
    assert held == listed
    assert len(held) > 20
    files = (ROOT / "operator" / "gpucloud").rglob("*.py")
    wanted = {str(path.relative_to(ROOT / "operator")): path.read_bytes() for path in files}
    (place,) = image.root.glob(f"{HOME}/lib/python3.*/site-packages")
    assert {str(path.relative_to(place)): path.read_bytes() for path in place.glob("gpucloud/**/*.py")} == wanted


def test_its_files_are_roots_for_reading_and_compiled(image, added):
    places = {name.split("/")[0] + "/" + name.split("/")[1] for name in added if name.count("/")}
    assert places == {"opt/gpucloud", "usr/local"}
    files = {name: path.lstat() for name, path in added.items()}
    assert {(about.st_uid, about.st_gid) for about in files.values()} == {(0, 0)}
    assert [name for name, about in files.items() if about.st_mode & (stat.S_ISUID | stat.S_ISGID)] == []
    loose = stat.S_IWGRP | stat.S_IWOTH
    assert [name for name, about in files.items() if about.st_mode & loose and not stat.S_ISLNK(about.st_mode)] == []
    assert sorted(path.name for path in (image.root / HOME / "bin").iterdir()) == ["gpucloud", "python"]
    assert [name for name in added if re.search(r"/(pip|uv|setuptools|wheel)(-[\d.]+\.dist-info)?$", name)] == []
    sources = [path for path in added.values() if path.suffix == ".py" and "/gpucloud/" in str(path)]
    for source in sources:
        (compiled,) = source.parent.glob(f"__pycache__/{source.stem}.cpython-*.pyc")
        assert int.from_bytes(compiled.read_bytes()[4:8], "little") == 1, "unchecked: it is used as it is, whatever the times"


def test_nothing_of_where_it_was_built_is_in_it(image, added):
    surroundings = {
        value
        for name in ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_FIND_LINKS", "DEBIAN_MIRROR", "HTTPS_PROXY")
        if (value := os.environ.get(name))
    } | {str(ROOT), "direct_url.json", "uv_cache.json", "SSL_CERT_FILE=", "PIP_INDEX_URL="}
    told = json.dumps(image.config)
    assert [word for word in surroundings if word in told] == []
    for name, path in added.items():
        if path.is_file() and path.suffix not in {".so", ".pyc"}:
            text = path.read_text(errors="replace")
            assert [word for word in surroundings if word in text and not name.endswith((".py", ".pem"))] == [], name


def test_its_simulated_cloud_serves(image):
    """What the chart runs beside the operator for a trial."""
    with image.start("sim", "--host=127.0.0.1", "--port=0", env={}, binds={}) as cloud:
        cloud.wait_for_line("gpucloud sim listening on http://127.0.0.1:", 120)
        assert cloud.terminate(30) == 0


@pytest.fixture
def operator_of_the_image(image, control_plane, rights, sim, tmp_path):  # noqa: ARG001  # without its rights it would not start
    """The operator as its pod runs it, against the test's apiserver and cloud."""
    given = tmp_path / "credentials"
    given.mkdir()
    for name, source in {"kubeconfig": control_plane.kubeconfig_for(USER), "api-key": sim.api_key_file}.items():
        (given / name).write_bytes(source.read_bytes())
        (given / name).chmod(0o444)  # the folder above is closed to all but root; only this is shown to it
    env = {
        "KUBECONFIG": f"{CREDENTIALS}/kubeconfig",
        "GPUCLOUD_ENDPOINT": f"default={sim.url}",
        "GPUCLOUD_API_KEY_FILE": f"{CREDENTIALS}/api-key",
        "GPUCLOUD_POLL_PENDING_SECONDS": "0.2",
        "GPUCLOUD_POLL_STEADY_SECONDS": "0.5",
        "GPUCLOUD_METRICS_PORT": "0",
        "GPUCLOUD_HEALTH_PORT": "0",
    }
    with image.start("operator", env=env, binds={given: CREDENTIALS}) as process:
        process.wait_for_line('"listening"', 120)
        yield process


def test_its_operator_makes_a_vm_and_destroys_it(kubectl, namespace, sim, operator_of_the_image):
    here = kubectl.in_namespace(namespace)
    here.apply(gpuvm())
    item = eventually(
        lambda: (vm := here.get("gpuvm", "train")) and ready(vm) == "True/Running" and vm, 60, "the VM to be Ready"
    )
    assert sim.vms() == [item["status"]["vmId"]]
    here.delete("gpuvm", "train")
    sim.assert_empty()
    assert sim.mutations() == ["CreateServer", "DestroyServer"]
    assert operator_of_the_image.terminate(30) == 0, "SIGTERM reaches the operator itself"
    assert not [line for line in operator_of_the_image.lines() if '"level": "error"' in line or "Traceback" in line]
