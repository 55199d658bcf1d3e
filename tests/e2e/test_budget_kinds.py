"""How little is asked for a GpuVpc, a GpuSnapshot and a GpuCloudAccount: counted in the audit log and in the ledger."""

from __future__ import annotations

import time
from collections import Counter

import pytest

from support.manifests import gpucloudaccount, gpusnapshot, gpuvpc, secret
from support.offers import published
from support.operatorproc import USER
from support.simcloud import API_KEY
from support.waiting import eventually, gone, reach

QUICK = {
    "poll_pending_seconds": 0.2,
    "poll_steady_seconds": 0.5,
    "cloud_qps": 500,
    "cloud_burst": 100,
    "orphan_scan_seconds": 0,  # its calls come every ten minutes, and would hit now one test, now another
}
SNAPSHOT = gpusnapshot(vmRef=None, vm={"cluster": "Msc1", "vpc": "acme", "name": "theirs"})
# Manifest, Ready, creating and destroying call, statuses written from the deletion on: a VPC is Deleting until a listing
# shows it empty, and Destroying is recorded before the call leaves.
LIVES = {
    "gpuvpc": (gpuvpc(), "True/Available", "CreateVpc", "DestroyVpc", 2),
    "gpusnapshot": (SNAPSHOT, "True/Completed", "CreateSnapshot", "DeleteSnapshot", 1),
}


def told(here, audit, *reasons):
    """Whether these events are there, and the audit log shows the last of all: they are sent one after the other."""
    events = here.events()
    sent = [one for one in audit.requests(user=USER, namespace=here.namespace, reads=False) if one.is_event]
    return set(reasons) <= {reason for _, reason in events} and len(sent) >= len(events)


def writes(audit, namespace):
    """What the operator wrote here, Events apart, by resource, verb and subresource."""
    found = audit.requests(user=USER, namespace=namespace, reads=False, events=False)
    return Counter((one.verb, one.subresource) for one in found)


@pytest.mark.parametrize("kind", LIVES)
def test_the_writes_and_calls_of_a_life(kind, here, sim, operator, audit, figure):
    namespace = here.namespace
    manifest, wanted, create, destroy, deleting = LIVES[kind]
    name = manifest["metadata"]["name"]
    sim.turn(snapshot_seconds=0.5, snapshot_delete_seconds=0.2)
    sim.create_vm("theirs")
    sim.force("theirs", "ONLINE")
    operator(**QUICK)
    here.apply(manifest)
    reach(here, kind, name, wanted)
    eventually(lambda: writes(audit, namespace).total() >= 3, what="the audit log to tell of the last write")
    born = writes(audit, namespace)
    assert born == {("patch", ""): 1, ("update", "status"): 2}, "finalizer; record with Creating; Ready"
    eventually(lambda: told(here, audit, wanted.split("/")[1]), what="the last event")
    events = [one for one in audit.requests(user=USER, namespace=namespace, reads=False) if one.is_event]
    assert len(events) <= 3
    assert len(sim.calls(create)) == 1

    time.sleep(2)  # let the last fast poll pass
    quiet = audit.since_now()
    asked = len(sim.calls())
    eventually(lambda: len(sim.calls()) >= asked + 4, what="four more listings")
    assert not quiet.requests(user=USER, namespace=namespace, reads=False), "idle: no write"

    later = audit.since_now()
    here.delete(kind, name)
    eventually(lambda: writes(later, namespace).total() > deleting, what="the audit log to tell of the last write")
    gone_by = writes(later, namespace)
    assert gone_by == {("update", "status"): deleting, ("patch", ""): 1}, "Deleting; finalizer"
    assert len(sim.calls(destroy)) == 1
    assert not {call["operation"] for call in sim.calls()} & {"GetVpc", "GetSnapshot", "GetServer"}, "listings serve all"
    assert sim.mutations() == [create, destroy]
    assert [one for one in audit.requests(user=USER) if one.code not in {0, 200, 201}] == [], "none refused, none in vain"
    figure(f"{kind}: {sum(born.values())} writes and {len(events)} events to Ready, {sum(gone_by.values())} writes to gone")


def told_all(here):
    """That the account's status says all that it will: what only informs is written seconds after it was learned.

    The last to be learned are the order's own operation, and the version of the Secret with our finalizer.
    """
    held, status = here.get("secret", "cloud-credential")["metadata"], here.get("gpucloudaccount", "default")["status"]
    operations = {one["name"] for one in status.get("operations", ())}
    return (
        status.get("users") == 1
        and status.get("heldSecrets")
        and operations >= {"CreateVpc", "GetAll", "GetVpcs"}
        and held.get("finalizers")
        and status["provenSecret"]["resourceVersion"] == held["resourceVersion"]
    )


def test_an_idle_account_costs_no_write(here, sim, operator, audit, figure):
    operator(**QUICK, api_key_file=None)
    here.apply([secret(apikey=API_KEY), gpucloudaccount(), gpuvpc()])
    reach(here, "gpuvpc", "lab", "True/Available")
    reach(here, "gpucloudaccount", "default", "True/Connected", says="tenant 'acme'")
    eventually(lambda: told_all(here), 60, "the account to tell all that it has learned")
    published(here)
    eventually(lambda: told(here, audit, "Available", "Connected"), what="the last event")
    time.sleep(2)  # the last line of the audit log
    born = Counter((one.resource, one.verb, one.subresource) for one in audit.requests(user=USER, reads=False, events=False))
    quiet, asked = audit.since_now(), len(sim.calls("GetVpcs"))
    eventually(lambda: len(sim.calls("GetVpcs")) >= asked + 8, what="eight more listings")
    assert not quiet.requests(user=USER, reads=False), "idle: no write"
    figure(f"an account with one user, from apply to idle: {dict(born)}")

    here.ok("delete", "gpuvpc/lab", "gpucloudaccount/default", "--wait=false")
    gone(here, "gpucloudaccount", "default")
    assert "finalizers" not in here.get("secret", "cloud-credential")["metadata"]
    assert 403 not in {one.code for one in audit.requests(user=USER)}, "the documented rights suffice"
