"""Keys that change behind sshKeysFrom: a VM that runs is left alone, and each VM that is made later gets the new ones."""

from __future__ import annotations

from hashlib import sha256

import pytest

from support.manifests import PUBLIC_KEY, gpuvm, secret
from support.waiting import eventually, reach

FLAGS = {"poll_pending_seconds": 0.2, "poll_steady_seconds": 0.5, "create_grace_seconds": 1}
NEW_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMadeUpOfTheTestsThatChangesKeysMadeUpOfTh eve@example.com"


def config_map(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def digests(*keys):
    return [sha256(key.encode()).hexdigest() for key in keys]


def keys_of(sim):
    """The keys with which each VM was made, as the cloud keeps them, by the name of its object."""
    orders = [vm["order"] for vm in sim.control("world")["vms"]]
    return {order["name"].rsplit("-", 2)[0]: order["ssh_keys"] for order in orders}


def looked_again(sim, times=4):
    before = len(sim.calls("GetServers"))
    eventually(lambda: len(sim.calls("GetServers")) >= before + times, what="some more listings")


@pytest.mark.parametrize(
    ("source", "field"),
    [(secret, "secretKeyRef"), (config_map, "configMapKeyRef")],
    ids=["Secret", "ConfigMap"],
)
def test_changed_keys_reach_the_next_vm_and_not_the_one_that_runs(here, sim, operator, source, field):
    """Not even one that is replaced when its spec changes: the spec is as it was."""
    operator(**FLAGS)
    here.apply(source("team-keys", all=f"{PUBLIC_KEY}\n"))
    wanted = {"sshKeys": None, "sshKeysFrom": [{field: {"name": "team-keys", "key": "all"}}]}
    here.apply(gpuvm(onLoss="Recreate", replacePolicy="Recreate", **wanted))
    reach(here, "gpuvm", "train", "True/Running")
    assert keys_of(sim) == {"train": digests(PUBLIC_KEY)}
    last, status = sim.control("ledger")["last"], here.get("gpuvm", "train")["status"]

    here.apply(source("team-keys", all=f"# ann left\n{NEW_KEY}\n"))
    looked_again(sim)
    assert sim.control(f"ledger?since={last}&mutating=true")["entries"] == []
    assert here.get("gpuvm", "train")["status"] == status, "nothing is said of it either"

    here.apply(gpuvm("next", **wanted))
    reach(here, "gpuvm", "next", "True/Running")
    assert keys_of(sim) == {"train": digests(PUBLIC_KEY), "next": digests(NEW_KEY)}
    assert len(sim.mutations()) == 2

    sim.destroy_vm(here.get("gpuvm", "train")["status"]["vmId"])
    eventually(lambda: keys_of(sim) == dict.fromkeys(("train", "next"), digests(NEW_KEY)), what="the lost VM to be made again")
    reach(here, "gpuvm", "train", "True/Running")
