"""Finalizers stripped by force: what is left in the cloud is reported, and collected only where everything speaks for it."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
import yaml

import product
from gpucloud.reconcile.naming import external_name
from support.manifests import gpucloudaccount, gpusnapshot, gpuvm, secret
from support.simcloud import API_KEY
from support.waiting import eventually, gone, reach

TAG = "orph1"
FLAGS = {
    "poll_pending_seconds": 0.2,
    "poll_steady_seconds": 0.5,
    "create_grace_seconds": 1,
    "cloud_qps": 500,
    "cloud_burst": 100,
    "install_tag": TAG,
    "orphan_scan_seconds": 1,
    "orphan_age_seconds": 2,
}
COLLECT = {**FLAGS, "collect_orphans": True}
UNHURRIED = {**COLLECT, "orphan_age_seconds": 25}  # what must be done before the collection has time for it
LEFT_ALONE_SCANS = 4  # in which a collection would have come several times over


def lines(process, event):
    return [record for record in process.logs() if record.get("event") == event]


def scans(sim):
    """How often somebody has asked which clusters there are: once a scan."""
    return len(sim.calls("GetAll"))


def run_vm(here, name="train", **spec):
    here.apply(gpuvm(name, **spec))
    return reach(here, "gpuvm", name, "True/Running")["status"]["vmId"]


def strip(here, sim, *things, tried=True):
    """Delete objects while the cloud refuses to, and take their finalizers off by force.

    ``tried``: an operator is there, and tries; its first call is waited for, so that none comes when the cloud works again.
    """
    sim.fault(kind="status", operation="De*", status=500)
    here.ok("delete", *things, "--wait=false")
    if tried:
        tries = ("DestroyServer", "DeleteSnapshot")
        eventually(
            lambda: len({str(call["parameters"]) for one in tries for call in sim.calls(one)}) >= len(things), what="a try each"
        )
    here.ok("patch", *things, "--type=merge", '--patch={"metadata":{"finalizers":null}}')
    for kind, name in [thing.split("/") for thing in things]:
        gone(here, kind, name)
    sim.clear_faults()


def let_pass(sim, number):
    """Wait for so many more scans, which come one a second and take their time."""
    before = scans(sim)
    eventually(lambda: scans(sim) >= before + number, 60 + 4 * number, f"{number} scans")


def look(control_plane, sim, *more, **env):
    """What ``gpucloud orphans`` says, with its exit code."""
    account = {"KUBECONFIG": str(control_plane.kubeconfig), "GPUCLOUD_API_KEY_FILE": str(sim.api_key_file), **env}
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GPUCLOUD_")}
    command = [*product.command("orphans"), "--endpoint", f"default={sim.url}", "--install-tag", TAG, *more]
    return subprocess.run(  # noqa: S603  # our own command
        command, env=inherited | account, capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL
    )


def told(kubectl, reason, name):
    """The events of this reason that speak of this thing."""
    events = kubectl.list("events.events.k8s.io", ns="default")
    return [event for event in events if event["reason"] == reason and name in event["note"]]


def test_an_orphan_is_reported_and_left_alone(here, kubectl, control_plane, sim, operator):
    process = operator(**FLAGS)
    name = run_vm(here)
    sim.create_vm("train-other-abcdefghij")
    strip(here, sim, "gpuvm/train")
    let_pass(sim, 2)
    (line,) = process.logged("orphan")
    assert name in line["note"]
    (event,) = eventually(lambda: told(kubectl, "Orphan", name), what="the event")
    assert (event["type"], event["regarding"]["name"]) == ("Warning", "gpuvms.gpucloud.dev")
    assert "$2.05 an hour" in event["note"]

    text = look(control_plane, sim)
    assert (text.returncode, text.stderr) == (3, "")
    assert all(word in text.stdout for word in (name, "ONLINE", "2.05", "1 orphan", "DestroyServer"))
    document = json.loads(look(control_plane, sim, "-o", "json").stdout)
    (found,) = document["orphans"]
    assert (found["name"], found["madeFor"], found["kind"], found["account"]) == (name, "train", "GpuVM", "(operator)")
    assert yaml.safe_load(look(control_plane, sim, "-o", "yaml").stdout) == document

    let_pass(sim, LEFT_ALONE_SCANS)
    assert not sim.committed("DestroyServer")
    assert len(lines(process, "orphan")) == 1, "told once"

    sim.destroy_vm(name)
    done = look(control_plane, sim)
    assert (done.returncode, done.stderr) == (0, "")
    assert "No orphans" in done.stdout


def test_a_spec_in_a_case_that_the_cloud_refuses_hides_no_orphan(here, sim, operator):
    """The scan took that spelling for the cluster's, and looked no more where the orphan is."""
    process = operator(**FLAGS)
    here.apply(gpuvm("typo", cluster="msc1"))
    typo = reach(here, "gpuvm", "typo", "False/InvalidSpec")
    assert any("Did you mean 'Msc1'?" in one["message"] for one in typo["status"]["conditions"])
    name = run_vm(here)
    strip(here, sim, "gpuvm/train")
    (line,) = eventually(lambda: lines(process, "orphan"), what="the orphan to be told of")
    assert (name in line["note"], len(sim.calls("CreateServer"))) == (True, 1)


def test_an_account_tells_what_it_sees(here, namespace, control_plane, crds, sim, operator):  # noqa: ARG001
    """Event and command use the credentials of the accounts; what may not be read, or is of no use, is said."""
    operator(**FLAGS, api_key_file=None)
    here.apply([secret(apikey=API_KEY), gpucloudaccount()])
    name = run_vm(here)
    strip(here, sim, "gpuvm/train")
    events = eventually(
        lambda: [event for event in here.list("events.events.k8s.io") if event["reason"] == "Orphan"], what="the event"
    )
    (told_of,) = {(event["regarding"]["kind"], event["regarding"]["name"]) for event in events if name in event["note"]}
    assert told_of == ("GpuCloudAccount", "default")

    scope = ("--namespace", namespace, "-o", "json")
    found = look(control_plane, sim, *scope, GPUCLOUD_API_KEY_FILE="")
    assert (found.returncode, found.stderr) == (3, "")
    (item,) = json.loads(found.stdout)["orphans"]
    assert (item["name"], item["account"]) == (name, f"{namespace}/default")

    here.apply([secret("odd", colour="blue"), gpucloudaccount("odd", secretRef={"name": "odd"})])
    here.apply(gpucloudaccount("lost", secretRef={"name": "nowhere"}))
    partly = look(control_plane, sim, *scope, GPUCLOUD_API_KEY_FILE="")
    assert partly.returncode == 1
    assert f"account {namespace}/lost: there is no Secret 'nowhere'" in partly.stderr
    assert f"account {namespace}/odd: the Secret 'odd'" in partly.stderr
    assert [item["name"] for item in json.loads(partly.stdout)["orphans"]] == [name], "what was found is printed all the same"


def test_opted_in_it_is_destroyed_after_its_age(here, kubectl, sim, operator):
    sim.turn(snapshot_seconds=0.3)
    process = operator(**UNHURRIED)
    vm = run_vm(here)
    here.apply(gpusnapshot("before", vmRef={"name": "train"}))
    snapshot = reach(here, "gpusnapshot", "before", "True/Completed")["status"]["snapshotId"]
    sim.create_vm("train-other-abcdefghij")
    strip(here, sim, "gpusnapshot/before", "gpuvm/train")
    eventually(lambda: sim.committed("DestroyServer") and sim.committed("DeleteSnapshot"), 120, "both to be destroyed")
    assert len(sim.committed("DestroyServer")) == len(sim.committed("DeleteSnapshot")) == 1
    eventually(lambda: sim.vms() == ["train-other-abcdefghij"], what="only the stranger to be left")

    def collected():
        return {line["name"] for line in lines(process, "call") if line["outcome"] == "OrphanCollected"}

    eventually(lambda: collected() == {"train", "before"}, what="a line in the log for each")
    assert eventually(lambda: told(kubectl, "OrphanCollected", vm) and told(kubectl, "OrphanCollected", snapshot))


def test_many_at_once_are_refused(here, kubectl, sim, operator):
    process = operator(**COLLECT)
    names = ["one", "two", "three"]
    things = [run_vm(here, name) for name in names]
    strip(here, sim, *(f"gpuvm/{name}" for name in names))
    eventually(lambda: lines(process, "collection refused"), what="the refusal")
    let_pass(sim, LEFT_ALONE_SCANS)
    assert not sim.committed("DestroyServer")
    assert sorted(sim.vms()) == sorted(things)
    assert len(lines(process, "collection refused")) == 1, "told once"
    assert eventually(lambda: told(kubectl, "OrphanCollectionRefused", "3 of 3"))
    sim.destroy_vm(things[0])
    eventually(lambda: len(sim.committed("DestroyServer")) == 2, what="the two that are left to be collected")


@pytest.mark.parametrize("how", ["retained", "paused", "before a restart", "observe only"])
def test_what_nobody_saw_being_abandoned_is_only_reported(here, sim, operator, how):
    process = operator(**COLLECT)
    name = run_vm(here)
    if how == "retained":
        here.patch("gpuvm", "train", {"spec": {"deletion": {"policy": "Retain"}}})
        here.delete("gpuvm", "train")
    elif how == "paused":
        here.annotate("gpuvm", "train", **{"gpucloud.dev/paused": "true"})
        strip(here, sim, "gpuvm/train", tried=False)
    else:
        process.stop()
        if how == "before a restart":
            strip(here, sim, "gpuvm/train", tried=False)
            process = operator(**COLLECT)
        else:
            process = operator(**COLLECT, observe_only=True)
            process.wait_for_line('"synced"')
            strip(here, sim, "gpuvm/train", tried=False)
    eventually(lambda: lines(process, "orphan"), what="the report")
    let_pass(sim, LEFT_ALONE_SCANS)
    assert not sim.committed("DestroyServer")
    assert sim.vms() == [name]


def test_an_object_that_may_look_for_it_keeps_it(here, sim, operator):
    operator(**UNHURRIED)
    name = run_vm(here)
    strip(here, sim, "gpuvm/train")
    here.apply(gpuvm("train"))
    reach(here, "gpuvm", "train", "False/PossibleDuplicate", says=name)
    let_pass(sim, UNHURRIED["orphan_age_seconds"] + LEFT_ALONE_SCANS)
    assert sim.vms() == [name]
    here.delete("gpuvm", "train")
    eventually(lambda: sim.committed("DestroyServer"), 120, "it to be collected when nobody looks for it any more")


def test_the_tag_is_the_border(here, control_plane, sim):
    """Without an operator: an orphan is what bears our tag and the mark of no object that lives."""
    here.apply(gpuvm())
    uid = here.get("gpuvm", "train")["metadata"]["uid"]
    sim.create_vm(external_name("train", uid, TAG))
    sim.create_vm(external_name("train", "another uid", "other"))
    assert look(control_plane, sim).returncode == 0
    left = external_name("train", "another uid", TAG)
    sim.create_vm(left)
    found = look(control_plane, sim, "-o", "json")
    assert found.returncode == 3
    assert [item["name"] for item in json.loads(found.stdout)["orphans"]] == [left]


def test_what_could_not_be_looked_at_is_a_failure(control_plane, crds, sim):  # noqa: ARG001
    sim.fault(kind="status", operation="GetSnapshots", status=403, message="Not allowed.")
    partly = look(control_plane, sim)
    assert partly.returncode == 1
    assert "account (operator): snapshots in cluster 'Msc1' cannot be listed" in " ".join(partly.stderr.split())
    assert "Not allowed." in partly.stderr
    assert look(control_plane, sim, "--namespace", "team", "--install-tag", "").returncode == 2
    lost = look(control_plane, sim, KUBECONFIG=str(sim.api_key_file.with_name("no-such-file")))
    assert lost.returncode == 1
    assert lost.stderr.startswith("gpucloud orphans: ")
