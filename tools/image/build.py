"""Build the image of this checkout, once for each state of what it is made of."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from controlplane import cache
from image import debian, programs
from image.buildah import Buildah

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[2]
REPOSITORY = "localhost/gpucloud-operator"
_OTHERS_KEPT = 1  # images of other states in the store: another checkout may be using one
_MADE_OF = ("Dockerfile", ".dockerignore", "LICENSE", "README.md", "pyproject.toml", "uv.lock", "deploy/image/uv.txt")


def obtain(environ: Mapping[str, str], *, afresh: bool = False) -> tuple[Buildah, str]:
    """Return the store, and in it the name of the image of this checkout.

    Raises:
        ImageUnavailableError: this machine cannot build one.
        ImageError: the build failed.
    """
    programs.obtain()
    place = debian.folder(environ)
    store, name = Buildah(place), f"{REPOSITORY}:{fingerprint(ROOT)}"
    with cache.locked(place, programs.say):
        bases = debian.obtain_bases(store, environ)
        if afresh or name not in store.tags(REPOSITORY):
            programs.say("building; this takes about 20 seconds")
            store.run("build", *arguments(environ, bases), f"--tag={name}", str(ROOT))
            others = [other for other in store.tags(REPOSITORY) if other != name]
            for other in others[_OTHERS_KEPT:]:
                store.run("rmi", "--force", other)
            store.run("rmi", "--prune")
    return store, name


def fingerprint(root: Path) -> str:
    """Name what the image is made of: the same state gives the same name."""
    sources = sorted(path for path in (root / "operator" / "gpucloud").rglob("*") if _is_source(path))
    digest = hashlib.sha256()
    for path in [*(root / name for name in _MADE_OF), *sources]:
        digest.update(f"{path.relative_to(root)}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\0".encode())
    return digest.hexdigest()[:16]


def _is_source(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts


def version(root: Path = ROOT) -> str:
    """Return the version that package, image and chart share."""
    project: dict[str, str] = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    return project["version"]


def arguments(environ: Mapping[str, str], bases: debian.Bases) -> list[str]:
    """Return the flags of the build: the bases, and how packages are reached from here, which stays in the first stage."""
    index = environ.get("UV_DEFAULT_INDEX") or environ.get("UV_INDEX_URL") or environ.get("PIP_INDEX_URL")
    given = {
        "BUILD_BASE": bases.build,
        "BASE": bases.runtime,
        "VERSION": version(),
        "PIP_INDEX_URL": environ.get("PIP_INDEX_URL") or index,
        "UV_DEFAULT_INDEX": index,
        "SSL_CERT_FILE": environ.get("SSL_CERT_FILE"),
    }
    # The times are set to zero so that the same files make the same image.
    flags = ["--quiet", "--pull-never", "--no-cache", "--layers=false", "--timestamp=0"]
    flags += [f"--build-arg={name}={value}" for name, value in given.items() if value]
    if authority := environ.get("SSL_CERT_FILE"):
        place = Path(authority).parent
        flags.append(f"--volume={place}:{place}:ro")
    return flags
