"""What the cloud does with its offers: one that nobody of these histories buys is withdrawn, and perhaps offered again."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulation.world import World

UNWANTED = "H100_80GB_SXM_8x"


class OfferActs:
    """Only where GpuOffers are published. All draws are in domains of their own."""

    def __init__(self, world: World) -> None:
        self._world = world

    def begin(self, seconds: float) -> None:
        """Withdraw during the storm: for good, for a while, or not at all."""
        world, choose = self._world, self._world.choices.choose
        if not world.scenario.settings.offer_seconds or not choose("offers withdrawn", (False, True)):
            return
        world.act_later(seconds * choose("withdrawn after", (0.3, 0.1, 0.6)), self._withdraw)
        if choose("offered again", (False, True)):
            world.act_later(seconds * 0.9, self._offer_again)

    def _withdraw(self) -> None:
        self._world.tell("cloud", f"withdraws {UNWANTED}")
        self._world.judge.offering.withdrawn[UNWANTED] = self._world.cloud.world.catalogue.configurations.pop(UNWANTED)

    def _offer_again(self) -> None:
        self._world.tell("cloud", f"offers {UNWANTED} again")
        self._world.cloud.world.catalogue.configurations[UNWANTED] = self._world.judge.offering.withdrawn.pop(UNWANTED)
