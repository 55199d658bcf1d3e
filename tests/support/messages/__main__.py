"""``PYTHONPATH=tests python -m support.messages``: print docs/reference/messages.md anew; with ``--check`` only compare."""

from __future__ import annotations

import sys

from support.messages.page import page
from support.messages.sources import ROOT

PAGE = ROOT / "docs" / "reference" / "messages.md"

if __name__ == "__main__":
    where, printed = PAGE.relative_to(ROOT), page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(printed, encoding="utf-8")
        sys.stdout.write(f"wrote {where}\n")
    elif PAGE.read_text(encoding="utf-8") != printed:
        sys.exit(f"{where} differs from the code: run `make messages`")
