"""GpuVMs in the waiting lines for capacity: who joins, who leaves, and who queues behind whom."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.models import VmRecord
from gpucloud.kinds.common import OWN_ACCOUNT, OrderState
from gpucloud.reconcile.facts import Present, Verb
from gpucloud.reconcile.plan import Plan
from gpucloud.reconcile.waiting_line import Line, Offer
from support.builders import START
from support.gpuvmrig import NOW, ours

SINCE = "2026-01-01T00:00:00Z"
ONE, TWO = "A100_40GB_PCIe_1x", "A100_40GB_PCIe_2x"
WAITS = {
    "observedGeneration": 1,
    "account": OWN_ACCOUNT,
    "order": {"state": "Refused", "id": "a-b", "name": "x", "cluster": "Msc1", "vpc": "acme"},
    "placement": {"configuration": ONE, "waitingSince": SINCE},
}
PAUSED = {"annotations": {"gpucloud.dev/paused": "true"}}
DELETED = {"deletionTimestamp": SINCE}


async def follow(rig, uid="u1"):
    plan = rig.reconciler.decide(await rig.facts(uid))
    rig.reconciler.follow_up(uid, plan)
    return plan


@pytest.fixture
def line(rig):
    return rig.reconcilers.session.capacity


async def test_who_waits_joins_the_line_of_its_cluster(rig, line):
    rig.put(status=WAITS)
    await follow(rig)
    (cluster, place), = line.joined.values()  # fmt: skip
    assert (cluster, place.offers, place.since.isoformat()) == ("Msc1", (Offer(ONE),), "2026-01-01T00:00:00+00:00")


async def test_who_never_waited_does_not(rig, line):
    rig.put()
    assert (await follow(rig)).records_order
    assert line.joined == {}


@pytest.mark.parametrize("why", ["its VM is there", "it is being deleted", "it is deleted", "its account has no session"])
async def test_who_waits_no_more_leaves(rig, line, why):
    rig.put(status=WAITS)
    await follow(rig)
    match why:
        case "its VM is there":
            rig.put(status=WAITS | {"order": WAITS["order"] | {"state": "Seen", "name": ours().name}})
            rig.inventory.seen[ours()] = Present(VmRecord(id=ours().name, status="ONLINE"), NOW)
        case "it is being deleted":
            rig.put(status=WAITS, meta=DELETED)
        case "it is deleted":
            rig.drop("u1", "train")
        case _:
            rig.reconcilers.accounts.own = None
    if why != "it is deleted":
        await follow(rig)
    assert line.joined == {}


async def test_a_paused_one_keeps_its_place_and_is_passed_over(rig, line):
    rig.put(status=WAITS, meta=PAUSED)
    await follow(rig)
    assert [place.ready for _, place in line.joined.values()] == [False]


@pytest.mark.parametrize(
    ("more", "queues", "why"),
    [
        ({}, True, "it wants the same"),
        ({"spec": {"configuration": TWO, "placement": {"alternatives": [{"configuration": ONE}]}}}, True, "also second best"),
        ({"spec": {"cluster": "MSC1"}}, True, "by any spelling of the cluster"),
        ({"spec": {"configuration": TWO}}, False, "it wants something else"),
        ({"spec": {"cluster": "Hou1"}}, False, "in another cluster"),
        ({"meta": PAUSED}, False, "it is paused"),
        ({"meta": DELETED}, False, "it is being deleted"),
    ],
)
async def test_a_new_one_queues_behind_those_that_wait_for_the_same(rig, line, more, queues, why):
    """They are found by their status: a restart forgets the lines."""
    rig.put("first", "first", status=WAITS, **more)
    rig.put()
    line.says["u1"] = Line(listed=frozenset({Offer(ONE)}))
    plan = await follow(rig)
    assert plan.records_order is not queues, why
    assert ("u1" in line.joined) is queues, why


async def test_those_of_another_credential_are_in_another_line(rig):
    rig.reconcilers.account(namespace="team")
    rig.put("first", "first", spec={"accountRef": {"name": "default"}}, status=WAITS | {"account": "default"})
    rig.put("u2", "second", meta={"namespace": "other"})
    assert (await rig.facts("u2")).line == Line()


async def test_what_the_line_says_is_a_fact_of_who_waits(rig, line):
    rig.put(status=WAITS)
    line.says["u1"] = Line(listed=frozenset({Offer(ONE)}), turn=Offer(ONE))
    assert (await rig.facts()).line == line.says["u1"]
    assert (await follow(rig)).records_order


async def test_who_is_being_deleted_asks_the_line_nothing(rig, line):
    rig.put(status=WAITS, meta=DELETED)
    line.says["u1"] = Line(turn=Offer(ONE))
    assert (await rig.facts()).line == Line()


def until(seconds):
    return {Offer(ONE): START + timedelta(seconds=NOW + seconds)}


async def test_a_new_one_queues_where_others_were_refused_the_same_a_moment_ago(rig, line):
    rig.put()
    line.says["u1"] = Line(listed=frozenset({Offer(ONE)}), taken=until(30))
    assert not (await follow(rig)).records_order
    assert list(line.joined) == ["u1"]


@pytest.mark.parametrize("taken", [True, False])
async def test_an_order_is_not_sent_once_others_were_refused_the_same(rig, line, taken):
    """Asked in the instant of sending: the facts were gathered before the refusal came. The order is withdrawn, and waits."""
    rig.put()
    await rig.intend()
    facts = await rig.facts()
    assert rig.reconciler.decide(facts).action is Verb.CREATE
    line.says["u1"] = Line(taken=until(30) if taken else {})
    event = await rig.reconciler.act(facts, Plan(action=Verb.CREATE))
    assert (event is None, rig.client.calls == []) == (taken, taken)
    if taken:
        plan = await follow(rig)
        assert (plan.action, plan.records_order, plan.status.order.state) == (None, False, OrderState.REFUSED)
        assert plan.status.placement.waiting_since is not None


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (None, [("Msc1", Offer(ONE), "accepted")]),
        (ErrorKind.UNAVAILABLE, [("Msc1", Offer(ONE), "u1")]),
        (ErrorKind.INVALID, []),
        (ErrorKind.THROTTLED, []),
    ],
)
async def test_what_the_cloud_answers_to_an_order_is_remembered(rig, line, failure, told):
    rig.put()
    rig.client.fails.append(None if failure is None else CloudError(failure, "no"))
    await rig.act(Verb.CREATE)
    assert line.told == told


RUNNING = {
    "observedGeneration": 1,
    "account": OWN_ACCOUNT,
    "order": WAITS["order"] | {"state": "Seen", "name": ours().name},
    "operation": {"verb": "Start", "generation": 1, "id": "x", "at": SINCE, "outcome": "Unclear"},
}


def switched_off(rig, uid="u1", name="train", **more):
    here = ours(name, uid)
    rig.inventory.seen[here] = Present(VmRecord(id=here.name, status="OFFLINE", rpool="p"), NOW)
    rig.put(uid, name, status=RUNNING | {"order": RUNNING["order"] | {"name": here.name}} | more)


MADE = Offer(ONE, "p")


async def test_a_vm_that_is_to_be_started_waits_in_the_same_line(rig, line):
    switched_off(rig, placement=WAITS["placement"])
    line.says["u1"] = Line(listed=frozenset({MADE}))
    assert (await follow(rig)).action is None
    (cluster, place), = line.joined.values()  # fmt: skip
    assert (cluster, place.offers, place.since.isoformat()) == ("Msc1", (MADE,), "2026-01-01T00:00:00+00:00")
    line.says["u1"] = Line(listed=frozenset({MADE}), turn=MADE)
    assert (await follow(rig)).action is Verb.START


async def test_a_first_start_queues_behind_those_that_wait_for_the_same(rig, line):
    rig.put("first", "first", status=WAITS)
    switched_off(rig)
    line.says["u1"] = Line(listed=frozenset({MADE}))
    plan = await follow(rig)
    assert (plan.action, list(line.joined)) == (None, ["u1"])


@pytest.mark.parametrize("taken", [True, False])
async def test_a_start_is_not_sent_once_others_were_refused_the_same(rig, line, taken):
    switched_off(rig)
    facts = await rig.facts()
    assert rig.reconciler.decide(facts).action is Verb.START
    line.says["u1"] = Line(taken={MADE: START + timedelta(seconds=NOW + 30)} if taken else {})
    event = await rig.reconciler.act(facts, Plan(action=Verb.START))
    assert (event is None, rig.client.calls == []) == (taken, taken)
    if taken:
        assert (await follow(rig)).action is None


@pytest.mark.parametrize(
    ("failure", "told"),
    [(None, [("Msc1", MADE, "accepted")]), (ErrorKind.UNAVAILABLE, [("Msc1", MADE, "u1")]), (ErrorKind.THROTTLED, [])],
)
async def test_what_the_cloud_answers_to_a_start_is_remembered(rig, line, failure, told):
    switched_off(rig)
    rig.client.fails.append(None if failure is None else CloudError(failure, "no"))
    await rig.act(Verb.START)
    assert line.told == told
