"""/proc is read as the kernel writes it; what has gone is 0, and no error in the middle of a run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench import proc

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="reads /proc, which this system lacks")
BUSY = "import os, time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"


@pytest.fixture
def child(tmp_path):
    """A child with a name of its own: what other tests have started may run yet."""
    program = tmp_path / "measured"
    program.symlink_to(sys.executable)
    command = [str(program), "-c", BUSY]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603 - our own
        process.stdout.readline()
        yield process
        process.kill()


def test_a_process_is_measured_and_found_by_its_parent(child):
    assert proc.cpu_seconds(child.pid) >= 0.29
    now, peak = proc.memory_mb(child.pid)
    assert 1 < now <= peak < 1000
    assert proc.child(os.getpid(), "measured") == child.pid


def test_what_is_not_there_has_cost_nothing(child):
    child.kill()
    child.wait()
    assert (proc.cpu_seconds(child.pid), proc.memory_mb(child.pid)) == (0.0, (0.0, 0.0))
    assert proc.cpu_seconds(0) == 0.0, "the operator between its death and its next start"
    with pytest.raises(ProcessLookupError):
        proc.child(os.getpid(), "etcd")


def test_steal_never_shrinks():
    before = proc.steal_seconds()
    assert proc.steal_seconds() >= before >= 0
