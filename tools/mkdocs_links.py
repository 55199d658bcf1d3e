"""A hook of mkdocs: links that lead from a page out of ``docs`` lead into the repository on the site."""

from __future__ import annotations

import posixpath
import re
from typing import Any

REPOSITORY = "https://github.com/gpucloud-dev/gpucloud-operator/blob/main/"
_LINK = re.compile(r"\]\((\.\./[^)\s]+)\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rewrite them; links between pages stay as they are."""

    def target(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page.file.src_uri), found[1]))
        return found[0] if path.startswith("docs/") else f"]({REPOSITORY}{path})"

    return _LINK.sub(target, markdown)
