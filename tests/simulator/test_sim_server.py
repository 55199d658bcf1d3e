"""The command and the server as a process: flags, environment, key files, signals, many VMs."""

import json
import os
import signal
import stat
import subprocess
from pathlib import Path

import httpx
import pytest

import product
from gpucloud.cli.main import main
from simulator.test_sim_client import KEY, VM_TYPE, Cloud


class Process:
    """``gpucloud sim`` on a free port, its lines as they come."""

    def __init__(self, *flags, **env):
        command = [*product.command("sim"), "--port", "0", *flags]
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GPUCLOUD_")}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, env=clean | env, text=True)  # noqa: S603
        self.lines = []
        while not self.lines or "listening" not in self.lines[-1]:
            line = self.process.stdout.readline()
            assert line, "the simulator ended early"
            self.lines.append(line.strip())
        self.url = self.lines[-1].removeprefix("gpucloud sim listening on ")

    def get(self, path, key=KEY):
        with httpx.Client(trust_env=False, base_url=self.url, timeout=60) as client:
            return client.get(path, headers={"Authorization": f"ApiKey {key}"})

    def post(self, path, body):
        with httpx.Client(trust_env=False, base_url=self.url, timeout=60) as client:
            return client.post(path, json=body, headers={"Authorization": f"ApiKey {KEY}"})

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(timeout=60)


@pytest.fixture
def start():
    started = []

    def run(*flags, **env):
        started.append(Process(*flags, **env))
        return started[-1]

    yield run
    for one in started:
        one.process.kill()
        one.process.wait()
        one.process.stdout.close()


@pytest.fixture
def key_file(tmp_path):
    path = tmp_path / "key"
    path.write_text(f"{KEY}\n")
    return str(path)


def test_sim_process_with_a_given_key(start, key_file, tmp_path):
    ledger = tmp_path / "ledger.jsonl"
    sim = start("--api-key-file", key_file, "--ledger-file", str(ledger), "--answers", "wrapped", "--provision-seconds", "0")
    assert sim.lines == [f"gpucloud sim listening on {sim.url}"]
    assert sim.get("/healthz").text == "ok"
    assert sim.get("/api/v1/clusters/GetAll").json()["result"] == ["Msc1", "Hou1"]
    assert sim.get("/api/v1/clusters/GetAll", "wrong").status_code == 401
    assert sim.get("/_sim/knobs").json()["provision_seconds"] == 0
    assert sim.get("/_sim/clock").json()["manual"] is False
    assert sim.stop() == 0
    phases = [json.loads(line)["phase"] for line in ledger.read_text().splitlines()]
    assert phases == ["received", "answered"] * 2
    assert KEY not in ledger.read_text()


def test_sim_process_makes_a_key_up_and_hides_it_in_a_file_that_goes_with_it(start):
    sim = start()
    path = Path(sim.lines[0].removeprefix("gpucloud sim api key file: "))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sim.get("/api/v1/clusters/GetAll", path.read_text()).status_code == 200
    assert sim.stop(signal.SIGINT) == 0
    assert not path.exists()


def test_sim_process_prints_a_made_up_key_when_told_so(start):
    sim = start("--print-api-key")
    key = sim.lines[0].removeprefix("gpucloud sim api key: ")
    assert sim.get("/api/v1/clusters/GetAll", key).status_code == 200


def test_sim_process_takes_its_flags_from_the_environment(start, key_file):
    sim = start(
        GPUCLOUD_SIM_API_KEY_FILE=key_file,
        GPUCLOUD_SIM_PROVISION_SECONDS="60",
        GPUCLOUD_SIM_STOP_SECONDS="7",
        GPUCLOUD_SIM_MANUAL_CLOCK="true",
    )
    body = {"name": "vm", "vpc": "acme", "configuration": VM_TYPE, "cluster": "Msc1", "ssh_keys": ["k"]}
    assert sim.post("/api/v1/servers/virtual/CreateServer", body).status_code == 202
    assert sim.post("/_sim/clock/advance", {"seconds": 60}).status_code == 200
    assert sim.get("/api/v1/servers/virtual/GetServers").json()["items"][0]["status"] == "ONLINE"
    assert sim.get("/_sim/knobs").json()["stop_seconds"] == 7


def test_sim_process_takes_its_settings_from_a_file(start, key_file, tmp_path):
    path = tmp_path / "settings.yaml"
    path.write_text(f"simApiKeyFile: {key_file}\nsimStopSeconds: 7\nsimStartSeconds: 8\nworkers: 3\n")
    sim = start("--config", str(path), GPUCLOUD_SIM_START_SECONDS="9")
    knobs = sim.get("/_sim/knobs").json()
    assert (knobs["stop_seconds"], knobs["start_seconds"]) == (7, 9)


def test_sim_process_stops_cleanly_while_a_call_is_silent(start, key_file):
    sim = start("--api-key-file", key_file)
    sim.post("/_sim/faults", {"kind": "silence", "seconds": 600})
    with httpx.Client(trust_env=False, base_url=sim.url, timeout=0.2) as client, pytest.raises(httpx.ReadTimeout):
        client.get("/api/v1/clusters/GetAll")
    assert sim.stop() == 0


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        (["--port", "x"], "--port"),
        (["--port", "70000"], "--port"),
        (["--provision-seconds", "-1"], "--provision-seconds: must not be negative"),
        (["--provision-seconds", "soon"], "--provision-seconds: expected a number, not 'soon'"),
        (["--answers", "folded"], "--answers: expected one of plain, wrapped, not 'folded'"),
        (["--seed", "x"], "--seed"),
        (["--api-key-file", "/nonexistent/key"], "/nonexistent/key"),
        (["--api-key-file", os.devnull], "one API key"),
    ],
)
def test_sim_command_refuses_what_it_cannot_use(flags, text, capsys):
    assert main(["sim", *flags]) == 2
    assert text in capsys.readouterr().err


def test_sim_command_says_when_it_cannot_listen(start, key_file, capsys):
    port = start("--api-key-file", key_file).url.rpartition(":")[2]
    assert main(["sim", "--port", port, "--api-key-file", key_file]) == 1
    assert f"port {port} of 127.0.0.1 is in use: name another one with --port" in capsys.readouterr().err


def test_sim_command_says_when_the_ledger_cannot_be_written(tmp_path, key_file, capsys):
    assert main(["sim", "--port", "0", "--api-key-file", key_file, "--ledger-file", str(tmp_path)]) == 1
    assert str(tmp_path) in capsys.readouterr().err


async def test_sim_five_thousand_vms_are_listed_in_one_answer():
    cloud = Cloud(capacity=10_000)
    for number in range(5000):
        await cloud.create(f"vm-{number}")
    cloud.clock.advance(10)
    items = (await cloud.call("GetServers")).items
    assert ({item["status"] for item in items}, len(items)) == ({"ONLINE"}, 5000)
