"""Which credential a VM, VPC or snapshot is looked for with, and what must stand when a call is sent."""

import pytest

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.models import VmRecord, VpcRecord
from gpucloud.kinds.common import OrderState
from gpucloud.reconcile.facts import Absent, Dependency, Present, Readiness, Unknown, UnknownReason, Verb
from gpucloud.reconcile.naming import Identity
from gpucloud.reconcile.plan import Plan
from support.builders import an_order
from support.fakes import GOING
from support.ordered import NOT_ORDERED, NOW, bought, ours


async def test_an_object_moves_to_the_session_of_its_accounts_new_credential(reconcilers, a_session):
    old = reconcilers.account()
    reconcilers.put("GpuVM", status=NOT_ORDERED)
    new = reconcilers.account(session=a_session())
    await reconcilers.facts("GpuVM")
    assert (old.vms.watched, new.vms.watched, reconcilers.session.vms.watched) == ({}, {"u-train": ours()}, {})


async def test_the_default_account_that_appears_before_the_freeze_takes_the_object_over(reconcilers):
    reconcilers.put("GpuVM", status=NOT_ORDERED)
    assert reconcilers.session.vms.watched == {"u-train": ours()}
    new = reconcilers.account()
    await reconcilers.facts("GpuVM")
    assert (reconcilers.session.vms.watched, new.vms.watched) == ({}, {"u-train": ours()})


LATE = NOW + 10 * 30  # ten graces


async def lost(reconcilers, found, **spec):
    """An object of a lost status in a namespace with an account, and what the operator's own account shows under its name."""
    reconcilers.session.vms.seen[ours() if not spec else Identity("Msc1", "acme", spec["vmName"])] = found
    theirs = reconcilers.account()
    reconcilers.put("GpuVM", spec=spec)
    return theirs, await reconcilers.facts("GpuVM")


async def test_what_the_operators_own_account_lacks_uses_the_namespaces_account(reconcilers):
    theirs, facts = await lost(reconcilers, Absent(LATE, LATE, LATE))
    assert (facts.account.name, facts.account_undecided, facts.found) == ("default", False, Absent(NOW, NOW))
    assert (theirs.vms.watched, reconcilers.session.vms.watched) == ({"u-train": ours()}, {"u-train": ours()})


@pytest.mark.parametrize("spec", [{}, {"vmName": "main"}])
@pytest.mark.parametrize("found", [Absent(LATE, NOW, LATE - 1), Absent(LATE, LATE)])
async def test_a_lost_status_needs_two_listings_that_prove_what_the_operators_own_account_lacks(reconcilers, found, spec):
    """One of them from before the tenth grace, or a single one."""
    _, facts = await lost(reconcilers, found, **spec)
    assert (facts.account_undecided, facts.found.cause) == (True, UnknownReason.STATUS_LOST)
    plan = reconcilers.vms.decide(facts)
    assert (plan.status, plan.action, plan.requeue_at) == (None, None, NOW + 6)


async def test_no_listing_is_implausible_for_what_the_other_account_lists(reconcilers):
    """Until the status says in which of the two it is, the object watches both."""
    theirs, facts = await lost(reconcilers, Present(VmRecord(id=ours().name), NOW))
    assert (facts.account.name, facts.seen) == ("(operator)", True)
    assert reconcilers.vms.expected(theirs, "Msc1") == set()
    reconcilers.put("GpuVM", status=bought(ours().name, account="(operator)"))
    assert reconcilers.vms.expected(reconcilers.session, "Msc1") == {ours()}


async def test_a_chosen_name_in_the_operators_own_account_is_a_conflict_that_says_so(reconcilers):
    _, facts = await lost(reconcilers, Present(VmRecord(id="main"), NOW), vmName="main")
    assert (facts.account.name, facts.ours) == ("(operator)", False)
    ready = reconcilers.vms.decide(facts).status.conditions[0]
    assert ready.reason == "Conflict"
    assert "The status was lost" in ready.message


async def test_a_lost_status_says_why_the_operators_own_account_is_asked(reconcilers):
    _, facts = await lost(reconcilers, Unknown(NOW, UnknownReason.FORBIDDEN))
    ready = reconcilers.vms.decide(facts).status.conditions[0]
    assert ready.reason == "PermissionDenied"
    assert "the operator's own account may have made it" in ready.message
    assert ready.message.endswith("delete this object with spec.deletion.policy: Retain.")


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


async def test_an_account_that_loses_its_session_leaves_its_objects_unknown_not_absent(reconcilers):
    session = reconcilers.account()
    reconcilers.put("GpuVM", status=NOT_ORDERED)
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


LEAVES = {"deleting": True}
BARRED = {"blocker": Dependency("Secret 'key'", Readiness.DELETING, account=True)}


@pytest.mark.parametrize("goes", [LEAVES, BARRED])
@pytest.mark.parametrize(("verb", "sent"), [(Verb.CREATE, False), (Verb.DESTROY, True)])
async def test_nothing_is_begun_with_what_goes_since_it_was_looked_at(reconcilers, goes, verb, sent):
    """The account, or its Secret, was deleted while the call waited: an order is taken back, an end is not."""
    session = reconcilers.account()
    going = verb is Verb.DESTROY
    meta = {"deletionTimestamp": "2026-01-01T00:00:00Z"} if going else {}
    reconcilers.put("GpuVM", meta=meta, status=bought(ours().name) if going else None)
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


async def test_a_vm_is_looked_for_where_the_cloud_put_it_before_a_status_says_so(reconcilers):
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
    reconcilers.put("GpuVM", status=NOT_ORDERED)

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


async def test_a_call_that_was_withdrawn_is_no_attempt(reconcilers):
    """The object says something else by now: what to do about that is decided anew, as if nothing had been tried."""
    reconcilers.put("GpuVM")
    facts = await reconcilers.intend("GpuVM")
    reconcilers.session.client.fails = [CloudError(ErrorKind.WITHDRAWN, "the caller took it back")]
    assert await reconcilers.vms.act(facts, Plan(action=Verb.CREATE)) is None
    assert (await reconcilers.facts("GpuVM")).attempt(Verb.CREATE) is None


async def test_users_of_a_session_are_those_who_watch_through_it(reconcilers):
    mine = reconcilers.account()
    reconcilers.put("GpuVM", "a", status=NOT_ORDERED)
    reconcilers.put("GpuVM", "b", meta={"namespace": "others"})
    assert (reconcilers.vms.watchers_of(mine), reconcilers.vms.watchers_of(reconcilers.session)) == (["u-a"], ["u-b"])


async def test_before_the_first_sync_no_account_is_frozen_by_default(make_reconcilers):
    """The watch shows kinds in any order: the namespace's account may be known a moment later, and what is frozen stays."""
    reconcilers = make_reconcilers(synced=False)
    reconcilers.put("GpuVpc", spec={"adoption": "IfExists"})
    reconcilers.session.vpcs.seen[Identity("Msc1", "acme-train", "acme-train")] = Present(
        VpcRecord(id="7", name="acme-train"), NOW
    )
    plan = reconcilers.vpcs.decide(await reconcilers.facts("GpuVpc"))
    assert plan.status is None or plan.status.account is None
