"""``make bench`` measures every phase of the product, and what it counts is right; its peers are tried by running it."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from bench import __main__ as program
from bench import runs, stage
from bench.results import from_json

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="reads /proc, which this system lacks")
OBJECTS = 3


@pytest.fixture
def result(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(runs, "QUICK_STEADY_SECONDS", 1.0)
    monkeypatch.setattr(stage, "SPEEDS", dict.fromkeys(stage.SPEEDS, 0.5))
    before = signal.getsignal(signal.SIGTERM)
    code = program.main(["run", f"--objects={OBJECTS}", "--no-peers", f"--out={tmp_path}"])
    signal.signal(signal.SIGTERM, before)
    printed = capsys.readouterr()
    assert code == 0, printed.err
    assert "| create: all Ready, s |" in printed.out
    (file,) = tmp_path.glob("*.json")
    (found,) = from_json(json.loads(file.read_text())).results
    return found


def test_a_run_of_three(result):
    assert (result.objects, result.failure) == (OBJECTS, "")
    phases = {phase.name: phase for phase in result.phases}
    assert list(phases) == ["start", "create", "idle", "touch", "edit", "power off", "restart", "delete"]
    calls = {name: phase.cloud_calls for name, phase in phases.items()}
    assert calls["create"]["CreateServer"] == calls["delete"]["DestroyServer"] == OBJECTS
    assert (calls["edit"]["StopServer"], calls["edit"]["StartServer"], calls["power off"]["StopServer"]) == (OBJECTS,) * 3
    assert {"first_status_p50", "first_status_p99", "ready_p50", "ready_p99"} == set(phases["create"].seconds)
    assert set(phases["edit"].seconds) == set(phases["power off"].seconds) == {"call_p50", "call_p99"}
    assert all(0 < seconds < 60 for phase in result.phases for seconds in phase.seconds.values())
    assert phases["create"].api_requests["patch gpuvms"] == OBJECTS, "one finalizer each"
    assert not any(verb.startswith(("update", "patch")) for verb in phases["restart"].api_requests)
    assert phases["create"].passes["success"] >= 3 * OBJECTS
    assert phases["create"].loop_lag_p99 > 0
    assert all(phases["create"].cpu[name] > 0 for name in ("operator", "apiserver"))
