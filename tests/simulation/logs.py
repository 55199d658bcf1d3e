"""The product's log in the simulated world: nothing is written; what it calls an exception is a finding."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from simulation.world import World


class SimulatedLog:
    """A structlog wrapper. ``world`` is the one that is living now."""

    world: ClassVar[World | None] = None
    searched: ClassVar[bool] = False  # for keys

    def __init__(self, logger: Any, processors: Any, context: Any) -> None:
        """As structlog makes it."""

    def debug(self, *args: Any, **more: Any) -> None:
        """Nobody reads it, but no key may stand in it."""
        if self.searched and self.world is not None:
            self.world.judge.show(f"{args} {more}")

    info = warning = error = debug

    def exception(self, event: str, **more: Any) -> None:
        """The product met an exception that it did not foresee."""
        if self.world is not None and not isinstance(sys.exc_info()[1], BufferError):  # that one the world itself has raised
            self.world.judge.found("exception", f"{event}: {sys.exc_info()[1]!r} {more}")

    def bind(self, **_more: Any) -> SimulatedLog:
        """Nothing is kept."""
        return self
