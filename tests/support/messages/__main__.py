"""``PYTHONPATH=tests python -m support.messages``: print docs/reference/messages.md anew."""

from __future__ import annotations

import sys

from support.messages.page import page
from support.messages.sources import ROOT

PAGE = ROOT / "docs" / "reference" / "messages.md"

if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"wrote {PAGE.relative_to(ROOT)}\n")
