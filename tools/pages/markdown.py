"""Tables in Markdown, and their places in pages that are otherwise written by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table; a bar within a cell does not end it."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |" for line in lines)


def between(page: str, name: str, printed: str, *, by: str = "make crds") -> str:
    """Return a page with what stands between the marks of this name printed again; ``by`` is the command that prints it.

    Raises:
        ValueError: the page has no such marks.
    """
    begin, end = f"<!-- {name}: printed by `{by}` -->\n", f"<!-- {name}: end -->\n"
    before, whole, rest = page.partition(begin)
    _, mark, after = rest.partition(end)
    if not whole or not mark:
        raise ValueError(f"there are no marks {begin.strip()} and {end.strip()}")
    return f"{before}{begin}\n{printed}\n\n{end}{after}"
