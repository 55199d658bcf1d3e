"""A run of many sizes takes long: what was measured before an interruption is kept."""

from __future__ import annotations

import json
import signal

import pytest

from bench import __main__ as program
from bench import runs
from bench.results import OURS, Result, from_json


@pytest.fixture
def handlers():
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def interrupted_at(last):
    """Measuring that somebody interrupts at this number of objects."""

    def measure(_operator, count, _logs):
        if count == last:
            raise KeyboardInterrupt
        return Result(OURS, count, ())

    return measure


@pytest.mark.parametrize(
    ("last", "code", "kept", "why"),
    [
        (5, 130, [], "nothing was measured, so there is no file"),
        (7, 130, [5, 6], "two sizes were measured whole"),
        (None, 0, [5, 6, 7], "all of them, in one file"),
    ],
)
@pytest.mark.usefixtures("handlers")
def test_what_was_measured_is_kept(tmp_path, monkeypatch, last, code, kept, why):
    monkeypatch.setattr(runs, "_measure", interrupted_at(last))
    assert program.main(["run", "--objects=5,6,7", "--no-peers", f"--out={tmp_path}"]) == code
    found = [from_json(json.loads(file.read_text())) for file in tmp_path.glob("*.json")]
    assert [one.objects for run in found for one in run.results] == kept, why
    assert len(found) == bool(kept)
