"""The form in which a reason is explained."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpucloud.kinds.meta import Reason


class Row(NamedTuple):
    """A reason, the conditions or Events that carry it, its meaning, and the way out, in Markdown.

    Every page and message that says what to do about a reason prints it from here.
    """

    reason: Reason
    conditions: str
    meaning: str
    what_to_do: str
    of_kind: Mapping[str, str] = MappingProxyType({})
    """What to do in its place about an object of this kind; begins in small letters, as after a colon."""

    @property
    def all_to_do(self) -> str:
        """What to do about an object of any kind."""
        return " ".join((self.what_to_do, *(f"Of a {kind}: {text}" for kind, text in self.of_kind.items())))
