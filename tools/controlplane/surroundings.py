"""The facts of this machine that decide the way: environment variables, binaries, a container engine.

It decides nothing; that is ``choice``.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from controlplane import cache
from controlplane.choice import VARIABLE, Surroundings, Way
from controlplane.versions import version_arguments, why_unfit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ASSETS_FOLDER = "KUBEBUILDER_ASSETS"
ENGINES = ("docker", "podman")
_QUICK_SECONDS = 10.0


@dataclass(frozen=True)
class Found:
    """The needed binaries that are there, each with the place it came from, and why others on PATH were not taken."""

    paths: dict[str, Path]
    places: tuple[str, ...]
    rejected: tuple[str, ...]

    def missing(self, needed: Sequence[str]) -> tuple[str, ...]:
        """Return those of the needed binaries that are not here."""
        return tuple(name for name in needed if name not in self.paths)


def find_binaries(needed: Sequence[str], environ: Mapping[str, str], *, cache_only: bool = False) -> Found:
    """Look for binaries in KUBEBUILDER_ASSETS, TEST_ASSET_…, PATH and the user cache, in this order.

    What a variable names is taken as it is (the user said so); what merely lies on PATH must be near the pinned
    version.
    """
    paths: dict[str, Path] = {}
    places: dict[str, None] = {}  # an ordered set
    rejected: list[str] = []
    for name in needed:
        candidates = [] if cache_only else [*_named(name, environ), *_on_path(name, environ, rejected)]
        candidates.append(("the user cache", cache.directory(environ) / name))
        for place, path in candidates:
            if path.is_file():
                paths[name] = path
                places[place] = None
                break
    return Found(paths, tuple(places), tuple(rejected))


def _named(name: str, environ: Mapping[str, str]) -> list[tuple[str, Path]]:
    variable = f"TEST_ASSET_{name.upper().replace('-', '_')}"
    named = []
    if folder := environ.get(ASSETS_FOLDER):
        named.append((ASSETS_FOLDER, Path(folder) / name))
    if path := environ.get(variable):
        named.append((variable, Path(path)))
    return named


def _on_path(name: str, environ: Mapping[str, str], rejected: list[str]) -> list[tuple[str, Path]]:
    found = shutil.which(name, path=environ.get("PATH", ""))
    if found is None:
        return []
    if why := why_unfit(name, says(found, *version_arguments(name))):
        rejected.append(f"{name} on PATH is not used here: {why}.")
        return []
    return [("PATH", Path(found))]


def says(*command: str) -> str:
    """Run a quick command and return what it prints, or nothing when it fails, hangs or does not exist."""
    try:
        done = subprocess.run(  # noqa: S603  # version and info commands of known programs
            command, capture_output=True, text=True, timeout=_QUICK_SECONDS, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def look_around(needed: Sequence[str], environ: Mapping[str, str]) -> Surroundings:
    """Gather the facts. The container engine is asked only when kind could use it."""
    forced = environ.get(VARIABLE, "")
    path = environ.get("PATH", "")
    kind_on_path = shutil.which("kind", path=path) is not None
    use_existing = environ.get("USE_EXISTING_CLUSTER", "").lower() == "true"
    ask_engine = kind_on_path and (forced == Way.KIND or not (forced or use_existing))
    found = find_binaries(needed, environ)
    return Surroundings(
        forced=forced,
        use_existing=use_existing,
        kubeconfig=any(Path(name).is_file() for name in environ.get("KUBECONFIG", "").split(":") if name),
        kind_on_path=kind_on_path,
        engine_answers=ask_engine and any(_engine_answers(engine, path) for engine in ENGINES),
        missing=found.missing(needed),
        uncached=find_binaries(needed, environ, cache_only=True).missing(needed),
        rejected=found.rejected,
    )


def _engine_answers(engine: str, path: str) -> bool:
    program = shutil.which(engine, path=path)
    return program is not None and bool(says(program, "info", "--format", "{{json .}}"))
