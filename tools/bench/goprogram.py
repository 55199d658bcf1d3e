"""The peer in Go: built once for each state of its sources, into the user cache, as the control plane's programs are."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from controlplane import cache
from controlplane.gobuild import Target, build
from controlplane.versions import platform_name

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "controller-runtime-peer"
PEERS = Path(__file__).parent / "peers"
TARGET = Target("controller_runtime", ".", "1-3 min", PEERS)


def obtain_peer(environ: Mapping[str, str]) -> Path:
    """Return the program.

    Raises:
        ControlPlaneError: it cannot be built; the text says why.
    """
    folder = cached(environ)
    with cache.locked(folder, say):
        if not (folder / NAME).is_file():
            build((NAME,), folder, environ, say, {NAME: TARGET})
    return folder / NAME


def cached(environ: Mapping[str, str]) -> Path:
    """Return the cache folder of these sources for this platform; it need not exist yet."""
    digest = hashlib.sha256()
    for source in sorted((PEERS / TARGET.module).iterdir()):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return cache.directory(environ).with_name(f"bench-{digest.hexdigest()[:12]}-{platform_name()}")


def say(text: str) -> None:
    """Tell the person who waits; results go to standard output, progress to standard error."""
    print(f"bench: {text}", file=sys.stderr, flush=True)
