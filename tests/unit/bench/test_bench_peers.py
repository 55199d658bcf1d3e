"""The peers: pinned, built once for each state of their sources, left out with a word, and given nothing of the caller's."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bench import goprogram, operators, runs
from bench.environment import Environment
from bench.results import GO, KOPF, OURS
from bench.stage import Surroundings
from controlplane import ControlPlaneError, versions


def test_the_module_is_sealed_and_needs_no_newer_go_than_the_others():
    module = goprogram.PEERS / goprogram.TARGET.module
    assert f"\ngo {'.'.join(map(str, versions.GO_MINIMUM))}." in (module / "go.mod").read_text()
    assert (module / "go.sum").is_file()


def test_other_sources_are_built_anew(tmp_path, monkeypatch):
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    before = goprogram.cached(environ)
    shutil.copytree(goprogram.PEERS, tmp_path / "peers")
    monkeypatch.setattr(goprogram, "PEERS", tmp_path / "peers")
    assert goprogram.cached(environ) == before, "the same sources elsewhere are the same program"
    (tmp_path / "peers" / "controller_runtime" / "main.go").write_text("package main\n")
    assert goprogram.cached(environ) != before


def fake_go(folder: Path, body: str) -> dict[str, str]:
    folder.mkdir()
    script = (
        'if [ "$1" = version ]; then echo go version go1.26.8 linux/amd64; exit 0; fi\nwhile [ "$1" != -o ]; do shift; done\n'
    )
    (folder / "go").write_text(f"#!/bin/sh\n{script}{body}\n")
    (folder / "go").chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin", "XDG_CACHE_HOME": str(folder / "cache")}


def test_it_is_built_from_all_its_sources_and_then_found(tmp_path):
    environ = fake_go(tmp_path / "tools", 'ls main.go reconciler.go go.sum >/dev/null && echo built > "$2"')
    program = goprogram.obtain_peer(environ)
    assert program.read_text() == "built\n"
    (tmp_path / "tools" / "go").write_text("#!/bin/sh\nexit 1\n")
    assert goprogram.obtain_peer(environ) == program


def test_without_go_only_that_peer_is_left_out(monkeypatch, capsys):
    def none(_environ):
        raise ControlPlaneError("no Go can be had")

    monkeypatch.setattr(runs, "obtain_peer", none)
    assert [peer.name for peer in runs._peers()] == [KOPF]
    assert "the peer in Go is left out: no Go can be had" in capsys.readouterr().err


@pytest.fixture
def around(tmp_path):
    key = tmp_path / "key"
    key.write_text("made-up-key")
    return Surroundings(tmp_path / "kubeconfig", "http://127.0.0.1:1", key, 9, 20.0)


ALL = (operators.naive_kopf(), operators.controller_runtime(Path("/peer")), operators.ours(budget=False))


@pytest.mark.parametrize("operator", ALL, ids=[KOPF, GO, OURS])
def test_each_gets_the_stage_and_no_setting_of_the_callers(operator, around, monkeypatch):
    monkeypatch.setenv("GPUCLOUD_BRAKE_VMS", "1")
    command = operator.command(around)
    assert command[0] == "env"
    assert command[command.index("GPUCLOUD_BRAKE_VMS") - 1] == "-u"
    assert f"KUBECONFIG={around.kubeconfig}" in command
    assert any("http://127.0.0.1:1" in word for word in command)
    assert any("20.0" in word for word in command), "all look at what is Ready equally often"


def test_the_request_budget_is_in_the_way_only_when_asked_for(around):
    budget = [any(word == "--cloud-qps" for word in operators.ours(budget=wish).command(around)) for wish in (True, False)]
    assert budget == [False, True]


def test_in_its_image_it_is_given_the_image_s_environment_and_only_that(around, monkeypatch):
    monkeypatch.setenv("GPUCLOUD_BRAKE_VMS", "1")
    image = Environment(Path("/root-of-the-image"), ("PYTHONUNBUFFERED=1",))
    command = operators.ours(budget=False, environment=image).command(around)
    inside = command[command.index("/root-of-the-image") + 1 :]
    assert inside[:2] == ["/opt/gpucloud/bin/gpucloud", "operator"]
    assert not any("GPUCLOUD_BRAKE_VMS" in word for word in command)
    given = {word for word in command if word.startswith(("--env=", "--bind="))}
    assert given == {
        f"--bind={around.kubeconfig.parent}:/var/run/bench/0",
        f"--bind={around.key_file.parent}:/var/run/bench/1",
        "--env=KUBECONFIG=/var/run/bench/0/kubeconfig",
        "--env=GPUCLOUD_API_KEY_FILE=/var/run/bench/1/key",
        "--env=PYTHONUNBUFFERED=1",
    }
