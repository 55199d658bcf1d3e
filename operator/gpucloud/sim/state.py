"""All that a simulated cloud holds at one moment: the world, the faults in force, the ledger, and the clock they share.

It owns what may be random (the made-up key) and knows how to begin anew. It must not know requests.
"""

from __future__ import annotations

import secrets  # noqa: TID251 - values of made-up secrets, which nothing depends on
from typing import TYPE_CHECKING

from pydantic import SecretStr

from gpucloud.sim.config import build_world
from gpucloud.sim.faults import Faults
from gpucloud.sim.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.sim.clock import Clock
    from gpucloud.sim.config import SimConfig
    from gpucloud.sim.knobs import Knobs
    from gpucloud.sim.world.world import World


class State:
    """One cloud. The world is built at the first use, so that a clock that needs a running loop has one."""

    def __init__(self, config: SimConfig, clock: Clock, sink: Callable[[str], None] | None) -> None:
        self.config = config
        self.clock = clock
        self.api_key = config.api_key or SecretStr(f"made-up-{secrets.token_urlsafe(24)}")
        self.ledger = Ledger(sink)
        self.faults = Faults(config.seed)
        self._world: World | None = None

    @property
    def world(self) -> World:
        """The world as it stands after everything that was due."""
        now = self.now()
        if self._world is None:
            self._world = build_world(self.config, self.api_key.get_secret_value(), now)
        self._world.settle(now)
        return self._world

    @property
    def knobs(self) -> Knobs:
        """The knobs in force."""
        return self.world.rules.knobs

    def now(self) -> float:
        """Return the cloud's time in seconds since 1970."""
        return self.clock.now()

    def reset(self, seed: int | None = None) -> None:
        """Begin anew: world and knobs as configured, no faults, an empty ledger; the first account's key stays."""
        self.faults = Faults(self.config.seed if seed is None else seed)
        self._world = None
        self.ledger.clear()
