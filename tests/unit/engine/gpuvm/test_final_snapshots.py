"""The GpuSnapshot that takes a final snapshot: what is known of it, its creation, and the last look before the VM goes."""

from datetime import datetime

import pytest

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.models import SnapshotRecord
from gpucloud.engine.cloud.cluster_records import EVERYTHING, Contents
from gpucloud.engine.kube.errors import KubeError
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import Present, Verb
from gpucloud.reconcile.gpuvm import final_snapshot
from gpucloud.reconcile.gpuvm.snapshots import names
from gpucloud.reconcile.naming import Identity, external_name
from support.builders import TAG, a_record, an_object
from support.fakes import GOING
from support.gpuvmrig import NOW, bought, ours

REQUIRED = {"deletion": {"finalSnapshot": "Required"}}
NAME, ALONE = names(an_object(uid="u1", deleted_at=datetime.fromisoformat(GOING["deletionTimestamp"])), TAG)
TERMINATING = frozenset({"NamespaceTerminating"})
SNAP = external_name(NAME, f"u-{NAME}", TAG)
AT = "2026-01-01T00:00:00Z"
MADE = {"gpucloud.dev/final-snapshot-of": "u1"}
THERE = {"vm": {"cluster": "Msc1", "vpc": "acme", "name": ours().name}, "deletion": {"policy": "Retain"}}


@pytest.fixture
def going(rig):
    """A VM that is there, is being deleted, and needs a final snapshot."""
    rig.put(meta=GOING, spec=REQUIRED, status=bought(ours().name, ours().name))
    rig.inventory.seen[ours()] = Present(a_record(name=ours().name), NOW)
    return rig


def take(rig, **annotations):
    """The GpuSnapshot stands."""
    rig.reconcilers.put("GpuSnapshot", NAME, meta={"annotations": annotations or MADE}, spec={"vmRef": None, **THERE})


def shows(rig, *records):
    rig.reconcilers.session.snapshots.inside = {("Msc1", "acme"): Contents(tuple(records), NOW)}


def ready(name=SNAP, **more):
    return SnapshotRecord(**{"id": name, "source_name": ours().name, "ready_to_use": True} | more)


async def test_the_gpusnapshot_names_the_vm_is_retained_and_outlives_its_object(going):
    event = await going.act(Verb.REQUEST_SNAPSHOT)
    ((plural, namespace, body),) = going.kube.created
    assert (plural, namespace, body["kind"], body["spec"]) == ("gpusnapshots", "team", "GpuSnapshot", THERE)
    assert (body["metadata"]["name"], body["metadata"]["annotations"]) == (NAME, MADE)
    assert "ownerReferences" not in body["metadata"]
    assert (event.reason, event.warning, going.client.calls) == (Reason.FINAL_SNAPSHOT_REQUESTED, False, [])


async def test_it_uses_the_account_of_the_vm(rig):
    session = rig.reconcilers.account("ours")
    rig.put(meta=GOING, spec=REQUIRED | {"accountRef": {"name": "ours"}}, status=bought(ours().name) | {"account": "ours"})
    session.vms.seen[ours()] = Present(a_record(name=ours().name), NOW)
    await rig.act(Verb.REQUEST_SNAPSHOT)
    assert rig.kube.created[0][2]["spec"]["accountRef"] == {"name": "ours"}


@pytest.mark.parametrize(
    ("error", "kind", "says", "lacks_a_right"),
    [
        (KubeError(409, "AlreadyExists", "exists"), None, "Requested", False),
        (KubeError(403, "Forbidden", "may not"), ErrorKind.FORBIDDEN, "Grant the operator create on gpusnapshots.", True),
        (KubeError(403, "Forbidden", '"being terminated" may not'), ErrorKind.FORBIDDEN, "The apiserver says", True),
        (KubeError(403, "Forbidden", "it ends", TERMINATING), ErrorKind.FORBIDDEN, "The apiserver says", False),
        (KubeError(0, "NoAnswer", "time-out"), ErrorKind.NOT_SENT, "it is tried again", False),
    ],
    ids=["made before", "a right", "a right, by the words of an object", "a terminating namespace", "no answer"],
)
async def test_what_the_apiserver_answers(going, error, kind, says, lacks_a_right):
    going.kube.fails = [error]
    event = await going.act(Verb.REQUEST_SNAPSHOT)
    attempt = (await going.facts()).attempt(Verb.REQUEST_SNAPSHOT)
    assert (attempt.refusal and attempt.refusal.kind) == kind
    assert says in event.note
    assert ("Grant" in event.note) is lacks_a_right


async def test_a_namespace_that_begins_to_terminate_is_noticed_with_the_first_refusal(going):
    assert not (await going.facts()).final.terminating
    going.kube.dying.add("team")
    going.clock.now += 0.1
    going.kube.fails = [KubeError(403, "Forbidden", "it ends", TERMINATING)]
    await going.act(Verb.REQUEST_SNAPSHOT)
    assert (await going.facts()).final.terminating, "what was known of the namespace before is out of date"


async def test_a_namespace_is_read_after_the_deletion(rig):
    rig.put(spec=REQUIRED, status=bought(ours().name, ours().name))
    await rig.reconciler._deps.namespaces.get("team")
    rig.kube.dying.add("team")
    rig.clock.now += 1.0
    rig.put(meta=GOING, spec=REQUIRED, status=bought(ours().name, ours().name))
    rig.inventory.seen[ours()] = Present(a_record(name=ours().name), NOW)
    assert (await rig.facts()).final.terminating


async def test_nothing_is_created_for_a_wish_that_was_given_up_meanwhile(going):
    decided = await going.facts()
    going.put(meta=GOING, status=bought(ours().name, ours().name))
    assert await going.reconciler._final.request(decided) is None
    assert going.kube.created == []


async def test_who_takes_it_is_known_by_a_mark_and_wakes_the_vm(going):
    assert (await going.facts()).final.taker is None
    going.reconcilers.quiet()
    take(going)
    assert going.reconcilers.woken_names == ["train"]
    taker = (await going.facts()).final.taker
    assert (taker.made_for_vm, taker.snapshot_id) == (True, SNAP)
    take(going, **{"gpucloud.dev/final-snapshot-of": "another"})
    assert not (await going.facts()).final.taker.made_for_vm


async def test_it_holds_no_destruction_by_itself_and_does_not_go_with_the_vm(going):
    take(going)
    shows(going, ready())
    facts = await going.facts()
    assert (facts.dependents, [item.deletable for item in facts.snapshots.items]) == ((), [False])


async def test_the_snapshots_are_watched_only_while_one_is_needed(rig):
    watched = rig.reconcilers.session.snapshots.watched
    rig.put(spec=REQUIRED)
    assert watched == {}
    rig.put(meta=GOING, spec=REQUIRED)
    assert watched == {"u1": Identity("Msc1", "acme", EVERYTHING)}
    rig.put(meta=GOING, spec={"deletion": {"finalSnapshot": "Required", "policy": "Retain"}})
    assert watched == {}


@pytest.mark.parametrize(
    ("records", "sent"),
    [((ready(),), True), ((ready(ready_to_use=False),), False), ((ready(source_name="other"),), False), ((), False)],
    ids=["ready", "taken away or not ready", "of another VM", "gone"],
)
async def test_the_newest_listing_is_asked_in_the_instant_of_sending(going, records, sent):
    take(going)
    shows(going, *records)
    event = await going.act(Verb.DESTROY)
    assert ([call for call, _ in going.client.calls], event is not None) == (["destroy_server"] * sent, sent)


@pytest.mark.parametrize(("records", "sent"), [((ready(),), True), ((), False)], ids=["still there", "deleted since"])
async def test_an_announced_destruction_asks_it_as_well(going, records, sent):
    """The status says that the snapshot was ready; that was before the announcement."""
    known = (await going.facts()).order.id
    announced = bought(ours().name, ours().name, OrderState.DESTROYING)
    announced["order"]["id"] = known
    done = {"order": known, "gpuSnapshot": NAME, "snapshotId": SNAP, "state": "Ready", "requestedAt": AT}
    going.put(meta=GOING, spec=REQUIRED, status=announced | {"finalSnapshot": done})
    shows(going, *records)
    facts = await going.facts()
    assert (facts.state, final_snapshot.record(facts).state) == ("Destroying", "Ready")
    await going.act(Verb.DESTROY)
    assert [call for call, _ in going.client.calls] == ["destroy_server"] * sent


async def test_in_a_namespace_that_goes_the_snapshot_is_taken_in_the_cloud(going):
    going.kube.dying.add("team")
    assert (await going.facts()).final.terminating
    event = await going.act(Verb.CREATE_SNAPSHOT, targets=(ALONE,))
    ((call, said),) = going.client.calls
    assert (call, said["name"], said["source_vm_name"]) == ("create_snapshot", ALONE, ours().name)
    assert repr(ALONE) in event.note
    assert (await going.facts()).order.state == "Seen", "its VM's order is left alone"


async def test_in_the_cloud_none_is_taken_that_a_listing_shows_by_now(going):
    going.kube.dying.add("team")
    shows(going, ready(ALONE, ready_to_use=False))
    assert await going.act(Verb.CREATE_SNAPSHOT, targets=(ALONE,)) is None
    assert going.client.calls == []


async def test_a_refusal_of_it_is_none_of_the_vms_order(going):
    going.client.fails = [CloudError(ErrorKind.INVALID, "quota reached")]
    event = await going.act(Verb.CREATE_SNAPSHOT, targets=(ALONE,))
    assert (event.reason, event.warning) == (Reason.FINAL_SNAPSHOT_FAILED, True)
    assert (await going.facts()).order.state == "Seen"


async def test_each_plan_to_replace_a_vm_has_a_snapshot_of_its_own_and_a_restart_finds_its_name(rig):
    spec = REQUIRED | {"replacePolicy": "Recreate", "rootDiskGiB": 300}
    changes, found = [{"name": "rootDiskGiB", "to": "300"}], []
    for at in ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-01T02:00:00Z"):
        plan = {"changes": changes, "plannedAt": at, "notBefore": at, "finalSnapshot": True}
        rig.put(spec=spec, status=bought(ours().name, ours().name) | {"replacement": plan})
        found.append((await rig.facts()).final.name)
    assert (found[0] == found[1], found[1] == found[2]) == (True, False)
