"""A run of tests that make began and that a signal ends: no process and no file of it is left."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from support.waiting import eventually

ROOT = Path(__file__).parents[2]
RUNS_LONG = """
import os, pathlib, tempfile, time

def test_that_is_under_way():
    pathlib.Path(tempfile.mkdtemp()).joinpath("left").touch()
    pathlib.Path({told!r}).write_text(str(os.getpid()))
    time.sleep(600)
"""
ENDS = "def test_that_ends():\n    assert {outcome}\n"


@pytest.fixture
def make(tmp_path):
    """A factory of runs of one test, as the targets of our Makefile begin them; its temporary files are in ``temporary``."""
    begun = []

    def start(text):
        (tmp_path / "temporary").mkdir()
        (tmp_path / "test_of_it.py").write_text(text)
        (tmp_path / "Makefile").write_text(f"include Makefile\nit:\n\t$(PYTEST) -p no:cacheprovider {tmp_path}/test_of_it.py\n")
        ignored = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # what runs under nohup ignores it, and so would what it begins
        begun.append(
            subprocess.Popen(  # noqa: S603  # our own Makefile
                ["make", "--file", tmp_path / "Makefile", "it"],  # noqa: S607  # the one that runs us
                cwd=ROOT,
                env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        )
        signal.signal(signal.SIGHUP, ignored)
        return begun[-1]

    yield start
    for process in begun:
        process.kill()
        process.wait()


def exists(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(
    ("number", "send"),
    [
        pytest.param(signal.SIGTERM, os.kill, id="SIGTERM to make alone, as a supervisor sends it"),
        pytest.param(signal.SIGTERM, os.killpg, id="SIGTERM to all that make began, as of timeout"),
        pytest.param(signal.SIGINT, os.killpg, id="Ctrl-C"),
        pytest.param(signal.SIGHUP, os.killpg, id="a terminal that is closed"),
    ],
)
def test_nothing_is_left(make, tmp_path, number, send):
    told = tmp_path / "pid"
    process = make(RUNS_LONG.format(told=str(told)))
    pid = int(eventually(lambda: told.exists() and told.read_text(), what="the test to be under way"))
    try:
        send(process.pid, number)
        assert process.wait(60) != 0
        eventually(lambda: not exists(pid), what="the run to end")
        eventually(lambda: not list((tmp_path / "temporary").iterdir()), what="its folder to go")
    finally:
        if exists(pid):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(("outcome", "code"), [("True", 0), ("False", 2)])
def test_the_outcome_of_a_run_is_that_of_make(make, tmp_path, outcome, code):
    assert make(ENDS.format(outcome=outcome)).wait(60) == code
    assert list((tmp_path / "temporary").iterdir()) == []
