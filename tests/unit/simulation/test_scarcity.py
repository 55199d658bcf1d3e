"""50 GpuVMs want 10 places over three offers, in the simulated world, and the places come free one by one.

Each place goes to who waits longest, also while newcomers come and the operator is killed; no place is idle for longer than two
queries take, no GpuVM ever has two VMs, and what the cloud is asked does not depend on how many wait.
"""

import asyncio
from collections import Counter
from functools import partial
from itertools import cycle, pairwise

import pytest

from gpucloud.reconcile.waiting_line import query_seconds
from gpucloud.sim.world.catalogue import Place
from simulation.fleet import SPEC, Fleet
from simulation.logs import SimulatedLog
from simulation.replica import RESTART_SECONDS

VMS = 50
PLACES = {
    ("A100_40GB_PCIe_1x", "reserved-acme"): 4,
    ("A100_40GB_PCIe_2x", "reserved-acme"): 3,
    ("A100_40GB_PCIe_1x", "on-demand"): 3,
}
ALTERNATIVES = [{"configuration": "A100_40GB_PCIe_2x"}, {"resourcePool": "on-demand"}]
IN_TWO_CLUSTERS = {
    ("A100_40GB_PCIe_1x", "reserved-acme"): 3,
    ("A100_40GB_PCIe_2x", "reserved-acme"): 2,
    ("A100_40GB_PCIe_1x", "reserved-acme", "Hou1"): 3,
    ("A100_40GB_PCIe_1x", "on-demand", "Hou1"): 2,
}
AWAY = [{"cluster": "Hou1"}, {"configuration": "A100_40GB_PCIe_2x"}, {"cluster": "Hou1", "resourcePool": "on-demand"}]
LOOK = query_seconds(2.0)
MOST_REFUSED = 20  # what leaves before the first answer comes, when 50 are applied in one moment
TAKEN_AGAIN = 2 * LOOK + 1  # seconds; each is looked at once a second
NEWCOMER_EVERY, KILLED_EVERY = 7, 9  # places that come free


class Scarce(Fleet):
    """A cloud with few places that refuses what it has no place for. One that runs is deleted after the other.

    ``troubled``: newcomers come meanwhile, and the operator is killed.
    """

    def __init__(self, objects, places, *, troubled=False):
        self.places, self.troubled = places, troubled
        self.alternatives = ALTERNATIVES if places is PLACES else AWAY
        self.asked, self.made, self.served = [], [], []  # served: who had to be next, and who was
        self.full_at, self.idle, self.idle_since = 0.0, Counter(), {}  # idle: the longest time, by place
        self.line, self.before_line = [], 0  # who waits when the first one has its turn, and how many were made before
        super().__init__(objects)

    async def _live(self):
        self.actors.prepare()
        self.cloud.turn(create_without_capacity="refuse_503")
        for place, total in self.places.items():
            self.cloud.world.catalogue.set_total(in_cloud(place), total)
        self.replicas[0].start()
        self.judge.begin()
        self.weather.over, self.healed_at = True, 0.0
        places = sum(self.places.values())
        await self._phase("first", self._apply, lambda: len(self._running()) == places and not self._open())
        self.full_at = self.loop.time()
        for number, place in enumerate(cycle(self.places)):
            if not self._waiting():
                break
            await self._free_one(number, place)
        await self._phase("the rest", partial(self._delete_running, places), lambda: not self._standing() and not self._vms())

    async def _free_one(self, number, place):
        """Somebody deletes a GpuVM that has such a place; a newcomer of the highest priority may come, and the operator die."""
        waiting, running, made = self._waiting(), self._running(), len(self.made)
        gone = next((item for item in running if in_cloud(offer(item["status"]["order"])) == in_cloud(place)), running[0])
        if self.troubled and number % NEWCOMER_EVERY == 0:
            self._make(f"newcomer-{number}", priority=1000)
        self.actors.owner.delete(gone)
        if self.troubled and number % KILLED_EVERY == 0:
            self.later(number % 4, self._kill)
        await self._phase(f"free {number}", lambda: None, lambda: len(self.made) > made)
        self.served.append((uid(min(waiting, key=rank)), self.made[-1]))
        await self._phase(f"up {number}", lambda: None, lambda: len(self._running()) == len(running))

    def _kill(self):
        process = self.replicas[0].process
        process.kill(asyncio.all_tasks(self.loop))
        self.judge.died(process)
        self.later(RESTART_SECONDS, self.replicas[0].start)

    def _make(self, name, **placement):
        spec = SPEC | {"resourcePool": "reserved-acme", "placement": {"alternatives": self.alternatives, **placement}}
        self.actors.owner.create("GpuVM", "team", name, spec)

    def _apply(self):
        for number in range(self.objects):
            self._make(f"vm-{number}", priority=number % 3)

    def _delete_running(self, places):
        for item in self._running()[:places]:
            self.actors.owner.delete(item)

    def _running(self):
        found = self.actors.owner.all("GpuVM")
        return [item for item in found if item.get("status", {}).get("order", {}).get("state") == "Seen"]

    def _waiting(self):
        found = self.actors.owner.all("GpuVM")
        return [item for item in found if item.get("status", {}).get("placement", {}).get("waitingSince")]

    def _open(self):
        """Orders without a clear answer: a restart makes their waits begin again, and nobody else is kept waiting for them."""
        return [item for item in self._waiting() if item["status"].get("order", {}).get("state") == "Unclear"]

    async def _phase(self, name, act, done):
        """Look once a second how long each place has been idle while somebody waits."""

        def looked():
            now = self.loop.time()
            for place in self.places:
                idle = self.cloud.world.catalogue.free(in_cloud(place)) > 0 and bool(self._waiting())
                self.idle_since[place] = self.idle_since.get(place, now) if idle else now
                self.idle[place] = max(self.idle[place], now - self.idle_since[place])
            return done()

        await super()._phase(name, act, looked)

    def tell(self, who, what, answer="", note=None):
        if who.startswith("operator") and what.startswith("GetAvailability"):
            self.asked.append(self.loop.time())
        if who == "cloud" and what.startswith("made vm"):
            if self.asked and not self.line:
                ready = [item for item in self._waiting() if item not in self._open()]  # the others are passed over
                self.line, self.before_line = [uid(item) for item in sorted(ready, key=rank)], len(self.made)
            self.made.append(answer.removeprefix("for "))
        super().tell(who, what, answer, note)


def uid(item):
    return item["metadata"]["uid"]


def rank(item):
    """Who waits longest, then by priority."""
    return item["status"]["placement"]["waitingSince"], -item["spec"]["placement"]["priority"], uid(item)


def offer(order):
    """The place that an order names."""
    return order["configuration"], order["resourcePool"], order["cluster"]


def in_cloud(place):
    """A place as the cloud has it: in the cluster of the spec where none is named."""
    configuration, pool, *cluster = place
    return Place(configuration, *(cluster or ["Msc1"]), pool)


@pytest.fixture(
    scope="module",
    params=[(PLACES, False), (PLACES, True), (IN_TWO_CLUSTERS, True)],
    ids=["calm", "killed now and then", "in two clusters, killed now and then"],
)
def scarce(request):
    places, troubled = request.param
    made = Scarce(VMS, places, troubled=troubled)
    SimulatedLog.world, SimulatedLog.searched = made, False
    return made, made.run()


def test_no_rule_is_broken_and_each_has_one_vm(scarce):
    made, judge = scarce
    assert judge.violations == []
    newcomers = len(range(0, len(made.served), NEWCOMER_EVERY)) if made.troubled else 0
    assert len(made.made) == len(set(made.made)) == VMS + newcomers


def test_the_first_places_go_to_who_waits_longest_too(scarce):
    """Nobody waits before the first refusal: who is early has the place. After the first answer the line gives the rest."""
    made, _ = scarce
    places = sum(made.places.values())
    by_line = places - made.before_line
    assert 0 < by_line < places
    assert set(made.made[made.before_line : places]) == set(made.line[:by_line])


def test_who_waits_longest_goes_first(scarce):
    made, _ = scarce
    assert len(made.served) >= VMS - sum(PLACES.values())
    assert [was for _, was in made.served] == [expected for expected, _ in made.served]


def test_no_place_is_idle_for_longer_than_two_queries_take(scarce):
    made, _ = scarce
    assert made.idle.keys() == made.places.keys()
    assert max(made.idle.values()) <= TAKEN_AGAIN


def test_nothing_is_ordered_only_to_see_whether_there_is_room(scarce):
    """Beyond the first order of each, which finds out that there is none, and of those that a killed operator had sent."""
    made, _ = scarce
    later = [order for order in made.cloud.orders if order.at > made.full_at]
    assert len(later) <= len(made.served) + len(made.served) // KILLED_EVERY


def test_nobody_orders_what_others_were_refused_a_moment_ago(scarce):
    """Only the calls that are under way when the first answer comes are refused; 46 would be if nobody remembered."""
    made, _ = scarce
    refused = [order for order in made.cloud.orders if order.told != "accepted"]
    assert 0 < len(refused) <= MOST_REFUSED


@pytest.mark.parametrize("waiting", [4, VMS - sum(IN_TWO_CLUSTERS.values())])
def test_each_cluster_is_asked_as_often_for_few_that_wait_as_for_many(waiting):
    """Too early a query of one cluster is a violation."""
    made = Scarce(waiting + sum(IN_TWO_CLUSTERS.values()), IN_TWO_CLUSTERS)
    SimulatedLog.world, SimulatedLog.searched = made, False
    assert made.run().violations == []
    least = min(after - before for before, after in zip(made.asked, made.asked[2:], strict=False))
    assert len(made.asked) >= 2 * (waiting - 1)
    assert least >= LOOK - 1.0


@pytest.mark.parametrize("waiting", [4, VMS - sum(PLACES.values())])
def test_the_queries_are_as_many_for_few_that_wait_as_for_many(waiting):
    made = Scarce(waiting + sum(PLACES.values()), PLACES)
    SimulatedLog.world, SimulatedLog.searched = made, False
    assert made.run().violations == []
    pauses = [after - before for before, after in pairwise(made.asked)]
    assert len(pauses) >= waiting - 1
    assert min(pauses) >= LOOK


def test_nothing_is_asked_when_nobody_waits():
    fleet = Scarce(3, {("A100_40GB_PCIe_1x", "reserved-acme"): 3})
    SimulatedLog.world, SimulatedLog.searched = fleet, False
    assert fleet.run().violations == []
    assert fleet.asked == []


EARLY, LATER = 6, 44  # GpuVMs; a while lies between them


class Full(Scarce):
    """A cloud without any place, in which the places come in one moment, when all wait."""

    async def _live(self):
        self.actors.prepare()
        self.cloud.turn(create_without_capacity="refuse_503")
        self._set(dict.fromkeys(self.places, 0))
        self.replicas[0].start()
        self.judge.begin()
        self.weather.over, self.healed_at = True, 0.0
        await self._phase("early", partial(self._some, 0, EARLY), lambda: len(self._waiting()) == EARLY and not self._open())
        await asyncio.sleep(2.0)  # who begins in the same second waits equally long
        later = partial(self._some, EARLY, EARLY + LATER)
        await self._phase("later", later, lambda: len(self._waiting()) == EARLY + LATER and not self._open())
        self.expected = sorted(self._waiting(), key=rank)[: sum(self.places.values())]
        await self._phase("filled", partial(self._set, self.places), lambda: len(self._running()) == sum(self.places.values()))
        await self._phase("gone", self._delete, lambda: not self._standing() and not self._vms())

    def _some(self, first, end):
        for number in range(first, end):
            self._make(f"vm-{number}", priority=number % 3)

    def _set(self, places):
        for place, total in places.items():
            self.cloud.world.catalogue.set_total(in_cloud(place), total)


def test_places_that_come_at_once_go_to_who_waits_longest_and_then_by_priority():
    """The six that came first have theirs whatever their priority; the other four have the highest of those that came later."""
    made = Full(EARLY + LATER, PLACES)
    SimulatedLog.world, SimulatedLog.searched = made, False
    assert made.run().violations == []
    assert set(made.made[: len(made.expected)]) == {uid(item) for item in made.expected}
    had = [(item["metadata"]["name"], item["spec"]["placement"]["priority"]) for item in made.expected]
    early = {f"vm-{number}" for number in range(EARLY)}
    assert {name for name, _ in had[:EARLY]} == early
    assert {priority for _, priority in had[EARLY:]} == {2}
    assert max(made.idle.values()) <= TAKEN_AGAIN
