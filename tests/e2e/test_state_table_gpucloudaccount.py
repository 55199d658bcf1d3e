"""The rows of the status table for a GpuCloudAccount, on a real apiserver: one operator, one account and Secret a row."""

from __future__ import annotations

import socket
from dataclasses import dataclass, field
from typing import Any

import pytest

from support.kstatus import assert_row, condition, ready
from support.manifests import gpucloudaccount, gpuvm, secret
from support.simcloud import API_KEY
from support.waiting import eventually, gone, reach

POLLS = {"poll_pending_seconds": 0.2, "poll_steady_seconds": 0.4, "create_grace_seconds": 1}
PASSWORD = "made-up-p4ssphrase"


@dataclass(frozen=True)
class Row:
    """What the Secret of an account holds (None: there is no Secret), and what is to be said of the account."""

    why: str
    data: dict[str, str] | None
    wanted: str
    kstatus: str = "Failed"
    standing: str = "Stalled"
    met: bool = False
    says: str = ""
    spec: dict[str, Any] = field(default_factory=dict)


ROWS = {
    "key": Row("an API key", {"apikey": API_KEY}, "True/Connected", "Current", "-", True, "API key"),
    "login": Row("a login", {"username": "ann", "password": PASSWORD}, "True/Connected", "Current", "-", True, "login"),
    "early": Row("no Secret yet", None, "False/SecretNotFound", "InProgress", "Reconciling", says="'early'"),
    "neither": Row("no credential in it", {"colour": "blue"}, "False/InvalidSecret", says="'neither'"),
    "both": Row("two in it", {"apikey": API_KEY, "username": "ann", "password": PASSWORD}, "False/InvalidSecret"),
    "half": Row("a user without a password", {"username": "ann"}, "False/InvalidSecret"),
    "wrong": Row("a key that the cloud does not know", {"apikey": "made-up-and-wrong"}, "False/CredentialsRefused"),
    "undeclared": Row(
        "an endpoint that nobody declared",
        {"apikey": API_KEY},
        "False/UnknownEndpoint",
        says="'default', 'far'",
        spec={"endpoint": "mars"},
    ),
    "away": Row(
        "a cloud that does not answer",
        {"apikey": API_KEY},
        "Unknown/ApiUnavailable",
        "InProgress",
        "Reconciling",
        says="'far'",
        spec={"endpoint": "far"},
    ),
}


def account(name, **spec):
    """An account whose Secret bears its name."""
    return gpucloudaccount(name, secretRef={"name": name}, **spec)


@pytest.fixture
def nobody():
    with socket.socket() as made:
        yield made


def test_while_it_lives(here, sim, operator, nobody):
    nobody.bind(("127.0.0.1", 0))  # bound, not listening: refused, and nobody else can take the port
    far = f"far=http://127.0.0.1:{nobody.getsockname()[1]}"
    process = operator(**POLLS, endpoint=[f"default={sim.url}", far], api_key_file=None)
    here.apply([secret(name, **row.data) for name, row in ROWS.items() if row.data is not None])
    here.apply([account(name, **row.spec) for name, row in ROWS.items()])
    for name, row in ROWS.items():
        item = reach(here, "gpucloudaccount", name, row.wanted, says=row.says)
        assert_row(here, item, kstatus=row.kstatus, standing=row.standing, met=row.met)
    # What only informs is written a few seconds later.
    login = reach(here, "gpucloudaccount", "login", "True/Connected", says="tenant 'acme'")["status"]
    assert (login["credentialKind"], login["tenant"]) == ("Login", "acme")
    assert login["tokenExpiresAt"] > login["lastContactAt"]
    assert "tokenExpiresAt" not in here.get("gpucloudaccount", "key")["status"]

    here.apply(secret("early", apikey=API_KEY))
    here.apply(secret("wrong", apikey=API_KEY))  # taken up by itself at the next look, half a minute later, or when asked
    here.annotate("gpucloudaccount", "wrong", **{"gpucloud.dev/reconcile-requested-at": "now"})
    for name in ("early", "wrong"):
        reach(here, "gpucloudaccount", name, "True/Connected")
    everything = f"{here.list('gpucloudaccount')} {here.list('events.events.k8s.io')} {process.process.lines()}"
    for word in (API_KEY, "made-up-and-wrong", PASSWORD):
        assert word not in everything


def test_edited_paused_and_out_of_sight(here, sim, operator):
    here.apply([secret(apikey=API_KEY), gpucloudaccount()])
    item = here.get("gpucloudaccount", "default")
    assert ready(item) == "Unknown/Pending"
    assert_row(here, item, kstatus="InProgress", standing="-", met=False, observed=-1)

    process = operator(**POLLS, api_key_file=None)
    reach(here, "gpucloudaccount", "default", "True/Connected", says="tenant 'acme'")
    process.stop()
    here.patch("gpucloudaccount", "default", {"spec": {"defaults": {"rootDiskGiB": 200}}})
    item = here.get("gpucloudaccount", "default")
    assert_row(here, item, kstatus="InProgress", standing="-", met=False, observed=1)

    operator(**POLLS, api_key_file=None)
    eventually(lambda: here.get("gpucloudaccount", "default")["status"]["observedGeneration"] == 2, what="the edit to be seen")
    reach(here, "gpucloudaccount", "default", "True/Connected")
    here.annotate("gpucloudaccount", "default", **{"gpucloud.dev/paused": "true"})
    item = eventually(
        lambda: (item := here.get("gpucloudaccount", "default")) and condition(item, "Paused") and item, what="Paused"
    )
    assert ready(item) == "True/Connected"
    assert_row(here, item, kstatus="Current", standing="-", met=True)
    here.patch("gpucloudaccount", "default", {"spec": {"defaults": {"rootDiskGiB": 300}}})
    item = reach(here, "gpucloudaccount", "default", "Unknown/Paused")
    assert_row(here, item, kstatus="InProgress", standing="-", met=False)
    here.annotate("gpucloudaccount", "default", **{"gpucloud.dev/paused": None})
    reach(here, "gpucloudaccount", "default", "True/Connected")

    here.apply(gpuvm())  # its listings are what tells that the cloud is away, long before the account's own check
    reach(here, "gpuvm", "train", "True/Running")
    sim.fault(kind="status", operation="*", status=502)
    item = reach(here, "gpucloudaccount", "default", "Unknown/ApiUnavailable")
    assert_row(here, item, kstatus="InProgress", standing="Reconciling", met=False)
    sim.clear_faults()
    reach(here, "gpucloudaccount", "default", "True/Connected")


def test_while_it_is_deleted(here, sim, operator):
    operator(**POLLS, api_key_file=None)
    here.apply([secret(apikey=API_KEY), gpucloudaccount(), gpuvm()])
    reach(here, "gpuvm", "train", "True/Running")
    eventually(lambda: here.get("gpucloudaccount", "default")["status"].get("heldSecret"), what="its Secret to be held")
    held = ["gpucloud.dev/credentials-in-use"]
    eventually(lambda: here.get("secret", "cloud-credential")["metadata"].get("finalizers") == held, what="its finalizer")
    here.ok("delete", "gpucloudaccount/default", "secret/cloud-credential", "--wait=false")
    item = reach(here, "gpucloudaccount", "default", "False/DeletionBlocked", says="GpuVM 'train'")
    assert_row(here, item, kstatus="Terminating", standing="Reconciling", met=False)
    here.annotate("gpucloudaccount", "default", **{"gpucloud.dev/paused": "true"})
    item = reach(here, "gpucloudaccount", "default", "False/DeletionBlocked", says="gpucloud.dev/paused")
    assert_row(here, item, kstatus="Terminating", standing="Stalled", met=False)
    here.annotate("gpucloudaccount", "default", **{"gpucloud.dev/paused": None})
    here.delete("gpuvm", "train")
    gone(here, "gpucloudaccount", "default")
    eventually(lambda: here.get("secret", "cloud-credential") is None, what="the Secret to be freed")
    sim.assert_empty()
