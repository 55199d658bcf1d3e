"""A hook of mkdocs: the changelog is a page of the site, and links out of ``docs`` lead into the repository."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

REPOSITORY = "https://github.com/gpucloud-dev/gpucloud-operator/blob/main/"
CHANGELOG = "changelog.md"
_LINK = re.compile(r"\]\((\.\./[^)\s]+)\)")


def on_files(files: Any, config: Any) -> None:
    """Add the changelog, which lies beside ``docs``."""
    text = (Path(config.docs_dir).parent / "CHANGELOG.md").read_text()
    files.append(File.generated(config, CHANGELOG, content=text.replace("](docs/", "](")))


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rewrite links that leave ``docs``; links between pages stay as they are."""

    def target(found: re.Match[str]) -> str:
        folder = posixpath.dirname(page.file.src_uri)
        path = posixpath.normpath(posixpath.join("docs", folder, found[1]))
        if path == "CHANGELOG.md":
            return f"]({posixpath.relpath(CHANGELOG, folder or '.')})"
        return found[0] if path.startswith("docs/") else f"]({REPOSITORY}{path})"

    return _LINK.sub(target, markdown)
