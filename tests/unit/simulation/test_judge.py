"""Each oracle, seen to fail on a doctored record, and to keep silent on the same record as it should be."""

import json

import pytest

from gpucloud.sim.messages import Request, Response
from gpucloud.sim.world.vms import VmOrder
from gpucloud.sim.world.world import ImageChoice
from simulation import ending
from simulation.books import FINALIZER
from simulation.credentials import KEYS, secret_data
from simulation.logs import SimulatedLog
from simulation.people import MERGE, path_of
from simulation.process import Process
from support.court import SIGNED, SPEC, Court


@pytest.fixture
def court():
    made = Court()
    yield made
    made.world._bury()


def deletes_secret(court):
    """Somebody deletes the Secret, on which a finalizer stands."""
    path = "/api/v1/namespaces/team/secrets/key"
    court.hands.call("PATCH", path, {"metadata": {"finalizers": ["gpucloud.dev/x"]}}, headers=MERGE)
    court.hands.call("DELETE", path)


def test_an_order_that_is_recorded_and_guarded_is_fine(court):
    court.bought()
    assert court.oracles == []


def test_an_order_that_no_status_records(court):
    court.applied()
    court.orders("a-x")
    assert court.oracles == ["record"]


def test_a_name_in_a_message_is_no_record(court):
    item = court.applied()
    court.says(item, "False", "Creating")
    court.writes(item, conditions=[{**court.judge.books.lives[item["metadata"]["uid"]].condition("Ready"), "message": "a-x"}])
    court.orders("a-x")
    assert court.oracles == ["record"]


def test_an_order_before_the_finalizer_is_visible(court):
    item = court.applied(has_finalizer=False)
    court.records(item, "a-x")
    court.orders("a-x")
    assert court.oracles == ["finalizer"]


def test_two_things_at_once(court):
    item = court.bought()
    court.records(item, "a-y")
    court.orders("a-y")
    assert court.oracles == ["twice"]


@pytest.mark.parametrize(("named", "restored", "found"), [(True, True, []), (True, False, ["twice"]), (False, True, ["twice"])])
def test_a_name_that_the_cloud_gave_nobody_knows_once_a_backup_of_before_was_restored(court, named, restored, found):
    """Seed 903004: etcd went back to a time before the order."""
    item = court.applied()
    court.world.actors.back_up_etcd()
    court.records(item, "srv-1")
    assert court.orders("srv-1") == 202
    court.world.cloud_names |= {"srv-1": "a-x"} if named else {}
    if restored:
        court.world.actors.restore_etcd()
    court.records(item, "a-x")
    court.orders("a-x")
    assert court.oracles == found


def test_one_after_the_other_is_not_two(court):
    item = court.bought()
    court.world.actors.owner.delete(item)
    court.destroys("a-x")
    court.passes(60)
    court.records(item, "a-y")
    court.orders("a-y")
    assert court.oracles == []


def test_something_of_a_stranger_is_destroyed(court):
    court.applied()
    court.world.cloud.make_vm("prod", "acme", "Msc1", "stranger")
    court.destroys("prod")
    assert court.oracles == ["foreign"]


def test_something_of_a_stranger_is_stopped(court):
    court.world.cloud.make_vm("prod", "acme", "Msc1", "stranger")
    court.passes(100)
    court.sends("StopServer", id="prod", namespace="acme", cluster="Msc1")
    assert court.oracles == ["foreign"]


STOPS = {"namespace": "acme", "cluster": "Msc1"}


@pytest.mark.parametrize(("which", "found"), [("prod", []), ("srv-1", ["unasked"])])
def test_a_vm_is_stopped_because_the_object_that_it_was_made_for_wants_that(court, which, found):
    """Seed 100529: the cloud gave the first VM a name of its own, so that another came to have the name both asked for."""
    first = court.bought("a", "srv-1")
    court.writes(first, order=court.judge.books.lives[first["metadata"]["uid"]].status["order"] | {"name": "prod"})
    court.bought("b", "prod", powerState="Stopped")
    court.passes(1000)
    court.sends("StopServer", id=which, **STOPS)
    assert court.oracles == found


@pytest.mark.parametrize(("cluster", "found"), [("Msc1", ["repeated"]), ("Hou1", [])])
def test_a_power_call_is_repeated_only_in_one_place(court, cluster, found):
    """Seed 400267: two objects chose one name, each in a cluster of its own."""
    court.bought("a", "prod", vmName="prod", powerState="Stopped")
    court.passes(1000)
    for where in ("Msc1", cluster):
        said = {"id": "prod", "namespace": "acme", "cluster": where}
        request = Request("POST", "/api/v1/servers/virtual/StopServer", (), SIGNED, json.dumps(said).encode())
        court.judge.sent(court.operator, "StopServer", request)
        court.judge.answered(court.operator, "StopServer", request, Response(202, b"{}"), "")
    assert court.oracles == found


@pytest.mark.parametrize(("stalled", "held"), [(True, True), (False, False)])
def test_a_secret_is_held_for_what_cannot_be_looked_for(court, stalled, held):
    """Seed 400531: the spec of a VM that was told to go named another cluster; it had gone, and nobody could see that."""
    item = court.bought()
    order = court.judge.books.lives[item["metadata"]["uid"]].status["order"]
    condition = {"type": "Stalled", "status": "True", "reason": "DeletionBlocked", "message": "-", "observedGeneration": 1}
    conditions = [condition | {"lastTransitionTime": "2026-01-01T00:00:00Z"}] if stalled else []
    court.writes(item, order=order | {"state": "Destroying"}, conditions=conditions)
    court.world.cloud.end_vm("a-x", "acme", "Msc1")
    court.passes(60)
    court.world.cloud.notice()
    deletes_secret(court)
    assert court.judge.secret_is_going("team") == held


@pytest.mark.parametrize(
    ("adoption", "state", "name", "held"),
    [
        ("IfExists", "Seen", "acme", True),
        ("Required", "Destroying", "acme", True),
        ("Never", "Seen", "acme", False),
        ("IfExists", "NotOrdered", "acme", False),
        ("IfExists", "Seen", "acme-gone", False),
    ],
)
def test_a_secret_is_held_for_a_vpc_that_was_adopted(court, adoption, state, name, held):
    """Seeds 902776, 904029 and 906023: the last that needed the Secret was a GpuVpc with a VPC that it had not made."""
    item = court.world.actors.owner.create("GpuVpc", "team", "net", {"cluster": "Msc1", "name": name, "adoption": adoption})
    court.writes(item | {"kind": "GpuVpc"}, order={"state": state, "name": name, "cluster": "Msc1", "id": "x"})
    deletes_secret(court)
    assert court.judge.secret_is_going("team") == held


def test_ours_is_destroyed_unasked(court):
    court.bought()
    court.destroys("a-x")
    assert court.oracles == ["unasked"]


def test_ours_is_destroyed_when_its_object_is_deleted(court):
    court.world.actors.owner.delete(court.bought())
    court.destroys("a-x")
    assert court.oracles == []


@pytest.mark.parametrize(
    ("killed", "ended", "found"),
    [(True, False, []), (False, False, ["foreign"]), (True, True, ["foreign"])],
)
def test_a_chosen_name_of_an_order_that_its_killed_process_cannot_have_sent(court, killed, ended, found):
    """Seed 130413: the record was written late; the next process took a stranger's VM for what had been ordered."""
    item = court.applied(vmName="prod")
    court.records(item, "prod")
    if killed:
        court.operator.kill()
        court.judge.died(court.operator)
    court.passes(5.0)
    if ended:  # the next process proves that nothing was made
        order = {"state": "Refused", "name": "prod", "cluster": "Msc1", "vpc": "acme", "id": "x"}
        court.writes(item, order=order)
        court.passes(5.0)
    court.world.cloud.make_vm("prod", "acme", "Msc1", "stranger")
    court.destroys("prod")
    assert court.oracles == found


@pytest.mark.parametrize(("killed_after", "found"), [(1.0, []), (60.0, ["foreign"])])
def test_a_refusal_that_a_killed_process_had_no_time_to_record_is_known_to_nobody(court, killed_after, found):
    """Seed 950034: the cloud refused the order with a 409, and the process was killed before it could write that."""
    court.world.cloud.make_vm("prod", "acme", "Msc1", "stranger")
    item = court.applied(vmName="prod")
    court.records(item, "prod")
    court.orders("prod")
    court.passes(killed_after)
    court.operator.kill()
    court.judge.died(court.operator)
    court.passes(5.0)
    court.destroys("prod")
    assert court.oracles == found


def test_what_strangers_do_to_theirs_is_their_affair(court):
    court.world.cloud.make_vm("prod", "acme", "Msc1", "stranger")
    court.world.cloud.end_vm("prod", "acme", "Msc1")
    assert court.oracles == []


def listed(court, times, cluster="Msc1", key="good"):
    for _ in range(times):
        court.passes(10)
        signed = (("authorization", f"ApiKey {KEYS[key]}"),)
        request = Request("GET", "/api/v1/servers/virtual/GetServers", (("Cluster", cluster),) if cluster else (), signed)
        court.world.cloud.carry_out(court.operator, "GetServers", request, "")


@pytest.mark.parametrize(("listings", "found"), [(0, []), (1, []), (2, ["foreign"])])
def test_a_chosen_name_made_anew_is_a_strangers_once_two_listings_could_show_ours_gone(court, listings, found):
    item = court.bought(thing="prod", vmName="prod")
    listed(court, 1)
    court.world.cloud.end_vm("prod", "acme", "Msc1")
    court.passes(60)
    court.world.cloud.notice()
    listed(court, listings)
    court.world.cloud.make_vm("prod", "acme", "Msc1", "stranger")
    court.world.actors.owner.delete(item)
    court.destroys("prod")
    assert court.oracles == found


@pytest.mark.parametrize(
    ("elsewhere", "found"), [({"key": "other"}, []), ({"cluster": "Hou1"}, []), ({"cluster": ""}, ["foreign"])]
)
def test_a_listing_of_another_tenant_or_cluster_shows_nobody_that_ours_is_gone(court, elsewhere, found):
    """Seed 70355: the key was another tenant's all the while."""
    item = court.bought(thing="prod", vmName="prod")
    listed(court, 1)
    court.world.cloud.end_vm("prod", "acme", "Msc1")
    court.passes(60)
    court.world.cloud.notice()
    listed(court, 2, **elsewhere)
    court.world.cloud.make_vm("prod", "acme", "Msc1", "stranger")
    court.world.actors.owner.delete(item)
    court.destroys("prod")
    assert court.oracles == found


@pytest.mark.parametrize(("form", "again", "found"), [("key", 0, ["foreign"]), ("login", 0, []), ("login", 40, ["foreign"])])
def test_what_another_namespaces_account_is_shown_tells_nobody_that_ours_is_gone(court, form, again, found):
    """Seed 50003: its own account had another tenant's key, and then a wrong one, while ours went and a stranger's came."""
    admin, was = court.world.actors.admin, secret_data("good", "key")
    for namespace in ("team", "other"):
        admin.put_secret(namespace, "key", was)
    item = court.bought(thing="prod", vmName="prod")
    listed(court, 1)
    court.world.cloud.end_vm("prod", "acme", "Msc1")
    court.passes(60)
    court.world.cloud.notice()
    admin.put_secret("team", "key", secret_data("good", form))
    if again:
        admin.put_secret("team", "key", was)
        court.passes(again)
    listed(court, 2)
    court.world.cloud.make_vm("prod", "acme", "Msc1", "stranger")
    court.world.actors.owner.delete(item)
    court.destroys("prod")
    assert court.oracles == found


@pytest.mark.parametrize(("alive", "found"), [(-1, []), (1, []), (20, ["foreign"])])
def test_what_a_process_was_shown_right_before_it_died_nobody_knows(court, alive, found):
    """Seed 130091: ours was listed, and gone before anybody else looked; the order's record stands as if it had no answer."""
    item = court.bought(thing="prod", vmName="prod")
    court.world.cloud.orders[-1].answer = "unclear"
    if alive < 0:  # the listing is answered when nobody waits for it any more
        court.operator.alive = False
        court.judge.died(court.operator)
    listed(court, 1)
    if alive > 0:
        court.passes(alive)
        court.judge.died(court.operator)
    court.operator.alive = True  # the next one
    court.world.cloud.end_vm("prod", "acme", "Msc1")
    court.passes(60)
    court.world.cloud.notice()
    listed(court, 2)
    court.world.cloud.make_vm("prod", "acme", "Msc1", "stranger")
    court.world.actors.owner.delete(item)
    court.destroys("prod")
    assert court.oracles == found


@pytest.mark.parametrize(("lag", "cluster", "found"), [(1.1, "Hou1", []), (1.1, "Msc1", ["twice"]), (0.5, "Hou1", ["twice"])])
def test_a_cloud_that_lists_later_than_a_grace_refuses_no_second_order_in_another_place(court, lag, cluster, found):
    """Seed 50988: nothing showed what an order without a clear answer had made, and its owner named another cluster."""
    item = court.bought(thing="a-x")
    court.world.cloud.orders[-1].answer = "unclear"
    court.world.cloud.lag = lag * court.world.grace
    court.records(item, "a-x" if cluster == "Hou1" else "a-y")
    court.sends(
        "CreateServer", name="a-x" if cluster == "Hou1" else "a-y", ssh_keys=SPEC["sshKeys"], **SPEC | {"cluster": cluster}
    )
    assert [one for one in court.oracles if one != "record"] == found


@pytest.mark.parametrize(
    ("named", "dies_after", "away", "found"),
    [
        (True, 1, (0, 0), []),
        (True, 60, (0, 0), ["released"]),
        (True, None, (0, 0), ["released"]),
        (False, 1, (0, 0), ["released"]),
        (True, 60, (5, 59), []),
        (True, 60, (5, 40), ["released"]),
        (True, 60, (20, 59), ["released"]),
    ],
)
def test_what_the_cloud_called_a_vm_nobody_knows_once_the_only_process_that_was_told_has_ended(
    court, named, dies_after, away, found
):
    """Seeds 500902, 502050: the apiserver refused the record, and the Lease with it, so that the process ended itself."""
    court.world._outages["kube-outage"] = away
    item = court.bought(thing="srv-1")
    court.world.cloud_names |= {"srv-1": "a-x"} if named else {}
    if dies_after is not None:
        court.passes(dies_after)
        court.judge.died(court.operator)
    court.world.actors.owner.delete(item)
    court.hands.patch(item, {"metadata": {"finalizers": None}})
    assert court.oracles == found


@pytest.mark.parametrize(("restored", "patience"), [(False, 480.0), (True, 840.0)])
def test_a_watch_may_miss_objects_after_a_restore_until_its_process_is_ended(restored, patience):
    """Seed 502203: the second resync shows it, and the liveness probe fails."""
    it = Court(create_grace_seconds=3.0)
    if restored:
        it.judge.restored()
    it.world._bury()
    assert ending._patience(it.world, it.judge) == patience


@pytest.mark.parametrize(("healed", "after", "late"), [(0, 150, False), (0, 170, True), (950, 170, False), (950, 200, True)])
def test_what_was_destroyed_is_let_go_promptly_but_a_call_that_hung_is_waited_out(court, healed, after, late):
    """Seed 602249: the faults had ended a moment before, and a listing had hung since then."""
    item = court.bought()
    life, gone = court.judge.books.lives[item["metadata"]["uid"]], 970.0
    court.world.healed_at, court.judge.vanished[life.uid], life.let_go_at = float(healed), gone, gone + after
    assert bool(list(ending._late(court.world, court.judge, gone - 1.0))) == late


@pytest.mark.parametrize(("lag", "later", "found"), [(0, 0, ["foreign"]), (15, 0, []), (15, 1, ["foreign"])])
def test_a_listing_that_lags_shows_later_that_ours_is_gone(court, lag, later, found):
    """Seed 70094: the end of ours and the beginning of the stranger's are both listed a lag later."""
    item = court.bought(thing="prod", vmName="prod")
    listed(court, 4)
    court.world.cloud.lag = float(lag)
    court.world.cloud.end_vm("prod", "acme", "Msc1")
    listed(court, 2)
    court.world.cloud.make_vm("prod", "acme", "Msc1", "stranger")
    listed(court, later)
    court.world.actors.owner.delete(item)
    court.destroys("prod")
    assert court.oracles == found


def answers(court, name, status, fault=""):
    """The operator orders, and the cloud answers so whatever it did."""
    order = Request("POST", "/api/v1/servers/virtual/CreateServer", (), SIGNED, json.dumps({"name": name, **SPEC}).encode())
    court.judge.sent(court.operator, "CreateServer", order)
    court.judge.answered(court.operator, "CreateServer", order, Response(status), fault)


@pytest.mark.parametrize(
    ("first", "made_after", "found", "why"),
    [
        (500, 0.7, [], "seed 70979: it was made late, and is listed later, together more than a grace after its order"),
        (500, 0.2, ["released"], "it was listed within the grace"),
        (202, 0.7, ["released"], "what was accepted is waited for"),
        (500, 2.0, ["released"], "the second order made it, and was accepted"),
    ],
)
def test_nobody_can_tell_of_what_was_made_or_listed_later_than_a_grace(court, first, made_after, found, why):
    item = court.applied(vmName="prod")
    court.records(item, "prod")
    answers(court, "prod", first)
    court.world.cloud.lag = 0.5 * court.world.grace
    court.passes(made_after * court.world.grace)
    if made_after > 1:
        answers(court, "prod", 202)
    order = VmOrder("Msc1", "acme", "prod", "A100_40GB_PCIe_1x", "on-demand", "", "acme", "carl")
    court.world.cloud.world.create_vm(order, ImageChoice(), court.world.cloud.now())
    court.world.cloud.notice()
    court.world.actors.owner.delete(item)
    court.hands.patch(item, {"metadata": {"finalizers": []}})
    assert court.oracles == found, why


@pytest.mark.parametrize(("fault", "answer"), [("", "accepted"), ("write-garbage", "unclear")])
def test_an_acceptance_that_cannot_be_read_is_none(court, fault, answer):
    """Seed 70802."""
    court.records(court.applied(), "a-x")
    answers(court, "a-x", 202, fault)
    assert court.world.cloud.orders[-1].answer == answer


def test_an_object_is_let_go_while_its_thing_lives(court):
    item = court.bought()
    court.world.actors.owner.delete(item)
    court.hands.patch(item, {"metadata": {"finalizers": []}})
    assert court.oracles == ["released"]


def shows(court, *faults):
    """Listings a third of a grace apart, each with its fault."""
    for fault in faults:
        court.passes(court.world.grace / 3)
        request = Request("GET", "/api/v1/servers/virtual/GetServers", (("Cluster", "Msc1"),), SIGNED)
        court.world.cloud.carry_out(court.operator, "GetServers", request, fault)


EMPTY = "list-empty"


@pytest.mark.parametrize(
    ("chosen", "listings", "found", "why"),
    [
        (
            True,
            ("", EMPTY, EMPTY, EMPTY, EMPTY),
            [],
            "seed 100405: that it is lost was proven, and nothing tells that it is back",
        ),
        (True, ("", EMPTY, "list-foreign", "list-foreign", EMPTY, ""), [], "what is seen to be partial proves nothing"),
        (True, ("", EMPTY, EMPTY, EMPTY), ["released"], "not for a grace"),
        (True, ("", EMPTY, EMPTY, "", EMPTY, EMPTY), ["released"], "one showed it"),
        (True, (EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, ""), ["released"], "it had not been shown: what was accepted is waited for"),
        (False, ("", EMPTY, EMPTY, EMPTY, EMPTY), ["released"], "its name proves whose it is"),
    ],
)
def test_a_chosen_name_that_every_listing_lacked_for_a_grace_may_be_let_go(court, chosen, listings, found, why):
    item = court.bought(thing="prod", **({"vmName": "prod"} if chosen else {}))
    shows(court, *listings)
    court.world.actors.owner.delete(item)
    court.hands.patch(item, {"metadata": {"finalizers": []}})
    assert court.oracles == found, why


@pytest.mark.parametrize(
    "note", ["Another one has the name 'prod'", "This may be your VM 'prod': it is billed until you destroy it"]
)
def test_what_was_let_go_in_doubt_must_be_told(court, note):
    item = court.bought(thing="prod", vmName="prod")
    court.world.actors.owner.delete(item)
    court.hands.patch(item, {"metadata": {"finalizers": []}})
    event = {"metadata": {"name": "e"}, "eventTime": "2026-01-01T00:00:00.000000Z", "reason": "Retained", "note": note}
    more = {"reportingController": "x", "reportingInstance": "y", "action": "z", "type": "Warning"}
    where = {"regarding": {"kind": "GpuVM", "namespace": "team", "name": "a"}}
    assert court.hands.call("POST", "/apis/events.k8s.io/v1/namespaces/team/events", event | more | where)
    assert bool(list(ending._leaks(court.world, court.judge))) == ("billed" not in note)


@pytest.mark.parametrize("spec", [{"deletion": {"policy": "Retain"}}, {}])
def test_an_object_is_let_go_when_its_thing_is_to_stay_or_has_gone(court, spec):
    item = court.bought(**spec)
    court.world.actors.owner.delete(item)
    if not spec:
        court.destroys("a-x")
        court.passes(60)
        court.world.cloud.notice()
    court.hands.patch(item, {"metadata": {"finalizers": []}})
    assert court.oracles == []


@pytest.mark.parametrize(("again", "found"), [(False, []), (True, ["foreign"])])
def test_a_power_call_may_be_carried_out_after_the_object_was_let_go_but_not_sent_then(court, again, found):
    """Seed 110758: the cloud carried out a start with a delay, and the VM was retained meanwhile."""
    item = court.bought(deletion={"policy": "Retain"}, powerState="Stopped")
    court.passes(1000)
    said = {"id": "a-x", **STOPS}
    court.judge.sent(court.operator, "StopServer", Request("POST", "/", (), SIGNED, json.dumps(said).encode()))
    court.passes(1)
    court.world.actors.owner.delete(item)
    court.hands.patch(item, {"metadata": {"finalizers": None}})
    court.passes(1)
    if again:
        court.sends("StopServer", **said)
    else:
        request = Request("POST", "/api/v1/servers/virtual/StopServer", (), SIGNED, json.dumps(said).encode())
        court.world.cloud.carry_out(court.operator, "StopServer", request, "")
    assert court.oracles == found


@pytest.mark.parametrize(("again", "found"), [(False, []), (True, ["foreign"])])
def test_a_destroying_call_may_be_carried_out_after_the_object_was_retained_but_not_sent_then(court, again, found):
    """Seed 950405: the cloud answered 500 and destroyed the VM later; its owner had said Retain meanwhile."""
    item = court.bought()
    court.world.actors.owner.delete(item)
    place = (("Id", "a-x"), ("Namespace", "acme"), ("Cluster", "Msc1"))
    request = Request("DELETE", "/api/v1/servers/virtual/DestroyServer", place, SIGNED)
    court.judge.sent(court.operator, "DestroyServer", request)
    court.passes(1)
    court.world.actors.owner.patch(item, {"spec": {"deletion": {"policy": "Retain"}}})
    court.hands.patch(item, {"metadata": {"finalizers": None}})
    court.passes(1)
    if again:
        court.destroys("a-x")
    else:
        court.world.cloud.carry_out(court.operator, "DestroyServer", request, "")
    assert court.oracles == found


def test_whoever_takes_the_finalizer_away_by_force_is_not_the_operator(court):
    item = court.bought()
    court.world.actors.owner.delete(item)
    court.world.actors.owner.patch(item, {"metadata": {"finalizers": None}})
    assert court.oracles == []


@pytest.mark.parametrize(("reported", "leaks"), [(False, True), (True, False)])
def test_what_belongs_to_nobody_must_be_reported(court, reported, leaks):
    item = court.bought()
    court.world.actors.owner.delete(item)
    court.world.actors.owner.patch(item, {"metadata": {"finalizers": None}})
    if reported:
        event = {"metadata": {"name": "e"}, "eventTime": "2026-01-01T00:00:00.000000Z", "reason": "Orphan", "note": "'a-x' is"}
        more = {"reportingController": "x", "reportingInstance": "y", "action": "z", "type": "Warning"}
        where = {"regarding": {"kind": "GpuVM", "namespace": "team", "name": "a"}}
        assert court.hands.call("POST", "/apis/events.k8s.io/v1/namespaces/team/events", event | more | where)
    assert bool(list(ending._leaks(court.world, court.judge))) == leaks


@pytest.mark.parametrize(
    ("chosen", "changed", "tenancy", "leaks"),
    [(True, True, None, False), (True, True, "acme", True), (True, False, None, True), (False, True, None, True)],
)
def test_a_chosen_name_that_no_listing_showed_before_another_tenants_key_came_may_stay_unknown(
    court, chosen, changed, tenancy, leaks
):
    """Seed 600331: a known limit; the other tenant's listings lack it, and later ones show a name that may be anybody's."""
    item = court.bought(thing="prod", **({"vmName": "prod"} if chosen else {}))
    court.writes(item, tenancy=tenancy)
    court.world.actors.changed_keys = changed
    court.world.actors.owner.delete(item)
    court.hands.patch(item, {"metadata": {"finalizers": None}})
    assert bool(list(ending._leaks(court.world, court.judge))) == leaks


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


def test_an_object_is_written_hot(court):
    item = court.applied()
    for number in range(100):
        court.passes(0.1)
        court.judge.disturbed()
        court.writes(item, state=str(number))
    assert court.oracles == ["hot writes"]


def test_a_hundred_writes_in_an_hour_are_not_hot(court):
    item = court.applied()
    for number in range(100):
        court.passes(36)
        court.judge.disturbed()
        court.writes(item, state=str(number))
    assert court.oracles == []


def test_listings_are_hot(court):
    for _ in range(400):
        court.judge._note_listing("GetServers", court.world.loop.time())
        court.passes(0.05)
    assert court.oracles == ["hot listings"]


def test_a_key_is_shown(court):
    court.judge.show(f"the cloud says no to {KEYS['wrong']}")
    assert court.oracles == ["canary"]


def test_a_task_is_lost(court):
    court.world.loop.failures.append({"message": "Task exception was never retrieved", "exception": ValueError("x")})
    court.judge.rest()
    assert court.oracles == ["lost task"]


def test_a_process_ends_by_an_error(court):
    court.judge.broke(court.operator, KeyError("x"))
    assert court.oracles == ["broken KeyError"]


@pytest.mark.parametrize(
    ("vpc", "leaves", "namespace", "adopted", "met"),
    [
        ("acme", True, "team", False, True),
        ("acme", False, "team", False, False),
        ("acme-pn", True, "team", False, False),
        ("acme", True, "other", False, True),
        ("acme", True, "other", True, False),
        ("acme", True, "team", True, True),
    ],
)
def test_nothing_is_created_in_a_vpc_that_is_to_go(court, vpc, leaves, namespace, adopted, met):
    """Seeds 121313 and 600669: the VPC waits for what is in it, whosever that is."""
    item = court.applied()
    court.says(item, "False", "DependencyNotReady")
    court.writes(item, observedGeneration=1)
    there = court.world.actors.owner.create("GpuVpc", namespace, "v", {"cluster": "Msc1", "name": vpc})
    there["kind"] = "GpuVpc"
    court.hands.patch(there, {"metadata": {"finalizers": [FINALIZER]}})
    court.says(there, "False", "DeletionBlocked")
    court.writes(there, observedGeneration=1, adopted=adopted)
    if leaves:
        court.world.actors.owner.delete(there)
    unmet = [text for text in ending._unmet(court.judge) if "GpuVM" in text]
    assert (unmet == []) == met


@pytest.mark.parametrize(("adopted", "met"), [(False, True), (True, False)])
def test_a_vpc_of_another_namespace_bars_what_is_created_in_it_unless_it_was_adopted(court, adopted, met):
    """Seed 403255: the cloud refuses to destroy the VPC, and calls a person; all that is to be created in it waits."""
    item = court.applied()
    court.says(item, "False", "DependencyNotReady")
    court.writes(item, observedGeneration=1)
    there = court.world.actors.owner.create("GpuVpc", "other", "v", {"cluster": "Msc1", "name": "acme"})
    there["kind"] = "GpuVpc"
    court.hands.patch(there, {"metadata": {"finalizers": [FINALIZER]}})
    court.says(there, "False", "DeletionBlocked")
    court.writes(there, observedGeneration=1, adopted=adopted)
    court.world.actors.owner.delete(there)
    assert (not [words for words in ending._unmet(court.judge) if "team/a" in words]) == met


def test_what_is_not_ready_is_told_and_what_needs_a_person_is_not(court):
    item = court.applied()
    court.says(item, "False", "Creating")
    court.writes(item, observedGeneration=1)
    assert list(ending._unmet(court.judge)) == ["GpuVM team/a is False/Creating"]
    life = court.judge.books.lives[item["metadata"]["uid"]]
    stalled = {**life.condition("Ready"), "type": "Stalled", "status": "True", "reason": "Rejected"}
    court.writes(item, conditions=[life.condition("Ready"), stalled])
    assert list(ending._unmet(court.judge)) == []
    # Seeds 120084, 120408, 120454: the work goes on after the deadline, so this is no end yet.
    court.writes(item, conditions=[life.condition("Ready"), {**stalled, "reason": "ProgressDeadlineExceeded"}])
    assert list(ending._unmet(court.judge)) == ["GpuVM team/a is False/Creating"]


@pytest.mark.parametrize(
    ("reason", "tenancy", "unmet"),
    [("TenantMismatch", {}, 0), ("CredentialsRefused", {}, 1), ("TenantMismatch", {"tenancy": "acme"}, 1)],
)
def test_an_account_that_calls_a_person_for_an_order_of_unknown_tenant_holds_others_up(court, reason, tenancy, unmet):
    """An order, then the other tenant's key before the first had shown its tenant, then the first key again (seed 82453)."""
    ordered, waiting = court.bought(deletion={"policy": "Retain"}), court.applied("b")
    court.writes(ordered, order={**court.judge.books.lives[ordered["metadata"]["uid"]].status["order"], "state": "Accepted"})
    court.writes(ordered, observedGeneration=1, **tenancy)
    court.says(ordered, "True", "Running")
    court.says(waiting, "False", "AccountNotReady")
    court.writes(waiting, observedGeneration=1)
    (account,) = court.world.actors.owner.all("GpuCloudAccount")[-1:]
    said = {"type": "Stalled", "status": "True", "reason": reason, "message": "-", "observedGeneration": 1}
    court.writes(account, conditions=[said | {"lastTransitionTime": "2026-01-01T00:00:00Z"}])
    assert len(list(ending._unmet(court.judge))) == unmet


STALLED = {"type": "Stalled", "status": "True"}


@pytest.mark.parametrize(
    ("before", "after", "quiet"),
    [
        ("True/Running", "True/Running", False),
        ("True/Running", "False/Restarting", False),
        ("False/Conflict", "False/Conflict", False),
        ("False/NotFound", "False/Creating", True),  # seed 110267: the order was sent again after some minutes
        ("False/ProgressDeadlineExceeded", "False/ProgressDeadlineExceeded", True),  # seed 110015: the work went on
        ("False/LimitReached", "False/LimitReached", True),  # seed 501064: the catalogue had a price by then
    ],
)
def test_nothing_is_written_once_all_is_as_wanted_but_what_was_stalled_may_go_on(court, before, after, quiet):
    item = court.bought()

    def says(ready):
        condition = {"type": "Ready", "message": "-", "observedGeneration": 1, "lastTransitionTime": "2026-01-01T00:00:00Z"}
        condition["status"], condition["reason"] = ready.split("/")
        stalled = [condition | STALLED] if ready.startswith("False/") else []
        court.writes(item, conditions=[condition, *stalled])

    says(before)
    resting = ending._at_rest(court.judge)
    assert list(ending._restless(court.judge, resting)) == []
    court.writes(item, ip="10.0.0.1")
    says(after)
    assert (list(ending._restless(court.judge, resting)) == []) == quiet


@pytest.mark.parametrize(
    "says",
    [
        "It tries again every 5 minutes.",  # seed 110575: the cloud refuses to destroy a default VPC
        "Nothing is bought. It goes on by itself when there is room: delete a GpuVM.",  # seed 501064: somebody deleted one
        "The cloud's catalogue has no price for 'x', and a limit needs one.",  # seed 400109: it had one a minute later
    ],
)
def test_what_tries_again_as_it_says_need_not_be_quiet(court, says):
    item = court.bought()
    condition = {"type": "Ready", "status": "False", "reason": "DeletionBlocked", "observedGeneration": 1}
    condition |= {"message": says, "lastTransitionTime": "2026-01-01T00:00:00Z"}
    court.writes(item, conditions=[condition, condition | STALLED])
    resting = ending._at_rest(court.judge)
    court.writes(item, ip="10.0.0.1")
    assert list(ending._restless(court.judge, resting)) == []


@pytest.mark.parametrize(("takes", "resting"), [("Delete", False), ("Keep", True)])
def test_a_snapshot_that_goes_with_its_vm_need_not_be_quiet(court, takes, resting):
    """Seed 960807: the cloud had not carried the VM's destruction out, and was asked again five minutes later."""
    vm = court.bought(deletion={"snapshots": takes})
    snapshot = court.world.actors.owner.create("GpuSnapshot", "team", "s", {"vmRef": {"name": "a"}})
    snapshot["kind"] = "GpuSnapshot"
    court.says(snapshot, "True", "Completed")
    court.world.actors.owner.delete(vm)
    assert (snapshot["metadata"]["uid"] in ending._at_rest(court.judge)) is resting


@pytest.mark.parametrize(("who", "found"), [("operator-0.1", ["blind"]), ("operator-1.1", [])])
def test_what_a_process_has_not_seen_for_long_is_not_ready(court, who, found):
    """Seed 402996: another had taken over during an outage, and counted from its own first look."""
    item = court.bought()
    court.says(item, "True", "Running")
    court.judge._promises.listed(court.operator, "GetServers", 0.0)
    court.passes(1000.0)
    court.judge._promises.listed(Process(who), "GetServers", 0.0)
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


def test_what_is_being_deleted_must_go(court):
    item = court.bought()
    court.world.actors.owner.delete(item)
    (unmet,) = ending._unmet(court.judge)
    assert "is being deleted still" in unmet


def test_a_merge_patch_of_a_stranger_counts_as_tampering(court):
    item = court.applied()
    court.world.actors.stranger.call("PATCH", f"{path_of(item)}/status", {"status": {"state": "x"}}, MERGE)
    assert court.judge.books.lives[item["metadata"]["uid"]].tampered


def test_a_key_in_the_log_is_found_where_logs_are_searched(court, monkeypatch):
    monkeypatch.setattr(SimulatedLog, "world", court.world)
    for searched in (False, True):
        monkeypatch.setattr(SimulatedLog, "searched", searched)
        SimulatedLog(None, None, None).info("refused", words=f"no: {KEYS['good']}")
    assert court.oracles == ["canary"]


def test_what_the_product_calls_an_exception_is_found(court, monkeypatch):
    monkeypatch.setattr(SimulatedLog, "world", court.world)
    SimulatedLog(None, None, None).exception("pass failed", name="a")
    assert court.oracles == ["exception"]


@pytest.mark.parametrize(
    ("who", "after", "found"),
    [("operator-1.1", 3.0, []), ("operator-1.1", 5.0, ["lease"]), ("operator-2.1", 3.0, ["lease"])],
)
def test_who_held_the_lease_before_a_restore_may_act_until_its_next_renewal(who, after, found):
    """Seed 910708: etcd went back to a time when another held the Lease, which the holder learned at its next renewal."""
    lease = {"lease_namespace": "kube-system", "lease_duration_seconds": 6.0, "lease_renew_deadline_seconds": 4.0}
    court = Court(replicas=2, leader_elect=True, lease_retry_period_seconds=1.5, **lease)
    path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
    held = {"metadata": {"name": "gpucloud-operator"}, "spec": {"holderIdentity": "operator-0.1"}}
    older = court.hands.call("POST", path, held)
    backup = court.world.api.snapshot()
    assert court.hands.call("PUT", f"{path}/gpucloud-operator", older | {"spec": {"holderIdentity": "operator-1.1"}})
    court.judge.restoring()
    court.world.api.restore(backup)
    court.judge.restored()
    court.passes(after)
    court.judge.writes(Process(who), "PUT", "/apis/gpucloud.dev/v1alpha1/namespaces/team/gpuvms/a/status", "{}")
    assert court.oracles == found
    court.world._bury()


def test_people_write_times_by_the_clock_of_the_operator_that_leads():
    """Seed 130471: the leader's clock was ahead, and each time that its owner accepted an absence was too early for it."""
    court = Court(replicas=2, leader_elect=True, lease_namespace="kube-system")
    first, second = (replica.process for replica in court.world.replicas)
    first.name, second.name, second.skew = "operator-0.1", "operator-1.1", 3600.0
    path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
    lease = court.hands.call("POST", path, {"metadata": {"name": "gpucloud-operator"}, "spec": {"holderIdentity": first.name}})
    assert court.world.stamp() == "2026-01-01T00:00:00Z"
    assert court.hands.call("PUT", f"{path}/gpucloud-operator", lease | {"spec": {"holderIdentity": second.name}})
    assert court.world.stamp() == "2026-01-01T01:00:00Z"
    court.world._bury()
