"""Ours is destroyed, stopped or started only when its owner has asked for that."""

import json

import pytest

from gpucloud.sim.messages import Request
from simulation.books import FINALIZER
from support.court import SIGNED, Court

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


@pytest.mark.parametrize(
    ("asked", "after", "found"), [("Stopped", 1000, ["unasked"]), ("Stopped", 5, []), ("Running", 1000, [])]
)
def test_a_vm_is_started_because_its_object_wants_that(court, asked, after, found):
    """Nobody looked at starts."""
    court.bought(powerState=asked)
    court.passes(after)
    court.sends("StartServer", id="a-x", **STOPS)
    assert court.oracles == found


def test_ours_is_destroyed_unasked(court):
    court.bought()
    court.destroys("a-x")
    assert court.oracles == ["unasked"]


def test_ours_is_destroyed_when_its_object_is_deleted(court):
    court.world.actors.owner.delete(court.bought())
    court.destroys("a-x")
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
    court.announces("a-x")
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


@pytest.mark.parametrize(("kept", "after", "found"), [("retain", 30, []), ("retain", 60, ["kept"]), ("pause", 60, ["kept"])])
def test_what_is_to_stay_or_to_be_left_alone_is_not_destroyed(court, kept, after, found):
    item = court.bought()
    court.world.actors.owner.delete(item)
    if kept == "retain":
        court.world.actors.owner.patch(item, {"spec": {"deletion": {"policy": "Retain"}}})
    else:
        court.world.actors.owner.annotate(item, paused="true")
    court.passes(after)
    court.destroys("a-x")
    assert court.oracles == found


@pytest.mark.parametrize(("after", "found"), [(800, []), (900, ["unasked"])])
def test_what_came_back_with_etcd_as_it_was_before_its_deletion_is_not_to_go_any_more(court, after, found):
    item = court.bought()
    backup = court.world.api.snapshot()
    court.world.actors.owner.delete(item)
    court.judge.restoring()
    court.world.api.restore(backup)
    court.judge.restored()
    court.passes(after)
    court.destroys("a-x")
    assert court.oracles == found


def takes(court, name, source, thing):
    """A GpuSnapshot from this source in its spec, of the VM that is called so."""
    item = court.world.actors.owner.create("GpuSnapshot", "team", name, source) | {"kind": "GpuSnapshot"}
    court.hands.patch(item, {"metadata": {"finalizers": [FINALIZER]}})
    when = {"recordedAt": "2026-01-01T00:00:00Z"}
    order = {"state": "Intended", "name": f"{name}-x", "cluster": "Msc1", "vpc": "acme", "id": "x", **when}
    court.writes(item, order=order)
    court.snapshots("CreateSnapshot", name=f"{name}-x", sourceVMName=thing, cluster="Msc1", namespace="acme")
    return item


BY_OBJECT, BY_PLACE = {"vmRef": {"name": "a"}}, {"vm": {"cluster": "Msc1", "vpc": "acme", "name": "a-x"}}


@pytest.mark.parametrize("source", [BY_OBJECT, BY_PLACE])
@pytest.mark.parametrize(("goes", "found"), [("a", []), ("b", ["unasked"])])
def test_a_snapshot_goes_along_with_its_own_vm_only(court, goes, found, source):
    """Another VM, whose snapshots are to go with it, was once reason enough."""
    vms = {name: court.bought(name, f"{name}-x", deletion={"snapshots": "Delete"}) for name in ("a", "b")}
    court.passes(1000)
    takes(court, "s", source, "a-x")
    court.passes(1000)
    court.world.actors.owner.delete(vms[goes])
    court.snapshots("DeleteSnapshot", Id="s-x", Cluster="Msc1", Namespace="acme")
    assert court.oracles == found


@pytest.mark.parametrize(("after", "found"), [(1.0, ["needed"]), (1000.0, [])])
def test_no_vm_goes_while_a_snapshot_of_it_is_being_taken(court, after, found):
    vm = court.bought()
    court.passes(1000)
    takes(court, "s", BY_OBJECT, "a-x")
    court.world.actors.owner.delete(vm)
    court.passes(after)
    court.destroys("a-x")
    assert court.oracles == found


@pytest.mark.parametrize(
    ("cluster", "leaving", "found"), [("Msc1", False, ["in use"]), ("Msc1", True, []), ("Hou1", False, [])]
)
def test_no_vpc_goes_while_something_is_in_it(court, cluster, leaving, found):
    """Seed 93200344: a VPC of that name in another cluster is another VPC."""
    for here in ("Msc1", "Hou1"):
        assert court.world.cloud.make_vpc("acme-mine", here, "stranger")
    assert court.world.cloud.make_vm("prod", "acme-mine", cluster, "stranger")
    court.passes(1000)
    if leaving:
        court.world.cloud.end_vm("prod", "acme-mine", cluster)
    vpcs = court.world.cloud.world.vpcs.table.rows()
    vpc = next(row for row in vpcs if (row.name, row.cluster) == ("acme-mine", "Msc1"))
    request = Request("DELETE", "/api/v1/vpc/Delete", (("Id", vpc.id),), SIGNED)
    court.judge.sent(court.operator, "DestroyVpc", request)
    assert court.oracles == found


@pytest.mark.parametrize(("namespace", "found"), [("team", []), ("other", ["another's disk"])])
def test_with_the_operators_own_account_a_namespace_copies_its_own_vms_only(namespace, found):
    it = Court(own=True)
    it.bought()
    it.passes(1000)
    item = it.world.actors.owner.create("GpuSnapshot", namespace, "s", {"vmRef": {"name": "a"}}) | {"kind": "GpuSnapshot"}
    it.hands.patch(item, {"metadata": {"finalizers": [FINALIZER]}})
    it.writes(item, order={"state": "Intended", "name": "s-x", "cluster": "Msc1", "vpc": "acme", "id": "x"})
    it.snapshots("CreateSnapshot", name="s-x", sourceVMName="a-x", cluster="Msc1", namespace="acme")
    assert it.oracles == found
    it.world._bury()
