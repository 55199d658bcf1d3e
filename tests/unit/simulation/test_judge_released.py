"""An object is let go only when nothing of it is left, and what is left all the same is told."""

import json

import pytest

from gpucloud.sim.messages import Request, Response
from gpucloud.sim.world.vms import VmOrder
from gpucloud.sim.world.world import ImageChoice
from simulation import ending, listings
from simulation.credentials import secret_data
from simulation.forgiving import FRESH_SECONDS
from simulation.people import MERGE, path_of
from support.court import SIGNED, SPEC, Court


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
    if named:
        court.world.cloud_names["srv-1"] = court.world.cloud.orders[-1].name = "a-x"
    if dies_after is not None:
        court.passes(dies_after)
        court.judge.died(court.operator)
    court.world.actors.owner.delete(item)
    court.hands.patch(item, {"metadata": {"finalizers": None}})
    assert court.oracles == found


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
    court.answers("prod", first)
    court.world.cloud.lag = 0.5 * court.world.grace
    court.passes(made_after * court.world.grace)
    if made_after > 1:
        court.answers("prod", 202)
    order = VmOrder("Msc1", "acme", "prod", "A100_40GB_PCIe_1x", "on-demand", "", "acme", "carl")
    court.world.cloud.world.create_vm(order, ImageChoice(), court.world.cloud.now())
    court.world.cloud.notice()
    court.world.actors.owner.delete(item)
    court.hands.patch(item, {"metadata": {"finalizers": []}})
    assert court.oracles == found, why


@pytest.mark.parametrize(
    ("status", "found", "why"),
    [
        (409, [], "seed 92230219: an earlier order of that name was carried out late, as this one was under way"),
        (202, ["released"], "this one made it"),
    ],
)
def test_what_came_while_a_refused_order_was_under_way_is_of_an_earlier_one(court, status, found, why):
    first = court.applied("a", vmName="prod")
    court.records(first, "prod")
    court.answers("prod", 500)
    court.world.actors.owner.call("PATCH", path_of(first), {"metadata": {"finalizers": None}}, MERGE)
    court.world.actors.owner.delete(first)
    second = court.applied("b", vmName="prod")
    court.records(second, "prod")
    asked = Request("POST", "/api/v1/servers/virtual/CreateServer", (), SIGNED, json.dumps({"name": "prod", **SPEC}).encode())
    court.judge.sent(court.operator, "CreateServer", asked)
    order = VmOrder("Msc1", "acme", "prod", "A100_40GB_PCIe_1x", "on-demand", "", "acme", "carl")
    court.world.cloud.world.create_vm(order, ImageChoice(), court.world.cloud.now())
    court.world.cloud.notice()
    court.judge.answered(court.operator, "CreateServer", asked, Response(status, b""), "")
    court.world.actors.owner.delete(second)
    court.hands.patch(second, {"metadata": {"finalizers": []}})
    assert court.oracles == found, why


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
    ("listings", "recorded", "found", "why"),
    [
        (("list-stale", ""), False, [], "seed 92240348: a known limit"),
        (("list-stale", ""), True, ["released"], "it was recorded when it was shown itself"),
        (("", "list-stale"), False, ["released"], "it was shown before the older one was"),
        ((), False, ["released"], "no listing showed the older one after the order"),
    ],
)
def test_an_older_vm_that_a_late_listing_shows_passes_for_what_was_ordered(court, monkeypatch, listings, recorded, found, why):
    monkeypatch.setattr(court.world.choices, "choose", lambda domain, of, *_: of[-1 if domain == "stale by" else 0])
    court.world.cloud.make_vm("prod", "acme", "Msc1", "stranger")
    court.passes(100)
    court.world.cloud.end_vm("prod", "acme", "Msc1")
    court.passes(60)
    court.world.cloud.notice()
    item = court.bought(thing="prod", vmName="prod")
    shows(court, *listings)
    if recorded:
        court.passes(1)
        order = court.judge.books.lives[item["metadata"]["uid"]].status["order"]
        court.writes(item, order=order | {"state": "Seen"})
    court.world.actors.owner.delete(item)
    court.hands.patch(item, {"metadata": {"finalizers": []}})
    assert court.oracles == found, why


@pytest.mark.parametrize(
    ("chosen", "listings", "found", "why"),
    [
        (
            True,
            ("", EMPTY, EMPTY, EMPTY, EMPTY),
            [],
            "seed 100405: that it is lost was proven, and nothing tells that it is back",
        ),
        (True, ("", EMPTY, "list-foreign", "list-foreign", EMPTY), [], "what is seen to be partial proves nothing"),
        (True, ("", EMPTY, EMPTY, EMPTY, EMPTY, ""), ["released"], "it is shown again, and nobody had called it lost"),
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


@pytest.mark.parametrize(("states", "found"), [(("Seen", "Lost"), []), (("Lost", "Seen"), ["released"])])
def test_a_chosen_name_that_is_shown_again_may_be_anothers_only_while_it_is_called_lost(court, states, found):
    item = court.bought(thing="prod", vmName="prod")
    shows(court, "", EMPTY, EMPTY, EMPTY, EMPTY, "", "")
    for state in states:
        order = court.judge.books.lives[item["metadata"]["uid"]].status["order"]
        court.writes(item, order=order | {"state": state})
    court.world.actors.owner.delete(item)
    court.hands.patch(item, {"metadata": {"finalizers": []}})
    assert court.oracles == found


@pytest.mark.parametrize(("many", "found"), [(2, []), (5, ["released"])])
def test_many_that_are_hidden_at_once_are_not_believed_to_be_gone(court, many, found):
    items = [court.bought(name=f"v{number}", thing=f"prod-{number}", vmName=f"prod-{number}") for number in range(many)]
    shows(court, "", EMPTY, EMPTY, EMPTY, EMPTY)
    court.world.actors.owner.delete(items[0])
    court.hands.patch(items[0], {"metadata": {"finalizers": []}})
    assert court.oracles == found


@pytest.mark.parametrize(("lacking", "expected", "doubted"), [(3, 9, True), (3, 10, False), (2, 2, False), (5, 16, True)])
def test_a_listing_is_doubted_that_lacks_three_and_over_three_tenths(lacking, expected, doubted):
    """As the product doubts it (invariant 4)."""
    assert listings._is_implausible(lacking, expected) is doubted


@pytest.mark.parametrize(
    "note", ["Another one has the name 'prod'", "This may be your VM 'prod'. If it is, it is billed: destroy it in the cloud."]
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
    ("chosen", "key", "tenancy", "leaks"),
    [
        (True, "other", None, False),
        (True, "other", "acme", True),
        (True, "wrong", None, True),
        (True, "good", None, True),
        (False, "other", None, True),
    ],
)
def test_a_chosen_name_that_no_listing_showed_before_another_tenants_key_came_may_stay_unknown(
    court, chosen, key, tenancy, leaks
):
    """Seed 600331: a known limit; the other tenant's listings lack it, and later ones show a name that may be anybody's."""
    item = court.bought(thing="prod", **({"vmName": "prod"} if chosen else {}))
    court.writes(item, tenancy=tenancy)
    court.passes(1)
    court.world.actors.admin.put_secret("team", "key", secret_data(key, "key"))
    court.world.actors.owner.delete(item)
    court.hands.patch(item, {"metadata": {"finalizers": None}})
    assert bool(list(ending._leaks(court.world, court.judge))) == leaks


@pytest.mark.parametrize(("key", "found"), [("other", []), ("wrong", ["released"])])
def test_an_order_that_crossed_with_another_tenants_key_may_stay_unknown(court, key, found):
    """Seed 91003216: the key was changed while the order was on its way, before the operator had read the Secret again."""
    item = court.applied()
    court.records(item, "a-x")
    court.world.actors.admin.put_secret("team", "key", secret_data(key, "key"))
    court.passes(1)
    assert court.orders("a-x") == 202
    court.world.actors.owner.delete(item)
    court.hands.patch(item, {"metadata": {"finalizers": None}})
    assert [oracle for oracle in court.oracles if oracle == "released"] == found


def test_no_tenants_key_comes_into_a_namespace_without_a_secret(courts):
    """Seed 91005028: a namespace of the operator's own account has none."""
    court = courts(own=True)
    court.bought()
    (life,) = court.judge.books.lives.values()
    ((_, row),) = court.world.cloud.made_for(life.uid)
    assert court.judge.untraceable(life, row) == ""


def tampers(court, item, field="order"):
    court.world.actors.stranger.call("PATCH", f"{path_of(item)}/status", {"status": {field: None}}, MERGE)


@pytest.mark.parametrize(
    ("tampered", "chosen", "found"),
    [
        ("before", True, ["released"]),
        ("after", True, []),
        ("after", False, ["released"]),
        ("beside", True, ["released"]),
    ],
)
def test_what_was_ordered_before_somebody_else_wrote_the_status_may_be_known_to_nobody(court, tampered, chosen, found):
    """What was ordered after that was recorded by the operator itself."""
    item = court.applied(**({"vmName": "prod"} if chosen else {}))
    court.writes(item, state="x", order=None)
    if tampered == "before":
        court.records(item, "older")
        tampers(court, item)
        court.passes(1)
    court.records(item, "prod")
    assert court.orders("prod") == 202
    court.passes(1)
    if tampered in {"after", "beside"}:
        tampers(court, item, "order" if tampered == "after" else "state")
    court.world.actors.owner.delete(item)
    court.hands.patch(item, {"metadata": {"finalizers": []}})
    assert court.oracles == found


@pytest.mark.parametrize(("accepted", "found"), [("before", ["released"]), ("after", [])])
def test_that_it_is_gone_a_person_can_say_only_of_what_had_been_ordered(court, accepted, found):
    item = court.applied()

    def accepts():
        court.world.actors.owner.annotate(item, accept_absence=court.world.stamp())
        court.passes(1)

    if accepted == "before":
        accepts()
    court.records(item, "a-x")
    assert court.orders("a-x") == 202
    court.passes(1)
    if accepted == "after":
        accepts()
    court.world.actors.owner.delete(item)
    court.hands.patch(item, {"metadata": {"finalizers": []}})
    assert court.oracles == found


@pytest.mark.parametrize(
    ("listings", "late", "found", "why"),
    [
        (("", ""), "", ["released"], "it stood, and was listed, when that was said"),
        (("", EMPTY), EMPTY, [], "listings lacked it, and lack it still"),
        (("", EMPTY), "", ["released"], "a listing showed it since: its next absence is another doubt"),
        (("", "", ""), EMPTY, ["released"], "it was lacked only after that had been said"),
    ],
)
def test_that_it_is_gone_a_person_can_say_only_while_listings_lack_it(court, listings, late, found, why):
    item = court.bought()
    shows(court, *listings)
    court.world.actors.owner.annotate(item, accept_absence=court.world.stamp())
    court.passes(FRESH_SECONDS)
    shows(court, late)
    court.world.actors.owner.delete(item)
    court.hands.patch(item, {"metadata": {"finalizers": []}})
    assert court.oracles == found, why


@pytest.mark.parametrize(("state", "found"), [("Seen", ["released"]), ("Refused", []), (None, [])])
def test_a_record_that_the_operator_has_put_back_is_not_lost(court, state, found):
    """Somebody edits a field of it, and the operator's next status says of the same name that it is there."""
    item = court.bought(thing="prod", vmName="prod")
    court.writes(item, tenancy="acme")
    court.world.actors.stranger.call("PATCH", f"{path_of(item)}/status", {"status": {"tenancy": "x"}}, MERGE)
    court.passes(10)
    if state is not None:
        order = {"state": state, "name": "prod", "cluster": "Msc1", "vpc": "acme", "id": "x"}
        court.writes(item, tenancy="acme", order=order)
    court.passes(1)
    court.world.actors.owner.delete(item)
    court.hands.patch(item, {"metadata": {"finalizers": []}})
    assert court.oracles == found


@pytest.mark.parametrize(("fault", "found"), [("write-unsaid", []), ("write-garbage", ["released"])])
def test_only_a_2xx_answer_that_came_is_waited_for_as_an_accepted_order(court, fault, found):
    """Seeds 8904, 1010908: the connection was reset, and listings showed three graces later what had been made."""
    item = court.applied()
    court.records(item, "a-x")
    court.world.cloud.lag = 3.0 * court.world.grace
    court.orders("a-x", fault)
    court.passes(2.0 * court.world.grace)
    court.world.actors.owner.delete(item)
    court.hands.patch(item, {"metadata": {"finalizers": []}})
    assert court.oracles == found
    assert list(ending._leaks(court.world, court.judge)), "its name bears a mark: it must be told all the same"


@pytest.mark.parametrize(("listings", "found"), [(("", ""), ["released"]), (("", "list-empty"), ["released"])])
def test_where_graces_are_short_one_listing_is_no_time_in_which_all_lacked_it(listings, found):
    """With a grace of 3 s every thing of a chosen name was once forgiven, listed or not."""
    it = Court(create_grace_seconds=3.0)
    item = it.bought(thing="prod", vmName="prod")
    shows(it, *listings)
    it.world.actors.owner.delete(item)
    it.hands.patch(item, {"metadata": {"finalizers": []}})
    assert it.oracles == found
    it.world._bury()
