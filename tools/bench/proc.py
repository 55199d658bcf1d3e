"""What Linux says of processes and of the machine, from /proc."""

from __future__ import annotations

import os
from pathlib import Path

_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")
_STEAL = 8  # the field of the first line of /proc/stat, its name counted


def cpu_seconds(pid: int) -> float:
    """User and system CPU time of a process with all its threads; 0 when it is gone."""
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) / _TICKS if fields else 0.0


def memory_mb(pid: int) -> tuple[float, float]:
    """Resident memory now and at its peak, in MB; 0 when the process is gone."""
    found = {"VmRSS": 0.0, "VmHWM": 0.0}
    try:
        lines = (_PROC / str(pid) / "status").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        name, _, value = line.partition(":")
        if name in found:
            found[name] = int(value.split()[0]) * 1024 / 1e6
    return found["VmRSS"], found["VmHWM"]


def steal_seconds() -> float:
    """CPU seconds of all processors that the host has withheld from this machine since its start."""
    return int((_PROC / "stat").read_text().splitlines()[0].split()[_STEAL]) / _TICKS


def child(parent: int, name: str) -> int:
    """The pid of a process by its parent and its program's name.

    Raises:
        ProcessLookupError: there is none.
    """
    for entry in _PROC.iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))) and int(fields[1]) == parent and _comm(entry) == name:
            return int(entry.name)
    raise ProcessLookupError(f"no {name} below process {parent}")


def _stat(pid: int) -> list[str]:
    """The fields of /proc/<pid>/stat after the name: state, parent, … ; the name may hold anything."""
    try:
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _comm(entry: Path) -> str:
    try:
        return (entry / "comm").read_text().strip()
    except OSError:
        return ""
