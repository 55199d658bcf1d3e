"""Limits on purchases, the request budget, causes of reconciles, logins, and what of it is drawn."""

import dataclasses
import json

import pytest
from prometheus_client import CollectorRegistry, Counter

from gpucloud.sim.messages import Request, Response
from simulation import administration
from simulation.choices import Choices
from simulation.credentials import KEY, KEYS, LOGIN, secret_data
from simulation.scenario import draw
from support.court import SIGNED


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
def test_no_more_is_ordered_than_a_limit_allows(courts, settings, found):
    it = courts(**settings)
    it.bought("a", "a-x")
    it.bought("b", "b-x")
    assert it.oracles == found


@pytest.mark.parametrize(
    ("listings", "found"), [(("", *4 * ("list-empty",)), []), (("", *4 * ("list-empty",), ""), ["limit"]), (("",), ["limit"])]
)
def test_what_listings_have_lacked_for_a_grace_takes_no_room_until_it_is_back(courts, listings, found):
    """Seed 2300192: listings lagged by more than a grace, so that a VM that was there was proven lost."""
    it = courts(max_vms_per_account=1)
    it.bought("a", "a-x")
    for fault in listings:
        it.passes(it.world.grace / 3)
        request = Request("GET", "/api/v1/servers/virtual/GetServers", (("Cluster", "Msc1"),), SIGNED)
        it.world.cloud.carry_out(it.operator, "GetServers", request, fault)
    it.bought("b", "b-x")
    assert it.oracles == found


def test_what_was_never_ordered_takes_no_room(courts):
    """Seed 110123: five objects waited for a price, and each passed for what the others' limit was full of."""
    it = courts(max_vms_per_namespace=1)
    for name in ("a", "b"):
        item = it.applied(name)
        it.writes(item, order={"state": "NotOrdered"})
        it.says(item, "False", "LimitReached")
    lives = it.judge.books.lives.values()
    assert ["there is room" in text for life in lives for text in it.judge.guarding.unmet(life)] == [True, True]


@pytest.mark.parametrize(
    ("first", "other", "found"),
    [("A100_40GB_PCIe_2x", "A100_40GB_PCIe_1x", []), ("A100_40GB_PCIe_1x", "A100_40GB_PCIe_2x", ["limit"])],
)
def test_what_is_ordered_counts_for_a_limit_and_not_what_the_spec_asks_for_first(courts, first, other, found):
    """Seed 92311536: the alternative that was ordered cost less than what the spec asks for first."""
    it = courts(max_price_per_hour_per_namespace=4.5)
    it.bought("a", "a-x")
    item = it.applied("b", configuration=first, placement={"alternatives": [{"configuration": other}]})
    it.records(item, "b-x", configuration=other)
    it.orders("b-x", configuration=other)
    assert it.oracles == found


def test_a_limit_with_room_holds_nobody(courts):
    it = courts(max_vms_per_namespace=1)
    it.bought("a", "a-x")
    waiting = it.applied("b")
    it.says(waiting, "False", "LimitReached")
    life = it.judge.books.lives[waiting["metadata"]["uid"]]
    assert list(it.judge.guarding.unmet(life)) == []
    other = it.judge.books.lives[next(iter(it.judge.books.lives))]
    other.now = None
    assert "there is room" in next(it.judge.guarding.unmet(life))


@pytest.mark.parametrize(("configuration", "room"), [("A100_40GB_PCIe_2x", False), ("A100_40GB_PCIe_1x", True)])
def test_what_is_ordered_anew_costs_what_its_spec_says_now(courts, configuration, room):
    """Seed 3001794: the order made nothing, and its owner had meanwhile asked for a VM of twice the price."""
    it = courts(max_price_per_hour_per_namespace=2.5)
    item = it.bought()
    it.world.actors.owner.patch(item, {"spec": {"configuration": configuration}})
    it.says(item, "False", "LimitReached")
    (life,) = it.judge.books.lives.values()
    assert ["there is room" in text for text in it.judge.guarding.unmet(life)] == [True] * room


@pytest.mark.parametrize(("state", "room"), [("Refused", False), ("Lost", True)])
def test_a_refused_order_counts_at_the_price_of_what_was_ordered(courts, state, room):
    """Seed 92239806: the cloud refused an alternative of twice the price last, and the order may be sent again."""
    it = courts(max_price_per_hour_per_namespace=5.0)
    refused = it.applied("b", placement={"alternatives": [{"configuration": "A100_40GB_PCIe_2x"}]})
    it.records(refused, "b-x", configuration="A100_40GB_PCIe_2x")
    order = it.judge.books.lives[refused["metadata"]["uid"]].status["order"]
    it.writes(refused, order=order | {"state": state})
    item = it.applied()
    it.says(item, "False", "LimitReached")
    life = it.judge.books.lives[item["metadata"]["uid"]]
    assert ["there is room" in text for text in it.judge.guarding.unmet(life)] == [True] * room


@pytest.mark.parametrize(
    ("limits", "room"), [({"max_price_per_hour_per_namespace": 9.0}, False), ({"max_vms_per_account": 9}, True)]
)
def test_what_has_no_price_is_not_ordered_where_prices_are_limited(courts, limits, room):
    """Seed 92210966: the catalogue does not know the configuration."""
    it = courts(**limits)
    item = it.applied(configuration="A100_40GB_PCIe_3x")
    it.says(item, "False", "LimitReached")
    (life,) = it.judge.books.lives.values()
    assert ["there is room" in text for text in it.judge.guarding.unmet(life)] == [True] * room


def asks(court, many, headers=SIGNED):
    request = Request("GET", "/api/v1/servers/virtual/GetServers", (), headers)
    for _ in range(many):
        court.judge.rates.requests(court.operator, request)
    return request


@pytest.mark.parametrize(("more", "found"), [(0, []), (1, ["budget"])])
def test_the_request_budget_is_kept(courts, more, found):
    it = courts(cloud_qps=2.0, cloud_burst=4)
    asks(it, 4)
    it.passes(1)
    asks(it, 2 + more)
    assert it.oracles == found


@pytest.mark.parametrize(("status", "after", "found"), [(429, 4, ["budget"]), (429, 6, []), (503, 4, ["budget"]), (500, 1, [])])
def test_retry_after_is_honoured(courts, status, after, found):
    it = courts()
    request = asks(it, 1)
    it.judge.rates.answered(it.operator, request, Response(status, headers=(("retry-after", "5"),)))
    it.passes(after)
    asks(it, 1)
    assert it.oracles == found


def counting(it):
    """The operator's process, which has counted no reconcile yet; return its counter."""
    replica = it.world.replicas[0]
    replica.process = it.operator
    registry = CollectorRegistry()
    replica.engine = type("E", (), {"metrics": type("M", (), {"registry": registry})})
    counter = Counter("controller_runtime_reconcile", "Passes", ["controller", "result"], registry=registry)
    it.judge.rates.sample()
    return counter


@pytest.mark.parametrize(("passes", "causes", "found"), [(30, 0, []), (200, 0, ["hot passes"]), (200, 20, [])])
def test_reconciles_have_a_cause(courts, passes, causes, found):
    it = courts()
    reconciles = counting(it)
    reconciles.labels("GpuVM", "success").inc(passes - 1)
    reconciles.labels("GpuCloudAccount", "error").inc()
    for _ in range(causes):
        it.judge.disturbed()
    it.passes(60)
    it.judge.rates.sample()
    assert it.oracles == found


@pytest.mark.parametrize(
    ("told", "looks", "found"), [("refused", 24, []), ("refused", 4, ["hot passes"]), ("accepted", 24, ["hot passes"])]
)
def test_who_waits_for_capacity_reconciles_for_each_look_at_what_is_free(courts, told, looks, found):
    """Seed 92510863: the drawn settings look every 2.5 seconds, and the test of looks holds them to that."""
    it = courts()
    it.bought()
    it.world.cloud.orders[0].told = told
    reconciles = counting(it)
    reconciles.labels("GpuVM", "success").inc(85)
    asks = Request("GET", "/api/v1/servers/virtual/GetAvailability", query=(("cluster", "Msc1"),))
    for _ in range(looks):
        it.judge.rates.answered(it.operator, asks, Response(200, b"{}"))
    it.passes(60)
    it.judge.rates.sample()
    assert it.oracles == found


@pytest.mark.parametrize(
    ("vms", "announced", "found"), [(3, 1, []), (1, 3, ["hot passes"])], ids=["seed 92262714", "one VM, announced again"]
)
def test_each_vm_that_fails_and_is_recreated_is_a_cause_for_reconciles_once(courts, vms, announced, found):
    it = courts()
    life = it.judge.books.lives[it.bought()["metadata"]["uid"]]
    (row,) = (row for _, row, _ in it.world.cloud.called("a-x"))
    reconciles = counting(it)
    reconciles.labels("GpuVM", "success").inc(85)
    for number in range(vms * announced):
        it.judge.rates.failed(life, dataclasses.replace(row, created=row.created + number % vms))
    it.passes(60)
    it.judge.rates.sample()
    assert it.oracles == found


@pytest.mark.parametrize(("cause", "found"), [(False, ["causeless writes"]), (True, [])])
def test_writes_have_a_cause(courts, cause, found):
    it = courts()
    item = it.applied()
    for number in range(21):
        it.passes(60)
        it.writes(item, state=str(number))
        if cause:
            it.judge.disturbed()
    assert it.oracles == found


def test_a_token_is_known_by_its_login_and_never_shown(courts):
    it = courts()
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


def test_a_secret_holds_one_form_of_credential(courts):
    it = courts()
    for form in (KEY, LOGIN, KEY):
        it.world.actors.admin.put_secret("team", "key", secret_data("good", form))
        held = it.world.actors.admin.call("GET", "/api/v1/namespaces/team/secrets/key")["data"]
        assert set(held) == ({"apikey"} if form == KEY else {"username", "password"})


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
