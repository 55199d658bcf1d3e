"""Annotations that hold a time: what happened up to that time is released, accepted, or the like; nothing later is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import timedelta

    from gpucloud.kinds.meta import Annotation

NOW_IN_SHELL = "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
EXAMPLE = "2026-01-02T03:04:05Z"  # fixed: a message that held the time of day would be written anew each second


@dataclass(frozen=True, slots=True)
class Stamp:
    """What an annotation says: a time, or words about why it says nothing."""

    at: datetime | None = None
    trouble: str = ""

    def covers(self, moment: datetime) -> bool:
        """Whether what happened at this time is covered."""
        return self.at is not None and moment <= self.at


@dataclass(frozen=True, slots=True)
class Form:
    """One annotation: its name, how far ahead of our clock its time may lie, and why no further."""

    annotation: Annotation
    ahead: timedelta
    why: str


def read(text: str | None, now: datetime, where: str, form: Form) -> Stamp:
    """Read the annotation that stands on ``where``. A time far ahead is refused: it would cover what has not happened yet."""
    if not text:
        return Stamp()
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        at = None
    given = f"The annotation {form.annotation} on {where} is {text[:40]!r}"
    if at is None or at.tzinfo is None:
        return Stamp(trouble=f"{given}, which is no time such as {EXAMPLE}.")
    if at > now + form.ahead:
        return Stamp(trouble=f"{given}, which lies ahead: {form.why}.")
    return Stamp(at)
