"""The made-up boot log of a machine: the same lines for the same machine in the same state, whenever it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpucloud.sim.world.vms import Vm

_BOOT = (
    "kernel: command line read",
    "kernel: memory mapped",
    "kernel: root file system mounted",
    "systemd: network is up",
    "cloud-init: SSH keys written",
    "gpu: devices of {configuration} found",
    "systemd: sshd listens on port 22",
)
_LINES = 3000  # more than the described default of 2000, so that Limit shows


def boot_log(vm: Vm) -> list[str]:
    """Return all lines, oldest first; none before the machine had an address."""
    if not vm.ip:
        return []
    opening = [f"[{index:10.6f}] {line.format(configuration=vm.order.configuration)}" for index, line in enumerate(_BOOT)]
    rest = [f"[{index:10.6f}] {vm.order.name}: tick {index}" for index in range(len(_BOOT), _LINES)]
    return opening + rest
