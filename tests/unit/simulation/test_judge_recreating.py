"""Recreation: a VM is replaced only where its spec asks for that, at most three times an hour."""

from datetime import timedelta

import pytest

from simulation.process import EPOCH, Process

ASKS = {"onLoss": "Recreate"}


def moves(court, item, state, **status):
    """An operator records the order in this state."""
    order = court.judge.books.lives[item["metadata"]["uid"]].status["order"]
    court.writes(item, order=order | {"state": state}, **status)


def recreates(court, item, after="Lost", **status):
    for state in ("Seen", after, "Intended"):
        moves(court, item, state, **status)


@pytest.mark.parametrize(
    ("spec", "found"),
    [({}, ["recreated"]), (ASKS, []), (ASKS | {"powerState": "Stopped"}, ["recreated"])],
    ids=["not asked for", "asked for", "to be stopped"],
)
@pytest.mark.parametrize("after", ["Lost", "Gone"])
def test_another_vm_is_ordered_only_where_the_spec_asks_for_that(court, spec, after, found):
    item = court.bought(**spec)
    court.passes(100)
    recreates(court, item, after)
    assert court.oracles == found


def test_an_order_that_another_object_once_sent_is_no_vm_of_this_one(court):
    """Seed 92056083: the status of an earlier object of this name was restored onto the new one."""
    other = court.judge.books.lives[court.bought("b", "b-x")["metadata"]["uid"]]
    item = court.bought()
    own = court.judge.books.lives[item["metadata"]["uid"]].status["order"]
    court.writes(item, order=other.status["order"] | {"state": "Seen"})
    court.writes(item, order=own | {"state": "Intended"})
    assert court.oracles == []


def test_a_record_without_a_name_is_of_no_vm(court):
    """Seed 92210940: somebody wrote such a record into the status before anything had been ordered."""
    item = court.applied()
    court.writes(item, order={"id": "", "state": "Gone", "name": "", "cluster": "", "vpc": ""})
    court.records(item, "a-x")
    assert court.oracles == []


def test_what_a_restored_etcd_tells_nobody_is_ordered_again(court):
    """Seed 92161278: the cloud had named the VM itself, and only the status that was lost told which one it was."""
    item = court.bought()
    moves(court, item, "Seen")
    court.judge.restored()
    moves(court, item, "Intended")
    assert court.oracles == []


def test_a_process_counts_what_a_restored_etcd_does_not_tell(court):
    """Seed 1765: the process knew that the VM was lost, and so that its order is a recreation."""
    item = court.bought(**ASKS)
    life = court.judge.books.lives[item["metadata"]["uid"]]
    court.judge.restored()
    for number in (1, 2, 3):
        court.passes(60)
        assert not court.judge.recreating.is_limited(life)
        court.writes(item, order=life.status["order"] | {"state": "Intended", "recreation": number})
    assert court.judge.recreating.is_limited(life)


@pytest.mark.parametrize(
    ("skew", "after", "limited"), [(0.0, 3500.0, True), (0.0, 3700.0, False), (3600.0, 3700.0, True), (-3600.0, 7300.0, False)]
)
def test_where_clocks_differ_a_recreation_may_count_for_longer(court, skew, after, limited):
    """Seed 92243734: the times in status were of a process whose clock was an hour ahead."""
    court.operator.skew = skew
    court.world.processes.append(court.operator)
    item = court.bought(**ASKS)
    for _ in range(3):
        recreates(court, item)
    court.passes(after)
    assert court.judge.recreating.is_limited(court.judge.books.lives[item["metadata"]["uid"]]) is limited


@pytest.mark.parametrize(("after", "found"), [(1.0, []), (600.0, ["recreated"])])
def test_a_wish_that_was_given_up_a_moment_ago_may_still_be_carried_out(court, after, found):
    item = court.bought(**ASKS)
    court.world.actors.owner.patch(item, {"spec": {"onLoss": "Fail"}})
    court.passes(after)
    recreates(court, item)
    assert court.oracles == found


@pytest.mark.parametrize(("between", "found"), [(60.0, ["recreated"]), (1300.0, [])])
def test_at_most_three_are_ordered_within_an_hour(court, between, found):
    item = court.bought(**ASKS)
    for _ in range(4):
        court.passes(between)
        recreates(court, item)
    assert court.oracles == found


@pytest.mark.parametrize(
    ("first", "last", "after", "found"),
    [
        (0.0, 90.0, 3480.0, ["recreated"]),
        (0.0, 90.0, 3520.0, []),
        (90.0, 90.0, 3520.0, ["recreated"]),
        (90.0, 0.0, 3520.0, ["recreated"]),
        (90.0, 0.0, 3620.0, []),
    ],
    ids=[
        "too soon by both clocks",
        "an hour by the later clock",
        "by one clock",
        "the later one is behind",
        "an hour in truth",
    ],
)
def test_the_hour_is_counted_by_the_clocks_of_those_who_record_it(court, first, last, after, found):
    """Seed 92257694: the fourth was ordered by a process whose clock was ahead, and of the others only the status told."""
    court.world.processes += [Process("operator-0.1", skew=first), Process("operator-0.2", skew=last)]
    item = court.bought(**ASKS)
    for clock, wait in ((first, 0.0), (first, 0.0), (first, 0.0), (last, after)):
        court.passes(wait)
        said = EPOCH + timedelta(seconds=court.world.loop.time() + clock)
        recreates(court, item, recreations=[f"{said:%Y-%m-%dT%H:%M:%SZ}"])
    assert court.oracles == found


def test_an_order_that_was_refused_is_repeated_without_being_a_recreation(court):
    item = court.bought(**ASKS)
    for state in ("Seen", "Lost", *("Intended", "Refused") * 6):
        moves(court, item, state)
    assert court.oracles == []


@pytest.mark.parametrize(
    ("spec", "fails", "found"),
    [
        (ASKS, True, []),
        (ASKS, False, ["unasked"]),
        ({}, True, ["unasked"]),
        (ASKS | {"deletion": {"policy": "Retain"}}, True, ["unasked"]),
    ],
    ids=["it has failed", "it is well", "not asked for", "retained"],
)
def test_only_a_failed_vm_whose_spec_asks_for_another_is_destroyed_for_it(court, spec, fails, found):
    item = court.bought(**spec)
    court.passes(60.0)
    if fails:
        assert court.world.cloud.fail_vm("a-x", "acme", "Msc1")
    moves(court, item, "Destroying")
    court.destroys("a-x")
    assert court.oracles == found


@pytest.mark.parametrize(("times", "true"), [(2, False), (3, True)])
def test_a_status_may_say_that_the_limit_is_reached_only_when_it_is(court, times, true):
    item = court.bought(**ASKS)
    for _ in range(times):
        recreates(court, item)
    life = court.judge.books.lives[item["metadata"]["uid"]]
    assert court.judge.recreating.is_limited(life) is true


REPLACES = {"replacePolicy": "Recreate"}
PLAN = {
    "changes": [{"name": "rootDiskGiB", "to": "300"}],
    "plannedAt": "2026-01-01T00:01:00Z",
    "notBefore": "2026-01-01T00:01:30Z",
}


@pytest.mark.parametrize(
    ("spec", "change", "found"),
    [
        (REPLACES, {"rootDiskGiB": 300}, []),
        (REPLACES, {"powerState": "Stopped"}, ["unasked"]),
        ({}, {"rootDiskGiB": 300}, ["unasked"]),
        (REPLACES | {"deletion": {"policy": "Retain"}}, {"rootDiskGiB": 300}, ["unasked"]),
    ],
    ids=["it is not as its spec says", "that needs no other VM", "not asked for", "retained"],
)
def test_only_a_vm_that_is_not_as_its_spec_says_is_replaced_and_only_if_that_asks_for_it(court, spec, change, found):
    item = court.bought(**spec)
    court.passes(60.0)
    court.world.actors.owner.patch(item, {"spec": change})
    court.writes(item, replacement=PLAN)
    moves(court, item, "Destroying")
    court.destroys("a-x")
    assert court.oracles == found
    if not found:
        recreates(court, item, "Gone")
        assert court.oracles == []


LARGE = "A100_40GB_PCIe_2x"


def made_of_an_alternative(court):
    """Its VM is LARGE, since there was no room for the first one; then the spec names that."""
    item = court.applied(**REPLACES, placement={"alternatives": [{"configuration": LARGE}]})
    court.records(item, "a-x")
    assert court.orders("a-x", configuration=LARGE) == 202
    moves(court, item, "Seen")
    court.passes(60.0)
    court.world.actors.owner.patch(item, {"spec": {"configuration": LARGE}})
    return item


def says_ready(court, item):
    said = {"reason": "Made", "message": "Up.", "lastTransitionTime": "2026-01-01T00:01:00Z"}
    court.writes(item, conditions=[{"type": "Ready", "status": "True"} | said])


def test_the_cluster_of_a_vm_may_be_spelled_otherwise_in_its_record(court):
    """Seed 92255408: its record names cluster 'msc1', and the VM was not found in the cloud's 'Msc1'."""
    item = made_of_an_alternative(court)
    order = court.judge.books.lives[item["metadata"]["uid"]].status["order"]
    court.writes(item, order=order | {"cluster": "msc1"})
    says_ready(court, item)
    assert court.oracles == []


def test_a_vm_is_not_destroyed_for_its_own_equal(court):
    item = made_of_an_alternative(court)
    court.writes(item, replacement=PLAN)
    moves(court, item, "Destroying")
    court.destroys("a-x")
    assert court.oracles == ["unasked"]


def test_a_vm_that_is_what_the_spec_names_by_now_is_ready_and_is_destroyed_for_another_after_that(court):
    item = made_of_an_alternative(court)
    says_ready(court, item)
    court.world.actors.owner.patch(item, {"spec": {"configuration": "A100_40GB_PCIe_1x"}})
    court.writes(item, replacement=PLAN, conditions=[])
    court.looks()
    moves(court, item, "Destroying")
    court.destroys("a-x")
    assert court.oracles == []


def test_a_vm_that_is_made_late_of_an_order_that_counted_as_refused_is_replaced(court):
    """Seed 92724729: its owner had edited the spec meanwhile."""
    item = court.bought(**REPLACES)
    court.passes(60.0)
    moves(court, item, "Refused")
    court.world.actors.owner.patch(item, {"spec": {"rootDiskGiB": 300}})
    moves(court, item, "Seen")
    court.writes(item, replacement=PLAN)
    moves(court, item, "Destroying")
    court.destroys("a-x")
    assert court.oracles == []


def test_a_vm_is_in_the_pool_that_the_spec_names_by_now(court):
    item = court.bought(**REPLACES)
    moves(court, item, "Seen")
    pool = next(iter(court.world.cloud.world.vms.table.rows())).order.pool
    court.world.actors.owner.patch(item, {"spec": {"resourcePool": pool}})
    says_ready(court, item)
    assert court.oracles == []
    court.world.actors.owner.patch(item, {"spec": {"resourcePool": f"{pool}-2"}})
    says_ready(court, item)
    assert court.oracles == ["another"]


@pytest.mark.parametrize(("plan", "found"), [({"replacement": PLAN}, []), ({}, ["unplanned"])])
def test_a_vm_is_destroyed_for_another_only_after_a_status_had_the_plan(court, plan, found):
    item = court.bought(**REPLACES)
    court.world.actors.owner.patch(item, {"spec": {"rootDiskGiB": 300}})
    moves(court, item, "Seen")
    court.writes(item, **plan)
    moves(court, item, "Destroying")
    assert court.oracles == found


@pytest.mark.parametrize("policy", ["Recreate", "Never"])
@pytest.mark.parametrize(("ready", "found"), [("False", []), ("True", ["another"])])
def test_a_vm_that_was_made_from_another_spec_is_not_ready(court, policy, ready, found):
    item = court.bought(**REPLACES)
    court.world.actors.owner.patch(item, {"spec": {"rootDiskGiB": 300, "replacePolicy": policy}})
    said = {"reason": "Made", "message": "Up.", "lastTransitionTime": "2026-01-01T00:01:00Z"}
    court.writes(item, conditions=[{"type": "Ready", "status": ready} | said])
    assert court.oracles == found


@pytest.mark.parametrize(("after", "found"), [(1.0, []), (600.0, ["unasked"])])
def test_a_change_that_was_taken_back_a_moment_ago_may_still_be_carried_out(court, after, found):
    item = court.bought(**REPLACES)
    court.passes(60.0)
    court.world.actors.owner.patch(item, {"spec": {"rootDiskGiB": 300}})
    court.world.actors.owner.patch(item, {"spec": {"rootDiskGiB": None}})
    court.passes(after)
    court.sends("DestroyServer", Id="a-x", Namespace="acme", Cluster="Msc1")
    assert [one for one in court.oracles if one == "unasked"] == found


def test_failed_vms_that_are_replaced_count_with_the_deletion_guard(courts):
    it = courts(brake_vms=1)
    for name in ("a", "b"):
        item = it.bought(name, f"{name}-x", **ASKS)
        it.passes(60.0)
        assert it.world.cloud.fail_vm(f"{name}-x", "acme", "Msc1")
        it.writes(item, failedSince="2026-01-01T00:01:00Z")
        moves(it, item, "Destroying")
    for name in ("a", "b"):
        it.destroys(f"{name}-x")
    assert it.oracles == ["guard"]


def fails(court, item):
    """The cloud lets a VM fail, and it is destroyed and ordered again."""
    court.passes(100)
    court.world.cloud.notice()
    moves(court, item, "Seen")
    moves(court, item, "Destroying")
    court.sends("DestroyServer", Id="a-x", Namespace="acme", Cluster="Msc1")
    court.passes(60)
    court.world.cloud.notice()
    moves(court, item, "Intended")
    court.orders("a-x")


@pytest.mark.parametrize(
    ("failures", "writes", "found"),
    [
        pytest.param(3, 38, [], id="seeds 92213864 and 500032: each that fails takes its writes"),
        pytest.param(3, 39, ["causeless writes"], id="and no more"),
        pytest.param(0, 20, [], id="none fails"),
        pytest.param(0, 21, ["causeless writes"], id="none fails, and it is written more often"),
    ],
)
def test_a_vm_that_fails_is_a_cause_for_the_writes_of_its_recreation(court, failures, writes, found):
    court.world.cloud.turn(provision_outcome="CREATE_FAILED")
    item = court.bought(**ASKS)
    court.passes(1000)
    court.judge.disturbed()
    life = court.judge.books.lives[item["metadata"]["uid"]]
    for _ in range(failures):
        fails(court, item)
    for _ in range(writes - int(court.judge.rates._mutations[life.uid, "writes"])):
        court.passes(10)
        court.judge.rates.mutated(life, "writes")
    assert [one for one in court.oracles if one.startswith("causeless")] == found
