"""Everything that the specification states, in its order."""

from __future__ import annotations

from support.specification.operations import OPERATIONS
from support.specification.rules import NOTHING_TO_SHOW, RULES

CHAPTERS = (*OPERATIONS, *RULES)
STATEMENTS = [statement for chapter in CHAPTERS for section in chapter.sections for statement in section.statements]

__all__ = ["CHAPTERS", "NOTHING_TO_SHOW", "STATEMENTS"]
