"""``PYTHONPATH=tests python -m support.specification [--write]``: check docs/reference/endpoints.md, or print it anew."""

from __future__ import annotations

import sys

from support.specification.catalogue import CHAPTERS, NOTHING_TO_SHOW, STATEMENTS
from support.specification.evidence import ROOT, collected, complaints
from support.specification.page import page
from support.specification.reach import table

PAGE = ROOT / "docs" / "reference" / "endpoints.md"


def main(arguments: list[str]) -> int:
    """Return 0, or 1 when something stated is not proven, something named is not stated, or the page is not as printed."""
    proofs = collected()
    wrong = complaints(STATEMENTS, proofs)
    text = page(CHAPTERS, NOTHING_TO_SHOW, proofs) + table()
    if arguments == ["--write"]:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        wrong.append(f"docs/reference/{PAGE.name} is not what the tests print: run `make endpoints`")
    sys.stderr.writelines(f"{line}\n" for line in wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
