"""promtool for the tests of alerts and dashboard, and Prometheus for the dashboard's picture.

From a variable, PATH, the user cache, or Debian's package ``prometheus``. Nothing is installed and no service is started: apt
fetches the package, whose signature it checks, and one program is taken out of it. The official archive is no way to it: its
checksum would have to be pinned here, and we have none to vouch for. ``python -m promtool`` gets promtool and prints where it
is.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from controlplane import cache
from controlplane.versions import platform_name

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "promtool"
PACKAGE = "prometheus"
FOLDER = "./usr/bin"  # of the package
_LONGEST_SECONDS = 120.0


class PromtoolError(RuntimeError):
    """There is no such program; the text says why, and what to do."""


def obtain_promtool(environ: Mapping[str, str], name: str = NAME) -> Path:
    """Return a promtool, or another program of the package.

    Raises:
        PromtoolError: there is none, and it cannot be fetched.
    """
    if named := environ.get(f"TEST_ASSET_{name.upper()}"):
        return Path(named)
    if on_path := shutil.which(name, path=environ.get("PATH", "")):
        return Path(on_path)
    folder = cached(environ)
    with cache.locked(folder, say):
        if not (folder / name).is_file():
            say(f"fetching Debian's package {PACKAGE} for its {name} (once)")
            _fetch(folder / name, environ)
    return folder / name


def cached(environ: Mapping[str, str]) -> Path:
    """Return the cache folder for this platform; it need not exist yet."""
    return cache.directory(environ).with_name(f"{NAME}-{platform_name()}")


def _fetch(target: Path, environ: Mapping[str, str]) -> None:
    with tempfile.TemporaryDirectory(prefix="gpucloud-promtool-") as scratch:
        for part in ("lists/partial", "cache/archives/partial"):
            Path(scratch, part).mkdir(parents=True)
        # Lists of its own: the machine's may be old, or gone, as in most images, and only root may renew them.
        apt = ("apt-get", "--quiet", "-o", f"Dir::State::lists={scratch}/lists", "-o", f"Dir::Cache={scratch}/cache")
        _run((*apt, "update"), scratch, environ)
        _run((*apt, "download", PACKAGE), scratch, environ)
        archives = list(Path(scratch).glob(f"{PACKAGE}_*.deb"))
        if len(archives) != 1:
            raise PromtoolError(f"apt-get download {PACKAGE} brought {len(archives)} packages. {_advice()}")
        listed = _run(("dpkg-deb", "--fsys-tarfile", str(archives[0])), scratch, environ)
    with tarfile.open(fileobj=io.BytesIO(listed)) as tar, cache.whole_file(target) as draft:
        try:
            content = tar.extractfile(f"{FOLDER}/{target.name}")
        except KeyError:
            content = None
        if content is None:
            raise PromtoolError(f"Debian's package {PACKAGE} holds no {FOLDER}/{target.name}. {_advice()}")
        draft.write_bytes(content.read())


def _run(command: tuple[str, ...], folder: str, environ: Mapping[str, str]) -> bytes:
    try:
        done = subprocess.run(  # noqa: S603 - two programs of Debian's, with words of ours
            command, cwd=folder, env=dict(environ), capture_output=True, timeout=_LONGEST_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PromtoolError(f"{command[0]} cannot be run ({type(error).__name__}). {_advice()}") from error
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["it says nothing"]
        raise PromtoolError(f"{command[0]} failed: {said[-1]}. {_advice()}")
    return done.stdout


def _advice() -> str:
    return "Put promtool and prometheus of any Prometheus 2 or 3 on PATH, or name them in TEST_ASSET_PROMTOOL and _PROMETHEUS."


def say(text: str) -> None:
    """Tell the person who waits; results go to standard output, progress to standard error."""
    print(f"{NAME}: {text}", file=sys.stderr, flush=True)


def main() -> int:
    """Print the path; a failure is one clear text and exit code 1."""
    try:
        print(obtain_promtool(os.environ))
    except PromtoolError as error:
        say(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
