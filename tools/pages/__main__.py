"""``python -m pages [--check]``: write the pages that are printed from the product, or say which differ."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bench import page as bench
from gpucloud.kinds.crd import custom_resource_definition
from gpucloud.kinds.definitions import ALL_DEFINITIONS
from pages import client, commands, kinds, orders, plugin, reasons, settings
from printed import stale, write

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = Path(__file__).parents[2] / "docs" / "reference"


def pages() -> dict[Path, str]:
    """Return every page that is printed, whole or in part, by its file."""
    found = {f"{item.kind.lower()}.md": kinds.page(custom_resource_definition(item)) for item in ALL_DEFINITIONS}
    for name, printed_into in (("settings.md", settings.printed_into), ("status.md", reasons.printed_into)):
        found[name] = printed_into((FOLDER / name).read_text(encoding="utf-8"))
    found |= {
        "cli.md": plugin.page(),
        "gpucloud.md": commands.page(),
        "orders.md": orders.page(),
        "python-operations.md": client.page(),
    }
    return {FOLDER / name: text for name, text in found.items()} | _with_reasons() | bench.pages()


def _with_reasons() -> dict[Path, str]:
    """The pages for users that say in short what to do about each reason."""
    folder = FOLDER.parent / "how-to"
    found = {folder / name: reasons.recipes_into((folder / name).read_text(encoding="utf-8"), name) for name in reasons.RECIPES}
    troubles = folder / "troubleshooting.md"
    return found | {troubles: reasons.troubles_into(troubles.read_text(encoding="utf-8"))}


def main(argv: Sequence[str] | None = None) -> int:
    """Return 0, or 1 when a checked page differs."""
    parser = argparse.ArgumentParser(prog="python -m pages", description="Print the pages that follow from the product.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page differs")
    if not parser.parse_args(argv).check:
        write(pages())
        return 0
    names = stale(pages())
    for name in names:
        print(f"{name} differs from what is printed: run `make crds`.", file=sys.stderr)
    return 1 if names else 0


if __name__ == "__main__":
    sys.exit(main())
