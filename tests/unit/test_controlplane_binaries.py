"""Where programs of a control plane come from: fit for use, whole, checked, built from what is pinned."""

from __future__ import annotations

import fcntl
import hashlib
import io
import re
import tarfile
from pathlib import Path

import pytest

from controlplane import cache, download, gobuild, obtain, versions
from controlplane.choice import Surroundings, Way
from controlplane.errors import ControlPlaneError
from controlplane.surroundings import find_binaries, look_around

ROOT = Path(__file__).parents[2]
FITNESS = {
    "the pin itself": ("kube-apiserver", "Kubernetes v1.36.3\n", True),
    "another patch of the pin": ("kubectl", "Client Version: v1.36.0\nKustomize Version: v5.8.1\n", True),
    "one minor newer": ("kubectl", "Client Version: v1.37.1\n", True),
    "one minor older": ("kube-controller-manager", "Kubernetes v1.35.9\n", True),
    "two minors older": ("kube-apiserver", "Kubernetes v1.34.0\n", False),
    "two minors newer": ("kube-apiserver", "Kubernetes v1.38.0\n", False),
    "a cloud vendor's wrapper": ("kubectl", "Client Version: v1.32.4-dispatcher\n", False),
    "a build without a version stamp": ("kube-apiserver", "Kubernetes v0.0.0-master+$Format:%H$\n", False),
    "another program of the same name": ("kubectl", "usage: kubectl file\n", False),
    "a program that fails": ("kubectl", "", False),
    "etcd has its own pin": ("etcd", "etcd Version: 3.6.8\nGit SHA: abc\nGo Version: go1.26.8\n", True),
    "an old etcd": ("etcd", "etcd Version: 3.5.21\nGit SHA: abc\nGo Version: go1.23\n", False),
    "a future etcd": ("etcd", "etcd Version: 4.7.0\n", False),
}


@pytest.mark.parametrize("case", FITNESS)
def test_a_program_on_path_must_be_near_the_pin(case):
    binary, said, fit = FITNESS[case]
    assert (versions.why_unfit(binary, said) is None) is fit


def program(folder: Path, name: str, says: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return path


def test_what_a_variable_names_wins_over_path_and_cache(tmp_path):
    environ = {"PATH": str(tmp_path / "path"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    cached = program(cache.directory(environ), "etcd", "etcd Version: 3.7.3")
    assert find_binaries(("etcd",), environ).paths == {"etcd": cached}
    on_path = program(tmp_path / "path", "etcd", "etcd Version: 3.7.3")
    assert find_binaries(("etcd",), environ).paths == {"etcd": on_path}
    named = program(tmp_path / "named", "my-etcd", "whatever: the user said so")
    environ["TEST_ASSET_ETCD"] = str(named)
    assert find_binaries(("etcd",), environ).paths == {"etcd": named}
    in_folder = program(tmp_path / "assets", "etcd", "whatever: the user said so")
    environ["KUBEBUILDER_ASSETS"] = str(tmp_path / "assets")
    found = find_binaries(("etcd",), environ)
    assert (found.paths, found.places) == ({"etcd": in_folder}, ("KUBEBUILDER_ASSETS",))
    assert find_binaries(("etcd",), environ, cache_only=True).paths == {"etcd": cached}


def test_an_unfit_program_on_path_is_passed_over_and_named(tmp_path):
    program(tmp_path / "path", "kubectl", "Client Version: v1.32.4-dispatcher")
    environ = {"PATH": str(tmp_path / "path"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    found = find_binaries(("kubectl",), environ)
    assert found.missing(("kubectl",)) == ("kubectl",)
    assert found.rejected == ("kubectl on PATH is not used here: it is version 1.32, not within one minor of 1.36.",)


def test_what_is_said_of_an_unfit_program_does_not_read_as_a_warning(capsys):
    obtain.obtain_binaries(Surroundings(rejected=("kubectl on PATH is not used here: it is old.",)), (Way.ASSETS,), (), {})
    assert capsys.readouterr().err == (
        "control plane: kubectl on PATH is not used here: it is old.\n"
        "control plane: Others are used in their place: you need to do nothing.\n"
    )


@pytest.mark.parametrize(
    ("engine", "answers"),
    [("echo '{}'", True), ("echo cannot connect >&2; exit 1", False), ("exit 0", False)],
    ids=["answers", "refuses", "says nothing"],
)
def test_a_container_engine_counts_when_it_answers(tmp_path, engine, answers):
    for name, line in {"kind": "exit 0", "docker": engine}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / name).chmod(0o755)
    environ = {"PATH": f"{tmp_path}:/usr/bin:/bin", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert look_around((), environ).engine_answers is answers


def archive(path: Path, names: tuple[str, ...]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name in names:
            content = f"program {name}".encode()
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


def test_an_archive_with_another_checksum_is_refused(tmp_path):
    file = archive(tmp_path / "a.tar.gz", ("controller-tools/envtest/etcd",))
    download.verify(file, hashlib.sha512(file.read_bytes()).hexdigest())
    with pytest.raises(ControlPlaneError, match="refused: its SHA-512 is"):
        download.verify(file, download.CHECKSUMS["linux-amd64"])


def test_only_known_programs_leave_the_archive_and_stay_in_the_folder(tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir()
    names = ("controller-tools/envtest/etcd", "../kube-apiserver", "x/kubectl", "x/something-else")
    download.unpack(archive(tmp_path / "a.tar.gz", names), folder)
    assert sorted(path.name for path in folder.iterdir()) == ["etcd", "kube-apiserver", "kubectl"]
    assert all(path.stat().st_mode & 0o111 for path in folder.iterdir())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tar.gz", "cache"]


def test_an_incomplete_archive_is_refused(tmp_path):
    with pytest.raises(ControlPlaneError, match="lacks kube-apiserver, kubectl"):
        download.unpack(archive(tmp_path / "a.tar.gz", ("e/etcd",)), tmp_path)


def test_the_callers_go_settings_do_not_change_the_build():
    environment = gobuild.build_environment({"GOFLAGS": "-mod=mod", "GOWORK": "/w", "HOME": "/h", "CGO_ENABLED": "1"})
    assert environment == {"GOFLAGS": "", "GOWORK": "off", "HOME": "/h", "CGO_ENABLED": "0", "GOTOOLCHAIN": "local"}
    assert gobuild.build_environment({"CGO_ENABLED": "0"}, cgo=True)["CGO_ENABLED"] == "1"


@pytest.mark.parametrize("binary", gobuild.TARGETS)
def test_the_modules_pin_the_versions_named_in_code(binary):
    pins = {
        "etcd": f"go.etcd.io/etcd/server/v3 v{versions.ETCD}",
        "kubernetes": f"k8s.io/kubernetes v{versions.KUBERNETES}",
        "helm": f"helm.sh/helm/v4 v{versions.HELM}",
    }
    module = gobuild.MODULES / gobuild.TARGETS[binary].module
    text = (module / "go.mod").read_text()
    assert pins[module.name] in text
    assert f"\ngo {'.'.join(map(str, versions.GO_MINIMUM))}." in text
    assert (module / "go.sum").is_file()


@pytest.mark.parametrize(
    "said",
    [
        'go: x@v1: Get "https://a.example.test/x.zip": dial tcp: lookup a.example.test on 192.0.2.1:53: no such host',
        "dial tcp [2001:db8::1]:443: connect: no such host",
        "dial tcp 192.0.2.1:443: no such host",
        "HTTPSConnectionPool(host='a.example.test', port=443): no such host",
        "Looking in indexes: https://user:word@a.example.test/simple: no such host",
    ],
)
def test_a_failed_builds_text_names_no_server(said):
    shown = gobuild.redact(f"etcd.go:12:3: undefined: x\n{said}")
    assert not [word for word in ("example", "192.0.2", "2001", "word") if word in shown]
    assert "etcd.go:12:3: undefined: x" in shown
    assert "dial tcp" in shown or "://…" in shown or "host=…" in shown


FAKE_GO = """#!/bin/sh
if [ "$1" = version ]; then echo go version go1.26.8 linux/amd64; exit 0; fi
while [ "$1" != -o ]; do shift; done
ls go.mod go.sum >/dev/null || exit 9
{body}
"""


def fake_go(tmp_path: Path, body: str) -> dict[str, str]:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "go").write_text(FAKE_GO.format(body=body))
    (tools / "go").chmod(0o755)
    return {"PATH": f"{tools}:/usr/bin:/bin", "XDG_CACHE_HOME": str(tmp_path / "cache")}


def test_a_build_puts_whole_programs_into_the_cache_and_reports_each_step(tmp_path):
    environ = fake_go(tmp_path, 'echo built > "$2"')
    folder = cache.directory(environ)
    folder.mkdir(parents=True)
    said: list[str] = []
    gobuild.build(("etcd", "kubectl"), folder, environ, said.append)
    assert sorted(path.name for path in folder.iterdir()) == ["etcd", "kubectl"]
    assert (folder / "etcd").stat().st_mode & 0o111
    assert "This happens once" in said[0]
    assert [line.split(" (")[0] for line in said[1:]] == ["step 1 of 2: etcd", "step 2 of 2: kubectl"]


def test_a_failed_build_leaves_nothing_and_shows_its_last_words(tmp_path):
    environ = fake_go(tmp_path, 'echo half > "$2"; echo no space left >&2; exit 1')
    folder = cache.directory(environ)
    folder.mkdir(parents=True)
    with pytest.raises(ControlPlaneError, match=r"step 1 of 1: etcd.*exit code 1:\nno space left"):
        gobuild.build(("etcd",), folder, environ, lambda _: None)
    assert list(folder.iterdir()) == []


def test_a_second_run_waits_for_the_first_and_takes_what_it_made(tmp_path, capsys):
    """The lock is held by somebody who fills the cache; the waiting run finds the program and builds nothing."""
    environ = fake_go(tmp_path, "exit 1")
    folder = cache.directory(environ)
    folder.mkdir(parents=True)

    def release_finalizer(text: str) -> None:
        assert "waiting" in text
        program(folder, "etcd", "made by the other run")
        fcntl.flock(other, fcntl.LOCK_UN)

    with (folder / ".lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with cache.locked(folder, release_finalizer):
            found = find_binaries(("etcd",), environ)
    assert found.places == ("the user cache",)
    facts = Surroundings(forced="build", uncached=("etcd",))  # as it was before the wait
    got = obtain.obtain_binaries(facts, (Way.BUILD,), ("etcd",), environ)
    assert got.how == "assets: binaries from the user cache"
    assert capsys.readouterr().err == ""


def test_when_the_download_fails_the_build_follows_unless_the_download_was_forced(tmp_path, monkeypatch, capsys):
    def offline(_folder, _say):
        raise ControlPlaneError("The envtest archive cannot be downloaded (URLError).")

    monkeypatch.setattr(obtain, "fetch_envtest", offline)
    environ = fake_go(tmp_path, 'echo built > "$2"')
    order = (Way.DOWNLOAD, Way.BUILD)
    with pytest.raises(ControlPlaneError, match="cannot be downloaded"):
        obtain.obtain_binaries(Surroundings(forced="download"), order, ("etcd",), environ)
    got = obtain.obtain_binaries(Surroundings(), order, ("etcd",), environ)
    assert got.how.startswith("build: ")
    assert "Trying the next way" in capsys.readouterr().err


def test_every_page_states_the_build_times_of_the_table():
    ranges = {name: [int(part) for part in gobuild.TARGETS[name].usual.split()[0].split("-")] for name in versions.ALL_BINARIES}
    all_four = (sum(times[0] for times in ranges.values()), sum(times[-1] for times in ranges.values()))
    stated = {
        ROOT / "README.md": [all_four],
        ROOT / "docs" / "tutorial.md": [all_four],
        ROOT / "docs" / "reference" / "control-plane.md": [all_four, tuple(ranges["kube-controller-manager"])],
    }
    for page, times in stated.items():
        assert [(int(low), int(high)) for low, high in re.findall(r"(\d+) to (\d+) minutes", page.read_text())] == times, page
    assert gobuild.whole_time() == "{}-{} min".format(*all_four)
