"""``python -m image``: build the image here and say what came of it; ``--twice`` shows that it comes out the same again."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from image import build
from image.buildah import config_of
from image.errors import ImageError, ImageUnavailableError


def main() -> int:
    """Print name, layers and size; a failure is one clear text and exit code 1."""
    parser = argparse.ArgumentParser(prog="image", description=__doc__)
    parser.add_argument("--twice", action="store_true", help="build it twice, and fail if the layers differ")
    twice = parser.parse_args().twice
    try:
        name, layers = _build(afresh=twice)
        if twice and (again := _build(afresh=True)[1]) != layers:
            print(f"image: built twice from the same files, it differs: {layers} and {again}", file=sys.stderr)
            return 1
    except (ImageError, ImageUnavailableError) as error:
        print(f"image: {error}", file=sys.stderr)
        return 1
    print(name, *layers, sep="\n")
    return 0


def _build(*, afresh: bool) -> tuple[str, list[str]]:
    store, name = build.obtain(os.environ, afresh=afresh)
    with tempfile.TemporaryDirectory(prefix="gpucloud-image-") as folder:
        config, sizes = config_of(store.layout(name, Path(folder)))
    return name, [f"{layer} {size / 1e6:.1f} MB" for layer, size in zip(config["rootfs"]["diff_ids"], sizes, strict=True)]


if __name__ == "__main__":
    sys.exit(main())
