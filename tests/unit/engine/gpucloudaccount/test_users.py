"""Who uses an account, and how long its Secret is held for them."""

import pytest

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import Order, OrderState
from gpucloud.reconcile.facts import Readiness, Verb
from gpucloud.reconcile.plan import Plan
from gpucloud.reconcile.unreadable import Unreadable
from support.accountrig import DYING, FORBIDDEN
from support.fakes import CONFLICT, DOWN, GOING, a_secret
from support.ordered import NOT_ORDERED

pytestmark = pytest.mark.looptime


@pytest.mark.parametrize(
    ("vm", "counts", "why"),
    [
        ({}, True, "by default"),
        ({"spec": {"accountRef": {"name": "default"}}}, True, "by reference"),
        ({"status": {"account": "default"}}, True, "frozen"),
        ({"meta": GOING}, True, "it goes, and needs the account to go"),
        ({"meta": {"finalizers": []}}, False, "nothing can have been made for it"),
        ({"meta": {"namespace": "others"}}, False, "another namespace's"),
        ({"spec": {"accountRef": {"name": "another"}}}, False, "another account's"),
        ({"status": {"account": "(operator)"}}, False, "the operator's own"),
        ({"spec": {"accountRef": {"name": "another"}}, "status": {"account": "default"}}, False, "an edited status"),
        ({"spec": {"powerState": "Sleeping"}, "status": {"account": "default"}}, True, "a spec that cannot be read"),
    ],
)
async def test_who_is_a_user(rig, vm, counts, why):
    rig.put().holds("a")
    rig.reconcilers.put("GpuVM", **vm)
    assert (await rig.facts()).users == (("GpuVM 'train'",) if counts else ()), why


async def test_users_are_of_every_kind_and_in_order(rig):
    rig.put().holds("a")
    for kind in ("GpuVpc", "GpuVM", "GpuSnapshot"):
        rig.reconcilers.put(kind, "it", uid=kind)
    assert (await rig.facts()).users == ("GpuSnapshot 'it'", "GpuVM 'it'", "GpuVpc 'it'")


async def test_users_that_nobody_has_deleted_are_named_as_kubectl_takes_them(rig):
    rig.put().holds("a")
    rig.reconcilers.put("GpuVM", "it", uid="a")
    rig.reconcilers.put("GpuVM", "going", uid="b", meta=GOING)
    assert (await rig.facts()).users_to_delete == ("gpuvm/it",)


async def test_users_whose_deletion_destroys_something_are_named_as_kubectl_takes_them(rig):
    """Also those that are being deleted: they obey to their end."""
    rig.put().holds("a")
    rig.reconcilers.put("GpuVM", "it", uid="a", status={"deletionPolicy": "Delete"})
    rig.reconcilers.put("GpuVM", "going", uid="b", meta=GOING, status={"deletionPolicy": "Delete"})
    rig.reconcilers.put("GpuVM", "kept", uid="c", status={"deletionPolicy": "Retain"})
    rig.reconcilers.put("GpuVM", "waits", uid="d")
    assert (await rig.facts()).users_to_keep == ("gpuvm/going", "gpuvm/it")


@pytest.mark.parametrize(
    ("other", "shared"),
    [
        ({}, True),
        ({"meta": {"namespace": "others"}}, False),
        ({"spec": {"secretRef": {"name": "another"}}}, False),
        ({"spec": {"secretRef": {"name": "another"}}, "status": {"heldSecrets": ["key"]}}, False),
    ],
)
async def test_a_secret_is_shared_by_accounts_of_one_namespace(rig, other, shared):
    rig.put().put("second", **other).holds("a")
    assert (await rig.facts()).shared is shared


@pytest.mark.parametrize("spec", [{"secretRef": {"name": "another"}}, {"secretRef": "cannot be read"}])
async def test_a_secret_is_shared_with_an_account_that_holds_it_for_what_it_made(rig, spec):
    """Whatever its spec names now, or if that cannot be read."""
    rig.put().put("second", spec=spec, status={"heldSecrets": ["key"]}).holds("a")
    rig.reconcilers.put("GpuVM", spec={"accountRef": {"name": "second"}}, status={"order": ORDER})
    assert (await rig.facts()).shared


ORDER = {"state": "Unclear", "name": "train", "cluster": "Msc1", "vpc": "acme", "recordedAt": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("vm", "holds", "why"),
    [
        ({}, False, "it only waits"),
        ({"status": {"account": "default", "order": {"state": "NotOrdered"}}}, False, "nothing was ever asked for"),
        ({"status": {"order": ORDER}}, True, "an order may be on its way"),
        ({"status": {"vmId": "train"}}, True, "it has been seen"),
        ({"status": {"order": ORDER}, "meta": GOING}, True, "it is destroyed with this credential"),
        ({"status": {"order": ORDER | {"state": "Gone"}}, "meta": GOING}, True, "its deletion waits for listings"),
        ({"status": {"order": ORDER | {"state": "Gone"}}}, False, "proven gone, and nothing follows"),
        ({"status": {"order": ORDER}, "meta": {"finalizers": []}}, False, "it is ours no more"),
        ({"status": {"order": ORDER}, "spec": {"accountRef": {"name": "another"}}}, False, "another account's"),
    ],
)
async def test_who_holds_the_secret(rig, vm, holds, why):
    rig.put().holds("a", **DYING)
    rig.reconcilers.put("GpuVM", **vm)
    facts = await rig.facts()
    assert facts.users_with_resources == (("GpuVM 'train'",) if holds else ()), why
    assert (rig.reconciler.decide(facts).action is Verb.FREE_SECRET) is not holds


async def test_an_object_whose_order_is_being_written_holds_the_secret(rig):
    rig.put().holds("a", **DYING)
    rig.reconcilers.put("GpuVM")
    rig.known_orders["u-train"] = Order(state=OrderState.INTENDED, name="train", cluster="Msc1", vpc="acme")
    assert rig.reconciler.decide(await rig.facts()).action is None


async def test_a_shared_secret_is_held_for_what_the_other_account_may_have(rig):
    rig.put().put("second").holds("a", **DYING)
    assert not (await rig.facts()).shared
    rig.reconcilers.put("GpuVM", spec={"accountRef": {"name": "second"}})
    assert not (await rig.facts()).shared, "it only waits"
    rig.reconcilers.put("GpuVM", spec={"accountRef": {"name": "second"}}, status={"vmId": "train"})
    assert (await rig.facts()).shared


@pytest.mark.parametrize(
    ("after", "bar"),
    [
        (a_secret(apikey="a"), None),
        (a_secret(apikey="a", **DYING), ("Secret 'key'", Readiness.DELETING)),
        (a_secret(apikey="b", **DYING), ("Secret 'key'", Readiness.DELETING)),  # a good key onto a dying Secret
        (None, ("Secret 'key'", Readiness.MISSING)),  # what was read of it before is still in use for what exists
        (FORBIDDEN, None),  # a Secret that cannot be read need not be gone
        (a_secret(apikey="a", uid="s-2"), None),  # made anew
    ],
)
async def test_nothing_new_is_begun_with_a_secret_that_goes_or_is_gone(rig, after, bar):
    """The history: a good key was applied onto a Secret that was being deleted, and a VM was bought with it."""
    rig.put().holds("a")
    await rig.facts()
    rig.reconcilers.put("GpuVM", status=NOT_ORDERED)
    rig.reconcilers.quiet()
    rig.kube.secrets["team", "key"] = after
    await rig.facts()
    needs = [(need.name, need.readiness) for need in (await rig.reconcilers.facts("GpuVM")).needs]
    assert needs == ([bar] if bar else [])
    assert rig.account().session is not None, "what exists is looked after all the same"
    if bar:
        assert [key.name for key in rig.reconcilers.queued] == ["train"], "who waits hears of it"
    rig.holds("a", uid="s-2")
    await rig.facts()
    assert (await rig.reconcilers.facts("GpuVM")).needs == ()


@pytest.mark.parametrize(("verb", "held"), [(Verb.HOLD_SECRET, True), (Verb.FREE_SECRET, False)])
async def test_a_secret_is_held_and_freed_by_name(rig, verb, held):
    rig.put().holds("a")
    event = await rig.reconciler.act(await rig.facts(), Plan(action=verb, targets=("key",)))
    assert rig.kube.held == [("team", "key", held)]
    assert not event.warning
    assert "'key'" in event.note


@pytest.mark.parametrize("error", [CONFLICT, DOWN, FORBIDDEN])
async def test_a_secret_that_could_not_be_held_is_told_and_remembered(rig, error):
    rig.put().holds("a")
    rig.kube.fails = [error]
    event = await rig.reconciler.act(await rig.facts(), Plan(action=Verb.HOLD_SECRET, targets=("key",)))
    assert (event.reason, event.warning) == ("SecretFailed", True)
    attempt = (await rig.facts()).attempt(Verb.HOLD_SECRET)
    assert (attempt.refusal.kind, attempt.failures) == (ErrorKind.SERVER, 1)


async def test_nothing_is_done_for_a_spec_that_cannot_be_read(rig):
    rig.put(spec={"secretRef": None})
    facts = await rig.facts()
    assert isinstance(facts, Unreadable)
    with pytest.raises(TypeError):
        await rig.reconciler.act(facts, Plan(action=Verb.FREE_SECRET, targets=("key",)))
