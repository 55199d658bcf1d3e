"""50 GpuVMs want 10 places over three offers, in the simulated world: each is served, and no GpuVM ever has two VMs."""

from functools import partial

import pytest

from gpucloud.sim.world.catalogue import Place
from simulation.fleet import SPEC, Fleet
from simulation.logs import SimulatedLog

VMS = 50
PLACES = {
    ("A100_40GB_PCIe_1x", "reserved-acme"): 4,
    ("A100_40GB_PCIe_2x", "reserved-acme"): 3,
    ("A100_40GB_PCIe_1x", "on-demand"): 3,
}
ALTERNATIVES = [{"configuration": "A100_40GB_PCIe_2x"}, {"resourcePool": "on-demand"}]


class Scarce(Fleet):
    """A cloud with few places that refuses what it has no place for. Whoever runs is deleted, so that its place comes free."""

    async def _live(self) -> None:
        self.actors.prepare()
        self.cloud.turn(create_without_capacity="refuse_503")
        for (configuration, pool), total in PLACES.items():
            self.cloud.world.catalogue.set_total(Place(configuration, "Msc1", pool), total)
        self.replicas[0].start()
        self.judge.begin()
        self.weather.over, self.healed_at = True, 0.0
        places = sum(PLACES.values())
        await self._phase("first", self._apply, lambda: self._standing({"True/Running"}) == places)
        self.first = sorted(vm.order.configuration + vm.order.pool for _, vm, _ in self.cloud.live() if hasattr(vm, "order"))
        while self._standing():
            await self._phase("next", self._delete_running, partial(self._is_served, self._standing() - places, places))

    def _is_served(self, left: int, places: int) -> bool:
        """Whether those that ran are gone, and of the others as many run as there are places."""
        return self._standing() == left and self._standing({"True/Running"}) == min(places, left)

    def _apply(self) -> None:
        for number in range(self.objects):
            spec = SPEC | {"resourcePool": "reserved-acme", "placement": {"alternatives": ALTERNATIVES}}
            self.actors.owner.create("GpuVM", "team", f"vm-{number}", spec)

    def _delete_running(self) -> None:
        running = {life.uid for life in self.judge.books.standing() if life.ready == "True/Running"}
        for item in self.actors.owner.all("GpuVM"):
            if item["metadata"]["uid"] in running:
                self.actors.owner.delete(item)


@pytest.fixture(scope="module")
def scarce():
    made = Scarce(VMS)
    SimulatedLog.world, SimulatedLog.searched = made, False
    return made, made.run()


def test_every_place_is_used_and_no_rule_is_broken(scarce):
    made, judge = scarce
    assert judge.violations == []
    assert made.first == sorted(name for (one, pool), total in PLACES.items() for name in [one + pool] * total)


def test_each_is_made_once(scarce):
    made, _ = scarce
    accepted = [order.uid for order in made.cloud.orders if order.operation == "CreateServer" and order.answer == "accepted"]
    assert len(accepted) == len(set(accepted)) == VMS


def test_what_a_cloud_without_places_is_asked_is_bounded(scarce):
    """Each GpuVM orders each offer once at first, and then ever less often."""
    made, _ = scarce
    hours = sum(phase.seconds for phase in made.phases) / 3600
    orders = sum(phase.sent["CreateServer"] for phase in made.phases)
    assert orders <= VMS * (len(PLACES) + 3 + hours * 3600 / 240)
