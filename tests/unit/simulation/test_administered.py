"""The oracles of what an administrator switches on: each seen to fail, and to keep silent where all is well."""

import json

import pytest
from prometheus_client import CollectorRegistry, Counter

from gpucloud.reconcile.naming import external_name
from gpucloud.sim.messages import Request, Response
from simulation import administration, ending
from simulation.choices import Choices
from simulation.credentials import KEY, KEYS, LOGIN, secret_data
from simulation.process import Process
from simulation.scenario import draw
from support.court import SIGNED, Court

COLLECTS = {"collect_orphans": True, "orphan_age_seconds": 100.0, "orphan_scan_seconds": 50.0}


@pytest.fixture
def court():
    made = []

    def make(**settings):
        made.append(Court(**settings))
        made[-1].judge.collecting.began(made[-1].operator)
        return made[-1]

    yield make
    for item in made:
        item.world._bury()


def abandoned(court, name="a", **before):
    """An object with a VM, deleted, and stripped of its finalizer by its owner."""
    item = court.applied(name)
    thing = external_name(name, item["metadata"]["uid"], court.world.actors.tag())
    court.records(item, thing)
    assert court.orders(thing) == 202
    if before:
        court.world.actors.owner.patch(item, before)
    court.world.actors.owner.delete(item)
    court.world.actors.owner.patch(item, {"metadata": {"finalizers": None}})
    return thing


def event(court, reason, note):
    body = {"metadata": {"name": f"e-{reason.lower()}"}, "eventTime": "2026-01-01T00:00:00.000000Z", "reason": reason}
    body |= {"note": note, "reportingController": "x", "reportingInstance": "y", "action": "z", "type": "Warning"}
    where = {"regarding": {"kind": "GpuVM", "namespace": "team", "name": "a"}}
    assert court.hands.call("POST", "/apis/events.k8s.io/v1/namespaces/team/events", body | where)


# --- the collector of orphans


def test_what_was_abandoned_long_enough_may_be_collected(court):
    it = court(**COLLECTS)
    thing = abandoned(it)
    it.passes(200)
    it.destroys(thing)
    assert it.oracles == []
    assert it.judge.sometimes["orphan collected"] == 1


@pytest.mark.parametrize(
    ("settings", "before", "seconds", "words"),
    [
        ({"collect_orphans": False}, {}, 200, "collection is off"),
        ({"orphan_age_seconds": 300.0}, {}, 200, "had been gone for 200.0 s"),
        ({}, {"spec": {"deletion": {"policy": "Retain"}}}, 200, "was not deleted with it"),
        ({}, {"metadata": {"annotations": {"gpucloud.dev/paused": "true"}}}, 200, "was paused"),
    ],
)
def test_what_is_not_to_be_collected(court, settings, before, seconds, words):
    it = court(**COLLECTS | settings)
    thing = abandoned(it, **before)
    it.passes(seconds)
    it.destroys(thing)
    found = [one.text for one in it.judge.violations if one.oracle == "collected"]
    assert len(found) == 1
    assert words in found[0]


def test_a_call_that_was_under_way_when_the_object_went_is_no_collection_unless_an_event_says_so(court):
    it = court(**COLLECTS)
    thing = abandoned(it)
    it.passes(20)
    it.destroys(thing)
    assert it.oracles == []
    event(it, "OrphanCollected", f"Requested destruction. The VM '{thing}' is an orphan.")
    assert it.oracles == ["collected"]


def test_a_process_that_did_not_see_the_object_go_collects_nothing(court):
    it = court(**COLLECTS)
    thing = abandoned(it)
    it.passes(100)
    it.operator = Process("operator-0.2")
    it.judge.collecting.began(it.operator)
    it.passes(200)
    it.destroys(thing)
    assert ["did not see" in found.text for found in it.judge.violations] == [True]


@pytest.mark.parametrize(("since", "found"), [(5, []), (20, ["collected"])])
def test_what_a_new_object_of_the_name_may_look_for_is_left_alone(court, since, found):
    it = court(**COLLECTS)
    thing = abandoned(it)
    it.passes(200)
    it.applied()
    it.passes(since)
    it.destroys(thing)
    assert it.oracles == found


def test_one_is_collected_at_a_time(court):
    it = court(**COLLECTS)
    things = [abandoned(it, name) for name in ("a", "b")]
    it.passes(200)
    it.destroys(things[0])
    it.passes(49)
    it.destroys(things[1])
    assert ["the last one was collected" in found.text for found in it.judge.violations] == [True]


def test_none_is_collected_while_many_look_orphaned(court):
    it = court(**COLLECTS)
    things = [abandoned(it, name) for name in ("a", "b", "c")]
    it.passes(200)
    it.destroys(things[0])
    assert ["too many" in found.text for found in it.judge.violations] == [True]


def test_what_bears_a_name_of_the_cloud_does_not_count_among_the_many(court, monkeypatch):
    """Seed 100789: one of three abandoned VMs bears a name that the cloud gave, which tells nobody that it is an orphan."""
    it = court(**COLLECTS)
    things = [abandoned(it, name) for name in ("a", "b")]
    monkeypatch.setattr(it.world.weather, "has", lambda kind: kind == "own-id")
    monkeypatch.setattr(it.world.choices, "chance", lambda *_: True)
    abandoned(it, "c")
    assert list(it.world.cloud_names) == ["srv-1"]
    it.passes(200)
    it.destroys(things[0])
    assert it.oracles == []


@pytest.mark.parametrize(("marked", "found"), [(True, True), (False, False)])
def test_what_a_stranger_made_under_our_mark_counts_among_the_many(court, marked, found):
    """Seed 981931: it was the third that looked orphaned, so that the collector held back, as it should."""
    it = court(**COLLECTS)
    things = [abandoned(it, name) for name in ("a", "b")]
    tag = it.world.actors.tag() if marked else "other"
    it.world.cloud.make_vm(f"c-{tag}-abcdefghij", "acme", "Msc1", "stranger")
    it.passes(200)
    it.destroys(things[0])
    assert any("too many" in one.text for one in it.judge.violations) == found


def test_what_must_be_collected_is_waited_for_and_found(court):
    it = court(**COLLECTS)
    it.world.replicas[0].process = it.operator
    thing = abandoned(it)
    life = next(iter(it.judge.books.lives.values()))
    life.last["status"]["order"]["state"] = "Seen"
    assert list(it.judge.collecting.left()) == [thing]
    assert it.judge.collecting.patience() == 100.0 + 50.0 + 65.0
    life.last["metadata"]["annotations"] = {"gpucloud.dev/paused": "true"}
    assert it.judge.collecting.patience() == 0.0


@pytest.mark.parametrize(("seconds", "found"), [(50, []), (150, ["misreported"])])
def test_what_has_an_owner_is_called_no_orphan(court, seconds, found):
    it = court()
    it.bought()
    it.passes(seconds)
    event(it, "Orphan", "The VM 'a-x' was made by this installation, and no object stands for it.")
    assert it.oracles == found


# --- the deletion guard


def deleted(court, name):
    item = court.bought(name, f"{name}-x")
    court.writes(item, pricePerHour="2.05")
    court.world.actors.owner.delete(item)
    return item


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({}, []),
        ({"brake_vms": 2}, []),
        ({"brake_vms": 1}, ["guard"]),
        ({"brake_price_per_hour": 4.5}, []),
        ({"brake_price_per_hour": 2.5}, ["guard"]),
    ],
)
def test_no_more_is_destroyed_than_one_window_lets_pass(court, settings, found):
    it = court(**settings)
    for name in ("a", "b"):
        deleted(it, name)
    for name in ("a", "b", "a"):
        it.destroys(f"{name}-x")
    assert it.oracles == found


@pytest.mark.parametrize(("vpc", "found"), [("acme-net", []), ("acme", ["guard"])])
def test_a_vm_of_the_same_name_in_another_vpc_is_another_vm(court, vpc, found):
    """Seed 983017: it had been retained, and was counted as let pass when the other was destroyed."""
    it = court(brake_price_per_hour=1.0)
    it.world.cloud.make_vpc("acme-net", "Msc1", "stranger")
    item = it.applied("c", vpc=vpc)
    it.records(item, "prod")
    order = it.judge.books.lives[item["metadata"]["uid"]].status["order"]
    it.writes(item, pricePerHour="2.05", order=order | {"vpc": vpc})
    assert it.orders("prod", vpc=vpc) == 202
    it.world.actors.owner.delete(item)
    it.destroys("prod")
    assert it.oracles == found


def test_a_price_that_nobody_knows_counts_as_nothing(court):
    it = court(brake_price_per_hour=1.0)
    item = it.bought()
    it.world.actors.owner.delete(item)
    it.destroys("a-x")
    assert it.oracles == []


SMALL, LARGE = "A100_40GB_PCIe_1x", "A100_40GB_PCIe_2x"


@pytest.mark.parametrize(("ordered", "asked_since", "found"), [(SMALL, LARGE, []), (LARGE, SMALL, ["guard"])])
def test_a_vm_costs_what_was_ordered_whatever_its_spec_says_since(court, ordered, asked_since, found):
    """Seeds 80071 and 110158: nothing changes a VM that is bought already."""
    it = court(brake_price_per_hour=3.0)
    item = it.bought(configuration=ordered)
    it.writes(item, pricePerHour="2.05")
    it.world.actors.owner.patch(item, {"spec": {"configuration": asked_since}})
    it.world.actors.owner.delete(item)
    it.destroys("a-x")
    assert it.oracles == found


@pytest.mark.parametrize(("answer", "found"), [("accepted", ["guard"]), ("unclear", [])])
def test_which_of_two_orders_made_a_vm_nobody_knows_after_one_without_a_clear_answer(court, answer, found):
    it = court(brake_price_per_hour=3.0)
    item = it.bought(configuration=LARGE)
    it.world.cloud.orders[-1].answer = answer
    it.world.actors.owner.patch(item, {"spec": {"configuration": SMALL}})
    assert it.orders("a-x") == 409
    it.world.cloud.orders[-1].answer = "accepted"
    it.world.actors.owner.delete(item)
    it.writes(item, deletionHeldAt="2026-01-01T00:00:00Z")
    assert it.oracles == found


def test_two_windows_let_twice_as_many_pass_and_so_do_two_processes(court):
    it = court(brake_vms=1, brake_window_seconds=60.0)
    deleted(it, "a")
    it.destroys("a-x")
    it.passes(70)
    deleted(it, "b")
    it.destroys("b-x")
    deleted(it, "c")
    it.operator = Process("operator-0.2")
    it.destroys("c-x")
    assert it.oracles == []


@pytest.mark.parametrize("where", ["namespace", "object"])
def test_what_was_released_counts_for_nobody(court, where):
    it = court(brake_vms=1)
    items = [deleted(it, name) for name in ("a", "b")]
    if where == "namespace":
        it.judge.guarding.release_all()
    else:
        it.world.actors.owner.annotate(items[0], brake_released_at="2026-01-01T00:00:00Z")
    it.destroys("a-x")
    it.destroys("b-x")
    assert it.oracles == []


@pytest.mark.parametrize(("after", "found"), [(5.0, []), (30.0, ["guard"])])
def test_a_release_that_was_taken_back_may_be_known_for_a_moment(court, after, found):
    """Seed 401981: an operator acted on the release that it had read a second before an older one took its place."""
    it = court(brake_vms=1)
    for name in ("a", "b"):
        deleted(it, name)
    it.judge.guarding.release_all()
    it.passes(1.0)
    it.world.deeds.release("team", "2025-12-31T23:00:00Z")
    it.passes(after)
    it.destroys("a-x")
    it.destroys("b-x")
    assert it.oracles == found


@pytest.mark.parametrize(("who", "found"), [("operator-0.1", []), ("operator-0.2", ["guard"])])
def test_what_was_begun_under_a_release_goes_on_when_the_release_is_taken_back(court, who, found):
    """Seed 920002: the first call was lost on its way, and sent again by the process that had begun."""
    it = court(brake_price_per_hour=1.0)
    deleted(it, "a")
    it.judge.guarding.release_all()
    it.sends("DestroyServer", "cloud-lost", Id="a-x", Namespace="acme", Cluster="Msc1")
    it.world.deeds.release("team", "2025-12-31T23:00:00Z")
    it.passes(30.0)
    it.operator = Process(who)
    it.destroys("a-x")
    assert it.oracles == found


@pytest.mark.parametrize("where", ["namespace", "object"])
@pytest.mark.parametrize(("after", "found"), [(5.0, []), (30.0, ["guard"])])
def test_a_release_may_be_unknown_for_a_moment(court, where, after, found):
    """Seeds 902278 and 905699: an operator held one VM, and had not read yet that the other was released a moment before."""
    it = court(brake_vms=1)
    items = [deleted(it, name) for name in ("a", "b")]
    it.passes(60.0)
    if where == "namespace":
        it.judge.guarding.release_all()
    else:
        it.world.actors.owner.annotate(items[0], brake_released_at="2026-01-01T00:00:00Z")
    it.passes(after)
    third = deleted(it, "c") if where == "namespace" else items[1]
    it.writes(third, deletionHeldAt="2026-01-01T00:00:00Z")
    assert it.oracles == found


def test_what_is_held_is_not_destroyed_by_another_process_either(court):
    it = court(brake_vms=1)
    items = [deleted(it, name) for name in ("a", "b")]
    it.writes(items[0], deletionHeldAt="2026-01-01T00:00:00Z")
    it.operator = Process("operator-0.2")
    it.destroys("a-x")
    assert ["is held" in found.text for found in it.judge.violations] == [True]


def test_nothing_is_held_without_a_crowd(court):
    it = court(brake_vms=1)
    it.writes(deleted(it, "a"), deletionHeldAt="2026-01-01T00:00:00Z")
    assert it.oracles == ["guard"]


def test_what_was_released_must_go(court):
    it = court(brake_vms=1)
    items = [deleted(it, name) for name in ("a", "b")]
    it.writes(items[0], deletionHeldAt="2026-01-01T00:00:00Z")
    it.says(items[0], "False", "DeletionHeld")
    life = it.judge.books.lives[items[0]["metadata"]["uid"]]
    assert list(it.judge.guarding.unmet(life)) == []
    it.judge.guarding.release_all()
    assert "though it was released" in next(ending._unmet(it.judge))


# --- limits on purchases


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({}, []),
        ({"max_vms_per_namespace": 2}, []),
        ({"max_vms_per_namespace": 1}, ["limit"]),
        ({"max_vms_per_account": 1}, ["limit"]),
        ({"max_price_per_hour_per_namespace": 2.5}, ["limit"]),
    ],
)
def test_no_more_is_ordered_than_a_limit_allows(court, settings, found):
    it = court(**settings)
    it.bought("a", "a-x")
    it.bought("b", "b-x")
    assert it.oracles == found


def test_what_was_never_ordered_takes_no_room(court):
    """Seed 110123: five objects waited for a price, and each passed for what the others' limit was full of."""
    it = court(max_vms_per_namespace=1)
    for name in ("a", "b"):
        item = it.applied(name)
        it.writes(item, order={"state": "NotOrdered"})
        it.says(item, "False", "LimitReached")
    lives = it.judge.books.lives.values()
    assert ["there is room" in text for life in lives for text in it.judge.guarding.unmet(life)] == [True, True]


def test_a_limit_with_room_holds_nobody(court):
    it = court(max_vms_per_namespace=1)
    it.bought("a", "a-x")
    waiting = it.applied("b")
    it.says(waiting, "False", "LimitReached")
    life = it.judge.books.lives[waiting["metadata"]["uid"]]
    assert list(it.judge.guarding.unmet(life)) == []
    other = it.judge.books.lives[next(iter(it.judge.books.lives))]
    other.now = None
    assert "there is room" in next(it.judge.guarding.unmet(life))


# --- request budget, reconciles, writes and calls


def asks(court, many, headers=SIGNED):
    request = Request("GET", "/api/v1/servers/virtual/GetServers", (), headers)
    for _ in range(many):
        court.judge.rates.requests(court.operator, request)
    return request


@pytest.mark.parametrize(("more", "found"), [(0, []), (1, ["budget"])])
def test_the_request_budget_is_kept(court, more, found):
    it = court(cloud_qps=2.0, cloud_burst=4)
    asks(it, 4)
    it.passes(1)
    asks(it, 2 + more)
    assert it.oracles == found


@pytest.mark.parametrize(("status", "after", "found"), [(429, 4, ["budget"]), (429, 6, []), (503, 4, ["budget"]), (500, 1, [])])
def test_retry_after_is_honoured(court, status, after, found):
    it = court()
    request = asks(it, 1)
    it.judge.rates.answered(it.operator, request, Response(status, headers=(("retry-after", "5"),)))
    it.passes(after)
    asks(it, 1)
    assert it.oracles == found


@pytest.mark.parametrize(("passes", "causes", "found"), [(30, 0, []), (200, 0, ["hot passes"]), (200, 20, [])])
def test_reconciles_have_a_cause(court, passes, causes, found):
    it = court()
    replica = it.world.replicas[0]
    replica.process = it.operator
    registry = CollectorRegistry()
    reconciles = Counter("controller_runtime_reconcile", "Passes", ["controller", "result"], registry=registry)
    replica.engine = type("E", (), {"metrics": type("M", (), {"registry": registry})})
    it.judge.rates.sample()
    reconciles.labels("GpuVM", "success").inc(passes - 1)
    reconciles.labels("GpuCloudAccount", "error").inc()
    for _ in range(causes):
        it.judge.disturbed()
    it.passes(60)
    it.judge.rates.sample()
    assert it.oracles == found


@pytest.mark.parametrize(("cause", "found"), [(False, ["causeless writes"]), (True, [])])
def test_writes_have_a_cause(court, cause, found):
    it = court()
    item = it.applied()
    for number in range(21):
        it.passes(60)
        it.writes(item, state=str(number))
        if cause:
            it.judge.disturbed()
    assert it.oracles == found


# --- logins


def test_a_token_is_known_by_its_login_and_never_shown(court):
    it = court()
    said = {"userNameOrEmailAddress": "ann", "password": KEYS["good"]}
    login = Request(
        "POST", "/api/TokenAuth/Authenticate", (), (("content-type", "application/json"),), json.dumps(said).encode()
    )
    assert it.world.cloud.carry_out(it.operator, "Authenticate", login, "").status == 200
    (token,) = it.world.cloud.callers.tokens
    request = Request("GET", "/api/v1/servers/virtual/GetServers", (), (("authorization", f"Bearer {token}"),))
    callers = it.world.cloud.callers
    assert (callers.of(request), callers.tenant(request)) == ("login good", "acme")
    it.judge.show(f"the token {token}")
    assert it.oracles == ["canary"]


def test_a_secret_holds_one_form_of_credential(court):
    it = court()
    for form in (KEY, LOGIN, KEY):
        it.world.actors.admin.put_secret("team", "key", secret_data("good", form))
        held = it.world.actors.admin.call("GET", "/api/v1/namespaces/team/secrets/key")["data"]
        assert set(held) == ({"apikey"} if form == KEY else {"username", "password"})


# --- what is drawn


def test_the_product_s_own_settings_of_the_collector_are_among_those_that_are_drawn():
    found = {draw(Choices(seed)).settings for seed in range(200)}
    collecting = [one for one in found if one.collect_orphans]
    assert any((one.orphan_scan_seconds, one.orphan_age_seconds) == (600.0, 3600.0) for one in collecting)
    assert any(administration.collects_quickly(one) for one in collecting)
    assert any(not one.collect_orphans for one in found)
    assert {one.brake_vms for one in found} == {0, 1, 2}
    assert {one.cloud_qps for one in found} == {10.0, 2.0}


def test_without_deviations_nothing_is_switched_on():
    plain = draw(Choices(5, {})).settings
    on = plain.collect_orphans, plain.brake_vms, plain.max_vms_per_namespace, plain.max_vms_per_account
    assert not any(on)
