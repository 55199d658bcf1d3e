"""Class C3 of the catalogue: etcd put back to an old backup, under an operator that is restarted, and under one that runs on.

What the backup does not know (objects made since) is an orphan: its VM is left alone. What it knows of and has gone since is
lost, and not made again unasked. What it knows as ordered is found again by its name.
"""

from __future__ import annotations

import time

from chaos.rig.campaign import Run
from chaos.rig.etcd import Etcd
from chaos.rig.kubelet import Kubelet
from chaos.rig.oracles import Expected, violations
from chaos.rig.rules import Hold
from chaos.rig.strangers import plant
from chaos.rig.workloads import RUNNING
from support.manifests import gpuvm

LOST = "False/VMLost"
STANDING = {"GpuVM/kept": RUNNING, "GpuVM/ordered": RUNNING, "GpuVM/back": LOST}
ROLL_SECONDS = 300.0  # between two resyncs, by which the operator learns that etcd was restored


def lived_on(trial, folder):
    """A backup is taken, and life goes on after it; answers the VMs that there are, by name."""
    etcd, hold = Etcd(trial.rig.plane), Hold()
    trial.start()
    trial.apply(gpuvm("kept"), gpuvm("back"))
    for name in ("kept", "back"):
        trial.reach("gpuvm", name, RUNNING)
    trial.cloud.add(lambda call: call.word == "CreateServer", "received", hold)
    trial.apply(gpuvm("ordered"))
    hold.wait()  # its order is in the backup, its id is not
    etcd.back_up(folder)
    hold.release()
    trial.last_start = time.monotonic()
    trial.apply(gpuvm("newer"))
    for name in ("ordered", "newer"):
        trial.reach("gpuvm", name, RUNNING)
    trial.here.delete("gpuvm", "back")
    trial.gone("gpuvm", "back")
    trial.blind_seconds = 2 * ROLL_SECONDS
    return etcd, vms(trial)


def vms(trial):
    """Our VMs as the cloud has them: name to (uid, state)."""
    strangers = {name.rpartition("/")[2] for name in trial.strangers}
    return {
        vm["order"]["name"]: (vm["uid"], vm["status"])
        for vm in trial.sim.control("world")["vms"]
        if vm["order"]["name"] not in strangers
    }


def mutations(trial):
    return [str(call) for call in trial.cloud.calls if call.writes]


def untouched(trial, before, sent):
    """Sentences about whatever is not as it was when etcd was restored."""
    now = vms(trial)
    found = [f"C3: the VM {name} was {was}, and is {now.get(name)}" for name, was in before.items() if now.get(name) != was]
    found += [f"C3: {name} is a VM that was not there" for name in now.keys() - before.keys()]
    return found + [f"C3: sent after the restore: {call}" for call in mutations(trial)[sent:]]


def settled(trial, standing):
    for who, wanted in standing.items():
        trial.reach("gpuvm", who.removeprefix("GpuVM/"), wanted)
    time.sleep(3.0)  # longer than the grace: what the restore may bring about has happened by then


def restarted(rig, folder):
    """As the documentation advises: first ``--observe-only``, which sends nothing; then in earnest."""
    with rig.trial() as trial:
        plant(trial)
        etcd, before = lived_on(trial, folder)
        trial.kill()
        sent = len(mutations(trial))
        etcd.restore(folder)
        trial.start(observe_only=True)
        settled(trial, {"GpuVM/kept": RUNNING, "GpuVM/ordered": RUNNING, "GpuVM/back": LOST})
        found = untouched(trial, before, sent)
        trial.restart()
        settled(trial, STANDING)
        return found + untouched(trial, before, sent) + violations(trial, Expected(standing=STANDING, cloud=False))


def running_on(rig, folder):
    """Nobody restarts it: it may do nothing on the strength of what it remembers, and must come to see what is."""
    with rig.trial() as trial:
        plant(trial)
        etcd, before = lived_on(trial, folder)
        sent = len(mutations(trial))
        with Kubelet(trial) as kubelet:
            etcd.restore(folder)
            trial.last_start = time.monotonic() + ROLL_SECONDS
            settled(trial, STANDING)
            found = untouched(trial, before, sent)
            return found + violations(trial, Expected(standing=STANDING, cloud=False, dies=bool(kubelet.exits)))


def deleted_since(rig, folder):
    """An object whose deletion was asked for after the backup, and held, is in the backup without it: its VM stays."""
    with rig.trial() as trial:
        plant(trial)
        trial.start()
        trial.apply(gpuvm("kept"))
        trial.reach("gpuvm", "kept", RUNNING)
        etcd = Etcd(rig.plane)
        etcd.back_up(folder)
        trial.last_start = time.monotonic()
        hold = Hold()
        trial.cloud.add(lambda call: call.word == "DestroyServer", "received", hold)
        trial.here.annotate("gpuvm", "kept", **{"gpucloud.dev/paused": "true"})
        trial.here.delete("gpuvm", "kept")
        trial.reach("gpuvm", "kept", "False/DeletionBlocked")
        before, sent = vms(trial), len(mutations(trial))
        trial.blind_seconds = 2 * ROLL_SECONDS
        with Kubelet(trial) as kubelet:
            etcd.restore(folder)
            trial.last_start = time.monotonic() + ROLL_SECONDS
            trial.wait(lambda: kubelet.exits, "the operator to see that it knows what never was, and to begin anew")
            standing = {"GpuVM/kept": RUNNING}
            settled(trial, standing)
            found = untouched(trial, before, sent)
            return found + violations(trial, Expected(standing=standing, cloud=False, dies=True))


def carried_out(campaign, rig, tmp_path_factory, **makes):
    runs = [
        Run(name, lambda make=make: make(rig, tmp_path_factory.mktemp("backup") / "etcd"))
        for name, make in ((name.replace("_", " "), make) for name, make in makes.items())
    ]
    campaign.carry_out("C3", runs, sample=1, at_once=1)


def test_etcd_restored_from_an_old_backup_and_the_operator_restarted(own_rig, campaign, tmp_path_factory):
    """C3: 0 destroys, 0 orders, each VM found again. The catalogue's ten minutes are as long as the life in between takes."""
    carried_out(campaign, own_rig, tmp_path_factory, restarted=restarted)


def test_etcd_restored_under_an_operator_that_runs_on(own_rig, campaign, tmp_path_factory):
    """C3, for the whole alone: it is as long as the five minutes between two resyncs of the operator."""
    if campaign.whole:
        carried_out(campaign, own_rig, tmp_path_factory, running_on=running_on, deleted_since=deleted_since)
