"""Values of the cloud's records, made to fit the schema of a status: a record is shown as it is, and never fails a write."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING

from gpucloud.reconcile.text import MAX_TEXT, printable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

MAX_NUMBER = 2**31 - 1


def cut(texts: Mapping[str, str | None]) -> dict[str, str | None]:
    """Printable texts no longer than the schema allows; an empty one is none."""
    return {name: printable(text, MAX_TEXT) if text else None for name, text in texts.items()}


def moment(value: datetime | None) -> datetime | None:
    """A time of the cloud in whole seconds, as our objects show it."""
    if value is None:
        return None
    try:
        return value.astimezone(UTC).replace(microsecond=0)
    except OverflowError:  # within a day of the calendar's end: no time at which anything was made
        return None
