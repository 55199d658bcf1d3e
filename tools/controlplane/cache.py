"""The user cache of control plane binaries: where it is, one writer at a time, and files that are whole or absent.

It must not know where binaries come from.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path
from typing import TYPE_CHECKING

from controlplane.versions import KUBERNETES, platform_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


def directory(environ: Mapping[str, str]) -> Path:
    """Return the folder of the pinned version for this platform; it need not exist yet."""
    home = environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "gpucloud-operator" / "control-plane" / f"v{KUBERNETES}-{platform_name()}"


@contextlib.contextmanager
def locked(folder: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Hold the folder's lock; a second run waits and then finds what the first one made."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another run is filling the cache; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """Give a temporary name beside the target, made executable and renamed to it on success, removed on failure."""
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        yield draft
        draft.chmod(0o755)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
