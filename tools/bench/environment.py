"""What the product runs in while it is measured: the environment of this checkout, or its image."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import product
from bench.errors import BenchError
from image import build, contain
from image.errors import ImageError, ImageUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_SHOWN = "/var/run/bench"  # where the image's root shows the files that the operator is given
# Without the site packages, since its CPU counts as the operator's, which it becomes.
_CONTAIN = (sys.executable, "-I", "-S", contain.__file__, "--user=0")  # the files belong to whoever measures


@dataclass(frozen=True)
class Environment:
    """``root``: of the image, None for the environment of this checkout; ``variables``: those that the image sets."""

    root: Path | None = None
    variables: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """As in results."""
        return "checkout" if self.root is None else "image"

    def command(self, verb: str, files: Mapping[str, Path]) -> list[str]:
        """The command line of ``gpucloud <verb>``, with these files by the variable that names each."""
        if self.root is None:
            return [*env(files), *product.command(verb)]
        binds = [f"--bind={file.parent}:{_SHOWN}/{number}" for number, file in enumerate(files.values())]
        shown = {name: f"{_SHOWN}/{number}/{file.name}" for number, (name, file) in enumerate(files.items())}
        given = [f"--env={name}={value}" for name, value in shown.items()]
        given += [f"--env={pair}" for pair in self.variables]
        return [*_CONTAIN, *binds, *given, str(self.root), "/opt/gpucloud/bin/gpucloud", verb]

    def python_version(self) -> str:
        """The version of its Python."""
        python = [str(product.PYTHON)] if self.root is None else [*_CONTAIN, str(self.root), "/opt/gpucloud/bin/python"]
        words = [*python, "-c", "import platform; print(platform.python_version())"]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603 - our own


CHECKOUT = Environment()


@contextlib.contextmanager
def of_image(environ: Mapping[str, str]) -> Iterator[Environment]:
    """Give the image of this checkout, built if it is missing, with a root of its own, which goes.

    Raises:
        BenchError: it cannot be built or run here.
    """
    try:
        store, name = build.obtain(environ)
        with store.container(name) as root:
            yield Environment(root, tuple(json.loads(store.run("inspect", "--type=image", name))["OCIv1"]["config"]["Env"]))
    except (ImageError, ImageUnavailableError) as error:
        raise BenchError(str(error)) from error


def env(variables: Mapping[str, object]) -> list[str]:
    """``env`` with these, and without settings of the product that the caller's shell may hold."""
    inherited = [word for name in os.environ if name.startswith("GPUCLOUD_") for word in ("-u", name)]
    return ["env", *inherited, *(f"{name}={value}" for name, value in variables.items())]
