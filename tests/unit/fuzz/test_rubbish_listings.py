"""From a rubbish listing through the real client and inventory to a decision: nothing in the cloud is changed because of it.

A good listing comes first, so that there is something to lose. Time is the loop's, which looptime moves.
"""

import asyncio
import json
from dataclasses import dataclass, replace
from functools import partial

import httpx
import pytest

from gpucloud.cloud.client import CloudClient
from gpucloud.cloud.options import ApiKey, ClientOptions
from gpucloud.engine.cloud import listings
from gpucloud.engine.cloud.inventory import Inventory
from gpucloud.engine.cloud.listing_spacing import Intervals
from gpucloud.engine.runtime.clock import reading
from gpucloud.kinds.common import OWN_ACCOUNT, OrderState
from gpucloud.reconcile import gpusnapshot, gpuvm, gpuvpc
from gpucloud.reconcile.facts import CREATES, CallHistory, Unknown, Verb
from gpucloud.reconcile.gpuvpc import Occupants
from support import builders, snapshotfacts, vpcfacts
from support.builders import NOW, an_object, our_name
from support.fakes import LoopClock, NoMeter
from support.generated_amount import amount, drawn_for, replay
from support.generated_answers import CLASSES, RECORD, encoded
from support.rows import OLD, tried
from unit.cloud.fakes import BASE

pytestmark = pytest.mark.looptime
EACH = amount(4, 40)  # answers of each class for each situation
GOING, LOST = an_object(deleting=True), {"kind": "OutcomeUnknown", "ambiguous": True}
NEW = CallHistory(first_seen=NOW - 60, seen_new=True)


@dataclass(frozen=True)
class Kind:
    """A kind, a good listing of it, and its object in each situation."""

    fetch: object
    identify: object
    decide: object
    key: str  # which field of a record tells it
    record: dict
    situations: dict


VM = our_name()
VM_THERE = builders.a_status(
    "Running", "True", None, order=builders.an_order(VM), vm_id=VM, account=OWN_ACCOUNT, tenancy="acme"
)
VM_ORDERED = builders.a_status("Creating", order=builders.an_order(VM, OrderState.INTENDED), account=OWN_ACCOUNT)
VPC_INTENDED = builders.an_order(vpcfacts.NAME, OrderState.INTENDED, vpc=vpcfacts.NAME)
SNAPSHOT_INTENDED = builders.an_order(snapshotfacts.NAME, OrderState.INTENDED)
VPC_THERE = vpcfacts.a_vpc_status("Available", "True", None, **vpcfacts.MADE)
VPC_ORDERED = vpcfacts.a_vpc_status("Creating", **vpcfacts.MADE | {"order": VPC_INTENDED, "vpc_id": None})
TAKEN = snapshotfacts.a_snapshot_status("Completed", "True", None, **snapshotfacts.TAKEN)
TAKING = snapshotfacts.a_snapshot_status("Creating", **snapshotfacts.TAKEN | {"order": SNAPSHOT_INTENDED, "snapshot_id": None})


def situations(make, there, ordered, create, destroy):
    """A function that makes the facts, for each situation that rubbish may come in."""
    return {
        "never ordered": partial(make, history=NEW),
        "ordered, the answer lost": partial(make, status=ordered, history=tried(create, ago=45, **LOST)),
        "ordered by another process": partial(make, status=ordered, history=CallHistory(NOW - 310)),
        "there": partial(make, status=there, history=OLD),
        "there, to go": partial(make, status=there, history=OLD, meta=GOING),
        "told to go": partial(make, status=there, history=tried(destroy, ago=310, history=OLD), meta=GOING),
        "never seen, to go": partial(make, status=ordered, history=tried(create, ago=45, **LOST), meta=GOING),
    }


KINDS = {
    "GpuVM": Kind(
        listings.vms,
        listings.vm_identity,
        gpuvm.decide,
        "id",
        {"id": VM, "namespace": "acme", "cluster": "Msc1", "status": "ONLINE", "tenancy_name": "acme"},
        situations(builders.facts, VM_THERE, VM_ORDERED, Verb.CREATE, Verb.DESTROY)
        | {"to be stopped": partial(builders.facts, spec=builders.a_spec(powerState="Stopped"), status=VM_THERE, history=OLD)},
    ),
    "GpuVpc": Kind(
        listings.vpcs,
        listings.vpc_identity,
        gpuvpc.decide,
        "name",
        {"id": "vpc-1", "name": vpcfacts.NAME, "cluster": "Msc1", "tenancyName": "acme"},
        situations(vpcfacts.vpc_facts, VPC_THERE, VPC_ORDERED, Verb.CREATE_VPC, Verb.DESTROY_VPC),
    ),
    "GpuSnapshot": Kind(
        listings.snapshots,
        listings.snapshot_identity,
        gpusnapshot.decide,
        "id",
        {"id": snapshotfacts.NAME, "namespace": "acme", "readyToUse": True, "tenancyName": "acme"},
        situations(snapshotfacts.snapshot_facts, TAKEN, TAKING, Verb.CREATE_SNAPSHOT, Verb.DELETE_SNAPSHOT),
    ),
}


class Served(httpx.AsyncBaseTransport):
    """One answer to everything, until there is another."""

    def __init__(self, good):
        self.good, self.rubbish = good, None

    async def handle_async_request(self, _request):
        if self.rubbish is None:
            return httpx.Response(200, content=self.good)
        it = self.rubbish
        return httpx.Response(it.status, headers=list(it.headers), stream=httpx.ByteStream(it.body))


async def seen(kind, here, good, rubbish):
    """What an inventory makes of two listings of ours and then of three that are rubbish, and what is in the VPC by it."""
    served = Served(encoded(good))
    options = ClientOptions(max_retries=0, qps=1e6, burst=1000, max_body_bytes=100_000)
    client = CloudClient(BASE, ApiKey("made-up-key"), transport=served, options=options)
    inventory = Inventory(
        partial(kind.fetch, client), kind.identify, clock=LoopClock(), intervals=Intervals(2.0, 60.0), meter=NoMeter()
    )
    inventory.watch("u", here)
    inventory.expect_change("u", True)
    await asyncio.sleep(4.5)
    served.rubbish = rubbish
    await asyncio.sleep(15)
    found, inside = inventory.observe(here), inventory.within(here.cluster, here.vpc)
    await inventory.aclose()
    await client.aclose()
    return found, inside


def is_text(value):
    return (isinstance(value, str) and bool(value.strip())) or (isinstance(value, int | float) and not isinstance(value, bool))


def records(rubbish, key):
    """The records of what may pass for a listing, by a reading of our own; None: it may not."""
    if not 200 <= rubbish.status < 300 or RECORD not in rubbish.right or rubbish.headers:
        return None
    try:
        payload = json.loads(rubbish.body)
    except (ValueError, RecursionError):
        return None
    for candidate in (payload, payload.get("result") if isinstance(payload, dict) else None):
        items = candidate.get("items") if isinstance(candidate, dict) else None
        if isinstance(items, list) and all(isinstance(item, dict) and is_text(item.get(key)) for item in items):
            return items
    return None


def may(rubbish, kind, plan):
    """Whether a plan stands on something: it changes nothing, or what was listed is a listing that allows it."""
    if plan.action is None and plan.release is None:
        return True
    listed = records(rubbish, kind.key)
    if listed is None:
        return False
    ours = [
        item for item in listed if str(item[kind.key]).strip() == kind.record[kind.key] and not elsewhere(item, kind.record)
    ]
    return not (ours and (plan.action in CREATES or plan.release)) and len(ours) < 2


def elsewhere(item, record):
    """Whether it names another cluster or VPC than this record, or bears another id: then it speaks of something else."""
    words = ("cluster", "namespace", "id")
    return any(is_text(item.get(word)) and str(item[word]).strip() != record.get(word, item[word]) for word in words)


def decided(kind, make, found):
    """What is decided now, by facts that lack nothing but a look."""
    facts, now = make(found=found), reading(LoopClock())
    extra = {"occupants": Occupants((), now.mono, now.mono)} if kind is KINDS["GpuVpc"] and facts.meta.deleting else {}
    if kind is KINDS["GpuSnapshot"]:
        extra = {"source": replace(facts.source, seen=builders.present(as_of=now.mono))}
    return kind.decide(replace(facts, now=now, **extra))


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("which", KINDS)
async def test_nothing_is_changed_because_of_it(name, which):
    kind = KINDS[which]
    here = kind.situations["there"]().identity
    await asyncio.sleep(NOW)
    for number in range(EACH):
        rubbish = CLASSES[name](drawn_for(name, which, number), {"items": [kind.record, kind.record | {kind.key: "other"}]})
        found, _ = await seen(kind, here, {"items": [kind.record]}, rubbish)
        for why, make in kind.situations.items():
            plan = decided(kind, make, found)
            told = f"{why}, number {number}: {plan.action} {plan.release} of {found}, {rubbish.body[:300]}"
            assert may(rubbish, kind, plan), f"{told}\n{replay('tests/unit/fuzz/test_rubbish_listings.py')}"


@pytest.mark.parametrize("name", CLASSES)
async def test_no_vpc_goes_while_what_is_in_it_is_rubbish(name):
    """A record that names no VPC may be in it; what can be read says otherwise, or it stays."""
    vms, facts = KINDS["GpuVM"], vpcfacts.vpc_facts(status=VPC_THERE, history=OLD, meta=GOING, found=vpcfacts.a_vpc())
    inside = vms.record | {"namespace": vpcfacts.NAME}
    await asyncio.sleep(NOW - 60)
    for number in range(EACH * 4):
        rubbish = CLASSES[name](drawn_for(name, "inside", number), {"items": [inside]})
        _, within = await seen(vms, facts.identity._replace(name="any"), {"items": [inside]}, rubbish)
        now = reading(LoopClock())
        occupants = within
        if not isinstance(within, Unknown):
            occupants = Occupants(tuple(str(item.id) for item in within.records), within.as_of, within.confirmed)
        plan = gpuvpc.decide(replace(facts, now=now, found=vpcfacts.a_vpc(as_of=now.mono), occupants=occupants))
        listed = records(rubbish, "id")
        emptied = listed is not None and all(elsewhere(item, inside) for item in listed)
        assert plan.action is None or emptied, f"number {number}: {within}, {rubbish.body[:300]}"


IDLE = {"there"}  # situations in which nothing is to be done, whatever is listed


@pytest.mark.parametrize("which", KINDS)
async def test_a_good_listing_is_acted_upon_in_these_situations(which):
    """Otherwise their standing still would prove nothing."""
    kind, acted = KINDS[which], set()
    here = kind.situations["there"]().identity
    for items in ([kind.record], []):
        await asyncio.sleep(max(NOW - asyncio.get_running_loop().time(), 0))
        found, _ = await seen(kind, here, {"items": items}, None)
        for why, make in kind.situations.items():
            plan = decided(kind, make, found)
            if plan.action or plan.release or plan.records_order:
                acted.add(why)
    assert acted == set(kind.situations) - IDLE
