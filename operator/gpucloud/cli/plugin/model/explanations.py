"""What every reason means, and what to do, as text: for ``explain``, completion, and programs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypedDict

from gpucloud.kinds.explained import EXPLAINED
from gpucloud.reconcile.commands import AFTER_COMMAND
from gpucloud.website import SITE

if TYPE_CHECKING:
    from collections.abc import Mapping

_COMMAND = re.compile(r"(?<=: )`(kubectl [^`]+)`\.(?:$|( ))")
_LINK = re.compile(r"\[([^]]+)\]\(\.\./([^)]+)\.md(#[^)]+)?\)")  # of the page docs/reference/status.md


class Explanation(TypedDict):
    """A reason as programs read it: the texts without Markdown, a link as the address of its page."""

    reason: str
    conditions: str
    meaning: str
    whatToDo: str


def explanations() -> Mapping[str, Explanation]:
    """Every reason, in the order of the page."""
    return {
        row.reason.value: {
            "reason": row.reason.value,
            "conditions": without_markdown(row.conditions),
            "meaning": without_markdown(row.meaning),
            "whatToDo": without_markdown(row.all_to_do),
        }
        for row in EXPLAINED
    }


def without_markdown(cell: str) -> str:
    """A text of the page as it is printed. A command behind a colon is parted from the next sentence as in messages."""
    parted = _COMMAND.sub(lambda found: found[1] + AFTER_COMMAND if found[2] else found[1], cell)
    return _LINK.sub(rf"\1 ({SITE}\2/\3)", parted).replace("**", "").replace("`", "")
