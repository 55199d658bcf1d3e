"""What the specification states, as single sentences with stable ids that tests can name.

A statement is shown at the simulator, at the client, or at both; where one side cannot show it, it says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Side(StrEnum):
    """The two programs that were written from the specification, independently of each other."""

    SIMULATOR = "simulator"
    CLIENT = "client"


@dataclass(frozen=True)
class Statement:
    """One sentence. ``noted``: it is not in the specification but in the field notes, and both sides follow it."""

    id: str
    says: str
    not_at_simulator: str = ""
    not_at_client: str = ""
    noted: bool = False

    def reason_against(self, side: Side) -> str:
        """Return why the side cannot show it; "" where it must."""
        return self.not_at_simulator if side is Side.SIMULATOR else self.not_at_client


@dataclass(frozen=True)
class Section:
    """Statements under one heading. ``fields``: they are a record's fields, told on one line where the tests are the same."""

    title: str
    statements: tuple[Statement, ...]
    fields: bool = False


@dataclass(frozen=True)
class Chapter:
    """Sections that belong together, as in the specification."""

    title: str
    sections: tuple[Section, ...]
