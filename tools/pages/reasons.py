"""The tables of docs/reference/status.md: what each condition says; what each reason means, and what to do."""

from __future__ import annotations

from gpucloud.kinds.explained import EXPLAINED
from gpucloud.kinds.explained.conditions import CONDITIONS
from pages.markdown import between, table


def printed_into(page: str) -> str:
    """Return the page with its tables printed anew."""
    types = ((f"`{row.type}`", row.present, row.meaning) for row in CONDITIONS)
    page = between(page, "conditions", table(("Condition", "Present", "Meaning"), types))
    rows = ((f"`{row.reason}`", *row[1:]) for row in EXPLAINED)
    return between(page, "reasons", table(("Reason", "Conditions", "Meaning", "What to do"), rows))
