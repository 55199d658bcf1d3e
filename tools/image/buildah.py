"""buildah with a store of its own, so that nobody's images are touched, and without any daemon, namespace or kernel module."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from image.programs import run

if TYPE_CHECKING:
    from collections.abc import Iterator

_ENVIRONMENT = {"BUILDAH_ISOLATION": "chroot"}


@dataclass(frozen=True)
class Buildah:
    """A store of images in a folder."""

    folder: Path

    def run(self, *words: str) -> str:
        """Run a command upon this store and return what it prints."""
        # vfs copies files and mounts nothing, so it works inside of containers, too; a machine's own configuration may say
        # otherwise, and only the flag overrules that.
        store = ["--storage-driver=vfs", f"--root={self.folder / 'store'}", f"--runroot={self.folder / 'run'}"]
        return run(["buildah", *store, *words], env=_ENVIRONMENT).strip()

    def tags(self, repository: str) -> list[str]:
        """Return the full names of the images of a repository."""
        images = json.loads(self.run("images", "--json"))
        return [name for image in images for name in image.get("names") or [] if name.rpartition(":")[0] == repository]

    def add(self, name: str, root: Path) -> None:
        """Make an image of what lies in a folder."""
        container = self.run("from", "scratch")
        self.run("add", "--quiet", container, str(root), "/")
        self.run("commit", "--quiet", "--rm", container, name)

    @contextlib.contextmanager
    def container(self, name: str) -> Iterator[Path]:
        """Give the root of a fresh container of an image; it may be changed, and goes."""
        container = self.run("from", "--pull-never", name)
        try:
            yield Path(self.run("mount", container))
        finally:
            self.run("umount", container)
            self.run("rm", container)

    def layout(self, name: str, folder: Path) -> Path:
        """Write an image as an OCI layout into a folder."""
        self.run("push", "--quiet", name, f"oci:{folder}")
        return folder


def config_of(layout: Path) -> tuple[dict[str, Any], list[int]]:
    """Read an OCI layout of one image: its configuration, and the sizes of its layers as they are sent."""

    def blob(digest: str) -> dict[str, Any]:
        document: dict[str, Any] = json.loads((layout / "blobs" / digest.replace(":", "/")).read_text())
        return document

    index = json.loads((layout / "index.json").read_text())
    manifest = blob(index["manifests"][0]["digest"])
    return blob(manifest["config"]["digest"]), [layer["size"] for layer in manifest["layers"]]
