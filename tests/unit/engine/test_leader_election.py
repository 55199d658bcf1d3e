"""Leader election as it is lived: two electors, one Lease, and what the link between them may do."""

import asyncio

import pytest

import gpucloud
from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.kube.leader_election import LeaderElector, LeaseIdentity, record_of
from gpucloud.engine.runtime.entropy import SystemEntropy
from gpucloud.reconcile.lease import LeaseDurations, LeaseRecord
from support.fakes import LoopClock
from support.leases import MemoryLeases

pytestmark = pytest.mark.looptime
LASTS = LeaseDurations()  # 15, 10 and 2 seconds
OURS = {"app.kubernetes.io/part-of": "gpucloud-operator"}
FORBIDDEN = KubeError(403, "Forbidden", "may not update leases")


class SleepyClock(LoopClock):
    """The loop's time and what the process has slept beside it: a stopped process sees its clock jump."""

    slept = 0.0

    def mono(self):
        return super().mono() + self.slept


class Side:
    """One operator: its elector, its own link to the Lease, and when it was told what."""

    def __init__(self, leases, name):
        self.clock, self.leases = SleepyClock(), leases
        self.led, self.lost = [], []
        told = {"on_lead": lambda: self.led.append(self.clock.mono()), "on_loss": lambda: self.lost.append(self.clock.mono())}
        where = LeaseIdentity("team", "it", name)
        self.leader_elector = LeaderElector(leases, self.clock, where, LASTS, SystemEntropy(), **told)
        self.leader_elector.start()

    @property
    def is_leader(self):
        return self.leader_elector.is_leader()

    def die(self):
        """As kill -9: nothing is released."""
        self.leader_elector._task.cancel()


class Link:
    """Another's way to the same Lease, with troubles of its own."""

    def __init__(self, leases):
        self._leases, self.down, self.drops = leases, False, 0
        self.late = 0.0  # how long the answer to a write that was saved is on its way
        self.asked = 0

    async def aclose(self): ...

    def __getattr__(self, name):
        async def call(*args):
            self.asked += 1
            if self.down:
                await asyncio.sleep(30.0)
                raise KubeError(0, "TimeoutError", "got no answer")
            answer = await getattr(self._leases, name)(*args)
            if self.drops and name != "lease":
                self.drops -= 1
                raise KubeError(0, "ServerDisconnectedError", "got no answer")
            if self.late and name != "lease":
                await asyncio.sleep(self.late)
            return answer

        return call


@pytest.fixture
async def sides():
    leases, made = MemoryLeases(), []

    async def make(*names):
        for name in names:
            made.append(Side(Link(leases), name))
            await asyncio.sleep(1.0)
        return [leases, *made[-len(names) :]]

    yield make
    for side in made:
        await side.leader_elector.stop()


async def until(condition, most=120.0):
    """Wait, and answer for how many seconds."""
    began = asyncio.get_running_loop().time()
    while not condition():
        await asyncio.sleep(0.05)
        assert asyncio.get_running_loop().time() < began + most
    return asyncio.get_running_loop().time() - began


async def test_the_first_leads_and_renews_the_second_waits(sides):
    leases, one, two = await sides("one", "two")
    before = len(leases.writes)
    await asyncio.sleep(100)
    assert (one.is_leader, two.is_leader, leases.holder) == (True, False, "one")
    assert 45 <= len(leases.writes) - before <= 51, "every two seconds"
    assert leases.body["spec"]["leaseTransitions"] == 1
    assert leases.body["spec"]["acquireTime"] < leases.body["spec"]["renewTime"]


async def test_after_its_death_the_other_leads_once_the_lease_has_lapsed(sides):
    leases, one, two = await sides("one", "two")
    await asyncio.sleep(33)
    one.die()
    assert 13 <= await until(lambda: two.is_leader) <= 18
    assert leases.body["spec"]["leaseTransitions"] == 2


async def test_let_go_the_other_leads_at_its_next_look(sides):
    leases, one, two = await sides("one", "two")
    await one.leader_elector.stop()
    assert not one.is_leader
    assert leases.holder == ""
    assert await until(lambda: two.is_leader) <= LASTS.retry_period * 1.2 + 0.2


async def until_renewed_unheard(leases, side):
    """A renewal is saved, and its answer is on its way."""
    side.leases.late, seen = 1.0, leases.version
    await until(lambda: leases.version > seen)


async def test_let_go_while_a_renewal_is_under_way(sides):
    """It is ours in a later version than we know: the other need not wait until it lapses."""
    leases, one, two = await sides("one", "two")
    await until_renewed_unheard(leases, one)
    await one.leader_elector.stop()  # its answers come late: the other may lead before it has ended
    (freed,) = [at for at, name in leases.writes if name == ""]
    await until(lambda: two.is_leader)
    assert two.led[0] - freed <= LASTS.retry_period * 1.2 + 0.2


async def test_what_another_has_taken_is_not_let_go(sides):
    leases, one = await sides("one")
    await until_renewed_unheard(leases, one)
    leases.take("somebody")
    await one.leader_elector.stop()
    assert leases.holder == "somebody"


async def test_cut_off_it_stops_before_another_begins(sides):
    leases, one, two = await sides("one", "two")
    one.leases.down = True
    last = max(at for at, name in leases.writes if name == "one")
    await until(lambda: not one.is_leader)
    stopped = asyncio.get_running_loop().time()
    assert stopped - last <= 10.1, "counted from before its last renewal was sent"
    await until(lambda: one.lost)
    assert not two.led
    await until(lambda: two.is_leader)
    assert two.led[0] - stopped >= 4.5, "the duration is that much longer than the deadline"


async def test_a_call_that_hangs_leaves_time_for_another(sides):
    _, one, _ = await sides("one", "two")
    await until(lambda: one.leader_elector._clock.mono() % 2 < 0.1)
    one.leases.down = True
    await asyncio.sleep(6)
    one.leases.down = False
    await asyncio.sleep(30)
    assert (one.is_leader, one.lost) == (True, [])


@pytest.mark.parametrize(
    ("why", "do"),
    [
        ("taken by force", lambda leases: leases.take("somebody")),
        ("emptied", lambda leases: leases.take("")),
        ("deleted", lambda leases: setattr(leases, "body", None)),
    ],
)
async def test_who_loses_it_stops_at_its_next_renewal(sides, why, do, logs):
    leases, one = await sides("one")
    do(leases)
    await until(lambda: one.lost, LASTS.retry_period + 0.5)
    assert not one.is_leader
    await asyncio.sleep(60)
    assert leases.holder != "one", f"{why}: it is not a candidate any more"
    assert any("nothing more is sent" in line["event"] for line in logs)


async def test_renewals_that_are_refused_end_it_at_the_deadline(sides, logs):
    leases, one = await sides("one")
    leases.refuses = FORBIDDEN
    assert 7 <= await until(lambda: one.lost) <= 10.5
    hints = [line["hint"] for line in logs if "could not be written" in line["event"]]
    assert hints == ["may the operator get, create and update it?"], "told once"


async def test_asleep_it_does_not_lead_when_it_wakes(sides):
    leases, one, two = await sides("one", "two")
    one.leases.down = True  # as if it were stopped
    one.clock.slept = 60.0
    assert not one.is_leader, "the very first question after waking is answered so"
    one.leases.down = False
    await until(lambda: one.lost)
    await until(lambda: two.is_leader)
    assert leases.holder == "two"


async def test_a_lost_answer_to_its_own_acquisition_is_understood():
    leases = MemoryLeases()
    link = Link(leases)
    link.drops = 1
    one = Side(link, "one")
    await until(lambda: one.is_leader, 5)
    assert leases.holder == "one"
    await one.leader_elector.stop()


async def test_a_lost_answer_to_a_renewal_costs_nothing(sides):
    _, one, two = await sides("one", "two")
    for _ in range(10):
        one.leases.drops = 1
        await asyncio.sleep(5)
        assert one.is_leader
    assert (one.lost, two.led) == ([], [])


async def test_without_its_namespace_it_waits_patiently():
    leases = MemoryLeases()
    leases.refuses = KubeError(404, "NotFound", "no such namespace")
    link = Link(leases)
    one = Side(link, "one")
    await asyncio.sleep(60)
    assert not one.is_leader
    assert link.asked < 100
    leases.refuses = None
    await until(lambda: one.is_leader, 5)
    await one.leader_elector.stop()


async def test_two_that_begin_at_once_agree():
    leases = MemoryLeases()
    both = [Side(Link(leases), name) for name in ("one", "two")]
    await asyncio.sleep(30)
    assert sorted(side.is_leader for side in both) == [False, True]
    assert not [side for side in both if side.lost]
    for side in both:
        await side.leader_elector.stop()


@pytest.mark.parametrize(
    ("noted", "expected", "why"),
    [
        ({"team": "a"}, {"team": "a", **OURS}, "what others note on it stays, and an older operator's Lease gets our label"),
        ({"app.kubernetes.io/part-of": "theirs"}, {"app.kubernetes.io/part-of": "theirs"}, "no quarrel over a label"),
        (None, OURS, "an older operator made it"),
    ],
)
async def test_labels_of_a_lease_that_stands(sides, noted, expected, why):
    leases, one = await sides("one")
    leases.body["metadata"]["labels"] = noted
    await asyncio.sleep(10)
    assert one.is_leader
    assert leases.body["metadata"]["labels"] == expected, why


async def test_its_lease_tells_the_version_of_who_leads(sides):
    """That of a Lease which an operator of another version has left is replaced, and what others note stays."""
    leases, one = await sides("one")
    assert leases.body["metadata"]["annotations"] == {"app.kubernetes.io/version": gpucloud.__version__}
    leases.body["metadata"]["annotations"] = {"app.kubernetes.io/version": "0.0.1", "team": "a"}
    await asyncio.sleep(10)
    assert one.is_leader
    assert leases.body["metadata"]["annotations"] == {"app.kubernetes.io/version": gpucloud.__version__, "team": "a"}


async def test_its_lease_says_whose_it_is(sides):
    """Its name may be any."""
    leases, one, two = await sides("one", "two")
    assert leases.body["metadata"]["labels"] == OURS
    await one.leader_elector.stop()
    assert leases.body["metadata"]["labels"] == OURS, "also when nobody holds it"
    await until(lambda: two.is_leader)


async def test_a_failure_of_the_election_itself_ends_it(sides):
    _, one = await sides("one")
    one.clock.instant = None  # whatever it may be
    await until(lambda: one.lost, 5)
    assert not one.is_leader


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, LeaseRecord()),
        ({"spec": None}, LeaseRecord()),
        ({"spec": {"holderIdentity": None, "leaseTransitions": None}}, LeaseRecord()),
        ({"spec": {"holderIdentity": "x", "leaseDurationSeconds": 15, "renewTime": "t"}}, LeaseRecord("x", 15, "t")),
        ({"spec": {"leaseTransitions": 3, "acquireTime": "a"}}, LeaseRecord(acquired_at="a", transitions=3)),
    ],
)
def test_every_field_may_be_missing(body, expected):
    assert record_of(body) == expected
