"""The GpuCloudAccount's room: its Secret read by name, its session opened and changed, its users counted and woken."""

import asyncio

import pytest

from gpucloud.cloud.errors import ErrorKind
from gpucloud.cloud.options import ApiKey
from gpucloud.engine.cloud.accounts import AccountSessions
from gpucloud.engine.kinds.gpucloudaccount import AccountReconcilerDeps, GpuCloudAccountReconciler
from gpucloud.engine.kube.client import KubeError
from gpucloud.engine.runtime.workqueue import Key
from gpucloud.kinds.common import Order, OrderState
from gpucloud.kinds.gpucloudaccount import RequestBudget
from gpucloud.kinds.meta import SECRET_FINALIZER
from gpucloud.reconcile.facts import Limits, Readiness, UnknownReason, Verb
from gpucloud.reconcile.plan import Plan
from gpucloud.reconcile.unreadable import Unreadable
from support.fakes import CONFLICT, DOWN, GOING, SECRET_WORDS, LoopClock, a_resource, a_secret

pytestmark = pytest.mark.looptime
ENDPOINTS = {"prod": "https://prod.example", "staging": "https://staging.example"}
FORBIDDEN = KubeError(403, "Forbidden", "secrets is forbidden")
PROVEN = {"tenant": "acme", "provenSecret": {"uid": "s-1", "resourceVersion": "1"}}


class Rig:
    """The account's room beside the rooms of its users, whose own account is another."""

    def __init__(self, reconcilers, around):
        self.reconcilers, self.kube, self.told, self.version, self.synced = reconcilers, reconcilers.kube, [], 0, True
        self.known_orders = {}  # by UID, as the room of the kind knows them ahead of the status
        self.sessions = AccountSessions(around)
        self.reconciler = GpuCloudAccountReconciler(
            AccountReconcilerDeps(
                accounts=reconcilers.accounts,
                sessions=self.sessions,
                objects=reconcilers.objects,
                references=reconcilers.references,
                kube=reconcilers.kube,
                clock=LoopClock(),
                limits=Limits(),
                endpoints=ENDPOINTS,
                budget=RequestBudget(requests_per_second="10", burst=20),
                secret_finalizer=True,
                synced=lambda: self.synced,
                order_of=lambda _kind, stored: self.known_orders.get(stored.meta.uid, stored.status.order),
                queue=reconcilers.queued.append,
                record=lambda meta, event: self.told.append((meta.name, event)),
            )
        )

    def put(self, name="default", *, uid=None, **more):
        self.version += 1
        uid = uid or f"u-{name}"
        self.reconciler.store.put(a_resource("GpuCloudAccount", name, uid=uid, version=self.version, **more))
        self.reconciler.on_update(self.reconciler.store.get(uid))
        return self

    def holds(self, key="a", *, name="key", **more):
        self.kube.secrets["team", name] = a_secret(**more, apikey=key)
        return self

    async def facts(self, name="default", *, uid=None):
        return await self.reconciler.gather(self.reconciler.store.get(uid or f"u-{name}"))

    def account(self, name="default"):
        return self.reconcilers.accounts.get("team", name)

    def drop(self, name="default", *, uid=None):
        uid = uid or f"u-{name}"
        self.reconciler.on_delete(Key("GpuCloudAccount", "team", name, uid))
        self.reconciler.store.drop(uid)


@pytest.fixture
async def rig(reconcilers, around, cloud):
    for key in ("a", "b"):
        cloud.world(key, GetVpcs=[{"id": "7", "name": key, "tenancyName": f"tenant-{key}"}])
    made = Rig(reconcilers, around)
    yield made
    await made.sessions.aclose()


# --- the Secret


async def test_an_account_is_known_before_its_secret_is_read(rig):
    """So that an object of its namespace waits for it, and does not take the operator's own meanwhile."""
    rig.put()
    assert rig.account().session is None
    rig.reconcilers.put("GpuVM")
    facts = await rig.reconcilers.facts("GpuVM")
    assert facts.account.name == "default"
    assert "its Secret has not been read yet" in facts.found.detail


async def test_a_secret_that_the_apiserver_cannot_read_is_told_to_who_waits(rig):
    """An encryption provider that is down fails the reads of Secrets alone: its objects must not wait in silence."""
    rig.put()
    rig.kube.secrets["team", "key"] = KubeError(500, "InternalError", "etcd")
    with pytest.raises(KubeError):
        await rig.facts()
    rig.reconcilers.put("GpuVM")
    found = (await rig.reconcilers.facts("GpuVM")).found
    assert (found.cause, "cannot be read (500 InternalError)" in found.detail) == (UnknownReason.ACCOUNT, True)


async def test_a_spec_that_cannot_be_read_is_told_to_who_waits(rig):
    rig.put(spec={"secretRef": 5})
    await rig.facts()
    rig.reconcilers.put("GpuVM")
    found = (await rig.reconcilers.facts("GpuVM")).found
    assert (found.cause, "its spec cannot be read" in found.detail) == (UnknownReason.ACCOUNT, True)


async def test_a_failing_read_takes_no_session_away(rig):
    rig.put().holds("a")
    await rig.facts()
    session = rig.account().session
    rig.kube.secrets["team", "key"] = KubeError(500, "InternalError", "etcd")
    with pytest.raises(KubeError):
        await rig.facts()
    assert rig.account().session is session


async def test_a_secret_becomes_a_session(rig):
    rig.put().holds("a", uid="s-9", version="4", meta={"finalizers": [SECRET_FINALIZER, "other.example/x"]})
    facts = await rig.facts()
    assert rig.account().session is rig.sessions.open(ENDPOINTS["prod"], ApiKey("a"), "team/default")
    assert (facts.secret.version.uid, facts.secret.version.resource_version, facts.secret.has_finalizer) == ("s-9", "4", True)
    assert (facts.secret.kind, facts.secret.flaw, facts.secret.deleting, facts.endpoint) == ("ApiKey", "", False, "prod")
    assert rig.kube.reads == [("secret", "team", "key")], "by name, and in its own namespace"


async def test_an_account_chooses_among_the_declared_endpoints_only(rig):
    rig.put("one", spec={"endpoint": "staging"}).put("two", spec={"endpoint": "unheard-of"}).holds("a")
    assert (await rig.facts("one")).endpoint == "staging"
    assert rig.account("one").session.url == ENDPOINTS["staging"]
    assert (await rig.facts("two")).endpoint is None
    assert rig.account("two").session is None


@pytest.mark.parametrize(
    ("secret", "is_there", "trouble"),
    [
        (None, False, ""),
        (FORBIDDEN, False, "grant it get on secrets"),
        (a_secret(), True, ""),
        (a_secret(apikey="a", username="ann"), True, ""),
    ],
)
async def test_without_a_usable_secret_there_is_no_session_and_the_reason_is_known(rig, secret, is_there, trouble):
    rig.put()
    rig.kube.secrets["team", "key"] = secret
    facts = await rig.facts()
    assert (facts.secret is not None, rig.account().session, facts.remembered) == (is_there, None, False)
    assert trouble in facts.secret_trouble
    assert not is_there or facts.secret.flaw


async def test_a_secret_that_could_not_be_read_is_no_missing_one(rig):
    rig.put()
    rig.kube.secrets["team", "key"] = DOWN
    with pytest.raises(KubeError):
        await rig.facts()


@pytest.mark.parametrize("after", [None, FORBIDDEN, a_secret(), a_secret(apikey="two words")])
async def test_a_credential_once_read_stays_in_use_when_its_secret_is_lost(rig, after):
    rig.put().holds("a")
    await rig.facts()
    before = rig.account().session
    rig.kube.secrets["team", "key"] = after
    facts = await rig.facts()
    assert rig.account().session is before
    assert facts.remembered


async def test_a_new_version_of_the_same_credential_changes_nothing(rig):
    rig.put().holds("a")
    await rig.facts()
    before = rig.account().session
    rig.reconcilers.quiet()
    rig.holds("a\n", version="2")
    await rig.facts()
    assert (rig.account().session is before, rig.told, rig.reconcilers.queued) == (True, [], [])


@pytest.mark.parametrize("how", ["rotated", "renamed"])
async def test_another_credential_is_another_session_and_every_user_hears_of_it(rig, how):
    rig.put().holds("a")
    await rig.facts()
    before = rig.account().session
    rig.reconcilers.put("GpuVM")
    rig.reconcilers.put("GpuVM", "stranger", spec={"accountRef": {"name": "another"}})
    rig.reconcilers.quiet()
    if how == "rotated":
        rig.holds("b", version="2")
    else:
        rig.put(spec={"secretRef": {"name": "new"}}).holds("b", name="new", uid="s-2")
    await rig.facts()
    after = rig.account().session
    assert after is not before
    assert [key.name for key in rig.reconcilers.queued] == ["train"]
    ((name, event),) = rig.told
    assert (name, event.reason) == ("default", "CredentialChanged")
    await rig.reconcilers.facts("GpuVM")
    assert (set(before.vms._watched), set(after.vms._watched)) == (set(), {"u-train"})
    assert rig.sessions.users(before) == set()


async def test_what_a_credential_has_shown_dies_with_it(rig):
    rig.put(status=PROVEN).holds("a")
    await rig.facts()
    assert rig.account().session.learned.tenants == {"acme"}
    rig.holds("b", version="2")
    await rig.facts()
    assert rig.account().session.learned.tenants == frozenset()


@pytest.mark.parametrize(
    ("secret", "believed", "why"),
    [
        ({}, True, "this very version was proven"),
        ({"version": "2"}, False, "it may hold another key"),
        ({"uid": "s-2"}, False, "another Secret of that name"),
    ],
)
async def test_only_the_version_that_was_proven_is_believed_after_a_restart(rig, secret, believed, why):
    rig.put(status=PROVEN).holds("a", **secret)
    await rig.facts()
    assert (rig.account().session.learned.tenants == {"acme"}) is believed, why


async def test_a_new_session_finds_out_whose_it_is(rig):
    rig.put().holds("a")
    await rig.facts()
    await asyncio.sleep(1)
    facts = await rig.facts()
    assert (facts.tenant, facts.clusters) == ("tenant-a", ("Msc1",))
    assert facts.contact.last is not None
    assert facts.allowed >= {"GetAll"}


# --- its users


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


@pytest.mark.parametrize(
    ("other", "shared"),
    [
        ({}, True),
        ({"meta": {"namespace": "others"}}, False),
        ({"spec": {"secretRef": {"name": "another"}}}, False),
    ],
)
async def test_a_secret_is_shared_by_accounts_of_one_namespace(rig, other, shared):
    rig.put().put("second", **other).holds("a")
    assert (await rig.facts()).shared is shared


ORDER = {"state": "Unclear", "name": "train", "cluster": "Msc1", "vpc": "acme", "recordedAt": "2026-01-01T00:00:00Z"}
DYING = {"meta": GOING | {"finalizers": [SECRET_FINALIZER]}}


@pytest.mark.parametrize(
    ("vm", "holds", "why"),
    [
        ({}, False, "it only waits"),
        ({"status": {"account": "default", "order": {"state": "NotOrdered"}}}, False, "nothing was ever asked for"),
        ({"status": {"order": ORDER}}, True, "an order may be on its way"),
        ({"status": {"vmId": "train"}}, True, "it has been seen"),
        ({"status": {"order": ORDER}, "meta": GOING}, True, "it is destroyed with this credential"),
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
    rig.reconcilers.put("GpuVM")
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


# --- the end


async def test_a_leaving_account_is_known_as_such(rig):
    rig.put(meta=GOING).holds("a")
    await rig.facts()
    assert rig.account().deleting


async def test_an_account_that_is_gone_takes_its_part_of_the_session_and_its_users_hear(rig):
    rig.put().put("twin").holds("a")
    await rig.facts()
    await rig.facts("twin")
    session = rig.account().session
    rig.reconcilers.put("GpuVM")
    rig.reconcilers.quiet()
    rig.drop()
    assert (rig.account(), rig.sessions.users(session)) == (None, {"team/twin"})
    assert [key.name for key in rig.reconcilers.queued] == ["train"]
    rig.drop()  # nobody minds


async def test_the_end_of_an_account_does_not_touch_its_namesake(rig):
    rig.put(uid="old").holds("a")
    await rig.facts(uid="old")
    rig.put(uid="new")
    await rig.facts(uid="new")
    rig.drop(uid="old")
    assert rig.account().session is not None
    assert rig.sessions.users(rig.account().session) == {"team/default"}


async def test_nothing_is_freed_before_all_that_may_use_it_is_known(rig):
    """After a restart the watch may show a deleted account before the VM that needs its credential to be destroyed."""
    rig.synced = False
    rig.put(meta=GOING).holds("a", meta={"finalizers": [SECRET_FINALIZER]})
    plan = rig.reconciler.decide(await rig.facts())
    assert (plan.action, plan.release) == (None, None)
    rig.synced = True
    assert rig.reconciler.decide(await rig.facts()).action is Verb.FREE_SECRET


async def test_a_namesake_inherits_neither_credential_nor_endpoint(rig):
    """It is shown before the end of the old one is, as after a broken watch, and its own Secret is not there yet."""
    rig.put(uid="old").holds("a")
    await rig.facts(uid="old")
    inherited = rig.account().session
    rig.put(uid="new", spec={"secretRef": {"name": "not-yet"}, "endpoint": "staging"})
    assert rig.account().session is None
    assert (await rig.facts(uid="new")).endpoint == "staging"
    assert rig.account().session is None
    assert rig.sessions.users(inherited) == set()
    with pytest.raises(KubeError) as caught:
        await rig.facts(uid="old")
    assert caught.value.gone
    rig.drop(uid="old")
    assert rig.account().uid == "new"


async def test_a_pass_that_outlives_its_account_puts_nothing_over_the_namesakes(rig):
    """The old account's Secret is still being read when the new one is there already."""
    rig.put(uid="old", meta=GOING).holds("a")
    rig.kube.takes["team", "key"] = 5.0
    late = asyncio.create_task(rig.facts(uid="old"))
    await asyncio.sleep(1)
    rig.kube.secrets["team", "new"] = a_secret(apikey="b")
    rig.drop(uid="old")
    rig.put(uid="new", spec={"secretRef": {"name": "new"}})
    await rig.facts(uid="new")
    wanted = rig.account()
    with pytest.raises(KubeError) as caught:
        await late
    assert caught.value.gone
    assert rig.account() == wanted
    assert not rig.account().deleting


# --- holding the Secret


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


# --- the check


async def test_a_check_asks_the_cloud_and_one_without_a_session_asks_nobody(rig, cloud):
    rig.put().holds("a")
    rig.reconciler.check("team", "default")
    rig.reconciler.check("team", "unheard-of")
    await asyncio.sleep(1)
    assert cloud.calls == []
    await rig.facts()
    await asyncio.sleep(1)
    before = len(cloud.asked("GetAll"))
    rig.reconciler.check("team", "default")
    await asyncio.sleep(1)
    assert len(cloud.asked("GetAll")) == before + 1


# --- secrets


@pytest.mark.parametrize(
    "texts",
    [
        {"apikey": SECRET_WORDS},
        {"apikey": f"two {SECRET_WORDS}"},
        {"username": "ann", "password": SECRET_WORDS},
        {"password": SECRET_WORDS},
        {"apikey": SECRET_WORDS, "password": SECRET_WORDS},
    ],
)
async def test_no_secret_is_told_by_facts_status_events_or_logs(rig, logs, texts):
    rig.put()
    rig.kube.secrets["team", "key"] = a_secret(**texts)
    for _ in range(3):
        facts = await rig.facts()
        plan = rig.reconciler.decide(facts)
        if plan.action is not None:
            event = await rig.reconciler.act(facts, plan)
            rig.told.append(("default", event))
        await asyncio.sleep(2)
    status = plan.status.model_dump_json() if plan.status is not None else ""
    assert SECRET_WORDS not in repr(facts) + repr(plan) + status + repr(rig.told) + repr(logs) + repr(rig.account())
