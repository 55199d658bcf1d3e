"""Rooms for what is replaced: a VM goes for another one only when that has room, and never for its own equal."""

import pytest

SMALL, LARGE, AWAY = "A100_40GB_PCIe_1x", "A100_40GB_PCIe_2x", "Hou1"
PLAN = {"changes": [], "plannedAt": "2026-01-01T00:01:00Z", "notBefore": "2026-01-01T00:01:30Z"}


def accepts(*configurations, cluster=AWAY):
    return {"placement": {"alternatives": [{"cluster": cluster, "configuration": one} for one in configurations]}}


def edited(court, change, **spec):
    """A VM of SMALL is in the other cluster; then its spec changes."""
    item = court.applied(replacePolicy="Recreate", **spec)
    court.records(item, "a-x")
    order = {"state": "Intended", "name": "a-x", "cluster": AWAY, "vpc": "acme", "id": "x", "configuration": SMALL}
    court.writes(item, order=order)
    assert court.orders("a-x", cluster=AWAY) == 202
    court.writes(item, order=order | {"state": "Seen"})
    court.passes(60.0)
    court.world.actors.owner.patch(item, {"spec": change})
    court.writes(item, replacement=PLAN)
    court.passes(60.0)
    return item, order


def replaced(court, item, order):
    court.writes(item, order=order | {"state": "Destroying"})
    return court.oracles


@pytest.mark.parametrize(
    ("accepted", "free", "found"),
    [
        ((LARGE, SMALL), 1, []),
        ((LARGE, SMALL), 0, ["no room"]),
        ((SMALL,), 1, ["own equal"]),
        ((SMALL, LARGE), 1, ["own equal"]),
        (("A100_40GB_PCIe_3x", SMALL), 0, []),
    ],
    ids=["there is room", "there is none", "it is the only one", "it is the first one", "the cloud does not know the other"],
)
def test_a_vm_goes_for_another_offer_only_when_that_has_room(court, accepted, free, found):
    court.world.cloud.set_capacity(free, AWAY, LARGE)
    item, order = edited(court, {"configuration": LARGE}, **accepts(*accepted))
    court.looks(AWAY)
    assert replaced(court, item, order) == found


@pytest.mark.parametrize(
    ("cluster", "told", "found"),
    [(AWAY, True, []), (AWAY, False, []), ("Msc1", True, ["no look at room"])],
    ids=["it was asked", "the query failed", "another cluster was asked"],
)
def test_a_vm_goes_for_another_only_after_a_look_at_what_is_free_in_its_cluster(court, cluster, told, found):
    item, order = edited(court, {"configuration": LARGE}, **accepts(LARGE, SMALL))
    court.looks(cluster, told=told)
    assert replaced(court, item, order) == found


def test_a_vm_whose_disk_changes_holds_the_room_of_the_new_one(court):
    item, order = edited(court, {"rootDiskGiB": 300}, **accepts(SMALL))
    assert replaced(court, item, order) == []


def test_a_vm_whose_disk_changes_holds_no_room_of_what_the_spec_accepts_by_now(court):
    item, order = edited(court, {"rootDiskGiB": 300} | accepts(LARGE), **accepts(SMALL))
    assert replaced(court, item, order) == ["no look at room"]


def test_what_is_saved_first_may_go_long_after_the_look(court):
    saves = {"deletion": {"finalSnapshot": "Required"}}
    item, order = edited(court, {"configuration": LARGE}, **accepts(SMALL, LARGE), **saves)
    assert replaced(court, item, order) == []


@pytest.mark.parametrize(("accepted", "true"), [((SMALL,), True), ((SMALL, LARGE), True), ((LARGE, SMALL), False)])
def test_a_vm_may_stay_for_good_only_where_its_cluster_offers_nothing_else_that_is_accepted(court, accepted, true):
    item, _ = edited(court, {"configuration": LARGE}, **accepts(*accepted))
    stalled = {"type": "Stalled", "status": "True", "reason": "Replacing", "message": "-"}
    court.writes(item, conditions=[stalled | {"lastTransitionTime": "2026-01-01T00:00:00Z"}])
    life = court.judge.books.lives[item["metadata"]["uid"]]
    assert court.judge.calling.needs_a_person(life) is true
