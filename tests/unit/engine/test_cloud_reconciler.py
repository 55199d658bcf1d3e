"""What the rooms of VM, VPC and snapshot share: whose credential looks, who is woken, and what one credential may conclude."""

from dataclasses import replace

import pytest

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.models import SnapshotRecord, VmRecord, VpcRecord
from gpucloud.engine.cloud.cluster_records import EVERYTHING
from gpucloud.engine.cloud.inventory import LEAST_SPACING_SECONDS
from gpucloud.engine.kinds.request import Gathered
from gpucloud.kinds.common import OrderState
from gpucloud.reconcile.facts import Absent, Dependency, Present, Readiness, Unknown, UnknownReason, Verb
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


async def test_an_object_moves_to_the_session_of_its_accounts_new_credential(reconcilers, a_session):
    old = reconcilers.account()
    reconcilers.put("GpuVM")
    new = reconcilers.account(session=a_session())
    await reconcilers.facts("GpuVM")
    assert (old.vms.watched, new.vms.watched, reconcilers.session.vms.watched) == ({}, {"u-train": ours()}, {})


async def test_the_default_account_that_appears_before_the_freeze_takes_the_object_over(reconcilers):
    reconcilers.put("GpuVM")
    assert reconcilers.session.vms.watched == {"u-train": ours()}
    new = reconcilers.account()
    await reconcilers.facts("GpuVM")
    assert (reconcilers.session.vms.watched, new.vms.watched) == ({}, {"u-train": ours()})


async def test_a_frozen_choice_stays_when_a_default_account_appears(reconcilers):
    reconcilers.put("GpuVM", status=bought(ours().name, account="(operator)"))
    new = reconcilers.account()
    facts = await reconcilers.facts("GpuVM")
    assert (facts.account.name, new.vms.watched) == ("(operator)", {})


async def test_without_an_account_nothing_is_watched_and_nothing_is_absent(reconcilers):
    reconcilers.accounts.own = None
    reconcilers.put("GpuVM")
    facts = await reconcilers.facts("GpuVM")
    assert (facts.found.cause, reconcilers.session.vms.watched) == (UnknownReason.NO_ACCOUNT, {})


async def test_an_account_that_loses_its_session_leaves_its_objects_blind_not_absent(reconcilers):
    session = reconcilers.account()
    reconcilers.put("GpuVM")
    reconcilers.account(trouble="its Secret is gone.")
    facts = await reconcilers.facts("GpuVM")
    assert facts.found.cause is UnknownReason.ACCOUNT
    assert "its Secret is gone." in facts.found.detail
    assert session.vms.watched == {}


async def test_nothing_is_sent_with_another_credential_than_the_one_that_looked(reconcilers, a_session):
    """The Secret is rotated between looking and sending: what one key showed is nothing for another to act upon."""
    old = reconcilers.account()
    reconcilers.put("GpuVM", status=bought(ours().name))
    facts = await reconcilers.facts("GpuVM")
    new = reconcilers.account(session=a_session())
    assert await reconcilers.vms.act(facts, Plan(action=Verb.CREATE)) is None
    assert (old.client.calls, new.client.calls) == ([], [])
    assert (await reconcilers.facts("GpuVM")).attempt(Verb.CREATE) is None, "and nothing is remembered as sent"


@pytest.mark.parametrize("coming", [True, False])
async def test_a_new_object_is_woken_by_the_listing_that_it_needs_if_one_is_about_to_come(reconcilers, coming):
    reconcilers.session.vms.coming = coming
    reconcilers.clock.now += 1
    new = reconcilers.put("GpuVM", meta={"finalizers": []})
    reconcilers.session.vms.looks.clear()
    assert reconcilers.vms.defers_to_listing(new) is coming
    assert reconcilers.session.vms.looks == ([("u-train", reconcilers.clock.now)] if coming else [])


async def test_an_object_that_was_looked_at_or_had_our_finalizer_or_goes_defers_to_no_listing(reconcilers):
    reconcilers.clock.now += 1
    assert not reconcilers.vms.defers_to_listing(reconcilers.put("GpuVM", "old"))
    new = reconcilers.put("GpuVM", meta={"finalizers": []})
    assert not reconcilers.vms.defers_to_listing(replace(new, meta=replace(new.meta, deleting=True)))
    await reconcilers.facts("GpuVM")
    assert not reconcilers.vms.defers_to_listing(new)
    other = reconcilers.put("GpuVM", "other", meta={"finalizers": []})
    reconcilers.session.vms.as_of = reconcilers.clock.now
    assert not reconcilers.vms.defers_to_listing(other), "the listing is there"


async def test_no_view_is_kept_beside_the_stores_unless_a_call_is_to_be_sent(reconcilers):
    reconcilers.put("GpuVM")
    gathered = reconcilers.vms.store.entries.part("u-train", Gathered)
    for action, kept in ((Verb.CREATE, True), (None, False)):
        await reconcilers.facts("GpuVM")
        reconcilers.vms.requeue_after("u-train", Plan(action=action))
        assert (gathered.stored is not None) is kept


LEAVES = {"deleting": True}
BARRED = {"blocker": Dependency("Secret 'key'", Readiness.DELETING, account=True)}


@pytest.mark.parametrize("goes", [LEAVES, BARRED])
@pytest.mark.parametrize(("verb", "sent"), [(Verb.CREATE, False), (Verb.DESTROY, True)])
async def test_nothing_is_begun_with_what_goes_since_it_was_looked_at(reconcilers, goes, verb, sent):
    """The account, or its Secret, was deleted while the call waited: an order is taken back, an end is not."""
    session = reconcilers.account()
    reconcilers.put("GpuVM", status=bought(ours().name) if verb is Verb.DESTROY else None)
    facts = await (reconcilers.facts if verb is Verb.DESTROY else reconcilers.intend)("GpuVM")
    reconcilers.account(session=session, **goes)
    assert (await reconcilers.vms.act(facts, Plan(action=verb)) is not None) is sent
    assert bool(session.client.calls) is sent


@pytest.mark.parametrize(("shown", "sent"), [(Present(VmRecord(), NOW), False), (Absent(NOW, NOW), True)])
async def test_a_name_that_is_taken_while_the_order_waits_is_not_ordered(reconcilers, shown, sent):
    """Simulated world, seed 800556: an order was repeated after a login, although listings showed a stranger's VM by then.

    The cloud refused it with a 500, which may hide a success, so the stranger's VM passed for what was ordered.
    """
    reconcilers.put("GpuVM", spec={"vmName": "main"})
    here = (await reconcilers.facts("GpuVM")).identity
    reconcilers.session.vms.seen[here] = Absent(NOW, NOW, NOW)
    facts = await reconcilers.intend("GpuVM")
    reconcilers.session.vms.seen[here] = shown
    assert (await reconcilers.vms.act(facts, Plan(action=Verb.CREATE)) is not None) is sent
    assert bool(reconcilers.session.client.calls) is sent


@pytest.mark.parametrize(("meta", "state"), [({}, OrderState.UNCLEAR), (GOING, OrderState.OVERDUE)])
async def test_nothing_is_ordered_again_for_an_object_that_goes(reconcilers, meta, state):
    """An overdue order stays one: whoever deletes its object is told that it may be billed."""
    status = bought(ours().name)
    status["order"] |= {"state": "Overdue"}
    asks = {"annotations": {"gpucloud.dev/reconcile-requested-at": "now"}}
    reconcilers.put("GpuVM", status=status, meta=asks | meta)
    assert (await reconcilers.facts("GpuVM")).state is state


async def test_it_is_looked_for_where_the_cloud_put_it_before_a_status_says_so(reconcilers):
    """Simulated world, seed 951856: no status could be written; it was called overdue under its own name, and leaked."""
    reconcilers.put("GpuVM")
    facts = await reconcilers.intend("GpuVM")
    reconcilers.session.client.answers["create_server"] = VmRecord(id="srv-1")
    await reconcilers.vms.act(facts, Plan(action=Verb.CREATE))
    assert (await reconcilers.facts("GpuVM")).identity.name == "srv-1"
    assert reconcilers.session.vms.watched["u-train"].name == "srv-1"


@pytest.mark.parametrize("goes", [LEAVES, BARRED])
async def test_an_account_that_goes_while_the_apiserver_is_asked_is_seen_before_anything_is_decided(reconcilers, goes):
    session = reconcilers.account()
    reconcilers.put("GpuVM")

    async def meanwhile(facts, _stored, _seat):
        reconcilers.account(session=session, **goes)
        return facts

    reconcilers.vms.complete = meanwhile
    assert [need.readiness for need in (await reconcilers.facts("GpuVM")).needs] == [Readiness.DELETING]


async def test_an_order_is_known_from_the_moment_its_record_is_written(reconcilers):
    """Until the apiserver's answer, the store does not show it; whoever frees a Secret must know it."""
    stored = reconcilers.put("GpuVM")
    facts = await reconcilers.facts("GpuVM")
    assert reconcilers.vms.order_of(stored) is None
    order = an_order(ours().name, OrderState.INTENDED)
    reconcilers.vms.before_recording("u-train", facts.status.model_copy(update={"order": order}))
    assert reconcilers.vms.order_of(stored) == order
    await reconcilers.facts("GpuVM")
    assert reconcilers.vms.order_of(stored) == order, "though the watch shows the status without it"
    reconcilers.drop("GpuVM")
    assert reconcilers.vms.order_of(stored) is None


async def test_what_was_taken_back_before_it_left_is_remembered_by_nobody(reconcilers):
    """The object says something else by now: what to do about that is decided anew, as if nothing had been tried."""
    reconcilers.put("GpuVM")
    facts = await reconcilers.intend("GpuVM")
    reconcilers.session.client.fails = [CloudError(ErrorKind.WITHDRAWN, "the caller took it back")]
    assert await reconcilers.vms.act(facts, Plan(action=Verb.CREATE)) is None
    assert (await reconcilers.facts("GpuVM")).attempt(Verb.CREATE) is None


async def test_users_of_a_session_are_those_who_watch_through_it(reconcilers):
    mine = reconcilers.account()
    reconcilers.put("GpuVM", "a")
    reconcilers.put("GpuVM", "b", meta={"namespace": "others"})
    assert (reconcilers.vms.watchers_of(mine), reconcilers.vms.watchers_of(reconcilers.session)) == (["u-a"], ["u-b"])


# --- which tenant may be missed by whom


async def seen_through(reconcilers, tenants, *, tenancy="acme", found=None, **more):
    reconcilers.session.learned.tenants = frozenset(tenants)
    reconcilers.put("GpuVM", status=bought(ours().name, vmId=ours().name, tenancy=tenancy), **more)
    if found is not None:
        reconcilers.session.vms.seen[ours()] = found
    return (await reconcilers.facts("GpuVM")).found


async def test_absence_is_believed_from_the_right_tenant(reconcilers):
    assert isinstance(await seen_through(reconcilers, {"acme"}), Absent)
    assert reconcilers.session.proofs == 0


@pytest.mark.parametrize(
    ("tenants", "found", "why"),
    [
        ({"other"}, None, "another tenant's valid key shows none of ours"),
        ({"other"}, Present(VmRecord(id="x", tenancy_name="other"), NOW), "a namesake of another tenant"),
        ({"acme"}, Present(VmRecord(id="x", tenancy_name="other"), NOW), "a namesake that our key may see too"),
    ],
)
async def test_another_tenants_view_is_no_view(reconcilers, tenants, found, why):
    seen = await seen_through(reconcilers, tenants, found=found)
    assert isinstance(seen, Unknown), why
    assert seen.cause is UnknownReason.TENANT


async def test_a_record_without_a_tenant_is_seen_all_the_same(reconcilers):
    assert isinstance(await seen_through(reconcilers, {"acme"}, found=Present(VmRecord(id="x"), NOW)), Present)


async def test_an_unproven_credential_is_proven_before_anything_is_missed(reconcilers):
    seen = await seen_through(reconcilers, ())
    assert (seen.cause, reconcilers.session.proofs) == (UnknownReason.UNREACHABLE, 1)
    reconcilers.session.proves = reconcilers.session.proving = False  # tried in vain
    assert (await reconcilers.facts("GpuVM")).found.cause is UnknownReason.TENANT


async def test_an_object_that_no_tenant_is_known_of_needs_no_proof(reconcilers):
    assert isinstance(await seen_through(reconcilers, (), tenancy=None), Absent)
    assert reconcilers.session.proofs == 0


async def test_the_tenant_of_what_was_seen_is_known_before_a_status_says_it(reconcilers, a_session):
    """Simulated world, seed 110825: listings lagged; before the status told of the VM, the Secret held another tenant's key."""
    reconcilers.account(session=a_session("https://cloud.example", "acme"))
    reconcilers.put("GpuVM", status=bought(ours().name))
    reconcilers.accounts.get("team", "default").session.vms.seen[ours()] = Present(VmRecord(id="x", tenancy_name="acme"), NOW)
    assert (await reconcilers.facts("GpuVM")).tenancy == "acme"
    reconcilers.account(session=a_session("https://cloud.example", "other"))
    facts = await reconcilers.facts("GpuVM")
    assert (facts.found.cause, facts.state) == (UnknownReason.TENANT, OrderState.SEEN)


async def test_the_tenant_of_what_was_ordered_is_known_once_its_credential_shows_it(reconcilers, a_session):
    first = reconcilers.account(session=a_session("https://cloud.example"))
    first.proves = False
    reconcilers.put("GpuVM")
    facts = await reconcilers.intend("GpuVM")
    assert await reconcilers.vms.act(facts, Plan(action=Verb.CREATE)) is not None
    first.learned.tenants = frozenset({"acme"})
    reconcilers.account(session=a_session("https://cloud.example", "other"))
    assert (await reconcilers.facts("GpuVM")).found.cause is UnknownReason.TENANT


async def test_an_order_that_was_taken_back_says_nothing_of_the_tenant(reconcilers, a_session):
    """Else the object would wait for ever for a tenant in which nothing was ordered."""
    first = reconcilers.account(session=a_session("https://cloud.example"))
    first.proves = False
    reconcilers.put("GpuVM")
    facts = await reconcilers.intend("GpuVM")
    first.client.fails = [CloudError(ErrorKind.WITHDRAWN, "the caller took it back")]
    assert await reconcilers.vms.act(facts, Plan(action=Verb.CREATE)) is None
    first.learned.tenants = frozenset({"acme"})
    reconcilers.account(session=a_session("https://cloud.example", "other"))
    assert (await reconcilers.facts("GpuVM")).tenancy is None


def accepts(text):
    return {"meta": {"annotations": {"gpucloud.dev/accept-absence": text}}}


ACCEPTED = accepts("2026-01-01T00:16:40Z")  # NOW


def sought_in_vain(reconcilers):
    reconcilers.session.proves = False


async def test_a_person_may_say_that_what_is_missing_is_gone(reconcilers):
    sought_in_vain(reconcilers)
    assert isinstance(await seen_through(reconcilers, (), **ACCEPTED), Absent)
    assert reconcilers.session.proofs == 1, "whose the credential is was asked first"


async def test_whose_the_credential_is_is_found_out_before_a_person_is_believed(reconcilers):
    assert (await seen_through(reconcilers, (), **ACCEPTED)).cause is UnknownReason.UNREACHABLE


async def test_a_person_cannot_say_that_what_another_tenant_does_not_see_is_gone(reconcilers):
    """The history: with the annotation in force another tenant's key came, and the object went while its VM lived."""
    seen = await seen_through(reconcilers, {"other"}, **ACCEPTED)
    assert (seen.cause, "another" in str(seen.cause)) == (UnknownReason.TENANT, True)


async def test_a_credential_that_came_later_needs_a_later_word(reconcilers, a_session):
    """The Secret was rotated after the annotation was set; the new one shows nothing, perhaps since it is another tenant's."""
    reconcilers.account(session=a_session("https://cloud.example"))
    reconcilers.clock.now += 2
    new = a_session("https://cloud.example")
    new.proves = False
    reconcilers.account(session=new)
    assert (await seen_through(reconcilers, (), **ACCEPTED)).cause is UnknownReason.TENANT
    assert new.vms.accepted == [float("-inf")], "nor is anything believed that its listings doubt"
    reconcilers.put("GpuVM", status=bought(ours().name, vmId=ours().name, tenancy="acme"), **accepts("2026-01-01T00:16:42Z"))
    assert isinstance((await reconcilers.facts("GpuVM")).found, Absent)


async def test_a_session_that_others_used_before_is_a_new_credential_all_the_same(reconcilers, a_session):
    shared = a_session("https://cloud.example")
    shared.proves = False
    reconcilers.account("other", session=shared)
    reconcilers.account(session=a_session("https://cloud.example"))
    reconcilers.clock.now += 2
    reconcilers.account(session=shared)
    assert (await seen_through(reconcilers, (), **ACCEPTED)).cause is UnknownReason.TENANT


@pytest.mark.parametrize(
    ("text", "says"), [("true", "is 'true', which is no time such as"), ("2026-01-01T00:17:41Z", "lies ahead")]
)
async def test_what_is_no_time_that_was_accepts_nothing_and_says_what_to_write(reconcilers, text, says):
    sought_in_vain(reconcilers)
    seen = await seen_through(reconcilers, (), **accepts(text))
    assert seen.cause is UnknownReason.TENANT
    assert says in seen.detail
    assert "kubectl annotate gpuvm train --namespace=team --overwrite gpucloud.dev/accept-absence=$(date -u " in seen.detail


async def test_no_annotation_makes_another_tenants_thing_ours(reconcilers):
    seen = await seen_through(reconcilers, {"other"}, found=Present(VmRecord(id="x", tenancy_name="other"), NOW), **ACCEPTED)
    assert isinstance(seen, Unknown)


# --- claims over accounts


def claimants(reconcilers, mine, theirs):
    """One VM by name, through two accounts of one namespace."""
    for name, session in (("mine", mine), ("theirs", theirs)):
        reconcilers.account(name, session=session)
        born = ELDER if name == "mine" else YOUNGER
        reconcilers.put(
            "GpuVM", name, spec={"vmName": "shared", "accountRef": {"name": name}}, meta={"creationTimestamp": born}
        )


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
async def test_one_thing_one_owner_over_all_accounts_of_a_tenant(reconcilers, a_session, mine, theirs, conflict):
    url = "https://cloud.example"
    claimants(reconcilers, a_session(url, *mine), a_session(url, *theirs))
    assert (await reconcilers.facts("GpuVM", "mine")).owner is None
    assert (await reconcilers.facts("GpuVM", "theirs")).owner == ("'mine'" if conflict else None)


@pytest.mark.parametrize("adopts", ["Never", "IfExists"])
async def test_a_key_of_another_tenant_gives_up_no_claim_to_what_was_ordered(reconcilers, a_session, adopts):
    """Simulated world, seed 610187: another namespace adopted the VPC meanwhile, and destroyed it with its own object."""
    order = an_order("acme-net").model_dump(mode="json", by_alias=True)
    url, places = "https://cloud.example", {"mine": "other", "theirs": "acme"}
    for name, tenant in places.items():
        reconcilers.account(name, session=a_session(url, tenant))
    spec = {"name": "acme-net", "accountRef": {"name": "mine"}}
    reconcilers.put("GpuVpc", "mine", spec=spec, status={"tenancy": "acme", "order": order, "observedGeneration": 1})
    reconcilers.put("GpuVpc", "theirs", spec=spec | {"accountRef": {"name": "theirs"}, "adoption": adopts})
    assert (await reconcilers.facts("GpuVpc", "theirs")).owner == "'mine'"


@pytest.mark.parametrize(("ordered", "conflict"), [(False, True), (True, False)])
async def test_what_was_ordered_is_claimed_while_its_account_has_no_session(reconcilers, a_session, ordered, conflict):
    """Right after a restart, say; who has an order of its own keeps its thing, which may be behind another endpoint."""
    order = an_order("acme-net").model_dump(mode="json", by_alias=True)
    spec, status = {"name": "acme-net", "accountRef": {"name": "mine"}}, {"order": order, "observedGeneration": 1}
    reconcilers.account("mine", trouble="its Secret cannot be read")
    reconcilers.account("theirs", session=a_session("https://cloud.example", "acme"))
    reconcilers.put("GpuVpc", "mine", spec=spec, status=status, meta={"creationTimestamp": ELDER})
    theirs = spec | {"accountRef": {"name": "theirs"}, "adoption": "IfExists"}
    reconcilers.put("GpuVpc", "theirs", spec=theirs, status=status if ordered else {}, meta={"creationTimestamp": YOUNGER})
    assert (await reconcilers.facts("GpuVpc", "theirs")).owner == ("'mine'" if conflict else None)
    assert (await reconcilers.facts("GpuVpc", "mine")).owner is None
    reconcilers.account("mine", session=a_session("https://elsewhere.example", "acme"))
    reconcilers.quiet()
    await reconcilers.facts("GpuVpc", "mine")
    assert reconcilers.woken == ["u-theirs"]
    assert (await reconcilers.facts("GpuVpc", "theirs")).owner is None


async def test_behind_another_endpoint_it_is_another_thing(reconcilers, a_session):
    claimants(reconcilers, a_session("https://one.example"), a_session("https://two.example"))
    assert (await reconcilers.facts("GpuVM", "theirs")).owner is None


@pytest.mark.parametrize(("namespace", "says"), [("team", "'elder'"), ("others", "in another namespace")])
async def test_an_owner_in_another_namespace_is_not_named(reconcilers, namespace, says):
    reconcilers.put("GpuVM", "elder", spec={"vmName": "shared"}, meta={"creationTimestamp": ELDER, "namespace": "team"})
    reconcilers.put("GpuVM", "young", spec={"vmName": "shared"}, meta={"creationTimestamp": YOUNGER, "namespace": namespace})
    facts = await reconcilers.facts("GpuVM", "young")
    assert facts.owner == says
    message = reconcilers.vms.decide(facts).status.conditions[0].message
    assert ("elder" in message) is (namespace == "team")


async def test_two_vpc_objects_of_one_vpc_have_one_owner_whatever_their_namespaces(reconcilers):
    reconcilers.put("GpuVpc", "elder", meta={"creationTimestamp": ELDER})
    reconcilers.put("GpuVpc", "young", meta={"creationTimestamp": YOUNGER, "namespace": "others"})
    assert (await reconcilers.facts("GpuVpc", "elder")).owner is None
    assert (await reconcilers.facts("GpuVpc", "young")).owner == "in another namespace"


async def test_who_gives_a_claim_up_wakes_the_second_in_line(reconcilers, a_session):
    """It moves behind another endpoint: the other's Conflict is over, and nothing else would tell it."""
    reconcilers.account("mine", session=a_session("https://one.example"))
    reconcilers.put(
        "GpuVM", "elder", spec={"vmName": "shared", "accountRef": {"name": "mine"}}, meta={"creationTimestamp": ELDER}
    )
    reconcilers.account("theirs", session=a_session("https://one.example"))
    reconcilers.put("GpuVM", "young", spec={"vmName": "shared", "accountRef": {"name": "theirs"}})
    reconcilers.account("mine", session=a_session("https://two.example"))
    reconcilers.quiet()
    await reconcilers.facts("GpuVM", "elder")
    assert reconcilers.woken == ["u-young"]


# --- who is woken


def test_a_change_wakes_its_dependents_once_and_nobody_else(reconcilers):
    reconcilers.put("GpuVM", "inside", spec={"vpc": None, "vpcRef": {"name": "net"}})
    reconcilers.put("GpuVM", "elsewhere", spec={"vpc": None, "vpcRef": {"name": "another"}})
    reconcilers.put("GpuVM", "stranger", spec={"vpc": None, "vpcRef": {"name": "net"}}, meta={"namespace": "others"})
    reconcilers.quiet()
    reconcilers.put("GpuVpc", "net")
    assert reconcilers.stirred == ["inside"]


def test_a_change_wakes_what_it_depends_on_only_while_that_is_being_deleted(reconcilers):
    reconcilers.put("GpuVpc", "net")
    reconcilers.quiet()
    reconcilers.put("GpuVM", "inside", spec={"vpc": None, "vpcRef": {"name": "net"}})
    assert reconcilers.stirred == []
    reconcilers.seen("GpuVpc", "net", meta=GOING)
    reconcilers.put("GpuVM", "inside", spec={"vpc": None, "vpcRef": {"name": "net"}})
    assert reconcilers.stirred == ["net"]


def test_an_end_wakes_who_waited_for_it(reconcilers):
    reconcilers.put("GpuVM", "source", meta=GOING)
    reconcilers.put("GpuVpc", "net", meta=GOING)
    reconcilers.seen("GpuSnapshot", "copy", spec={"vmRef": {"name": "source"}})
    reconcilers.drop("GpuSnapshot", "copy")
    assert sorted(set(reconcilers.stirred)) == ["net", "source"]


def test_an_end_wakes_its_dependents_too(reconcilers):
    reconcilers.put("GpuVM", "source")
    reconcilers.seen("GpuSnapshot", "copy", spec={"vmRef": {"name": "source"}})
    reconcilers.drop("GpuVM", "source")
    assert reconcilers.stirred == ["copy"]


@pytest.mark.parametrize(("meta", "woken"), [({}, []), (GOING, ["acct"])])
def test_an_account_that_waits_for_its_last_user_is_woken_by_its_end(reconcilers, meta, woken):
    reconcilers.objects.accounts.put(
        {"metadata": {"name": "default", "namespace": "team", "uid": "acct", "resourceVersion": "1"} | meta, "spec": {
            "secretRef": {"name": "key"}}}
    )  # fmt: skip
    reconcilers.seen("GpuVM")
    reconcilers.drop("GpuVM")
    assert reconcilers.woken == woken


async def test_what_is_forgotten_leaves_no_watch_no_claim_no_reference_and_no_memory(reconcilers):
    reconcilers.put("GpuVpc", "net", status=bought("acme-train", vpc="acme-train", vpcId="7"), meta=GOING)
    reconcilers.put("GpuVM", spec={"vpc": None, "vpcRef": {"name": "net"}}, status=bought(ours().name))
    facts = await reconcilers.facts("GpuVM")
    await reconcilers.vms.act(facts, Plan(action=Verb.CREATE))
    reconcilers.drop("GpuVpc", "net")
    reconcilers.drop("GpuVM")
    assert [inventory.watched for inventory in reconcilers.session.inventories.values()] == [{}, {}, {}]
    reconcilers.quiet()
    reconcilers.put("GpuVpc", "net")
    assert reconcilers.stirred == []
    reconcilers.put("GpuVM", uid="u-train")
    assert not (await reconcilers.facts("GpuVM")).history.attempts


# --- what else is watched, and who is asked for a look


async def test_a_deleting_vpc_watches_all_that_is_in_it_until_it_is_gone(reconcilers):
    session, inside = reconcilers.session, Identity("Msc1", "acme-train", EVERYTHING)
    reconcilers.put("GpuVpc", "net", status=bought("acme-train", vpc="acme-train", vpcId="7"))
    assert (session.vms.watched, session.snapshots.watched) == ({}, {})
    reconcilers.put("GpuVpc", "net", status=bought("acme-train", vpc="acme-train", vpcId="7"), meta=GOING)
    assert session.vms.watched == session.snapshots.watched == {"u-net": inside}
    reconcilers.drop("GpuVpc", "net")
    assert (session.vms.watched, session.snapshots.watched, session.vpcs.watched) == ({}, {}, {})


async def test_a_snapshot_watches_its_vm_until_it_is_taken(reconcilers):
    reconcilers.put("GpuVM", "train", status=bought(ours().name, vmId=ours().name))
    reconcilers.put("GpuSnapshot", "copy")
    assert reconcilers.session.vms.watched == {"u-train": ours(), "u-copy": ours()}
    reconcilers.put("GpuSnapshot", "copy", status={"snapshotId": "x"})
    assert reconcilers.session.vms.watched == {"u-train": ours()}


def three_eyed(reconcilers):
    reconcilers.put("GpuVpc", "net", status=bought("acme-train", vpc="acme-train", vpcId="7"), meta=GOING)
    return reconcilers.session


def test_only_those_that_have_not_looked_are_asked_to_look(reconcilers):
    """One that has looked would wake the object at once, and again, until the last has looked too: a loop without a pause."""
    session = three_eyed(reconcilers)
    session.vpcs.as_of, session.vms.as_of, session.snapshots.as_of = NOW - 10, NOW, NOW
    reconcilers.vpcs.requeue_after("u-net", Plan(refresh_after=NOW - 5))
    assert [bool(it.looks) for it in (session.vpcs, session.vms, session.snapshots)] == [True, False, False]


def test_when_all_have_looked_it_is_decided_again_a_little_later_and_nobody_looks(reconcilers):
    """At once would be a circle, should the decision come from those very looks."""
    session = three_eyed(reconcilers)
    assert reconcilers.vpcs.requeue_after("u-net", Plan(refresh_after=NOW - 5)) == NOW + LEAST_SPACING_SECONDS
    assert sum(len(it.looks) for it in session.inventories.values()) == 0


def test_all_eyes_hurry_while_something_is_pending(reconcilers):
    session = three_eyed(reconcilers)
    reconcilers.vpcs.requeue_after("u-net", Plan(pending=True))
    assert [it.pending for it in session.inventories.values()] == [{"u-net": True}] * 3


# --- what a listing should show


def test_what_is_expected_is_expected_of_the_session_that_watches_it(reconcilers):
    mine = reconcilers.account()
    reconcilers.put("GpuVM", "a", status=bought(ours("a").name, vmId=ours("a").name))
    reconcilers.put("GpuVM", "b", status=bought(ours("b").name, vmId=ours("b").name), meta={"namespace": "others"})
    assert mine.vms.expected("Msc1") == {ours("a")}
    assert reconcilers.session.vms.expected("Msc1") == {ours("b")}
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
async def test_what_we_destroyed_is_not_expected(reconcilers, kind, holds, status, verb, found):
    reconcilers.put(kind, status=status)
    inventory = reconcilers.session.inventories[holds]
    (here,) = inventory.expected("Msc1")
    inventory.seen[here] = Present(found, NOW)
    await reconcilers.by_kind[kind].act(await reconcilers.facts(kind), Plan(action=verb))
    assert inventory.expected("Msc1") == set()


# --- before everything is known


async def test_before_the_first_sync_nobody_is_seated_on_the_operators_own_by_default(make_rooms):
    """The watch shows kinds in any order: the namespace's account may be known a moment later, and what is frozen stays."""
    reconcilers = make_rooms(synced=False)
    reconcilers.put("GpuVpc", spec={"adoption": "IfExists"})
    reconcilers.session.vpcs.seen[Identity("Msc1", "acme-train", "acme-train")] = Present(
        VpcRecord(id="7", name="acme-train"), NOW
    )
    plan = reconcilers.vpcs.decide(await reconcilers.facts("GpuVpc"))
    assert plan.status is None or plan.status.account is None


@pytest.mark.parametrize("kind", ["GpuVM", "GpuVpc"])
@pytest.mark.parametrize("meta", [{}, GOING])
async def test_before_the_first_sync_an_object_waits_without_asking_for_looks(make_rooms, kind, meta):
    """The inventories have looked already; a plan that asks them again is answered at once, again and again."""
    reconcilers = make_rooms(synced=False)
    reconcilers.put(kind, meta=meta)
    plan = reconcilers.by_kind[kind].decide(await reconcilers.facts(kind))
    assert plan.refresh_after is None


async def test_where_the_cloud_refuses_to_list_its_clusters_are_asked_for(reconcilers):
    """So that the message can name them; the next look finds them."""
    await seen_through(reconcilers, (), found=Unknown(NOW, UnknownReason.REJECTED, "no such cluster"))
    assert (await reconcilers.facts("GpuVM")).account.clusters == ("Hou1", "Msc1")
