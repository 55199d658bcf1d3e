"""Final snapshots: no VM goes whose spec requires one that was not ready."""

import json

import pytest

from gpucloud.sim.messages import Request
from simulation.people import path_of
from simulation.process import Process
from support.court import SIGNED

REQUIRED = {"deletion": {"finalSnapshot": "Required"}}


@pytest.fixture
def going(court):
    """A VM that is on, and is being deleted."""

    def make(**spec):
        item = court.bought(**spec)
        court.passes(60.0)
        court.world.cloud.notice()
        court.world.actors.owner.delete(item)
        return item

    return make


def taken(court, item, after=60.0):
    """One is taken, and so much later the VM is destroyed."""
    court.writes(item, finalSnapshot={"snapshotId": "a-final", "requestedAt": "2026-01-01T00:00:00Z"})
    court.snapshots("CreateSnapshot", name="a-final", namespace="acme", cluster="Msc1", sourceVMName="a-x")
    court.passes(after)
    court.world.cloud.notice()


@pytest.mark.parametrize(
    ("spec", "after", "found"),
    [
        ({}, None, []),
        (REQUIRED, None, ["unsaved"]),
        (REQUIRED, 0.0, ["unsaved"]),
        (REQUIRED, 60.0, []),
        ({"deletion": {"finalSnapshot": "Required", "policy": "Retain"}}, None, []),
    ],
    ids=["not asked for", "none was taken", "it is not ready", "it is ready", "the VM was to stay, which others judge"],
)
def test_no_vm_goes_before_its_final_snapshot_is_ready(court, going, spec, after, found):
    item = going(**spec)
    if after is not None:
        taken(court, item, after)
    court.destroys("a-x")
    assert [one for one in court.oracles if one == "unsaved"] == found


def asks(court, process, fault=""):
    """A process asks the cloud itself, as in a namespace that is being deleted."""
    said = {"name": "final-a", "namespace": "acme", "cluster": "Msc1", "sourceVMName": "a-x"}
    request = Request("POST", "/api/v1/servers/snapshots/CreateSnapshot", (), SIGNED, json.dumps(said).encode())
    court.judge.sent(process, "CreateSnapshot", request)
    court.world.cloud.carry_out(process, "CreateSnapshot", request, fault)


@pytest.mark.parametrize(
    ("fault", "restarts", "after", "found"),
    [
        ("", False, 299, ["waits"]),
        ("", False, 301, []),
        ("", True, 299, ["waits"]),
        ("", True, 301, []),
        ("cloud-lost", False, 29, ["waits"]),
        ("cloud-lost", False, 31, []),
        ("cloud-lost", True, 31, ["waits"]),
        ("cloud-429", True, 1, []),
    ],
)
def test_the_cloud_is_not_asked_again_before_the_wait_is_over(court, going, fault, restarts, after, found):
    item = going(**REQUIRED)
    court.writes(item, finalSnapshot={"snapshotId": "final-a", "requests": 1, "requestedAt": "2026-01-01T00:00:00Z"})
    court.passes(1.0)
    asks(court, court.operator, fault)
    court.passes(after)
    asks(court, Process("operator-0.2") if restarts else court.operator)
    assert court.oracles == found


@pytest.mark.parametrize("tampers", [True, False])
def test_who_says_something_else_or_writes_the_status_shortens_the_wait(court, going, tampers):
    item = going(**REQUIRED)
    court.writes(item, finalSnapshot={"snapshotId": "final-a", "requests": 1, "requestedAt": "2026-01-01T00:00:00Z"})
    court.passes(1.0)
    asks(court, court.operator)
    if tampers:
        now = court.world.actors.owner.call("GET", path_of(item))
        told = {**now["status"], "order": now["status"]["order"] | {"state": "Seen"}}
        court.world.actors.owner.call("PUT", f"{path_of(item)}/status", {**now, "status": told})
    else:
        court.world.actors.owner.patch(item, {"metadata": {"annotations": {"gpucloud.dev/reconcile-requested-at": "now"}}})
    court.passes(1.0 if tampers else 31.0)
    asks(court, court.operator)
    assert court.oracles == []


def test_one_that_was_taken_before_the_deletion_is_none(court):
    item = court.bought(**REQUIRED)
    court.passes(60.0)
    court.world.cloud.make_snapshot("a-final", ("Msc1", "acme", "a-x"), item["metadata"]["uid"])
    court.passes(60.0)
    court.world.actors.owner.delete(item)
    court.destroys("a-x")
    assert court.oracles == ["unsaved"]


def test_one_that_was_taken_for_something_else_is_none(court, going):
    going(**REQUIRED)
    court.world.cloud.make_snapshot("daily", ("Msc1", "acme", "a-x"), "somebody")
    court.passes(60.0)
    court.world.cloud.notice()
    court.destroys("a-x")
    assert court.oracles == ["unsaved"]


@pytest.mark.parametrize(("since", "found"), [(1.0, []), (600.0, ["unsaved"])])
def test_one_that_somebody_destroyed_counts_for_a_moment_only(court, going, since, found):
    taken(court, going(**REQUIRED))
    court.snapshots("DeleteSnapshot", Id="a-final", Cluster="Msc1", Namespace="acme")
    court.passes(since)
    court.world.cloud.notice()
    court.destroys("a-x")
    assert [one for one in court.oracles if one == "unsaved"] == found


@pytest.mark.parametrize(("seconds", "found"), [(1.0, []), (600.0, ["unsaved"])])
def test_a_wish_of_a_moment_ago_may_not_have_been_heard(court, going, seconds, found):
    item = going()
    court.world.actors.owner.patch(item, {"spec": REQUIRED})
    court.passes(seconds)
    court.destroys("a-x")
    assert court.oracles == found


def test_a_wish_that_was_given_up_holds_nothing(court, going):
    item = going(**REQUIRED)
    court.world.actors.owner.patch(item, {"spec": {"deletion": {"finalSnapshot": "None"}}})
    court.destroys("a-x")
    assert court.oracles == []


@pytest.mark.parametrize(("recorded", "found"), [(True, []), (False, ["record"])])
def test_where_no_gpusnapshot_can_be_made_the_vms_status_records_it(court, going, recorded, found):
    item = going(**REQUIRED)
    if recorded:
        court.writes(item, finalSnapshot={"snapshotId": "final-a", "requestedAt": "2026-01-01T00:00:00Z"})
    court.snapshots("CreateSnapshot", name="final-a", namespace="acme", cluster="Msc1", sourceVMName="a-x")
    assert court.oracles == found


@pytest.mark.parametrize(("status", "waits"), [("CREATE_FAILED", True), ("ONLINE", False)])
def test_of_a_vm_whose_creation_has_failed_none_can_be_taken(court, going, status, waits):
    """Seed 92236220: its namespace is going, so no GpuSnapshot says that the cloud refused."""
    item = going(**REQUIRED)
    vms = court.world.cloud.world.vms
    vms.force(vms.require(("Msc1", "acme", "a-x"), "acme"), status, court.world.cloud.now())
    court.world.cloud.notice()
    life = court.judge.books.lives[item["metadata"]["uid"]]
    assert court.judge.saving.lacks_one(life) is waits


REPLACED = REQUIRED | {"replacePolicy": "Recreate"}
PAUSES = {"metadata": {"annotations": {"gpucloud.dev/paused": "true"}}}
GOES_ON = {"metadata": {"annotations": {"gpucloud.dev/paused": None}}}


@pytest.mark.parametrize(
    ("between", "seconds", "found"),
    [
        ((), 3600.0, []),
        (({"spec": {"rootDiskGiB": None}}, {"spec": {"rootDiskGiB": 300}}), 3600.0, ["unsaved"]),
        (({"spec": {"rootDiskGiB": 400}},), 3600.0, ["unsaved"]),
        ((PAUSES, GOES_ON), 3600.0, ["unsaved"]),
        ((PAUSES, GOES_ON), 0.1, []),
    ],
    ids=["the same plan", "taken back and edited again", "edited again", "paused", "paused for a moment"],
)
def test_one_that_was_taken_for_an_earlier_plan_is_none(court, between, seconds, found):
    item = court.bought(**REPLACED)
    court.passes(60.0)
    court.world.cloud.notice()
    court.world.actors.owner.patch(item, {"spec": {"rootDiskGiB": 300}})
    court.world.cloud.make_snapshot("a-final", ("Msc1", "acme", "a-x"), item["metadata"]["uid"])
    for change in between:
        court.passes(seconds)
        court.world.actors.owner.patch(item, change)
    court.passes(3600.0)
    court.destroys("a-x")
    assert [one for one in court.oracles if one == "unsaved"] == found
