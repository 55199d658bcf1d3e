"""Find Vale, or build it once into the user cache from a pinned Go module. It needs a C compiler: its parsers are C.

A Vale on PATH is not used: another version finds other things.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from controlplane import ControlPlaneError, cache
from controlplane.gobuild import Target, build
from controlplane.versions import platform_name

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "vale"
VERSION = "3.20.0"  # as in modules/vale/go.mod
VARIABLE = "TEST_ASSET_VALE"
COMPILERS = ("cc", "gcc", "clang")
TARGET = Target("vale", "github.com/vale-cli/vale/v3/cmd/vale", "1 min", Path(__file__).parent / "modules", cgo=True)


def obtain_vale(environ: Mapping[str, str]) -> Path:
    """Return the program: what TEST_ASSET_VALE names, else the one in the cache, built first if it is missing.

    Raises:
        ControlPlaneError: there is none, and it cannot be built; the text says why.
    """
    if named := environ.get(VARIABLE):
        return Path(named)
    folder = cached(environ)
    with cache.locked(folder, say):
        if not (folder / NAME).is_file():
            if not any(shutil.which(compiler, path=environ.get("PATH", "")) for compiler in COMPILERS):
                raise ControlPlaneError(
                    f"Vale needs a C compiler to be built. Install gcc, or name a Vale {VERSION} in {VARIABLE}."
                )
            build((NAME,), folder, environ, say, {NAME: TARGET})
    return folder / NAME


def cached(environ: Mapping[str, str]) -> Path:
    """Return the cache folder of the pinned version for this platform; it need not exist yet."""
    return cache.directory(environ).with_name(f"{NAME}-v{VERSION}-{platform_name()}")


def say(text: str) -> None:
    """Tell the person who waits; results go to standard output, progress to standard error."""
    print(f"prose: {text}", file=sys.stderr, flush=True)
