"""No object is written, and nothing is listed or called, in a hot loop."""

import pytest

from simulation import ending


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
        court.judge._note_listing("GetServers", court.world.loop.time(), "operator-0.1", "key good", "msc1")
        court.passes(0.05)
    assert court.oracles == ["hot listings"]


def test_three_listings_twice_a_second_are_not_hot(court):
    """Seed 92254056: two credentials, one of them in two clusters, and VMs that took 60 s to be made and to go."""
    for _ in range(240):
        for whose in (("key good", "msc1"), ("key good", "hou1"), ("login good", "msc1")):
            court.judge._note_listing("GetServers", court.world.loop.time(), "operator-0.1", *whose)
        court.passes(0.5)
    assert court.oracles == []


@pytest.mark.parametrize(("takes", "resting"), [("Delete", False), ("Keep", True)])
def test_a_snapshot_that_goes_with_its_vm_need_not_be_quiet(court, takes, resting):
    """Seed 960807: the cloud had not carried the VM's destruction out, and was asked again five minutes later."""
    vm = court.bought(deletion={"snapshots": takes})
    snapshot = court.world.actors.owner.create("GpuSnapshot", "team", "s", {"vmRef": {"name": "a"}})
    snapshot["kind"] = "GpuSnapshot"
    court.says(snapshot, "True", "Completed")
    court.world.actors.owner.delete(vm)
    assert (snapshot["metadata"]["uid"] in ending._at_rest(court.judge)) is resting


def test_a_destroying_call_is_sent_hot(court):
    """500 in 25 s: nothing but orders was counted."""
    court.world.actors.owner.delete(court.bought())
    court.world.cloud.turn(destroy_seconds=1000.0)
    for _ in range(500):
        court.passes(0.05)
        court.judge.disturbed()
        court.destroys("a-x")
    assert set(court.oracles) == {"hot calls"}


def test_a_cloud_that_only_pretends_to_destroy_is_no_cause_for_calls(court):
    """A drawn fault is one; what is accepted for hours without effect is what calls must become rare for."""
    court.world.actors.owner.delete(court.bought())
    court.world.cloud.only_pretends = True
    for _ in range(13):
        court.passes(270)
        assert court.destroys("a-x") < 300
    assert court.oracles == ["causeless calls"]
    assert court.world.cloud.called("a-x")
    court.world.cloud.only_pretends = False
    court.destroys("a-x")
    court.passes(60)
    assert not court.world.cloud.called("a-x")


@pytest.mark.parametrize(
    ("refused", "orders", "found"),
    [
        (True, 17, []),  # seed 92034909: as often as the message says
        (True, 18, ["causeless refused orders"]),
        (False, 8, []),
        (False, 9, ["causeless orders"]),
    ],
)
def test_what_the_cloud_refuses_is_ordered_as_often_as_the_message_says(court, refused, orders, found):
    life = court.judge.books.lives[court.applied()["metadata"]["uid"]]
    court.passes(1000)
    court.judge.disturbed()
    for _ in range(orders):
        court.passes(200)
        court.judge.rates.mutated(life, "writes")
        court.judge.rates.mutated(life, "orders")
        court.judge.rates.mutated(life, "writes")
        if refused:
            court.judge.rates.refused(life)
    assert court.oracles == found


@pytest.mark.parametrize(("place", "found"), [("acme", ["causeless calls"]), ("other", [])])
def test_power_calls_without_a_cause_are_counted_for_the_vm_that_they_are_sent_to(court, place, found):
    court.bought(powerState="Stopped")
    court.passes(1000)
    court.judge.disturbed()
    for _ in range(13):
        court.passes(270)
        court.sends("StopServer", id="a-x", namespace=place, cluster="MSC1")
    assert court.oracles == found


def test_an_order_is_sent_hot(court):
    item = court.applied()
    for _ in range(60):
        court.passes(0.5)
        court.records(item, "a-x")
        court.judge.disturbed()
        court.answers("a-x", 500)
    assert court.oracles == ["hot calls"]
