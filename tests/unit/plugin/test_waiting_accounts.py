"""A wait for an object whose account creates nothing any more."""

import time

import pytest

from support.pluginworld import a_body

DYING = "Secret 'key' is being deleted, which cannot be undone. Create another Secret, and name it in spec.secretRef."
DYING_ACCOUNT = (
    f"it waits in vain for GpuCloudAccount/default: SecretDeleting: {DYING} The commands for that: "
    "kubectl gpucloud doctor --namespace=team"
)
NOT_READY = "AccountNotReady: train is AccountNotReady."
GOING = (
    "it waits in vain for GpuCloudAccount/default, which is being deleted, and waits until this object is gone. Delete this "
    "object, too, and create both again if they are still wanted: kubectl delete gvm/train --namespace=team"
)


@pytest.mark.parametrize(
    ("vm", "account", "expected", "why"),
    [
        (("Working", "AccountNotReady"), ("Ready", "SecretDeleting"), (3, f"failed: {DYING_ACCOUNT}"), "for ever"),
        (("Working", "AccountNotReady"), ("Deleting",), (3, f"failed: {GOING}"), "the account waits for this very VM to go"),
        (
            ("Working", "AccountNotReady"),
            ("Stalled", "UnknownEndpoint"),
            (3, f"default: UnknownEndpoint: {DYING}"),
            "immutable",
        ),
        (("Working", "AccountNotReady"), ("Stalled", "InvalidSecret"), (4, NOT_READY), "it is read within seconds"),
        (("Working", "AccountNotReady"), ("Unseen", "SecretDeleting"), (4, NOT_READY), "it may name another Secret by now"),
        (("Working", "AccountNotReady"), ("Working", "SecretNotFound"), (4, NOT_READY), "an apply in any order"),
        (("Working", "AccountNotReady"), None, (4, NOT_READY), "there is no account yet"),
        (("Working", "Creating"), ("Ready", "SecretDeleting"), (4, "Creating: train is Creating."), "bought before that"),
        (("Unseen", "AccountNotReady"), ("Ready", "SecretDeleting"), (4, "Waiting for the operator's first look"), "new"),
        (("Unknown", "AccountNotReady"), ("Ready", "SecretDeleting"), (4, NOT_READY), "its VM is looked for, and may be there"),
        (("Ready",), ("Ready", "SecretDeleting"), (0, "ready"), "what exists is served on"),
    ],
)
def test_an_object_waits_in_vain_for_an_account_that_creates_nothing_any_more(api, plugin, vm, account, expected, why):
    """The history: a wait for such a VM ran until its timeout, though only a person could end what it waited for."""
    api.add(a_body("GpuVM", "train", *vm))
    if account is not None:
        api.add(a_body("GpuCloudAccount", "default", *account, message=DYING))
    code, out, _ = plugin("wait", "gvm/train", "--timeout", "0")
    assert (code, expected[1] in out) == (expected[0], True), why


def test_a_secret_that_stays_without_a_credential_ends_the_wait_for_its_account_and_for_an_object_alike(
    api, plugin, monkeypatch
):
    api.add(
        a_body("GpuVM", "train", "Working", "AccountNotReady"), a_body("GpuCloudAccount", "default", "Stalled", "InvalidSecret")
    )
    looks, began = [], time.monotonic()
    monkeypatch.setattr("time.monotonic", lambda: began + 30.0 * len(looks))
    monkeypatch.setattr("time.sleep", looks.append)
    code, out, _ = plugin("wait", "gvm/train", "--timeout", "30m")
    said = "GpuVM/train: failed: it waits in vain for GpuCloudAccount/default: InvalidSecret: default is InvalidSecret.\n"
    assert (code, out, len(looks)) == (3, said, 3)


def test_a_paused_account_names_the_way_on(api, plugin):
    paused = {"annotations": {"gpucloud.dev/paused": "true"}}
    api.add(a_body("GpuVM", "train", "Working", "AccountNotReady"))
    api.add(a_body("GpuCloudAccount", "default", "Working", "SecretNotFound", **paused))
    code, out, _ = plugin("wait", "gvm/train", "--timeout", "0")
    assert (code, "kubectl gpucloud resume gca/default --namespace=team" in out) == (3, True)


def test_an_account_that_is_waited_for_beside_its_object_is_judged_once(api, plugin):
    api.add(a_body("GpuVM", "train", "Working", "AccountNotReady"), a_body("GpuCloudAccount", "default", "Working"))
    out = plugin("wait", "gvm/train", "gca/default", "--timeout", "0")[1]
    assert [line.split(":")[0] for line in out.splitlines()] == ["GpuVM/train", "GpuCloudAccount/default"]


@pytest.mark.parametrize(
    ("named", "outcome", "why"),
    [
        ({"spec": {"accountRef": {"name": "mine"}}}, 3, "spec.accountRef names it"),
        ({"status": {"account": "mine"}}, 3, "the account of its order"),
        ({}, 4, "it uses another one, which is well"),
    ],
)
def test_the_account_that_an_object_waits_for_is_the_one_that_it_uses(api, plugin, named, outcome, why):
    api.add(a_body("GpuVM", "train", "Working", "AccountNotReady", **named), a_body("GpuCloudAccount", "default"))
    api.add(a_body("GpuCloudAccount", "mine", "Ready", "SecretDeleting"), a_body("GpuVM", "other"))
    assert plugin("wait", "train", "other", "--timeout", "0")[0] == outcome, why


def test_who_may_not_read_accounts_waits_on(api, plugin):
    api.add(
        a_body("GpuVM", "train", "Working", "AccountNotReady"), a_body("GpuCloudAccount", "default", reason="SecretDeleting")
    )
    api.refused["/apis/gpucloud.dev/v1alpha1/namespaces/team/gpucloudaccounts"] = 403
    code, out, err = plugin("wait", "gvm/train", "--timeout", "0")
    assert (code, NOT_READY in out, "refused" in out + err) == (4, True, False)
