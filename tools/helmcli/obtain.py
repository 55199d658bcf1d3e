"""Find Helm, or build it once into the user cache, which the control plane's programs share."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from controlplane import cache
from controlplane.gobuild import build
from controlplane.obtain import OTHERS
from controlplane.surroundings import says
from controlplane.versions import HELM, minor_version, platform_name

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "helm"
VARIABLE = "TEST_ASSET_HELM"


def obtain_helm(environ: Mapping[str, str]) -> Path:
    """Return a Helm of our major version.

    What TEST_ASSET_HELM names is taken as it is; what lies on PATH must be of the pinned major version, since Helm 3
    waits, hooks and applies otherwise.

    Raises:
        ControlPlaneError: there is none, and it cannot be built; the text says why.
    """
    if named := environ.get(VARIABLE):
        return Path(named)
    on_path = shutil.which(NAME, path=environ.get("PATH", ""))
    if on_path is not None:
        if why := why_unfit(says(on_path, "version", "--short")):
            say(f"helm on PATH is not used here: {why}.")
            say(OTHERS)
        else:
            return Path(on_path)
    folder = cached(environ)
    with cache.locked(folder, say):
        if not (folder / NAME).is_file():
            build((NAME,), folder, environ, say)
    return folder / NAME


def cached(environ: Mapping[str, str]) -> Path:
    """Return the cache folder of the pinned version for this platform; it need not exist yet."""
    return cache.directory(environ).with_name(f"helm-v{HELM}-{platform_name()}")


def why_unfit(said: str) -> str | None:
    """Say why a Helm is not used, or None when it is of the pinned major version."""
    found = minor_version(said)
    if found is None:
        return "it names no version"
    if found[0] != int(HELM.split(".", maxsplit=1)[0]):
        return f"it is version {found[0]}.{found[1]}, and not of the same major version as {HELM}"
    return None


def say(text: str) -> None:
    """Tell the person who waits; results go to standard output, progress to standard error."""
    print(f"helm: {text}", file=sys.stderr, flush=True)
