"""A GpuCloudAccount's life with its Secret: rotated, swapped for another tenant's, deleted too early, and who may use what."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

import pytest

from gpucloud.kinds.meta import SECRET_FINALIZER
from support.kstatus import condition, ready
from support.manifests import gpucloudaccount, gpusnapshot, gpuvm, gpuvpc, secret
from support.simcloud import API_KEY
from support.waiting import eventually, gone, reach

FLAGS = {
    "poll_pending_seconds": 0.2,
    "poll_steady_seconds": 0.5,
    "create_grace_seconds": 1,
    "cloud_qps": 500,
    "cloud_burst": 100,
}
OWN = {**FLAGS, "api_key_file": None}  # the operator has no account of its own
PASSWORD = "made-up-p4ssphrase"
OBJECTS = (("gpuvpc", "lab", "True/Available"), ("gpuvm", "train", "True/Running"), ("gpusnapshot", "before", "True/Completed"))
ROTATION_SECONDS = 90.0  # the Secret in use is read each half minute


def take_up(here, name="default"):
    """Have an account look at its Secret now, where a test would only wait for the next look."""
    here.annotate("gpucloudaccount", name, **{"gpucloud.dev/reconcile-requested-at": secrets.token_hex(4)})


def used(sim, key, since=0):
    return [call["operation"] for call in sim.control(f"ledger?credential={key['id']}&since={since}")["entries"]]


def last(sim):
    return sim.control("ledger")["last"]


def proven(here):
    """The account's status, once it records the very version of its Secret that there is."""
    found, status = here.get("secret", "cloud-credential"), here.get("gpucloudaccount", "default")["status"]
    return status if status["provenSecret"]["resourceVersion"] == found["metadata"]["resourceVersion"] else None


def looks(sim, count=4):
    """Let some more listings come."""
    asked = len(sim.calls("GetServers"))
    eventually(lambda: len(sim.calls("GetServers")) >= asked + count, 60, f"{count} more listings")


def test_a_rotated_key_is_taken_up_without_a_restart(here, sim, operator):
    """And the old one is not used afterwards; objects that wait and objects that go use the new one."""
    sim.turn(snapshot_seconds=0.3)
    old, new = sim.key("ann"), sim.key("ann")
    operator(**OWN)
    here.apply([secret(apikey=old["value"]), gpucloudaccount(), gpuvpc(), gpuvm(), gpusnapshot()])
    for kind, name, wanted in OBJECTS:
        reach(here, kind, name, wanted)
    eventually(lambda: proven(here), what="the Secret to be recorded as it is")
    before = here.get("gpucloudaccount", "default")["status"]
    here.apply(secret(apikey=new["value"]))
    eventually(lambda: "GetServers" in used(sim, new), ROTATION_SECONDS, "the new key to be used")
    asked = last(sim)
    looks(sim)
    assert used(sim, old, asked) == [], "the old key is not used any more"
    sim.revoke(old)
    here.patch("gpuvm", "train", {"spec": {"powerState": "Stopped"}})
    reach(here, "gpuvm", "train", "True/PoweredOff")
    for kind, name, _ in OBJECTS:
        if kind != "gpuvm":
            assert ready(here.get(kind, name)).startswith("True/")
    after = eventually(lambda: proven(here), what="the new version of the Secret to be recorded as proven")
    assert after["provenSecret"] != before["provenSecret"]
    assert after["tenant"] == "acme"
    eventually(lambda: ("default", "CredentialChanged") in here.events(), what="the Event")
    here.ok("delete", "gpuvpc,gpuvm,gpusnapshot", "--all", "--wait=false")
    for kind, name, _ in OBJECTS:
        gone(here, kind, name)
    sim.assert_empty()


def test_another_tenants_key_changes_nothing_and_the_right_one_heals(here, sim, operator):
    sim.turn(snapshot_seconds=0.3)
    ours, theirs = sim.key("ann"), sim.key("gil")
    operator(**OWN, blind_after_seconds=1)
    here.apply([secret(apikey=ours["value"]), gpucloudaccount(), gpuvpc(), gpuvm(), gpusnapshot()])
    for kind, name, wanted in OBJECTS:
        reach(here, kind, name, wanted)
    eventually(
        lambda: here.get("gpucloudaccount", "default")["status"].get("tenant") == "acme", what="the tenant to be recorded"
    )
    standing, done = (sim.vms(), sim.snapshots(), sim.vpcs()), sim.mutations()

    here.apply(secret(apikey=theirs["value"]))
    take_up(here)
    item = reach(here, "gpucloudaccount", "default", "False/TenantMismatch", ROTATION_SECONDS, says="'globex'")
    assert "'acme'" in condition(item, "Stalled")["message"]
    for kind, name, _ in OBJECTS:
        reach(here, kind, name, "Unknown/TenantMismatch", says="'globex'")
    here.apply(gpuvm("new"))
    reach(here, "gpuvm", "new", "False/AccountNotReady", says="GpuCloudAccount 'default'")
    here.delete("gpuvm", "train", wait=False)
    here.delete("gpuvpc", "lab", wait=False)
    here.delete("gpusnapshot", "before", wait=False)
    for kind, name, _ in OBJECTS:
        reach(here, kind, name, "False/DeletionBlocked", says="globex")
    looks(sim)
    assert (sim.vms(), sim.snapshots(), sim.vpcs()) == standing
    assert sim.mutations() == done, "nothing is created or destroyed"
    assert not {"CreateServer", "DestroyServer", "DestroyVpc", "DeleteSnapshot"} & set(used(sim, theirs))

    here.apply(secret(apikey=ours["value"]))
    take_up(here)
    for kind, name, _ in OBJECTS:
        gone(here, kind, name, timeout=ROTATION_SECONDS)
    reach(here, "gpucloudaccount", "default", "True/Connected")
    reach(here, "gpuvm", "new", "True/Running")
    here.delete("gpuvm", "new")
    sim.assert_empty()


@pytest.mark.parametrize("value", ["true", "now"])
def test_an_absence_once_accepted_lets_no_other_tenants_key_free_the_object(value, here, sim, operator):
    """The history: the annotation stayed in force, the Secret got another tenant's key, and the object went; its VM lived."""
    ours, theirs = sim.key("ann"), sim.key("gil")
    operator(**OWN)
    here.apply([secret(apikey=ours["value"]), gpucloudaccount(), gpuvm()])
    assert reach(here, "gpuvm", "train", "True/Running")["status"]["tenancy"] == "acme"
    said = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if value == "now" else value
    here.annotate("gpuvm", "train", **{"gpucloud.dev/accept-absence": said})
    here.apply(secret(apikey=theirs["value"]))
    take_up(here)
    reach(here, "gpucloudaccount", "default", "False/TenantMismatch", ROTATION_SECONDS)
    here.delete("gpuvm", "train", wait=False)
    item = reach(here, "gpuvm", "train", "False/DeletionBlocked", says="globex")
    assert ("not a time such as" in condition(item, "Stalled")["message"]) is (value == "true")
    looks(sim)
    assert here.get("gpuvm", "train") is not None
    assert len(sim.vms()) == 1
    here.apply(secret(apikey=ours["value"]))
    take_up(here)
    gone(here, "gpuvm", "train", timeout=ROTATION_SECONDS)
    sim.assert_empty()


def test_a_secret_deleted_first_outlasts_its_last_user(here, sim, operator):
    process = operator(**OWN)
    here.apply([secret(apikey=API_KEY), gpucloudaccount(), gpuvm()])
    reach(here, "gpuvm", "train", "True/Running")
    eventually(lambda: here.get("secret", "cloud-credential")["metadata"].get("finalizers"), what="the Secret to be held")
    here.delete("secret", "cloud-credential", wait=False)
    here.delete("gpucloudaccount", "default", wait=False)
    item = reach(here, "gpucloudaccount", "default", "False/DeletionBlocked", says="GpuVM 'train'")
    assert f"kubectl delete gpuvm/train --namespace={here.namespace}" in condition(item, "Ready")["message"]
    process.kill9()  # what the new process knows, it knows from the Secret
    operator(**OWN)
    here.patch("gpuvm", "train", {"spec": {"powerState": "Stopped"}})
    reach(here, "gpuvm", "train", "True/PoweredOff")
    assert here.get("secret", "cloud-credential")["metadata"]["deletionTimestamp"]
    here.delete("gpuvm", "train")
    gone(here, "gpucloudaccount", "default")
    eventually(lambda: here.get("secret", "cloud-credential") is None, what="the Secret to be let go")
    sim.assert_empty()


KEEPER = "example.org/keeper"  # somebody else's finalizer, so that what is deleted can be looked at
WAITS = "Secret 'cloud-credential' is being deleted"


def gone_secret(here, timeout=60):
    eventually(lambda: here.get("secret", "cloud-credential") is None, timeout, "the Secret to be gone")


def test_a_secret_that_bought_nothing_can_be_deleted_and_buys_nothing_while_it_goes(here, sim, operator):
    """The history: a wrong key could not be deleted, and a good one applied onto the dying Secret bought a VM."""
    operator(**OWN)
    here.apply([secret(apikey="made-up-wrong-key"), gpucloudaccount(), gpuvm()])
    reach(here, "gpuvm", "train", "False/CredentialsRefused")
    eventually(lambda: here.get("secret", "cloud-credential")["metadata"].get("finalizers"), what="the Secret to be held")
    here.patch("secret", "cloud-credential", {"metadata": {"finalizers": [SECRET_FINALIZER, KEEPER]}})
    here.delete("secret", "cloud-credential", wait=False)
    take_up(here)
    eventually(
        lambda: here.get("secret", "cloud-credential")["metadata"]["finalizers"] == [KEEPER],
        what="our finalizer to be taken off, since nothing was bought",
    )
    reach(here, "gpuvm", "train", "False/AccountNotReady", says=WAITS)  # and no longer that the credential is refused
    here.apply(secret(apikey=API_KEY))
    take_up(here)
    reach(here, "gpuvm", "train", "False/AccountNotReady", says=WAITS)
    looks(sim)
    assert sim.calls("CreateServer") == []
    here.patch("secret", "cloud-credential", {"metadata": {"finalizers": []}})
    gone_secret(here)
    reach(here, "gpuvm", "train", "False/AccountNotReady", says="Waiting for Secret 'cloud-credential'")
    assert sim.calls("CreateServer") == [], "nor with what was read of it before"
    here.apply(secret(apikey=API_KEY))
    reach(here, "gpuvm", "train", "True/Running")
    here.delete("gpuvm", "train")
    sim.assert_empty()


def test_another_secret_in_the_account_frees_the_one_that_is_being_deleted(here, sim, operator):
    """The way on of docs/how-to/account.md: `kubectl delete secret` hung, and cannot be taken back."""
    operator(**OWN)
    here.apply([secret(apikey=API_KEY), gpucloudaccount(), gpuvm()])
    reach(here, "gpuvm", "train", "True/Running")
    eventually(lambda: here.get("secret", "cloud-credential")["metadata"].get("finalizers"), what="the Secret to be held")
    here.delete("secret", "cloud-credential", wait=False)
    take_up(here)
    reach(here, "gpucloudaccount", "default", "True/SecretDeleting", says="name it in spec.secretRef")
    here.apply(gpuvm("late"))
    reach(here, "gpuvm", "late", "False/AccountNotReady", says=WAITS)
    here.apply(secret("next-credential", apikey=API_KEY))
    here.patch("gpucloudaccount", "default", {"spec": {"secretRef": {"name": "next-credential"}}})
    gone_secret(here)
    reach(here, "gpuvm", "late", "True/Running")
    reach(here, "gpuvm", "train", "True/Running")
    assert len(sim.calls("CreateServer")) == 2, "one each"
    here.ok("delete", "gpuvm", "train", "late", "--timeout=60s")
    sim.assert_empty()


def test_a_dying_secret_serves_what_exists_and_nothing_new(here, sim, operator):
    """Secret first, then a restart, then the VM; two accounts share the Secret, one of which only waits."""
    process = operator(**OWN)
    here.apply([secret(apikey=API_KEY), gpucloudaccount(), gpucloudaccount("second"), gpuvm()])
    reach(here, "gpuvm", "train", "True/Running")
    eventually(lambda: here.get("secret", "cloud-credential")["metadata"].get("finalizers"), what="the Secret to be held")
    here.delete("secret", "cloud-credential", wait=False)
    take_up(here)
    take_up(here, "second")
    reach(here, "gpucloudaccount", "default", "True/SecretDeleting", says="It stays for GpuVM 'train'.")
    here.apply([gpuvm("late"), gpuvm("later", accountRef={"name": "second"})])
    for name in ("late", "later"):
        reach(here, "gpuvm", name, "False/AccountNotReady", says=WAITS)
    process.kill9()
    operator(**OWN)
    looks(sim)
    assert here.get("secret", "cloud-credential") is not None, "the VM needs it"
    here.patch("gpuvm", "train", {"spec": {"powerState": "Stopped"}})
    reach(here, "gpuvm", "train", "True/PoweredOff")
    here.delete("gpuvm", "train")
    gone_secret(here)
    for name in ("late", "later"):
        reach(here, "gpuvm", name, "False/AccountNotReady")
    assert len(sim.calls("CreateServer")) == 1
    here.ok("delete", "gpuvm,gpucloudaccount", "--all", "--wait=false")
    gone(here, "gpuvm", "late", "later")
    gone(here, "gpucloudaccount", "default", "second")
    sim.assert_empty()


def test_holds_that_are_on_go_when_they_are_switched_off(here, sim, operator):
    """Of an account in use, and of one that was deleted while the operator was away: with the documented rights."""
    process = operator(**OWN)
    here.apply([secret(apikey=API_KEY), gpucloudaccount(), gpuvm()])
    here.apply([secret("other", apikey=sim.key("ann")["value"]), gpucloudaccount("other", secretRef={"name": "other"})])
    reach(here, "gpuvm", "train", "True/Running")
    for name in ("cloud-credential", "other"):
        eventually(lambda name=name: here.get("secret", name)["metadata"].get("finalizers"), what=f"{name} to be held")
    process.kill9()
    here.delete("secret", "other", wait=False)
    here.delete("gpucloudaccount", "other", wait=False)

    operator(**OWN, no_secret_finalizer=True)
    gone(here, "gpucloudaccount", "other")
    eventually(lambda: here.get("secret", "other") is None, what="the other Secret to be let go")
    used = ("secret", "cloud-credential")
    eventually(lambda: not here.get(*used)["metadata"].get("finalizers"), what="the Secret in use to be let go")
    reach(here, "gpucloudaccount", "default", "True/Connected")
    here.delete("gpuvm", "train")
    here.delete("gpucloudaccount", "default")
    here.delete("secret", "cloud-credential")
    sim.assert_empty()


def test_without_the_finalizer_a_missing_secret_is_named_and_waited_for(here, sim, operator):
    process = operator(**OWN, no_secret_finalizer=True)
    here.apply([secret(apikey=API_KEY), gpucloudaccount(), gpuvm()])
    reach(here, "gpuvm", "train", "True/Running")
    assert not here.get("secret", "cloud-credential")["metadata"].get("finalizers")
    here.delete("secret", "cloud-credential")
    take_up(here)
    reach(here, "gpucloudaccount", "default", "False/SecretNotFound", ROTATION_SECONDS, says="stays in use")
    here.patch("gpuvm", "train", {"spec": {"powerState": "Stopped"}})
    reach(here, "gpuvm", "train", "True/PoweredOff")  # what was read once still serves

    process.kill9()
    operator(**OWN, no_secret_finalizer=True, blind_after_seconds=1)
    here.delete("gpuvm", "train", wait=False)
    item = reach(here, "gpucloudaccount", "default", "False/SecretNotFound", says="'cloud-credential'")
    assert condition(item, "Reconciling")
    reach(here, "gpuvm", "train", "False/DeletionBlocked", says="it needs Secret 'cloud-credential'")
    here.delete("gpucloudaccount", "default", wait=False)
    reach(here, "gpucloudaccount", "default", "False/DeletionBlocked", says="Secret 'cloud-credential'")
    assert len(sim.vms()) == 1
    here.apply(secret(apikey=API_KEY))
    gone(here, "gpuvm", "train")
    gone(here, "gpucloudaccount", "default")
    assert here.get("secret", "cloud-credential"), "it was not ours to take"
    sim.assert_empty()


def test_a_revoked_key_is_told_and_a_new_one_heals(here, sim, operator):
    key = sim.key("ann")
    operator(**OWN, blind_after_seconds=1)
    here.apply([secret(apikey=key["value"]), gpucloudaccount(), gpuvm()])
    reach(here, "gpuvm", "train", "True/Running")
    sim.revoke(key)
    item = reach(here, "gpucloudaccount", "default", "False/CredentialsRefused", says="'cloud-credential'")
    assert condition(item, "Stalled")
    reach(here, "gpuvm", "train", "False/CredentialsRefused", says="'default'")
    here.apply(secret(apikey=sim.key("ann")["value"]))
    take_up(here)
    reach(here, "gpucloudaccount", "default", "True/Connected", ROTATION_SECONDS)
    reach(here, "gpuvm", "train", "True/Running")
    assert sim.mutations() == ["CreateServer"]
    here.delete("gpuvm", "train")


def test_a_login_is_renewed_and_its_end_is_shown(here, sim, operator):
    sim.turn(login_token_seconds=29.99)  # told as 29, and renewed some seconds before: nothing is sent in its last moment
    process = operator(**OWN, log_level="debug")
    here.apply([secret(username="ann", password=PASSWORD), gpucloudaccount(), gpuvm()])
    reach(here, "gpuvm", "train", "True/Running")
    status = reach(here, "gpucloudaccount", "default", "True/Connected", says="login")["status"]
    assert status["credentialKind"] == "Login"
    assert status["tokenExpiresAt"]
    eventually(lambda: len(sim.calls("Authenticate")) >= 3, 180, "the token to be renewed twice")
    assert 401 not in {call["status"] for call in sim.calls()}, "renewed early, not after a refusal"
    everything = f"{here.list('gpucloudaccount')} {here.list('events.events.k8s.io')} {process.process.lines()}"
    assert PASSWORD not in everything
    here.apply(secret(username="tia", password=PASSWORD))
    take_up(here)
    reach(here, "gpucloudaccount", "default", "False/CredentialsRefused", ROTATION_SECONDS, says="second factor")
    here.apply(secret(username="ann", password=PASSWORD))
    take_up(here)
    reach(here, "gpucloudaccount", "default", "True/Connected", ROTATION_SECONDS)
    here.delete("gpuvm", "train")


def test_which_account_an_object_uses(here, kubectl, new_namespace, sim, operator):
    """Its accountRef, else what was frozen, else the namespace's default, else the operator's own, where that is allowed."""
    allowed, default, named = here, kubectl.in_namespace(new_namespace()), sim.key("ann")
    default_key, outside = sim.key("ann"), kubectl.in_namespace(new_namespace())
    operator(**FLAGS, own_account_namespace=[allowed.namespace, default.namespace])
    outside.apply(gpuvm())
    reach(
        outside,
        "gpuvm",
        "train",
        "False/NoAccount",
        says="Create it (kubectl gpucloud explain NoAccount), or recreate this object",
    )
    outside.apply([secret(apikey=named["value"]), gpucloudaccount()])
    reach(outside, "gpuvm", "train", "True/Running")  # it is woken by the account that it waits for
    assert outside.get("gpuvm", "train")["status"]["account"] == "default"

    allowed.apply(gpuvm("early"))
    assert reach(allowed, "gpuvm", "early", "True/Running")["status"]["account"] == "(operator)"
    allowed.apply([secret(apikey=default_key["value"]), gpucloudaccount()])
    reach(allowed, "gpucloudaccount", "default", "True/Connected")
    allowed.apply([secret("other", apikey=named["value"]), gpucloudaccount("other", secretRef={"name": "other"})])
    allowed.apply([gpuvm("late"), gpuvm("particular", accountRef={"name": "other"})])
    for name, account in (("late", "default"), ("particular", "other"), ("early", "(operator)")):
        assert reach(allowed, "gpuvm", name, "True/Running")["status"]["account"] == account
    before = last(sim)
    allowed.delete("gpuvm", "early")
    assert "DestroyServer" not in used(sim, default_key, before), "it was moved to the default account"
    assert sim.calls("DestroyServer")[-1]["credential"] == sim.calls("CreateServer")[1]["credential"]

    default.apply(gpuvm("abroad", accountRef={"name": "other"}))  # an account of another namespace
    reach(default, "gpuvm", "abroad", "False/AccountNotReady", says="there is none")
    for where in (allowed, default, outside):
        where.ok("delete", "gpuvm", "--all", "--wait=false")
        eventually(lambda where=where: not where.list("gpuvm"), 60, "all to go")
    sim.assert_empty()


@pytest.mark.parametrize("data", [{"colour": "blue"}, {"apikey": API_KEY, "username": "ann", "password": PASSWORD}])
def test_objects_wait_for_a_secret_that_can_be_used(data, here, sim, operator):
    operator(**OWN)
    here.apply([secret(**data), gpucloudaccount(), gpuvm()])
    reach(here, "gpucloudaccount", "default", "False/InvalidSecret", says="'cloud-credential'")
    reach(here, "gpuvm", "train", "False/AccountNotReady", says="GpuCloudAccount 'default'")
    assert sim.calls() == []
    here.ok("delete", "secret", "cloud-credential")
    here.apply(secret(apikey=API_KEY))
    reach(here, "gpuvm", "train", "True/Running")
    here.delete("gpuvm", "train")
