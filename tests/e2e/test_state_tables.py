"""The status contract on a real apiserver: each row of each kind's table, judged by kstatus, ``kubectl wait`` and its words.

One operator serves all rows of a kind, one object a row; faults strike by the name in the cloud.
"""

from __future__ import annotations

import socket

import pytest

from support.kstatus import assert_row, condition, ready
from support.manifests import gpucloudaccount, gpuvm, secret
from support.simcloud import API_KEY
from support.statetables import GPUCLOUDACCOUNT, GPUSNAPSHOT, GPUVPC, HELD, ORDERING, PASSWORD, manifests
from support.waiting import eventually, gone, reach

POLLS = {"poll_pending_seconds": 0.2, "poll_steady_seconds": 0.4, "blind_after_seconds": 1, "create_grace_seconds": 1}
AGAIN = 200  # seconds within which what was throttled, however often by now, is tried again
each_ordering = pytest.mark.parametrize("kind", ORDERING, ids=lambda kind: kind.resource)
each = pytest.mark.parametrize("kind", [*ORDERING, GPUCLOUDACCOUNT], ids=lambda kind: kind.resource)


@pytest.fixture
def nobody():
    with socket.socket() as made:
        yield made


def reach_rows(here, kind):
    """Wait for every row to be as its table says."""
    here.apply(manifests(kind))
    for name, row in kind.rows.items():
        item = reach(here, kind.resource, name, row.wanted, says=row.says)
        assert_row(here, item, kstatus=row.kstatus, standing=row.standing, met=row.met)
        if kind is GPUSNAPSHOT:
            assert (condition(item, "Succeeded") is not None) == row.met, "only what is finished has succeeded"


@each_ordering
def test_while_it_lives(here, sim, operator, kind):
    kind.prepare(sim)
    for name, row in kind.rows.items():
        if row.fault:
            sim.fault(operation=kind.create, parameters={"name": kind.prefix + name}, **row.fault)
    operator(**POLLS)
    reach_rows(here, kind)
    asked = [call["parameters"]["name"] for call in sim.calls(kind.create)]
    for name, row in kind.rows.items():
        if row.wanted in {"False/PermissionDenied", "False/Rejected"}:
            assert asked.count(row.spec.get("name", kind.prefix + name)) == 1, "one attempt, as long as nothing changes"

    sim.clear_faults()
    reach(here, kind.resource, "throttled", kind.ready, timeout=AGAIN)  # still watched
    destroyed = len(sim.calls(kind.destroy))
    kind.remove(sim, here.get(kind.resource, "made"))
    item = reach(here, kind.resource, "made", kind.lost)
    assert_row(here, item, kstatus="Failed", standing="Stalled", met=False)
    assert condition(item, "Succeeded") is None
    assert kind.prefix + "made" not in kind.there(sim), "it is not made again"
    assert len(sim.calls(kind.destroy)) <= destroyed + 1, "nothing is destroyed but by us"
    if kind is GPUSNAPSHOT:
        sim.turn(snapshot_seconds=HELD)
        sim.create_vm("nobody")
        sim.force("nobody", "ONLINE")
        reach(here, kind.resource, "sourceless", "False/Creating")  # taken as soon as there is one


def test_while_an_account_lives(here, sim, operator, nobody):
    nobody.bind(("127.0.0.1", 0))  # bound, not listening: refused, and nobody else can take the port
    far = f"far=http://127.0.0.1:{nobody.getsockname()[1]}"
    process = operator(**POLLS, endpoint=[f"default={sim.url}", far], api_key_file=None)
    reach_rows(here, GPUCLOUDACCOUNT)
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


@each
def test_edited_paused_and_out_of_sight(here, sim, operator, kind):
    kind.prepare(sim)
    flags = {**POLLS, "api_key_file": None} if kind is GPUCLOUDACCOUNT else POLLS
    name, resource = "default", kind.resource
    here.apply([*([secret(name, apikey=API_KEY)] if kind is GPUCLOUDACCOUNT else []), kind.make(name)])
    item = here.get(resource, name)
    assert ready(item) == "Unknown/Pending"
    assert_row(here, item, kstatus="InProgress", standing="-", met=False, observed=-1)

    process = operator(**flags)
    reach(here, resource, name, kind.ready)
    process.stop()
    first, second = kind.edits
    here.patch(resource, name, {"spec": first})
    item = here.get(resource, name)
    assert ready(item) == kind.ready
    assert_row(here, item, kstatus="InProgress", standing="-", met=False, observed=1)

    operator(**flags)
    eventually(lambda: here.get(resource, name)["status"]["observedGeneration"] == 2, what="the edit to be seen")
    reach(here, resource, name, kind.ready)
    here.annotate(resource, name, **{"gpucloud.dev/paused": "true"})
    item = eventually(lambda: (item := here.get(resource, name)) and condition(item, "Paused") and item, what="Paused")
    assert ready(item) == kind.ready
    assert_row(here, item, kstatus="Current", standing="-", met=True)
    changed = sim.mutations()
    here.patch(resource, name, {"spec": second})
    item = reach(here, resource, name, "Unknown/Paused")
    assert_row(here, item, kstatus="InProgress", standing="-", met=False)
    assert sim.mutations() == changed, "a pause means hands off"
    here.annotate(resource, name, **{"gpucloud.dev/paused": None})
    settled = kind.edited or kind.ready
    assert not condition(reach(here, resource, name, settled), "Paused")

    if kind is GPUCLOUDACCOUNT:
        here.apply(gpuvm())  # its listings are what tells that the cloud is away, long before the account's own check
        reach(here, "gpuvm", "train", "True/Running")
    sim.fault(kind="status", operation=kind.listing, status=502)
    item = reach(here, resource, name, "Unknown/ApiUnavailable")
    assert_row(here, item, kstatus="InProgress", standing="Reconciling", met=False)
    assert not kind.record or item["status"][kind.record], "the last known record stays"
    sim.clear_faults()
    reach(here, resource, name, settled)


@each_ordering
def test_while_it_is_deleted(here, sim, operator, kind):
    kind.prepare(sim)
    before = set(kind.there(sim))
    operator(**POLLS)
    names = ("going", "refused", "held", *(("used",) if kind is GPUVPC else ()))
    here.apply([kind.make(name) for name in names])
    ids = {name: reach(here, kind.resource, name, kind.ready)["status"][kind.record] for name in names}
    sim.fault(kind="silence", seconds=HELD, operation=kind.destroy, parameters={"Id": ids["going"]})
    sim.fault(kind="status", status=403, operation=kind.destroy, parameters={"Id": ids["refused"]})
    here.annotate(kind.resource, "held", **{"gpucloud.dev/paused": "true"})
    table = {
        "going": ("False/Deleting", "Reconciling", ""),
        "refused": ("False/DeletionBlocked", "Stalled", "spec.deletion.policy: Retain"),
        "held": ("False/DeletionBlocked", "Stalled", "gpucloud.dev/paused"),
    }
    if kind is GPUVPC:
        sim.create_vm("theirs", vpc="acme-used")
        table["used"] = ("False/DeletionBlocked", "Reconciling", "VM 'theirs'")
    here.ok("delete", kind.resource, *names, "--wait=false")
    for name, (wanted, standing, says) in table.items():
        item = reach(here, kind.resource, name, wanted, says=says)
        assert_row(here, item, kstatus="Terminating", standing=standing, met=False)
    assert set(kind.there(sim)) - before == {kind.prefix + name for name in names}

    here.patch(kind.resource, "refused", {"spec": {"deletion": {"policy": "Retain"}}})
    here.annotate(kind.resource, "held", **{"gpucloud.dev/paused": None})
    if kind is GPUVPC:
        sim.destroy_vm("theirs", vpc="acme-used")
    gone(here, kind.resource, *(name for name in names if name != "going"))
    left = {kind.prefix + "going", kind.prefix + "refused"}
    eventually(lambda: set(kind.there(sim)) - before == left, what="one to be destroyed, and one retained")


def test_while_an_account_is_deleted(here, sim, operator):
    operator(**POLLS, api_key_file=None)
    here.apply([secret(apikey=API_KEY), gpucloudaccount(), gpuvm()])
    reach(here, "gpuvm", "train", "True/Running")
    eventually(lambda: here.get("gpucloudaccount", "default")["status"].get("heldSecrets"), what="its Secret to be held")
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
