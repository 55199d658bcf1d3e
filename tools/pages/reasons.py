"""The table of docs/reference/status.md: what each reason means, and what to do."""

from __future__ import annotations

from gpucloud.kinds.explained import EXPLAINED
from pages.markdown import between, table


def printed_into(page: str) -> str:
    """Return the page with its table printed anew."""
    rows = ((f"`{row.reason}`", *row[1:]) for row in EXPLAINED)
    return between(page, "reasons", table(("Reason", "Conditions", "Meaning", "What to do"), rows))
