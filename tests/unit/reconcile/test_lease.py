"""The Lease: what a candidate does next, and that no two ever believe to lead, whatever their clocks, links and sleep."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpucloud.reconcile.lease import ElectionState, LeaseDurations, LeaseRecord, NextStep, Step, decide

LASTS = LeaseDurations()  # 15, 10 and 2 seconds
NOW = 1000.0
ANOTHER, MINE = LeaseRecord("another", 15, "r1", "a1"), LeaseRecord("me", 15, "r1", "a1")
RENEWED = replace(ANOTHER, renewed_at="r2")
NEW = ElectionState("me", LASTS)


def watching(record, age, **changed):
    """A candidate that saw this record first so many seconds ago."""
    return NEW.saw(replace(record, **changed) if changed else record, NOW - age)


def wait(seconds):
    return NextStep(Step.WAIT, pytest.approx(NOW + seconds))


def leader(age, record=MINE):
    """The leader, whose last renewal began so many seconds ago; what it has seen since is another record, perhaps."""
    return NEW.wrote(MINE, NOW - age).saw(record, NOW)


@pytest.mark.parametrize(
    ("why", "it", "expected"),
    [
        ("nobody has looked yet: what stands there is not known", NEW, wait(0)),
        ("there is no Lease", watching(None, 0), NextStep(Step.ACQUIRE)),
        ("its last holder let it go", watching(ANOTHER, 0, holder=""), NextStep(Step.ACQUIRE)),
        ("it is ours: the answer to our write was lost", watching(MINE, 0), NextStep(Step.ACQUIRE)),
        ("another holds it: until it lapses", watching(ANOTHER, 3), wait(12)),
        ("it has not changed for its duration", watching(ANOTHER, 15), NextStep(Step.ACQUIRE)),
        ("almost", watching(ANOTHER, 14.999), wait(0.001)),
        ("the holder's own duration counts, not ours", watching(ANOTHER, 15, duration=60), wait(45)),
        ("a record without a duration lasts as long as ours", watching(ANOTHER, 15, duration=0), NextStep(Step.ACQUIRE)),
        ("a change starts the count anew", watching(ANOTHER, 14).saw(RENEWED, NOW), wait(15)),
        ("the same again does not", watching(ANOTHER, 14).saw(ANOTHER, NOW), wait(1)),
        ("an old time in it says nothing: clocks differ", watching(ANOTHER, 0, renewed_at="1999-01-01"), wait(15)),
        ("leading, it renews each period", leader(1), wait(1)),
        ("and then it is time", leader(2), NextStep(Step.RENEW)),
        ("renewals fail: it tries on", leader(9.999), NextStep(Step.RENEW)),
        ("until the deadline", leader(10), NextStep(Step.GIVE_UP)),
        ("woken after a long sleep", leader(3600), NextStep(Step.GIVE_UP)),
        ("taken by force", leader(1, ANOTHER), NextStep(Step.GIVE_UP)),
        ("deleted: another may have made it anew", leader(1, None), NextStep(Step.GIVE_UP)),
        ("emptied", leader(1, replace(MINE, holder="")), NextStep(Step.GIVE_UP)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_done_next(why, it, expected):
    assert decide(it, NOW) == expected, why


@pytest.mark.parametrize(
    ("why", "it", "is_leader"),
    [
        ("nobody leads before a write came through", watching(MINE, 0), False),
        ("fresh", leader(0), True),
        ("up to the deadline", leader(9.999), True),
        ("not at it: another may count from the same moment", leader(10), False),
        ("whatever was seen of another ends it at once", leader(0, ANOTHER), False),
        ("so does its deletion", leader(0, None), False),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_who_leads(why, it, is_leader):
    assert it.is_leader(NOW) is is_leader, why


def test_our_own_write_counts_from_before_it_was_sent():
    assert NEW.wrote(MINE, NOW - 9).is_leader(NOW + 0.5)
    assert not NEW.wrote(MINE, NOW - 9).is_leader(NOW + 1)


# --- two or three of them, in a world that drops, delays and freezes

SKEW = 0.15  # a clock's rate, more or less: 10 s by a slow clock stay under 15 s by a fast one


@dataclass
class Server:
    """One Lease and its version: a write is taken only over the version that the writer read."""

    record: LeaseRecord | None = None
    version: int = 0

    def write(self, record: LeaseRecord, version: int) -> bool:
        if version != self.version:
            return False
        self.record, self.version = record, self.version + 1
        return True


@dataclass
class Member:
    """One candidate: by its own clock alone, it does what ``decide`` says."""

    name: str
    offset: float
    rate: float
    it: ElectionState = field(init=False)
    version: int = 0
    writes: int = 0
    dead: bool = False
    late: list = field(default_factory=list)  # writes that are still on their way

    def __post_init__(self):
        self.it = ElectionState(self.name, LASTS)

    def clock(self, time):
        return self.offset + time * self.rate

    def is_leader(self, time):
        return not self.dead and self.it.is_leader(self.clock(time))

    def act(self, server, time, link, answer_at):
        """One turn: look or write. ``link``: whether the request or its answer is lost; the answer comes at ``answer_at``."""
        began = self.clock(time)
        step = decide(self.it, began).step
        if step is Step.GIVE_UP:
            self.dead = True
        elif step is Step.WAIT:
            if link == "through":
                self.it, self.version = self.it.saw(server.record, self.clock(answer_at)), server.version
        else:
            self.writes += 1
            mine = LeaseRecord(self.name, LASTS.lease, f"{self.name}{self.writes}", "a")
            if link == "request lost":
                return
            if link == "late":
                self.late.append((mine, self.version))
                return
            if server.write(mine, self.version) and link == "through":
                self.it, self.version = self.it.wrote(mine, began), server.version
            elif link == "through":
                self.it, self.version = self.it.saw(server.record, self.clock(answer_at)), server.version

    def deliver(self, server):
        """A write of long ago arrives after all; nobody hears the answer."""
        if self.late:
            server.write(*self.late.pop(0))


CLOCKS = st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(1 - SKEW, 1 + SKEW)), min_size=2, max_size=3)
TICK, TICKS = 0.5, 400  # seconds between two turns, and how many there are
LINKS, WEIGHTS = ("through", "request lost", "answer lost", "late"), (12, 3, 2, 1)
ASLEEP = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 9, 11, 14, 16, 40)  # seconds that a process sleeps after a turn


@settings(max_examples=150, deadline=None)
@given(CLOCKS, st.integers(0, 2**32))
def test_never_two_that_believe_to_lead(clocks, seed):
    """Clocks of any offset, rates that differ by a third, requests and answers lost or late, processes asleep or restarted."""
    dice, server, born = random.Random(seed), Server(), len(clocks)
    members = [Member(f"m{number}", *clock) for number, clock in enumerate(clocks)]
    awake_at, led = [0.0] * len(members), set()
    for tick in range(TICKS):
        time = tick * TICK
        for number, member in enumerate(members):
            if time < awake_at[number]:
                continue
            if member.dead or dice.random() < 0.005:
                members[number] = Member(f"m{born}", member.offset, member.rate)
                born += 1
            takes = dice.choice((0.0, 0.0, 0.0, 1.0, 3.0))
            members[number].act(server, time, dice.choices(LINKS, WEIGHTS)[0], time + takes)
            awake_at[number] = time + takes + dice.choice(ASLEEP)
            if dice.random() < 0.05:
                member.deliver(server)
            leading = [one.name for one in members if one.is_leader(time)]
            led.update(leading)
            assert len(leading) <= 1, (time, leading)
    assert led, "somebody has led at some time"


@settings(max_examples=50, deadline=None)
@given(CLOCKS)
def test_somebody_leads_soon_after_the_leader_died(clocks):
    """Asked every period, one of the others leads within the duration and two periods, by the slowest clock."""
    server, time = Server(), 0.0
    members = [Member(f"m{number}", *clock) for number, clock in enumerate(clocks)]

    def live(until, alive):
        nonlocal time
        while time < until:
            for one in alive:
                one.act(server, time, "through", time)
            time += 0.5

    live(30.0, members)
    leading = [one for one in members if one.is_leader(time)]
    assert len(leading) == 1
    left = [one for one in members if one is not leading[0]]
    live(time + (LASTS.lease + 2 * LASTS.retry_period) / (1 - SKEW), left)
    assert [one for one in left if one.is_leader(time)]
