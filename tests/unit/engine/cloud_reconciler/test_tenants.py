"""What one credential may conclude: the tenant it belongs to, and a person's word for what it cannot show."""

import pytest

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.models import VmRecord
from gpucloud.kinds.common import OrderState
from gpucloud.reconcile.facts import Absent, Present, Unknown, UnknownReason, Verb
from gpucloud.reconcile.plan import Plan
from support.builders import an_order
from support.ordered import NOW, bought, ours


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


async def ordered(reconcilers, a_session):
    """Order with a credential that has shown no tenant; return its session, and the facts of the order."""
    first = reconcilers.account(session=a_session("https://cloud.example"))
    first.proves = False
    reconcilers.put("GpuVM")
    facts = await reconcilers.intend("GpuVM")
    assert await reconcilers.vms.act(facts, Plan(action=Verb.CREATE)) is not None
    return first, facts


async def test_the_tenant_of_what_was_ordered_is_known_once_its_credential_shows_it(reconcilers, a_session):
    first, _ = await ordered(reconcilers, a_session)
    first.learned.tenants = frozenset({"acme"})
    reconcilers.account(session=a_session("https://cloud.example", "other"))
    assert (await reconcilers.facts("GpuVM")).found.cause is UnknownReason.TENANT


NAMED = {"accountRef": {"name": "default"}}  # whose account cannot be the operator's own


def left_behind(name, state=OrderState.INTENDED):
    """What a status says of an order that another process sent, whose answer nobody heard."""
    return {"account": "default", "order": an_order(name, state).model_dump(mode="json", by_alias=True)}


def written(reconcilers):
    status = reconcilers.vms.store.get("u-train").status
    return status.model_dump(mode="json", by_alias=True, exclude_none=True)


@pytest.mark.parametrize(
    ("account", "shown", "believed", "why"),
    [
        ("acme", {"other"}, False, "seed 92312754: the account was acme's, and another tenant's listings let the object go"),
        ("acme", (), False, "a key that has shown nothing may be another tenant's"),
        ("acme", {"acme"}, True, "the tenant that the account has had all the time"),
        (None, {"other"}, True, "nobody knows of another tenant"),
    ],
)
async def test_an_order_of_unknown_tenant_may_be_its_accounts(reconcilers, a_session, account, shown, believed, why):
    session = reconcilers.account(session=a_session("https://cloud.example", *shown), tenant=account)
    session.proves = False
    reconcilers.put("GpuVM", status=left_behind(ours().name))
    facts = await reconcilers.facts("GpuVM")
    assert isinstance(facts.found, Absent) is believed, why
    assert believed or facts.found.cause is UnknownReason.TENANT
    assert facts.tenancy is None, "what is only presumed is not recorded"
    reconcilers.put("GpuVM", status=left_behind(ours().name), **ACCEPTED)
    assert isinstance((await reconcilers.facts("GpuVM")).found, Absent), "a person says so"


@pytest.mark.parametrize(
    ("account", "shown", "believed", "why"),
    [
        ("acme", (), False, "seed 92333898: a key that has shown nothing let the object go, and its VM stayed with acme"),
        ("acme", {"other"}, False, "another tenant's listings lack it, wherever it is"),
        ("acme", {"acme"}, True, "the tenant that the account has had all the time"),
        (None, (), True, "nobody knows of a tenant"),
    ],
)
async def test_a_lost_status_may_have_told_of_an_order_in_the_accounts_tenant(
    reconcilers, a_session, account, shown, believed, why
):
    session = reconcilers.account(session=a_session("https://cloud.example", *shown), tenant=account)
    session.proves = False
    reconcilers.put("GpuVM", spec=NAMED, status={})
    facts = await reconcilers.facts("GpuVM")
    assert isinstance(facts.found, Absent) is believed, why
    assert believed or facts.found.cause is UnknownReason.TENANT
    reconcilers.put("GpuVM", spec=NAMED, status={}, **ACCEPTED)
    assert isinstance((await reconcilers.facts("GpuVM")).found, Absent), "a person says so"


async def test_what_is_shown_is_of_the_tenant_that_it_names_whatever_its_account_was(reconcilers, a_session):
    """Seed 92319455: it was ordered with a right key before a status said that a wrong one was replaced."""
    session = reconcilers.account(session=a_session("https://cloud.example", "other"), tenant="acme")
    reconcilers.put("GpuVM", status=left_behind(ours().name))
    session.vms.seen[ours()] = Present(VmRecord(id="x", tenancy_name="other"), NOW)
    assert isinstance((await reconcilers.facts("GpuVM")).found, Present)


async def test_an_object_that_has_nothing_yet_is_of_no_tenant(reconcilers, a_session):
    reconcilers.account(session=a_session("https://cloud.example", "other"), tenant="acme")
    reconcilers.put("GpuVM", status=left_behind(ours().name, OrderState.NOT_ORDERED))
    assert isinstance((await reconcilers.facts("GpuVM")).found, Absent)


async def test_another_credential_than_it_was_ordered_with_proves_no_absence(reconcilers, a_session):
    """The one that ordered had shown no record of its tenant yet when the Secret was given another."""
    _, facts = await ordered(reconcilers, a_session)
    assert isinstance((await reconcilers.facts("GpuVM")).found, Absent), "its own listings count"
    reconcilers.clock.now += 2
    other = reconcilers.account(session=a_session("https://cloud.example", "other"))
    found = (await reconcilers.facts("GpuVM")).found
    assert found.cause is UnknownReason.TENANT
    assert "kubectl annotate gpuvm train --namespace=team --overwrite gpucloud.dev/accept-absence=$(date -u " in found.detail
    reconcilers.put("GpuVM", status=written(reconcilers), **accepts("2026-01-01T00:16:42Z"))
    assert isinstance((await reconcilers.facts("GpuVM")).found, Absent), "a person says so"
    other.vms.seen[facts.identity] = Present(VmRecord(id="x", tenancy_name="other"), NOW)
    assert isinstance((await reconcilers.facts("GpuVM")).found, Present), "what is shown is no absence"


async def test_the_key_that_ordered_proves_an_absence_again_when_it_is_put_back(reconcilers, a_session):
    """Its first session is closed a minute later: the message said to put that key back, and nothing came of it."""
    first, _ = await ordered(reconcilers, a_session)
    reconcilers.account(session=a_session("https://cloud.example", "other"))
    assert (await reconcilers.facts("GpuVM")).found.cause is UnknownReason.TENANT
    again = reconcilers.account(session=a_session("https://cloud.example"))
    again.learned.identity = first.learned.identity
    assert isinstance((await reconcilers.facts("GpuVM")).found, Absent)


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


async def test_what_was_refused_with_another_tenants_key_is_looked_for_with_the_right_one(reconcilers, a_session):
    """A wrong key was put right: the object stayed TenantMismatch for good, though nothing had been made with it."""
    first = reconcilers.account(session=a_session("https://cloud.example", "globex"))
    reconcilers.put("GpuVM", status={"tenancy": "globex"})
    facts = await reconcilers.intend("GpuVM")
    first.client.fails = [CloudError(ErrorKind.INVALID, "VPC 'acme' is unknown")]
    assert await reconcilers.vms.act(facts, Plan(action=Verb.CREATE)) is not None
    reconcilers.account(session=a_session("https://cloud.example", "acme"))
    facts = await reconcilers.facts("GpuVM")
    assert (facts.state, facts.tenancy) == (OrderState.REFUSED, None)
    assert isinstance(facts.found, Absent)


def accepts(text):
    return {"meta": {"annotations": {"gpucloud.dev/accept-absence": text}}}


ACCEPTED = accepts("2026-01-01T00:16:40Z")  # NOW


def sought_in_vain(reconcilers):
    reconcilers.session.proves = False


async def test_a_person_may_say_that_what_is_missing_is_gone(reconcilers):
    sought_in_vain(reconcilers)
    assert isinstance(await seen_through(reconcilers, (), **ACCEPTED), Absent)
    assert reconcilers.session.proofs == 1, "whose the credential is was asked first"


async def test_the_tenant_is_learned_before_a_person_is_believed(reconcilers):
    assert (await seen_through(reconcilers, (), **ACCEPTED)).cause is UnknownReason.UNREACHABLE


async def test_a_person_cannot_say_that_what_another_tenant_does_not_see_is_gone(reconcilers):
    """The history: with the annotation in force another tenant's key came, and the object went while its VM lived."""
    seen = await seen_through(reconcilers, {"other"}, **ACCEPTED)
    assert seen.cause is UnknownReason.TENANT


async def test_a_credential_that_came_later_needs_a_later_acceptance(reconcilers, a_session):
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
    ("text", "says"), [("true", "is 'true', not a time such as"), ("2026-01-01T00:17:41Z", "in the future")]
)
async def test_what_is_no_time_that_was_accepts_nothing_and_says_what_to_write(reconcilers, text, says):
    sought_in_vain(reconcilers)
    seen = await seen_through(reconcilers, (), **accepts(text))
    assert seen.cause is UnknownReason.TENANT
    assert says in seen.detail
    assert "kubectl annotate gpuvm train --namespace=team --overwrite gpucloud.dev/accept-absence=$(date -u " in seen.detail


async def test_a_time_that_lay_ahead_accepts_nothing_when_it_has_come(reconcilers):
    """Local time, written as UTC: whatever is doubted by then would be believed to be gone."""
    sought_in_vain(reconcilers)
    seen = await seen_through(reconcilers, (), **accepts("2026-01-01T09:16:40Z"))
    assert "in the future" in seen.detail
    reconcilers.clock.now += 9 * 3600 + 60
    later = await reconcilers.facts("GpuVM")
    assert (later.found.cause, later.found.detail) == (UnknownReason.TENANT, seen.detail)


async def test_no_annotation_makes_another_tenants_thing_ours(reconcilers):
    seen = await seen_through(reconcilers, {"other"}, found=Present(VmRecord(id="x", tenancy_name="other"), NOW), **ACCEPTED)
    assert isinstance(seen, Unknown)


async def test_where_the_cloud_refuses_to_list_its_clusters_are_asked_for(reconcilers):
    """So that the message can name them; the next look finds them."""
    await seen_through(reconcilers, (), found=Unknown(NOW, UnknownReason.REJECTED, "no such cluster"))
    assert (await reconcilers.facts("GpuVM")).account.clusters == ("Hou1", "Msc1")
