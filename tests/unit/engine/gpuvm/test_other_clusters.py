"""A GpuVM that accepts two clusters: where it is looked for, and in which lines it waits."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.models import VmRecord
from gpucloud.engine.kinds.gpuvm.declaration import keys, owner
from gpucloud.engine.kinds.indexes import WaitsForCapacity
from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.reconcile.facts import Absent, Present, Unknown, UnknownReason, Verb
from gpucloud.reconcile.naming import external_name
from gpucloud.reconcile.waiting_line import Line, Offer
from support.builders import START, TAG
from support.gpuvmrig import NOW, ours

ONE, HOME, AWAY = "A100_40GB_PCIe_1x", "Msc1", "Hou1"
SPEC = {"placement": {"alternatives": [{"cluster": AWAY}]}}
SINCE = "2026-01-01T00:00:00Z"
REFUSED = {"state": "Refused", "id": "a-b", "name": ours().name, "cluster": HOME, "vpc": "acme", "configuration": ONE}
WAITS = {
    "observedGeneration": 1,
    "account": OWN_ACCOUNT,
    "order": REFUSED,
    "placement": {"configuration": ONE, "waitingSince": SINCE},
}
GOES_ON = WAITS | {"placement": WAITS["placement"] | {"cluster": AWAY}}
THERE = ours()._replace(cluster=AWAY)


@pytest.fixture(autouse=True)
def _free(rig):
    """Two listings of each cluster lack its VM."""
    rig.inventory.seen |= {here: Absent(NOW, NOW - 80, NOW) for here in (ours(), THERE)}


class Lines:
    """The lines of two clusters, apart."""

    def __init__(self, **says):
        self.joined, self.says, self.told = {}, says, []

    def join(self, cluster, waiter):
        self.joined[cluster] = waiter.offers

    def leave(self, cluster, _uid):
        del self.joined[cluster]

    def line(self, cluster, _place):
        return self.says.get(cluster, Line())

    def accepted(self, cluster, offer):
        self.told.append((cluster, offer, "accepted"))

    def refused(self, cluster, offer, _uid):
        self.told.append((cluster, offer, "refused"))


@pytest.fixture
def lines(rig):
    rig.reconcilers.session.capacity = Lines()
    return rig.reconcilers.session.capacity


@pytest.fixture
def search(rig):
    return rig.reconcilers.session.cluster_searches["vms"]


async def follow(rig, uid="u1"):
    plan = rig.reconciler.decide(await rig.facts(uid))
    rig.reconciler.follow_up(uid, plan)
    return plan


async def test_it_waits_in_the_line_of_each_cluster_with_what_it_accepts_there(rig, lines):
    rig.put(spec=SPEC, status=WAITS)
    await follow(rig)
    assert lines.joined == {HOME: (Offer(ONE),), AWAY: (Offer(ONE),)}
    rig.put(spec={"placement": {"alternatives": []}}, status=WAITS)
    await follow(rig)
    assert lines.joined == {HOME: (Offer(ONE),)}
    rig.drop("u1", "train")
    assert lines.joined == {}


async def test_what_the_lines_say_is_one_answer(rig, lines):
    until = START + timedelta(seconds=9)
    lines.says = {HOME: Line(listed=frozenset({Offer(ONE)}), taken={Offer(ONE): until}), AWAY: Line(turn=Offer(ONE))}
    rig.put(spec=SPEC, status=WAITS)
    line = (await rig.facts()).line
    assert (line.turn, line.listed, line.taken) == (Offer(ONE, None, AWAY), {Offer(ONE)}, {Offer(ONE): until})
    lines.says[HOME] = Line(turn=Offer(ONE), looking=True)
    line = (await rig.facts()).line
    assert (line.turn, line.looking) == (Offer(ONE), True), "of two turns the one of the preferred offer"


async def test_a_refusal_is_remembered_in_the_cluster_that_refused(rig, lines):
    rig.put(spec=SPEC, status=GOES_ON)
    rig.client.fails.append(CloudError(ErrorKind.UNAVAILABLE, "full", status=503, ambiguous=True))
    await rig.act(Verb.CREATE)
    assert lines.told == [(AWAY, Offer(ONE), "refused")]


def test_others_find_it_in_each_cluster_for_whose_capacity_it_waits(rig):
    stored = rig.put(spec=SPEC, status=WAITS)
    assert {WaitsForCapacity("msc1"), WaitsForCapacity("hou1")} <= set(keys(TAG, stored))


async def test_it_is_looked_for_and_ordered_in_the_cluster_in_hand(rig):
    rig.put(spec=SPEC, status=GOES_ON)
    await rig.act(Verb.CREATE)
    (call,) = rig.client.calls
    assert rig.inventory.watched["u1"] == THERE
    assert AWAY in str(call)


@pytest.mark.parametrize("status", [{}, WAITS], ids=["wiped", "put back"])
async def test_this_process_knows_where_it_ordered_whatever_becomes_of_the_status(rig, status):
    rig.put(spec=SPEC, status=GOES_ON)
    await rig.act(Verb.CREATE)
    rig.put(spec=SPEC, status=status)
    facts = await rig.facts()
    assert facts.identity == THERE
    assert not isinstance(facts.found, Unknown), "it is not called moved"


async def test_each_cluster_is_searched_before_an_order_and_no_longer(rig, search):
    rig.put(spec=SPEC, status=WAITS)
    rig.inventory.seen[THERE] = Present(VmRecord(id=THERE.name, namespace="acme", cluster=AWAY), NOW)
    before = await rig.facts()
    assert before.strays == (THERE,)
    assert search.searching == {"u1"}
    await rig.intend()
    await rig.facts()
    assert search.searching == set()
    stored = rig.reconciler.store.get("u1")
    asked = rig.reconciler._unclaimed.with_strays(before, rig.reconciler.account(stored, stored.spec))
    assert (asked.strays, search.searching) == ((THERE,), set()), "the question begins no search"


@pytest.mark.parametrize(
    ("spec", "generation", "waits", "why"),
    [
        (
            {},
            2,
            True,
            "seed 92334555: it was accepted in the cluster that the spec named before, and listed seven graces later",
        ),
        (SPEC, 1, True, "it may have been accepted in the other cluster"),
        ({}, 1, False, "in the only cluster that it ever named the cloud refuses a second VM of the name"),
    ],
)
async def test_what_a_lost_status_told_may_be_listed_late_elsewhere(rig, spec, generation, waits, why):
    rig.put(spec=spec, status={}, meta={"generation": generation})
    strays = (await rig.facts()).strays
    assert (isinstance(strays, Unknown) and strays.since > NOW) is waits, why


async def test_a_cluster_that_does_not_exist_makes_the_known_ones_known(rig, search):
    search.unlisted = {AWAY: Unknown(NOW, UnknownReason.REJECTED, AWAY)}
    rig.put(spec=SPEC, status=WAITS)
    assert (await rig.facts()).strays == search.unlisted[AWAY]
    assert rig.reconcilers.session.learned.clusters == ("Hou1", "Msc1")


@pytest.mark.parametrize(("spec", "searching"), [({}, set()), (SPEC, {"u1"})])
async def test_a_new_object_that_accepts_one_cluster_searches_none(rig, search, spec, searching):
    rig.put(spec=spec, meta={"finalizers": []})
    rig.put(spec=spec)
    assert ((await rig.facts()).strays, search.searching) == ((), searching)


async def test_a_lookalike_may_be_in_another_cluster(rig):
    rig.put(spec=SPEC, status=WAITS)
    older = external_name("train", "an-older-uid", TAG)
    rig.inventory.listed = [((AWAY, "acme"), older), ((AWAY, "acme"), ours().name)]
    assert (await rig.facts()).lookalikes == (older,), "its own VM is none"


@pytest.mark.parametrize(("state", "owned"), [("Refused", True), ("Seen", False)])
def test_what_is_in_another_cluster_is_no_orphan_until_a_record_says_where_it_is(rig, state, owned):
    stored = rig.put(spec=SPEC, status=WAITS | {"order": REFUSED | {"state": state}})
    found = owner(rig.reconcilers.objects, stored)
    assert (THERE in found.elsewhere) == owned


@pytest.mark.parametrize("deleting", [True, False])
def test_what_is_in_another_cluster_is_no_orphan_while_its_object_is_being_deleted(rig, deleting):
    """Seed 92333121: the status was lost, and told of the spec's cluster when the deletion had begun (ADR 31)."""
    meta = {"deletionTimestamp": AT} if deleting else {}
    stored = rig.put(spec=SPEC, status=WAITS | {"order": REFUSED | {"state": "Destroying"}}, meta=meta)
    assert owner(rig.reconcilers.objects, stored).anywhere is deleting


AT = "2026-01-01T00:00:00Z"
PLAN = {"changes": [{"name": "rootDiskGiB", "to": "300"}], "plannedAt": AT, "notBefore": AT, "finalSnapshot": False}
MADE_THERE = {
    "observedGeneration": 1,
    "account": OWN_ACCOUNT,
    "order": REFUSED | {"state": "Seen", "cluster": AWAY, "template": [f"configuration={ONE}"]},
}


def replaces(rig, plan=PLAN, alternative=None, **spec):
    """Its VM is in the other cluster, and its spec asks for another disk."""
    there = {"alternatives": [alternative or {"cluster": AWAY}]}
    rig.inventory.seen[THERE] = Present(VmRecord(id=THERE.name, namespace="acme", cluster=AWAY, status="ONLINE"), NOW)
    fields = {"placement": there, "replacePolicy": "Recreate", "rootDiskGiB": 300} | spec
    return rig.put(spec=fields, status=MADE_THERE | ({"replacement": plan} if plan else {}))


async def test_each_cluster_is_searched_before_a_vm_is_replaced_and_only_while_that_is_planned(rig, search):
    replaces(rig, plan=None)
    assert ((await rig.facts()).strays, search.searching) == ((), set())
    search.unlisted = {HOME: Unknown(NOW, UnknownReason.UNREACHABLE, HOME)}
    replaces(rig)
    assert ((await rig.facts()).strays, search.searching) == (search.unlisted[HOME], {"u1"})
    replaces(rig, plan=None, replacePolicy="Never")
    assert ((await rig.facts()).strays, search.searching) == ((), set())


async def test_a_vm_of_an_earlier_object_is_told_before_a_vm_is_replaced(rig):
    """After that nothing would be bought beside it."""
    older = external_name("train", "an-older-uid", TAG)
    rig.inventory.listed = [((AWAY, "acme"), older)]
    replaces(rig, plan=None)
    assert (await rig.facts()).lookalikes == ()
    replaces(rig)
    assert (await rig.facts()).lookalikes == (older,)


async def test_the_price_of_the_new_vm_is_that_of_what_the_spec_accepts_in_its_cluster(rig):
    """The catalogue knows no price of the other configuration."""
    replaces(rig)
    assert (await rig.facts()).replacement_price == "2.05"
    replaces(rig, alternative={"cluster": AWAY, "configuration": "A100_40GB_PCIe_2x"})
    assert (await rig.facts()).replacement_price is None


async def test_a_vm_that_is_being_destroyed_is_looked_for_in_no_cluster_that_the_spec_names_instead(rig):
    """Its absence there would pass for the proof that it is gone."""
    rig.put(spec={"replacePolicy": "Recreate"}, status=MADE_THERE | {"replacement": PLAN} | going())
    facts = await rig.facts()
    assert (facts.found.cause, facts.state) == (UnknownReason.MOVED, "Destroying")
    plan = rig.reconciler.decide(facts)
    assert (plan.action, plan.records_order) == (None, False)


def going():
    return {"order": MADE_THERE["order"] | {"state": "Destroying"}}
