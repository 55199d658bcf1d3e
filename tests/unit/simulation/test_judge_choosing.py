"""Alternatives: what is ordered is accepted by the spec, and no sooner than it says."""

import pytest

OWN, OTHER = "A100_40GB_PCIe_1x", "A100_40GB_PCIe_2x"
PLACEMENT = {"alternatives": [{"configuration": OTHER}]}
PATIENT = PLACEMENT | {"waitSeconds": 60}
REFUSED = b'{"error": {"message": "no", "code": 0}}'


def orders(court, item, configuration):
    court.records(item, "a-x", configuration=configuration)
    court.orders("a-x", configuration=configuration)


@pytest.mark.parametrize(
    ("placement", "ordered", "found"),
    [
        (PLACEMENT, OWN, []),
        (PLACEMENT, OTHER, []),
        (PLACEMENT, "A100_40GB_PCIe_4x", ["unwanted offer"]),
        (None, OTHER, ["unwanted offer"]),
    ],
)
def test_only_what_the_spec_accepts_is_ordered(court, placement, ordered, found):
    item = court.applied(**({"placement": placement} if placement else {}))
    court.passes(100.0)
    orders(court, item, ordered)
    assert court.oracles == found


@pytest.mark.parametrize(("since", "found"), [(1.0, []), (100.0, ["unwanted offer"])])
@pytest.mark.parametrize(
    ("edit", "ordered"), [({"placement": None}, OTHER), ({"cluster": "Hou1"}, OWN)], ids=["offers", "seeds 92239242, 92240831"]
)
def test_an_edit_of_a_moment_ago_may_not_have_been_heard(court, edit, ordered, since, found):
    item = court.applied(placement=PLACEMENT)
    court.passes(100.0)
    court.world.actors.owner.patch(item, {"spec": edit})
    court.passes(since)
    orders(court, item, ordered)
    assert court.oracles == found


@pytest.mark.parametrize(
    ("placement", "waits", "found"),
    [(PATIENT, 5.0, ["hasty offer"]), (PATIENT, 61.0, []), (PLACEMENT, 5.0, [])],
    ids=["too early", "it has waited", "it need not wait"],
)
def test_an_alternative_is_ordered_when_the_object_has_waited(court, placement, waits, found):
    item = court.applied(placement=placement)
    court.passes(waits)
    orders(court, item, OTHER)
    assert court.oracles == found


ANYWHERE = {"alternatives": [{"cluster": "Hou1"}]}


def goes_on(court, item, cluster="Hou1"):
    court.records(item, "a-x", cluster=cluster, configuration=OWN, id="y")
    court.orders("a-x", cluster=cluster)


@pytest.mark.parametrize(
    ("status", "later", "found"),
    [
        (503, 1.0, ["hasty elsewhere"]),
        (503, 100.0, []),
        (400, 1.0, []),
        (202, 100.0, ["accepted elsewhere"]),
    ],
    ids=["unclear", "a grace later", "refused for certain", "accepted"],
)
def test_an_order_leaves_its_cluster_only_when_it_made_nothing(court, status, later, found):
    item = court.applied(placement=ANYWHERE)
    court.passes(100.0)
    court.records(item, "a-x", configuration=OWN)
    court.answers("a-x", status, body=REFUSED if status > 202 else b"{}")
    court.passes(later)
    goes_on(court, item)
    assert court.oracles == found


@pytest.mark.parametrize(("later", "found"), [(100.0, ["hasty elsewhere"]), (301.0, [])])
def test_an_acceptance_that_died_with_its_process_is_waited_for_as_one_that_nobody_heard(court, later, found):
    """Seeds 92260598 and 92270881: what was accepted was never made, or made for a key that the Secret holds no more."""
    item = court.applied(placement=ANYWHERE)
    court.passes(100.0)
    court.records(item, "a-x", configuration=OWN)
    court.answers("a-x", 202, body=b"{}")
    court.operator.alive = False
    court.judge.died(court.operator)
    court.passes(later)
    goes_on(court, item)
    assert [one for one in court.oracles if one.endswith("elsewhere")] == found


@pytest.mark.parametrize(
    ("killed", "found"),
    [(False, []), (True, ["hasty elsewhere"])],
    ids=["wakes, and still knows it", "is killed as it sleeps, as if right after the answer"],
)
def test_an_error_that_came_right_before_a_process_slept_is_known_to_it_alone(court, killed, found):
    """Seed 92344890: an order that ended with an error is waited for a grace; one whose answer is lost, for ten."""
    item = court.applied(placement=ANYWHERE)
    court.passes(100.0)
    court.records(item, "a-x", configuration=OWN)
    court.answers("a-x", 503, body=REFUSED)
    court.operator.sleep(court.world.loop.time())
    court.judge.died(court.operator)
    court.passes(100.0)
    if killed:
        court.operator.kill()
        court.judge.died(court.operator)
    else:
        court.operator.wake(court.world.loop.time())
    court.passes(1.0)
    goes_on(court, item)
    assert court.oracles == found


@pytest.mark.parametrize(("cluster", "found"), [("hou1", []), ("Xyz1", ["unwanted offer"])])
def test_nothing_is_ordered_in_a_cluster_that_the_spec_does_not_name(court, cluster, found):
    item = court.applied(placement=ANYWHERE)
    court.passes(100.0)
    goes_on(court, item, cluster)
    assert court.oracles == found


@pytest.mark.parametrize(
    ("status", "body", "found"),
    [
        (503, REFUSED, ["hasty offer"]),
        (400, REFUSED, []),
        (200, b'{"success": false}', []),  # seed 92150661: an error whatever its words say, and none for want of capacity
        (202, b"{}", ["hasty offer"]),
    ],
)
def test_who_was_refused_for_another_reason_need_not_wait(court, status, body, found):
    item = court.applied(placement=PATIENT)
    court.records(item, "a-x", configuration=OWN)
    court.answers("a-x", status, body=body)
    court.passes(50.0)
    court.records(item, "a-x", configuration=OTHER, id="y")
    court.orders("a-x", configuration=OTHER)
    assert [one for one in court.oracles if one == "hasty offer"] == found


ELSEWHERE = {"alternatives": [{"cluster": "Hou1", "configuration": OTHER}]}


@pytest.mark.parametrize(
    ("spec", "refused", "needed"),
    [
        ({"placement": PLACEMENT}, (OWN,), False),
        ({"placement": PLACEMENT}, (OWN, OTHER), True),
        ({"placement": ELSEWHERE}, (OWN,), False),
        ({"placement": ELSEWHERE, "vmName": "prod"}, (OWN,), True),
        ({"placement": ELSEWHERE, "image": {"snapshot": "base"}}, (OWN,), True),
        ({"placement": PLACEMENT, "vmName": "prod"}, (OWN,), False),
    ],
    ids=[
        "seed 1551: the other is ordered no more",
        "both",
        "elsewhere",
        "seed 92523298: tied here",
        "tied here",
        "both are here",
    ],
)
def test_a_gpuvm_is_rejected_when_the_cloud_has_refused_all_that_it_accepts(court, spec, refused, needed):
    item = court.applied(**spec)
    condition = {"message": "-", "observedGeneration": 1, "lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "Rejected"}
    said = [condition | {"type": "Ready", "status": "False"}, condition | {"type": "Stalled", "status": "True"}]
    for configuration in refused:
        court.records(item, "a-x", configuration=configuration)
        court.answers("a-x", 400, body=REFUSED)
        court.world.cloud.orders.of(item["metadata"]["uid"])[-1].configuration = configuration
    court.writes(item, conditions=said)
    (life,) = court.judge.books.standing()
    assert court.judge.calling.needs_a_person(life) is needed
