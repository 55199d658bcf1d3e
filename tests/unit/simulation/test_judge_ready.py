"""Ready is said only while it is so, or a documented time longer."""

import json

import pytest

from gpucloud.sim.messages import Request, Response
from simulation.people import path_of
from simulation.process import Process
from support.court import SIGNED, Court


@pytest.mark.parametrize(("others", "found"), [(0, []), (1, ["ready"])])
def test_ready_may_stand_while_nobody_runs(others, found):
    """Seed 904371: the only process was killed, and another was started 90 s later."""
    it = Court(replicas=1 + others)
    item = it.bought()
    it.world.replicas[0].process = it.operator
    it.passes(100)
    it.world.cloud.notice()
    it.says(item, "True", "Running")
    it.world.kill(it.operator, "by a test")
    for replica in it.world.replicas[1:]:
        replica.process.alive = True
    it.world.weather.over = True
    it.world.cloud.end_vm("a-x", "acme", "Msc1")
    it.passes(60)
    it.world.cloud.notice()
    it.passes(10_000)
    it.world._start_again(it.world.replicas[0])
    it.judge.weigh(it.judge.books.lives[item["metadata"]["uid"]])
    assert it.oracles == found
    it.world._bury()


@pytest.mark.parametrize(("after", "found"), [(30, []), (10_000, ["ready"])])
def test_ready_may_be_untrue_for_a_while_only(court, after, found):
    item = court.bought()
    court.passes(100)
    court.world.cloud.notice()
    court.says(item, "True", "Running")
    court.world.cloud.end_vm("a-x", "acme", "Msc1")
    court.passes(60)
    court.world.cloud.notice()
    court.passes(after)
    court.says(item, "Unknown", "Lost")
    assert court.oracles == found


@pytest.mark.parametrize(("went", "blind"), [((0, 1, 2), True), ((0, 1, 2, 500), True), ((0, 200, 400), False)])
def test_after_all_faults_a_listing_that_lacks_many_is_not_believed_for_a_while(court, went, blind):
    """Seed 1300574: one more went later than the many."""
    court.world.weather.over = True
    calm = court.judge.patience("GpuVM")
    for number, at in enumerate(went):
        item = court.bought(f"vm-{number}", f"vm-{number}-x")
        court.judge.vanished[item["metadata"]["uid"]] = float(at)
    assert (court.judge.patience("GpuVM") > calm) is blind


@pytest.mark.parametrize(("who", "found"), [("operator-0.1", ["blind"]), ("operator-1.1", [])])
def test_what_a_process_has_not_seen_for_long_is_not_ready(court, who, found):
    """Seed 402996: another had taken over during an outage, and counted from its own first look."""
    item = court.bought()
    court.says(item, "True", "Running")
    court.judge._promises.listed(court.operator, "GetServers", 0.0)
    court.passes(1000.0)
    court.judge._promises.listed(Process(who), "GetServers", 0.0)
    assert court.oracles == found


@pytest.mark.parametrize(
    ("refused", "found"), [((960.0,), []), ((900.0,), ["blind"]), ((), ["blind"])], ids=["lately", "long ago", "never tried"]
)
def test_what_the_apiserver_refuses_to_write_is_not_the_operators_to_say(court, refused, found):
    """Seed 92334119: eleven writes of a status were refused in a row, in bad weather that was no outage."""
    item = court.bought()
    court.says(item, "True", "Running")
    court.judge._promises.listed(court.operator, "GetServers", 0.0)
    for at in refused:
        court.passes(at)
        court.judge.writes(court.operator, "PUT", f"{path_of(item)}/status", json.dumps({"metadata": item["metadata"]}))
    court.passes(1000.0 - sum(refused))
    court.judge._promises.listed(court.operator, "GetServers", 0.0)
    assert court.oracles == found


@pytest.mark.parametrize(("fault", "found"), [("cloud-slow", []), ("list-empty", ["blind"])])
def test_a_listing_that_took_its_time_was_seen_when_it_came(court, fault, found):
    """Seed 977459: no other listing came for minutes."""
    item = court.bought()
    court.says(item, "True", "Running")
    asked = Request("GET", "/api/v1/servers/virtual/GetServers", (("Cluster", "Msc1"),), SIGNED)
    court.judge.answered(court.operator, "GetServers", asked, Response(200), fault)
    court.passes(1000.0)
    court.judge.received(court.operator, "GetServers", asked, Response(200), fault)
    court.judge.answered(court.operator, "GetServers", asked, Response(200), fault)
    assert court.oracles == found


@pytest.mark.parametrize(
    ("fault", "shown", "after", "found"),
    [
        ("list-stale", "a-x", 300.0, []),
        ("list-stale", "a-x", 400.0, ["blind"]),
        ("list-stale", "another", 300.0, ["blind"]),
        ("list-more", "a-x", 300.0, ["blind"]),
    ],
    ids=["an old one", "long ago", "of another", "it shows that records are missing"],
)
def test_an_old_listing_counts_for_what_it_shows(court, fault, shown, after, found):
    """Seed 92257849: only an old one was answered within an outage."""
    item = court.bought()
    court.says(item, "True", "Running")
    asked = Request("GET", "/api/v1/servers/virtual/GetServers", (("Cluster", "Msc1"),), SIGNED)
    answer = Response(200, json.dumps({"items": [{"id": shown, "namespace": "acme"}]}).encode())
    court.judge.answered(court.operator, "GetServers", asked, Response(503), "cloud-503")
    court.passes(200.0)
    court.judge.answered(court.operator, "GetServers", asked, answer, fault)
    court.passes(after)
    court.judge.answered(court.operator, "GetServers", asked, Response(503), "cloud-503")
    assert court.oracles == found


@pytest.mark.parametrize(("after", "found"), [(600.0, []), (900.0, ["blind"])])
def test_an_operator_may_take_a_restored_object_for_old_news(court, after, found):
    """Seed 902195: etcd went back to a status of before an outage, which the operator had written down meanwhile."""
    item = court.bought()
    court.says(item, "True", "Running")
    backup = court.world.api.snapshot()
    court.judge._promises.listed(court.operator, "GetServers", 0.0)
    court.passes(100.0)
    court.judge.restoring()
    court.world.api.restore(backup)
    court.judge.restored()
    court.passes(after)
    court.judge._promises.listed(court.operator, "GetServers", 0.0)
    assert court.oracles == found


@pytest.mark.parametrize(("edited", "found"), [("a", []), ("b", ["ready"])])
def test_what_is_done_to_another_object_is_no_reason_to_be_late(court, edited, found):
    item, _ = court.bought(), court.applied("b")
    court.passes(100)
    court.world.cloud.notice()
    court.says(item, "True", "Running")
    court.world.cloud.end_vm("a-x", "acme", "Msc1")
    court.passes(60)
    court.world.cloud.notice()
    court.passes(10_000)
    court.world.actors.owner.annotate(item | {"metadata": item["metadata"] | {"name": edited}}, restart_requested_at="x")
    court.says(item, "Unknown", "Lost")
    assert court.oracles == found


def vpcs(court, operation, **said):
    """An operator asks for VPCs, or orders one."""
    body, method = (json.dumps(said).encode(), "POST") if said else (b"", "GET")
    request = Request(method, f"/api/v1/vpcs/{operation}", (), SIGNED, body)
    if said:
        court.judge.sent(court.operator, operation, request)
    response = court.world.cloud.carry_out(court.operator, operation, request, "")
    court.judge.received(court.operator, operation, request, response, "")


@pytest.mark.parametrize(
    ("shown", "adoption", "again", "found"),
    [
        (True, "Never", True, ["ready"]),
        (False, "Never", True, []),  # no listing had shown which one is ours
        (True, "IfExists", True, []),
        (True, "Never", False, []),
    ],
)
def test_a_vpc_that_a_stranger_makes_in_the_place_of_ours_is_not_ours(court, shown, adoption, again, found):
    item = court.world.actors.owner.create(
        "GpuVpc", "team", "net", {"cluster": "Msc1", "name": "acme-net", "adoption": adoption}
    )
    item["kind"] = "GpuVpc"
    court.hands.patch(item, {"metadata": {"finalizers": ["gpucloud.dev/finalizer"]}})
    court.records(item, "acme-net")
    vpcs(court, "CreateVpc", name="acme-net", cluster="Msc1")
    court.passes(1.0)
    if shown:
        vpcs(court, "GetVpcs")
    court.passes(1.0)
    court.says(item, "True", "Available")
    if again:
        assert court.world.cloud.end_vpc("acme-net")
        assert court.world.cloud.make_vpc("acme-net", "Msc1", "stranger")
    court.passes(10_000)
    court.judge.weigh(court.judge.books.lives[item["metadata"]["uid"]])
    assert court.oracles == found


def test_words_are_not_nested(court):
    item = court.applied()
    condition = {"type": "Ready", "status": "False", "reason": "DependencyNotReady", "observedGeneration": 1}
    words = "Waiting for b: Waiting for c: Waiting for d."
    court.writes(item, conditions=[condition | {"message": words, "lastTransitionTime": "2026-01-01T00:00:00Z"}])
    assert court.oracles == ["nested words"]
