"""``python -m image.contain ROOT COMMAND …``: run a command of an image as Kubernetes would run it, without a container engine.

In a mount namespace of its own: ROOT is the whole file system and read-only, /tmp is small and in memory, other folders are
given with ``--bind``. As a user and group by number, without any capability, and with no way to a new one. The environment is
given with ``--env`` alone. The network is that of the machine. It ends with whoever started it.

It stands on the standard library alone and becomes the command, so signals reach that directly.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shutil
import signal
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNS = 0x00020000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_REMOUNT, _MS_BIND, _MS_REC, _MS_PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
_PR_SET_PDEATHSIG, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 24, 38
_DEVICES = ("null", "zero", "random", "urandom")
_LAST_CAPABILITY = Path("/proc/sys/kernel/cap_last_cap")


def main() -> None:
    """Read the arguments and become the command."""
    asked = _arguments()
    parent = os.getppid()
    _call("unshare", _CLONE_NEWNS)
    _mount(None, "/", _MS_REC | _MS_PRIVATE)
    binds = [pair.split(":", 1) for pair in asked.bind]
    sources = {target: os.open(source, os.O_PATH) for source, target in binds}
    devices = {name: os.open(f"/dev/{name}", os.O_PATH) for name in _DEVICES}
    capabilities = int(_LAST_CAPABILITY.read_text()) + 1
    _mount(asked.root, asked.root, _MS_BIND | _MS_REC)
    os.chroot(asked.root)  # from here on no link of the image can lead out of it
    os.chdir("/")
    _furnish(sources, devices)
    _let_go(asked.user, capabilities)
    _call("prctl", _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # a change of the user takes this away, so it comes last
    if os.getppid() != parent:  # it died before this was armed
        return
    env = dict(pair.split("=", 1) for pair in asked.env)
    program = shutil.which(asked.command[0], path=env.get("PATH", ""))
    if program is None:
        raise SystemExit(f"{asked.command[0]}: not in the image's PATH")
    os.execve(program, asked.command, env)  # noqa: S606  # no shell is wanted


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="image.contain")
    parser.add_argument("--user", type=int, default=65532, help="user and group, by number")
    parser.add_argument("--bind", action="append", default=[], metavar="FROM:TO", help="a folder to show, read-only")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("root", type=Path)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    return parser.parse_args()


def _furnish(sources: dict[str, int], devices: dict[str, int]) -> None:
    """Make the root read-only, with what a container has besides its image. What lies outside is given as open files."""
    for place in ("/proc", "/dev", "/tmp", *sources):  # noqa: S108  # the image's own
        Path(place).mkdir(parents=True, exist_ok=True)
    _mount("proc", "/proc", _MS_NOSUID | _MS_NODEV, kind="proc")
    _mount("tmpfs", "/dev", _MS_NOSUID, kind="tmpfs", data="size=64k,mode=0755")
    for name, device in devices.items():
        Path("/dev", name).touch()
        _mount(f"/proc/self/fd/{device}", f"/dev/{name}", _MS_BIND)
    _mount("tmpfs", "/tmp", _MS_NOSUID | _MS_NODEV, kind="tmpfs", data="size=16m,mode=1777")  # noqa: S108
    for target, source in sources.items():
        _mount(f"/proc/self/fd/{source}", target, _MS_BIND)
        _mount(None, target, _MS_BIND | _MS_REMOUNT | _MS_RDONLY)
    _mount(None, "/", _MS_BIND | _MS_REMOUNT | _MS_RDONLY)


def _let_go(user: int, capabilities: int) -> None:
    """Become a user without any right, for good."""
    for capability in range(capabilities):
        _call("prctl", _PR_CAPBSET_DROP, capability, 0, 0, 0)
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    _call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def _mount(source: str | Path | None, target: str | Path, flags: int, *, kind: str | None = None, data: str = "") -> None:
    words = [None if word is None else str(word).encode() for word in (source, target, kind, data)]
    if _LIBC.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]) != 0:
        raise OSError(ctypes.get_errno(), f"mount {source} at {target}: {os.strerror(ctypes.get_errno())}")


def _call(name: str, *arguments: int) -> None:
    if getattr(_LIBC, name)(*(ctypes.c_ulong(argument) for argument in arguments)) != 0:
        raise OSError(ctypes.get_errno(), f"{name}{arguments}: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    main()
