"""Tables in Markdown, and their places in pages that are otherwise written by hand."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from printed import between_marks

if TYPE_CHECKING:
    from collections.abc import Iterable

_CODE_WITH_BAR = re.compile(r"`([^`]*\|[^`]*)`")
_MARKUP = re.compile(r"[|\\*_\[\]]")


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table; a bar within a cell does not end it."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    """Return a cell without bars. Code with one is HTML: GitHub and MkDocs disagree how one is written between backquotes."""
    return _CODE_WITH_BAR.sub(lambda found: f"<code>{_entities(html.escape(found[1], quote=False))}</code>", text).replace(
        "|", "&#124;"
    )


def _entities(code: str) -> str:
    return _MARKUP.sub(lambda found: f"&#{ord(found[0])};", code)


def between(page: str, name: str, printed: str, *, by: str = "make crds") -> str:
    """Return a page with what stands between the marks of this name printed again; ``by`` is the command that prints it.

    Raises:
        ValueError: the page has no such marks.
    """
    return between_marks(page, f"<!-- {name}: printed by `{by}` -->\n", f"<!-- {name}: end -->\n", f"\n{printed}\n\n")
