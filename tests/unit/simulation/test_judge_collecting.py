"""The collector of orphans: what it may destroy, and what it must."""

import pytest

from gpucloud.reconcile.naming import external_name
from gpucloud.sim.messages import Request
from simulation import ending
from simulation.process import PROCESS, Process
from support.court import SIGNED

COLLECTS = {"collect_orphans": True, "orphan_age_seconds": 100.0, "orphan_scan_seconds": 50.0}


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


def test_what_was_abandoned_long_enough_may_be_collected(courts):
    it = courts(**COLLECTS)
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
        ({}, {"spec": {"deletion": {"finalSnapshot": "Required"}}}, 200, "requires a final snapshot"),
    ],
)
def test_what_is_not_to_be_collected(courts, settings, before, seconds, words):
    it = courts(**COLLECTS | settings)
    thing = abandoned(it, **before)
    it.passes(seconds)
    it.destroys(thing)
    found = [one.text for one in it.judge.violations if one.oracle == "collected"]
    assert len(found) == 1
    assert words in found[0]


def test_a_call_that_was_under_way_when_the_object_went_is_no_collection_unless_an_event_says_so(courts):
    it = courts(**COLLECTS)
    thing = abandoned(it)
    it.passes(20)
    it.destroys(thing)
    assert it.oracles == []
    event(it, "OrphanCollected", f"Requested destruction. The VM '{thing}' is an orphan.")
    assert it.oracles == ["collected"]


def test_a_call_of_the_object_s_own_is_no_collection_when_the_collector_repeats_it(courts):
    """Seed 973000: the cloud accepted the first call and did nothing."""
    it = courts(**COLLECTS)
    thing = abandoned(it)
    it.passes(20)
    it.sends("DestroyServer", "write-ghost", Id=thing, Namespace="acme", Cluster="Msc1")
    it.passes(150)
    it.destroys(thing)
    event(it, "OrphanCollected", f"Requested destruction. The VM '{thing}' is an orphan.")
    assert it.oracles == []


def test_a_process_that_did_not_see_the_object_go_collects_nothing(courts):
    it = courts(**COLLECTS)
    thing = abandoned(it)
    it.passes(100)
    it.operator = Process("operator-0.2")
    it.judge.collecting.began(it.operator)
    it.passes(200)
    it.destroys(thing)
    assert ["did not see" in found.text for found in it.judge.violations] == [True]


@pytest.mark.parametrize(("since", "found"), [(5, []), (20, ["collected"])])
def test_what_a_new_object_of_the_name_may_look_for_is_left_alone(courts, since, found):
    it = courts(**COLLECTS)
    thing = abandoned(it)
    it.passes(200)
    it.applied()
    it.passes(since)
    it.destroys(thing)
    assert it.oracles == found


def test_one_is_collected_at_a_time(courts):
    it = courts(**COLLECTS)
    things = [abandoned(it, name) for name in ("a", "b")]
    it.passes(200)
    it.destroys(things[0])
    it.passes(49)
    it.destroys(things[1])
    assert ["the last one was collected" in found.text for found in it.judge.violations] == [True]


def test_none_is_collected_while_many_look_orphaned(courts):
    it = courts(**COLLECTS)
    things = [abandoned(it, name) for name in ("a", "b", "c")]
    it.passes(200)
    it.destroys(things[0])
    assert ["too many" in found.text for found in it.judge.violations] == [True]


@pytest.mark.parametrize(("fault", "found"), [("", True), ("list-empty", False)])
def test_what_the_look_itself_was_not_shown_does_not_count_among_the_many(courts, fault, found):
    """Seed 3101478: a listing that lied lacked one of three orphans, and two are not too many."""
    it = courts(**COLLECTS)
    things = [abandoned(it, name) for name in ("a", "b", "c")]
    it.passes(200)
    asked = Request("GET", "/api/v1/servers/virtual/GetServers", (("Cluster", "Msc1"),), SIGNED)
    it.world.cloud.carry_out(it.operator, "GetServers", asked, fault)
    it.destroys(things[0])
    assert any("too many" in one.text for one in it.judge.violations) == found


def test_what_bears_a_name_of_the_cloud_does_not_count_among_the_many(courts, monkeypatch):
    """Seed 100789: one of three abandoned VMs bears a name that the cloud gave, which tells nobody that it is an orphan."""
    it = courts(**COLLECTS)
    things = [abandoned(it, name) for name in ("a", "b")]
    monkeypatch.setattr(it.world.weather, "has", lambda kind: kind == "own-id")
    monkeypatch.setattr(it.world.choices, "chance", lambda *_: True)
    abandoned(it, "c")
    assert list(it.world.cloud_names) == ["srv-1"]
    it.passes(200)
    it.destroys(things[0])
    assert it.oracles == []


@pytest.mark.parametrize(("name", "found"), [("db", False), ("", True)])
def test_what_bears_a_name_that_its_spec_once_chose_does_not_count_among_the_many(courts, name, found):
    """Seed 92238857: the owner had put another name into the spec since."""
    it = courts(**COLLECTS)
    things = [abandoned(it, name) for name in ("a", "b")]
    item = it.applied("c", **({"vmName": name} if name else {}))
    thing = name or external_name("c", item["metadata"]["uid"], it.world.actors.tag())
    it.records(item, thing)
    assert it.orders(thing) == 202
    if name:
        it.world.actors.owner.patch(item, {"spec": {"vmName": "web"}})
    it.world.actors.owner.delete(item)
    it.world.actors.owner.patch(item, {"metadata": {"finalizers": None}})
    it.passes(200)
    it.destroys(things[0])
    assert any("too many" in one.text for one in it.judge.violations) == found


@pytest.mark.parametrize(("marked", "found"), [(True, True), (False, False)])
def test_what_a_stranger_made_under_our_mark_counts_among_the_many(courts, marked, found):
    """Seed 981931: it was the third that looked orphaned, so that the collector held back, as it should."""
    it = courts(**COLLECTS)
    things = [abandoned(it, name) for name in ("a", "b")]
    tag = it.world.actors.tag() if marked else "other"
    it.world.cloud.make_vm(f"c-{tag}-abcdefghij", "acme", "Msc1", "stranger")
    it.passes(200)
    it.destroys(things[0])
    assert any("too many" in one.text for one in it.judge.violations) == found


def test_what_must_be_collected_is_waited_for_and_found(courts):
    it = courts(**COLLECTS)
    it.world.replicas[0].process = it.operator
    thing = abandoned(it)
    life = next(iter(it.judge.books.lives.values()))
    life.last["status"]["order"]["state"] = "Seen"
    assert list(it.judge.collecting.left()) == [thing]
    assert it.judge.collecting.patience() == 100.0 + 50.0 + 65.0
    life.last["metadata"]["annotations"] = {"gpucloud.dev/paused": "true"}
    assert it.judge.collecting.patience() == 0.0


def test_what_requires_a_final_snapshot_is_not_waited_for(courts):
    """Seed 92141829: the collector leaves such a VM alone, since nobody can take its final snapshot any more."""
    it = courts(**COLLECTS)
    it.world.replicas[0].process = it.operator
    abandoned(it, spec={"deletion": {"finalSnapshot": "Required"}})
    next(iter(it.judge.books.lives.values())).last["status"]["order"]["state"] = "Seen"
    assert list(it.judge.collecting.left()) == []


@pytest.mark.parametrize(
    ("made_from", "ready", "wanted"),
    [
        pytest.param(lambda _: {"vmRef": {"name": "a"}}, "False", True, id="a snapshot of it is to be taken: seed 70020584"),
        pytest.param(lambda _: {"vmRef": {"name": "a"}}, "True", False, id="the snapshot has been taken"),
        pytest.param(lambda _: {"vmRef": {"name": "b"}}, "False", False, id="a snapshot of another VM"),
        pytest.param(lambda vm: {"vm": {"cluster": "Msc1", "vpc": "acme", "name": vm}}, "False", True, id="named by its VM"),
    ],
)
def test_what_another_object_is_to_be_made_from_is_left(courts, made_from, ready, wanted):
    it = courts(**COLLECTS)
    it.world.replicas[0].process = it.operator
    thing = abandoned(it)
    next(iter(it.judge.books.lives.values())).last["status"]["order"]["state"] = "Seen"
    snapshot = it.world.actors.owner.create("GpuSnapshot", "team", "s", made_from(thing)) | {"kind": "GpuSnapshot"}
    it.says(snapshot, ready, "TakingSnapshot")
    it.passes(200)
    assert (list(it.judge.collecting.left()) == []) is wanted
    it.destroys(thing)
    assert [one.text.partition(": ")[2] for one in it.judge.violations] == [
        "an object stands that may be looking for it"
    ] * wanted


@pytest.mark.parametrize(("seconds", "found"), [(50, []), (150, ["misreported"])])
def test_what_has_an_owner_is_called_no_orphan(courts, seconds, found):
    it = courts()
    it.bought()
    it.passes(seconds)
    event(it, "Orphan", "The VM 'a-x' was made by this installation, and no object stands for it.")
    assert it.oracles == found


@pytest.mark.parametrize(("seconds", "found"), [(50, []), (150, ["misreported"])])
def test_what_was_elsewhere_by_its_spec_a_moment_ago_may_be_called_an_orphan(courts, seconds, found):
    """Seed 92264837: that the spec names the VM's cluster again was told 45 seconds late."""
    it = courts()
    item = it.bought()
    it.world.actors.owner.patch(item, {"spec": {"cluster": "Hou1"}})
    it.passes(150)
    it.world.actors.owner.patch(item, {"spec": {"cluster": "Msc1"}})
    it.passes(seconds)
    event(it, "Orphan", "The VM 'a-x' was made by this installation, and no object stands for it.")
    assert it.oracles == found


@pytest.mark.parametrize(("recorded", "found"), [(True, ["misreported"]), (False, [])])
def test_what_its_owner_records_is_called_no_orphan_whatever_name_the_spec_has_chosen_since(courts, recorded, found):
    """An object whose status was lost says of the name that it has chosen only that it is its own."""
    it = courts()
    item = it.bought()
    it.world.actors.owner.patch(item, {"spec": {"vmName": "web"}})
    if not recorded:
        it.writes(item, order={"state": "NotOrdered"})
    it.passes(150)
    event(it, "Orphan", "The VM 'a-x' was made by this installation, and no object stands for it.")
    assert it.oracles == found


@pytest.mark.parametrize(
    ("told", "recorded", "is_there", "found"),
    [
        pytest.param("Msc1", "Hou1", True, [], id="seed 92214122: the order in the first cluster was carried out too late"),
        pytest.param("Hou1", "Hou1", True, ["misreported"], id="it is what is recorded, and another one is elsewhere"),
        pytest.param("Msc1", "Hou1", False, ["misreported"], id="what is recorded is not there"),
        pytest.param("Msc1", "Msc1", False, ["misreported"], id="it is what is recorded"),
    ],
)
def test_what_stands_in_another_cluster_than_what_is_recorded_has_no_owner(courts, told, recorded, is_there, found):
    it = courts()
    item = it.bought(placement={"alternatives": [{"cluster": "Hou1"}]})
    it.records(item, "a-x", cluster=recorded)
    if is_there:
        it.world.cloud.make_vm("a-x", "acme", "Hou1", item["metadata"]["uid"])
    it.passes(150)
    event(it, "Orphan", f"The VM 'a-x' in VPC 'acme' of cluster {told!r} was made by this installation for a GpuVM named 'a'.")
    assert [one for one in it.oracles if one == "misreported"] == found


@pytest.mark.parametrize(("tells", "found"), [(True, []), (False, ["leak"])])
def test_what_belongs_to_nobody_is_told_by_the_process_that_is_yet_to_start(courts, tells, found):
    """Seed 92270543: a killed process was followed by the next one 90 s later, and its object was stripped meanwhile."""
    it = courts(orphan_scan_seconds=30.0)
    thing, world, starts, looked = abandoned(it), it.world, 100.0, 60.0

    def start():
        world.replicas[0].process = it.operator
        it.judge.collecting.began(it.operator)

    async def end():
        PROCESS.set(world.loop.world)
        await ending._orphans(world, it.judge)

    world.later(starts, start)
    if tells:
        world.later(starts + looked, event, it, "Orphan", f"The VM {thing!r} was made by this installation.")
    world.loop.run_until_complete(end())
    assert it.oracles == found
