"""The form in which a reason is explained."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gpucloud.kinds.meta import Reason


class Row(NamedTuple):
    """A reason, the conditions or Events that carry it, its meaning, and the way out, in Markdown."""

    reason: Reason
    conditions: str
    meaning: str
    what_to_do: str
