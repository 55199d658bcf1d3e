"""A person is called where one is needed, and nowhere else."""

import pytest

from simulation import ending
from simulation.books import FINALIZER
from simulation.process import Process


def calls(court, item, reason, **status):
    condition = {"message": "-", "observedGeneration": 1, "lastTransitionTime": "2026-01-01T00:00:00Z", "reason": reason}
    said = [condition | {"type": "Ready", "status": "False"}, condition | {"type": "Stalled", "status": "True"}]
    court.writes(item, conditions=said, **status)
    return [words for words in ending._unmet(court.judge) if "team/a" in words]


@pytest.mark.parametrize(("status", "needed"), [(400, True), (503, False)])
def test_what_was_rejected_was_refused_by_the_cloud(court, status, needed):
    item = court.applied()
    court.records(item, "a-x")
    court.answers("a-x", status)
    assert (calls(court, item, "Rejected") == []) is needed


@pytest.mark.parametrize(("knob", "needed"), [("as_listed", False), ("all_500", True)])
def test_what_fails_for_ever_is_refused_by_a_cloud_that_does_not_say_so(court, knob, needed):
    """Seed 3000496: a snapshot of a VM that was born broken; every refusal came with another status than the listed one."""
    court.world.cloud.turn(refusals=knob)
    item = court.applied()
    court.records(item, "a-x")
    court.answers("a-x", 500)
    assert (calls(court, item, "ApiError") == []) is needed


@pytest.mark.parametrize(("orders", "needed"), [(3, False), (4, True)])
def test_what_is_overdue_was_ordered_as_often_as_may_be(court, orders, needed):
    item = court.applied()
    court.records(item, "a-x")
    for _ in range(orders):
        court.answers("a-x", 202)
    assert (calls(court, item, "OrderOverdue") == []) is needed


@pytest.mark.parametrize(
    ("answer", "needed"),
    [
        pytest.param((503,), True, id="no clear answer"),
        pytest.param((409,), False, id="refused"),
        pytest.param((200, "", b'{"result": null, "success": false}'), True, id="refused with 200: seed 73000251"),
        pytest.param((200, "", b'{"result": {"id": "web"}, "success": true}'), False, id="accepted"),
    ],
)
@pytest.mark.parametrize("reason", ["Ambiguous", "DeletionBlocked"])
def test_what_bears_a_chosen_name_is_ambiguous_after_an_order_without_a_clear_answer(court, reason, answer, needed):
    item = court.applied(vmName="web")
    court.records(item, "web")
    court.answers("web", *answer)
    court.world.cloud.make_vm("web", "acme", "Msc1", "stranger")
    assert (calls(court, item, reason) == []) is needed


@pytest.mark.parametrize(
    ("killed", "needed"),
    [
        pytest.param(4.0, False, id="before the record was made"),
        pytest.param(6.0, True, id="its write was under way: seed 73000109"),
        pytest.param(8.0, True, id="it was written"),
    ],
)
def test_what_bears_a_chosen_name_is_ambiguous_when_a_process_ended_with_an_order_in_hand(court, killed, needed):
    """The order may have been sent: the record that says so was made at 5 s, and arrived at 7 s."""
    court.world.processes.append(court.operator)
    item = court.applied(vmName="web")
    for at in sorted((7.0, killed)):
        court.passes(at - court.world.loop.time())
        if at == killed:
            court.judge.ended()
        else:
            court.records(item, "web", "2026-01-01T00:00:05Z")
    court.world.cloud.make_vm("web", "acme", "Msc1", "stranger")
    assert (calls(court, item, "Ambiguous") == []) is needed


@pytest.mark.parametrize(("restarted", "needed"), [(False, False), (True, True)])
def test_a_name_that_the_cloud_gave_is_ambiguous_to_who_did_not_send_the_order(court, restarted, needed):
    """Seed 40: the status alone tells the name, and a status can be edited."""
    court.world.processes.append(court.operator)
    item = court.bought()
    court.world.cloud_names["srv-1"] = "a-x"
    court.world.cloud.end_vm("a-x", "acme", "Msc1")
    court.world.cloud.make_vm("srv-1", "acme", "Msc1", item["metadata"]["uid"])
    court.records(item, "srv-1")
    if restarted:
        court.operator.alive = False
        court.world.processes.append(Process("operator-0.2"))
    assert (calls(court, item, "Ambiguous") == []) is needed


@pytest.mark.parametrize(("name", "needed"), [("a-old", True), ("b-old", False), ("prod", True)])
def test_a_possible_duplicate_is_there(court, name, needed):
    """Seed 3000167: it was gone, and its object waited for good."""
    item = court.applied(vmName="prod")
    court.world.cloud.make_vm(name, "acme", "Msc1", "stranger")
    assert (calls(court, item, "PossibleDuplicate") == []) is needed


@pytest.mark.parametrize(("thing", "spec", "needed"), [("a-x", {}, False), ("prod", {"vmName": "prod"}, True)])
def test_its_own_vm_is_no_duplicate_unless_the_name_tells_nobody_whose_it_is(court, thing, spec, needed):
    item = court.bought(thing=thing, **spec)
    assert (calls(court, item, "PossibleDuplicate") == []) is needed


@pytest.mark.parametrize(("name", "needed"), [("prod", True), ("web", False)])
def test_a_vm_that_failed_may_be_a_strangers_that_the_spec_names(court, name, needed):
    """Seeds 92000115, 92000225: it was adopted; it stood under the name of one that had vanished with many others."""
    item = court.applied(vmName="prod", adoption="Required")
    rules = court.world.cloud.world.rules
    rules.knobs = rules.knobs.model_copy(update={"provision_outcome": "CREATE_FAILED"})
    court.world.cloud.make_vm(name, "acme", "Msc1", "stranger")
    court.passes(1000)
    court.world.cloud.notice()
    assert (calls(court, item, "CreateFailed") == []) is needed


@pytest.mark.parametrize(("cluster", "needed"), [("Hou1", True), ("msc1", False)])
def test_an_invalid_spec_names_another_place_than_the_record(court, cluster, needed):
    item = court.bought()
    order = court.judge.books.lives[item["metadata"]["uid"]].status["order"]
    assert (calls(court, item, "InvalidSpec", order=order | {"cluster": cluster}) == []) is needed


@pytest.mark.parametrize(("tenancy", "needed"), [("acme", False), ("globex", True)])
@pytest.mark.parametrize("reason", ["CredentialsRefused", "TenantMismatch", "DeletionBlocked"])
def test_good_keys_put_right_what_only_waits_for_them(court, reason, tenancy, needed):
    assert (calls(court, court.bought(), reason, tenancy=tenancy) == []) is needed


@pytest.mark.parametrize(("there", "needed"), [(True, False), (False, True)])
def test_what_has_no_secret_any_more_needs_a_person(court, there, needed):
    """Seed 3006076: the Secret was gone with its namespace, and nothing told what a dead process had ordered."""
    item = court.bought()
    if not there:
        court.world.actors.delete_secret()
    assert (calls(court, item, "DeletionBlocked") == []) is needed


@pytest.mark.parametrize(("inside", "met"), [(True, True), (False, False)])
def test_a_vpc_waits_for_what_is_in_it_only(court, inside, met):
    there = court.world.actors.owner.create("GpuVpc", "team", "v", {"cluster": "Msc1", "name": "acme-net"})
    there["kind"] = "GpuVpc"
    court.hands.patch(there, {"metadata": {"finalizers": [FINALIZER]}})
    court.says(there, "False", "DeletionBlocked")
    court.world.actors.owner.delete(there)
    court.world.cloud.make_vpc("acme-net", "Msc1", "stranger")
    if inside:
        court.world.cloud.make_vm("db", "acme-net", "Msc1", "stranger")
    assert (list(ending._unmet(court.judge)) == []) is met


@pytest.mark.parametrize(
    ("cluster", "vpc", "needed"), [("Hou1", "acme", True), ("msc1", "acme", False), ("Msc1", "acme-net", True)]
)
def test_a_source_is_not_there_if_it_is_in_another_place(court, cluster, vpc, needed):
    """Seed 6000201: the VM that a snapshot names had been moved to another cluster before it was ordered; 92152666: a VPC."""
    court.world.cloud.make_vm("db", "acme", "Msc1", "stranger")
    spec = {"vm": {"cluster": cluster, "vpc": vpc, "name": "db"}}
    item = court.world.actors.owner.create("GpuSnapshot", "team", "a", spec) | {"kind": "GpuSnapshot"}
    assert (calls(court, item, "SourceNotFound") == []) is needed


@pytest.mark.parametrize(("cluster", "needed"), [("Hou1", True), ("msc1", False)])
def test_what_is_to_be_adopted_is_not_there_if_it_is_in_another_cluster(court, cluster, needed):
    """Seed 92322405: the owner changed the cluster before the VM was adopted."""
    court.world.cloud.make_vm("legacy", "acme", "Msc1", "stranger")
    item = court.applied(vmName="legacy", adoption="Required", cluster=cluster)
    assert (calls(court, item, "NotFound") == []) is needed


@pytest.mark.parametrize(("vpc", "needed"), [("acme", False), ("acme-net", True)])
def test_an_image_is_not_found_if_its_snapshot_is_in_another_vpc(court, vpc, needed):
    """Seed 92210192: a snapshot exists within its VPC."""
    court.world.cloud.make_vm("db", "acme", "Msc1", "stranger")
    court.passes(60)
    assert court.world.cloud.make_snapshot("snap", ("Msc1", "acme", "db"), "stranger")
    source = {"vm": {"cluster": "Msc1", "vpc": "acme", "name": "db"}, "snapshotName": "snap"}
    court.world.actors.owner.create("GpuSnapshot", "team", "s", source)
    item = court.applied(image={"snapshotRef": {"name": "s"}})
    court.records(item, "a-x", vpc=vpc)
    assert (calls(court, item, "NotFound") == []) is needed


@pytest.mark.parametrize(
    ("name", "namespace", "by_hand", "needed"),
    [
        pytest.param("a-final-x", "team", True, True, id="seed 92212991: the owner took the name of the final snapshot"),
        pytest.param("a-final-y", "team", True, False, id="another name"),
        pytest.param("a-final-x", "other", True, False, id="in another namespace"),
        pytest.param("a-final-x", "team", False, False, id="made by an operator"),
    ],
)
def test_a_vm_stays_while_the_name_of_its_final_snapshot_is_taken(court, name, namespace, by_hand, needed):
    item = court.bought(deletion={"finalSnapshot": "Required"})
    maker = court.world.actors.owner if by_hand else court.hands
    maker.create("GpuSnapshot", namespace, name, {"vm": {"cluster": "Msc1", "vpc": "acme", "name": "a-x"}})
    said = {"gpuSnapshot": "a-final-x", "requestedAt": "2026-01-01T00:00:00Z"}
    unmet = calls(court, item, "DeletionBlocked", finalSnapshot=said)
    assert any(words.startswith("GpuVM") for words in unmet) is not needed
