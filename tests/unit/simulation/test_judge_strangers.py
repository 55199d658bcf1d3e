"""Nothing is destroyed, stopped or started that is not ours; when nobody could tell it from ours."""

import json

import pytest

from gpucloud.sim.messages import Request
from simulation.credentials import KEYS, secret_data
from simulation.people import MERGE, path_of


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


@pytest.mark.parametrize(
    ("taken_over", "after", "found", "why"),
    [
        (False, 0.0, [], "one of the two came within the grace"),
        (False, 60.0, ["foreign"], "two listings after the grace had shown that nothing was made"),
        (True, 60.0, [], "who takes an order over cannot know that it was not accepted: ten graces"),
        (True, 600.0, ["foreign"], "they are over"),
    ],
)
def test_how_long_an_order_without_a_clear_answer_is_waited_for(court, taken_over, after, found, why):
    """Seed 970918: another process held the Lease by then."""
    item = court.applied(vmName="prod")
    court.records(item, "prod")
    court.passes(1.0)
    court.answers("prod", 500)
    court.passes(15.0)
    if taken_over:
        court.operator.alive = False
        court.judge.died(court.operator)
        court.operator.alive = True  # the next one
    court.passes(after)
    listed(court, 2)
    court.passes(1.0)
    court.world.cloud.make_vm("prod", "acme", "Msc1", "stranger")
    court.world.actors.owner.delete(item)
    court.destroys("prod")
    assert court.oracles == found, why


@pytest.mark.parametrize(("arrived", "found"), [(False, []), (True, ["foreign"])])
def test_a_listing_that_was_on_its_way_when_the_order_was_sent_told_nobody(court, arrived, found):
    """Seed 970147: the stranger's VM stood in it; the listing of before had shown the name free."""
    item = court.applied(vmName="prod")
    court.records(item, "prod")
    listed(court, 1)
    court.passes(1.0)
    court.world.cloud.make_vm("prod", "acme", "Msc1", "stranger")
    listed(court, 1, every=1.0)
    court.passes(1.0)
    if not arrived:
        court.judge._sightings.arrived("operator-0.1", "GetServers", "msc1", court.world.loop.time() + 5.0)
    court.answers("prod", 500)
    court.world.actors.owner.delete(item)
    court.destroys("prod")
    assert court.oracles == found


@pytest.mark.parametrize(("arrived", "found"), [(True, []), (False, ["foreign"])])
def test_a_slow_listing_that_showed_the_name_free_was_acted_upon_once_it_had_come(court, arrived, found):
    """Seed 1101320: the stranger's VM was made while it was on its way, and a 500 in answer may have been a success."""
    item = court.applied(vmName="prod")
    court.records(item, "prod")
    signed = (("authorization", f"ApiKey {KEYS['good']}"),)
    request = Request("GET", "/api/v1/servers/virtual/GetServers", (("Cluster", "Msc1"),), signed)
    answer = court.world.cloud.carry_out(court.operator, "GetServers", request, "cloud-slow")
    court.passes(1)
    court.world.cloud.make_vm("prod", "acme", "Msc1", "stranger")
    court.passes(1)
    if arrived:
        court.judge.received(court.operator, "GetServers", request, answer, "cloud-slow")
    court.answers("prod", 500)
    court.world.actors.owner.delete(item)
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


def listed(court, times, cluster="Msc1", key="good", every=10.0):
    for _ in range(times):
        court.passes(every)
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


@pytest.mark.parametrize(("wiped", "found"), [("before", ["foreign"]), ("after", [])])
def test_what_became_of_an_order_nobody_knows_whose_status_somebody_wrote_after_it(court, wiped, found):
    """What was ordered after that is known, so that a stranger's is told from it by two listings."""
    item = court.applied(vmName="prod")
    court.writes(item, state="x")

    def wipes():
        court.world.actors.owner.call("PATCH", f"{path_of(item)}/status", {"status": {"state": None, "order": None}}, MERGE)
        court.passes(1)

    if wiped == "before":
        court.records(item, "older")
        wipes()
    court.records(item, "prod")
    assert court.orders("prod") == 202
    listed(court, 1)
    court.world.cloud.end_vm("prod", "acme", "Msc1")
    court.passes(60)
    court.world.cloud.notice()
    listed(court, 2)
    if wiped == "after":
        wipes()
    court.world.cloud.make_vm("prod", "acme", "Msc1", "stranger")
    court.world.actors.owner.delete(item)
    court.destroys("prod")
    assert court.oracles == found


@pytest.mark.parametrize(("vpc", "found"), [("acme", []), ("acme-net", ["foreign"])])
def test_an_open_order_in_one_vpc_says_nothing_of_another(court, vpc, found):
    court.world.cloud.make_vpc("acme-net", "Msc1", "stranger")
    item = court.applied(vmName="prod")
    court.records(item, "prod")
    court.answers("prod", 500)
    court.world.cloud.make_vm("prod", vpc, "Msc1", "stranger")
    court.world.actors.owner.delete(item)
    court.announces("prod")
    court.sends("DestroyServer", Id="prod", Namespace=vpc, Cluster="Msc1")
    assert court.oracles == found


@pytest.mark.parametrize(("killed", "graces", "found"), [(True, 2, []), (True, 11, ["foreign"]), (False, 2, ["foreign"])])
def test_an_order_whose_answer_was_lost_with_its_process_may_have_been_accepted(court, killed, graces, found):
    """Seed 984977: the cloud accepted it and forgot; the next process waits for it as for what was accepted (docs/adr/0013)."""
    item = court.applied(vmName="prod")
    court.records(item, "prod")
    court.passes(1)
    court.answers("prod", 500)
    if killed:
        court.judge.died(court.operator)
    court.passes(graces * court.world.grace)
    listed(court, 2)
    court.world.cloud.make_vm("prod", "acme", "Msc1", "stranger")
    court.world.actors.owner.delete(item)
    court.destroys("prod")
    assert court.oracles == found


@pytest.mark.parametrize(
    ("tried", "ended", "found"), [(True, True, []), (False, True, ["foreign"]), (True, False, ["foreign"])]
)
def test_a_refusal_that_a_process_tried_in_vain_to_record_is_known_to_nobody_after_its_end(court, tried, ended, found):
    """Seed 985183: the apiserver refused each write of a status for a minute, and the next process found the order unclear."""
    court.world.cloud.make_vm("prod", "acme", "Msc1", "stranger")
    item = court.applied(vmName="prod")
    court.records(item, "prod")
    assert court.orders("prod") == 409
    court.passes(60)
    if tried:
        body = json.dumps({"metadata": {"uid": item["metadata"]["uid"]}})
        court.judge.writes(court.operator, "PUT", f"{path_of(item)}/status", body)
    court.passes(10)
    if ended:
        court.operator.kill()
        court.judge.died(court.operator)
    court.passes(5)
    court.destroys("prod")
    assert court.oracles == found


def went_before(court):
    """Ours of that name, which had been shown, is gone, as many listings say; its object stands."""
    item = court.bought(thing="prod", vmName="prod")
    listed(court, 2)
    court.world.cloud.end_vm("prod", "acme", "Msc1")
    court.passes(60)
    court.world.cloud.notice()
    listed(court, 5)
    return item


def takes_the_name(court):
    """A stranger makes a VM of that name, which listings show."""
    court.world.cloud.make_vm("prod", "acme", "Msc1", "stranger")
    court.passes(100)
    listed(court, 3)


@pytest.mark.parametrize("before", [False, True])
def test_what_had_gone_before_an_order_says_nothing_of_how_long_that_is_waited_for(court, before):
    """Listings of 2,000 s have proved that the later order made nothing."""
    if before:
        went_before(court)
    item = court.applied(name="b", vmName="prod")
    court.records(item, "prod")
    court.passes(1)
    court.answers("prod", 500)
    court.passes(1000)
    listed(court, 10)
    court.writes(item, order={"state": "Refused", "name": "prod", "cluster": "Msc1", "vpc": "acme", "id": "x"})
    court.passes(1000)
    listed(court, 10)
    takes_the_name(court)
    court.world.actors.owner.delete(item)
    court.destroys("prod")
    assert court.oracles == ["foreign"]


@pytest.mark.parametrize(("lost", "found"), [("record", []), ("object", ["foreign"]), ("object, just now", [])])
def test_what_somebody_wrote_into_a_status_excuses_nobody_once_its_object_is_gone(court, lost, found):
    item = went_before(court)
    court.world.actors.owner.call("PATCH", f"{path_of(item)}/status", {"status": {"order": None}}, MERGE)
    if lost.startswith("object"):
        court.world.actors.owner.delete(item)
        court.hands.patch(item, {"metadata": {"finalizers": []}})
    court.passes(3600 if "now" not in lost else 1)
    listed(court, 10, every=1.0)
    takes_the_name(court)
    other = court.applied(name="b", vmName="prod")
    court.world.actors.owner.delete(other)
    court.destroys("prod")
    assert court.oracles == found


@pytest.mark.parametrize(("lives", "found"), [(True, []), (False, ["foreign"])])
def test_an_order_that_was_never_sent_excuses_nobody_once_its_object_is_gone(court, lives, found):
    item = court.applied(vmName="prod")
    court.records(item, "prod")
    court.operator.kill()
    court.judge.died(court.operator)
    court.operator.alive = True  # the next one
    if not lives:
        court.world.actors.owner.delete(item)
        court.hands.patch(item, {"metadata": {"finalizers": []}})
    court.passes(3600)
    takes_the_name(court)
    court.world.actors.owner.delete(court.applied(name="b", vmName="prod"))
    court.destroys("prod")
    assert court.oracles == found
