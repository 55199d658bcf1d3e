"""Two bases of Debian's packages in place of the Dockerfile's: one to build upon, one with what distroless/python3 holds.

The second has no shell and no program but Python, so what runs there runs on the real one.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from controlplane import cache
from image.errors import ImageError
from image.programs import run, say

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from image.buildah import Buildah

RELEASE, PYTHON = "trixie", "python3.13"  # of the bases that the Dockerfile names
MIRROR_VARIABLE = "DEBIAN_MIRROR"  # else debootstrap's own; packages are signed
_BUILD_PACKAGES = ("python3", "python3-venv", "ca-certificates")
# Those of gcr.io/distroless/python3-debian13, without Kerberos, NIS and OpenMP, which nothing of ours loads.
_RUNTIME_PACKAGES = (
    *("base-files", "netbase", "tzdata", "media-types", "ca-certificates"),
    *("libc6", "libssl3t64", "libzstd1", "zlib1g", "libgcc-s1", "libstdc++6", "libbz2-1.0", "libdb5.3t64", "libexpat1"),
    *("liblzma5", "libsqlite3-0", "libuuid1", "libncursesw6", "libtinfo6", "libcrypt1", "libreadline8t64", "libffi8"),
    *(f"lib{PYTHON}-minimal", f"lib{PYTHON}-stdlib", f"{PYTHON}-minimal"),
)
_UNNEEDED = ("var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/locale", "usr/share/man")


@dataclass(frozen=True)
class Bases:
    """The names of both in a store."""

    build: str = f"localhost/gpucloud-base-build:{RELEASE}-1"
    runtime: str = f"localhost/gpucloud-base-runtime:{RELEASE}-1"


def folder(environ: Mapping[str, str]) -> Path:
    """Return where the store of images lies, in the cache of whoever runs this."""
    return cache.directory(environ).parents[1] / "image"


def obtain_bases(store: Buildah, environ: Mapping[str, str]) -> Bases:
    """Return both bases, made once; whoever calls holds the lock of the store.

    Raises:
        ImageError: they cannot be made.
    """
    bases = Bases()
    if store.tags(bases.build.rpartition(":")[0]) and store.tags(bases.runtime.rpartition(":")[0]):
        return bases
    say(f"making a base of Debian {RELEASE} once; this takes about a minute")
    with tempfile.TemporaryDirectory(prefix="gpucloud-base-") as scratch:
        build, runtime = Path(scratch, "build"), Path(scratch, "runtime")
        include = f"--include={','.join(_BUILD_PACKAGES)}"
        mirror = [environ[MIRROR_VARIABLE]] if MIRROR_VARIABLE in environ else []
        run(["debootstrap", "--variant=minbase", include, RELEASE, str(build), *mirror])
        copy_packages(build, runtime, _RUNTIME_PACKAGES)
        finish_runtime(build, runtime)
        for path in _UNNEEDED:
            shutil.rmtree(build / path, ignore_errors=True)
        store.add(bases.build, build)
        store.add(bases.runtime, runtime)
    return bases


def copy_packages(source: Path, target: Path, packages: Iterable[str]) -> None:
    """Copy the files and folders of installed packages, and nothing that their installation made.

    Raises:
        ImageError: a package is not there.
    """
    for package in packages:
        lists = [*source.glob(f"var/lib/dpkg/info/{package}.list"), *source.glob(f"var/lib/dpkg/info/{package}:*.list")]
        if not lists:
            raise ImageError(f"the base has no package {package}")
        for line in lists[0].read_text().splitlines():
            name = line.lstrip("/")
            if name.startswith(("usr/share/doc/", "usr/share/man/", "usr/share/locale/")):
                continue
            if (source / name).is_symlink() or (source / name).is_file():
                _copy(source, target, name)
            elif (source / name).is_dir():
                (target / os.path.relpath((source / name).resolve(), source.resolve())).mkdir(parents=True, exist_ok=True)


def _copy(source: Path, target: Path, name: str) -> None:
    """Copy a file to where it truly lies: /lib and its like are links into /usr."""
    real = os.path.relpath((source / name).parent.resolve(), source.resolve())
    (target / real).mkdir(parents=True, exist_ok=True)
    shutil.copy2(source / name, target / real / Path(name).name, follow_symlinks=False)


def finish_runtime(source: Path, target: Path) -> None:
    """Add what distroless adds: links, a place for temporary files, the authorities in one file, the name of its user."""
    for name in ("bin", "lib", "lib64", "sbin"):
        if (source / name).is_symlink() and not (target / name).is_symlink():
            (target / name).symlink_to(f"usr/{name}")
    (target / "tmp").mkdir(exist_ok=True)
    (target / "tmp").chmod(0o1777)
    certificates = "etc/ssl/certs/ca-certificates.crt"
    _copy(source, target, certificates)
    (target / "usr/bin/python3").symlink_to(PYTHON)
    lines = ("root:x:0:0:root:/root:/sbin/nologin", "nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin")
    (target / "etc/passwd").write_text("\n".join(lines) + "\n")
    (target / "home/nonroot").mkdir()
    shutil.chown(target / "home/nonroot", 65532, 65532)
