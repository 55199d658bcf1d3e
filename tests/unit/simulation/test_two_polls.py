"""What happens to a Ready VM behind our back is seen within two polls, with default waits, in virtual time."""

import asyncio

import pytest

from gpucloud.settings import Credentials, Settings
from simulation.credentials import KEYS
from simulation.fleet import SPEC
from simulation.logs import SimulatedLog
from simulation.scenario import ENDPOINT, Scenario
from simulation.world import World

POLL = Settings.model_fields["poll_steady_seconds"].default
LONGEST_SECONDS, LOOK_SECONDS = 3600.0, 0.01  # virtual


class OneVm(World):
    """The life of one GpuVM until it is Ready, then one deed of somebody else ``after`` some seconds of a poll.

    ``seen``: how Ready stood when it was first not Running any more. ``polls`` and ``seconds``: how many listings, and
    how long, that took. ``sent``: the changing calls since the deed. ``last``: how it stood ten polls later.
    """

    def __init__(self, deed, after, spec):
        self.deed, self.after, self.spec = deed, after, spec
        self.seen, self.last, self.polls, self.seconds, self.sent = "", "", 0, 0.0, []
        settings = Settings(endpoint=(f"default={ENDPOINT}",), credentials=Credentials(api_key=KEYS["good"]))
        super().__init__(0, {}, chosen=Scenario(settings, replicas=1, own_account=True, stormy=0.0, slots=0))
        self.carry_out, self.cloud.carry_out = self.cloud.carry_out, self._count

    def _count(self, process, operation, request, fault):
        if operation == "GetServers":
            self.polls += 1
        elif not operation.startswith("Get"):
            self.sent.append(operation)
        return self.carry_out(process, operation, request, fault)

    async def _live(self):
        self.actors.prepare()
        self.replicas[0].start()
        self.judge.begin()
        self.weather.over, self.healed_at = True, 0.0
        self.actors.owner.create("GpuVM", "team", "a", SPEC | self.spec)
        await self._until(lambda: self._ready() == "True/Running")
        await asyncio.sleep(5 * POLL)  # the fast listings after a change are over
        await self._listed()
        await asyncio.sleep(self.after * POLL)
        (vm,) = self.actors.vms()
        self.polls, self.sent, began = 0, [], self.loop.time()
        assert self.deed(self.cloud, vm.order.name)
        await self._until(lambda: self._ready() != "True/Running" or self.sent)
        self.seen, self.seconds, polls = self._ready(), self.loop.time() - began, self.polls
        await asyncio.sleep(10 * POLL)
        self.polls, self.last = polls, self._ready()

    async def _listed(self):
        polls = self.polls
        await self._until(lambda: self.polls > polls)

    async def _until(self, met):
        began = self.loop.time()
        while not met():
            assert self.loop.time() - began < LONGEST_SECONDS
            await asyncio.sleep(LOOK_SECONDS)

    def _ready(self):
        return next((one.ready for one in self.judge.books.standing() if one.name == "GpuVM team/a"), None)


def stopped(cloud, name):
    return cloud.power_vm(name, "acme", "Msc1", on=False)


def destroyed(cloud, name):
    return cloud.end_vm(name, "acme", "Msc1")


def failed(cloud, name):
    return cloud.fail_vm(name, "acme", "Msc1")


# what somebody does, the spec, the calls that answer it, and how it stands in the end
DEEDS = [
    ("a stopped one is started again", stopped, {}, ["StartServer"], "True/Running"),
    ("a destroyed one is lost", destroyed, {}, [], "False/VMLost"),
    (
        "a destroyed one is created again, if the spec says so",
        destroyed,
        {"onLoss": "Recreate"},
        ["CreateServer"],
        "True/Running",
    ),
    ("a failed one is told", failed, {}, [], "False/VMFailed"),
]


@pytest.mark.parametrize("after", [0.02, 0.5, 0.98])
@pytest.mark.parametrize(("deed", "spec", "answered", "last"), [row[1:] for row in DEEDS], ids=[row[0] for row in DEEDS])
def test_it_is_seen_within_two_polls(deed, spec, answered, last, after):
    world = OneVm(deed, after, spec)
    SimulatedLog.world, SimulatedLog.searched = world, False
    world.run()
    assert (world.polls <= 2, world.seconds <= 2 * POLL) == (True, True), (world.seen, world.polls, world.seconds)
    assert (world.sent, world.last) == (answered, last)
