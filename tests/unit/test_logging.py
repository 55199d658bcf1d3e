"""Log lines that cannot be written end nothing, and hide nothing."""

import io

import pytest

from gpucloud.app import _as_text, _Lossy
from gpucloud.engine.runtime import supervisor
from gpucloud.engine.runtime.supervisor import Supervisor
from gpucloud.kinds.meta import Reason

FULL = OSError(28, "No space left on device")


class FullDisk(io.RawIOBase):
    """Takes nothing while ``full``."""

    full, taken = True, b""

    def writable(self):
        return True

    def write(self, line):
        if self.full:
            raise FULL
        self.taken += bytes(line)
        return len(line)


def test_a_line_that_cannot_be_written_is_dropped_and_later_ones_are_written():
    disk = FullDisk()
    stream = _Lossy(disk)
    stream.write(b"lost")
    stream.flush()
    disk.full = False
    stream.write(b"kept")
    assert disk.taken == b"kept"


def test_a_stream_that_was_closed_drops_its_lines():
    closed = io.BytesIO()
    closed.close()
    assert _Lossy(closed).write(b"lost") == 4


def test_a_line_of_text_holds_words_and_not_pythons_form_of_them():
    values = {"objects": {"GpuVM": 1, "GpuVpc": 0}, "outcome": Reason.CREATED, "vms": ("a", "b"), "sure": False, "until": None}
    line = _as_text(None, "info", {"event": "call", **values})
    assert " ".join(line.split()) == "call objects='GpuVM 1, GpuVpc 0' outcome='Created' sure='false' until='none' vms='a, b'"


async def test_the_process_ends_when_an_essential_task_dies_though_that_cannot_be_logged(monkeypatch):
    def fails(*_args, **_about):
        raise FULL

    async def dies():
        raise RuntimeError("a fault")

    monkeypatch.setattr(supervisor, "log", type("Full", (), {"critical": staticmethod(fails)}))
    ended = []
    with pytest.raises(OSError, match="No space"):
        await Supervisor(end=ended.append).spawn("election", dies, essential=True)
    assert ended == ["election"]
