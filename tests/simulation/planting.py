"""How a defect is planted in a copy of the product: fragments of its source, and what stands in their place.

A fragment stands exactly once in the whole package, in whichever file, so code may be moved. One that is not there any more, or
is there twice, fails loudly: plant the same defect anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Change = tuple[str, str]  # the text that stands somewhere, and the text that takes its place
SIMULATOR = "sim"  # part of the package, and no part of the operator


def plant(package: Path, changes: Iterable[Change]) -> list[Path]:
    """Make these changes in a copy of the package; answers the files that have changed."""
    texts = {
        path: path.read_text() for path in sorted(package.rglob("*.py")) if path.relative_to(package).parts[0] != SIMULATOR
    }
    changed = []
    for old, new in changes:
        there = [path for path, text in texts.items() if old in text]
        times = sum(texts[path].count(old) for path in there)
        if times != 1:
            raise ValueError(f"this cannot be planted any more: {old!r} stands {times} times in {len(there)} files")
        (path,) = there
        texts[path] = texts[path].replace(old, new)
        path.write_text(texts[path])
        changed.append(path)
    return changed
