"""Ten thousand listings with the faults of pagination, over VMs that all live (D18).

Pages are missing, repeated, loop, and items move between them. The real inventory and the real decisions, on the event loop's
time. No listing lacks what the one before it lacked, since that is what two looks in a row are believed for. Nobody's VM may be
destroyed, powered or ordered again, and no object let go.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import chain

import pytest

from gpucloud.cloud.models import Listing
from gpucloud.engine.cloud.inventory import Inventory
from gpucloud.engine.cloud.listing_spacing import Intervals
from gpucloud.engine.cloud.listings import vm_identity
from gpucloud.engine.runtime.clock import reading
from gpucloud.kinds.common import OWN_ACCOUNT, OrderState
from gpucloud.reconcile import evidence
from gpucloud.reconcile.facts import Absent, CallHistory, Unknown, Verb
from gpucloud.reconcile.gpuvm import decide
from support import builders
from support.builders import NOW, an_object
from support.fakes import LoopClock, NoMeter
from support.rows import OLD, tried

pytestmark = [pytest.mark.looptime, pytest.mark.timeout(600)]

SCANS, FEW = 10_000, 400
EVERY = 2.0
PAGE = 4
LOST = {"kind": "OutcomeUnknown", "ambiguous": True}


class Cloud:
    """Twelve VMs that never change, and listings of them in pages that go wrong by the dice."""

    def __init__(self, names, dice):
        self.records = [builders.a_record(name=name) for name in names]
        self.dice = dice
        self.lacked = frozenset()
        self.faults = Counter()

    async def listing(self, _cluster):
        await asyncio.sleep(0.01)
        pages = [self.records[start : start + PAGE] for start in range(0, len(self.records), PAGE)]
        fault = self.dice.choice((self.whole, self.missing, self.repeated, self.loops, self.moved, self.shuffled, self.nothing))
        items = fault(pages)
        lacking = frozenset(one.id for one in self.records) - {item.id for item in items}
        if lacking & self.lacked:  # not twice in a row
            items, lacking = self.records, frozenset()
        self.lacked = lacking
        self.faults[fault.__name__] += bool(lacking) or len(items) != len(self.records)
        return Listing(items=tuple(items), complete=True)

    def whole(self, pages):
        return flat(pages)

    def missing(self, pages):
        gone = self.dice.randrange(len(pages))
        return flat(page for number, page in enumerate(pages) if number != gone)

    def repeated(self, pages):
        return flat([*pages, self.dice.choice(pages)])

    def loops(self, pages):
        return flat(pages[:2]) * self.dice.randint(2, 5)

    def moved(self, _pages):
        """An item goes to another page between two pages' being read: it is there twice, or not at all."""
        item = self.dice.choice(self.records)
        return [one for one in self.records if one is not item] + [item] * self.dice.choice((0, 2))

    def shuffled(self, _pages):
        return self.dice.sample(self.records, len(self.records))

    def nothing(self, _pages):
        return []


def flat(pages):
    return list(chain.from_iterable(pages))


def objects():
    """Twelve objects, three in each situation: facts but for the time and the look."""
    there = partial(builders.a_status, "Running", "True", None, account=OWN_ACCOUNT, tenancy="acme")
    ordered = partial(builders.a_status, "Creating", account=OWN_ACCOUNT)
    situations = {
        "stands": (there, OrderState.SEEN, OLD, False),
        "was ordered, and the answer lost": (ordered, OrderState.INTENDED, tried(Verb.CREATE, ago=45, **LOST), False),
        "was ordered by another process": (ordered, OrderState.INTENDED, CallHistory(NOW - 60), False),
        "was told to go": (there, OrderState.DESTROYING, tried(Verb.DESTROY, ago=5), True),
    }
    made = {}
    for number in range(12):
        name, (status, state, history, deleting) = list(situations.items())[number % 4]
        meta = an_object(uid=f"11111111-2222-3333-4444-{number:012d}", name=f"vm-{number}", deleting=deleting)
        here = builders.our_name(meta=meta)
        seen = {"vm_id": here} if status is there else {}
        facts = builders.facts(meta=meta, status=status(order=builders.an_order(here, state), **seen), history=history)
        made[f"{number}, which {name}"] = facts
    return made


async def test_nothing_is_lost_by_ten_thousand_odd_listings(campaign):
    await asyncio.sleep(NOW)
    all_of_them, scans = objects(), SCANS if campaign.whole else FEW
    cloud = Cloud([facts.identity.name for facts in all_of_them.values()], campaign.dice)
    inventory = Inventory(cloud.listing, vm_identity, clock=LoopClock(), intervals=Intervals(EVERY, EVERY), meter=NoMeter())
    inventory._expected = lambda _cluster, _shown: [facts.identity for who, facts in all_of_them.items() if "stands" in who]
    for uid, facts in all_of_them.items():
        inventory.watch(uid, facts.identity)
    known = {who: facts.tracked for who, facts in all_of_them.items()}
    wrong, saw = [], Counter()
    for _ in range(scans):
        await asyncio.sleep(EVERY)
        for who, facts in all_of_them.items():
            found = inventory.observe(facts.identity)
            saw[type(found)] += 1
            now = reading(LoopClock())
            known[who] = evidence.observed(known[who], found, builders.proofs(facts), now, facts.history.first_seen)
            plan = decide(replace(facts, now=now, found=found, tracked=known[who]))
            told_again = plan.action is Verb.DESTROY and facts.meta.deleting  # its owner wants it gone
            if (plan.action is not None and not told_again) or plan.records_order or plan.release is not None:
                wrong.append(f"{who}: {plan.action or plan.release or 'a new order'} upon {found}")
    await inventory.aclose()
    campaign.count("D18", scans, len(wrong))
    assert not wrong, f"{len(wrong)} of {scans}: {wrong[:3]}{campaign.replay('')}"
    assert min(saw[Absent], saw[Unknown]) > scans / 20, f"the listings were too good: {saw}"
    assert all(cloud.faults[name] for name in ("missing", "repeated", "loops", "moved", "nothing"))
