"""``kubectl gpucloud export`` and ``adopt``: what is applied as it is printed is adopted, and changes nothing in the cloud."""

import json

import yaml

from support.kstatus import ready
from support.manifests import gpucloudaccount, secret
from support.pluginproc import FLAGS, ok
from support.simcloud import API_KEY
from support.waiting import eventually, reach


def test_what_is_exported_is_adopted_and_nothing_is_changed(here, plugin, sim, operator):
    """A tenant full of things that nobody declared: applied as they are printed, all are Ready, and the cloud is only read."""
    sim.turn(snapshot_seconds=0.2, stop_seconds=0.2)
    sim.create_vm("old-trainer")
    sim.create_vm("Old_VM.2")
    for name in ("1e3", "y"):  # a number and a boolean for kubectl, unless they are quoted
        sim.create_vm(name)
        sim.force(name, "ONLINE")
    sim.create_vpc("acme-lab")
    sim.force("old-trainer", "ONLINE")
    sim.create_snapshot("golden", "old-trainer")
    sim.force("Old_VM.2", "OFFLINE")
    before, last = sim.control("world"), sim.control("ledger")["last"]
    operator(**FLAGS)
    here.apply(secret(apikey=API_KEY))
    here.apply(gpucloudaccount())
    reach(here, "gpucloudaccount", "default", "True/Connected")
    there = {"GPUCLOUD_ENDPOINT": f"default={sim.url}"}
    exported = ok(plugin("export", "--cluster", "msc1", **there))
    here.ok("apply", "--validate=strict", "-f", "-", stdin=exported)
    manifests = list(yaml.safe_load_all(exported))
    reached = {}
    for item in manifests:
        kind, name = item["kind"].lower(), item["metadata"]["name"]
        is_ready = lambda kind=kind, name=name: ready(here.get(kind, name)).startswith("True/")  # noqa: E731 - of this one
        eventually(is_ready, what=f"{kind} {name} to be Ready")
        found = here.get(kind, name)
        reached[f"{kind}/{name}"] = ready(found)
        if kind == "gpuhost":  # it is observed: there is nothing to adopt or to keep
            assert item["spec"] == {"cluster": "Msc1", "hostId": "bm-128"}
            continue
        assert (found["status"]["adopted"], found["status"]["deletionPolicy"]) == (True, "Retain")
    assert reached == {
        "gpuvm/old-trainer": "True/Running",
        "gpuvm/old-vm-2": "True/PoweredOff",
        "gpuvm/1e3": "True/Running",
        "gpuvm/y": "True/Running",
        "gpusnapshot/golden": "True/Completed",
        "gpuvpc/acme": "True/Adopted",
        "gpuvpc/acme-lab": "True/Adopted",
        "gpuhost/bm-128": "True/Running",
    }
    left = json.loads(ok(plugin("export", "--cluster", "msc1", "-o", "json", **there)))
    assert left == {"manifests": [], "notExported": [], "failures": []}, "all have an object now"
    again = here.ok("apply", "-f", "-", stdin=exported)
    assert all(line.endswith(" unchanged") for line in again.splitlines())
    here.ok("delete", "--wait", "--timeout=60s", "-f", "-", stdin=exported)
    assert sim.control(f"ledger?since={last}&mutating=true")["entries"] == []
    assert names_of(sim.control("world")) == names_of(before)


def test_a_vm_that_is_being_stopped_gets_no_object_that_starts_it_again(here, plugin, sim, operator):
    sim.turn(stop_seconds=3600)  # until it is forced: the plugin may take its time
    sim.create_vm("old")
    sim.force("old", "ONLINE")
    operator(**FLAGS)
    here.apply(secret(apikey=API_KEY))
    here.apply(gpucloudaccount())
    reach(here, "gpucloudaccount", "default", "True/Connected")
    sim.ask("POST", "servers/virtual/StopServer", body={"id": "old", "namespace": "acme", "cluster": "Msc1"})
    there = {"GPUCLOUD_ENDPOINT": f"default={sim.url}"}
    done = plugin("export", "--kind", "gvm", **there)
    assert (done.returncode, done.stdout) == (0, "")
    assert "wait until it is ONLINE or OFFLINE" in done.stderr
    sim.force("old", "OFFLINE")
    last = sim.control("ledger")["last"]
    exported = eventually(lambda: plugin("export", "--kind", "gvm", **there).stdout, what="the VM to be off")
    here.ok("apply", "-f", "-", stdin=exported)
    assert reach(here, "gpuvm", "old", "True/PoweredOff")["status"]["adopted"]
    assert sim.control(f"ledger?since={last}&mutating=true")["entries"] == []


def test_one_vm_is_adopted_by_its_name(here, plugin, sim, operator):
    operator(**FLAGS)
    here.apply(secret(apikey=API_KEY))
    here.apply(gpucloudaccount())
    sim.create_vm("old-trainer")
    sim.force("old-trainer", "ONLINE")
    there = {"GPUCLOUD_ENDPOINT": f"default={sim.url}"}
    printed = yaml.safe_load(ok(plugin("adopt", "old-trainer", **there)))
    assert (printed["spec"]["vmName"], printed["spec"]["adoption"]) == ("old-trainer", "Required")
    assert "created; it adopts the VM 'old-trainer'" in ok(plugin("adopt", "gvm/old-trainer", "--apply", **there))
    assert reach(here, "gpuvm", "old-trainer", "True/Running")["status"]["adopted"]
    again = plugin("adopt", "old-trainer", **there)
    assert (again.returncode, "no object stands for" in again.stderr) == (1, True)
    assert plugin("adopt", "gca/default", **there).returncode == 2


def names_of(world):
    name = {"vms": lambda one: one["order"]["name"], "hosts": lambda one: one["id"]}
    return {
        kind: sorted(map(name.get(kind, lambda one: one["name"]), world[kind]))
        for kind in ("vms", "snapshots", "vpcs", "hosts")
    }
