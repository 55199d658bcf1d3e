"""What the rooms of VM, VPC and snapshot share: whose credential looks, who is woken, and what one credential may conclude."""

import pytest

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.models import SnapshotRecord, VmRecord, VpcRecord
from gpucloud.engine.inventory import EVERYTHING, LEAST_SPACING_SECONDS
from gpucloud.kinds.common import OrderState
from gpucloud.reconcile.facts import Absent, Blindness, Dependency, Present, Readiness, Unknown, Verb
from gpucloud.reconcile.naming import Identity, external_name
from gpucloud.reconcile.plan import Plan
from support.builders import TAG, an_order
from support.fakes import GOING

NOW = 1000.0
ELDER, YOUNGER = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
SHARED = Identity("Msc1", "acme", "shared")


def bought(name, *, vpc="acme", tenancy=None, **more):
    """The status of something that was ordered under this name."""
    order = an_order(name, vpc=vpc).model_dump(mode="json", by_alias=True)
    return {"order": order, "observedGeneration": 1} | ({"tenancy": tenancy} if tenancy else {}) | more


def ours(name="train"):
    return Identity("Msc1", "acme", external_name(name, f"u-{name}", TAG))


# --- whose credential looks


async def test_an_object_moves_to_the_session_of_its_accounts_new_credential(rooms, a_session):
    old = rooms.account()
    rooms.put("GpuVM")
    new = rooms.account(session=a_session())
    await rooms.facts("GpuVM")
    assert (old.vms.watched, new.vms.watched, rooms.session.vms.watched) == ({}, {"u-train": ours()}, {})


async def test_the_default_account_that_appears_before_the_freeze_takes_the_object_over(rooms):
    rooms.put("GpuVM")
    assert rooms.session.vms.watched == {"u-train": ours()}
    new = rooms.account()
    await rooms.facts("GpuVM")
    assert (rooms.session.vms.watched, new.vms.watched) == ({}, {"u-train": ours()})


async def test_a_frozen_choice_stays_when_a_default_account_appears(rooms):
    rooms.put("GpuVM", status=bought(ours().name, account="(operator)"))
    new = rooms.account()
    facts = await rooms.facts("GpuVM")
    assert (facts.account.name, new.vms.watched) == ("(operator)", {})


async def test_without_an_account_nothing_is_watched_and_nothing_is_absent(rooms):
    rooms.accounts.own = None
    rooms.put("GpuVM")
    facts = await rooms.facts("GpuVM")
    assert (facts.found.cause, rooms.session.vms.watched) == (Blindness.NO_ACCOUNT, {})


async def test_an_account_that_loses_its_session_leaves_its_objects_blind_not_absent(rooms):
    session = rooms.account()
    rooms.put("GpuVM")
    rooms.account(trouble="its Secret is gone.")
    facts = await rooms.facts("GpuVM")
    assert facts.found.cause is Blindness.ACCOUNT
    assert "its Secret is gone." in facts.found.detail
    assert session.vms.watched == {}


async def test_nothing_is_sent_with_another_credential_than_the_one_that_looked(rooms, a_session):
    """The Secret is rotated between looking and sending: what one key showed is nothing for another to act upon."""
    old = rooms.account()
    rooms.put("GpuVM", status=bought(ours().name))
    facts = await rooms.facts("GpuVM")
    new = rooms.account(session=a_session())
    assert await rooms.vms.act(facts, Plan(action=Verb.CREATE)) is None
    assert (old.client.calls, new.client.calls) == ([], [])
    assert (await rooms.facts("GpuVM")).attempt(Verb.CREATE) is None, "and nothing is remembered as sent"


LEAVES = {"leaving": True}
BARRED = {"bar": Dependency("Secret 'key'", Readiness.LEAVING, account=True)}


@pytest.mark.parametrize("goes", [LEAVES, BARRED])
@pytest.mark.parametrize(("verb", "sent"), [(Verb.CREATE, False), (Verb.DESTROY, True)])
async def test_nothing_is_begun_with_what_goes_since_it_was_looked_at(rooms, goes, verb, sent):
    """The account, or its Secret, was deleted while the call waited: an order is taken back, an end is not."""
    session = rooms.account()
    rooms.put("GpuVM", status=bought(ours().name))
    facts = await rooms.facts("GpuVM")
    rooms.account(session=session, **goes)
    assert (await rooms.vms.act(facts, Plan(action=verb)) is not None) is sent
    assert bool(session.client.calls) is sent


@pytest.mark.parametrize("goes", [LEAVES, BARRED])
async def test_an_account_that_goes_while_the_apiserver_is_asked_is_seen_before_anything_is_decided(rooms, goes):
    session = rooms.account()
    rooms.put("GpuVM")

    async def meanwhile(facts, _stored, _seat):
        rooms.account(session=session, **goes)
        return facts

    rooms.vms.complete = meanwhile
    assert [need.readiness for need in (await rooms.facts("GpuVM")).needs] == [Readiness.LEAVING]


async def test_an_order_is_known_from_the_moment_its_record_is_written(rooms):
    """Until the apiserver's answer, the store does not show it; whoever frees a Secret must know it."""
    stored = rooms.put("GpuVM")
    facts = await rooms.facts("GpuVM")
    assert rooms.vms.order_of(stored) is None
    order = an_order(ours().name, OrderState.INTENDED)
    rooms.vms.recording("u-train", facts.status.model_copy(update={"order": order}))
    assert rooms.vms.order_of(stored) == order
    await rooms.facts("GpuVM")
    assert rooms.vms.order_of(stored) == order, "though the watch shows the status without it"
    rooms.drop("GpuVM")
    assert rooms.vms.order_of(stored) is None


async def test_what_was_taken_back_before_it_left_is_remembered_by_nobody(rooms):
    """The object says something else by now: what to do about that is decided anew, as if nothing had been tried."""
    rooms.put("GpuVM", status=bought(ours().name))
    facts = await rooms.facts("GpuVM")
    rooms.session.client.fails = [CloudError(ErrorKind.WITHDRAWN, "the caller took it back")]
    assert await rooms.vms.act(facts, Plan(action=Verb.CREATE)) is None
    assert (await rooms.facts("GpuVM")).attempt(Verb.CREATE) is None


async def test_users_of_a_session_are_those_who_watch_through_it(rooms):
    mine = rooms.account()
    rooms.put("GpuVM", "a")
    rooms.put("GpuVM", "b", meta={"namespace": "others"})
    assert (rooms.vms.users_of(mine), rooms.vms.users_of(rooms.session)) == (["u-a"], ["u-b"])


# --- which tenant may be missed by whom


async def seen_through(rooms, tenants, *, tenancy="acme", found=None, **more):
    rooms.session.learned.tenants = frozenset(tenants)
    rooms.put("GpuVM", status=bought(ours().name, vmId=ours().name, tenancy=tenancy), **more)
    if found is not None:
        rooms.session.vms.seen[ours()] = found
    return (await rooms.facts("GpuVM")).found


async def test_absence_is_believed_from_the_right_tenant(rooms):
    assert isinstance(await seen_through(rooms, {"acme"}), Absent)
    assert rooms.session.proofs == 0


@pytest.mark.parametrize(
    ("tenants", "found", "why"),
    [
        ({"other"}, None, "another tenant's valid key shows none of ours"),
        ({"other"}, Present(VmRecord(id="x", tenancy_name="other"), NOW), "a namesake of another tenant"),
        ({"acme"}, Present(VmRecord(id="x", tenancy_name="other"), NOW), "a namesake that our key may see too"),
    ],
)
async def test_another_tenants_view_is_no_view(rooms, tenants, found, why):
    seen = await seen_through(rooms, tenants, found=found)
    assert isinstance(seen, Unknown), why
    assert seen.cause is Blindness.TENANT


async def test_a_record_without_a_tenant_is_seen_all_the_same(rooms):
    assert isinstance(await seen_through(rooms, {"acme"}, found=Present(VmRecord(id="x"), NOW)), Present)


async def test_an_unproven_credential_is_proven_before_anything_is_missed(rooms):
    seen = await seen_through(rooms, ())
    assert (seen.cause, rooms.session.proofs) == (Blindness.UNREACHABLE, 1)
    rooms.session.proves = rooms.session.proving = False  # tried in vain
    assert (await rooms.facts("GpuVM")).found.cause is Blindness.TENANT


async def test_an_object_that_no_tenant_is_known_of_needs_no_proof(rooms):
    assert isinstance(await seen_through(rooms, (), tenancy=None), Absent)
    assert rooms.session.proofs == 0


def accepts(text):
    return {"meta": {"annotations": {"gpucloud.dev/accept-absence": text}}}


ACCEPTED = accepts("2026-01-01T00:16:40Z")  # NOW


def sought_in_vain(rooms):
    rooms.session.proves = False


async def test_a_person_may_say_that_what_is_missing_is_gone(rooms):
    sought_in_vain(rooms)
    assert isinstance(await seen_through(rooms, (), **ACCEPTED), Absent)
    assert rooms.session.proofs == 1, "whose the credential is was asked first"


async def test_whose_the_credential_is_is_found_out_before_a_person_is_believed(rooms):
    assert (await seen_through(rooms, (), **ACCEPTED)).cause is Blindness.UNREACHABLE


async def test_a_person_cannot_say_that_what_another_tenant_does_not_see_is_gone(rooms):
    """The history: with the annotation in force another tenant's key came, and the object went while its VM lived."""
    seen = await seen_through(rooms, {"other"}, **ACCEPTED)
    assert (seen.cause, "another" in str(seen.cause)) == (Blindness.TENANT, True)


async def test_a_credential_that_came_later_needs_a_later_word(rooms, a_session):
    """The Secret was rotated after the annotation was set; the new one shows nothing, perhaps since it is another tenant's."""
    rooms.account(session=a_session("https://cloud.example"))
    rooms.clock.now += 2
    new = a_session("https://cloud.example")
    new.proves = False
    rooms.account(session=new)
    assert (await seen_through(rooms, (), **ACCEPTED)).cause is Blindness.TENANT
    assert new.vms.accepted == [float("-inf")], "nor is anything believed that its listings doubt"
    rooms.put("GpuVM", status=bought(ours().name, vmId=ours().name, tenancy="acme"), **accepts("2026-01-01T00:16:42Z"))
    assert isinstance((await rooms.facts("GpuVM")).found, Absent)


async def test_a_session_that_others_used_before_is_a_new_credential_all_the_same(rooms, a_session):
    shared = a_session("https://cloud.example")
    shared.proves = False
    rooms.account("other", session=shared)
    rooms.account(session=a_session("https://cloud.example"))
    rooms.clock.now += 2
    rooms.account(session=shared)
    assert (await seen_through(rooms, (), **ACCEPTED)).cause is Blindness.TENANT


@pytest.mark.parametrize(
    ("text", "says"), [("true", "is 'true', which is no time such as"), ("2026-01-01T00:17:41Z", "lies ahead")]
)
async def test_what_is_no_time_that_was_accepts_nothing_and_says_what_to_write(rooms, text, says):
    sought_in_vain(rooms)
    seen = await seen_through(rooms, (), **accepts(text))
    assert seen.cause is Blindness.TENANT
    assert says in seen.detail
    assert "kubectl annotate gpuvm train --namespace=team --overwrite gpucloud.dev/accept-absence=$(date -u " in seen.detail


async def test_no_annotation_makes_another_tenants_thing_ours(rooms):
    seen = await seen_through(rooms, {"other"}, found=Present(VmRecord(id="x", tenancy_name="other"), NOW), **ACCEPTED)
    assert isinstance(seen, Unknown)


# --- claims over accounts


def claimants(rooms, mine, theirs):
    """One VM by name, through two accounts of one namespace."""
    for name, session in (("mine", mine), ("theirs", theirs)):
        rooms.account(name, session=session)
        born = ELDER if name == "mine" else YOUNGER
        rooms.put("GpuVM", name, spec={"vmName": "shared", "accountRef": {"name": name}}, meta={"creationTimestamp": born})


@pytest.mark.parametrize(
    ("mine", "theirs", "conflict"),
    [
        (("acme",), ("acme",), True),
        (("acme",), ("other",), False),
        (("acme",), (), True),  # not known: may be the same
        ((), (), True),
        (("acme", "other"), ("other",), True),
    ],
)
async def test_one_thing_one_owner_over_all_accounts_of_a_tenant(rooms, a_session, mine, theirs, conflict):
    url = "https://cloud.example"
    claimants(rooms, a_session(url, *mine), a_session(url, *theirs))
    assert (await rooms.facts("GpuVM", "mine")).owner is None
    assert (await rooms.facts("GpuVM", "theirs")).owner == ("'mine'" if conflict else None)


async def test_behind_another_endpoint_it_is_another_thing(rooms, a_session):
    claimants(rooms, a_session("https://one.example"), a_session("https://two.example"))
    assert (await rooms.facts("GpuVM", "theirs")).owner is None


@pytest.mark.parametrize(("namespace", "says"), [("team", "'elder'"), ("others", "in another namespace")])
async def test_an_owner_in_another_namespace_is_not_named(rooms, namespace, says):
    rooms.put("GpuVM", "elder", spec={"vmName": "shared"}, meta={"creationTimestamp": ELDER, "namespace": "team"})
    rooms.put("GpuVM", "young", spec={"vmName": "shared"}, meta={"creationTimestamp": YOUNGER, "namespace": namespace})
    facts = await rooms.facts("GpuVM", "young")
    assert facts.owner == says
    message = rooms.vms.decide(facts).status.conditions[0].message
    assert ("elder" in message) is (namespace == "team")


async def test_two_vpc_objects_of_one_vpc_have_one_owner_whatever_their_namespaces(rooms):
    rooms.put("GpuVpc", "elder", meta={"creationTimestamp": ELDER})
    rooms.put("GpuVpc", "young", meta={"creationTimestamp": YOUNGER, "namespace": "others"})
    assert (await rooms.facts("GpuVpc", "elder")).owner is None
    assert (await rooms.facts("GpuVpc", "young")).owner == "in another namespace"


async def test_who_gives_a_claim_up_wakes_the_second_in_line(rooms, a_session):
    """It moves behind another endpoint: the other's Conflict is over, and nothing else would tell it."""
    rooms.account("mine", session=a_session("https://one.example"))
    rooms.put("GpuVM", "elder", spec={"vmName": "shared", "accountRef": {"name": "mine"}}, meta={"creationTimestamp": ELDER})
    rooms.account("theirs", session=a_session("https://one.example"))
    rooms.put("GpuVM", "young", spec={"vmName": "shared", "accountRef": {"name": "theirs"}})
    rooms.account("mine", session=a_session("https://two.example"))
    rooms.quiet()
    await rooms.facts("GpuVM", "elder")
    assert rooms.woken == ["u-young"]


# --- who is woken


def test_a_change_wakes_its_dependents_once_and_nobody_else(rooms):
    rooms.put("GpuVM", "inside", spec={"vpc": None, "vpcRef": {"name": "net"}})
    rooms.put("GpuVM", "elsewhere", spec={"vpc": None, "vpcRef": {"name": "another"}})
    rooms.put("GpuVM", "stranger", spec={"vpc": None, "vpcRef": {"name": "net"}}, meta={"namespace": "others"})
    rooms.quiet()
    rooms.put("GpuVpc", "net")
    assert rooms.stirred == ["inside"]


def test_a_change_wakes_what_it_depends_on_only_while_that_is_being_deleted(rooms):
    rooms.put("GpuVpc", "net")
    rooms.quiet()
    rooms.put("GpuVM", "inside", spec={"vpc": None, "vpcRef": {"name": "net"}})
    assert rooms.stirred == []
    rooms.seen("GpuVpc", "net", meta=GOING)
    rooms.put("GpuVM", "inside", spec={"vpc": None, "vpcRef": {"name": "net"}})
    assert rooms.stirred == ["net"]


def test_an_end_wakes_who_waited_for_it(rooms):
    rooms.put("GpuVM", "source", meta=GOING)
    rooms.put("GpuVpc", "net", meta=GOING)
    rooms.seen("GpuSnapshot", "copy", spec={"vmRef": {"name": "source"}})
    rooms.drop("GpuSnapshot", "copy")
    assert sorted(set(rooms.stirred)) == ["net", "source"]


def test_an_end_wakes_its_dependents_too(rooms):
    rooms.put("GpuVM", "source")
    rooms.seen("GpuSnapshot", "copy", spec={"vmRef": {"name": "source"}})
    rooms.drop("GpuVM", "source")
    assert rooms.stirred == ["copy"]


@pytest.mark.parametrize(("meta", "woken"), [({}, []), (GOING, ["acct"])])
def test_an_account_that_waits_for_its_last_user_is_woken_by_its_end(rooms, meta, woken):
    rooms.objects.accounts.put(
        {"metadata": {"name": "default", "namespace": "team", "uid": "acct", "resourceVersion": "1"} | meta, "spec": {
            "secretRef": {"name": "key"}}}
    )  # fmt: skip
    rooms.seen("GpuVM")
    rooms.drop("GpuVM")
    assert rooms.woken == woken


async def test_what_is_forgotten_leaves_no_watch_no_claim_no_reference_and_no_memory(rooms):
    rooms.put("GpuVpc", "net", status=bought("acme-train", vpc="acme-train", vpcId="7"), meta=GOING)
    rooms.put("GpuVM", spec={"vpc": None, "vpcRef": {"name": "net"}}, status=bought(ours().name))
    facts = await rooms.facts("GpuVM")
    await rooms.vms.act(facts, Plan(action=Verb.CREATE))
    rooms.drop("GpuVpc", "net")
    rooms.drop("GpuVM")
    assert [inventory.watched for inventory in rooms.session.inventories.values()] == [{}, {}, {}]
    rooms.quiet()
    rooms.put("GpuVpc", "net")
    assert rooms.stirred == []
    rooms.put("GpuVM", uid="u-train")
    assert not (await rooms.facts("GpuVM")).memory.attempts


# --- what else is watched, and who is asked for a look


async def test_a_deleting_vpc_watches_all_that_is_in_it_until_it_is_gone(rooms):
    session, inside = rooms.session, Identity("Msc1", "acme-train", EVERYTHING)
    rooms.put("GpuVpc", "net", status=bought("acme-train", vpc="acme-train", vpcId="7"))
    assert (session.vms.watched, session.snapshots.watched) == ({}, {})
    rooms.put("GpuVpc", "net", status=bought("acme-train", vpc="acme-train", vpcId="7"), meta=GOING)
    assert session.vms.watched == session.snapshots.watched == {"u-net": inside}
    rooms.drop("GpuVpc", "net")
    assert (session.vms.watched, session.snapshots.watched, session.vpcs.watched) == ({}, {}, {})


async def test_a_snapshot_watches_its_vm_until_it_is_taken(rooms):
    rooms.put("GpuVM", "train", status=bought(ours().name, vmId=ours().name))
    rooms.put("GpuSnapshot", "copy")
    assert rooms.session.vms.watched == {"u-train": ours(), "u-copy": ours()}
    rooms.put("GpuSnapshot", "copy", status={"snapshotId": "x"})
    assert rooms.session.vms.watched == {"u-train": ours()}


def three_eyed(rooms):
    rooms.put("GpuVpc", "net", status=bought("acme-train", vpc="acme-train", vpcId="7"), meta=GOING)
    return rooms.session


def test_only_those_that_have_not_looked_are_asked_to_look(rooms):
    """One that has looked would wake the object at once, and again, until the last has looked too: a loop without a pause."""
    session = three_eyed(rooms)
    session.vpcs.as_of, session.vms.as_of, session.snapshots.as_of = NOW - 10, NOW, NOW
    rooms.vpcs.attend("u-net", Plan(look_after=NOW - 5))
    assert [bool(it.looks) for it in (session.vpcs, session.vms, session.snapshots)] == [True, False, False]


def test_when_all_have_looked_it_is_decided_again_a_little_later_and_nobody_looks(rooms):
    """At once would be a circle, should the decision come from those very looks."""
    session = three_eyed(rooms)
    assert rooms.vpcs.attend("u-net", Plan(look_after=NOW - 5)) == NOW + LEAST_SPACING_SECONDS
    assert sum(len(it.looks) for it in session.inventories.values()) == 0


def test_all_eyes_hurry_while_something_is_pending(rooms):
    session = three_eyed(rooms)
    rooms.vpcs.attend("u-net", Plan(pending=True))
    assert [it.pending for it in session.inventories.values()] == [{"u-net": True}] * 3


# --- what a listing should show


def test_what_is_expected_is_expected_of_the_session_that_watches_it(rooms):
    mine = rooms.account()
    rooms.put("GpuVM", "a", status=bought(ours("a").name, vmId=ours("a").name))
    rooms.put("GpuVM", "b", status=bought(ours("b").name, vmId=ours("b").name), meta={"namespace": "others"})
    assert mine.vms.expected("Msc1") == {ours("a")}
    assert rooms.session.vms.expected("Msc1") == {ours("b")}
    assert mine.vms.expected("Hou1") == set()


@pytest.mark.parametrize(
    ("kind", "holds", "status", "verb", "found"),
    [
        ("GpuVpc", "vpcs", bought("acme-train", vpc="acme-train", vpcId="7"), Verb.DESTROY_VPC, VpcRecord(id="7")),
        (
            "GpuSnapshot",
            "snapshots",
            bought(external_name("train", "u-train", TAG), snapshotId="x"),
            Verb.DELETE_SNAPSHOT,
            SnapshotRecord(id="x"),
        ),
    ],
)
async def test_what_we_destroyed_is_not_expected(rooms, kind, holds, status, verb, found):
    rooms.put(kind, status=status)
    inventory = rooms.session.inventories[holds]
    (here,) = inventory.expected("Msc1")
    inventory.seen[here] = Present(found, NOW)
    await rooms.by_kind[kind].act(await rooms.facts(kind), Plan(action=verb))
    assert inventory.expected("Msc1") == set()


# --- before everything is known


async def test_before_the_first_sync_nobody_is_seated_on_the_operators_own_by_default(make_rooms):
    """The watch shows kinds in any order: the namespace's account may be known a moment later, and what is frozen stays."""
    rooms = make_rooms(synced=False)
    rooms.put("GpuVpc", spec={"adoption": "IfExists"})
    rooms.session.vpcs.seen[Identity("Msc1", "acme-train", "acme-train")] = Present(VpcRecord(id="7", name="acme-train"), NOW)
    plan = rooms.vpcs.decide(await rooms.facts("GpuVpc"))
    assert plan.status is None or plan.status.account is None


@pytest.mark.parametrize("kind", ["GpuVM", "GpuVpc"])
@pytest.mark.parametrize("meta", [{}, GOING])
async def test_before_the_first_sync_an_object_waits_without_asking_for_looks(make_rooms, kind, meta):
    """The inventories have looked already; a plan that asks them again is answered at once, again and again."""
    rooms = make_rooms(synced=False)
    rooms.put(kind, meta=meta)
    plan = rooms.by_kind[kind].decide(await rooms.facts(kind))
    assert plan.look_after is None


async def test_where_the_cloud_refuses_to_list_its_clusters_are_asked_for(rooms):
    """So that the message can name them; the next look finds them."""
    await seen_through(rooms, (), found=Unknown(NOW, Blindness.REJECTED, "no such cluster"))
    assert (await rooms.facts("GpuVM")).account.clusters == ("Hou1", "Msc1")
