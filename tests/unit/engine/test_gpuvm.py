"""The GpuVM's room: which facts are gathered, whose claim counts, what is sent, what is remembered."""

import pytest

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.models import SnapshotRecord, VmRecord
from gpucloud.engine.cloud.cluster_records import EVERYTHING
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.gpucloudaccount import AccountDefaults
from gpucloud.reconcile.facts import Absent, Present, Unknown, UnknownReason, Verb
from gpucloud.reconcile.naming import Identity, external_name
from gpucloud.reconcile.plan import Plan
from gpucloud.reconcile.unreadable import Unreadable
from support.builders import TAG, an_order
from support.fakes import GOING

NOW = 1000.0


@pytest.fixture
def rig(reconcilers):
    return Rig(reconcilers)


class Rig:
    """The GpuVM's room among the others, over the operator's own account."""

    def __init__(self, reconcilers):
        self.reconcilers, self.reconciler = reconcilers, reconcilers.vms
        self.clock, self.kube, self.client, self.inventory = (
            reconcilers.clock,
            reconcilers.kube,
            reconcilers.session.client,
            reconcilers.session.vms,
        )

    def put(self, uid="u1", name="train", **more):
        return self.reconcilers.put("GpuVM", name, uid=uid, **more)

    def drop(self, uid, name):
        self.reconcilers.drop("GpuVM", name, uid=uid)

    async def facts(self, uid="u1"):
        return await self.reconcilers.facts("GpuVM", uid=uid)

    async def act(self, verb, uid="u1", targets=()):
        facts = await (self.intend(uid) if verb is Verb.CREATE else self.facts(uid))
        return await self.reconciler.act(facts, Plan(action=verb, targets=targets))

    async def intend(self, uid="u1"):
        return await self.reconcilers.intend("GpuVM", uid=uid)


def ours(name="train", uid="u1"):
    return Identity("Msc1", "acme", external_name(name, uid, TAG))


def bought(name, vm_id=None, state=OrderState.SEEN):
    found = {"order": an_order(name, state).model_dump(mode="json", by_alias=True), "observedGeneration": 1}
    return found | ({"vmId": vm_id} if vm_id else {})


FROM_SECRET = {"sshKeys": [], "sshKeysFrom": [{"secretKeyRef": {"name": "keys", "key": "k"}}]}


# --- gathering


async def test_what_may_be_bought_costs_its_secrets_and_its_namespace(rig):
    rig.put(spec=FROM_SECRET)
    facts = await rig.facts()
    assert rig.kube.reads == [("secrets", "team", "keys"), ("namespaces", "team")]
    assert facts.keys.trouble is not None
    assert facts.price_per_hour == "2.05"


@pytest.mark.parametrize("why", ["present", "seen", "deleting", "blind"])
async def test_nothing_is_read_when_nothing_can_be_bought(rig, why):
    name = ours().name
    more = {
        "seen": {"status": bought(name, vm_id=name)},
        "deleting": {"meta": {"deletionTimestamp": "2026-01-01T00:00:00Z"}},
    }.get(why, {})
    rig.put(spec=FROM_SECRET, **more)
    if why == "present":
        rig.inventory.seen[ours()] = Present(VmRecord(id=name), NOW)
    if why == "blind":
        rig.inventory.seen[ours()] = Unknown(NOW, UnknownReason.UNREACHABLE)
    await rig.facts()
    assert rig.kube.reads == []


async def test_a_namespace_is_asked_once_for_many(rig):
    for number in range(20):
        rig.put(f"u{number}", f"vm{number}")
        await rig.facts(f"u{number}")
    assert rig.kube.reads == [("namespaces", "team")]
    rig.clock.now += 6
    await rig.facts("u0")
    assert len(rig.kube.reads) == 2


async def test_a_spec_that_cannot_be_read_is_told_as_such(rig):
    rig.put(spec={"powerState": "Sleeping"})
    facts = await rig.facts()
    assert isinstance(facts, Unreadable)
    assert rig.reconciler.decide(facts).action is None
    with pytest.raises(TypeError):
        await rig.reconciler.act(facts, Plan(action=Verb.DESTROY))


async def test_accept_absence_is_handed_on(rig):
    rig.put(meta={"annotations": {"gpucloud.dev/accept-absence": "2026-01-01T00:16:40Z"}})
    await rig.facts()
    assert rig.inventory.accepted == [NOW]


# --- claims


def named(name="shared"):
    return {"vmName": name}


SHARED = Identity("Msc1", "acme", "shared")
FIRST, SECOND = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


async def owners(rig):
    return {uid: (await rig.facts(uid)).owner for uid in ("u1", "u2")}


async def test_the_older_of_two_claimants_owns(rig):
    rig.put("u1", "young", spec=named(), meta={"creationTimestamp": SECOND})
    rig.put("u2", "old", spec=named(), meta={"creationTimestamp": FIRST})
    assert await owners(rig) == {"u1": "'old'", "u2": None}


async def test_two_spellings_of_a_cluster_are_one_claim(rig):
    """Or the second would order, or destroy, what is the first's."""
    rig.put("u1", "young", spec=named() | {"cluster": "msc1"}, meta={"creationTimestamp": SECOND})
    rig.put("u2", "old", spec=named(), meta={"creationTimestamp": FIRST})
    assert await owners(rig) == {"u1": "'old'", "u2": None}
    rig.drop("u2", "old")
    assert (await rig.facts("u1")).owner is None


async def test_the_one_with_the_recorded_order_owns_before_the_older(rig):
    rig.put("u1", "young", spec=named(), meta={"creationTimestamp": SECOND}, status=bought("shared"))
    rig.put("u2", "old", spec=named(), meta={"creationTimestamp": FIRST})
    assert await owners(rig) == {"u1": None, "u2": "'young'"}


async def test_an_order_for_another_name_gives_no_claim(rig):
    rig.put("u1", "young", spec=named(), meta={"creationTimestamp": SECOND}, status=bought("elsewhere"))
    rig.put("u2", "old", spec=named(), meta={"creationTimestamp": FIRST})
    assert await owners(rig) == {"u1": "'old'", "u2": None}


async def test_the_same_second_is_decided_all_the_same(rig):
    rig.put("u1", "a", spec=named())
    rig.put("u2", "b", spec=named())
    found = await owners(rig)
    assert sorted(owner is None for owner in found.values()) == [False, True]


async def test_one_name_in_two_vpcs_is_no_conflict(rig):
    rig.put("u1", "a", spec=named())
    rig.put("u2", "b", spec=named() | {"vpc": "acme-train"})
    assert await owners(rig) == {"u1": None, "u2": None}


async def test_when_the_owner_goes_the_other_is_woken_and_owns(rig):
    rig.put("u1", "a", spec=named(), meta={"creationTimestamp": FIRST})
    rig.put("u2", "b", spec=named(), meta={"creationTimestamp": SECOND})
    rig.reconcilers.quiet()
    rig.drop("u1", "a")
    assert rig.reconcilers.woken == ["u2"]
    assert (await rig.facts("u2")).owner is None


# --- lookalikes


async def test_a_vm_of_our_tag_and_name_that_nobody_claims_is_a_lookalike(rig):
    rig.put()
    stray = external_name("train", "an-older-uid", TAG)
    place = ("Msc1", "acme")
    rig.inventory.listed = [
        (place, stray),
        (place, external_name("train", "x", "tagbb")),  # another installation's
        (place, external_name("train-2", "x", TAG)),  # another object's
        (place, f"train-{TAG}-x"),  # no fingerprint
        (("Msc1", "acme-train"), external_name("train", "y", TAG)),  # another VPC's
    ]
    assert (await rig.facts()).lookalikes == (stray,)


async def test_a_claimed_vm_is_no_lookalike(rig):
    rig.put("u1")
    rig.put("u2", meta={"namespace": "others"})
    rig.inventory.listed = [(("Msc1", "acme"), external_name("train", "u2", TAG))]
    assert (await rig.facts("u1")).lookalikes == ()


async def test_no_lookalikes_for_a_recorded_order(rig):
    rig.put(status=bought(ours().name))
    rig.inventory.listed = [(("Msc1", "acme"), external_name("train", "older", TAG))]
    assert (await rig.facts()).lookalikes == ()


async def test_a_vm_that_was_bought_before_its_object_chose_a_name_is_a_lookalike(rig):
    """Somebody emptied the status after the order, and then set vmName: a second VM would be bought (seed 976158)."""
    rig.put(spec=named())
    rig.inventory.seen[SHARED] = Absent(NOW, NOW, NOW)
    rig.inventory.listed = [(("Msc1", "acme"), ours().name)]
    assert (await rig.facts()).lookalikes == (ours().name,)


# --- what a listing should show


def test_what_a_listing_should_show(rig):
    rig.put("never", "never")
    for uid in ("seen", "lost", "going"):
        name = external_name(uid, uid, TAG)
        state = {"lost": OrderState.LOST, "going": OrderState.DESTROYING}.get(uid, OrderState.SEEN)
        rig.put(uid, uid, status=bought(name, name, state))
    rig.put("elsewhere", "elsewhere", spec={"cluster": "Hou1"}, status=bought("x", "x"))
    assert rig.inventory.expected("Msc1") == {ours("seen", "seen")}


async def test_what_we_destroyed_is_not_expected(rig):
    rig.put(status=bought(ours().name, ours().name))
    assert rig.inventory.expected("Msc1") == {ours()}
    await rig.act(Verb.DESTROY)
    assert rig.inventory.expected("Msc1") == set()


# --- acting and remembering


@pytest.mark.parametrize(
    ("verb", "call"), [(Verb.START, "start_server"), (Verb.STOP, "stop_server"), (Verb.DESTROY, "destroy_server")]
)
async def test_calls_name_the_vm_fully(rig, verb, call):
    rig.put()
    event = await rig.act(verb)
    assert rig.client.calls == [(call, {"id": ours().name, "namespace": "acme", "cluster": "Msc1"})]
    assert not event.warning
    assert ours().name in event.note


@pytest.mark.parametrize(
    ("verb", "call"), [(Verb.START, "start_server"), (Verb.STOP, "stop_server"), (Verb.DESTROY, "destroy_server")]
)
async def test_calls_name_the_cluster_as_the_record_spells_it(rig, verb, call):
    rig.put()
    rig.inventory.seen[ours()] = Present(VmRecord(id=ours().name, namespace="acme", cluster="MSC1", status="ONLINE"), NOW)
    await rig.act(verb)
    assert rig.client.calls == [(call, {"id": ours().name, "namespace": "acme", "cluster": "MSC1"})]


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
    rig.put(status=bought(ours().name, ours().name))
    await rig.act(Verb.DESTROY)
    assert rig.inventory.ending == ["u1"]
    rig.put("u2", "other", status=bought(ours("other", "u2").name))
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


async def test_destroying_what_is_not_there_is_no_failure(rig):
    rig.put()
    rig.client.fails = [CloudError(ErrorKind.NOT_FOUND, "not found")]
    event = await rig.act(Verb.DESTROY)
    assert not event.warning
    assert (await rig.facts()).attempt(Verb.DESTROY).refusal is None


async def test_starting_what_is_not_there_is_a_failure(rig):
    rig.put()
    rig.client.fails = [CloudError(ErrorKind.NOT_FOUND, "not found")]
    assert (await rig.act(Verb.START)).warning


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


async def test_every_gathering_offers_an_order_of_its_own(rig):
    rig.put()
    assert (await rig.facts()).nonce != (await rig.facts()).nonce


def test_the_inventory_is_told_what_a_plan_waits_for(rig):
    rig.put()
    rig.inventory.as_of = NOW - 1
    rig.reconciler.requeue_after("u1", Plan(pending=True, refresh_after=NOW))
    rig.reconciler.requeue_after("u1", Plan(refresh_after=NOW + 9))  # the loop wakes it then
    assert rig.inventory.pending == {"u1": False}
    assert rig.inventory.looks == [("u1", NOW)]


# --- snapshots that go with the VM

GOES = {"meta": GOING, "spec": {"deletion": {"snapshots": "Delete"}}}
WITH_ORDER = {"status": bought(ours().name, ours().name)}
INSIDE = Identity("Msc1", "acme", EVERYTHING)


def test_snapshots_are_watched_only_for_a_deletion_that_takes_them(rig):
    snapshots = rig.reconcilers.session.snapshots
    rig.put(spec=GOES["spec"])
    assert snapshots.watched == {}
    rig.put(meta=GOING)
    assert snapshots.watched == {}
    rig.put(**GOES)
    assert snapshots.watched == {"u1": INSIDE}
    rig.put(meta=GOING, spec={"deletion": {"snapshots": "Keep"}})
    assert snapshots.watched == {}, "the owner has changed his mind"


async def test_which_snapshots_are_the_vms_and_which_of_them_may_go(rig):
    rig.put(**GOES, **WITH_ORDER)
    name = external_name("mine", "u-mine", TAG)
    rig.reconcilers.put("GpuSnapshot", "mine", status=bought(name) | {"snapshotId": name})
    records = (
        SnapshotRecord(id=name, source_name=ours().name),
        SnapshotRecord(id="by-hand", source_name=ours().name),
        SnapshotRecord(id="of-nobody-knows"),
        SnapshotRecord(id="of-another-vm", source_name="another"),
    )
    rig.reconcilers.session.snapshots.inside = {("Msc1", "acme"): (records, NOW)}
    found = (await rig.facts()).snapshots
    assert {item.name: item.deletable for item in found.items} == {name: True, "by-hand": False, "of-nobody-knows": False}
    assert found.as_of == NOW


async def test_snapshots_that_cannot_be_listed_are_unknown(rig):
    rig.put(**GOES, **WITH_ORDER)
    unseen = Unknown(NOW, UnknownReason.FORBIDDEN)
    rig.reconcilers.session.snapshots.inside = {("Msc1", "acme"): unseen}
    assert (await rig.facts()).snapshots == unseen


def two_snapshots(rig, **more):
    """Their names in the cloud; ``more``: of the second."""
    names = [external_name(one, f"u-{one}", TAG) for one in ("a", "b")]
    for one, name, extra in zip(("a", "b"), names, ({}, more), strict=True):
        rig.reconcilers.put("GpuSnapshot", one, status=bought(name) | {"snapshotId": name}, **extra)
    return names


async def test_every_snapshot_is_told_to_go_though_one_has_gone_already(rig):
    rig.put(**GOES, **WITH_ORDER)
    names = two_snapshots(rig)
    rig.client.fails = [CloudError(ErrorKind.NOT_FOUND, "not found")]
    event = await rig.act(Verb.DELETE_SNAPSHOT, targets=tuple(names))
    assert [(call, where["id"]) for call, where in rig.client.calls] == [("delete_snapshot", name) for name in names]
    assert not event.warning
    assert ", ".join(map(repr, names)) in event.note


async def test_a_snapshot_that_is_refused_ends_the_call_as_a_failure(rig):
    rig.put(**GOES, **WITH_ORDER)
    names = two_snapshots(rig)
    rig.client.fails = [CloudError(ErrorKind.FORBIDDEN, "no permission")]
    assert (await rig.act(Verb.DELETE_SNAPSHOT, targets=tuple(names))).warning
    assert len(rig.client.calls) == 1


@pytest.mark.parametrize(
    "said", [{"spec": {"deletion": {"policy": "Retain"}}}, {"meta": {"annotations": {"gpucloud.dev/paused": "true"}}}]
)
async def test_a_snapshot_whose_owner_keeps_it_meanwhile_stays(rig, said):
    """Between the decision and its turn, which the others before it may delay for minutes."""
    rig.put(**GOES, **WITH_ORDER)
    names = two_snapshots(rig, **said)
    assert await rig.act(Verb.DELETE_SNAPSHOT, targets=tuple(names)) is None
    assert [where["id"] for _, where in rig.client.calls] == names[:1]


async def test_a_vm_whose_snapshot_is_kept_meanwhile_is_not_destroyed_with_it(rig):
    rig.put(**GOES, **WITH_ORDER)
    names = two_snapshots(rig)
    records = tuple(SnapshotRecord(id=name, source_name=ours().name) for name in names)
    rig.reconcilers.session.snapshots.inside = {("Msc1", "acme"): (records, NOW)}
    decided = await rig.facts()
    two_snapshots(rig, spec={"deletion": {"policy": "Retain"}})
    assert await rig.reconciler.act(decided, Plan(action=Verb.DESTROY)) is None
    assert rig.client.calls == []


async def test_the_vm_takes_its_snapshots_along_only_if_all_may_go(rig):
    name = external_name("mine", "u-mine", TAG)
    rig.reconcilers.put("GpuSnapshot", "mine", status=bought(name) | {"snapshotId": name})
    rig.put(**GOES, **WITH_ORDER)
    place, listed = ("Msc1", "acme"), [SnapshotRecord(id=name, source_name=ours().name)]
    rig.reconcilers.session.snapshots.inside = {place: (tuple(listed), NOW)}
    told = await rig.act(Verb.DESTROY)
    assert rig.client.calls[-1][1]["delete_snapshots"] is True
    assert told.note == f"Requested destruction of VM {ours().name!r} and its data, with its snapshots {name!r}."
    rig.reconcilers.session.snapshots.inside = {place: ((*listed, SnapshotRecord(id="by-hand")), NOW)}
    told = await rig.act(Verb.DESTROY)
    assert "delete_snapshots" not in rig.client.calls[-1][1]
    assert "snapshots" not in told.note


# --- a disk from a snapshot

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
