"""The made-up boot log of a machine: its boot, then a line every few seconds while it is on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.sim.world.vms import ONLINE

if TYPE_CHECKING:
    from gpucloud.sim.world.vms import Vm

_BOOT = (
    "kernel: command line read",
    "kernel: memory mapped",
    "kernel: root file system mounted",
    "systemd: network is up",
    "cloud-init: SSH keys written",
    "gpu: devices of {configuration} found",
    "systemd: sshd listens on port 22 of {name}",
)
_TICK_SECONDS = 5


def boot_log(vm: Vm, now: float, least: int) -> list[str]:
    """Return all lines, oldest first, at least so many; none before the machine had an address."""
    if not vm.ip:
        return []
    booted = max(least, len(_BOOT))
    opening = [
        f"[{index:10.6f}] {line.format(configuration=vm.order.configuration, name=vm.order.name)}"
        for index, line in enumerate(_BOOT)
    ]
    rest = [f"[{index:10.6f}] {vm.order.name}: tick {index}" for index in range(len(_BOOT), booted + _ticks(vm, now))]
    return opening + rest


def _ticks(vm: Vm, now: float) -> int:
    """How many lines the machine has written since it came up."""
    return int(max(now - vm.updated, 0) / _TICK_SECONDS) if vm.status == ONLINE else 0
