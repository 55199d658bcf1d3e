"""The Secret of an account is read by name, and becomes a session."""

import asyncio

import pytest

from gpucloud.cloud.options import ApiKey
from gpucloud.engine.kube.errors import KubeError
from gpucloud.kinds.meta import SECRET_FINALIZER
from gpucloud.reconcile.facts import NamedSecret, UnknownReason
from support.accountrig import ENDPOINTS, FORBIDDEN, PROVEN
from support.fakes import DOWN, SECRET_WORDS, a_secret
from support.ordered import NOT_ORDERED

pytestmark = pytest.mark.looptime


async def test_an_account_is_known_before_its_secret_is_read(rig):
    """So that an object of its namespace waits for it, and does not take the operator's own meanwhile."""
    rig.put()
    assert rig.account().session is None
    rig.reconcilers.put("GpuVM", status=NOT_ORDERED)
    facts = await rig.reconcilers.facts("GpuVM")
    assert facts.account.name == "default"
    assert "its Secret has not been read yet" in facts.found.detail


async def test_a_secret_that_the_apiserver_cannot_read_is_told_to_who_waits(rig):
    """An encryption provider that is down fails the reads of Secrets alone: its objects must not wait in silence."""
    rig.put()
    rig.kube.secrets["team", "key"] = KubeError(500, "InternalError", "etcd")
    with pytest.raises(KubeError):
        await rig.facts()
    rig.reconcilers.put("GpuVM", status=NOT_ORDERED)
    found = (await rig.reconcilers.facts("GpuVM")).found
    assert (found.cause, "cannot be read (500 InternalError)" in found.detail) == (UnknownReason.ACCOUNT, True)


async def test_a_spec_that_cannot_be_read_is_told_to_who_waits(rig):
    rig.put(spec={"secretRef": 5})
    await rig.facts()
    rig.reconcilers.put("GpuVM", status=NOT_ORDERED)
    found = (await rig.reconcilers.facts("GpuVM")).found
    assert (found.cause, "its spec cannot be read" in found.detail) == (UnknownReason.ACCOUNT, True)


@pytest.mark.parametrize("error", [KubeError(500, "InternalError", "etcd"), DOWN])
async def test_a_failing_read_takes_no_session_away(rig, error):
    rig.put().holds("a")
    await rig.facts()
    session = rig.account().session
    rig.kube.secrets["team", "key"] = error
    with pytest.raises(KubeError):
        await rig.facts()
    assert rig.account().session is session


async def test_an_object_knows_which_secret_its_account_names(rig):
    """For the command that updates it when the cloud refuses what it holds."""
    rig.put().holds("a")
    await rig.facts()
    rig.reconcilers.put("GpuVM", status=NOT_ORDERED)
    facts = await rig.reconcilers.facts("GpuVM")
    assert facts.account.secret == NamedSecret("key", holds_login=False)


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
        (FORBIDDEN, False, "grant its ServiceAccount the verb get on secrets"),
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


async def test_the_tenant_of_a_credential_is_forgotten_with_it(rig):
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


async def test_a_new_session_learns_its_tenant_and_clusters(rig):
    rig.put().holds("a")
    await rig.facts()
    await asyncio.sleep(1)
    facts = await rig.facts()
    assert (facts.tenant, facts.clusters) == ("tenant-a", ("Msc1",))
    assert facts.contact.last is not None
    assert facts.allowed >= {"GetAll"}


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
