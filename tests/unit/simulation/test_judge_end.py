"""The end of a history: what is wanted comes true, what goes is released, and then it is quiet."""

import pytest

from simulation import ending
from simulation.books import FINALIZER
from support.court import SPEC, Court


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
    court.deletes_secret()
    assert court.judge.secret_is_going("team") == held


@pytest.mark.parametrize(("applied_anew", "held"), [(True, True), (False, False)])
def test_a_secret_is_held_for_what_the_record_of_another_object_tells_of(court, applied_anew, held):
    """Seed 3000507: a backup tool put the status of an object that was gone onto its successor."""
    item = court.bought()
    order = court.judge.books.lives[item["metadata"]["uid"]].status["order"]
    court.world.cloud.end_vm("a-x", "acme", "Msc1")
    court.passes(60)
    court.world.cloud.notice()
    court.writes(court.applied("b") if applied_anew else item, order=order | {"state": "Destroying"})
    court.deletes_secret()
    assert court.judge.secret_is_going("team") == held


@pytest.mark.parametrize(
    ("adoption", "state", "name", "held"),
    [
        ("IfExists", "Seen", "acme", True),
        ("Required", "Destroying", "acme", True),
        ("Never", "Seen", "acme", True),  # seed 975062: what bears its chosen name passed for its own
        ("IfExists", "NotOrdered", "acme", False),
        ("IfExists", "Seen", "acme-gone", False),
    ],
)
def test_a_secret_is_held_for_what_nobody_made_for_its_object(court, adoption, state, name, held):
    """Seeds 902776, 904029 and 906023: the last that needed the Secret was a GpuVpc with a VPC that it had not made."""
    item = court.world.actors.owner.create("GpuVpc", "team", "net", {"cluster": "Msc1", "name": name, "adoption": adoption})
    court.writes(item | {"kind": "GpuVpc"}, order={"state": state, "name": name, "cluster": "Msc1", "id": "x"})
    court.deletes_secret()
    assert court.judge.secret_is_going("team") == held


@pytest.mark.parametrize(("restored", "patience"), [(False, 480.0), (True, 840.0)])
def test_a_watch_may_miss_objects_after_a_restore_until_its_process_is_ended(restored, patience):
    """Seed 502203: the second resync shows it, and the liveness probe fails."""
    it = Court(create_grace_seconds=3.0)
    if restored:
        it.judge.restored()
    it.world._bury()
    assert ending._patience(it.world, it.judge) == patience


@pytest.mark.parametrize(("pretended", "patience"), [(0, 480.0), (1, 480.0), (2, 926.0)])
def test_what_was_long_accepted_and_left_is_asked_for_again_after_a_quarter_of_an_hour(pretended, patience):
    """Seed 92000284: the owner of one VM asked again when the cloud did as it says, and that of another did not."""
    it = Court(create_grace_seconds=3.0)
    it.judge.sometimes["destruction pretended"] = pretended
    it.world._bury()
    assert ending._patience(it.world, it.judge) == patience


@pytest.mark.parametrize(("limits", "patience"), [({}, 480.0), ({"max_vms_per_account": 2}, 600.0)])
def test_whoever_waits_for_room_is_bought_when_the_last_of_the_others_has_gone(limits, patience):
    """Seed 4000021: a destroying call that the cloud had refused was repeated after five minutes."""
    it = Court(create_grace_seconds=3.0, **limits)
    it.world._bury()
    assert ending._patience(it.world, it.judge) == patience


@pytest.mark.parametrize(
    ("healed", "began", "after", "late"),
    [
        pytest.param(0, 0, 150, False, id="promptly"),
        pytest.param(0, 0, 170, True, id="late"),
        pytest.param(950, 0, 170, False, id="seed 602249: a listing had hung since before the faults ended"),
        pytest.param(950, 0, 200, False, id="seed 92343703: it was asked for again after the longest pause"),
        pytest.param(950, 0, 240, True, id="late after a listing that hung"),
        pytest.param(0, 1040, 200, False, id="its process was killed, and the next one began 70 s later"),
        pytest.param(0, 1040, 240, True, id="late after another process began"),
    ],
)
def test_what_was_destroyed_is_let_go_promptly_by_a_process_that_can_list(court, healed, began, after, late):
    item = court.bought()
    life, gone = court.judge.books.lives[item["metadata"]["uid"]], 970.0
    court.world.replicas[0].process = court.operator
    court.judge.collecting._born[court.operator.name] = float(began)
    court.world.healed_at, court.judge.vanished[life.uid], life.let_go_at = float(healed), gone, gone + after
    assert bool(list(ending._late(court.world, court.judge, gone - 1.0))) == late


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


def needs_a_person(court, item, reason):
    """Whether it calls a person for this reason, and the reason is so."""
    life = court.judge.books.lives[item["metadata"]["uid"]]
    when = {"lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1}
    stalled = {"type": "Stalled", "status": "True", "reason": reason, "message": "-"} | when
    court.writes(item, conditions=[stalled])
    return court.judge.calling.needs_a_person(life)


@pytest.mark.parametrize(("key", "so"), [("nonsense", True), (SPEC["sshKeys"][0], False)])
def test_keys_are_invalid_only_if_they_are(court, key, so):
    assert needs_a_person(court, court.applied(sshKeys=[key]), "InvalidSSHKeys") == so


@pytest.mark.parametrize(
    ("asked", "so"), [({"blockIntraVpcComms": True}, True), ({"blockIntraVpcComms": False}, False), ({}, False)]
)
def test_a_vpc_differs_from_its_spec_only_if_it_does(court, asked, so):
    court.world.cloud.make_vpc("acme-net", "Msc1", "stranger")
    item = court.world.actors.owner.create("GpuVpc", "team", "net", {"name": "acme-net", "cluster": "Msc1", **asked})
    assert needs_a_person(court, item | {"kind": "GpuVpc"}, "Mismatch") == so


def vpc(court, **spec):
    return court.world.actors.owner.create("GpuVpc", "team", "net", {"name": "acme-net", "cluster": "Msc1"} | spec)


@pytest.mark.parametrize(
    ("needed", "ordered_in", "so"),
    [
        ({}, None, False),
        ({"cluster": "Hou1"}, None, True),
        ({"accountRef": {"name": "x"}}, None, True),
        ({}, "acme-net", False),
        ({}, "acme-old", True),
    ],
)
def test_what_an_object_names_may_be_unusable_only_for_a_reason(court, needed, ordered_in, so):
    vpc(court, **needed)
    item = court.applied(vpc=None, vpcRef={"name": "net"})
    if ordered_in is not None:
        court.writes(item, order={"state": "Seen", "name": "a-x", "cluster": "Msc1", "vpc": ordered_in, "id": "x"})
    assert needs_a_person(court, item, "InvalidReference") == so


@pytest.mark.parametrize(("cluster", "so"), [("Hou1", True), ("Msc1", False)])
def test_a_snapshot_is_where_its_vm_is_whatever_cluster_its_spec_leaves_out(court, cluster, so):
    """Seed 92344745: its VM had gone to an alternative in another cluster."""
    taken = court.world.actors.owner.create("GpuSnapshot", "team", "golden", {"vmRef": {"name": "x"}})
    court.writes(taken | {"kind": "GpuSnapshot"}, order={"state": "Seen", "name": "s-x", "cluster": cluster, "id": "s-x"})
    item = court.applied(image={"snapshotRef": {"name": "golden"}})
    assert needs_a_person(court, item, "InvalidReference") == so


@pytest.mark.parametrize(("own", "so"), [(True, True), (False, False)])
def test_an_image_by_name_may_be_anothers_with_the_operators_own_account_only(courts, own, so):
    court = courts(own=own)
    item = court.applied(image={"snapshot": "s"})
    assert needs_a_person(court, item, "InvalidReference") == so


def test_a_deletion_is_held_only_where_there_is_a_guard(courts):
    for guards in (0, 1):
        court = courts(brake_vms=guards)
        item = court.applied()
        court.world.actors.owner.delete(item)
        assert needs_a_person(court, item, "DeletionHeld") == bool(guards)


@pytest.mark.parametrize(("seconds", "unmet"), [(60.0, 0), (600.0, 1)])
def test_what_is_made_once_more_need_not_be_ready_yet(court, seconds, unmet):
    """Seed 92342368: the cloud failed to make any VM, and the third new one was being made when patience ended."""
    item = court.bought(onLoss="Recreate")
    court.passes(100)
    order = court.judge.books.lives[item["metadata"]["uid"]].status["order"]
    for state in ("Seen", "Gone", "Intended"):
        court.writes(item, order=order | {"state": state})
    court.says(item, "False", "Creating")
    court.passes(seconds)
    assert len([one for one in ending._unmet(court.judge) if "Creating" in one]) == unmet


def test_what_is_not_ready_is_told_and_what_needs_a_person_is_not(court):
    item = court.applied(sshKeys=["nonsense"])
    court.says(item, "False", "Creating")
    court.writes(item, observedGeneration=1)
    assert list(ending._unmet(court.judge)) == ["GpuVM team/a is False/Creating"]
    life = court.judge.books.lives[item["metadata"]["uid"]]
    stalled = {**life.condition("Ready"), "type": "Stalled", "status": "True", "reason": "InvalidSSHKeys"}
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
    court.writes(ordered, observedGeneration=1, billedSince="2026-01-01T00:00:00Z", pricePerHour="2.05", **tenancy)
    court.passes(1000)
    court.world.cloud.notice()
    court.says(ordered, "True", "Running")
    court.says(waiting, "False", "AccountNotReady")
    court.writes(waiting, observedGeneration=1)
    (account,) = court.world.actors.owner.all("GpuCloudAccount")[-1:]
    said = {"type": "Stalled", "status": "True", "reason": reason, "message": "-", "observedGeneration": 1}
    court.writes(account, conditions=[said | {"lastTransitionTime": "2026-01-01T00:00:00Z"}])
    assert len(list(ending._unmet(court.judge))) == unmet


def test_what_is_being_deleted_must_go(court):
    item = court.bought()
    court.world.actors.owner.delete(item)
    (unmet,) = ending._unmet(court.judge)
    assert "is being deleted still" in unmet


@pytest.mark.parametrize(("reason", "waits"), [("Ambiguous", True), ("Creating", False)])
def test_what_another_object_holds_that_calls_a_person_waits_with_it(court, monkeypatch, reason, waits):
    """Seed 91001639: nobody can tell whether a snapshot of a chosen name is being taken of the VM."""
    monkeypatch.setattr(court.judge.calling, "needs_a_person", lambda life: life.ready.endswith("/Ambiguous"))
    item = court.applied()
    court.says(item, "False", "DeletionBlocked")
    court.world.actors.owner.delete(item)
    taken = court.world.actors.owner.create("GpuSnapshot", "team", "s", {"vmRef": {"name": "a"}, "snapshotName": "snap"})
    court.says(taken | {"kind": "GpuSnapshot"}, "False", reason)
    assert ([words for words in ending._unmet(court.judge) if "team/a" in words] == []) == waits


def test_what_says_ready_and_is_gone_is_not_as_wanted(court):
    """Seed 982835: all VMs had gone at once, which nobody believed for minutes; meanwhile the judge looked on for quiet."""
    item = court.bought()
    court.passes(1000)
    court.world.cloud.notice()
    court.says(item, "True", "Running")
    court.writes(item, billedSince="2026-01-01T00:10:00Z", pricePerHour="2.05")
    assert list(ending._unmet(court.judge)) == []
    court.world.cloud.end_vm("a-x", "acme", "Msc1")
    court.passes(60)
    court.world.cloud.notice()
    assert list(ending._unmet(court.judge)) == ["GpuVM team/a says True/Running, and it is not so"]


@pytest.mark.parametrize(
    ("reason", "since", "so"),
    [
        ("Running", "2026-01-01T00:10:00Z", True),
        ("Running", None, False),
        ("PoweredOff", None, True),
        ("PoweredOff", "2026-01-01T00:10:00Z", False),
    ],
)
def test_a_vm_says_since_when_it_is_billed_while_it_runs(court, reason, since, so):
    item = court.bought(powerState="Running" if reason == "Running" else "Stopped")
    court.passes(1000)
    court.world.cloud.notice()
    if reason == "PoweredOff":
        court.sends("StopServer", id="a-x", namespace="acme", cluster="Msc1")
        court.passes(60)
        court.world.cloud.notice()
    court.says(item, "True", reason)
    court.writes(item, pricePerHour="2.05", **({"billedSince": since} if since else {}))
    unmet = [] if so else [f"GpuVM team/a says True/{reason}, and that it is billed since {since}"]
    assert list(ending._unmet(court.judge)) == unmet


@pytest.mark.parametrize(("price", "unmet"), [("2.05", []), (None, ["GpuVM team/a says True/Running, and not what it costs"])])
def test_a_vm_that_runs_says_what_it_costs(court, price, unmet):
    """Seed 9000217: the catalogue could not be read when it was made, and nothing asked again."""
    item = court.bought()
    court.passes(1000)
    court.world.cloud.notice()
    court.says(item, "True", "Running")
    court.writes(item, billedSince="2026-01-01T00:10:00Z", **({"pricePerHour": price} if price else {}))
    assert list(ending._unmet(court.judge)) == unmet


@pytest.mark.parametrize(
    ("reason", "there", "refuted"),
    [
        ("VMLost", "a-x", True),
        ("VMLost", "", False),
        ("VMLost", "prod", False),
        ("Conflict", "", True),
        ("Conflict", "prod", False),
        ("Rejected", "a-x", True),
        ("PermissionDenied", "a-x", True),
        ("CredentialsRefused", "a-x", True),
        ("NotFound", "a-x", True),
        ("ApiError", "a-x", True),
        ("Ambiguous", "a-x", True),
        ("DeletionBlocked", "a-x", True),
        ("OrderOverdue", "a-x", True),
        ("TenantMismatch", "a-x", True),
        ("SourceNotFound", "a-x", False),
    ],
)
def test_a_person_is_not_called_for_what_is_not_so(court, reason, there, refuted):
    """What bears a mark and is there is not lost; a name that nothing bears is in nobody's way."""
    item = court.bought(thing="prod", vmName="prod") if there == "prod" else court.bought()
    court.world.cloud.end_vm("" if there else "a-x", "acme", "Msc1")
    court.passes(60)
    court.world.cloud.notice()
    condition = {"message": "-", "observedGeneration": 1, "lastTransitionTime": "2026-01-01T00:00:00Z", "reason": reason}
    said = [condition | {"type": "Ready", "status": "False"}, condition | {"type": "Stalled", "status": "True"}]
    court.writes(item, conditions=said)
    assert list(ending._unmet(court.judge)) == ([f"GpuVM team/a is False/{reason}"] if refuted else [])


@pytest.mark.parametrize(
    ("chosen", "ordered", "unmet"),
    [
        ("prod", None, []),
        ("web", None, ["GpuVM team/a is False/Conflict"]),
        ("web", "Accepted", []),
        ("web", "Gone", ["GpuVM team/a is False/Conflict"]),
    ],
)
def test_a_name_that_another_object_has_chosen_or_ordered_is_not_free(court, chosen, ordered, unmet):
    """Seeds 76 and 291: neither had ordered anything yet. Seed 92231070: the other's spec names something else by now."""
    item, other = court.applied(vmName="prod"), court.applied("b", vmName=chosen)
    court.world.actors.owner.annotate(other, paused="true")
    record = {"order": {"state": ordered, "name": "prod", "cluster": "Msc1", "vpc": "acme"}} if ordered else {}
    court.writes(other, observedGeneration=1, **record)
    condition = {"message": "-", "observedGeneration": 1, "lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "Conflict"}
    said = [condition | {"type": "Ready", "status": "False"}, condition | {"type": "Stalled", "status": "True"}]
    court.writes(item, conditions=said)
    assert [words for words in ending._unmet(court.judge) if "team/a" in words] == unmet
