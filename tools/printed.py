"""Files that are printed from the code: written, or compared with what would be printed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[1]


def write(files: Mapping[Path, str]) -> None:
    """Write them, and say so."""
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")


def stale(files: Mapping[Path, str]) -> list[str]:
    """Return the names of files that are missing, or not as they would be printed."""
    return [
        str(path.relative_to(ROOT))
        for path, text in files.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]


def between_marks(text: str, begin: str, end: str, printed: str) -> str:
    """Return a text with what stands between these two lines printed again.

    Raises:
        ValueError: the text lacks one of them.
    """
    before, whole, rest = text.partition(begin)
    _, mark, after = rest.partition(end)
    if not whole or not mark:
        raise ValueError(f"there are no marks {begin.strip()} and {end.strip()}")
    return f"{before}{begin}{printed}{end}{after}"
