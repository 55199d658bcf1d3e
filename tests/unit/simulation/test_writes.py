"""The oracle of writes, each rule seen to fail on a doctored record, and to keep silent on the same record as it should be."""

import json

import pytest

from gpucloud.kinds.meta import API_VERSION
from simulation.books import FINALIZER
from simulation.people import path_of
from support.court import Court


def judged(court, item, generation, **status):
    court.writes(item, observedGeneration=generation, **status)
    return court.oracles


def test_a_status_says_which_spec_it_judged(court):
    item = court.applied()
    assert judged(court, item, 1) == []
    court.world.actors.owner.patch(item, {"spec": {"powerState": "Stopped"}})
    assert judged(court, item, 2) == []


def test_a_status_over_a_spec_that_it_did_not_judge(court):
    item = court.applied()
    court.world.actors.owner.patch(item, {"spec": {"powerState": "Stopped"}})
    assert judged(court, item, 1) == ["overwritten"]


@pytest.mark.parametrize(("runs", "found"), [(True, []), (False, ["overwritten"])])
def test_a_version_that_a_restored_etcd_gives_twice_deceives_who_ran_through_it(court, runs, found):
    """Seed 900633."""
    item = court.applied()
    court.world.processes.append(court.operator)
    court.operator.alive = runs
    court.judge.restored()
    court.world.actors.owner.patch(item, {"spec": {"powerState": "Stopped"}})
    put(court, item, 900)
    assert judged(court, item, 1) == found


@pytest.mark.parametrize(
    ("sent", "edits", "found", "why"),
    [
        (True, 2, [], "the version that it named was given again"),
        (True, 1, ["overwritten"], "it named another version, so what is committed is another write"),
        (False, 2, ["overwritten"], "whoever wrote it knew of the restore"),
    ],
)
def test_a_write_from_before_a_restore_of_etcd_may_name_a_version_that_is_given_twice(court, sent, edits, found, why):
    """Seed 92306728: its process had written again since, and had ended; another one had written, too."""
    item = court.applied()
    court.operator.alive = False
    court.world.actors.back_up_etcd()
    for number in range(edits):
        court.world.actors.owner.patch(item, {"metadata": {"annotations": {"a": str(number)}}})
    if sent:
        put(court, item, version_of(court, item), generation=1)
    court.writes(item)
    court.world.actors.restore_etcd()
    put(court, item, version_of(court, item), generation=1)
    court.writes(item)
    court.world.actors.owner.patch(item, {"spec": {"powerState": "Stopped"}})
    assert judged(court, item, 1, conditions=[]) == found, why


def test_what_became_of_an_order_may_be_recorded_beside_older_verdicts(court):
    """Seed 20: they say which generation they are of, and the record is of no generation."""
    item = court.bought()
    court.world.actors.owner.patch(item, {"spec": {"powerState": "Stopped"}})
    seen = court.judge.books.lives[item["metadata"]["uid"]].status["order"] | {"state": "Seen"}
    court.writes(item, observedGeneration=1, order=seen)
    assert court.oracles == []


@pytest.mark.parametrize(("paused", "found"), [("true", ["paused"]), (None, [])])
def test_nothing_is_let_go_while_it_is_paused(court, paused, found):
    item = court.applied()
    court.world.actors.owner.delete(item)
    court.world.actors.owner.annotate(item, paused=paused)
    court.hands.patch(item, {"metadata": {"finalizers": None}})
    assert court.oracles == found


def version_of(court, item):
    return int(court.hands.call("GET", path_of(item))["metadata"]["resourceVersion"])


def put(court, item, version, generation=None):
    """Send a write, which does not arrive."""
    body = {"metadata": {"uid": item["metadata"]["uid"], "resourceVersion": str(version)}}
    body["status"] = {"observedGeneration": generation}
    court.judge.writes(court.operator, "PUT", f"{path_of(item)}/status", json.dumps(body))
    return court.oracles


@pytest.mark.parametrize(("version", "after", "found"), [(7, 60, ["older view"]), (7, 20, []), (9, 60, []), (10, 60, [])])
def test_a_write_rests_on_no_older_view_than_was_shown_long_before(court, version, after, found):
    item = court.applied()
    shown = {"metadata": {"uid": item["metadata"]["uid"], "resourceVersion": "9"}}
    court.judge.written.answered(court.operator, "PUT", f"{path_of(item)}/status", json.dumps(shown))
    court.passes(after)
    assert put(court, item, version) == found


def naps(court, process, *naps):
    """The process that writes sleeps for so long each time, and is awake for ten seconds between two naps."""
    court.world.processes.append(process)
    for nap in naps:
        process.sleep(court.world.loop.time())
        court.passes(nap)
        process.wake(court.world.loop.time())
        court.passes(10)


SLEEPS = [
    ((100,), 0, True),
    ((100, 100), 0, True),
    ((100,), 40, False),
    ((), 60, False),
]  # naps, time awake after them, excused


@pytest.mark.parametrize(("slept", "awake", "excused"), SLEEPS)
def test_a_process_that_slept_in_a_pass_writes_upon_what_it_saw_before(court, slept, awake, excused):
    item = court.applied()
    shown = {"metadata": {"uid": item["metadata"]["uid"], "resourceVersion": "9"}}
    court.judge.written.answered(court.operator, "PUT", f"{path_of(item)}/status", json.dumps(shown))
    naps(court, court.operator, *slept)
    court.passes(awake)
    assert put(court, item, 7) == ([] if excused else ["older view"])


@pytest.mark.parametrize(("slept", "awake", "excused"), SLEEPS)
def test_a_process_that_slept_in_a_pass_begins_a_period_when_it_looked(court, slept, awake, excused):
    """Seed 91500099: a write was decided right before its process slept for 100 seconds, and was sent after that."""
    item = court.applied()
    naps(court, court.operator, *slept)
    court.passes(awake)
    put(court, item, 9)
    court.writes(item, vmId="a-x", billedSince="2026-01-01T00:00:00Z")
    assert court.oracles == ([] if excused else ["miscounted"])


def test_over_what_is_gone_nothing_can_be_written(court):
    item = court.applied(has_finalizer=False)
    shown = {"metadata": {"uid": item["metadata"]["uid"], "resourceVersion": "9"}}
    court.judge.written.answered(court.operator, "PUT", f"{path_of(item)}/status", json.dumps(shown))
    court.world.actors.owner.delete(item)
    court.passes(60)
    assert put(court, item, 7) == []


def test_after_a_restore_versions_begin_anew(court):
    item = court.applied()
    shown = {"metadata": {"uid": item["metadata"]["uid"], "resourceVersion": "900"}}
    court.judge.written.answered(court.operator, "PUT", f"{path_of(item)}/status", json.dumps(shown))
    court.passes(60)
    court.judge.restored()
    assert put(court, item, 7) == []


def lost(court, *names):
    for name in names:
        item = court.bought(name, f"{name}-x")
        status = court.judge.books.lives[item["metadata"]["uid"]].status
        court.writes(item, order=status["order"] | {"state": "Lost"})


def test_several_that_are_there_are_not_called_lost_at_once(court):
    lost(court, "a", "b")
    assert court.oracles == []
    lost(court, "c")
    assert court.oracles == ["lost"]


def test_each_listing_is_judged_by_itself(court):
    """Seed 975671: one of the three was in another cluster, so no listing lacked three at once."""
    lost(court, "a", "b")
    item = court.bought("c", "c-x")
    order = court.judge.books.lives[item["metadata"]["uid"]].status["order"]
    court.writes(item, order=order | {"state": "Lost", "cluster": "Hou1"})
    assert court.oracles == []


def test_what_is_gone_may_be_called_lost(court):
    for name in ("a", "b", "c"):
        item = court.bought(name, f"{name}-x")
        court.world.cloud.end_vm(f"{name}-x", "acme", "Msc1")
        court.passes(60)
        court.world.cloud.notice()
        status = court.judge.books.lives[item["metadata"]["uid"]].status
        court.writes(item, order=status["order"] | {"state": "Lost"})
    assert court.oracles == []


BEGUN = {"vmId": "a-x", "billedSince": "2026-01-01T00:00:00Z"}  # the world begins then
COUNTS = [
    (BEGUN, {"billedSince": None, "billedSeconds": 7200}, [], "a period of two hours has ended"),
    (BEGUN, {"billedSince": None, "billedSeconds": 0}, ["miscounted"], "two hours are lost"),
    (BEGUN, {"billedSeconds": 7200}, ["miscounted"], "they are counted twice"),
    (BEGUN, {"billedSince": "2026-01-01T02:00:00Z"}, ["miscounted"], "a period is begun anew, and the one before is lost"),
    (BEGUN, {"vmId": None, "billedSince": None}, [], "it is lost"),
    ({"vmId": "a-x", "billedSeconds": 30}, {"billedSince": "2026-01-01T02:00:00Z"}, [], "a period begins"),
    ({"vmId": "a-x", "billedSeconds": 30}, {"billedSince": "2026-01-01T00:00:00Z"}, ["miscounted"], "it began long ago"),
]


@pytest.mark.parametrize(("stood", "said", "found", "why"), COUNTS, ids=[row[3] for row in COUNTS])
def test_a_write_adds_no_time_to_what_a_vm_was_billed_and_loses_none(court, stood, said, found, why):
    item = court.applied()
    court.writes(item, **stood)
    court.passes(7200)
    court.writes(item, **said)
    assert court.oracles == found, why


def test_a_clock_that_goes_wrong_may_miscount(court):
    court.operator.skew = 3600.0
    court.world.processes.append(court.operator)
    item = court.applied()
    court.writes(item, **BEGUN)
    court.writes(item, billedSince=None, billedSeconds=3600)
    assert court.oracles == []


def account(court):
    path = f"/apis/{API_VERSION}/namespaces/team/gpucloudaccounts/default"
    court.hands.merge(path, {"metadata": {"finalizers": [FINALIZER]}})
    court.world.actors.owner.call("DELETE", path)
    court.hands.merge(path, {"metadata": {"finalizers": None}})
    return court.oracles


def test_an_account_goes_when_nobody_needs_it(court):
    court.applied()
    assert account(court) == []


def test_an_account_stays_for_those_who_need_it_to_end_what_they_have(court):
    court.bought()
    assert account(court) == ["credential"]


@pytest.mark.parametrize(("lag", "found"), [(90.0, []), (10.0, ["credential"])])
def test_an_account_may_go_when_nobody_could_know_what_its_users_have(court, lag, found):
    """Seed 70036326: the answer was lost, and listings lagged by more than a lost answer is waited for."""
    court.world.cloud.lag = lag
    item = court.applied()
    court.records(item, "a-x")
    court.orders("a-x", "write-unsaid")
    assert account(court) == found


def test_an_account_may_go_when_what_its_users_have_is_to_stay(court):
    court.bought(deletion={"policy": "Retain"})
    assert account(court) == []


def test_a_secret_stays_for_those_who_need_it(court):
    court.bought()
    path = "/api/v1/namespaces/team/secrets/key"
    court.hands.merge(path, {"metadata": {"finalizers": ["gpucloud.dev/secret"]}})
    court.hands.merge(path, {"metadata": {"finalizers": None}})
    assert court.oracles == ["credential"]


def test_a_credential_goes_to_declared_addresses_only(court):
    court.judge.reaches(court.operator, "https://cloud.invalid")
    assert court.oracles == []
    court.judge.reaches(court.operator, "https://elsewhere.invalid")
    assert court.oracles == ["endpoint"]


@pytest.mark.parametrize(("name", "status"), [("taken", 409), ("free", 202)])
def test_a_name_that_is_taken_is_refused_also_by_a_cloud_that_only_pretends_to_order(court, name, status):
    """Seed 92240050: what it accepted was there already, and somebody else's."""
    court.world.cloud.make_vm("taken", "acme", "Msc1", "stranger")
    assert court.orders(name, fault="write-ghost") == status


def ghosts(court, item, orders):
    status = court.judge.books.lives[item["metadata"]["uid"]].status
    for _ in range(orders):
        court.writes(item, order=status["order"] | {"state": "Intended"})
        court.orders("a-x", fault="write-ghost")
    return court.oracles


@pytest.mark.parametrize(("orders", "found"), [(4, []), (5, ["reordered"])])
def test_what_is_accepted_and_never_made_is_not_ordered_without_end(court, orders, found):
    item = court.applied()
    court.records(item, "a-x")
    assert ghosts(court, item, orders) == found


def test_whoever_asks_again_gets_more_orders(court):
    item = court.applied()
    court.records(item, "a-x")
    ghosts(court, item, 4)
    court.passes(1)
    court.world.actors.owner.annotate(item, reconcile_requested_at="2026-03-03T00:00:00Z")
    assert ghosts(court, item, 4) == []


def test_a_secret_that_came_back_with_etcd_is_not_going(court):
    court.hands.merge("/api/v1/namespaces/team/secrets/key", {"metadata": {"finalizers": ["gpucloud.dev/secret"]}})
    court.world.actors.back_up_etcd()
    court.world.actors.delete_secret()
    assert court.judge.secret_going_since("team") is not None
    court.world.actors.restore_etcd()
    assert court.judge.secret_going_since("team") is None


@pytest.mark.parametrize(("own", "found"), [(True, ["another's VPC"]), (False, [])])
def test_with_the_operators_own_account_nobody_adopts_a_vpc(own, found):
    court = Court(own=own)
    spec = {"cluster": "Msc1", "name": "acme", "adoption": "IfExists"}
    item = court.world.actors.owner.create("GpuVpc", "team", "net", spec)
    item["kind"] = "GpuVpc"
    court.says(item, "True", "Ready")
    court.world._bury()
    assert court.oracles[:1] == found
