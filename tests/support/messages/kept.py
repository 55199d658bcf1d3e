"""Exceptions that are kept by hand, which know whether something still needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Kept(dict[Any, Any]):
    """A dictionary that records which of its keys were asked for and found."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.used: set[Any] = set()

    def __contains__(self, key: object) -> bool:
        found = super().__contains__(key)
        if found:
            self.used.add(key)
        return found

    def get(self, key: Any, default: Any = None) -> Any:
        """Return what is kept for a key, which is used by that."""
        return super().get(key, default) if key in self else default

    def first(self, fits: Callable[[Any], object]) -> Any:
        """Return the first key that fits, which is used by that; None if none does."""
        found = next((key for key in self if fits(key)), None)
        self.used |= set() if found is None else {found}
        return found
