"""Walk the ways in order until the needed binaries are there, and say which way it was.

It must not know the table of ways (``choice``) nor start anything.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from controlplane import cache
from controlplane.choice import Surroundings, Way, ways, without_borrowed
from controlplane.download import fetch_envtest
from controlplane.errors import ControlPlaneError
from controlplane.gobuild import build
from controlplane.surroundings import find_binaries, look_around
from controlplane.versions import ALL_BINARIES, ENVTEST, ENVTEST_BINARIES, KUBERNETES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Obtained:
    """The programs that are there now, by name, and in one line how they were come by."""

    binaries: dict[str, Path]
    how: str


OTHERS = "Others are used in their place: you need to do nothing."


def say(text: str) -> None:
    """Tell the person who waits; results go to standard output, progress to standard error."""
    print(f"control plane: {text}", file=sys.stderr, flush=True)


def choose(environ: Mapping[str, str], *, controller_manager: bool, own: bool = False) -> tuple[Surroundings, tuple[Way, ...]]:
    """Look around and return the facts and the ways to try; with ``own`` no way that borrows a cluster.

    Raises:
        ControlPlaneError: what was asked for cannot be had here.
    """
    facts = look_around(needed_binaries(controller_manager=controller_manager), environ)
    facts = without_borrowed(facts) if own else facts
    return facts, ways(facts)


def needed_binaries(*, controller_manager: bool) -> tuple[str, ...]:
    """Return the programs of a control plane, with or without the controller manager."""
    return ALL_BINARIES if controller_manager else ENVTEST_BINARIES


def obtain_kubectl(environ: Mapping[str, str]) -> Path:
    """Return a kubectl of about the pinned version for a cluster that comes from elsewhere (kind, existing).

    Raises:
        ControlPlaneError: there is none, and it can be neither downloaded nor built.
    """
    found = find_binaries(("kubectl",), environ)
    if "kubectl" not in found.paths:
        return _fill_cache(("kubectl",), (Way.DOWNLOAD, Way.BUILD), environ).binaries["kubectl"]
    return found.paths["kubectl"]


def obtain_binaries(
    facts: Surroundings, order: tuple[Way, ...], needed: tuple[str, ...], environ: Mapping[str, str]
) -> Obtained:
    """Return the needed programs, fetching or building what is missing.

    Raises:
        ControlPlaneError: the last way failed too, or the only one that was allowed.
    """
    for reason in facts.rejected:
        say(reason)
    if facts.rejected:
        say(OTHERS)
    cache_only = facts.forced in {Way.DOWNLOAD, Way.BUILD}
    if Way.ASSETS in order:
        found = find_binaries(needed, environ, cache_only=cache_only)
        return Obtained(found.paths, f"{Way.ASSETS}: binaries from {', '.join(found.places)}")
    return _fill_cache(needed, order, environ, forced=facts.forced)


def _fill_cache(needed: tuple[str, ...], order: tuple[Way, ...], environ: Mapping[str, str], *, forced: str = "") -> Obtained:
    folder = cache.directory(environ)
    cache_only = forced in {Way.DOWNLOAD, Way.BUILD}
    used: list[str] = []
    with cache.locked(folder, say):
        for way in order:
            missing = find_binaries(needed, environ, cache_only=cache_only).missing(
                needed
            )  # again: another run may have filled it
            if not missing:
                break
            try:
                used.append(_fetch(way, missing, folder, environ))
            except ControlPlaneError as error:
                if way == order[-1] or way == forced:
                    raise
                say(f"{error} Trying the next way.")
    found = find_binaries(needed, environ, cache_only=cache_only)
    return Obtained(found.paths, "; ".join(used) or f"{Way.ASSETS}: binaries from {', '.join(found.places)}")


def _fetch(way: Way, missing: tuple[str, ...], folder: Path, environ: Mapping[str, str]) -> str:
    progress: Callable[[str], None] = say
    if way == Way.DOWNLOAD:
        fetch_envtest(folder, progress)
        return f"{way}: official envtest archive v{ENVTEST}"
    build(missing, folder, environ, progress)
    return f"{way}: built from Go modules of Kubernetes v{KUBERNETES}"
