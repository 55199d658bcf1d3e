"""What is sent for a GpuVM, and what is remembered of it."""

import pytest

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.models import VmRecord
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.gpucloudaccount import AccountDefaults
from gpucloud.reconcile.facts import Present, Verb
from gpucloud.reconcile.naming import external_name
from gpucloud.reconcile.plan import Plan
from support.builders import TAG, an_order
from support.gpuvmrig import NOW, bought, ours

GOING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("verb", "call"), [(Verb.START, "start_server"), (Verb.STOP, "stop_server"), (Verb.DESTROY, "destroy_server")]
)
@pytest.mark.parametrize("listed_in", [None, "MSC1"])
async def test_calls_name_the_vm_fully_and_the_cluster_as_the_record_spells_it(rig, verb, call, listed_in):
    rig.put(meta=GOING)
    if listed_in:
        rig.inventory.seen[ours()] = Present(
            VmRecord(id=ours().name, namespace="acme", cluster=listed_in, status="ONLINE"), NOW
        )
    event = await rig.act(verb)
    assert rig.client.calls == [(call, {"id": ours().name, "namespace": "acme", "cluster": listed_in or "Msc1"})]
    assert not event.warning
    assert ours().name in event.note


@pytest.mark.parametrize(
    ("listed", "sent"), [("FAILED", True), ("CREATE_FAILED", True), ("ONLINE", False), ("ADMIN_WAIT", False)]
)
async def test_a_failed_vm_is_destroyed_for_another_only_if_it_is_listed_as_failed_when_the_call_leaves(rig, listed, sent):
    rig.put(spec={"onLoss": "Recreate"}, status=bought(ours().name))
    facts = await rig.facts()
    rig.inventory.seen[ours()] = Present(VmRecord(id=ours().name, namespace="acme", cluster="Msc1", status=listed), NOW)
    await rig.reconciler.act(facts, Plan(action=Verb.DESTROY))
    assert bool(rig.client.calls) is sent


async def test_an_answer_is_remembered_with_the_time_it_came(rig):
    rig.put()
    facts = await rig.intend()
    rig.clock.now += 5
    await rig.reconciler.act(facts, Plan(action=Verb.CREATE))
    attempt = (await rig.facts()).attempt(Verb.CREATE)
    assert (attempt.at, attempt.refusal, attempt.failures, attempt.asked.generation) == (NOW + 5, None, 0, 1)


async def test_failures_in_a_row_are_counted_and_a_success_ends_the_row(rig):
    rig.put()
    lost = CloudError(ErrorKind.OUTCOME_UNKNOWN, "the cloud's own words", ambiguous=True)
    rig.client.fails = [lost, CloudError(ErrorKind.THROTTLED, "slower", retry_after=9.0), None]
    event = await rig.act(Verb.START)
    assert (event.reason, event.warning) == ("StartFailed", True)
    assert "the cloud's own words" in event.note
    first = (await rig.facts()).attempt(Verb.START)
    assert (first.failures, first.refusal.ambiguous, first.refusal.kind) == (1, True, ErrorKind.OUTCOME_UNKNOWN)
    await rig.act(Verb.START)
    second = (await rig.facts()).attempt(Verb.START)
    assert (second.failures, second.refusal.ambiguous, second.refusal.retry_after) == (2, False, 9.0)
    await rig.act(Verb.START)
    assert (await rig.facts()).attempt(Verb.START).failures == 0


async def test_after_an_accepted_destruction_only_the_end_of_the_record_wakes_the_object(rig):
    rig.put(meta=GOING, status=bought(ours().name, ours().name))
    await rig.act(Verb.DESTROY)
    assert rig.inventory.ending == ["u1"]
    rig.put("u2", "other", meta=GOING, status=bought(ours("other", "u2").name))
    rig.client.fails = [CloudError(ErrorKind.UNAVAILABLE, "no", ambiguous=True)]
    await rig.act(Verb.DESTROY, "u2")
    assert rig.inventory.ending == ["u1"], "what was refused is to be looked at for whatever it shows"


@pytest.mark.parametrize(
    ("verb", "answer", "takes"),
    [
        (Verb.CREATE, VmRecord(), True),
        (Verb.CREATE, VmRecord(cluster="Hou1"), False),  # where the cloud put it must be recorded at once
        (Verb.STOP, None, True),
        (Verb.DELETE_SNAPSHOT, None, False),  # the VM goes as soon as they are gone
    ],
)
async def test_when_the_effect_of_an_accepted_call_is_waited_for(rig, verb, answer, takes):
    rig.put(status=None if verb is Verb.CREATE else bought(ours().name))
    rig.client.answers["create_server"] = answer
    await rig.act(verb, targets=("x",))
    assert rig.reconciler.has_delayed_effect(rig.reconciler.store.get("u1"), verb) is takes


async def test_the_listing_that_a_creation_needs_is_asked_for_before_the_finalizer_shows(rig):
    rig.put(meta={"finalizers": []})
    assert rig.inventory.wanted == [("u1", rig.clock.now)]
    assert rig.inventory.pending == {"u1": True}


@pytest.mark.parametrize(("verb", "fails"), [(Verb.DESTROY, False), (Verb.START, True)])
async def test_only_destroying_what_is_not_there_is_no_failure(rig, verb, fails):
    rig.put(meta=GOING)
    rig.client.fails = [CloudError(ErrorKind.NOT_FOUND, "not found")]
    assert (await rig.act(verb)).warning is fails
    assert ((await rig.facts()).attempt(verb).refusal is not None) is fails


async def test_memory_begins_with_the_first_view_and_ends_with_the_object(rig):
    rig.put()
    assert (await rig.facts()).history.first_seen == NOW
    rig.clock.now += 50
    await rig.act(Verb.CREATE)
    assert (await rig.facts()).attempt(Verb.CREATE) is not None
    rig.drop("u1", "train")
    assert rig.inventory.watched == {}
    rig.put()
    history = (await rig.facts()).history
    assert (history.first_seen, dict(history.attempts)) == (NOW + 50, {})


async def test_a_record_that_another_process_wrote_may_have_been_acted_on_until_it_is_seen(rig):
    rig.put()
    rig.clock.now += 100
    rig.put(status=bought(ours().name, state=OrderState.INTENDED))
    standing = (await rig.facts()).tracked
    assert (standing.state, standing.own, standing.unresolved, standing.since) == (OrderState.UNCLEAR, False, True, NOW + 100)
    rig.clock.now += 5
    rig.put(status=bought(ours().name, state=OrderState.INTENDED), meta={"annotations": {"gpucloud.dev/paused": "true"}})
    assert (await rig.facts()).tracked.since == NOW + 100, "seen again is not seen anew"


async def test_a_record_of_our_own_is_no_other_processs(rig):
    stored = rig.put()
    await rig.facts()
    order = an_order(ours().name, OrderState.INTENDED, id="mine")
    status = stored.status.model_copy(update={"order": order})
    rig.reconciler.before_recording("u1", status)
    rig.put(status=status.model_dump(mode="json", by_alias=True, exclude_none=True))
    facts = await rig.facts()
    assert (facts.tracked.state, facts.tracked.recorded) == (OrderState.INTENDED, NOW)
    assert facts.never_created


FROM_SNAPSHOT = {"image": {"snapshotRef": {"name": "golden"}}}


async def test_a_snapshot_that_vanishes_while_its_vm_is_being_bought_is_named_all_the_same(rig):
    """Its object may go at once under Retain, between gathering and sending: the VM must not get the usual disk."""
    name = external_name("golden", "u-golden", TAG)
    rig.reconcilers.put("GpuSnapshot", "golden", status=bought(name) | {"snapshotId": name})
    rig.put(spec=FROM_SNAPSHOT)
    facts = await rig.intend()
    rig.reconcilers.drop("GpuSnapshot", "golden")
    await rig.reconciler.act(facts, Plan(action=Verb.CREATE))
    ((_, body),) = rig.client.calls
    assert body.snapshot_name == name


async def test_the_accounts_defaults_go_into_the_order(rig):
    session = rig.reconcilers.account(defaults=AccountDefaults(operating_system="ubuntu", resource_pool="reserved"))
    rig.put()
    await rig.act(Verb.CREATE)
    assert rig.client.calls == []
    ((_, body),) = session.client.calls
    assert (body.operating_system_image, body.rpool) == ("ubuntu", "reserved")
