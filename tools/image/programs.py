"""Other people's programs: run, and brought by apt where that may be done."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from image.errors import ImageError, ImageUnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NEEDED = ("buildah", "debootstrap")
_SHOWN_LINES = 30
_CAP_SYS_ADMIN = 21


@dataclass(frozen=True)
class Surroundings:
    """The facts that decide whether an image can be built and run here."""

    platform: str
    user: int
    may_mount: bool
    missing: tuple[str, ...]
    apt: bool


def why_unavailable(around: Surroundings) -> str | None:
    """Say why no image can be built and run here, or None when it can, once what is missing has been installed."""
    if around.platform != "linux" or around.user != 0:
        return (
            "needs Linux and root: an image is built here by buildah without a container engine, and run in a root of its own. "
            "With docker or podman: docs/how-to/image.md"
        )
    if not around.may_mount:
        return "needs the capability CAP_SYS_ADMIN, to run an image in a root of its own"
    if around.missing and not around.apt:
        return f"needs {' and '.join(around.missing)}, and there is no apt-get to install them"
    return None


def obtain() -> None:
    """Have buildah and debootstrap on PATH; as root on Debian they are installed once.

    Raises:
        ImageUnavailableError: this machine cannot have them.
    """
    around = _look_around()
    if why := why_unavailable(around):
        raise ImageUnavailableError(why)
    if around.missing:
        say(f"installing {' and '.join(around.missing)} with apt-get")
        quiet = {"DEBIAN_FRONTEND": "noninteractive"}
        run(["apt-get", "update", "--quiet"])
        run(["apt-get", "install", "--quiet", "--yes", "--no-install-recommends", *around.missing], env=quiet)


def _look_around() -> Surroundings:
    status = Path("/proc/self/status")
    found = re.search(r"^CapEff:\s+([0-9a-f]+)$", status.read_text() if status.exists() else "", re.MULTILINE)
    return Surroundings(
        platform=sys.platform,
        user=os.geteuid(),
        may_mount=found is not None and bool(int(found[1], 16) >> _CAP_SYS_ADMIN & 1),
        missing=tuple(name for name in NEEDED if shutil.which(name) is None),
        apt=shutil.which("apt-get") is not None,
    )


def run(command: Sequence[str], *, env: Mapping[str, str] | None = None) -> str:
    """Run a program and return what it prints on standard output.

    Raises:
        ImageError: it failed; the last lines that it printed are in the text.
    """
    done = subprocess.run(  # noqa: S603  # programs and arguments of this package
        list(command), env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    if done.returncode != 0:
        last = "\n".join([*done.stdout.splitlines(), *done.stderr.splitlines()][-_SHOWN_LINES:])
        raise ImageError(f"{' '.join(command[:3])} failed with exit code {done.returncode}:\n{last}")
    return done.stdout


def say(text: str) -> None:
    """Tell the person who waits; results go to standard output, progress to standard error."""
    print(f"image: {text}", file=sys.stderr, flush=True)
